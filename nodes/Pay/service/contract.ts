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

/** An operation of the service: what tells it from another. Words, keys, retries and records follow. */
export interface ServiceOperation {
	/** Its name in items, errors, references and stored keys. */
	readonly kind: string;
	/** The last segment of its path (section 4). */
	readonly path: string;
	/** What it makes, and what is done to that, in words. */
	readonly noun: string;
	readonly done: string;
	/** Whether it must not be carried out twice: a second QR code harms nobody, a second payment does. */
	readonly once: boolean;
	/** The members of its body (sections 2.1 and 2.2), each of which has a field in the editor. */
	readonly members: MemberTree;
}

/** A request body: what all operations have in common. */
export interface ServiceRequest {
	external_id: string;
	amount?: number;
	postbackUrl?: string;
	creditParty?: { key?: string };
}

/** Path below the base address (section 4); the scheme's name replaces "pay" in the document's path. */
export const pathOf = ({ path }: Pick<ServiceOperation, 'path'>, schemeName: string) =>
	`/v2/${schemeName}/${path}`;
