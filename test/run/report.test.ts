import { type INode, NodeApiError, NodeOperationError } from 'n8n-workflow';
import { InputError } from '../../nodes/Pay/base/inputError';
import {
	type AcceptedResult,
	type Done,
	type FailedResult,
	idsByOutcome,
	type ItemResult,
	type Summary,
} from '../../nodes/Pay/run/item';
import {
	addResults,
	failAll,
	openTally,
	resultOfRefusal,
	throwIfFailed,
} from '../../nodes/Pay/run/report';
import { CHECK_ITEM, doubtsInWords, SENT_NOTHING } from '../../nodes/Pay/run/words';
import { OPERATIONS } from '../serviceOperations';
import { executeContext } from '../contexts';

/* What engine/report.test.ts does not show in a run of the node. */

const NODE: INode = {
	id: '1',
	name: 'Pay',
	type: 'n8n-nodes-pay.pay',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};
const REQUEST = { external_id: 'a', amount: 5 };
const FACTS = { kind: 'payment', ...REQUEST };

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
	{ what: 'what is no error', error: 'odd', field: undefined, message: 'odd', advice: CHECK_ITEM },
])('an item that is refused for $what', ({ error, field, message, advice }) => {
	expect(resultOfRefusal(OPERATIONS.payment, REQUEST, error)).toStrictEqual({
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
	expect(resultOfRefusal(OPERATIONS.payment, { external_id: 'a' }, refusal, end)).toMatchObject({
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
		executeContext({
			continueOnFail: () => goesOn,
			getInputData: () => [{ json: { a: 1 } }, { json: { b: 2 } }],
			getNode: () => NODE,
		});
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
		const facts = { data: { field: 'x' } };
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
