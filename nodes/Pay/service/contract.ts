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

/** Path below the base address (section 4); the scheme's name stands where the document has "pay". */
export function pathOf(kind: Kind, schemeName: string): string {
	return `/v2/${schemeName}/${kind === 'qrCode' ? 'qrcode' : 'payment'}`;
}

/** Names of members: true where the member has a field in the editor, a tree for an object's own. */
export interface MemberTree {
	readonly [name: string]: true | MemberTree;
}

/** The members of both bodies (sections 2.1 and 2.2), each of which has a field in the editor. */
export const FORM_MEMBERS: Readonly<Record<Kind, MemberTree>> = {
	qrCode: {
		amount: true,
		external_id: true,
		payerQuestion: true,
		postbackUrl: true,
		payer: { name: true, document: true, email: true },
		split: true,
	},
	payment: {
		amount: true,
		external_id: true,
		payerQuestion: true,
		postbackUrl: true,
		creditParty: { key: true, keyType: true, document: true, name: true },
	},
};
