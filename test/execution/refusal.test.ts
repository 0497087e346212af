import type { Attempt } from '../../nodes/Pay/execution/ledger';
import * as refusals from '../../nodes/Pay/execution/words/refusal';
import type { InputError } from '../../nodes/Pay/inputError';
import { OPERATIONS } from '../serviceOperations';

const PERMISSION = { name: 'allowAiPayments', displayName: '', description: '' };
const { words } = OPERATIONS.payment;

const attempt = (outcome?: Attempt['outcome']): Attempt => ({
	kind: 'payment',
	external_id: 'a',
	place: { isTool: false, node: 'Pay', run: '0', item: 1 },
	amount: 12.5,
	fingerprint: 'f',
	outcome,
});

test.each<[string, InputError, string]>([
	['notPermittedToAgents', refusals.notPermittedToAgents(words, PERMISSION), 'allowAiPayments'],
	['noDuplicateStore', refusals.noDuplicateStore(words), ''],
	['sameIdAsItem', refusals.sameIdAsItem(words, 1, 2, 'a'), 'external_id'],
	['sentInThisExecution', refusals.sentInThisExecution(words, attempt()), 'external_id'],
	[
		'acceptedWithOtherDetails',
		refusals.acceptedWithOtherDetails(words, attempt('accepted')),
		'external_id',
	],
	['sentUnderAnotherId', refusals.sentUnderAnotherId(words, attempt('accepted')), 'external_id'],
	['recordedBefore', refusals.recordedBefore(words, 'a'), 'external_id'],
	['checkFailed', refusals.checkFailed(words, new Error('it broke')), ''],
	['cancelled', refusals.cancelled(), ''],
	['abovePayment', refusals.abovePayment(2, 1), 'amount'],
	['otherRecipient', refusals.otherRecipient({ key: 'eve' }), 'creditParty.key'],
	['mayNameOtherRecipient', refusals.mayNameOtherRecipient('to'), 'additionalMembers'],
	['aboveSum', refusals.aboveSum(words, 2n, 1), 'amount'],
])('%s names its field', (_name, error, field) => {
	expect(error.field).toBe(field);
});
