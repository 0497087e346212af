import type { Account } from '../../nodes/Pay/account/account';
import { AccountGate, Pause, type Session, type Standing } from '../../nodes/Pay/account/standing';
import { InputError } from '../../nodes/Pay/base/inputError';

/** An account that no other test asks with. */
function newAccount(): Account {
	return {
		baseUrl: `https://${crypto.randomUUID()}.example`,
		schemeName: 'pay',
		token: { pasted: 'a token' },
	} as Account;
}

/** A session of its own, with as many short waits as a test says. */
function newSession(executionId?: string, waits = { count: 0 }): Session {
	return { executionId, identity: {}, countShortWaits: () => waits.count };
}

/** The gate of a run that is alone in its execution. */
const newGate = () => new AccountGate(newSession());

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
	const gate = newGate();
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

test('an account that was refused is not asked again in its session, by no gate', async () => {
	const session = newSession('7');
	const account = newAccount();
	const gate = new AccountGate(session);
	await expect(gate.pass(account, requestThatGives(REFUSAL))).resolves.toBe('response');
	const again = requestThatGives('tokenAccepted');
	await expect(gate.pass(account, again)).resolves.toBe(REFUSAL);
	await expect(gate.pass({ ...account }, again)).resolves.toBe(REFUSAL);
	await expect(new AccountGate(session).pass(account, again)).resolves.toBe(REFUSAL);
	expect(again).not.toHaveBeenCalled();
	await expect(gate.pass(newAccount(), again)).resolves.toBe('response');
	// Behind a wait the execution is another session.
	await expect(new AccountGate(newSession('7')).pass(account, again)).resolves.toBe('response');
});

test('the nodes of an execution ask alone once, and then with several items', async () => {
	const session = newSession();
	const account = newAccount();
	await new AccountGate(session).pass(account, requestThatGives('tokenAccepted'));
	expect(await askingAtOnce(new AccountGate(session), account)).toBe(2);
	expect(await askingAtOnce(newGate(), account)).toBe(1);
});

test('a token that replaces a rejected one is asked with by one item first', async () => {
	const gate = newGate();
	const account = newAccount();
	await gate.pass(account, requestThatGives('tokenAccepted'));
	await gate.pass(account, requestThatGives('tokenReplaced'));
	expect(await askingAtOnce(gate, account)).toBe(1);
});

/** How many of two items ask at once. */
async function askingAtOnce(gate: AccountGate, account: Account): Promise<number> {
	const requests = [openRequest(), openRequest()];
	const both = requests.map(({ ask }) => gate.pass(account, ask));
	await settle();
	const asking = requests.filter(({ ask }) => ask.mock.calls.length > 0).length;
	for (const { end } of requests) end(undefined);
	await Promise.all(both);
	return asking;
}

describe('a service that had too many requests', () => {
	let now = 1_000_000;
	beforeEach(() => jest.spyOn(performance, 'now').mockImplementation(() => now));
	afterEach(() => jest.restoreAllMocks());

	test('is left alone for as long as it says, behind a wait of that execution too', async () => {
		const gate = new AccountGate(newSession('8'));
		const account = newAccount();
		await gate.pass(account, requestThatGives(new Pause(30)));
		const again = requestThatGives('tokenAccepted');
		now += 28_500;
		await expect(gate.pass(account, again)).resolves.toStrictEqual(new Pause(2));
		const behindWait = new AccountGate(newSession('8'));
		await expect(behindWait.pass(account, again)).resolves.toStrictEqual(new Pause(2));
		expect(again).not.toHaveBeenCalled();
		await expect(newGate().pass(account, again)).resolves.toBe('response');
		await expect(gate.pass(newAccount(), again)).resolves.toBe('response');
		now += 1_500;
		await expect(gate.pass(account, again)).resolves.toBe('response');
		await expect(behindWait.pass(account, again)).resolves.toBe('response');
	});

	test('where it says nothing, until the next wait: a short one, or one that ends the session', async () => {
		const waits = { count: 1 };
		const gate = new AccountGate(newSession('9', waits));
		const account = newAccount();
		await gate.pass(account, requestThatGives(new Pause(undefined)));
		const again = requestThatGives('tokenAccepted');
		now += 3_600_000;
		await expect(gate.pass(account, again)).resolves.toStrictEqual(new Pause(undefined));
		await expect(new AccountGate(newSession('9')).pass(account, again)).resolves.toBe('response');
		waits.count = 2;
		await expect(gate.pass(account, again)).resolves.toBe('response');
	});

	test('behind MCP, where n8n gives no id, each execution asks', async () => {
		const account = newAccount();
		await newGate().pass(account, requestThatGives(new Pause(30)));
		await expect(newGate().pass(account, requestThatGives('tokenAccepted'))).resolves.toBe(
			'response',
		);
	});

	test('a process remembers 5,000 such times behind waits', async () => {
		const account = newAccount();
		for (let id = 0; id <= 5_000; id++) {
			const gate = new AccountGate(newSession(`many ${id}`));
			await gate.pass(account, requestThatGives(new Pause(30)));
		}
		const again = requestThatGives('tokenAccepted');
		for (const [id, passed] of [
			['many 0', 'response'],
			['many 1', new Pause(30)],
		] as const) {
			const gate = new AccountGate(newSession(id));
			await expect(gate.pass(account, again)).resolves.toStrictEqual(passed);
		}
	});
});

test('of refusals that come together the first stays', async () => {
	const gate = newGate();
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
	{ name: 'the same address, scheme and token', other: {}, expected: false },
	{ name: 'another address', other: { baseUrl: 'https://other.example' }, expected: true },
	{ name: 'another scheme', other: { schemeName: 'other' }, expected: true },
	{ name: 'another token', other: { token: { pasted: 'another token' } }, expected: true },
])(
	'an account with $name is asked although this one was refused: $expected',
	async ({ other, expected }) => {
		const gate = newGate();
		const account = newAccount();
		await gate.pass(account, requestThatGives(REFUSAL));
		const ask = requestThatGives('tokenAccepted');
		await gate.pass({ ...account, ...other } as Account, ask);
		expect(ask.mock.calls.length).toBe(expected ? 1 : 0);
	},
);

test('a request that throws lets the next item ask', async () => {
	const gate = newGate();
	const account = newAccount();
	const thrown = gate.pass(account, () => Promise.reject(new Error('it broke')));
	await expect(thrown).rejects.toThrow('it broke');
	await expect(gate.pass(account, requestThatGives('tokenAccepted'))).resolves.toBe('response');
});
