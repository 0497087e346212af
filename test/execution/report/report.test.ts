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
import {
	AFTER_DUPLICATE,
	CHECK_ITEM,
	SENT_NOTHING,
} from '../../../nodes/Pay/execution/words/result';
import { doubtsInWords, othersInWords } from '../../../nodes/Pay/execution/words/run';
import { addResults, openTally, throwIfFailed } from '../../../nodes/Pay/execution/report/tally';
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

test.each(['rejected', 'notSent', 'unknown'] as const)(
	'a request that is %s keeps its status and response, and has words for people',
	(outcome) => {
		const result = resultOf({ outcome, statusCode: 502, response: 'busy' });
		expect(result).toStrictEqual({
			...FACTS,
			isFrom: 'request',
			outcome,
			statusCode: 502,
			response: 'busy',
			message: expect.any(String),
			description: expect.any(String),
		});
	},
);

test('a payment that was rejected with an address too long hears how long it was', () => {
	const response = { callback_url: 'too long' };
	const postbackUrl = 'https://n8n.example.com/webhook-waiting/42/pay-postback';
	const request = { ...REQUEST, postbackUrl };
	const answer = { outcome: 'rejected', statusCode: 422, response } as const;
	const { description } = resultOfAttempt(OPERATIONS.payment, request, answer) as FailedResult;
	expect(description).toContain(`${postbackUrl.length} characters`);
});

test('a payment that is unknown since an earlier try names that try, and keeps its response', () => {
	const answer = { outcome: 'unknown', statusCode: 504, response: 'late' } as const;
	const still = resultOfAttempt(OPERATIONS.payment, REQUEST, answer, { earlier: 'line 3' });
	expect(still).toMatchObject({ ...answer, description: expect.stringContaining('(line 3)') });
});

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
		advice: CHECK_ITEM,
	},
	{
		what: 'what is no error',
		error: 'odd',
		field: undefined,
		message: 'odd',
		advice: CHECK_ITEM,
	},
])('an item that is refused for $what', ({ error, field, message, advice }) => {
	expect(resultOfRefusal(OPERATIONS.payment, 'a', error)).toStrictEqual({
		...FACTS,
		outcome: 'notSent',
		isFrom: 'thisPackage',
		field,
		message,
		description: `${SENT_NOTHING.notSent} ${advice}`,
	});
});

test.each([
	{ end: 'duplicate', outcome: 'duplicate' },
	{ end: 'notReached', outcome: undefined },
] as const)('an item that is refused as $end has the outcome $outcome', ({ end, outcome }) => {
	const refusal = new InputError('amount', 'It is bad', 'Correct it.');
	expect(resultOfRefusal(OPERATIONS.payment, 'a', refusal, end)).toMatchObject({
		outcome,
		description: `${SENT_NOTHING[end]} Correct it.`,
	});
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

	test('of several tells of the others, and holds every id by its outcome', () => {
		const results = [lost, accepted('a'), failed('rejected', 'b'), failed('duplicate', 'c')];
		const remaining: Array<[number, string]> = [[4, 'w']];
		const summary = summaryOf(results, remaining);
		const error = errorOf(results, remaining);
		expect(error.description).toBe(`d lost ${othersInWords(summary, 0)}`);
		expect(error.context.externalIds).toStrictEqual(idsByOutcome(summary));
	});

	test('at a duplicate says how to send the rest of a list, and no other says so', () => {
		const duplicate = failed('duplicate', 'a');
		expect(errorOf([duplicate], [], duplicate).description).toBe(`d a ${AFTER_DUPLICATE}`);
		expect(errorOf([lost]).description).toBe('d lost');
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
	test('of an item with a result has it neither as remaining nor in flight', () => {
		const tally = openTally(NODE, OPERATIONS.payment, 2, true);
		for (const [index, id] of ['a', 'b'].entries()) {
			tally.remaining.set(index, id);
			tally.inFlight.add(id);
		}
		addResults(tally, [{ index: 0, result: accepted('a') }]);
		expect([...tally.remaining, ...tally.inFlight]).toStrictEqual([[1, 'b'], 'b']);
		expect(tally.hasFailed).toBe(false);
	});

	/** At which item a run stops, whose results came in another order than its items. */
	const stopsAt = (results: ItemResult[], continues = false) => {
		const tally = openTally(NODE, OPERATIONS.payment, 3, continues);
		addResults(tally, (summaryOf(results).done as Done[]).reverse());
		try {
			throwIfFailed(tally);
		} catch (error) {
			return (error as Error).message;
		}
		return 'none';
	};
	const NOT_REACHED = { ...failed('notSent', 'a'), outcome: undefined };

	test.each<[string, ItemResult[], string]>([
		['none, where all were accepted', [accepted('a'), accepted('b')], 'none'],
		['the first that failed', [failed('rejected', 'a'), failed('notSent', 'b')], 'm a'],
		['an unknown one before others', [failed('rejected', 'a'), failed('unknown', 'b')], 'm b'],
		['what was not reached behind others', [NOT_REACHED, failed('rejected', 'b')], 'm b'],
		['what was not reached, where nothing else failed', [NOT_REACHED, accepted('b')], 'm a'],
	])('stops at %s', (_what, results, expected) => {
		expect(stopsAt(results)).toBe(expected);
	});

	test('of a run that goes on stops at none', () => {
		expect(stopsAt([failed('unknown', 'a')], true)).toBe('none');
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

	test('each of which raises a doubt has the words for them in its error', () => {
		const tally = openTally(NODE, OPERATIONS.qrCode, COUNT, false);
		for (let index = 0; index < COUNT; index++) tally.doubts.add(`Doubt ${index}.`);
		addResults(tally, [{ index: 0, result: failed('rejected', 'a') }]);
		const { description } = caught(() => throwIfFailed(tally));
		expect(description).toContain(doubtsInWords(tally));
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
