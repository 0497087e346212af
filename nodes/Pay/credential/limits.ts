import { asError, InputError } from '../inputError';
import { parseAmount } from '../parameters/amount';
import { wrongField } from '../parameters/label';
import { optionalIdentifier, optionalText } from '../parameters/text';

/** What may go out of an account: Limit Payments of its credential. */
export interface Limits {
	highestPayment?: number;
	/** Of all payments of an execution. */
	highestSum?: number;
	/** Keys, or key types with their keys, a space between them. */
	onlyRecipients?: ReadonlySet<string>;
}

/** A credential's fields, "" where nothing was entered. */
type Fields = Readonly<Record<string, unknown>>;

function parseRecipients(value: unknown, field: string): Set<string> {
	const recipients = new Set<string>();
	for (const line of (optionalText(value, field) ?? '').split(/[\r\n]+/)) {
		const typed = line.trim();
		const recipient = optionalIdentifier(typed.replace(/\s+/g, ' '), field);
		if (recipient === undefined) continue;
		recipients.add(recipient);
		// A key may hold spaces of its own.
		recipients.add(typed);
	}
	if (recipients.size > 0) return recipients;
	throw wrongField(field, 'holds no key', 'Enter the keys that may be paid, one a line.');
}

function parseLimits(fields: Fields, unresolved: Fields): Limits {
	const { limitPayments } = fields;
	if (!Object.hasOwn(fields, 'limitPayments') || limitPayments === false) return {};
	if (limitPayments !== true) {
		throw wrongField(
			'limitPayments',
			'must be on or off',
			'Let the expression give true or false.',
		);
	}
	// What an expression leaves empty was not left empty.
	const isEmpty = (field: string) =>
		[fields[field], unresolved[field] ?? ''].every((each) => each === '');
	const limit = <T>(field: string, parse: (value: unknown, field: string) => T) =>
		!Object.hasOwn(fields, field) || isEmpty(field) ? undefined : parse(fields[field], field);
	const limits = {
		highestPayment: limit('highestPayment', (value, field) => parseAmount(value, field)),
		highestSum: limit('highestSum', (value, field) => parseAmount(value, field)),
		onlyRecipients: limit('onlyRecipients', parseRecipients),
	};
	if (Object.values(limits).some((one) => one !== undefined)) return limits;
	throw wrongField('limitPayments', 'is on without a limit', 'Enter a limit, or turn it off.');
}

/**
 * Reads what may go out; an error where that cannot be read, for then nothing may.
 * @param unresolved the fields with their expressions as text, as far as that is known
 */
export function readLimits(fields: Fields, unresolved: Fields = {}): Limits | InputError {
	try {
		return parseLimits(fields, unresolved);
	} catch (error) {
		const { field = 'limitPayments', advice = '' } = error instanceof InputError ? error : {};
		const message = `No money goes out, because a limit of the Pay API credential cannot be read: ${asError(error).message}`;
		return new InputError(field, message, advice);
	}
}
