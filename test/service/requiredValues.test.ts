import { whyNotAwaited } from '../../nodes/Pay/postback/match';
import { Sources } from '../../nodes/Pay/service/paths';
import { claimsOf, stateOf, type StatusWords } from '../../nodes/Pay/service/state';
import { judgedPostback, postbackOf } from '../postback/postbackOf';

/* Values that a postback must have beside its status: whatever that says, without them it is "other". */

const PROVEN = { external_id: 'a', amount: 10, kind: 'qrCode' };
const judged = (words: StatusWords, ...bodies: unknown[]) =>
	stateOf(words, PROVEN, new Sources(...bodies));

const WORDS: StatusWords = {
	field: ['event'],
	paid: ['AUTHORISATION'],
	failed: ['CANCELLED'],
	required: [
		{ path: 'success', value: 'true' },
		{ path: 'livemode', value: 'TRUE' },
	],
	refundField: ['refund'],
	amountField: ['amount'],
	idField: ['id'],
};
const PAID = { event: 'AUTHORISATION', success: 'true', livemode: true, amount: '10', id: 'a' };

test.each<{ what: string; body: object; state: string; reason?: string }>([
	{ what: 'all hold', body: PAID, state: 'paid' },
	{ what: 'all hold in other letters', body: { ...PAID, success: ' True ' }, state: 'paid' },
	{
		what: 'all hold of a failure',
		body: { ...PAID, event: 'CANCELLED' },
		state: 'failed',
		reason: 'the field "event" has one of the Failed Values',
	},
	{
		what: 'the first has another value',
		body: { ...PAID, success: 'false' },
		state: 'other',
		reason: 'of the Required Values, the field "success" has another value',
	},
	{
		what: 'the second is missing',
		body: { ...PAID, livemode: undefined },
		state: 'other',
		reason: 'of the Required Values, the field "livemode" is missing',
	},
	{
		what: 'the second is null',
		body: { ...PAID, livemode: null },
		state: 'other',
		reason: 'of the Required Values, the field "livemode" is missing',
	},
	{
		what: 'it is no single value',
		body: { ...PAID, success: ['true'] },
		state: 'other',
		reason: 'of the Required Values, the field "success" is not a single value',
	},
	{
		what: 'the status says that it failed',
		body: { ...PAID, event: 'CANCELLED', success: 'false' },
		state: 'other',
		reason: 'of the Required Values, the field "success" has another value',
	},
	{
		what: 'the money went back',
		body: { ...PAID, refund: 'done', livemode: false },
		state: 'other',
		reason: 'of the Required Values, the field "livemode" has another value',
	},
	{
		what: 'it is about another charge, which is asked first',
		body: { ...PAID, id: 'b', success: 'false' },
		state: 'other',
		reason: 'the field "id" names another charge or payment',
	},
	{
		what: 'the amount is another one, which is asked last',
		body: { ...PAID, amount: '0.01' },
		state: 'otherAmount',
		reason: 'the field "amount" has a different amount than the charge or payment',
	},
])('where $what, the state is $state', ({ body, state, reason }) => {
	const { state: found, reason: why } = judged(WORDS, body);
	expect({ found, why }).toStrictEqual({ found: state, why: reason });
});

test.each([
	{ value: 'x', state: 'paid' },
	{ value: 1, state: 'paid' },
	{ value: { id: 1 }, state: 'paid' },
	{ value: 0, state: 'other' },
	{ value: false, state: 'other' },
	{ value: ' ', state: 'other' },
	{ value: [], state: 'other' },
])('* takes what is there and not empty: $value is $state', ({ value, state }) => {
	const words = { ...WORDS, required: [{ path: 'proof', value: '*' }] };
	expect(judged(words, { ...PAID, proof: value }).state).toBe(state);
});

test('once the service signs, they are read in the body, not in what anybody can add to the query', () => {
	const { success: _, ...without } = PAID;
	const query = { success: 'true' };
	const signed = postbackOf(without, { query, isSignedByService: true });
	expect(judgedPostback(signed, PROVEN, WORDS).verdict?.state).toBe('other');
	// Where nobody signs, whoever has the address can add to the body as well.
	expect(judgedPostback(postbackOf(without, { query }), PROVEN, WORDS).verdict?.state).toBe('paid');
	// What the body says counts before the query.
	const both = postbackOf({ ...PAID, success: 'false' }, { query });
	expect(judgedPostback(both, PROVEN, WORDS).verdict?.state).toBe('other');
});

const IN_LIST: StatusWords = {
	field: ['items[].event'],
	paid: ['AUTHORISATION'],
	failed: ['CANCELLED'],
	required: [
		{ path: 'items[].success', value: 'true' },
		{ path: 'live', value: 'true' },
	],
	amountField: ['items[].amount'],
	idField: ['items[].id'],
};

describe('of a list', () => {
	const item = (event: string, success: unknown, id = 'a') => ({ event, success, amount: 10, id });

	test.each<{ what: string; body: object; state: string }>([
		{
			what: 'its own entry has it',
			body: { live: true, items: [item('AUTHORISATION', true)] },
			state: 'paid',
		},
		{
			what: 'only another event of the same charge has it',
			body: { live: true, items: [item('AUTHORISATION', 'false'), item('REPORT', 'true')] },
			state: 'other',
		},
		{
			what: 'only the entry of another charge has it',
			body: {
				live: true,
				items: [item('AUTHORISATION', 'false'), item('AUTHORISATION', true, 'b')],
			},
			state: 'other',
		},
		{
			what: 'the second try has it, and the first one failed',
			body: { live: true, items: [item('AUTHORISATION', 'false'), item('AUTHORISATION', 'true')] },
			state: 'paid',
		},
		{
			what: 'it stands beside the list and not in it',
			body: { live: true, success: true, items: [{ event: 'AUTHORISATION', amount: 10, id: 'a' }] },
			state: 'other',
		},
		{
			what: 'what stands beside the list does not hold',
			body: { live: false, items: [item('AUTHORISATION', true)] },
			state: 'other',
		},
		{
			what: 'what must stand beside the list stands in it',
			body: { items: [{ ...item('AUTHORISATION', true), live: true }] },
			state: 'other',
		},
		{
			what: 'one object stands in place of the list',
			body: { live: true, items: item('AUTHORISATION', 'false') },
			state: 'other',
		},
	])('where $what, the state is $state', ({ body, state }) => {
		expect(judged(IN_LIST, body).state).toBe(state);
	});

	test('each claim is judged by its own entry', () => {
		const items = [item('AUTHORISATION', 'true'), item('AUTHORISATION', 'false', 'b')];
		const claims = claimsOf(IN_LIST, new Sources({ live: true, items }));
		expect(claims.map((claim) => 'verdict' in claim && claim.verdict.state)).toStrictEqual([
			'paid',
			'other',
		]);
	});

	test('of two lists, the entry of the one has nothing of the other', () => {
		const both: StatusWords = {
			field: ['charges[].status', 'payouts[].status'],
			paid: ['paid'],
			failed: [],
			required: [{ path: 'charges[].live', value: 'true' }],
			idField: ['charges[].id', 'payouts[].id'],
		};
		const charges = [{ id: 'x', status: 'paid', live: true }];
		const payouts = [{ id: 'a', status: 'paid' }];
		expect(judged(both, { charges, payouts }).state).toBe('other');
	});
});

describe('no condition goes on with what lacks one', () => {
	const whyNot = (words: StatusWords, body: unknown, field: string, value: string) =>
		whyNotAwaited(
			{ field: [field], values: [value] },
			judgedPostback(postbackOf(body), PROVEN, words),
		);

	test.each(['paid', 'paidOrFailed'])('the condition %s does not go on', (condition) => {
		const states = condition === 'paid' ? (['paid'] as const) : (['paid', 'failed'] as const);
		for (const event of ['AUTHORISATION', 'CANCELLED']) {
			const refused = judgedPostback(
				postbackOf({ ...PAID, event, success: 'false' }),
				PROVEN,
				WORDS,
			);
			expect(whyNotAwaited({ states }, refused)).toBe(
				'of the Required Values, the field "success" has another value',
			);
		}
	});

	test('When a Field Has a Value does not go on', () => {
		expect(whyNot(WORDS, PAID, 'event', 'AUTHORISATION')).toBeUndefined();
		const test = { ...PAID, livemode: false };
		expect(whyNot(WORDS, test, 'event', 'AUTHORISATION')).toContain('"livemode"');
		expect(whyNot(WORDS, { ...test, event: 'PENDING' }, 'event', 'PENDING')).toContain(
			'"livemode"',
		);
	});

	const entry = (status: string, live: unknown, id = 'a') => ({ event: status, success: live, id });

	test.each<{ what: string; body: object; field?: string; isMet: boolean }>([
		{
			what: 'an entry that has both',
			body: { live: true, items: [entry('SENT', true)] },
			isMet: true,
		},
		{
			what: 'an entry that has the value, beside one of the same charge that has the required one',
			body: { live: true, items: [entry('SENT', false), entry('PENDING', true)] },
			isMet: false,
		},
		{
			what: 'the same in the other order',
			body: { live: true, items: [entry('PENDING', true), entry('SENT', false)] },
			isMet: false,
		},
		{
			what: 'an entry that has both, beside one that has neither',
			body: { live: true, items: [entry('PENDING', false), entry('SENT', true)] },
			isMet: true,
		},
		{ what: 'a list of a test', body: { live: false, items: [entry('SENT', true)] }, isMet: false },
		{
			what: 'a field beside a list of a test',
			body: { live: false, topic: 'SENT', items: [entry('SENT', true)] },
			field: 'topic',
			isMet: false,
		},
		{
			what: 'another list, beside entries that lack it',
			body: { live: true, logs: [{ topic: 'SENT' }], items: [entry('SENT', false)] },
			field: 'logs[].topic',
			isMet: false,
		},
	])('in a list, $what does not go on', ({ body, field = 'items[].event', isMet }) => {
		expect(whyNot(IN_LIST, body, field, 'SENT') === undefined).toBe(isMet);
	});

	test.each([
		{
			body: { live: true, topic: 'SENT', items: [entry('A', true), entry('B', true)] },
			isMet: true,
		},
		{
			body: { live: false, topic: 'SENT', items: [entry('A', true), entry('B', true)] },
			isMet: false,
		},
		{
			body: { live: true, topic: 'SENT', items: [entry('A', true), entry('B', false)] },
			isMet: false,
		},
	])('in a list whose entries nothing tells apart: $body', ({ body, isMet }) => {
		const { idField: _, ...words } = IN_LIST;
		expect(whyNot(words, body, 'topic', 'SENT') === undefined).toBe(isMet);
	});
});

describe('a currency in the text of the amount', () => {
	const words = (currency: string, path = 'data.currency'): StatusWords => ({
		field: ['status'],
		paid: ['paid'],
		failed: [],
		required: [{ path, value: currency }],
		amountField: ['amount'],
	});
	const body = (amount: unknown, currency: string) => ({
		status: 'paid',
		amount,
		data: { currency, paidCurrency: currency },
	});

	test.each<[amount: unknown, currency: string, state: string]>([
		['EUR 10.00', 'EUR', 'paid'],
		['10,00 €', 'eur', 'paid'],
		['€10', 'EUR', 'paid'],
		['R$ 10,00', 'BRL', 'paid'],
		['$10.00', 'USD', 'paid'],
		['US$ 10.00', 'USD', 'paid'],
		['A$10', 'AUD', 'paid'],
		['AU$10', 'AUD', 'paid'],
		['S$ 10.00', 'SGD', 'paid'],
		['C$10.00', 'CAD', 'paid'],
		['￥10', 'JPY', 'paid'],
		['10.00', 'EUR', 'paid'],
		[10, 'EUR', 'paid'],
		['IDR 10.00', 'EUR', 'otherAmount'],
		['10.00 IDR', 'EUR', 'otherAmount'],
		['EUR 10.00 IDR', 'EUR', 'otherAmount'],
		['$10.00', 'EUR', 'otherAmount'],
		['AU$ 10.00', 'USD', 'otherAmount'],
		['S$ 10.00', 'CAD', 'otherAmount'],
		['$10.00', 'BRL', 'otherAmount'],
		['E£10', 'EUR', 'otherAmount'],
		['￥10', 'EUR', 'otherAmount'],
		['R$ 10,00', 'EUR', 'otherAmount'],
		['£10', 'EUR', 'otherAmount'],
		['IDR 10.00', '978', 'otherAmount'],
		['IDR 10.00', '*', 'paid'],
	])('%j, where the currency must be %s, is %s', (amount, currency, state) => {
		const own = currency === '*' ? 'IDR' : currency;
		expect(judged(words(currency), body(amount, own)).state).toBe(state);
		expect(judged(words(currency, 'data.paidCurrency'), body(amount, own)).state).toBe(state);
		expect(judged(words(currency, 'data[currency]'), body(amount, own)).state).toBe(state);
	});

	test('counts for nothing where no currency is required', () => {
		const { required: _, ...plain } = words('EUR');
		expect(judged(plain, body('IDR 10.00', 'EUR')).state).toBe('paid');
		const other = { ...plain, required: [{ path: 'status', value: 'paid' }] };
		expect(judged(other, body('IDR 10.00', 'EUR')).state).toBe('paid');
	});

	test('is named in the reason, without a value', () => {
		expect(judged(words('EUR'), body('IDR 10.00', 'EUR')).reason).toBe(
			'the field "amount" names a different currency than the Required Values',
		);
	});

	test('is asked of what a postback claims, too', () => {
		const [claim] = claimsOf(words('EUR'), new Sources(body('IDR 10.00', 'EUR')));
		expect(claim).toMatchObject({ claimed: { amount: 10 }, verdict: { state: 'otherAmount' } });
	});
});
