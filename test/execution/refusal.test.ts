import type { Attempt } from '../../nodes/Pay/execution/ledger';
import * as refusals from '../../nodes/Pay/execution/words/refusal';
import { OPERATIONS } from '../serviceOperations';

const PERMISSION = { name: 'allowAiPayments', displayName: '', description: '' };

const attempt = (outcome?: Attempt['outcome']): Attempt => ({
	external_id: 'a',
	place: { isTool: false, node: 'Pay', run: '0', item: 1 },
	amount: 12.5,
	fingerprint: 'f',
	outcome,
});

/** Each refusal with the field it is about. */
const FIELDS: Record<
	Exclude<keyof typeof refusals, 'stillRecorded'>,
	[() => { field: string; message: string }, string]
> = {
	notPermittedToAgents: [
		() => refusals.notPermittedToAgents(OPERATIONS.payment.words, PERMISSION),
		'allowAiPayments',
	],
	noDuplicateStore: [refusals.noDuplicateStore, ''],
	sameIdAsItem: [() => refusals.sameIdAsItem(1, 2, 'a'), 'external_id'],
	sentInThisExecution: [() => refusals.sentInThisExecution(attempt()), 'external_id'],
	acceptedWithOtherDetails: [
		() => refusals.acceptedWithOtherDetails(attempt('accepted')),
		'external_id',
	],
	sentUnderAnotherId: [() => refusals.sentUnderAnotherId(attempt('accepted')), 'external_id'],
	recordedBefore: [() => refusals.recordedBefore('a'), 'external_id'],
	cancelled: [refusals.cancelled, ''],
	abovePayment: [() => refusals.abovePayment(2, 1), 'amount'],
	otherRecipient: [() => refusals.otherRecipient({ key: 'eve' }), 'creditParty.key'],
	mayNameOtherRecipient: [() => refusals.mayNameOtherRecipient('to'), 'additionalMembers'],
	aboveSum: [() => refusals.aboveSum(2n, 1), 'amount'],
};

test.each(Object.entries(FIELDS))(
	'%s names its field, and says from where it counts items',
	(_name, [refusal, field]) => {
		const error = refusal();
		expect(error.field).toBe(field);
		const counts = / items? \d/.test(error.message);
		expect(error.message.includes('counted from 0')).toBe(counts);
	},
);

test.each<[Attempt['outcome'], RegExp, RegExp]>([
	[
		'accepted',
		/"a" was already accepted .*item 1, counted from 0, amount 12\.5/,
		/not paid a second time/,
	],
	[
		'unknown',
		/"a" was already sent .*item 1, counted from 0, amount 12\.5.*not known/,
		/Ask the service whether/,
	],
	// Begun, and n8n went away.
	[undefined, /"a" was already sent .*not known whether it was made/, /before you pay again/],
])('what another item sent and is %p is told so', (outcome, message, advice) => {
	const error = refusals.sentInThisExecution(attempt(outcome));
	expect(error.message).toMatch(message);
	expect(error.advice).toMatch(advice);
});
