import {
	expectPostback,
	isExpected,
	type ExpectationStore,
} from '../../nodes/Pay/postback/expectation';

const SECRET = 'the postback secret of the test';
const STORE: ExpectationStore = {};
for (const external_id of ['a', '__proto__', 'toString']) {
	expectPostback(STORE, external_id, '42', SECRET);
}

test.each<[string, string, string, string[], boolean]>([
	['its own', 'a', '42', [SECRET], true],
	['its own, signed before the secret was replaced', 'a', '42', ['a newer secret', SECRET], true],
	["another's", 'b', '42', [SECRET], false],
	["another execution's", 'a', '43', [SECRET], false],
	['one signed with another secret', 'a', '42', ['a newer secret'], false],
	['one that is not signed', 'a', '42', [], false],
	['what every object has, not asked for', 'constructor', '42', [SECRET], false],
	['what every object has, asked for', '__proto__', '42', [SECRET], true],
])('a wait for %s', (_name, external_id, executionId, secrets, expected) => {
	// As n8n stores it.
	const store = JSON.parse(JSON.stringify(STORE)) as ExpectationStore;
	expect(isExpected(store, external_id, executionId, secrets)).toBe(expected);
	expect(isExpected({}, external_id, executionId, secrets)).toBe(false);
});

test('a charge and a payment of one external_id may have two credentials', () => {
	const store: ExpectationStore = {};
	const secrets = [SECRET, 'the secret of another account'];
	for (const secret of secrets) expectPostback(store, 'a', '42', secret);
	for (const secret of secrets) expect(isExpected(store, 'a', '42', [secret])).toBe(true);
});

test('what is written down is too short to try out secrets with', () => {
	const marks = Object.keys(STORE.postbacks!).map((name) => name.split(' ')[0]!);
	expect(marks.map(({ length }) => length)).toStrictEqual([6, 6, 6]);
	expect(JSON.stringify(STORE)).not.toContain(SECRET);
});
