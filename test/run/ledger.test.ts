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

const REFUSED_FOR = {
	otherItem: 'its id is taken',
	otherDetails: 'its details differ',
	otherExternalId: 'its id differs',
};

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
			return `it is refused: ${REFUSED_FOR[verdict.is]}`;
	}
}

describe('a payment "a" of an item', () => {
	const TRIES = {
		'sent again': entry(0, 'a', 5),
		'sent with other details': entry(0, 'a', 6),
		'sent under another id': entry(0, 'b', 5),
		'sent as another one': entry(0, 'b', 6),
		'also that of another item': entry(1, 'a', 5),
	};

	test.each<{ was: Outcome | 'without a response'; when: keyof typeof TRIES; then: string }>([
		{ was: 'accepted', when: 'sent again', then: 'it is accepted as before' },
		{ was: 'accepted', when: 'sent with other details', then: 'it is refused: its details differ' },
		{ was: 'accepted', when: 'sent under another id', then: 'it is accepted as before' },
		{ was: 'accepted', when: 'sent as another one', then: 'it is refused: its id differs' },
		{ was: 'accepted', when: 'also that of another item', then: 'it is refused: its id is taken' },
		{ was: 'unknown', when: 'sent again', then: 'it is unknown as before' },
		{ was: 'unknown', when: 'sent with other details', then: 'it is unknown as before' },
		{ was: 'unknown', when: 'sent under another id', then: 'it is unknown as before' },
		{ was: 'unknown', when: 'sent as another one', then: 'it is refused: its id differs' },
		{ was: 'unknown', when: 'also that of another item', then: 'it is refused: its id is taken' },
		{ was: 'without a response', when: 'sent again', then: 'it is unknown as before' },
		{ was: 'without a response', when: 'sent under another id', then: 'it is unknown as before' },
		{ was: 'rejected', when: 'sent again', then: 'it is sent' },
		{ was: 'rejected', when: 'sent under another id', then: 'it is sent' },
		{ was: 'notSent', when: 'sent again', then: 'it is sent' },
		{ was: 'notSent', when: 'also that of another item', then: 'it is sent' },
	])('that was $was, when it is $when: $then', ({ was, when, then }) => {
		const ledger = ledgerOf({});
		make(ledger, entry(0, 'a', 5), was === 'without a response' ? undefined : { outcome: was });
		expect(told(ledger, TRIES[when])).toBe(then);
	});
});

describe('a payment "a" of 5 by a tool', () => {
	const CALLS = {
		again: entry(0, 'a', 5),
		'under another id': entry(0, 'b', 5),
		'for another payment': entry(0, 'b', 6),
		'with that id for another payment': entry(0, 'a', 6),
	};

	test.each<{ was: Outcome; call: keyof typeof CALLS; then: string }>([
		{ was: 'accepted', call: 'again', then: 'it is refused: its id is taken' },
		{ was: 'accepted', call: 'under another id', then: 'it is refused: its id differs' },
		{ was: 'accepted', call: 'for another payment', then: 'it is sent' },
		{ was: 'unknown', call: 'again', then: 'it is unknown as before' },
		{ was: 'unknown', call: 'under another id', then: 'it is unknown as before' },
		{
			was: 'unknown',
			call: 'with that id for another payment',
			then: 'it is refused: its id is taken',
		},
		{ was: 'rejected', call: 'again', then: 'it is sent' },
	])('that was $was, when the tool is called $call: $then', ({ was, call, then }) => {
		const ledger = ledgerOf({}, { isTool: true });
		make(ledger, entry(0, 'a', 5), { outcome: was });
		expect(told(ledger, CALLS[call])).toBe(then);
	});
});

test('a payment "a" of a tool that was accepted, when an item has that id: it is refused', () => {
	const store: LedgerStore = {};
	make(ledgerOf(store, { isTool: true }), entry(0, 'a', 5), { outcome: 'accepted' });
	expect(told(ledgerOf(store), entry(0, 'a', 5))).toBe('it is refused: its id is taken');
});

const REFUSED_TOKEN: RequestResult = { outcome: 'rejected', statusCode: 401 };

test.each<{ after: string; result: RequestResult }>([
	{ after: 'a 422', result: { outcome: 'rejected', statusCode: 422 } },
	{
		after: 'a 401 that says that the payment was not made',
		result: { ...REFUSED_TOKEN, reason: { is: 'saidNo', path: 'code' } },
	},
])('a payment that was rejected with $after is sent when it is tried again', ({ result }) => {
	const ledger = ledgerOf({});
	make(ledger, entry(0, 'a', 5), result);
	expect(told(ledger, entry(0, 'a', 5))).toBe('it is sent');
});

describe('a payment that was rejected for its token', () => {
	test.each<{ when: string; then: string; by?: Partial<NodeRun>; id?: string; status?: number }>([
		{ when: 'again', then: 'it is rejected as before' },
		{ when: 'again, under another External ID', then: 'it is rejected as before', id: 'b' },
		{ when: 'again, after a 403', then: 'it is rejected as before', status: 403 },
		{ when: 'again, by a tool', then: 'it is rejected as before', by: { isTool: true } },
		{ when: "by the editor's Retry", then: 'it is sent', by: { executionId: '43' } },
		{
			when: 'by a loop, back from the error output',
			then: 'it is refused: its id is taken',
			by: { run: '1' },
		},
		{ when: 'by another node', then: 'it is refused: its id is taken', by: { node: 'Pay again' } },
		{
			when: 'by another tool',
			then: 'it is rejected as before',
			by: { node: 'Pay again', isTool: true },
		},
		{
			when: "by the editor's Retry, and another node",
			then: 'it is sent',
			by: { node: 'Pay again', executionId: '43' },
		},
	])('when it is tried $when: $then', ({ then, by = {}, id = 'a', status = 401 }) => {
		const store: LedgerStore = {};
		const first = ledgerOf(store, { isTool: by.isTool ?? false });
		make(first, entry(0, 'a', 5), { ...REFUSED_TOKEN, statusCode: status });
		expect(told(ledgerOf(store, by), entry(0, id, 5))).toBe(then);
	});

	test('by a tool that is called for another payment with its External ID: it is refused', () => {
		const ledger = ledgerOf({}, { isTool: true });
		make(ledger, entry(0, 'a', 5), REFUSED_TOKEN);
		expect(told(ledger, entry(0, 'a', 6))).toBe('it is refused: its id is taken');
	});

	test.each([
		{ who: 'another item', isTool: false, id: 'a' },
		{ who: 'another item, tried again under another one', isTool: false, id: 'b' },
		{ who: 'a tool for something else, tried again under another one', isTool: true, id: 'b' },
	])('and whose External ID was sent by $who: neither is sent again', ({ isTool, id }) => {
		const ledger = ledgerOf({}, { isTool });
		make(ledger, entry(0, 'a', 5), REFUSED_TOKEN);
		make(ledger, entry(1, 'a', 1), REFUSED_TOKEN);
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
	const ACCEPTED: RequestResult = { outcome: 'accepted' };
	test.each<{
		when: string;
		then: string;
		was?: RequestResult;
		item?: Entry;
		by?: Partial<NodeRun>;
	}>([
		{ when: 'again, once accepted', then: 'it is accepted as before' },
		{ when: 'under another id', then: 'it is sent', item: entry(0, 'b', 5) },
		{ when: 'with other details', then: 'it is sent', item: entry(0, 'a', 6) },
		{ when: 'by another item', then: 'it is sent', item: entry(1, 'a', 5) },
		{ when: 'again, while it is unknown', then: 'it is sent', was: { outcome: 'unknown' } },
		{ when: 'again, once rejected', then: 'it is sent', was: { outcome: 'rejected' } },
		{ when: 'again, once rejected for its token', then: 'it is sent', was: REFUSED_TOKEN },
		{ when: 'again, once not sent', then: 'it is sent', was: { outcome: 'notSent' } },
		{ when: 'by another tool', then: 'it is sent', by: { node: 'Pay again', isTool: true } },
	])('when it is asked for $when: $then', ({ then, was = ACCEPTED, item = CODE, by = {} }) => {
		const store: LedgerStore = {};
		const kind = 'qrCode';
		make(ledgerOf(store, { kind, isTool: by.isTool ?? false }), CODE, was);
		expect(told(ledgerOf(store, { ...by, kind }), item)).toBe(then);
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
});

test('of two calls of one tool at once, the second no longer knows what the first has dropped', () => {
	const store: LedgerStore = {};
	const tool = { kind: 'qrCode', isTool: true } as const;
	const [first, second] = [ledgerOf(store, tool), ledgerOf(store, tool)];
	make(first, entry(0, 'a', 5), { outcome: 'accepted' });
	expect(told(second, entry(0, 'a', 5))).toBe('it is accepted as before');
	forgetResponses(first);
	expect(told(second, entry(0, 'a', 5))).toBe('it is sent');
	expect(store.attempts).toStrictEqual([]);
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

	test.each([
		{ kind: 'payment', outcome: 'accepted', statusCode: 201, has: 'its response' },
		{ kind: 'payment', outcome: 'unknown', statusCode: 503, has: 'its response' },
		{ kind: 'payment', outcome: 'rejected', statusCode: 401, has: 'its response' },
		{ kind: 'payment', outcome: 'rejected', statusCode: 422, has: 'no response' },
		{ kind: 'payment', outcome: 'notSent', statusCode: 407, has: 'no response' },
		{ kind: 'qrCode', outcome: 'accepted', statusCode: 201, has: 'its response' },
		{ kind: 'qrCode', outcome: 'unknown', statusCode: 503, has: 'no response' },
		{ kind: 'qrCode', outcome: 'rejected', statusCode: 401, has: 'no response' },
	] as const)(
		'of a $kind that is $outcome ($statusCode) has $has',
		({ kind, outcome, statusCode, has }) => {
			const store: LedgerStore = {};
			make(ledgerOf(store, { kind }), entry(0, 'a', 5), { outcome, statusCode, response: 'it' });
			const responses = store.attempts?.map(({ response }) => response);
			expect(responses).toStrictEqual([has === 'its response' ? 'it' : undefined]);
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

test('whatever happens in whatever order, a payment is held back exactly while it may be made twice, and the sum is of what may be made', () => {
	fc.assert(
		fc.property(fc.boolean(), fc.array(step, { maxLength: 30 }), (isTool, steps) => {
			let store: LedgerStore = {};
			const model = new PaidModel();
			let sum = 0;
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
					if (result !== 'rejected' && result !== 'notSent') sum += amount;
				}
				if (goesWell) forgetResponses(ledger);
				assert.equal(sumOf(ledger, item), unitsOf(sum));
				// n8n saves the execution, and reads it again for the next try.
				if (isSaved) store = JSON.parse(JSON.stringify(store)) as LedgerStore;
			}
		}),
		{ numRuns: runs(2000) },
	);
});
