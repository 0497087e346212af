import { InputError } from '../inputError';
import type { Attempt } from './ledger';

/*
 * Why this package does not send an item, in one place. What an item itself gets wrong is told by
 * the readers of its fields.
 */

/** An AI agent that may not pay. */
export const agentMayNotPay = () =>
	new InputError(
		'allowAiPayments',
		'An AI agent asked for a payment, which this node does not allow',
		'If an agent shall be able to pay, turn on "Allow Payments by AI Agents" under Options.',
	);

/** A context of n8n without the function that the duplicate check rests on. */
export const noDuplicateStore = () =>
	new InputError(
		'duplicateCheck',
		'This n8n offers no store for the duplicate check here, so no payment can be made',
		'Update n8n, or move the payment into a workflow of its own.',
	);

/** Options that hold for the whole run, but not for this item. */
export const optionsDiffer = () =>
	new InputError(
		'options',
		'The Options of this item differ from those of item 0, and they hold for the whole run',
		'Use no expression under Options that depends on the item, or send such items through a Pay node of their own.',
	);

/** A second payment with one external_id among the items of a run. */
export const sameIdAsItem = (first: number, index: number, external_id: string) =>
	new InputError(
		'external_id',
		`Items ${first} and ${index} have the same External ID (external_id) "${external_id}"`,
		`What becomes of item ${first} holds for this one too. Two payments need two identifiers; otherwise nobody can tell a second payment from a mistake.`,
	);

/** A payment that another item, node or run of this execution made or may have made. */
export const sentInThisExecution = (external_id: string, { by, amount, outcome }: Attempt) =>
	new InputError(
		'external_id',
		outcome === 'accepted'
			? `Payment "${external_id}" was already accepted in this execution (${by}, amount ${amount})`
			: `Payment "${external_id}" was already sent in this execution (${by}, amount ${amount}), and it is not known whether it was made`,
		outcome === 'accepted'
			? 'It is not paid a second time. A different payment needs a different External ID.'
			: `Ask the service whether "${external_id}" was paid before you pay again.`,
	);

/** A payment that an earlier try of this item made with other details. */
export const acceptedWithOtherDetails = (external_id: string, { amount }: Attempt) =>
	new InputError(
		'external_id',
		`Payment "${external_id}" was already accepted in an earlier try of this item, with other details (amount ${amount})`,
		'What was accepted is the earlier request, not this one. If this is to be paid too, give it another External ID; else put the details back as they were.',
	);

/** A payment that n8n's store remembers. */
export const recordedBefore = (external_id: string) =>
	new InputError(
		'external_id',
		`Payment "${external_id}" was recorded before, by an earlier execution of this node or an earlier try of this one`,
		`That payment was accepted, what became of it is not known, or it was recorded and never sent because n8n's database or worker failed. Ask the service whether "${external_id}" was paid. If it was not, pay it with a new External ID.`,
	);

/** Items of a batch that does not start because one of them is a duplicate, or after a cancellation. */
export const cancelled = () =>
	new InputError(
		'execution',
		'The execution was cancelled before this item was sent',
		'Run it again if it is still to be sent.',
	);
