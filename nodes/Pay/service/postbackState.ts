import { firstValue, mismatchOf, missingInWords, type FieldMatch } from './fieldMatch';
import { inOneForm } from '../oneForm';

/* What a postback says became of its charge or payment, in the words that the credential has for it. */

/** Where a postback says what became of a charge or payment, and the service's words for it. */
export interface StatusWords {
	/** As `FieldMatch` has it. */
	field: string;
	paid: string[];
	failed: string[];
	/** What else it must say, to be about what its URL proves. */
	compared?: ComparedFields;
}

/** Where a postback repeats what it is about, as `FieldMatch` has a field; absent where it does not. */
export interface ComparedFields {
	amount?: string;
	id?: string;
}

/** What a postback says became of its charge or payment. */
export type State = 'paid' | 'failed' | 'otherAmount' | 'other';

const DECIMAL = /^[+-]?\d+(\.\d+)?$/;

/** Whether a value of a service can be compared with an amount. */
export const isAmount = (value: unknown) =>
	typeof value === 'number' || (typeof value === 'string' && DECIMAL.test(value.trim()));

/** Whether a value says the same amount as another, compared as numbers: "10.5" is 10.50. */
export function isSameAmount(value: unknown, amount: number): boolean {
	return isAmount(value) && Number(value) === amount;
}

/** What a verified postback is about; null where nothing says it. An operation may have no amount. */
type Proven = { external_id: string; amount?: number } | null;

/**
 * Why a postback is not about the reference of its URL, in words for a log; undefined where it is, or where
 * no field says it.
 */
export function otherIdIn(
	field: string | undefined,
	proven: Proven,
	sources: unknown[],
): string | undefined {
	if (field === undefined) return undefined;
	if (proven === null) {
		return 'nothing proves what was asked for, so no External ID can be compared';
	}
	const found = firstValue(field, sources);
	if (found === undefined) return missingInWords(field, sources);
	const isText = typeof found.value === 'string' || typeof found.value === 'number';
	if (isText && inOneForm(String(found.value)) === proven.external_id) return undefined;
	return `the field ${JSON.stringify(found.path)} names another charge or payment`;
}

/**
 * Why a postback does not say that the amount of its reference was paid, in words for a log; undefined where
 * it does, or where no field says it.
 */
export function otherAmountIn(
	field: string | undefined,
	proven: Proven,
	sources: unknown[],
): string | undefined {
	if (field === undefined) return undefined;
	if (proven === null) return 'nothing proves what was asked for, so no amount can be compared';
	if (proven.amount === undefined) return undefined;
	const found = firstValue(field, sources);
	if (found === undefined) return missingInWords(field, sources);
	if (isSameAmount(found.value, proven.amount)) return undefined;
	return `the field ${JSON.stringify(found.path)} has another amount than the charge or payment`;
}

/**
 * What a postback says, in the words of the account.
 * @param proven its reference
 */
export function stateOf(
	{ field, paid, failed, compared = {} }: StatusWords,
	proven: Proven,
	...sources: unknown[]
): State {
	const says = (values: FieldMatch['values']) =>
		mismatchOf({ field, values }, ...sources) === undefined;
	if (otherIdIn(compared.id, proven, sources) !== undefined) return 'other';
	if (says(failed)) return 'failed';
	if (!says(paid)) return 'other';
	return otherAmountIn(compared.amount, proven, sources) === undefined ? 'paid' : 'otherAmount';
}
