import {
	awaitedProofs,
	beginWait,
	recordExpectation,
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
		beginWait(store, { external_id: 'b', executionId: '42', node: 'W', run: index });
		beginWait(store, { external_id: 'a', executionId: '41', node: 'W', run: index });
		if (event === 'C' || event === 'R') {
			const about = { external_id: 'a', executionId: '42', hash: String(index) };
			recordExpectation(store, about);
			if (event === 'R') withdrawExpectation(about);
		} else {
			beginWait(store, { external_id: 'a', executionId: '42', node: event, run: index });
		}
	}
	const wasEnded = ({ node }: { node: string }) => node === 'W';
	expect(awaitedProofs(store, 'a', '42', wasEnded)).toStrictEqual(expected);
});
