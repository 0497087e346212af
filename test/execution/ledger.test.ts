import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
	begin,
	consult,
	openLedger,
	settle,
	type LedgerStore,
} from '../../nodes/Pay/execution/ledger';
import type { Outcome } from '../../nodes/Pay/service/outcome';
import { runs } from '../runs';

const entry = (
	index: number,
	external_id: string,
	amount: number,
	fingerprint = `of ${amount}`,
) => ({
	index,
	fingerprint,
	request: { external_id, amount },
});

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

test('whatever happens in whatever order, an accepted or unknown payment is never sent again', () => {
	fc.assert(
		fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
			let store: LedgerStore = {};
			const out = new Map<string, string>();
			for (const { place, item, id, amount, outcome: result, settled, stored } of steps) {
				const ledger = openLedger(store, 'payment', place);
				const verdict = consult(ledger, entry(item, id, amount));
				const before = out.get(id);
				if (before === 'accepted') assert.match(verdict.do, /^(replay|refuse)$/);
				else if (before === 'unknown' || before === 'lost') {
					assert.match(verdict.do, /^(stayUnknown|refuse)$/);
				} else assert.equal(verdict.do, 'send');

				if (verdict.do === 'send') {
					const end = begin(ledger, entry(item, id, amount));
					out.set(id, result);
					if (result !== 'lost') end({ outcome: result });
				}
				if (settled) settle(ledger);
				// The execution is saved and read again between tries.
				if (stored) store = JSON.parse(JSON.stringify(store)) as LedgerStore;
			}
		}),
		{ numRuns: runs(2000) },
	);
});

test('a re-run gets the accepted answer back, for the same item and details only', () => {
	const store: LedgerStore = {};
	const ledger = openLedger(store, 'payment', 'Pay, run 0');
	begin(ledger, entry(0, 'a', 5))({ outcome: 'accepted', statusCode: 201, response: { id: 1 } });
	const again = openLedger(store, 'payment', 'Pay, run 0');
	expect(consult(again, entry(0, 'a', 5))).toMatchObject({
		do: 'replay',
		attempt: { response: { id: 1 } },
	});
	expect(consult(again, entry(0, 'a', 5, 'to another key'))).toMatchObject({
		do: 'refuse',
		sameItem: true,
	});
	expect(consult(again, entry(1, 'a', 5))).toMatchObject({ do: 'refuse', sameItem: false });
	const later = openLedger(store, 'payment', 'Pay, run 1');
	expect(consult(later, entry(0, 'a', 5))).toMatchObject({ do: 'refuse', sameItem: false });
});

test('a QR code is replayed for the same details, and created again for others or after a failure', () => {
	const ledger = openLedger({}, 'qrCode', 'Pay, run 0');
	begin(ledger, entry(0, 'a', 5))({ outcome: 'accepted', statusCode: 201, response: 'it' });
	expect(consult(ledger, entry(0, 'a', 5))).toMatchObject({
		do: 'replay',
		attempt: { response: 'it' },
	});
	expect(consult(ledger, entry(0, 'a', 6))).toStrictEqual({ do: 'send' });
	expect(consult(ledger, entry(1, 'a', 5))).toStrictEqual({ do: 'send' });
	for (const outcome of ['unknown', 'rejected', 'notSent'] as const) {
		begin(ledger, entry(0, 'a', 5))({ outcome });
		expect(consult(ledger, entry(0, 'a', 5))).toStrictEqual({ do: 'send' });
	}
});

test('a payment that was begun and never completed is unknown to its own item', () => {
	const ledger = openLedger({}, 'payment', 'Pay, run 0');
	begin(ledger, entry(0, 'a', 5));
	expect(consult(ledger, entry(0, 'a', 5))).toMatchObject({ do: 'stayUnknown' });
	expect(consult(ledger, entry(1, 'a', 5))).toMatchObject({ do: 'refuse', sameItem: false });
});

test('after a run that went well only what later runs need remains', () => {
	const store: LedgerStore = {};
	const payments = openLedger(store, 'payment', 'Pay, run 0');
	const response = 'x'.repeat(1000);
	begin(payments, entry(0, 'a', 5))({ outcome: 'accepted', statusCode: 201, response });
	const charges = openLedger(store, 'qrCode', 'Pay, run 0');
	begin(charges, entry(0, 'b', 5))({ outcome: 'accepted', statusCode: 201, response });
	settle(payments);
	settle(charges);
	expect(JSON.parse(JSON.stringify(store))).toStrictEqual({
		attempts: {
			'payment a': {
				by: 'Pay, run 0, item 0',
				amount: 5,
				fingerprint: 'of 5',
				outcome: 'accepted',
			},
		},
	});
});

test('a run that went well drops nothing of another run, node or kind', () => {
	const store: LedgerStore = {};
	const write = (kind: 'payment' | 'qrCode', place: string, id: string) => {
		const ledger = openLedger(store, kind, place);
		begin(ledger, entry(0, id, 5))({ outcome: 'accepted', statusCode: 201, response: 'it' });
		return ledger;
	};
	write('qrCode', 'Pay, run 1', 'a');
	write('qrCode', 'Pay again, run 0', 'a');
	write('payment', 'Pay, run 1', 'b');
	write('payment', 'Pay, run 0', 'c');
	const before = structuredClone(store);
	settle(write('qrCode', 'Pay, run 0', 'a'));
	expect(store).toStrictEqual(before);
});
