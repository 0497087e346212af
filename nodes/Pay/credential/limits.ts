import { asError, InputError } from '../inputError';
import { parseAmount } from '../parameters/amount';
import { wrongField, type NamedField } from '../parameters/label';
import { parseSwitch } from '../parameters/parameter';
import { optionalIdentifier, optionalText } from '../parameters/text';
import { credentialField } from './wrongField';

/** What may go out of an account: Limit Payments of its credential. */
export interface Limits {
	highestPayment?: number;
	/** Of all payments of an execution. */
	highestSum?: number;
	/** Keys, or key types with their keys, a space between them. */
	onlyRecipients?: ReadonlySet<string>;
	/** Paths of members that Additional Members may set in spite of {@link onlyRecipients}. */
	variableMembers?: ReadonlySet<string>;
}

/** A credential's fields, "" where nothing was entered. */
type Fields = Readonly<Record<string, unknown>>;

function parseRecipients(value: unknown, field: NamedField): Set<string> {
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

/** A name, and [] behind that of a list. */
const NAME = /^[^\s.,[\]{}$"]+(\[\])?$/;

/** Empty is the strictest, so an expression that comes to nothing does no harm. */
function parseVariableMembers(value: unknown, field: NamedField): Set<string> {
	const paths = new Set<string>();
	for (const line of (optionalText(value, field) ?? '').split(/[\r\n]+/)) {
		const path = line.trim();
		if (path === '') continue;
		if (!path.split('.').every((name) => NAME.test(name))) {
			throw wrongField(
				field,
				`holds ${JSON.stringify(path)}, which is no path`,
				'Enter one path a line, with dots between the levels, for example creditParty.taxId.',
			);
		}
		paths.add(path);
	}
	return paths;
}

/**
 * Whether a limit was left empty by a person. Throws an InputError where n8n does not say whether it was an
 * expression that came to nothing: that would be no limit instead of a small one.
 */
function isLeftEmpty(field: string, fields: Fields, unresolved: Fields | undefined): boolean {
	if (!Object.hasOwn(fields, field)) return true;
	if (fields[field] !== '') return false;
	const typed = unresolved?.[field];
	if (typed === undefined) {
		throw wrongField(
			credentialField(field),
			'is empty, and n8n does not say whether an expression left it so',
			'Run again. If that does not help, enter all three limits, or turn Limit Payments off and put the limits elsewhere.',
		);
	}
	return typed === '';
}

function parseLimits(fields: Fields, unresolved: Fields | undefined): Limits {
	const { limitPayments, highestPayment, highestSum, onlyRecipients, variableMembers } = fields;
	if (!Object.hasOwn(fields, 'limitPayments')) return {};
	if (!parseSwitch(limitPayments, credentialField('limitPayments'))) return {};
	const limits: Limits = {};
	if (!isLeftEmpty('highestPayment', fields, unresolved)) {
		limits.highestPayment = parseAmount(highestPayment, credentialField('highestPayment'));
	}
	if (!isLeftEmpty('highestSum', fields, unresolved)) {
		limits.highestSum = parseAmount(highestSum, credentialField('highestSum'));
	}
	if (!isLeftEmpty('onlyRecipients', fields, unresolved)) {
		limits.onlyRecipients = parseRecipients(onlyRecipients, credentialField('onlyRecipients'));
		const paths = parseVariableMembers(variableMembers, credentialField('variableMembers'));
		if (paths.size > 0) limits.variableMembers = paths;
	}
	if (Object.keys(limits).length > 0) return limits;
	throw wrongField(
		credentialField('limitPayments'),
		'is on without a limit',
		'Enter a limit, or turn it off.',
	);
}

/**
 * Reads what may go out; an error where that cannot be read, for then nothing may.
 * @param unresolved the fields with their expressions as text; undefined where n8n does not give them
 */
export function readLimits(fields: Fields, unresolved: Fields | undefined): Limits | InputError {
	try {
		return parseLimits(fields, unresolved);
	} catch (error) {
		const { field = 'limitPayments', advice = '' } = error instanceof InputError ? error : {};
		const message = `No money goes out, because a limit of the Pay API credential cannot be read: ${asError(error).message}`;
		return new InputError(field, message, advice);
	}
}
