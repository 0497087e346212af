import {
	awaitedProofs,
	countWaits,
	expectationOf,
	giveWayBehindWait,
	hasAsked,
	hasGivenWay,
	hashesOf,
	recordExpectation,
	recordWait,
	withdrawExpectation,
	type ExpectationStore,
} from '../../nodes/Pay/postback/expectation';

const STORE: ExpectationStore = {};
for (const external_id of ['a', '__proto__', 'toString']) {
	recordExpectation(STORE, { external_id, executionId: '42', hash: 'first' });
}
const never = () => false;

test.each<[string, string, string, string[]]>([
	['its own', 'a', '42', ['first']],
	["another's", 'b', '42', []],
	["another execution's", 'a', '43', []],
	['what every object has, not asked for', 'constructor', '42', []],
	['what every object has, asked for', '__proto__', '42', ['first']],
])('a wait for %s', (_name, external_id, executionId, expected) => {
	// As n8n stores it.
	const store = JSON.parse(JSON.stringify(STORE)) as ExpectationStore;
	expect(awaitedProofs(store, external_id, executionId, never)).toStrictEqual(expected);
	expect(awaitedProofs({}, external_id, executionId, never)).toStrictEqual([]);
});

/**
 * What may end the next wait for "a": C is a charge of it, R one that was rejected, W a wait that a
 * postback ended, L one that its limit did.
 */
test.each<[string, string[]]>([
	['C', ['0']],
	['C W', ['0']],
	['C L', ['0']],
	['C C', ['0', '1']],
	['C L C', ['0', '2']],
	['C W C', ['2']],
	['C L C W', ['0', '2']],
	['C L C W C', ['4']],
	['C W L C', ['3']],
	['C W W', ['0']],
	['W C', ['1']],
	['R', []],
	['R C', ['1']],
	['C R', ['0']],
	['C L R', ['0']],
	['C W R', []],
	['C W R C', ['3']],
])('after %s', (events, expected) => {
	const store: ExpectationStore = {};
	for (const [index, event] of events.split(' ').entries()) {
		// Another identifier's in between, and another execution's, count for nothing.
		recordWait(store, { external_id: 'b', executionId: '42', node: 'W', run: index });
		recordWait(store, { external_id: 'a', executionId: '41', node: 'W', run: index });
		if (event === 'C' || event === 'R') {
			const about = { external_id: 'a', executionId: '42', hash: String(index) };
			recordExpectation(store, about);
			if (event === 'R') withdrawExpectation(about);
		} else {
			recordWait(store, { external_id: 'a', executionId: '42', node: event, run: index });
		}
	}
	const wasEnded = ({ node }: { node: string }) => node === 'W';
	expect(awaitedProofs(store, 'a', '42', wasEnded)).toStrictEqual(expected);
});

/** What an execution's context holds after two charges, one of each execution, and two waits. */
function mixedStore(): ExpectationStore {
	const store: ExpectationStore = {};
	const status = { field: 'status', paid: ['paid'], failed: [] };
	recordExpectation(store, { external_id: 'a', executionId: '42', hash: 'first', status });
	recordExpectation(store, { external_id: 'a', executionId: '43', hash: 'second', isSigned: true });
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
	expect(store.postbacks).toStrictEqual([...mixedStore().postbacks!, wait]);
});

test.each([
	['42', true],
	['43', true],
	['44', false],
])('execution %s has asked for a postback: %p', (executionId, expected) => {
	expect(hasAsked(mixedStore(), executionId)).toBe(expected);
});

test('a wait alone asks for no postback, and an empty store neither', () => {
	const store: ExpectationStore = {};
	recordWait(store, { external_id: 'a', executionId: '42', node: 'Wait', run: 0 });
	expect(hasAsked(store, '42')).toBe(false);
	expect(hasAsked({}, '42')).toBe(false);
});

test.each([
	['43', 2],
	['42', 0],
])('execution %s has waited %d times', (executionId, expected) => {
	expect(countWaits(mixedStore(), executionId)).toBe(expected);
});

test('in an empty store nothing has waited', () => {
	expect(countWaits({}, '42')).toBe(0);
});

test('an execution has given way until its next wait, whatever others do', () => {
	const store = mixedStore();
	expect(hasGivenWay(store, '43')).toBe(false);
	giveWayBehindWait(store, '43');
	expect(hasGivenWay(store, '43')).toBe(true);
	expect(hasGivenWay(store, '42')).toBe(false);
	recordWait(store, { external_id: 'a', executionId: '42', node: 'Wait', run: 0 });
	expect(hasGivenWay(store, '43')).toBe(true);
	recordWait(store, { external_id: 'a', executionId: '43', node: 'Wait', run: 2 });
	expect(hasGivenWay(store, '43')).toBe(false);
});

test.each<[string, object | undefined]>([
	[
		'first',
		{
			external_id: 'a',
			executionId: '42',
			hash: 'first',
			status: { field: 'status', paid: ['paid'], failed: [] },
		},
	],
	['second', { external_id: 'a', executionId: '43', hash: 'second', isSigned: true }],
	['third', undefined],
])('by the hash %s the postback is found that was asked for', (hash, expected) => {
	expect(expectationOf(mixedStore(), hash)).toStrictEqual(expected);
});

test('in an empty store no postback is found', () => {
	expect(expectationOf({}, 'first')).toBeUndefined();
});
