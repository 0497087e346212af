import { InputError } from '../../inputError';
import { unitsInWords } from '../../parameters/amount';
import { wrongField } from '../../parameters/label';
import type { AgentPermission, Recipient, Words } from '../../service/contract';
import { quotedIds } from './sentences';
import { attemptInWords, type Attempt } from '../ledger';

/* Why this package does not send an item. Errors of a field are with its reader. */

/** An AI agent that asks for what nobody permitted it. */
export const notPermittedToAgents = ({ noun }: Words, { name, displayName }: AgentPermission) =>
	new InputError(
		name,
		`An AI agent asked for a ${noun}, which this node does not allow`,
		`To allow it, turn on "${displayName}" under Options, without an expression.`,
	);

/** A context of n8n without the function that the duplicate check rests on. */
export const noDuplicateStore = () =>
	new InputError(
		'',
		'This n8n has no store for the duplicate check here, so no payment can be made',
		'Update n8n, or move the payment into a separate workflow.',
	);

const RAISE = 'If it is right, change the limits of the Pay API credential.';

/** A payment above the account's Highest Payment. */
export const abovePayment = (amount: number, limit: number) =>
	wrongField(
		'amount',
		`is ${amount}, above the Highest Payment (highestPayment) of the Pay API credential: ${limit}`,
		`Check the amount and its decimal point. ${RAISE}`,
	);

/** A payment to a key that the account does not list. */
export function otherRecipient({ key, keyType }: Recipient): InputError {
	const ofType = keyType === undefined ? '' : ` of the type "${keyType}"`;
	const what = key === undefined ? 'is empty, so it' : `"${key}"${ofType}`;
	return wrongField(
		'creditParty.key',
		`${what} is not among the Only Recipients (onlyRecipients) of the Pay API credential`,
		`Check the recipient. ${RAISE}`,
	);
}

/** A payment whose body may say another recipient than the one that was compared with the list. */
export const mayNameOtherRecipient = (path: string) =>
	wrongField(
		'additionalMembers',
		`holds "${path}", which may say where the money goes, and the Pay API credential has Only Recipients (onlyRecipients)`,
		`Remove it there. ${RAISE}`,
	);

/** Payments that together are above the account's Highest Sum per Execution. */
export const aboveSum = (sum: bigint, limit: number) =>
	wrongField(
		'amount',
		`is too much: the payments of this execution would come to ${unitsInWords(sum)}, above the Highest Sum per Execution (highestSum) of the Pay API credential: ${limit}`,
		`None of the payments that wait here is sent. Check them. ${RAISE}`,
	);

/** A second payment with one external_id among the items of a run. */
export const sameIdAsItem = (first: number, index: number, external_id: string) =>
	new InputError(
		'external_id',
		`Payment "${external_id}" is on the list twice: items ${first} and ${index}, counted from 0, have this External ID (external_id)`,
		`Look at the outcome of item ${first}. Two payments need two identifiers; otherwise a second payment looks like a mistake.`,
	);

/** A payment that another item, node or run of this execution made or may have made. */
export function sentInThisExecution(attempt: Attempt): InputError {
	const { external_id } = attempt;
	const earlier = attemptInWords(attempt);
	if (attempt.outcome === 'accepted') {
		return new InputError(
			'external_id',
			`Payment "${external_id}" was already accepted in this execution (${earlier})`,
			'It is not paid a second time. A different payment needs a different External ID.',
		);
	}
	return new InputError(
		'external_id',
		`Payment "${external_id}" was already sent in this execution (${earlier}), and it is not known whether it was made`,
		`Ask the service whether "${external_id}" was paid before you pay again.`,
	);
}

/** A payment that an earlier try of this item made with other details. */
export const acceptedWithOtherDetails = ({ external_id, amount }: Attempt) =>
	new InputError(
		'external_id',
		`Payment "${external_id}" was already accepted in an earlier try of this item, with other details (amount ${amount})`,
		'What was accepted is the earlier request, not this one. If this is to be paid too, give it another External ID; else put the details back as they were.',
	);

/** A payment that an earlier try of this item, or an earlier call of this tool, made under another id. */
export function sentUnderAnotherId(attempt: Attempt): InputError {
	const { external_id } = attempt;
	const earlier = attemptInWords(attempt);
	const message =
		attempt.outcome === 'accepted'
			? `This payment was already accepted in this execution (${earlier}), under the External ID "${external_id}"`
			: `This payment was already sent in this execution (${earlier}), and it is not known whether it was made, under the External ID "${external_id}"`;
	return new InputError(
		'external_id',
		message,
		`It is not paid a second time. Ask the service about "${external_id}". An External ID must stay the same when an item is tried again: take it from the item, for example {{ $json.orderId }}.`,
	);
}

/** A payment that n8n's store remembers. */
export const recordedBefore = (external_id: string) =>
	new InputError(
		'external_id',
		`Payment "${external_id}" may well have been paid already, so it was not sent again: this node sent it before, or was about to`,
		'Look under Executions for the run that sent it. Ask the service: only if it says that this payment was not made, pay it with a new External ID.',
	);

/** What to do about payments that were not made and whose record stays. */
export const stillRecorded = (ids: readonly string[], reason = "n8n's database failed") =>
	`The duplicate check still remembers ${quotedIds(ids)}, because ${reason}: to pay it, use a new External ID.`;

/** An item that the run did not come to before it was cancelled; the record of some may stay. */
export const cancelled = (remembered: readonly string[] = []) =>
	new InputError(
		'',
		'The execution was cancelled before it came to this item',
		remembered.length === 0 ? 'Run it again if it is still to be sent.' : stillRecorded(remembered),
	);
