import type { Attempt } from '../../nodes/Pay/execution/item';
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
	executionId: '42',
	outcome,
});

test.each<{ name: string; error: InputError; field: string }>([
	{
		name: 'notPermittedToAgents',
		error: refusals.notPermittedToAgents(words, PERMISSION),
		field: 'allowAiPayments',
	},
	{
		name: 'noDuplicateStore',
		error: refusals.noDuplicateStore(words),
		field: '',
	},
	{
		name: 'sameIdAsItem',
		error: refusals.sameIdAsItem(words, 1, 2, 'a'),
		field: 'external_id',
	},
	{
		name: 'sentInThisExecution',
		error: refusals.sentInThisExecution(words, attempt()),
		field: 'external_id',
	},
	{
		name: 'acceptedWithOtherDetails',
		error: refusals.acceptedWithOtherDetails(words, attempt('accepted')),
		field: 'external_id',
	},
	{
		name: 'sentUnderAnotherId',
		error: refusals.sentUnderAnotherId(words, attempt('accepted')),
		field: 'external_id',
	},
	{
		name: 'recordedBefore',
		error: refusals.recordedBefore(words, 'a'),
		field: 'external_id',
	},
	{
		name: 'checkFailed',
		error: refusals.checkFailed(words, new Error('it broke')),
		field: '',
	},
	{
		name: 'cancelled',
		error: refusals.cancelled(),
		field: '',
	},
	{
		name: 'abovePayment',
		error: refusals.abovePayment(BigInt(2e14), 1),
		field: 'amount',
	},
	{
		name: 'otherRecipient',
		error: refusals.otherRecipient({ key: 'eve' }),
		field: 'creditParty.key',
	},
	{
		name: 'alsoOtherRecipient',
		error: refusals.alsoOtherRecipient('creditParty.account', 'eve'),
		field: 'creditParty.account',
	},
	{
		name: 'membersMayChange',
		error: refusals.membersMayChange(),
		field: 'additionalMembers',
	},
	{
		name: 'moreInRecipient',
		error: refusals.moreInRecipient('creditParty.account'),
		field: 'additionalMembers',
	},
	{
		name: 'aboveSum',
		error: refusals.aboveSum(words, 2n, 1),
		field: 'amount',
	},
])('$name names its field', ({ error, field }) => {
	expect(error.field).toBe(field);
});
