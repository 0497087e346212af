import type { Reference } from './proof';

/** What a waiting execution waits for; kind and amount where the item that waits has them. */
interface Expectation {
	external_id: string;
	kind?: string;
	amount?: number;
}

/**
 * Reads what the item that waits says of itself. Only an item of this very external_id: another's
 * kind and amount are about something else.
 * @param item the JSON of the item that waits
 */
export function expectationOf(external_id: string, item: Record<string, unknown>): Expectation {
	if (item.external_id !== undefined && String(item.external_id) !== external_id) {
		return { external_id };
	}
	const { kind } = item;
	const amount = typeof item.amount === 'string' ? Number(item.amount) : item.amount;
	return {
		external_id,
		...(kind === 'qrCode' || kind === 'payment' ? { kind } : {}),
		...(typeof amount === 'number' && amount > 0 ? { amount } : {}),
	};
}

/**
 * Whether what a postback's URL proved is what is waited for. A charge and a payment may have one
 * external_id, and whoever may sign for another amount may not sign for this one.
 */
export function isExpected(expectation: Expectation, reference: Reference): boolean {
	return (
		reference.external_id === expectation.external_id &&
		reference.kind === (expectation.kind ?? reference.kind) &&
		reference.amount === (expectation.amount ?? reference.amount)
	);
}
