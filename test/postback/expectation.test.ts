import {
	awaitedRequests,
	confirmExpectation,
	countWaits,
	type Expectation,
	type ExpectationStore,
	hashesOf,
	otherStillAwaited,
	recordExpectation,
	recordWait,
	withdrawExpectation,
} from '../../nodes/Pay/postback/waiting';

const STORE: ExpectationStore = {};
for (const external_id of ['a', '__proto__', 'toString']) {
	recordExpectation(STORE, {
		is: 'request',
		external_id,
		kind: 'qrCode',
		amount: 5,
		executionId: '42',
		hash: 'first',
	});
}
const never = () => false;

/** The hashes of the requests whose postbacks may end a wait. */
const awaitedHashes = (...args: Parameters<typeof awaitedRequests>) =>
	awaitedRequests(...args).map(({ hash }) => hash);

test.each<{ name: string; external_id: string; executionId: string; expected: string[] }>([
	{ name: 'its own', external_id: 'a', executionId: '42', expected: ['first'] },
	{ name: "another's", external_id: 'b', executionId: '42', expected: [] },
	{ name: "another execution's", external_id: 'a', executionId: '43', expected: [] },
	{
		name: 'what every object has, not asked for',
		external_id: 'constructor',
		executionId: '42',
		expected: [],
	},
	{
		name: 'what every object has, asked for',
		external_id: '__proto__',
		executionId: '42',
		expected: ['first'],
	},
])('a wait for $name may be ended by $expected', ({ external_id, executionId, expected }) => {
	// As n8n stores it.
	const store = JSON.parse(JSON.stringify(STORE)) as ExpectationStore;
	expect(awaitedHashes(store, external_id, executionId, never)).toStrictEqual(expected);
	expect(awaitedHashes({}, external_id, executionId, never)).toStrictEqual([]);
});

/**
 * What may end the next wait for "a": C is a charge of it, R one that was rejected, W a wait that a
 * postback ended, L one that its limit did.
 */
test.each<{ events: string; expected: string[] }>([
	{ events: 'C', expected: ['0'] },
	{ events: 'C W', expected: ['0'] },
	{ events: 'C L', expected: ['0'] },
	{ events: 'C C', expected: ['0', '1'] },
	{ events: 'C L C', expected: ['0', '2'] },
	{ events: 'C W C', expected: ['2'] },
	{ events: 'C L C W', expected: ['0', '2'] },
	{ events: 'C L C W C', expected: ['4'] },
	{ events: 'C W L C', expected: ['3'] },
	{ events: 'C W W', expected: ['0'] },
	{ events: 'W C', expected: ['1'] },
	{ events: 'R', expected: [] },
	{ events: 'R C', expected: ['1'] },
	{ events: 'C R', expected: ['0'] },
	{ events: 'C L R', expected: ['0'] },
	{ events: 'C W R', expected: [] },
	{ events: 'C W R C', expected: ['3'] },
])('after $events the next wait for it may be ended by $expected', ({ events, expected }) => {
	const store: ExpectationStore = {};
	for (const [index, event] of events.split(' ').entries()) {
		// Another identifier's in between, and another execution's, count for nothing.
		recordWait(store, { external_id: 'b', executionId: '42', node: 'W', run: index });
		recordWait(store, { external_id: 'a', executionId: '41', node: 'W', run: index });
		if (event === 'C' || event === 'R') {
			const about: Expectation = {
				is: 'request',
				external_id: 'a',
				kind: 'qrCode',
				amount: 5,
				executionId: '42',
				hash: String(index),
			};
			recordExpectation(store, about);
			if (event === 'R') withdrawExpectation(about);
		} else {
			recordWait(store, { external_id: 'a', executionId: '42', node: event, run: index });
		}
	}
	const wasEnded = ({ node }: { node: string }) => node === 'W';
	expect(awaitedHashes(store, 'a', '42', wasEnded)).toStrictEqual(expected);
});

/** What an execution's context holds after two charges, one of each execution, and two waits. */
function mixedStore(): ExpectationStore {
	const store: ExpectationStore = {};
	const status = { field: ['status'], paid: ['paid'], failed: [] };
	recordExpectation(store, {
		is: 'request',
		external_id: 'a',
		kind: 'qrCode',
		amount: 5,
		executionId: '42',
		hash: 'first',
		status,
	});
	recordExpectation(store, {
		is: 'request',
		external_id: 'a',
		kind: 'qrCode',
		amount: 5,
		executionId: '43',
		hash: 'second',
		isSigned: true,
	});
	recordWait(store, { external_id: 'a', executionId: '43', node: 'Wait', run: 0 });
	recordWait(store, { external_id: 'b', executionId: '43', node: 'Wait', run: 1 });
	return store;
}

test('a wait that begins gets the hashes of all proofs before it, of other executions too, in order', () => {
	const wait = { external_id: 'a', executionId: '42', node: 'Wait', run: 2 };
	expect(hashesOf({})).toStrictEqual([]);
	const store = mixedStore();
	recordWait(store, wait);
	expect(hashesOf(store)).toStrictEqual(['first', 'second']);
	expect(store.postbacks).toStrictEqual([...mixedStore().postbacks!, { is: 'wait', ...wait }]);
});

describe('another postback of an execution that is still to come', () => {
	const NEW: Expectation = {
		is: 'request',
		kind: 'qrCode',
		amount: 5,
		external_id: 'new',
		executionId: '42',
		hash: '',
	};
	type Event = [what: 'accepted' | 'in doubt' | 'rejected' | 'wait', external_id: string];

	/** The other postback that is awaited when a request asks for that of "new". */
	function awaitedAfter(...events: Event[]): string | undefined {
		const store: ExpectationStore = {};
		for (const [what, external_id] of events) {
			if (what === 'wait') {
				recordWait(store, { external_id, executionId: '42', node: 'Wait', run: 0 });
				continue;
			}
			const expectation: Expectation = {
				is: 'request',
				kind: 'qrCode',
				amount: 5,
				external_id,
				executionId: '42',
				hash: external_id,
			};
			recordExpectation(store, expectation);
			if (what === 'accepted') confirmExpectation(expectation);
			if (what === 'rejected') withdrawExpectation(expectation);
		}
		return otherStillAwaited(store, NEW);
	}

	test.each<{ what: string; events: Event[]; expected: string | undefined }>([
		{ what: 'nothing happened', events: [], expected: undefined },
		{ what: 'one was accepted', events: [['accepted', 'a']], expected: 'a' },
		{
			what: 'a wait for it has begun since',
			events: [
				['accepted', 'a'],
				['wait', 'a'],
			],
			expected: undefined,
		},
		{
			what: 'a wait for another one has',
			events: [
				['accepted', 'a'],
				['accepted', 'b'],
				['wait', 'a'],
			],
			expected: 'b',
		},
		{
			what: 'it was accepted again after its wait',
			events: [
				['accepted', 'a'],
				['wait', 'a'],
				['accepted', 'a'],
			],
			expected: 'a',
		},
		{ what: 'it is the same one', events: [['accepted', 'new']], expected: undefined },
		{ what: 'it is in doubt', events: [['in doubt', 'a']], expected: undefined },
		{ what: 'it was rejected', events: [['rejected', 'a']], expected: undefined },
	])('where $what, it is $expected', ({ events, expected }) => {
		expect(awaitedAfter(...events)).toBe(expected);
	});

	test('is none where another execution asked for it', () => {
		const store: ExpectationStore = {};
		const expectation: Expectation = {
			is: 'request',
			kind: 'qrCode',
			amount: 5,
			external_id: 'a',
			executionId: '41',
			hash: 'a',
		};
		recordExpectation(store, expectation);
		confirmExpectation(expectation);
		expect(otherStillAwaited(store, NEW)).toBeUndefined();
	});
});

test.each([
	{ executionId: '43', expected: 2 },
	{ executionId: '42', expected: 0 },
])('execution $executionId has waited $expected times', ({ executionId, expected }) => {
	expect(countWaits(mixedStore(), executionId)).toBe(expected);
});

test('in an empty store nothing has waited', () => {
	expect(countWaits({}, '42')).toBe(0);
});
