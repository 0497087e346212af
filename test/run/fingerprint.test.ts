import type { Account } from '../../nodes/Pay/account/account';
import { accountIdOf, tokenIdOf } from '../../nodes/Pay/account/identity';
import { fingerprintOf } from '../../nodes/Pay/run/ledger';
import type { Meaning, Meanings, ServiceRequest } from '../../nodes/Pay/service/contract';
import { OPERATIONS } from '../serviceOperations';

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
const { meanings: MEANINGS } = OPERATIONS.payment;
/** Values that identify nothing, so that one alone is looked at. */
const NOTHING: Meanings = { day: 'text', 'group.day': 'text', 'list[].day': 'text' };
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
	{ name: 'a client in place of a token', one: PASTED, other: FETCHED, expected: false },
])('with $name it is the same account: $expected', ({ one, other, expected }) => {
	expect(accountIdOf(one) === accountIdOf(other)).toBe(expected);
	const fingerprints = [one, other].map((account) => fingerprintOf(account, REQUEST, MEANINGS));
	expect(fingerprints[0] === fingerprints[1]).toBe(expected);
});

test('a pasted token is told apart by six characters, a fetched one by none', () => {
	expect(tokenIdOf(PASTED)).toHaveLength(6);
	expect(tokenIdOf({ ...PASTED, token: { pasted: 'another' } })).not.toBe(tokenIdOf(PASTED));
	expect(tokenIdOf(FETCHED)).toBe('');
});

test.each<{ name: string; changed: object; expected: boolean }>([
	{ name: 'another description', changed: { payerQuestion: 'Thank you' }, expected: true },
	{
		name: 'another postback URL',
		changed: { postbackUrl: 'https://n8n.example/1' },
		expected: true,
	},
	{ name: 'another external_id', changed: { external_id: 'order-2' }, expected: true },
	{ name: 'another amount', changed: { amount: 6 }, expected: false },
	{ name: 'a recipient', changed: { creditParty: { key: 'a@example.com' } }, expected: false },
	{ name: 'another member', changed: { due: '2026-12-01' }, expected: false },
])('with $name it is the same request: $expected', ({ changed, expected }) => {
	const other = fingerprintOf(PASTED, { ...REQUEST, ...changed }, MEANINGS);
	expect(other === fingerprintOf(PASTED, REQUEST, MEANINGS)).toBe(expected);
});

test.each<{ means: Meaning; isSame: boolean }>([
	{ means: 'recipient', isSame: false },
	{ means: 'amount', isSame: false },
	{ means: 'identity', isSame: false },
	{ means: 'text', isSame: true },
	{ means: 'control', isSame: true },
])('another value that means $means is the same request: $isSame', ({ means, isSame }) => {
	for (const path of Object.keys(NOTHING)) {
		const fingerprintWith = (day: string) =>
			fingerprintOf(
				PASTED,
				{
					external_id: 'a',
					amount: 1,
					day,
					group: { day, other: 1 },
					list: [{ day }],
				} as ServiceRequest,
				{ ...NOTHING, [path]: means },
			);
		expect(fingerprintWith('1') === fingerprintWith('2')).toBe(isSame);
	}
});

test('what the form lacks tells requests apart, also beside what does not', () => {
	const meanings: Meanings = { 'group.note': 'text' };
	const fingerprintWith = (group: object) =>
		fingerprintOf(PASTED, { external_id: 'a', amount: 1, group } as ServiceRequest, meanings);
	expect(fingerprintWith({ note: 'x', bank: 1 })).toBe(fingerprintWith({ note: 'y', bank: 1 }));
	expect(fingerprintWith({ note: 'x', bank: 1 })).not.toBe(fingerprintWith({ note: 'x', bank: 2 }));
});

test('a request whose answer belongs to one execution is another one in the next', () => {
	const inExecution = (executionId?: string) =>
		fingerprintOf(PASTED, REQUEST, MEANINGS, executionId);
	expect(inExecution('1')).toBe(inExecution('1'));
	expect(inExecution('2')).not.toBe(inExecution('1'));
	expect(inExecution()).not.toBe(inExecution('1'));
});
