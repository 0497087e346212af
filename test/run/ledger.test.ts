import fc from 'fast-check';
import assert from 'node:assert/strict';
import {
	beginAttempt,
	consult,
	endAttempt,
	forgetResponses,
	hasTried,
	type Ledger,
	type LedgerStore,
	mayBePaid,
	sumOf,
} from '../../nodes/Pay/run/ledger';
import { unitsOf } from '../../nodes/Pay/service/amounts';
import type { RequestResult } from '../../nodes/Pay/service/client';
import type { Outcome } from '../../nodes/Pay/service/outcome';
import { runs } from '../runs';
import { ledgerOf, type NodeRun } from './ledgerOf';

/** An item of a list, with its details by their amount. */
const entry = (index: number, external_id: string, amount: number) => ({
	index,
	fingerprint: `of ${amount}`,
	request: { external_id, amount },
	accountId: 'account',
	tokenId: 'token',
});
type Entry = ReturnType<typeof entry>;

/** An attempt that has begun and ended; without a result n8n went away meanwhile. */
function make(ledger: Ledger, item: Entry, result: RequestResult | undefined) {
	const attempt = beginAttempt(ledger, item);
	if (result !== undefined) endAttempt(ledger, item, attempt, result);
}

/** A verdict in one text. */
function told(ledger: Ledger, item: Entry): string {
	const verdict = consult(ledger, item);
	switch (verdict.is) {
		case 'send':
			return 'it is sent';
		case 'replay':
			return `it is ${verdict.outcome} as before`;
		case 'otherItem':
		case 'otherDetails':
		case 'otherExternalId':
			return `it is refused for ${verdict.is}`;
	}
}

describe('a payment "a" of an item', () => {
	const AGAIN = entry(0, 'a', 5);
	const WITH_OTHER_DETAILS = entry(0, 'a', 6);
	const UNDER_ANOTHER_ID = entry(0, 'b', 5);
	const ALL_NEW = entry(0, 'b', 6);
	const OF_ANOTHER_ITEM = entry(1, 'a', 5);

	test.each<[Outcome | 'without a response', string, string, Entry]>([
		['accepted', 'sent again', 'it is accepted as before', AGAIN],
		['accepted', 'sent with other details', 'it is refused for otherDetails', WITH_OTHER_DETAILS],
		['accepted', 'sent under another id', 'it is accepted as before', UNDER_ANOTHER_ID],
		['accepted', 'sent as another one', 'it is refused for otherExternalId', ALL_NEW],
		['accepted', 'also that of another item', 'it is refused for otherItem', OF_ANOTHER_ITEM],
		['unknown', 'sent again', 'it is unknown as before', AGAIN],
		['unknown', 'sent with other details', 'it is unknown as before', WITH_OTHER_DETAILS],
		['unknown', 'sent under another id', 'it is unknown as before', UNDER_ANOTHER_ID],
		['unknown', 'sent as another one', 'it is refused for otherExternalId', ALL_NEW],
		['unknown', 'also that of another item', 'it is refused for otherItem', OF_ANOTHER_ITEM],
		['without a response', 'sent again', 'it is unknown as before', AGAIN],
		['without a response', 'sent under another id', 'it is unknown as before', UNDER_ANOTHER_ID],
		['rejected', 'sent again', 'it is sent', AGAIN],
		['rejected', 'sent under another id', 'it is sent', UNDER_ANOTHER_ID],
		['notSent', 'sent again', 'it is sent', AGAIN],
		['notSent', 'also that of another item', 'it is sent', OF_ANOTHER_ITEM],
	])('that was %s, when it is %s: %s', (given, _when, then, item) => {
		const ledger = ledgerOf({});
		make(ledger, entry(0, 'a', 5), given === 'without a response' ? undefined : { outcome: given });
		expect(told(ledger, item)).toBe(then);
	});
});

describe('a payment "a" of 5 by a tool', () => {
	test.each<[Outcome, string, string, Entry]>([
		['accepted', 'called again', 'it is refused for otherItem', entry(0, 'a', 5)],
		['accepted', 'called under another id', 'it is refused for otherExternalId', entry(0, 'b', 5)],
		['accepted', 'called for another payment', 'it is sent', entry(0, 'b', 6)],
		['unknown', 'called again', 'it is unknown as before', entry(0, 'a', 5)],
		['unknown', 'called under another id', 'it is unknown as before', entry(0, 'b', 5)],
		[
			'unknown',
			'called with that id for another payment',
			'it is refused for otherItem',
			entry(0, 'a', 6),
		],
		['rejected', 'called again', 'it is sent', entry(0, 'a', 5)],
	])('that was %s, when the tool is %s: %s', (given, _when, then, item) => {
		const ledger = ledgerOf({}, { isTool: true });
		make(ledger, entry(0, 'a', 5), { outcome: given });
		expect(told(ledger, item)).toBe(then);
	});
});

test('a payment "a" of a tool that was accepted, when an item has that id: it is refused', () => {
	const store: LedgerStore = {};
	make(ledgerOf(store, { isTool: true }), entry(0, 'a', 5), { outcome: 'accepted' });
	expect(told(ledgerOf(store), entry(0, 'a', 5))).toBe('it is refused for otherItem');
});

describe('a payment that was rejected for its token', () => {
	const TOKEN: RequestResult = { outcome: 'rejected', statusCode: 401 };
	const PROMISE: RequestResult = { ...TOKEN, reason: { is: 'saidNo', path: 'code' } };
	test.each<[string, string, RequestResult, Partial<NodeRun & { id: string }>]>([
		['again', 'it is rejected as before', TOKEN, {}],
		['again, under another External ID', 'it is rejected as before', TOKEN, { id: 'b' }],
		['again, after a 403', 'it is rejected as before', { ...TOKEN, statusCode: 403 }, {}],
		['again, by a tool', 'it is rejected as before', TOKEN, { isTool: true }],
		['after a 422', 'it is sent', { ...TOKEN, statusCode: 422 }, {}],
		['after a word that promises that it was not made', 'it is sent', PROMISE, {}],
		["by the editor's Retry", 'it is sent', TOKEN, { executionId: '43' }],
		['by a loop, back from the error output', 'it is refused for otherItem', TOKEN, { run: '1' }],
		['by another node', 'it is refused for otherItem', TOKEN, { node: 'Pay again' }],
		['by another tool', 'it is rejected as before', TOKEN, { node: 'Pay again', isTool: true }],
		[
			"by the editor's Retry, and another node",
			'it is sent',
			TOKEN,
			{ node: 'B', executionId: '43' },
		],
	])('when it is tried %s: %s', (_when, then, given, { id = 'a', ...run }) => {
		const store: LedgerStore = {};
		make(ledgerOf(store, { isTool: run.isTool ?? false }), entry(0, 'a', 5), given);
		expect(told(ledgerOf(store, run), entry(0, id, 5))).toBe(then);
	});

	test('by a tool that is called for another payment with its External ID: it is refused', () => {
		const ledger = ledgerOf({}, { isTool: true });
		make(ledger, entry(0, 'a', 5), TOKEN);
		expect(told(ledger, entry(0, 'a', 6))).toBe('it is refused for otherItem');
	});

	test.each([
		{ who: 'another item', isTool: false, id: 'a' },
		{ who: 'another item, tried again under another one', isTool: false, id: 'b' },
		{ who: 'a tool for something else, tried again under another one', isTool: true, id: 'b' },
	])('and whose External ID was sent by $who: neither is sent again', ({ isTool, id }) => {
		const ledger = ledgerOf({}, { isTool });
		make(ledger, entry(0, 'a', 5), TOKEN);
		make(ledger, entry(1, 'a', 1), TOKEN);
		for (const [index, amount] of [
			[0, 5],
			[1, 1],
		] as const) {
			expect(consult(ledger, entry(index, id, amount))).toMatchObject({
				is: 'replay',
				attempt: { amount },
			});
		}
	});
});

describe('a QR code, of which a second one harms nobody,', () => {
	const CODE = entry(0, 'a', 5);
	test.each<[string, string, RequestResult, Entry, Partial<NodeRun>]>([
		['again, once accepted', 'it is accepted as before', { outcome: 'accepted' }, CODE, {}],
		['under another id', 'it is sent', { outcome: 'accepted' }, entry(0, 'b', 5), {}],
		['with other details', 'it is sent', { outcome: 'accepted' }, entry(0, 'a', 6), {}],
		['by another item', 'it is sent', { outcome: 'accepted' }, entry(1, 'a', 5), {}],
		['again, while it is unknown', 'it is sent', { outcome: 'unknown' }, CODE, {}],
		['again, once rejected', 'it is sent', { outcome: 'rejected' }, CODE, {}],
		[
			'again, once rejected for its token',
			'it is sent',
			{ outcome: 'rejected', statusCode: 401 },
			CODE,
			{},
		],
		['again, once not sent', 'it is sent', { outcome: 'notSent' }, CODE, {}],
		[
			'by another tool',
			'it is sent',
			{ outcome: 'accepted' },
			CODE,
			{ node: 'Pay again', isTool: true },
		],
	])('when it is asked for %s: %s', (_when, then, given, item, run) => {
		const store: LedgerStore = {};
		const kind = 'qrCode';
		make(ledgerOf(store, { kind, isTool: run.isTool ?? false }), CODE, given);
		expect(told(ledgerOf(store, { ...run, kind }), item)).toBe(then);
	});
});

describe('two tools of one execution, at once', () => {
	test('know what the other one has begun', () => {
		const store: LedgerStore = {};
		const one = ledgerOf(store, { isTool: true });
		const other = ledgerOf(store, { isTool: true, node: 'Pay again' });
		beginAttempt(one, entry(0, 'a', 5));
		expect(told(other, entry(0, 'a', 5))).toBe('it is unknown as before');
		expect(told(other, entry(0, 'b', 5))).toBe('it is unknown as before');
		expect(told(other, entry(0, 'b', 6))).toBe('it is sent');
	});

	test('do not know what the other one has dropped', () => {
		const store: LedgerStore = {};
		const [one, other] = [0, 1].map(() => ledgerOf(store, { kind: 'qrCode' })) as [Ledger, Ledger];
		make(one, entry(0, 'a', 5), { outcome: 'accepted' });
		expect(told(other, entry(0, 'a', 5))).toBe('it is accepted as before');
		forgetResponses(one);
		expect(told(other, entry(0, 'a', 5))).toBe('it is sent');
		expect(store.attempts).toStrictEqual([]);
	});
});

test('what any Pay node of the execution has tried counts for all of them, which share one record', () => {
	const store: LedgerStore = {};
	expect(hasTried(ledgerOf(store))).toBe(false);
	beginAttempt(ledgerOf(store, { node: 'Pay out' }), entry(0, 'b', 5));
	expect(hasTried(ledgerOf(store))).toBe(true);
});

describe('the sum of what went out of an account', () => {
	test.each([
		{ what: 'of the same token', tokenId: 'old', credentialId: '1', tokenIds: ['old'], amount: 5 },
		{
			what: 'of the same token in another credential',
			tokenId: 'old',
			credentialId: '2',
			tokenIds: ['old'],
			amount: 5,
		},
		{
			what: 'of a token that replaced it in the credential',
			tokenId: 'new',
			credentialId: '1',
			tokenIds: ['new'],
			amount: 5,
		},
		{
			what: 'of another token, beside it in one run',
			tokenId: 'new',
			credentialId: '1',
			tokenIds: ['new', 'old'],
			amount: 0,
		},
		{
			what: 'of another token in another credential',
			tokenId: 'new',
			credentialId: '2',
			tokenIds: ['new'],
			amount: 0,
		},
	])('after a payment of 5, $what is $amount', ({ tokenId, credentialId, tokenIds, amount }) => {
		const store: LedgerStore = {};
		const before = { ...entry(0, 'a', 5), tokenId: 'old' };
		make(ledgerOf(store), before, { outcome: 'accepted' });
		const ledger = ledgerOf(store, { run: '1', credentialId });
		for (const each of tokenIds) ledger.tokenIds.add(each);
		expect(sumOf(ledger, { ...entry(0, 'b', 1), tokenId })).toBe(unitsOf(amount));
	});
});

describe('what n8n stores', () => {
	test('after a run that went well is only what later runs need', () => {
		const store: LedgerStore = {};
		const accepted: RequestResult = { outcome: 'accepted', statusCode: 201, response: 'long' };
		for (const kind of ['payment', 'qrCode'] as const) {
			const ledger = ledgerOf(store, { kind });
			make(ledger, entry(0, 'a', 5), accepted);
			forgetResponses(ledger);
		}
		expect(JSON.parse(JSON.stringify(store))).toStrictEqual({
			attempts: [
				{
					kind: 'payment',
					external_id: 'a',
					place: { isTool: false, node: 'Pay', run: '0', item: 0 },
					amount: 5,
					fingerprint: 'of 5',
					executionId: '42',
					outcome: 'accepted',
				},
			],
			paid: [
				{ accountId: 'account', tokenId: 'token', credentialId: '1', units: String(unitsOf(5)) },
			],
		});
	});

	test('of a payment that is unknown keeps its status and response', () => {
		const tool = ledgerOf({}, { isTool: true });
		const unknown = { statusCode: 503, response: 'busy' };
		make(tool, entry(0, 'a', 5), { outcome: 'unknown', ...unknown });
		forgetResponses(tool);
		expect(consult(tool, entry(0, 'a', 5))).toMatchObject({ attempt: unknown });
	});

	test.each<{ kind: 'payment' | 'qrCode'; outcome: Outcome; statusCode: number; isKept: boolean }>([
		{ kind: 'payment', outcome: 'accepted', statusCode: 201, isKept: true },
		{ kind: 'payment', outcome: 'unknown', statusCode: 503, isKept: true },
		{ kind: 'payment', outcome: 'rejected', statusCode: 401, isKept: true },
		{ kind: 'payment', outcome: 'rejected', statusCode: 422, isKept: false },
		{ kind: 'payment', outcome: 'notSent', statusCode: 407, isKept: false },
		{ kind: 'qrCode', outcome: 'accepted', statusCode: 201, isKept: true },
		{ kind: 'qrCode', outcome: 'unknown', statusCode: 503, isKept: false },
		{ kind: 'qrCode', outcome: 'rejected', statusCode: 401, isKept: false },
	])(
		'of a $kind that is $outcome ($statusCode) has the response: $isKept',
		({ kind, outcome, statusCode, isKept }) => {
			const store: LedgerStore = {};
			make(ledgerOf(store, { kind }), entry(0, 'a', 5), { outcome, statusCode, response: 'it' });
			expect(store.attempts?.map(({ response }) => response === 'it')).toStrictEqual([isKept]);
		},
	);

	test('of several tries of an item is the response to the last one alone', () => {
		const store: LedgerStore = {};
		for (const executionId of ['1', '2', '3']) {
			const ledger = ledgerOf(store, { executionId });
			make(ledger, entry(0, 'a', 5), {
				outcome: 'rejected',
				statusCode: 401,
				response: executionId,
			});
		}
		const responses = store.attempts?.map(({ response }) => response);
		expect(responses).toStrictEqual([undefined, undefined, '3']);
	});

	test('of another run, node or kind stays when a run went well', () => {
		const store: LedgerStore = {};
		const write = (run: Partial<NodeRun>, id: string) => {
			const ledger = ledgerOf(store, run);
			make(ledger, entry(0, id, 5), { outcome: 'accepted', statusCode: 201, response: 'it' });
			return ledger;
		};
		write({ kind: 'qrCode', run: '1' }, 'a');
		write({ kind: 'qrCode', node: 'Pay again' }, 'a');
		write({ run: '1' }, 'b');
		write({}, 'c');
		const before = structuredClone(store);
		forgetResponses(write({ kind: 'qrCode' }, 'a'));
		expect(store).toStrictEqual(before);
	});
});

/** What became of a payment: n8n may go away between its beginning and its end. */
type Result = Outcome | 'lost';

/**
 * Which payments forbid another one, told by two rules of its own in place of the ledger's lists: one with
 * its id, and one of its item, may have been made.
 */
class PaidModel {
	private readonly lastWithId = new Map<string, { id: string; result: Result }>();
	private readonly lastOfItem = new Map<string, { id: string; result: Result }>();

	goesOut(item: string, id: string, result: Result): void {
		const payment = { id, result };
		this.lastWithId.set(id, payment);
		this.lastOfItem.set(item, payment);
	}

	resultOf(id: string): Result | undefined {
		return this.lastWithId.get(id)?.result;
	}

	/** Whether one with this id may have been made. */
	mayBeMade(id: string): boolean {
		const result = this.resultOf(id);
		return result !== undefined && result !== 'rejected' && result !== 'notSent';
	}

	/** Whether a payment of this item with this id may be a second one. */
	forbids(item: string, id: string): boolean {
		const ofItem = this.lastOfItem.get(item);
		// An id that went out again for another item stands for that one.
		const isOwn = ofItem !== undefined && this.lastWithId.get(ofItem.id) === ofItem;
		return this.mayBeMade(id) || (isOwn && this.mayBeMade(ofItem.id));
	}
}

describe('the model of what was paid', () => {
	test.each<{ result: Result; forbids: boolean }>([
		{ result: 'accepted', forbids: true },
		{ result: 'unknown', forbids: true },
		{ result: 'lost', forbids: true },
		{ result: 'rejected', forbids: false },
		{ result: 'notSent', forbids: false },
	])('after one that was $result: its id, and its item, are forbidden: $forbids', (row) => {
		const model = new PaidModel();
		model.goesOut('item 0', 'a', row.result);
		expect(model.forbids('item 1', 'a')).toBe(row.forbids);
		expect(model.forbids('item 0', 'b')).toBe(row.forbids);
		expect(model.forbids('item 1', 'b')).toBe(false);
	});

	test('frees an item whose id went out again for another one', () => {
		const model = new PaidModel();
		model.goesOut('item 0', 'a', 'rejected');
		model.goesOut('item 1', 'a', 'accepted');
		expect(model.forbids('item 0', 'b')).toBe(false);
		expect(model.forbids('item 1', 'b')).toBe(true);
	});
});

/** A payment that an item asks for, and what would become of it. */
const step = fc.record({
	run: fc.constantFrom({ run: '0' }, { run: '1' }, { node: 'Pay again' }),
	item: fc.nat(2),
	id: fc.constantFrom('a', 'b', 'c'),
	amount: fc.constantFrom(1, 2),
	result: fc.constantFrom<Result[]>('accepted', 'rejected', 'notSent', 'unknown', 'lost'),
	goesWell: fc.boolean(),
	isSaved: fc.boolean(),
});

test('whatever happens in whatever order, no payment that may be made is sent again', () => {
	fc.assert(
		fc.property(fc.boolean(), fc.array(step, { maxLength: 30 }), (isTool, steps) => {
			let store: LedgerStore = {};
			const model = new PaidModel();
			for (const { run, item: index, id, amount, result, goesWell, isSaved } of steps) {
				const ledger = ledgerOf(store, { ...run, isTool });
				const item = entry(index, id, amount);
				// Calls of a tool are known by what they ask for.
				const key = isTool ? `of ${amount}` : `${JSON.stringify(run)} ${index}`;
				const verdict = consult(ledger, item);
				assert.equal(verdict.is !== 'send', model.forbids(key, id));
				assert.equal(mayBePaid(ledger, item), model.mayBeMade(id));
				if (verdict.is === 'replay') {
					const isAccepted = model.resultOf(verdict.attempt.external_id) === 'accepted';
					assert.equal(verdict.outcome === 'accepted', isAccepted);
				}
				if (verdict.is === 'send') {
					model.goesOut(key, id, result);
					make(ledger, item, result === 'lost' ? undefined : { outcome: result });
				}
				if (goesWell) forgetResponses(ledger);
				let sum = 0n;
				for (const one of store.attempts ?? []) {
					const isCounted = one.outcome !== 'rejected' && one.outcome !== 'notSent';
					if (isCounted) sum += unitsOf(one.amount ?? 0);
				}
				assert.equal(sumOf(ledger, item), sum);
				// n8n saves the execution, and reads it again for the next try.
				if (isSaved) store = JSON.parse(JSON.stringify(store)) as LedgerStore;
			}
		}),
		{ numRuns: runs(2000) },
	);
});
