import type { Account } from '../../../nodes/Pay/credential/connection';
import {
	accountIdOf,
	fingerprintOf,
	tokenIdOf,
} from '../../../nodes/Pay/execution/ledger/fingerprint';
import { KINDS, OPERATIONS, type Kind } from '../../serviceOperations';

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
/** As the payment has them. */
const NOT_IDENTIFYING = new Set(['external_id', 'payerQuestion', 'postbackUrl']);
/** Of each operation. What executions have stored rests on it. */
const NOT_IDENTIFYING_BY_KIND: Record<Kind, string[]> = {
	payment: ['external_id', 'payerQuestion', 'postbackUrl'],
	qrCode: ['external_id', 'payerQuestion', 'postbackUrl'],
};
const REQUEST = { external_id: 'order-1', amount: 5, payerQuestion: 'Thanks' };

test.each<{ name: string; one: Account; other: Account; expected: boolean }>([
	{
		name: 'another pasted token',
		one: PASTED,
		other: { ...PASTED, token: { pasted: 'another' } },
		expected: true,
	},
	{
		name: 'another secret of the client',
		one: FETCHED,
		other: otherClient('client', 'another'),
		expected: true,
	},
	{
		name: 'another client',
		one: FETCHED,
		other: otherClient('another', 'a secret'),
		expected: false,
	},
	{
		name: 'another address',
		one: PASTED,
		other: { ...PASTED, baseUrl: 'https://other.example' },
		expected: false,
	},
	{
		name: 'another scheme',
		one: PASTED,
		other: { ...PASTED, schemeName: 'other' },
		expected: false,
	},
	{
		name: 'a client in place of a token',
		one: PASTED,
		other: FETCHED,
		expected: false,
	},
])('with $name it is the same account or not', ({ one, other, expected }) => {
	expect(accountIdOf(one) === accountIdOf(other)).toBe(expected);
	const fingerprints = [one, other].map((account) =>
		fingerprintOf(account, REQUEST, NOT_IDENTIFYING),
	);
	expect(fingerprints[0] === fingerprints[1]).toBe(expected);
});

// Executions store them: another value would make another request of an old one.
test('the hashes are these for good', () => {
	expect(accountIdOf(PASTED)).toBe('2RMX5Hn6nQRQLyrqrVAAKV');
	expect(tokenIdOf(PASTED)).toBe('otIpCD');
	expect(fingerprintOf(PASTED, REQUEST, NOT_IDENTIFYING)).toBe('SYlTgWLK9Cu9zJej2jifgg');
	expect(fingerprintOf(PASTED, REQUEST, NOT_IDENTIFYING, '42')).toBe('nTrw9y7Sbq0wKjpP46eua2');
});

test('a pasted token is told apart by six characters, a fetched one by none', () => {
	expect(tokenIdOf(PASTED)).toHaveLength(6);
	expect(tokenIdOf({ ...PASTED, token: { pasted: 'another' } })).not.toBe(tokenIdOf(PASTED));
	expect(tokenIdOf(FETCHED)).toBe('');
});

test.each<{ name: string; changed: object; expected: boolean }>([
	{
		name: 'another description',
		changed: { payerQuestion: 'Thank you' },
		expected: true,
	},
	{
		name: 'another postback URL',
		changed: { postbackUrl: 'https://n8n.example/1' },
		expected: true,
	},
	{
		name: 'another external_id',
		changed: { external_id: 'order-2' },
		expected: true,
	},
	{
		name: 'another amount',
		changed: { amount: 6 },
		expected: false,
	},
	{
		name: 'a recipient',
		changed: { creditParty: { key: 'a@example.com' } },
		expected: false,
	},
	{
		name: 'another member',
		changed: { due: '2026-12-01' },
		expected: false,
	},
])('with $name it is the same request or not', ({ changed, expected }) => {
	const other = fingerprintOf(PASTED, { ...REQUEST, ...changed }, NOT_IDENTIFYING);
	expect(other === fingerprintOf(PASTED, REQUEST, NOT_IDENTIFYING)).toBe(expected);
});

test.each(KINDS)('a %s tells its requests apart by all but these members', (kind) => {
	const { notIdentifying } = OPERATIONS[kind];
	expect([...notIdentifying].sort()).toStrictEqual(NOT_IDENTIFYING_BY_KIND[kind]);
});

test('a request about something else is known by the external_id of that', () => {
	const about = (external_id: string) =>
		fingerprintOf(PASTED, { ...REQUEST, external_id }, new Set());
	expect(about('order-1')).toBe(about('order-1'));
	expect(about('order-2')).not.toBe(about('order-1'));
});

test('a request whose answer belongs to one execution is another one in the next', () => {
	const inExecution = (executionId?: string) =>
		fingerprintOf(PASTED, REQUEST, NOT_IDENTIFYING, executionId);
	expect(inExecution('1')).toBe(inExecution('1'));
	expect(inExecution('2')).not.toBe(inExecution('1'));
	expect(inExecution()).not.toBe(inExecution('1'));
});
