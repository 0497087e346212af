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

/**
 * What a value of a body means. What code does with the value follows from it, and from nothing else:
 *
 * - `recipient` says where the money goes: Only Recipients refuses one that it does not list.
 * - `amount` is money: every one counts against the account's limits.
 * - `identity`: another value makes it another request.
 * - `when` can move the day: a payment of which nobody knows may still be to come.
 * - `text` identifies nothing. Nor does `control`, an identifier of our own or a postback address, which
 *   nobody reads.
 *
 * The first four are in the fingerprint.
 */
export type Meaning = 'recipient' | 'amount' | 'identity' | 'when' | 'text' | 'control';

/** A single value that a body may hold. */
export interface Leaf {
	/** Where it stands, as `amount`, `creditParty.key`, or `split[].username` in each entry of a list. */
	readonly path: string;
	readonly type: 'string' | 'number';
	readonly means: Meaning;
}

/** All values of a body at the path of a {@link Leaf}. */
export function valuesAt(body: unknown, path: string): unknown[] {
	let values: unknown[] = [body];
	for (const step of path.split('.')) {
		const isList = step.endsWith('[]');
		const name = isList ? step.slice(0, -2) : step;
		const below: unknown[] = [];
		for (const value of values) {
			const inside = (value as Record<string, unknown> | undefined)?.[name];
			if (isList && Array.isArray(inside)) below.push(...(inside as unknown[]));
			else if (inside !== undefined) below.push(inside);
		}
		values = below;
	}
	return values;
}

/** The option by which a person lets AI agents use an operation. */
export interface AgentPermission {
	/** Its name among the node's options, which workflows store. */
	readonly name: string;
	readonly displayName: string;
	readonly description: string;
}

/**
 * What may be done with any operation. The document says none of it: each decision is our own.
 */
interface AnyPolicy {
	readonly agentPermission: AgentPermission | 'not needed';
	/**
	 * Whether the account's Accepted and Rejected Values say what became of it. People write them for charges
	 * and payments: another operation may use the same words in another sense. Without them each 2xx is an
	 * acceptance, also one whose body says no.
	 */
	readonly isJudgedByWords: boolean;
}

/** May be sent again while nobody knows what became of it: a second QR code harms nobody. */
interface RepeatablePolicy extends AnyPolicy {
	readonly isRepeatable: true;
	/** No later execution is kept from sending it again. */
	readonly isRecorded: false;
	/** Money that goes out is never repeatable. */
	readonly countsAgainstLimits: false;
	/** What a 409 means: rejected for a conflict, or perhaps "known already". */
	readonly conflict: 'rejected' | 'unknown';
	/** Whether it is sent once more, with a new token, where a kept token got a 401. */
	readonly isSentAgainAfter401: boolean;
}

/** An external_id goes out once in an execution, whichever item asks: a second payment does harm. */
interface OncePolicy extends AnyPolicy {
	readonly isRepeatable: false;
	/** Whether n8n's database records its external_ids, so that no later execution sends one again. */
	readonly isRecorded: boolean;
	/** Whether its amounts are money out, which the account's limits are for. */
	readonly countsAgainstLimits: boolean;
	/** A 409 may mean "known already" or "in progress". As a rejection it would let the request go out again. */
	readonly conflict: 'unknown';
	/** A gateway may say 401 of a request that was carried out behind it. Retry On Fail does not send it either. */
	readonly isSentAgainAfter401: false;
}

/** What may be done with an operation; a combination that makes no sense is a type error. */
export type Policy = RepeatablePolicy | OncePolicy;

/** How the operations' paths end, behind the scheme's name (section 4). An address that was pasted as Base URL may end so. */
export const PATHS = ['payment', 'qrcode'] as const;

/** How people read of an operation. */
export interface Words {
	/** What it makes, as in: The service rejected payment "7". Also what the canvas says of the node. */
	readonly noun: string;
	readonly plural: string;
	/** What is done to that, as in: It is not known whether payment "7" was made. */
	readonly pastParticiple: string;
	/** What to do where it is not known whether it was, in whole sentences. */
	readonly whenUnknown: {
		/** Comes first; undefined where there is nothing to be warned of. */
		readonly warning: string | undefined;
		readonly advice: (external_id: string) => string;
		/** In the hint of a run that went on. */
		readonly reminder: string | undefined;
	};
	/**
	 * What to do after the service rejected it with a status that means something else here, and what stays as it
	 * was: nothing else says it then.
	 */
	readonly whenRejected?: { readonly [statusCode: number]: (external_id: string) => string };
	/**
	 * What stays as it was where the service did not carry it out: a payment that was not cancelled may still
	 * go out. Absent where nothing does.
	 */
	readonly whenNotCarriedOut?: (external_id: string) => string;
	/**
	 * Said wherever people are told to ask whether it was done; absent where the form cannot move its day. It
	 * follows from the form's meanings: no operation says it by itself.
	 */
	readonly stillToCome?: string;
	/** What to do before another try where the token was rejected; absent where another try does no harm. */
	readonly whenTokenRejected?: (external_id: string) => string;
}

/**
 * What the external_id of an operation names. 'its own' is made for this very request, as that of a payment:
 * it goes into the header that the credential may name for it, and the same body under another one is another
 * try. Otherwise it is that of something that another operation made, as in a refund; `of` is the noun for it.
 */
export type Identifier = 'its own' | { readonly of: string };

/** What tells an operation of the service from another. */
export interface OperationContract {
	/** Its name in items, errors, references and stored keys. */
	readonly kind: string;
	/** How its path ends, behind the scheme's name (section 4). */
	readonly path: (typeof PATHS)[number];
	readonly identifier: Identifier;
	readonly words: Words;
	readonly policy: Policy;
}

/** An operation of the service. */
export interface ServiceOperation extends OperationContract {
	/** The members of its body (sections 2.1 and 2.2), each of which has a field in the editor. */
	readonly members: MemberTree;
	/** The single values of its body, with what they mean. */
	readonly leaves: readonly Leaf[];
}

/** Who receives a payment, as far as the account's limits ask. */
export interface Recipient {
	key?: string;
	keyType?: string;
}

/** A request body: what all operations have in common. */
export interface ServiceRequest {
	external_id: string;
	amount?: number;
	postbackUrl?: string;
	creditParty?: Recipient;
}

/** Path below the base address (section 4); the scheme's name replaces "pay" in the document's path. */
export const pathOf = ({ path }: Pick<ServiceOperation, 'path'>, schemeName: string) =>
	`/v2/${schemeName}/${path}`;
