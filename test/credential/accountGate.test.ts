import { AccountGate, type Standing } from '../../nodes/Pay/credential/accountGate';
import type { Account } from '../../nodes/Pay/credential/connection';
import { InputError } from '../../nodes/Pay/inputError';

/** An account that no other test asks with: what a process knows of one outlives a run. */
function newAccount(): Account {
	return {
		baseUrl: `https://${crypto.randomUUID()}.example`,
		schemeName: 'pay',
		token: { pasted: 'a token' },
	} as Account;
}

const REFUSAL = new InputError('accessToken', 'The access token was refused', 'Enter a new one.');

/** A request that ends when it is told how its account stands. */
function openRequest() {
	let end: (standing: Standing) => void = () => {};
	const ended = new Promise<Standing>((resolve) => (end = resolve));
	const ask = jest.fn(async () => ({ result: 'response', standing: await ended }));
	return { ask, end };
}

const requestThatGives = (standing: Standing) =>
	jest.fn(async () => ({ result: 'response', standing }));
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('until an account was taken one item asks at a time, then all', async () => {
	const gate = new AccountGate();
	const account = newAccount();
	const [first, second, third] = [openRequest(), openRequest(), openRequest()];
	const passed = [first, second, third].map(({ ask }) => gate.pass(account, ask));
	await settle();
	expect([first, second, third].map(({ ask }) => ask.mock.calls.length)).toStrictEqual([1, 0, 0]);
	first.end(undefined);
	await settle();
	expect([second, third].map(({ ask }) => ask.mock.calls.length)).toStrictEqual([1, 0]);
	second.end('tokenAccepted');
	third.end('tokenAccepted');
	await expect(Promise.all(passed)).resolves.toStrictEqual(['response', 'response', 'response']);
	const together = [openRequest(), openRequest()];
	const both = together.map(({ ask }) => gate.pass(account, ask));
	await settle();
	expect(together.map(({ ask }) => ask.mock.calls.length)).toStrictEqual([1, 1]);
	for (const { end } of together) end('tokenAccepted');
	await Promise.all(both);
});

test('an account that was refused is not asked again in that run, and its first refusal stays', async () => {
	const gate = new AccountGate();
	const account = newAccount();
	await expect(gate.pass(account, requestThatGives(REFUSAL))).resolves.toBe('response');
	const again = requestThatGives('tokenAccepted');
	await expect(gate.pass(account, again)).resolves.toBe(REFUSAL);
	await expect(gate.pass({ ...account }, again)).resolves.toBe(REFUSAL);
	expect(again).not.toHaveBeenCalled();
	await expect(gate.pass(newAccount(), requestThatGives('tokenAccepted'))).resolves.toBe(
		'response',
	);
	await expect(new AccountGate().pass(account, requestThatGives('tokenAccepted'))).resolves.toBe(
		'response',
	);
});

test('of refusals that come together the first stays', async () => {
	const gate = new AccountGate();
	const account = newAccount();
	await gate.pass(account, requestThatGives('tokenAccepted'));
	const [first, second] = [openRequest(), openRequest()];
	const both = [gate.pass(account, first.ask), gate.pass(account, second.ask)];
	await settle();
	first.end(REFUSAL);
	await settle();
	second.end(new InputError('accessToken', 'Another', ''));
	await Promise.all(both);
	await expect(gate.pass(account, requestThatGives('tokenAccepted'))).resolves.toBe(REFUSAL);
});

test.each<{ name: string; other: object; expected: boolean }>([
	{
		name: 'the same address, scheme and token',
		other: {},
		expected: false,
	},
	{
		name: 'another address',
		other: { baseUrl: 'https://other.example' },
		expected: true,
	},
	{
		name: 'another scheme',
		other: { schemeName: 'other' },
		expected: true,
	},
	{
		name: 'another token',
		other: { token: { pasted: 'another token' } },
		expected: true,
	},
])('an account of $name is another one or not', async ({ other, expected }) => {
	const gate = new AccountGate();
	const account = newAccount();
	await gate.pass(account, requestThatGives(REFUSAL));
	const ask = requestThatGives('tokenAccepted');
	await gate.pass({ ...account, ...other } as Account, ask);
	expect(ask.mock.calls.length).toBe(expected ? 1 : 0);
});

test('a request that throws lets the next item ask', async () => {
	const gate = new AccountGate();
	const account = newAccount();
	const thrown = gate.pass(account, () => Promise.reject(new Error('it broke')));
	await expect(thrown).rejects.toThrow('it broke');
	await expect(gate.pass(account, requestThatGives('tokenAccepted'))).resolves.toBe('response');
});

/** How many of two items of a new run ask at once. */
async function askingAtOnce(account: Account): Promise<number> {
	const gate = new AccountGate();
	const requests = [openRequest(), openRequest()];
	const both = requests.map(({ ask }) => gate.pass(account, ask));
	await settle();
	const asking = requests.filter(({ ask }) => ask.mock.calls.length > 0).length;
	for (const { end } of requests) end(undefined);
	await Promise.all(both);
	return asking;
}

test('for a minute after an account was taken, runs ask with several items at once', async () => {
	let now = 1_000_000;
	const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
	const account = newAccount();
	expect(await askingAtOnce(account)).toBe(1);
	await new AccountGate().pass(account, requestThatGives('tokenAccepted'));
	now += 59_999;
	// What a request tells nothing of its account by changes nothing.
	expect(await askingAtOnce(account)).toBe(2);
	expect(await askingAtOnce(account)).toBe(2);
	now += 1;
	expect(await askingAtOnce(account)).toBe(1);
	clock.mockRestore();
});

test('a refusal ends that minute', async () => {
	const account = newAccount();
	await new AccountGate().pass(account, requestThatGives('tokenAccepted'));
	await new AccountGate().pass(account, requestThatGives(REFUSAL));
	expect(await askingAtOnce(account)).toBe(1);
});

test('a process remembers the 200 accounts that were taken last', async () => {
	const accounts = Array.from({ length: 201 }, newAccount);
	for (const account of accounts)
		await new AccountGate().pass(account, requestThatGives('tokenAccepted'));
	expect(await askingAtOnce(accounts[0]!)).toBe(1);
	expect(await askingAtOnce(accounts[1]!)).toBe(2);
	// Asked again, it is the last of them.
	await new AccountGate().pass(accounts[1]!, requestThatGives('tokenAccepted'));
	await new AccountGate().pass(newAccount(), requestThatGives('tokenAccepted'));
	expect(await askingAtOnce(accounts[1]!)).toBe(2);
	expect(await askingAtOnce(accounts[2]!)).toBe(1);
});
