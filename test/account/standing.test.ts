import assert from 'node:assert/strict';
import type { Account } from '../../nodes/Pay/account/account';
import {
	beginPause,
	beginTurn,
	endTurn,
	noteResponse,
	pauseLeft,
	type Session,
	type Standing,
	standingOf,
	type Turn,
} from '../../nodes/Pay/account/standing';
import { InputError } from '../../nodes/Pay/base/inputError';
import type { RequestResult } from '../../nodes/Pay/service/client';

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

const newStanding = () => standingOf(newSession(), newAccount());

/** What a response says of its account. */
function respond(standing: Standing, result: RequestResult): void {
	noteResponse(newSession(), standing, result);
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Begins an item's turn, where the item before it had a token. */
async function turnOf(standing: Standing): Promise<Turn> {
	const begun = await beginTurn(standing);
	assert(begun.is === 'turn');
	return begun.turn;
}

/** Begins the turns of some items; `begun` has those that have begun. */
function beginAll(standing: Standing, ...items: string[]) {
	const begun: string[] = [];
	const turns = items.map(async (item) => {
		const turn = await turnOf(standing);
		begun.push(item);
		return turn;
	});
	return { begun, turns };
}

test('one item at a time asks until its token was accepted, then all', async () => {
	const standing = newStanding();
	const { begun, turns } = beginAll(standing, 'first', 'second', 'third', 'fourth');
	await settle();
	expect(begun).toStrictEqual(['first']);
	endTurn(standing, await turns[0]!);
	await settle();
	expect(begun).toStrictEqual(['first', 'second']);
	respond(standing, { outcome: 'accepted', statusCode: 200 });
	endTurn(standing, await turns[1]!);
	await settle();
	expect(begun).toStrictEqual(['first', 'second', 'third', 'fourth']);
});

test('those that wait for an item without a token have none either, later ones ask again', async () => {
	const standing = newStanding();
	const noToken = new InputError('tokenUrl', 'The token endpoint is failing', 'Wait a while.');
	const first = await turnOf(standing);
	const others = [beginTurn(standing), beginTurn(standing)];
	first.noToken = noToken;
	endTurn(standing, first);
	for (const other of others) {
		expect(await other).toStrictEqual({ is: 'noToken', error: noToken });
	}
	expect(await beginTurn(standing)).toMatchObject({ is: 'turn' });
});

test.each<{ result: RequestResult; isAccepted: boolean }>([
	{ result: { outcome: 'accepted', statusCode: 200 }, isAccepted: true },
	{ result: { outcome: 'rejected', statusCode: 422 }, isAccepted: true },
	{ result: { outcome: 'rejected', statusCode: 401 }, isAccepted: false },
	{ result: { outcome: 'rejected', statusCode: 403 }, isAccepted: false },
	{ result: { outcome: 'rejected', statusCode: 429 }, isAccepted: false },
	{ result: { outcome: 'unknown', statusCode: 500 }, isAccepted: false },
	{ result: { outcome: 'unknown' }, isAccepted: false },
	{ result: { outcome: 'notSent' }, isAccepted: false },
])('a token was accepted, $isAccepted, by $result', ({ result, isAccepted }) => {
	const standing = newStanding();
	respond(standing, result);
	expect(standing.isAccepted).toBe(isAccepted);
});

test('all runs of a session know how an account stands; behind a wait nobody does', () => {
	const session = newSession('7');
	const account = newAccount();
	const standing = standingOf(session, account);
	expect(standingOf({ ...session }, { ...account })).toBe(standing);
	expect(standingOf(newSession('7'), account)).not.toBe(standing);
	expect(standingOf(session, newAccount())).not.toBe(standing);
});

test.each<[string, Partial<Account>]>([
	['address', { baseUrl: 'https://other.example' }],
	['scheme', { schemeName: 'other' }],
	['token', { token: { pasted: 'another token' } }],
])('an account with another %s stands by itself', (_what, other) => {
	const session = newSession();
	const account = newAccount();
	expect(standingOf(session, { ...account, ...other })).not.toBe(standingOf(session, account));
});

describe('a service that had too many requests', () => {
	let now = 1_000_000;
	beforeEach(() => jest.spyOn(performance, 'now').mockImplementation(() => now));
	afterEach(() => jest.restoreAllMocks());

	/** Seconds that are left of a pause. */
	const left = (session: Session, account: Account) =>
		pauseLeft(session, standingOf(session, account));

	test('is left alone for as long as it says, behind a wait of that execution too', () => {
		const session = newSession('8');
		const account = newAccount();
		beginPause(session, standingOf(session, account), 30);
		now += 28_500;
		expect(left(session, account)).toBe(2);
		const behindWait = newSession('8');
		expect(left(behindWait, account)).toBe(2);
		expect(left(newSession(), account)).toBe(0);
		expect(left(session, newAccount())).toBe(0);
		now += 1_500;
		expect(left(session, account)).toBe(0);
		expect(left(behindWait, account)).toBe(0);
	});

	test('is left alone, where it says nothing, until the next wait: a short one, or one that ends the session', () => {
		const waits = { count: 1 };
		const session = newSession('9', waits);
		const account = newAccount();
		beginPause(session, standingOf(session, account), undefined);
		now += 3_600_000;
		expect(left(session, account)).toBe(Infinity);
		expect(left(newSession('9'), account)).toBe(0);
		waits.count = 2;
		expect(left(session, account)).toBe(0);
	});

	test('a pause with an end is not forgotten for one without', () => {
		const session = newSession();
		const account = newAccount();
		const standing = standingOf(session, account);
		beginPause(session, standing, 30);
		beginPause(session, standing, undefined);
		expect(left(session, account)).toBe(30);
		now += 30_000;
		expect(left(session, account)).toBe(0);
		beginPause(session, standing, undefined);
		beginPause(session, standing, 5);
		expect(left(session, account)).toBe(5);
	});

	test('a 429 begins the pause that its response asks for', () => {
		const session = newSession();
		const account = newAccount();
		const result = { outcome: 'rejected', statusCode: 429, retryAfter: 7 } as const;
		noteResponse(session, standingOf(session, account), result);
		expect(left(session, account)).toBe(7);
	});

	test('behind MCP, where n8n gives no id, each execution asks', () => {
		const account = newAccount();
		const session = newSession();
		beginPause(session, standingOf(session, account), 30);
		expect(left(newSession(), account)).toBe(0);
	});

	test('a process remembers 5,000 such times behind waits', () => {
		const account = newAccount();
		for (let id = 0; id <= 5_000; id++) {
			const session = newSession(`many ${id}`);
			beginPause(session, standingOf(session, account), 30);
		}
		expect(left(newSession('many 0'), account)).toBe(0);
		expect(left(newSession('many 1'), account)).toBe(30);
	});
});
