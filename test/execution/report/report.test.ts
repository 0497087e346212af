import { UNPUBLISHED } from '../../../nodes/Pay/service/page';
import { NodeApiError, NodeOperationError, type IExecuteFunctions, type INode } from 'n8n-workflow';
import type {
	AcceptedResult,
	Done,
	FailedResult,
	ItemResult,
} from '../../../nodes/Pay/execution/item';
import {
	resultOfAttempt,
	resultOfRefusal,
	toOutputItem,
} from '../../../nodes/Pay/execution/report/itemResult';
import { failAll, stoppingError } from '../../../nodes/Pay/execution/report/n8nError';
import { idsByOutcome, type Summary } from '../../../nodes/Pay/execution/summary';
import { failuresInWords } from '../../../nodes/Pay/execution/words/run';
import { addResults, openTally, throwIfFailed } from '../../../nodes/Pay/execution/report/tally';
import { OUTCOME_WORDS } from '../../../nodes/Pay/execution/words/outcome';
import { InputError } from '../../../nodes/Pay/inputError';
import type { RequestResult } from '../../../nodes/Pay/service/client';
import { OPERATIONS_OF_TODAY as OPERATIONS, type Kind } from '../../serviceOperations';

const NODE: INode = {
	id: '1',
	name: 'Pay',
	type: 'n8n-nodes-pay.pay',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};
const REQUEST = { external_id: 'a', amount: 5 };
const FACTS = { kind: 'payment', external_id: 'a' };

const resultOf = (
	answer: Partial<RequestResult> & Pick<RequestResult, 'outcome'>,
	kind: Kind = 'payment',
) => resultOfAttempt(OPERATIONS[kind], REQUEST, answer) as FailedResult;

test('an acceptance is its facts alone', () => {
	const answer = { outcome: 'accepted', statusCode: 201, response: { id: 1 } } as const;
	expect(resultOfAttempt(OPERATIONS.payment, REQUEST, answer)).toStrictEqual({
		...FACTS,
		...answer,
		amount: 5,
	});
});

test('a response that holds one message is quoted as that message', () => {
	const quoted = (response: unknown) =>
		resultOf({ outcome: 'rejected', statusCode: 422, response }).description;
	expect(quoted({ message: 'no funds' })).toContain('The response said: "no funds".');
	expect(quoted({ message: 'no', code: 7 })).toContain('said: "{"message":"no","code":7}".');
	expect(quoted({ message: { code: 7 } })).toContain('said: "{"message":{"code":7}}".');
});
test.each<{ how: string; result: Partial<RequestResult>; tokenRejected?: true }>([
	{ how: 'a 401', result: { statusCode: 401 }, tokenRejected: true },
	{ how: 'a 403', result: { statusCode: 403 }, tokenRejected: true },
	{ how: 'a 422', result: { statusCode: 422 } },
	{
		how: 'a 403 with one of the Rejected Values, which promises that nothing was carried out',
		result: { statusCode: 403, reason: { is: 'saidNo', path: 'code' } },
	},
])('after $how an item says tokenRejected: $tokenRejected', ({ result, tokenRejected }) => {
	const { json } = toOutputItem(resultOf({ ...result, outcome: 'rejected' }), 0);
	expect((json.error as { tokenRejected?: boolean }).tokenRejected).toBe(tokenRejected);
});

test.each<{ statusCode: number; advice: string }>([
	{
		statusCode: 307,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. The request was redirected, and redirects are never followed, because they would carry the access token elsewhere. Check the Base URL of the Pay API credential.',
	},
	{
		statusCode: 308,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. The request was redirected, and redirects are never followed, because they would carry the access token elsewhere. Check the Base URL of the Pay API credential.',
	},
	{
		statusCode: 399,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. The request was redirected, and redirects are never followed, because they would carry the access token elsewhere. Check the Base URL of the Pay API credential.',
	},
	{
		statusCode: 400,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. Correct the item, then run again.',
	},
	{
		statusCode: 401,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. A gateway on the way may say this of a payment that was made, so it is not sent again by itself. Before you run it again, ask the service whether "a" was paid. Check the token of the Pay API credential, then run again. A token that was fetched is discarded: the next request gets a new one.',
	},
	{
		statusCode: 403,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. A gateway on the way may say this of a payment that was made, so it is not sent again by itself. Before you run it again, ask the service whether "a" was paid. Check the token of the Pay API credential, and whether the service takes requests only from addresses on an allow-list: requests of n8n may come by IPv6 or through a proxy. Then run again.',
	},
	{
		statusCode: 404,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. Check the Base URL of the Pay API credential, and the Scheme Name in Paths under Describe the Service. Then run again.',
	},
	{
		statusCode: 405,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. Check the Base URL of the Pay API credential, and the Scheme Name in Paths under Describe the Service. Then run again.',
	},
	{
		statusCode: 409,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. This status means a conflict: ask the service whether it knows "a" already. If it does, run again with a new External ID.',
	},
	{
		statusCode: 422,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. Correct the item, then run again.',
	},
	{
		statusCode: 429,
		advice:
			'The request was sent, and the service or a proxy on the way rejected it. Wait a while, then run again.',
	},
])('a rejection with status $statusCode says what to do', ({ statusCode, advice }) => {
	const result = resultOf({ outcome: 'rejected', statusCode });
	expect(result).toMatchObject({ ...FACTS, outcome: 'rejected', statusCode });
	expect(result.message).toBe(`The service rejected payment "a" (HTTP ${statusCode})`);
	expect(result.description).toBe(advice);
	expect(resultOf({ outcome: 'rejected', statusCode }, 'qrCode').message).toContain('QR code "a"');
});

test('an n8n without such a workflow: its words are ours, and so is the advice', () => {
	const { description } = resultOf({ outcome: 'rejected', statusCode: 404, response: UNPUBLISHED });
	expect(description).toBe(
		'The request was sent, and the service or a proxy on the way rejected it. The response said: "n8n responded: no workflow is published at this address". Publish the workflow that plays the service (n8n 1: reload the page, then Active), then run again.',
	);
});

test.each<{ what: string; response: unknown; told: string }>([
	{
		what: 'nothing',
		response: undefined,
		told: '',
	},
	{
		what: 'an empty text',
		response: '',
		told: '',
	},
	{
		what: 'a text',
		response: 'no money',
		told: ' The response said: "no money".',
	},
	{
		what: 'an object',
		response: { why: 'x' },
		told: ' The response said: "{"why":"x"}".',
	},
	{
		what: '500 characters',
		response: 'x'.repeat(500),
		told: ` The response said: "${'x'.repeat(500)}".`,
	},
	{
		what: '501 characters',
		response: 'x'.repeat(501),
		told: ` The response said: "${'x'.repeat(500)}…".`,
	},
])('of an answer with $what so much is told', ({ response, told }) => {
	const { description } = resultOf({ outcome: 'rejected', statusCode: 422, response });
	expect(description).toBe(
		`The request was sent, and the service or a proxy on the way rejected it.${told} Correct the item, then run again.`,
	);
});

test('what was not sent says that the service did not get it, and why', () => {
	const reason = { is: 'connectionFailed', code: 'ECONNREFUSED' } as const;
	const result = resultOf({ outcome: 'notSent', reason }, 'qrCode');
	expect(result).toMatchObject({ kind: 'qrCode', outcome: 'notSent', external_id: 'a' });
	expect(result.message).toBe(
		`The QR code "a" was ${OUTCOME_WORDS.notSent}: the connection was refused (ECONNREFUSED)`,
	);
	expect(result.description).toBe(
		'The service did not get the whole request, so it cannot have carried it out. Check the Base URL of the Pay API credential and the network, then run again.',
	);
});

test('an unknown payment is told as one: ask before it is paid again', () => {
	const result = resultOf({ outcome: 'unknown', statusCode: 502, response: 'bad gateway' });
	expect(result).toMatchObject({ ...FACTS, outcome: 'unknown', statusCode: 502 });
	expect(result.message).toBe('It is not known whether payment "a" was made');
	expect(result.description).toBe(
		'Do not pay again yet. The request was sent, but the response, from the service or a proxy on the way, was HTTP 502, which does not say what the service did. The response said: "bad gateway". Ask the service whether "a" was paid: this node does not send it a second time.',
	);
	expect(result.description).toBe(
		'Do not pay again yet. The request was sent, but the response, from the service or a proxy on the way, was HTTP 502, which does not say what the service did. The response said: "bad gateway". Ask the service whether "a" was paid: this node does not send it a second time.',
	);
	expect(result.description).toBe(
		'Do not pay again yet. The request was sent, but the response, from the service or a proxy on the way, was HTTP 502, which does not say what the service did. The response said: "bad gateway". Ask the service whether "a" was paid: this node does not send it a second time.',
	);
	const lost = resultOf({ outcome: 'unknown', reason: { is: 'timedOut' } });
	expect(lost.description).toBe(
		'Do not pay again yet. The request was sent, but no complete response came: the time-out passed. Ask the service whether "a" was paid: this node does not send it a second time.',
	);
});

test('a payment that is answered with 409 is unknown, and the words say what that may mean', () => {
	const { description } = resultOf({
		outcome: 'unknown',
		statusCode: 409,
		response: 'in progress',
	});
	expect(description).toBe(
		'Do not pay again yet. The request was sent, but the response, from the service or a proxy on the way, was HTTP 409, which services give when they know a payment already or are working on it. The response said: "in progress". Ask the service whether "a" was paid: this node does not send it a second time.',
	);
});

test('an unknown QR code is told as one: it is safe to create it again', () => {
	const result = resultOf(
		{ outcome: 'unknown', statusCode: 200, reason: { is: 'notJson' } },
		'qrCode',
	);
	expect(result).toMatchObject({ kind: 'qrCode', outcome: 'unknown', statusCode: 200 });
	expect(result.message).toBe('It is not known whether QR code "a" was created');
	expect(result.description).toBe(
		'The request was sent, but the response, from the service or a proxy on the way, was HTTP 200: the response says that it is JSON and cannot be read as JSON. A second QR code does no harm unless both are paid: run this item again.',
	);
});

test('a payment that is unknown since an earlier try keeps the reason it had', () => {
	const still = (attempted: Partial<RequestResult>) =>
		resultOfAttempt(
			OPERATIONS.payment,
			REQUEST,
			{ outcome: 'unknown', ...attempted },
			{ earlier: 'Pay, run 0, item 3, amount 7' },
		) as FailedResult;
	const died = still({});
	expect(died).toMatchObject({ kind: 'payment', outcome: 'unknown', external_id: 'a' });
	expect(died.message).toBe('It is not known whether payment "a" was made');
	expect(died.description).toBe(
		'Do not pay again yet. The request was sent in an earlier try in this execution (Pay, run 0, item 3, amount 7), but no complete response came: n8n ended meanwhile, or the request is still under way. Ask the service whether "a" was paid: this node does not send it a second time.',
	);
	const late = { statusCode: 504, response: 'late' };
	const answered = still(late);
	expect(answered).toMatchObject(late);
	expect(answered.description).toBe(
		'Do not pay again yet. The request was sent in an earlier try in this execution (Pay, run 0, item 3, amount 7), but the response, from the service or a proxy on the way, was HTTP 504, which does not say what the service did. The response said: "late". Ask the service whether "a" was paid: this node does not send it a second time.',
	);
});

const ADVICE = 'Check the parameters of this item and the credential, then run again.';
test.each<{
	what: string;
	error: unknown;
	field: string | undefined;
	message: string;
	advice: string;
}>([
	{
		what: 'an input error',
		error: new InputError('amount', 'It is bad', 'Correct it.'),
		field: 'amount',
		message: 'It is bad',
		advice: 'Correct it.',
	},
	{
		what: "n8n's own error",
		error: new Error('No such item'),
		field: undefined,
		message: 'No such item',
		advice: ADVICE,
	},
	{
		what: 'what is no error',
		error: 'odd',
		field: undefined,
		message: 'odd',
		advice: ADVICE,
	},
])('an item that is refused for $what', ({ error, field, message, advice }) => {
	const expected = {
		isFrom: 'thisPackage',
		field,
		message,
		description: `Nothing was sent for this item. ${advice}`,
	};
	expect(resultOfRefusal(OPERATIONS.payment, REQUEST.external_id, error)).toMatchObject({
		...FACTS,
		outcome: 'notSent',
		...expected,
	});
	const duplicate = resultOfRefusal(OPERATIONS.payment, REQUEST.external_id, error, 'duplicate');
	expect(duplicate.outcome).toBe('duplicate');
	expect(duplicate.description).toBe(`This item was not sent now. ${advice}`);
});

const accepted = (external_id: string): AcceptedResult => ({
	kind: 'payment',
	outcome: 'accepted',
	external_id,
	amount: 1,
	statusCode: 201,
	response: { error: 'a member of the answer' },
});
const failed = (outcome: FailedResult['outcome'], external_id?: string): FailedResult => ({
	kind: 'payment',
	isFrom: 'request',
	outcome,
	external_id,
	message: `m ${external_id}`,
	description: `d ${external_id}`,
});

test('an accepted item has its six members and no error at its top', () => {
	expect(toOutputItem(accepted('a'), 4)).toStrictEqual({
		json: {
			external_id: 'a',
			amount: 1,
			kind: 'payment',
			outcome: 'accepted',
			statusCode: 201,
			response: { error: 'a member of the answer' },
		},
		pairedItem: { item: 4 },
	});
});

test('a failed item has one member, error, with what is known and nothing empty', () => {
	const known = { ...failed('rejected', 'a'), statusCode: 422, response: 'r', field: '' };
	expect(toOutputItem(known, 2)).toStrictEqual({
		json: {
			error: {
				message: 'm a',
				description: 'd a',
				external_id: 'a',
				kind: 'payment',
				outcome: 'rejected',
				statusCode: 422,
				response: 'r',
			},
		},
		pairedItem: { item: 2 },
	});
	const { error } = toOutputItem({ ...failed('notSent'), field: 'amount' }, 0).json;
	expect(error).toStrictEqual({
		message: 'm undefined',
		description: 'd undefined',
		kind: 'payment',
		outcome: 'notSent',
		field: 'amount',
	});
});

const summaryOf = (results: ItemResult[], remaining: Array<[number, string]> = []): Summary => ({
	operation: OPERATIONS.payment,
	items: results.length + remaining.length,
	done: results.map((result, index) => ({ index, result })),
	doubts: new Set(),
	remaining: new Map(remaining),
});

test('every external_id stands under its outcome; what was not reached has none', () => {
	const results = [
		accepted('a'),
		...(['rejected', 'duplicate', 'notSent', 'unknown'] as const).map((each) => failed(each, each)),
		failed('notSent'),
	];
	expect(idsByOutcome(summaryOf(results, [[6, 'waiting']]))).toStrictEqual({
		accepted: ['a'],
		rejected: ['rejected'],
		duplicate: ['duplicate'],
		notSent: ['notSent'],
		unknown: ['unknown'],
		notReached: ['waiting'],
	});
});

describe('the error that stops the node', () => {
	const lost = failed('unknown', 'lost');
	const errorOf = (results: ItemResult[], remaining: Array<[number, string]> = [], result = lost) =>
		stoppingError(NODE, { index: 0, result }, summaryOf(results, remaining));

	test('of one item says no more than that', () => {
		const error = errorOf([lost]);
		expect(error).toBeInstanceOf(NodeApiError);
		expect([error.message, error.description]).toStrictEqual(['m lost', 'd lost']);
		expect(error.stack).toBe('NodeApiError: m lost');
		expect(error.messages).toStrictEqual([]);
		expect((error as NodeApiError).httpCode).toBeNull();
		expect(error.context).toMatchObject({
			itemIndex: 0,
			data: { external_id: 'lost', kind: 'payment', outcome: 'unknown' },
			externalIds: { unknown: ['lost'], accepted: [], notSent: [] },
		});
	});

	test('of several counts them by outcome and names those that failed too', () => {
		const results = [
			lost,
			accepted('a'),
			...(['rejected', 'unknown', 'duplicate', 'notSent'] as const).map((each) =>
				failed(each, `of ${each}`),
			),
			failed('notSent'),
		];
		expect(errorOf(results, [[7, 'w']]).description).toBe(
			`d lost This is about "lost" (line 1 of the list). Of 8 payments: 1 accepted, 1 rejected, 2 unknown, 1 duplicate, 2 ${OUTCOME_WORDS.notSent}, 1 not reached in this run. An earlier run may have sent what was not reached. ` +
				'Also failed: "of rejected" (line 3 of the list) rejected; "of unknown" (line 4 of the list) unknown; ' +
				`"of duplicate" (line 5 of the list) duplicate; "of notSent" (line 6 of the list) ${OUTCOME_WORDS.notSent}; line 7 of the list ${OUTCOME_WORDS.notSent}. ` +
				"The error's context holds every external_id by outcome.",
		);
		expect(errorOf([lost, accepted('a')]).description).toBe(
			'd lost This is about "lost" (line 1 of the list). Of 2 payments: 1 accepted, 1 unknown. ' +
				"The error's context holds every external_id by outcome.",
		);
	});

	test('names twenty of those that failed too, and counts the rest', () => {
		const many = (count: number) => [
			lost,
			...Array.from({ length: count }, (_, index) => failed('rejected', `r${index}`)),
		];
		expect(errorOf(many(20)).description).toContain(
			'"r19" (line 21 of the list) rejected. The error',
		);
		expect(errorOf(many(22)).description).toContain(
			'"r19" (line 21 of the list) rejected; and 2 more. The error',
		);
	});

	test('of an answer holds its status; of an item that was refused it is an operation error', () => {
		const rejected = errorOf([lost], [], { ...failed('rejected', 'a'), statusCode: 503 });
		expect(rejected).toBeInstanceOf(NodeApiError);
		expect((rejected as NodeApiError).httpCode).toBe('503');
		// Not n8n's own words for a 503, which advise to try again.
		expect([rejected.message, rejected.description]).toStrictEqual(['m a', 'd a']);
		const refused = errorOf([lost], [], {
			...failed('notSent', 'a'),
			isFrom: 'thisPackage',
			field: 'amount',
		});
		expect(refused).toBeInstanceOf(NodeOperationError);
		expect(refused.stack).toBe('NodeOperationError: m a');
		expect(refused.context).toMatchObject({ itemIndex: 0, data: { field: 'amount' } });
	});
});

/** What some work throws, where that is an error of n8n. */
function caught(work: () => void): NodeApiError | NodeOperationError {
	try {
		work();
	} catch (error) {
		if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
		throw error;
	}
	throw new Error('Nothing was thrown');
}

describe('the tally', () => {
	test('opens empty', () => {
		expect(openTally(NODE, OPERATIONS.payment, 2, true)).toStrictEqual({
			operation: OPERATIONS.payment,
			node: NODE,
			items: 2,
			continuesOnFailure: true,
			done: [],
			hasFailed: false,
			doubts: new Set(),
			isStopping: false,
			responseLength: 0,
			remaining: new Map(),
			inFlight: new Set(),
			hints: new Set(),
			itemHints: new Map(),
		});
	});

	test('stops at the first failure by index, an unknown one before all others', () => {
		const stop = (...results: ItemResult[]) => {
			try {
				// In the order in which they ended, which is not that of the items.
				const tally = openTally(NODE, OPERATIONS.payment, 3, false);
				addResults(tally, (summaryOf(results).done as Done[]).reverse());
				throwIfFailed(tally);
			} catch (error) {
				return (error as Error).message;
			}
			return undefined;
		};
		expect(stop(accepted('a'), accepted('b'))).toBeUndefined();
		expect(stop(accepted('a'), failed('rejected', 'b'), failed('notSent', 'c'))).toBe('m b');
		expect(stop(failed('rejected', 'a'), failed('unknown', 'b'))).toBe('m b');
	});
});

describe('a list of 130,000 items', () => {
	// More than a call takes as arguments: Node then throws a RangeError.
	const COUNT = 130_000;

	test('that stops at an unknown payment says so, and names what was not reached', () => {
		const tally = openTally(NODE, OPERATIONS.payment, COUNT, false);
		for (let index = 1; index < COUNT; index++) tally.remaining.set(index, `order-${index}`);
		addResults(tally, [{ index: 0, result: failed('unknown', 'a') }]);
		const error = caught(() => throwIfFailed(tally));
		expect(error.message).toBe('m a');
		const { externalIds } = error.context as { externalIds: Record<string, string[]> };
		expect(externalIds.unknown).toStrictEqual(['a']);
		expect(externalIds.notReached).toHaveLength(COUNT - 1);
	});

	test('whose results come at once is written down', () => {
		const tally = openTally(NODE, OPERATIONS.payment, COUNT, true);
		const result = failed('notSent', 'a');
		addResults(
			tally,
			Array.from({ length: COUNT }, (_, index): Done => ({ index, result })),
		);
		expect(tally.done).toHaveLength(COUNT);
	});

	test('of which eleven raise doubts has ten of them in its error, and says that there is one more', () => {
		const tally = openTally(NODE, OPERATIONS.qrCode, COUNT, false);
		for (let index = 0; index < 11; index++) tally.doubts.add(`Doubt ${index}.`);
		addResults(tally, [{ index: 0, result: failed('rejected', 'a') }]);
		expect(caught(() => throwIfFailed(tally)).description).toMatch(
			/Doubt 9\. One more response says something else than its request\.$/,
		);
	});

	test('that raises as many doubts has ten of them in its error, and says how many more', () => {
		const tally = openTally(NODE, OPERATIONS.qrCode, COUNT, false);
		for (let index = 0; index < COUNT; index++) tally.doubts.add(`Doubt ${index}.`);
		addResults(tally, [{ index: 0, result: failed('rejected', 'a') }]);
		const error = caught(() => throwIfFailed(tally));
		expect(error.description).toContain('Doubt 9. ');
		expect(error.description).not.toContain('Doubt 10.');
		expect(error.description).toMatch(
			/ 129990 more responses say something else than their requests\.$/,
		);
	});
});

describe('where nothing can be done for any item', () => {
	const context = (goesOn: boolean) =>
		({
			continueOnFail: () => goesOn,
			getInputData: () => [{ json: { a: 1 } }, { json: { b: 2 } }],
			getNode: () => NODE,
		}) as unknown as IExecuteFunctions;
	const error = new InputError('x', 'It is bad', 'Do this.');

	test('each item says so under "continue"', () => {
		const failure = { message: 'It is bad', description: 'Do this.', field: 'x' };
		expect(failAll(context(true), error)).toStrictEqual([
			[0, 1].map((item) => ({ json: { error: failure }, pairedItem: { item } })),
		]);
		expect(failAll(context(true), 'odd')[0]?.[0]?.json).toStrictEqual({
			error: { message: 'odd', description: undefined },
		});
	});

	test('else the node stops', () => {
		const stop = (thrown: unknown) => () => failAll(context(false), thrown);
		expect(stop(error)).toThrow(NodeOperationError);
		expect(stop(error)).toThrow(expect.objectContaining({ description: 'Do this.' }));
		const facts = { itemIndex: 0, data: { field: 'x' } };
		expect(stop(error)).toThrow(expect.objectContaining({ context: facts }));
		expect(stop(new Error('of n8n'))).toThrow(/^of n8n$/);
	});

	test("a value that holds a network code does not bring up n8n's advice to retry", () => {
		const odd = new InputError('external_id', '"ECONNREFUSED" is bad', 'Correct it.');
		const stop = () => failAll(context(false), odd);
		expect(stop).toThrow('"ECONNREFUSED" is bad');
		expect(stop).toThrow(expect.objectContaining({ messages: [], description: 'Correct it.' }));
	});
});

describe('where the node goes on, what needs a person is put into words', () => {
	const words = (...results: ItemResult[]) =>
		failuresInWords({ ...summaryOf(results), operation: OPERATIONS[results[0]?.kind as Kind] });

	const MIXED = [
		accepted('a'),
		failed('unknown', 'payout-7'),
		failed('rejected', 'c'),
		failed('duplicate', 'd'),
		failed('notSent', 'e'),
		failed('notSent'),
	];
	const OF_MIXED = `1 of 6 payments is unknown: "payout-7". Ask the service before you pay again. Of the others: 1 accepted, 1 rejected, 1 duplicate, 2 ${OUTCOME_WORDS.notSent}.`;
	const REJECTED = 'The payment "a" was not accepted in this run: rejected.';
	const WITHOUT_ID = `The payment was not accepted in this run: ${OUTCOME_WORDS.notSent}.`;
	const UNKNOWN_CHARGE: FailedResult = { ...failed('unknown', 'a'), kind: 'qrCode' };
	test.each<{ what: string; results: ItemResult[]; expected: string | undefined }>([
		{
			what: 'nothing where all was accepted',
			results: [accepted('a'), accepted('b')],
			expected: undefined,
		},
		{
			what: 'how many there are of each, and which are unknown',
			results: MIXED,
			expected: OF_MIXED,
		},
		{
			what: 'no advice to ask where nothing is unknown',
			results: [failed('rejected', 'a')],
			expected: REJECTED,
		},
		{
			what: 'nor an identifier where none could be read',
			results: [failed('notSent')],
			expected: WITHOUT_ID,
		},
		{
			what: 'nor for QR codes',
			results: [UNKNOWN_CHARGE],
			expected: 'The QR code "a" is unknown.',
		},
	])('$what', ({ results, expected }) => {
		expect(words(...results)).toBe(expected);
	});

	test('ten unknown ids are named, more are counted', () => {
		const all = Array.from({ length: 12 }, (_, index) => failed('unknown', `${index}`));
		expect(words(...all)).toBe(
			'12 of 12 payments are unknown: "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" and 2 more. Ask the service before you pay again.',
		);
	});
});
