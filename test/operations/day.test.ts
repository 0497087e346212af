import {
	checkFailed,
	recordedBefore,
	sentInThisExecution,
	sentUnderAnotherId,
} from '../../nodes/Pay/execution/words/refusal';
import { rejectedInWords, unknownInWords } from '../../nodes/Pay/execution/words/result';
import { failuresInWords } from '../../nodes/Pay/execution/words/run';
import { resultOfAttempt } from '../../nodes/Pay/execution/report/itemResult';
import type { Attempt } from '../../nodes/Pay/execution/item';
import { amount, externalId, textMember, type BodyMember } from '../../nodes/Pay/parameters/member';
import { defineOperation } from '../../nodes/Pay/operations/defineOperation';
import { OPERATIONS_OF_TODAY as OPERATIONS } from '../serviceOperations';

// An operation whose form can move the day: what is not done yet may be done on a later day.

const DAY = textMember(
	{ displayName: 'Due Date', name: 'dueDate' },
	{ means: 'when', examples: [{ typed: '2026-12-01', sent: '2026-12-01' }] },
);
const NOTE = textMember(
	{ displayName: 'Note', name: 'note' },
	{ means: 'text', examples: [{ typed: 'x', sent: 'x' }] },
);
const STILL =
	'The payment may have a day that is yet to come: ask whether it is still to be made, too.';

const { kind, path, policy, words } = OPERATIONS.payment;
function operationWith(member: BodyMember) {
	return defineOperation({
		kind,
		sections: { members: '2.2', path: '4.2' },
		path,
		policy: { ...policy, countsAgainstLimits: false },
		words,
		identifier: 'its own',
		resource: 'payment',
		option: { name: 'Create', value: 'create' },
		batchSize: 1,
		form: [amount, externalId('its own'), member],
	}).requestOperation;
}

const REQUEST = { external_id: 'a', amount: 1 };
const UNKNOWN: Attempt = {
	kind,
	external_id: 'a',
	place: { isTool: false, node: 'Pay', run: '0', item: 0 },
	fingerprint: '',
	executionId: '42',
	outcome: 'unknown',
};

test.each<[string, BodyMember, boolean]>([
	['a day', DAY, true],
	['a note', NOTE, false],
])(
	'a person who is told to ask whether a payment was made hears of later days, with %s: %p',
	(_what, member, isTold) => {
		const operation = operationWith(member);
		const { words: own } = operation;
		const sentences = {
			unknown: unknownInWords(own, 'a', { outcome: 'unknown' }).description,
			tokenRejected: rejectedInWords(own, 'a', { outcome: 'rejected', statusCode: 401 })
				.description,
			forbidden: rejectedInWords(own, 'a', { outcome: 'rejected', statusCode: 403 }).description,
			sentBefore: sentInThisExecution(own, UNKNOWN).advice,
			otherId: sentUnderAnotherId(own, UNKNOWN).advice,
			recorded: recordedBefore(own, 'a').advice,
			checkFailed: checkFailed(own, new Error('x')).advice,
			run: failuresInWords({
				items: 1,
				operation,
				done: [{ index: 0, result: resultOfAttempt(operation, REQUEST, { outcome: 'unknown' }) }],
				doubts: new Set(),
				remaining: new Map(),
			}),
		};
		const told = Object.entries(sentences).filter(([, text]) => String(text).includes(STILL));
		expect(told.map(([name]) => name)).toStrictEqual(isTold ? Object.keys(sentences) : []);
	},
);
