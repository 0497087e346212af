import fc from 'fast-check';
import { Ledger, type LedgerStore } from '../../nodes/Pay/execution/ledger';
import type { Outcome } from '../../nodes/Pay/service/outcome';

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
	settle: fc.boolean(),
	stored: fc.boolean(),
});

test('whatever happens in whatever order, an accepted or unknown payment is never sent again', () => {
	fc.assert(
		fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
			let store: LedgerStore = {};
			const out = new Map<string, string>();
			for (const { place, item, id, amount, outcome: result, settle, stored } of steps) {
				const ledger = new Ledger(store, 'payment', place);
				const verdict = ledger.verdict(item, id, amount);
				const before = out.get(id);
				if (before === 'accepted') expect(['replay', 'refuse']).toContain(verdict.do);
				else if (before === 'unknown' || before === 'lost') expect(verdict.do).toBe('stayUnknown');
				else expect(verdict.do).toBe('send');

				if (verdict.do === 'send') {
					ledger.begin(item, id, amount);
					out.set(id, result);
					if (result !== 'lost') ledger.complete(item, id, { outcome: result });
				}
				if (settle) ledger.settle();
				// The execution is saved and read again between tries.
				if (stored) store = JSON.parse(JSON.stringify(store)) as LedgerStore;
			}
		}),
		{ numRuns: 2000 },
	);
});

test('a re-run gets the accepted answer back, for the same item and amount only', () => {
	const store: LedgerStore = {};
	const ledger = new Ledger(store, 'payment', 'Pay, run 0');
	ledger.begin(0, 'a', 5);
	ledger.complete(0, 'a', { outcome: 'accepted', statusCode: 201, response: { id: 1 } });
	const again = new Ledger(store, 'payment', 'Pay, run 0');
	expect(again.verdict(0, 'a', 5)).toMatchObject({
		do: 'replay',
		attempt: { response: { id: 1 } },
	});
	expect(again.verdict(0, 'a', 6)).toMatchObject({ do: 'refuse' });
	expect(again.verdict(1, 'a', 5)).toMatchObject({ do: 'refuse' });
	expect(new Ledger(store, 'payment', 'Pay, run 1').verdict(0, 'a', 5)).toMatchObject({
		do: 'refuse',
	});
});

test('after a run that went well only what later runs need remains', () => {
	const store: LedgerStore = {};
	const payments = new Ledger(store, 'payment', 'Pay, run 0');
	payments.begin(0, 'a', 5);
	payments.complete(0, 'a', { outcome: 'accepted', statusCode: 201, response: 'x'.repeat(1000) });
	const charges = new Ledger(store, 'qrCode', 'Pay, run 0');
	charges.begin(0, 'b', 5);
	charges.complete(0, 'b', { outcome: 'accepted', statusCode: 201, response: 'x'.repeat(1000) });
	payments.settle();
	charges.settle();
	expect(store).toEqual({
		attempts: { 'payment a': { by: 'Pay, run 0, item 0', amount: 5, outcome: 'accepted' } },
	});
});
