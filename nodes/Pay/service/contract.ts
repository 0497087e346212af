/** The two operations of the service, by their names in items and errors. */
export type Kind = 'qrCode' | 'payment';

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

/** The members of both bodies (sections 2.1 and 2.2), each of which has a field in the editor. */
export const FORM_MEMBERS = {
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
} as const satisfies Record<Kind, MemberTree>;

type ValueOf<M> = M extends 'string'
	? string
	: M extends 'number'
		? number
		: M extends readonly [infer Each]
			? Array<ValueOf<Each>>
			: { -readonly [Name in keyof M]?: ValueOf<M[Name]> };

/** The request body of each operation: two members are required, all others may be left out. */
export type RequestOf = {
	[K in Kind]: ValueOf<(typeof FORM_MEMBERS)[K]> & { amount: number; external_id: string };
};

/** A request body of either operation. */
export type ServiceRequest = RequestOf[Kind];

/** Path below the base address (section 4); the scheme's name replaces "pay" in the document's path. */
export function pathOf(kind: Kind, schemeName: string): string {
	return `/v2/${schemeName}/${kind === 'qrCode' ? 'qrcode' : 'payment'}`;
}
