/**
 * What a value of a body means. What code does with the value follows from it, and from nothing else:
 *
 * - `recipient` says where the money goes: Only Recipients refuses one that it does not list.
 * - `amount` is money: every one counts against the account's limits.
 * - `identity`: another value makes it another request.
 * - `text` identifies nothing. Nor does `control`, an identifier of our own or a postback address, which
 *   nobody reads.
 *
 * The first three are in the fingerprint.
 */
export type Meaning = 'recipient' | 'amount' | 'identity' | 'text' | 'control';

/**
 * What each value of a body means, by its path: `amount`, `creditParty.key`, or `split[].username` in each
 * entry of a list.
 */
export type Meanings = Readonly<Record<string, Meaning>>;

/** All values of a body at a path as {@link Meanings} has it. */
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
	/** What to do before another try where the token was rejected; absent where another try does no harm. */
	readonly whenTokenRejected?: (external_id: string) => string;
}

/** What can be asked of the service, by its name in items, errors, references and stored keys. */
export type Kind = 'payment' | 'qrCode';

/** An operation of the service. What may be done with it the document does not say: that is our own decision. */
export interface ServiceOperation {
	readonly kind: Kind;
	/** How its path ends, behind the scheme's name (section 4). */
	readonly path: (typeof PATHS)[number];
	readonly words: Words;
	/**
	 * A second payment does harm, so an External ID goes out once, is recorded and counts against the account's
	 * limits, and nothing that may have been carried out is sent again. A second QR code harms nobody.
	 */
	readonly isMoneyOut: boolean;
	readonly agentPermission: AgentPermission | 'not needed';
	/** Of its body (sections 2.1 and 2.2): each value has a field in the editor. */
	readonly meanings: Meanings;
}

/** Who receives a payment, as far as the account's limits ask. */
export interface Recipient {
	key?: string;
	keyType?: string;
}

/** A request body: what all operations have in common. */
export interface ServiceRequest {
	external_id: string;
	amount: number;
	postbackUrl?: string;
	creditParty?: Recipient;
}

/** Path below the base address (section 4); the scheme's name replaces "pay" in the document's path. */
export const requestPath = ({ path }: Pick<ServiceOperation, 'path'>, schemeName: string) =>
	`/v2/${schemeName}/${path}`;
