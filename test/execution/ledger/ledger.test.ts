import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
	beginAttempt,
	consult,
	endAttempt,
	hasTried,
	mayBePaid,
	openLedger as open,
	forgetResponses,
	type Ledger,
	type LedgerStore,
} from '../../../nodes/Pay/execution/ledger/ledger';
import { sumOf } from '../../../nodes/Pay/execution/ledger/outlays';
import { unitsOf } from '../../../nodes/Pay/service/amounts';
import type { RequestResult } from '../../../nodes/Pay/service/client';
import type { Outcome } from '../../../nodes/Pay/service/outcome';
import { runs } from '../../runs';
import { OPERATIONS, type Kind } from '../../serviceOperations';

const openLedger = (
	store: LedgerStore,
	kind: Kind,
	place: string,
	isTool = false,
	executionId = '42',
) => {
	const [node = '', run = ''] = place.split(', run ');
	const operation = OPERATIONS[kind];
	return open(store, { operation, executionId, node, run, isTool, credentialId: '1' });
};

const entry = (
	index: number,
	external_id: string,
	amount: number,
	fingerprint = `of ${amount}`,
) => ({
	index,
	fingerprint,
	request: { external_id, amount },
	accountId: 'account',
	tokenId: 'token',
});

/** An attempt that has begun and ended. */
function make(ledger: Ledger, item: ReturnType<typeof entry>, result: RequestResult) {
	endAttempt(ledger, item, beginAttempt(ledger, item), result);
}

const ids = ['a', 'b', 'c'];
const outcome = fc.constantFrom<Array<Outcome | 'lost'>>(
	'accepted',
	'rejected',
	'notSent',
	'unknown',
	// n8n went away between begin and complete.
	'lost',
);
const step = fc.record({
	place: fc.constantFrom('Pay, run 0', 'Pay, run 1', 'Pay again, run 0'),
	item: fc.nat(2),
	id: fc.constantFrom(...ids),
	amount: fc.constantFrom(1, 2),
	outcome,
	settled: fc.boolean(),
	stored: fc.boolean(),
});

test('whatever happens in whatever order, no payment that may be made is sent again', () => {
	fc.assert(
		fc.property(fc.boolean(), fc.array(step, { maxLength: 30 }), (isTool, steps) => {
			let store: LedgerStore = {};
			/** What became of the last payment that went out, by id, and by item (of a tool: by request). */
			const out = new Map<string, { id: string; result: string }>();
			for (const { place, item, id, amount, outcome: result, settled, stored } of steps) {
				const ledger = openLedger(store, 'payment', place, isTool);
				const it = entry(item, id, amount);
				const verdict = consult(ledger, it);
				const where = isTool ? `tools ${amount}` : `${place} ${item}`;
				const mayBeMade = [out.get(`id ${id}`), out.get(`at ${where}`)].filter(
					(one) => one !== undefined && one.result !== 'rejected' && one.result !== 'notSent',
				);
				// An id that went out again for another item stands for that one.
				const known = mayBeMade.filter((one) => out.get(`id ${one?.id}`) === one);
				if (known.length === 0) assert.equal(verdict.do, 'send');
				else assert.ok(verdict.do === 'replay' || verdict.do === 'refuse');
				assert.equal(mayBePaid(ledger, it), known.includes(out.get(`id ${id}`)));
				if (verdict.do === 'replay') {
					assert.equal(
						verdict.outcome === 'accepted',
						out.get(`id ${verdict.attempt.external_id}`)?.result === 'accepted',
					);
				}

				if (verdict.do === 'send') {
					const attempt = beginAttempt(ledger, it);
					out.set(`id ${id}`, { id, result }).set(`at ${where}`, out.get(`id ${id}`)!);
					if (result !== 'lost') endAttempt(ledger, it, attempt, { outcome: result });
				}
				if (settled) forgetResponses(ledger);
				const counted = (store.attempts ?? []).filter(
					(one) => one.outcome !== 'rejected' && one.outcome !== 'notSent',
				);
				const sum = counted.reduce((total, one) => total + unitsOf(one.amount ?? 0), 0n);
				assert.equal(sumOf(ledger, entry(0, 'a', 1)), sum);
				// The execution is saved and read again between tries.
				if (stored) store = JSON.parse(JSON.stringify(store)) as LedgerStore;
			}
		}),
		{ numRuns: runs(2000) },
	);
});

describe('a sum', () => {
	const paid = (tokenId: string, credentialId: string) => {
		const store: LedgerStore = {};
		const about = {
			operation: OPERATIONS.payment,
			executionId: '42',
			node: 'Pay',
			run: '0',
			isTool: false,
		};
		const ledger = open(store, { ...about, credentialId });
		make(ledger, { ...entry(0, 'a', 5), tokenId }, { outcome: 'accepted' });
		return store;
	};

	test.each([
		{
			what: 'the same token',
			tokenId: 'old',
			credentialId: '1',
			tokenIds: ['old'],
			amount: 5,
		},
		{
			what: 'the same token in another credential',
			tokenId: 'old',
			credentialId: '2',
			tokenIds: ['old'],
			amount: 5,
		},
		{
			what: 'a token that replaced it in the credential',
			tokenId: 'new',
			credentialId: '1',
			tokenIds: ['new'],
			amount: 5,
		},
		{
			what: 'another token, beside it in one run',
			tokenId: 'new',
			credentialId: '1',
			tokenIds: ['new', 'old'],
			amount: 0,
		},
		{
			what: 'another token in another credential',
			tokenId: 'new',
			credentialId: '2',
			tokenIds: ['new'],
			amount: 0,
		},
	])('counts what went out for $what: $tokenId', ({ tokenId, credentialId, tokenIds, amount }) => {
		const about = {
			operation: OPERATIONS.payment,
			executionId: '42',
			node: 'Pay',
			run: '1',
			isTool: false,
		};
		const ledger = open(paid('old', '1'), { ...about, credentialId });
		for (const each of tokenIds) ledger.tokenIds.add(each);
		expect(sumOf(ledger, { ...entry(0, 'b', 1), tokenId })).toBe(unitsOf(amount));
	});
});

test('what a node has paid is not what another one has whose name begins alike', () => {
	const store: LedgerStore = {};
	beginAttempt(openLedger(store, 'payment', 'Pay, again, run 0'), entry(0, 'a', 5));
	expect(hasTried(openLedger(store, 'payment', 'Pay, again, run 0'))).toBe(true);
	expect(hasTried(openLedger(store, 'payment', 'Pay, run 0'))).toBe(false);
});

describe('an external_id that changes with each try', () => {
	const first = (result: Outcome | undefined, isTool = false) => {
		const ledger = openLedger({}, 'payment', 'Pay, run 0', isTool);
		const item = entry(0, 'first', 5);
		const attempt = beginAttempt(ledger, item);
		if (result !== undefined) {
			endAttempt(ledger, item, attempt, { outcome: result, statusCode: 201 });
		}
		return ledger;
	};

	test.each<{ result: Outcome | undefined; does: string }>([
		{
			result: 'accepted',
			does: 'accepted',
		},
		{
			result: 'unknown',
			does: 'unknown',
		},
		{
			result: undefined,
			does: 'unknown',
		},
		{
			result: 'rejected',
			does: 'send',
		},
		{
			result: 'notSent',
			does: 'send',
		},
	])(
		'the same request of an item that is $result: $does, under the first id',
		({ result, does }) => {
			const verdict = consult(first(result), entry(0, 'second', 5));
			expect('outcome' in verdict ? verdict.outcome : verdict.do).toBe(does);
			if (verdict.do !== 'send') expect(verdict.attempt.external_id).toBe('first');
		},
	);

	test('a QR code is created again: a second one harms nobody', () => {
		const ledger = openLedger({}, 'qrCode', 'Pay, run 0');
		make(ledger, entry(0, 'first', 5), { outcome: 'accepted' });
		expect(consult(ledger, entry(0, 'second', 5))).toStrictEqual({ do: 'send' });
	});
});

test('a QR code is replayed for the same details, and created again for others or after a failure', () => {
	const ledger = openLedger({}, 'qrCode', 'Pay, run 0');
	make(ledger, entry(0, 'a', 5), { outcome: 'accepted', statusCode: 201, response: 'it' });
	expect(consult(ledger, entry(0, 'a', 5))).toMatchObject({
		outcome: 'accepted',
		attempt: { response: 'it' },
	});
	expect(consult(ledger, entry(0, 'a', 6))).toStrictEqual({ do: 'send' });
	expect(consult(ledger, entry(1, 'a', 5))).toStrictEqual({ do: 'send' });
	for (const outcome of ['unknown', 'rejected', 'notSent'] as const) {
		make(ledger, entry(0, 'a', 5), { outcome });
		expect(consult(ledger, entry(0, 'a', 5))).toStrictEqual({ do: 'send' });
	}
});

test('after a run that went well only what later runs need remains', () => {
	const store: LedgerStore = {};
	const payments = openLedger(store, 'payment', 'Pay, run 0');
	const response = 'x'.repeat(1000);
	make(payments, entry(0, 'a', 5), { outcome: 'accepted', statusCode: 201, response });
	const charges = openLedger(store, 'qrCode', 'Pay, run 0');
	make(charges, entry(0, 'b', 5), { outcome: 'accepted', statusCode: 201, response });
	forgetResponses(payments);
	forgetResponses(charges);
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

describe('a payment that was rejected for its token', () => {
	const TOKEN: RequestResult = { outcome: 'rejected', statusCode: 401 };
	const PROMISE: RequestResult = { ...TOKEN, reason: { is: 'saidNo', path: 'code' } };
	const again = { place: 'Pay, run 0', id: 'a', execution: '42', isTool: false };
	test.each<[string, RequestResult, Partial<typeof again>, 'send' | 'replay']>([
		['again', TOKEN, {}, 'replay'],
		['again, under another External ID', TOKEN, { id: 'b' }, 'replay'],
		['again, after a 403', { ...TOKEN, statusCode: 403 }, {}, 'replay'],
		['again, by a tool', TOKEN, { isTool: true }, 'replay'],
		['after a 422', { ...TOKEN, statusCode: 422 }, {}, 'send'],
		['after a word that promises that it was not made', PROMISE, {}, 'send'],
		["by the editor's Retry", TOKEN, { execution: '43' }, 'send'],
		['by a loop, back from the error output', TOKEN, { place: 'Pay, run 1' }, 'send'],
		['by another node', TOKEN, { place: 'Pay again, run 0' }, 'send'],
	])('is tried %s', (_how, result, change, expected) => {
		const store: LedgerStore = {};
		const { place, id, execution, isTool } = { ...again, ...change };
		make(openLedger(store, 'payment', 'Pay, run 0', isTool), entry(0, 'a', 5), result);
		const ledger = openLedger(store, 'payment', place, isTool, execution);
		expect(consult(ledger, entry(0, id, 5)).do).toBe(expected);
	});

	test.each([
		{ who: 'another item', isTool: false, id: 'a' },
		{ who: 'another item, tried again under another one', isTool: false, id: 'b' },
		{ who: 'a tool for something else, tried again under another one', isTool: true, id: 'b' },
	])('and whose External ID was sent by $who: it is not sent again', ({ isTool, id }) => {
		const ledger = openLedger({}, 'payment', 'Pay, run 0', isTool);
		make(ledger, entry(0, 'a', 5), TOKEN);
		make(ledger, entry(1, 'a', 1), TOKEN);
		expect(consult(ledger, entry(0, id, 5))).toMatchObject({
			do: 'replay',
			attempt: { amount: 5 },
		});
		expect(consult(ledger, entry(1, id, 1))).toMatchObject({
			do: 'replay',
			attempt: { amount: 1 },
		});
	});

	test('and a QR code that was: it is sent', () => {
		const ledger = openLedger({}, 'qrCode', 'Pay, run 0');
		make(ledger, entry(0, 'a', 5), TOKEN);
		expect(consult(ledger, entry(0, 'a', 5)).do).toBe('send');
	});
});

test('what is unknown keeps its status and answer, whatever later runs of a tool come to', () => {
	const store: LedgerStore = {};
	const tool = openLedger(store, 'payment', 'Pay, run 0', true);
	make(tool, entry(0, 'a', 5), { outcome: 'unknown', statusCode: 503, response: 'busy' });
	forgetResponses(tool);
	expect(consult(tool, entry(0, 'a', 5))).toMatchObject({
		outcome: 'unknown',
		attempt: { statusCode: 503, response: 'busy' },
	});
});

test('a run that went well drops nothing of another run, node or kind', () => {
	const store: LedgerStore = {};
	const write = (kind: 'payment' | 'qrCode', place: string, id: string) => {
		const ledger = openLedger(store, kind, place);
		make(ledger, entry(0, id, 5), { outcome: 'accepted', statusCode: 201, response: 'it' });
		return ledger;
	};
	write('qrCode', 'Pay, run 1', 'a');
	write('qrCode', 'Pay again, run 0', 'a');
	write('payment', 'Pay, run 1', 'b');
	write('payment', 'Pay, run 0', 'c');
	const before = structuredClone(store);
	forgetResponses(write('qrCode', 'Pay, run 0', 'a'));
	expect(store).toStrictEqual(before);
});

describe('two tools of one execution, at once', () => {
	const bothOpen = () => {
		const store: LedgerStore = {};
		return [
			openLedger(store, 'payment', 'Pay, run 0', true),
			openLedger(store, 'payment', 'Pay again, run 0', true),
		] as const;
	};

	test('know what the other one has begun', () => {
		const [one, other] = bothOpen();
		beginAttempt(one, entry(0, 'a', 5));
		expect(consult(other, entry(0, 'a', 5))).toMatchObject({ do: 'replay', outcome: 'unknown' });
		expect(consult(other, entry(0, 'b', 5))).toMatchObject({ do: 'replay', outcome: 'unknown' });
		expect(consult(other, entry(0, 'b', 6))).toStrictEqual({ do: 'send' });
	});

	test('do not know what the other one has dropped', () => {
		const store: LedgerStore = {};
		const one = openLedger(store, 'qrCode', 'Pay, run 0');
		const other = openLedger(store, 'qrCode', 'Pay, run 0');
		make(one, entry(0, 'a', 5), { outcome: 'accepted' });
		expect(consult(other, entry(0, 'a', 5)).do).toBe('replay');
		forgetResponses(one);
		expect(consult(other, entry(0, 'a', 5)).do).toBe('send');
		expect(store.attempts).toStrictEqual([]);
	});
});

test('of several tries of an item the last one alone keeps what the service said', () => {
	const store: LedgerStore = {};
	const ledger = openLedger(store, 'payment', 'Pay, run 0');
	for (const response of ['first', 'second']) {
		make(ledger, entry(0, 'a', 5), { outcome: 'rejected', statusCode: 422, response });
	}
	expect(store.attempts?.map(({ response }) => response)).toStrictEqual([undefined, 'second']);
});
