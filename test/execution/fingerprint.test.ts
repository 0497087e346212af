import type { Account } from '../../nodes/Pay/credential/connection';
import { accountIdOf, fingerprintOf, tokenIdOf } from '../../nodes/Pay/execution/fingerprint';

const PASTED = {
	baseUrl: 'https://api.example.com',
	schemeName: 'pay',
	token: { pasted: 'a token' },
} as Account;
const FETCHED = {
	...PASTED,
	token: { clientCredentials: { clientId: 'client', clientSecret: 'a secret' } },
} as Account;
const otherClient = (clientId: string, clientSecret: string) =>
	({ ...PASTED, token: { clientCredentials: { clientId, clientSecret } } }) as Account;
const REQUEST = { external_id: 'order-1', amount: 5, payerQuestion: 'Thanks' };

test.each<[string, Account, Account, boolean]>([
	['another pasted token', PASTED, { ...PASTED, token: { pasted: 'another' } }, true],
	['another secret of the client', FETCHED, otherClient('client', 'another'), true],
	['another client', FETCHED, otherClient('another', 'a secret'), false],
	['another address', PASTED, { ...PASTED, baseUrl: 'https://other.example' }, false],
	['another scheme', PASTED, { ...PASTED, schemeName: 'other' }, false],
	['a client in place of a token', PASTED, FETCHED, false],
])('with %s it is the same account or not', (_name, one, other, expected) => {
	expect(accountIdOf(one) === accountIdOf(other)).toBe(expected);
	const fingerprints = [one, other].map((account) => fingerprintOf(account, REQUEST, 'its own'));
	expect(fingerprints[0] === fingerprints[1]).toBe(expected);
});

// Executions store them: another value would make another request of an old one.
test('the hashes are these for good', () => {
	expect(accountIdOf(PASTED)).toBe('2RMX5Hn6nQRQLyrqrVAAKV');
	expect(tokenIdOf(PASTED)).toBe('otIpCD');
	expect(fingerprintOf(PASTED, REQUEST, 'its own')).toBe('SYlTgWLK9Cu9zJej2jifgg');
});

test('a pasted token is told apart by six characters, a fetched one by none', () => {
	expect(tokenIdOf(PASTED)).toHaveLength(6);
	expect(tokenIdOf({ ...PASTED, token: { pasted: 'another' } })).not.toBe(tokenIdOf(PASTED));
	expect(tokenIdOf(FETCHED)).toBe('');
});

test.each<[string, object, boolean]>([
	['another description', { payerQuestion: 'Thank you' }, true],
	['another postback URL', { postbackUrl: 'https://n8n.example/1' }, true],
	['another external_id', { external_id: 'order-2' }, true],
	['another amount', { amount: 6 }, false],
	['a recipient', { creditParty: { key: 'a@example.com' } }, false],
	['another member', { due: '2026-12-01' }, false],
])('with %s it is the same request or not', (_name, changed, expected) => {
	const other = fingerprintOf(PASTED, { ...REQUEST, ...changed }, 'its own');
	expect(other === fingerprintOf(PASTED, REQUEST, 'its own')).toBe(expected);
});

test('a request about something else is known by the external_id of that', () => {
	const about = (external_id: string) =>
		fingerprintOf(PASTED, { ...REQUEST, external_id }, 'of something else');
	expect(about('order-1')).toBe(about('order-1'));
	expect(about('order-2')).not.toBe(about('order-1'));
});
