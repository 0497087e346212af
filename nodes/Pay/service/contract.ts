/** Body of "Generate QR code" (the service's document, section 2.1). */
export interface QrCodeRequest {
	amount: number;
	external_id: string;
	payerQuestion?: string;
	postbackUrl?: string;
	payer?: Payer;
	split?: SplitRecipient[];
}

/** Payer data of a QR code request (section 2.1). */
export interface Payer {
	name?: string;
	document?: string;
	email?: string;
}

/** One split recipient of a QR code request (section 2.1). */
export interface SplitRecipient {
	username?: string;
	percentageSplit?: number;
}

/** Body of "Make payment" (section 2.2). */
export interface PaymentRequest {
	amount: number;
	external_id: string;
	payerQuestion?: string;
	postbackUrl?: string;
	creditParty?: CreditParty;
}

/** Recipient of a payment (section 2.2). */
export interface CreditParty {
	key?: string;
	keyType?: string;
	document?: string;
	name?: string;
}

/** The two operations of the service, and the words our items and errors call them by. */
export type Kind = 'qrCode' | 'payment';

/** The request body of each operation. */
export interface RequestOf {
	qrCode: QrCodeRequest;
	payment: PaymentRequest;
}

/** A request body of either operation. */
export type ServiceRequest = RequestOf[Kind];

/** Path below the base address (section 4); the scheme's name stands where the document has "pay". */
export function pathOf(kind: Kind, schemeName: string): string {
	return `/v2/${schemeName}/${kind === 'qrCode' ? 'qrcode' : 'payment'}`;
}

/** What a member holds: a text, a number, a list, or members of its own. */
export type Member = 'string' | 'number' | readonly [MemberTree] | MemberTree;

/** Members by name. */
export interface MemberTree {
	readonly [name: string]: Member;
}

/** Whether a member is an object with members of its own. */
export function isTree(member: Member | undefined): member is MemberTree {
	return typeof member === 'object' && !Array.isArray(member);
}

/** The tree of an interface, so that the compiler finds a member that only one of the two has. */
type TreeOf<T> = {
	readonly [Name in keyof T]-?: NonNullable<T[Name]> extends string
		? 'string'
		: NonNullable<T[Name]> extends number
			? 'number'
			: NonNullable<T[Name]> extends Array<infer Each>
				? readonly [TreeOf<Each>]
				: TreeOf<NonNullable<T[Name]>>;
};

/** The members of both bodies (sections 2.1 and 2.2), each of which has a field in the editor. */
export const FORM_MEMBERS: { readonly [K in Kind]: TreeOf<RequestOf[K]> } = {
	qrCode: {
		amount: 'number',
		external_id: 'string',
		payerQuestion: 'string',
		postbackUrl: 'string',
		payer: { name: 'string', document: 'string', email: 'string' },
		split: [{ username: 'string', percentageSplit: 'number' }],
	},
	payment: {
		amount: 'number',
		external_id: 'string',
		payerQuestion: 'string',
		postbackUrl: 'string',
		creditParty: { key: 'string', keyType: 'string', document: 'string', name: 'string' },
	},
};
