import {
	awaitedCharges,
	beginWait,
	expectPostback,
	type ExpectationStore,
} from '../../nodes/Pay/postback/expectation';

const SECRET = 'the postback secret of the test';
const STORE: ExpectationStore = {};
for (const external_id of ['a', '__proto__', 'toString']) {
	expectPostback(STORE, { external_id, charge: 'first' }, '42', SECRET);
}
const never = () => false;

test.each<[string, string, string, string[], string[]]>([
	['its own', 'a', '42', [SECRET], ['first']],
	['its own, signed before the secret was replaced', 'a', '42', ['newer', SECRET], ['first']],
	["another's", 'b', '42', [SECRET], []],
	["another execution's", 'a', '43', [SECRET], []],
	['one signed with another secret', 'a', '42', ['a newer secret'], []],
	['one that is not signed', 'a', '42', [], []],
	['what every object has, not asked for', 'constructor', '42', [SECRET], []],
	['what every object has, asked for', '__proto__', '42', [SECRET], ['first']],
])('a wait for %s', (_name, external_id, executionId, secrets, expected) => {
	// As n8n stores it.
	const store = JSON.parse(JSON.stringify(STORE)) as ExpectationStore;
	expect(awaitedCharges(store, external_id, executionId, secrets, never)).toStrictEqual(expected);
	expect(awaitedCharges({}, external_id, executionId, secrets, never)).toStrictEqual([]);
});

test('a charge and a payment of one external_id may have two credentials', () => {
	const store: ExpectationStore = {};
	const secrets = [SECRET, 'the secret of another account'];
	for (const secret of secrets) {
		expectPostback(store, { external_id: 'a', charge: secret }, '42', secret);
	}
	for (const secret of secrets) {
		expect(awaitedCharges(store, 'a', '42', [secret], never)).toStrictEqual([secret]);
	}
});

test('what is written down is no proof, and holds no secret', () => {
	const marks = STORE.postbacks!.map((event) => ('mark' in event ? event.mark.length : 0));
	expect(marks).toStrictEqual([6, 6, 6]);
	expect(JSON.stringify(STORE)).not.toContain(SECRET);
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
			const about = { external_id: 'a', charge: String(index) };
			const expectNone = expectPostback(store, about, '42', SECRET);
			if (event === 'R') expectNone();
		} else {
			beginWait(store, { external_id: 'a', executionId: '42', node: event, run: index });
		}
	}
	const wasEnded = ({ node }: { node: string }) => node === 'W';
	expect(awaitedCharges(store, 'a', '42', [SECRET], wasEnded)).toStrictEqual(expected);
});
