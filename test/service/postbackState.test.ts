import fc from 'fast-check';
import { Sources } from '../../nodes/Pay/service/paths';
import { claimsOf, type Proven, stateOf, type StatusWords } from '../../nodes/Pay/service/state';
import { runs } from '../runs';

const stateIn = (words: StatusWords, proven: Proven, ...bodies: unknown[]) =>
	stateOf(words, proven, new Sources(...bodies)).state;

describe('what a postback says, and why that is not "paid"', () => {
	const words: StatusWords = {
		field: ['status', 'statusCode.statusId'],
		paid: ['paid', '1'],
		failed: ['3'],
		refundField: ['refunds', 'returned'],
		amountField: ['amount', 'value.total'],
		idField: ['id', 'order'],
	};
	const PROVEN = { external_id: 'order-7', amount: 49.9 };
	const PAID = { status: 'paid', amount: 49.9, order: ' order-7 ' };

	test.each<{ what: string; body: object }>([
		{ what: 'all of it', body: PAID },
		{ what: 'its word in capitals', body: { ...PAID, status: 'PAID' } },
		{ what: 'its amount as text', body: { ...PAID, amount: '49.90' } },
		{
			what: 'its word and amount at later paths',
			body: { order: 'order-7', statusCode: { statusId: 1 }, value: { total: 49.9 } },
		},
		{
			what: 'an object at the first path, and its word behind it',
			body: { ...PAID, status: { code: 3 }, statusCode: { statusId: 1 } },
		},
	])('$what is paid, which needs no reason', ({ body }) => {
		expect(stateOf(words, PROVEN, new Sources(body))).toStrictEqual({ state: 'paid' });
	});

	const OTHER_AMOUNT = 'has a different amount than the charge or payment';
	const TWO_READINGS = 'is not an amount, or can be read in two ways';
	test.each<{ what: string; proven?: Proven; body: object; state: string; reason: string }>([
		{
			what: 'what nothing proves',
			proven: null,
			body: PAID,
			state: 'other',
			reason: 'nothing proves what was asked for, so no External ID can be compared',
		},
		{
			what: 'no identifier',
			body: { ...PAID, order: undefined },
			state: 'other',
			reason: 'the fields "id" and "order" are missing',
		},
		{
			what: 'another identifier, paid',
			body: { ...PAID, order: 'order-8' },
			state: 'other',
			reason: 'the field "order" names another charge or payment',
		},
		{
			what: 'another identifier, failed',
			body: { ...PAID, status: '3', order: 'order-8' },
			state: 'other',
			reason: 'the field "order" names another charge or payment',
		},
		{
			what: 'an identifier that is no text',
			proven: { external_id: 'true' },
			body: { ...PAID, order: true },
			state: 'other',
			reason: 'the field "order" names another charge or payment',
		},
		{
			what: 'money that went back',
			body: { ...PAID, refunds: [], returned: '2026-11-25' },
			state: 'refunded',
			reason: 'the field "returned" says that all or part of the money went back',
		},
		{
			what: 'no status',
			body: { ...PAID, status: null },
			state: 'other',
			reason: 'the fields "status" and "statusCode.statusId" are missing',
		},
		{
			what: 'failed, whatever the amount',
			body: { ...PAID, status: 3, amount: undefined },
			state: 'failed',
			reason: 'the field "status" has one of the Failed Values',
		},
		{
			what: 'another word, whatever a later path says',
			body: { ...PAID, status: 'pending', statusCode: { statusId: 1 } },
			state: 'other',
			reason: 'the field "status" has none of the Paid Values',
		},
		{
			what: 'no amount',
			body: { ...PAID, amount: undefined },
			state: 'otherAmount',
			reason: 'the fields "amount" and "value.total" are missing',
		},
		{
			what: 'another amount',
			body: { ...PAID, amount: 49.89 },
			state: 'otherAmount',
			reason: `the field "amount" ${OTHER_AMOUNT}`,
		},
		{
			what: 'the amount in cents',
			body: { ...PAID, amount: 4990 },
			state: 'otherAmount',
			reason: `the field "amount" ${OTHER_AMOUNT}`,
		},
		{
			what: 'an amount that has two readings',
			body: { ...PAID, amount: '49,900' },
			state: 'otherAmount',
			reason: `the field "amount" ${TWO_READINGS}`,
		},
		{
			what: 'an amount in a list',
			body: { ...PAID, amount: [49.9] },
			state: 'otherAmount',
			reason: `the field "amount" ${TWO_READINGS}`,
		},
	])('$what is $state: $reason', ({ proven = PROVEN, body, state, reason }) => {
		expect(stateOf(words, proven, new Sources(body))).toMatchObject({ state, reason });
	});

	test('is paid without an Amount Field, and of what has no amount; not where nothing is proven', () => {
		const body = { status: 'paid', amount: 1 };
		const plain = { field: ['status'], paid: ['paid'], failed: [] };
		const amount = { ...plain, amountField: ['amount'] };
		expect(stateIn(plain, null, body)).toBe('paid');
		expect(stateIn(amount, { external_id: 'a' }, body)).toBe('paid');
		expect(stateIn(amount, null, body)).toBe('otherAmount');
	});
});

// What counts as nothing at the path of a refund: fieldMatch.test.ts.
test.each<{ body: object; state: string }>([
	{ body: { status: 'failed', refunds: [{ id: 1 }] }, state: 'refunded' },
	{ body: { refunds: { id: 1 } }, state: 'refunded' },
	{ body: { status: 'paid', refunds: '', back: 12.5 }, state: 'refunded' },
	{ body: { status: 'paid', refunds: [1], back: '' }, state: 'refunded' },
	{ body: { status: 'paid', refunds: [], back: '0.00' }, state: 'paid' },
])('money that went back counts before any word: $body is $state', ({ body, state }) => {
	const words = {
		field: ['status'],
		paid: ['paid'],
		failed: ['failed'],
		refundField: ['refunds', 'back'],
	};
	expect(stateIn(words, null, body)).toBe(state);
});

/** All that an account may say of a list. */
const LIST_WORDS: StatusWords = {
	field: ['pix[].status'],
	paid: ['paid'],
	failed: ['failed'],
	refundField: ['pix[].refunds'],
	amountField: ['pix[].valor'],
	idField: ['pix[].txid'],
};

describe('a list of charges', () => {
	const words = LIST_WORDS;
	const { idField: _, ...withoutId } = words;
	const PROVEN = { external_id: 'a', amount: 10 };
	const entry = (txid: string, status: string, valor: string, more = {}) => {
		return { txid, status, valor, ...more };
	};
	const PAID = entry('a', 'paid', '10.00');
	const FAILED = entry('a', 'failed', '10.00');
	const PENDING = entry('a', 'pending', '10.00');
	const BACK = entry('a', 'paid', '10.00', { refunds: [{ id: 1 }] });
	const OTHER = entry('b', 'paid', '10.00');

	test.each<{ what: string; pix: unknown; state: string }>([
		{
			what: 'the second entry is about it',
			pix: [entry('b', 'failed', '1.00'), PAID],
			state: 'paid',
		},
		{ what: 'its own is pending, and another one paid', pix: [PENDING, OTHER], state: 'other' },
		{
			what: 'two of its own share what would be "paid 10.00"',
			pix: [PENDING, entry('a', 'paid', '0.01')],
			state: 'otherAmount',
		},
		{ what: 'it failed once, and was paid then', pix: [FAILED, PAID], state: 'paid' },
		{ what: 'it was paid, and failed then', pix: [PAID, FAILED], state: 'paid' },
		{ what: 'it was pending, and failed then', pix: [PENDING, FAILED], state: 'failed' },
		{ what: 'it was paid, and went back', pix: [PAID, BACK], state: 'refunded' },
		{ what: 'another one went back', pix: [PAID, { ...BACK, txid: 'b' }], state: 'paid' },
		{ what: 'one alone is about another', pix: [OTHER], state: 'other' },
		{ what: 'the list is empty', pix: [], state: 'other' },
		{ what: 'one object stands in its place, as XML has it', pix: PAID, state: 'paid' },
		{
			what: 'texts hold the entries',
			pix: [JSON.stringify(entry('b', 'paid', '0.01')), JSON.stringify(PAID)],
			state: 'paid',
		},
	])('where $what is $state', ({ pix, state }) => {
		expect(stateIn(words, PROVEN, { pix })).toBe(state);
	});

	test.each<{ what: string; pix: unknown }>([
		{ what: 'all are about others', pix: [OTHER, entry('c', 'paid', '10.00')] },
		{ what: 'one has no identifier', pix: [{ status: 'paid', valor: '10.00' }, OTHER] },
		{ what: 'none is an object', pix: ['a', 7, null] },
	])('where $what says nothing of it', ({ pix }) => {
		expect(stateOf(words, PROVEN, new Sources({ pix }))).toStrictEqual({
			state: 'other',
			reason: 'no entry of the list is about this charge or payment',
			disregardedFor: 'otherId',
		});
	});

	test.each<{ what: string; own: StatusWords; pix: unknown; state: string; reason?: string }>([
		{
			what: 'no identifier, of several entries',
			own: withoutId,
			pix: [PAID, PAID],
			state: 'other',
			reason: 'the list has several entries, and no External ID Field tells them apart',
		},
		{ what: 'no identifier, of one alone', own: withoutId, pix: [OTHER], state: 'paid' },
		{
			what: 'the identifier, of several entries',
			own: { ...words, idField: ['id'] },
			pix: [PAID, PAID],
			state: 'other',
			reason:
				'the list has several entries, and the External ID Field does not go through that list',
		},
		{
			what: 'the identifier, of one alone',
			own: { ...words, idField: ['id'] },
			pix: [entry('x', 'paid', '10.00')],
			state: 'paid',
		},
		{
			what: 'the amount, of several entries',
			own: { ...words, amountField: ['total'] },
			pix: [entry('a', 'paid', '0.01'), OTHER],
			state: 'otherAmount',
			reason: 'the field "total" is missing',
		},
		{
			what: 'the amount, of one alone',
			own: { ...words, amountField: ['total'] },
			pix: [entry('a', 'paid', '0.01')],
			state: 'paid',
		},
		{
			what: 'the word, of several entries',
			own: { ...words, field: ['event'] },
			pix: [entry('a', '', '10.00'), entry('b', '', '0.01')],
			state: 'paid',
		},
	])('beside which stands $what: $state', ({ own, pix, state, reason }) => {
		const verdict = stateOf(own, PROVEN, new Sources({ pix, id: 'a', total: 10, event: 'paid' }));
		expect({ state: verdict.state, reason: verdict.reason }).toStrictEqual({ state, reason });
	});

	test('that is the whole body, and one that is named as the panel shows it', () => {
		const list = [entry('b', 'pending', '1'), entry('a', 'paid', '10')];
		const through = (before: string): StatusWords => ({
			field: [`${before}[].status`],
			paid: ['paid'],
			failed: [],
			amountField: [`${before}[].valor`],
			idField: [`${before}[].txid`],
		});
		const shown = { body: list };
		const sources = () => new Sources(list, {}, shown, { postback: shown });
		expect(stateOf(through(''), PROVEN, sources())).toStrictEqual({ state: 'paid' });
		expect(stateOf(through('body'), PROVEN, sources())).toStrictEqual({ state: 'paid' });
		const mixed = { ...through('postback.body'), idField: ['[].txid'] };
		expect(stateOf(mixed, PROVEN, sources())).toStrictEqual({ state: 'paid' });
	});

	test('beside one of refunds is refunded, whichever entry that is about', () => {
		const beside = { ...words, refundField: ['refunds[].id'] };
		const pix = [entry('a', 'paid', '10.00'), entry('b', 'paid', '10.00')];
		expect(stateIn(beside, PROVEN, { pix, refunds: [{ id: '' }, { id: 'r-1' }] })).toBe('refunded');
		expect(stateIn(beside, PROVEN, { pix: [pix[0]], refunds: [{ id: 'r-1' }] })).toBe('refunded');
		expect(stateIn(beside, PROVEN, { pix, refunds: [] })).toBe('paid');
		const plain = { field: ['status'], paid: ['paid'], failed: [], refundField: ['refunds[].id'] };
		const body = { status: 'paid', refunds: [{ id: 1 }, { id: 2 }] };
		expect(stateIn(plain, null, body)).toBe('refunded');
	});

	test('of two lists the one counts that has the charge', () => {
		const both: StatusWords = {
			field: ['charges[].status', 'payouts[].state'],
			paid: ['paid'],
			failed: [],
			amountField: ['charges[].amount', 'payouts[].amount'],
			idField: ['charges[].id', 'payouts[].id'],
		};
		const body = {
			charges: [{ id: 'x', status: 'paid', amount: 1 }],
			payouts: [{ id: 'a', state: 'paid', amount: 10 }],
		};
		expect(stateIn(both, PROVEN, body)).toBe('paid');
		expect(stateIn(both, { external_id: 'x', amount: 10 }, body)).toBe('otherAmount');
	});
});

test('what an entry says of itself goes before what is said of all of them', () => {
	const words: StatusWords = {
		field: ['status', 'pix[].status'],
		paid: ['paid'],
		failed: [],
		idField: ['pix[].txid'],
	};
	const pending = { txid: 'a', status: 'pending' };
	const paid = { txid: 'b', status: 'paid' };
	const body = { status: 'paid', pix: [pending, paid, { txid: 'c' }] };
	const stateFor = (external_id: string) => stateIn(words, { external_id }, body);
	expect(['a', 'b', 'c'].map(stateFor)).toStrictEqual(['other', 'paid', 'paid']);
});

describe('names of every object', () => {
	const words = {
		field: ['constructor.name'],
		paid: ['Object'],
		failed: [],
		refundField: ['__proto__'],
	};
	test('are no fields of a postback', () => {
		expect(stateIn(words, null, {})).toBe('other');
		expect(stateIn(words, null, { pix: [] })).toBe('other');
	});

	test('are fields where the service sends them', () => {
		const body: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":{"name":"Object"}}');
		expect(stateIn(words, null, body)).toBe('refunded');
	});
});

describe('what a postback claims by itself', () => {
	const words: StatusWords = {
		field: ['pix[].status', 'status'],
		paid: ['paid'],
		failed: ['failed'],
		amountField: ['pix[].cents', 'cents'],
		amountUnit: 'hundredths',
		idField: ['pix[].txid', 'txid'],
	};

	test.each<{ what: string; body: object; claims: unknown[] }>([
		{
			what: 'one charge',
			body: { txid: ' a ', status: 'paid', cents: 1250 },
			claims: [{ claimed: { external_id: 'a', amount: 12.5 }, verdict: { state: 'paid' } }],
		},
		{
			what: 'a list, by each entry,',
			body: {
				txid: 'beside',
				pix: [
					{ txid: 'a', status: 'paid', cents: '1250' },
					{ txid: 'b', status: 'failed', cents: 435 },
				],
			},
			claims: [
				{ claimed: { external_id: 'a', amount: 12.5 }, verdict: { state: 'paid' } },
				{
					claimed: { external_id: 'b', amount: 4.35 },
					verdict: {
						state: 'failed',
						reason: 'the field "pix[].status" has one of the Failed Values',
					},
				},
			],
		},
		{
			what: 'no identifier',
			body: { status: 'paid', cents: 1250 },
			claims: [{ fault: 'the fields "pix[].txid" and "txid" are missing' }],
		},
		{
			what: 'an identifier that is none',
			body: { txid: ' ', status: 'paid', cents: 1250 },
			claims: [{ fault: 'the field "txid" is not an External ID' }],
		},
		{
			what: 'no amount',
			body: { txid: 'a', status: 'paid' },
			claims: [{ fault: 'the fields "pix[].cents" and "cents" are missing' }],
		},
		{
			what: 'an amount that has two readings',
			body: { txid: 'a', status: 'paid', cents: '1,250' },
			claims: [{ fault: 'the field "cents" is not an amount, or can be read in two ways' }],
		},
	])('$what is read as that: $claims', ({ body, claims }) => {
		const found = claimsOf(words, new Sources(body)).map((claim) => {
			return 'fault' in claim ? claim : { claimed: claim.claimed, verdict: claim.verdict };
		});
		expect(found).toStrictEqual(claims);
	});

	test('where no field is compared', () => {
		const plain = { field: ['status'], paid: ['paid'], failed: [] };
		const claims = [{ claimed: {}, verdict: { state: 'paid' } }];
		expect(claimsOf(plain, new Sources({ status: 'paid' }))).toStrictEqual(claims);
	});
});

/* What an account with all fields reads of a list, in one line for each rule: the list is drawn at random. */
describe('of any list', () => {
	test('"paid" is said only where one entry about the charge says all of it, and none went back', () => {
		const entry = fc.record({
			txid: fc.constantFrom('a', ' a ', 'b', null, 7),
			status: fc.constantFrom('paid', 'PAID', 'pending', 'failed', '', null),
			valor: fc.constantFrom('10.00', 10, '10,00', '0.01', '1,000', null),
			refunds: fc.constantFrom(undefined, [], [1]),
		});
		fc.assert(
			fc.property(fc.array(entry, { maxLength: 4 }), (pix) => {
				const own = pix.filter(({ txid }) => txid === 'a' || txid === ' a ');
				const paid = own.filter(({ status }) => status === 'paid' || status === 'PAID');
				const isPaid = paid.some(({ valor }) => ['10.00', 10, '10,00'].includes(valor as never));
				const isRefunded = own.some(({ refunds }) => refunds?.length === 1);
				const beside = { status: 'paid', valor: 10, txid: 'a' };
				const state = stateIn(LIST_WORDS, { external_id: 'a', amount: 10 }, { pix, ...beside });
				expect(state === 'paid').toBe(isPaid && !isRefunded);
				expect(state === 'refunded').toBe(isRefunded);
			}),
			{ numRuns: runs(2_000) },
		);
	});
});
