import { Sources } from '../../nodes/Pay/service/paths';
import { stateOf, type StatusWords } from '../../nodes/Pay/service/state';

const PROVEN = { external_id: 'a', amount: 10 };
const judged = (words: StatusWords, body: unknown) => stateOf(words, PROVEN, new Sources(body));

describe('a refund', () => {
	const refundOf = (refundField: string, ...refunded: string[]): StatusWords => ({
		field: ['status'],
		paid: ['paid'],
		failed: [],
		refundField: refundField.split('\n'),
		refunded,
	});

	test.each<{ what: string; words: StatusWords; body: object; state: string }>([
		{
			what: 'made, in one word',
			words: refundOf('refund', 'full', 'partial'),
			body: { refund: 'PARTIAL' },
			state: 'refunded',
		},
		{
			what: '"none"',
			words: refundOf('refund', 'full', 'partial'),
			body: { refund: 'none' },
			state: 'paid',
		},
		{
			what: 'refused, by its path',
			words: refundOf('refund.status', 'DONE'),
			body: { refund: { status: 'REJECTED' } },
			state: 'paid',
		},
		{
			what: 'made, by its path',
			words: refundOf('refund.status', 'DONE'),
			body: { refund: { status: 'done' } },
			state: 'refunded',
		},
		{ what: 'none at all', words: refundOf('refund.status', 'DONE'), body: {}, state: 'paid' },
		{
			what: 'refused at the first of two paths, made at the second',
			words: refundOf('refund\nback.state', 'DONE'),
			body: { refund: 'none', back: { state: 'DONE' } },
			state: 'refunded',
		},
		{
			what: 'refused as an object, where another kind of postback has a word',
			words: refundOf('refund\nrefund.status', 'DONE'),
			body: { refund: { status: 'REJECTED' } },
			state: 'paid',
		},
		{
			what: 'made in the second of a list',
			words: refundOf('refunds[].status', 'DONE'),
			body: { refunds: [{ status: 'REJECTED' }, { status: 'DONE' }] },
			state: 'refunded',
		},
		{
			what: 'that nobody can read: the path ends at a list, and the words are those of its entries',
			words: refundOf('refunds', 'DONE'),
			body: { refunds: [{ status: 'DONE' }] },
			state: 'refunded',
		},
		{
			what: 'none, where the path ends at an empty list',
			words: refundOf('refunds', 'DONE'),
			body: { refunds: [] },
			state: 'paid',
		},
		{
			what: 'one that is just there',
			words: refundOf('refund', '*'),
			body: { refund: 'none' },
			state: 'refunded',
		},
	])('where there is $what, the state is $state', ({ words, body, state }) => {
		expect(judged(words, { status: 'paid', ...body }).state).toBe(state);
	});

	describe('in a list inside the entry', () => {
		const words: StatusWords = {
			field: ['pix[].endToEndId'],
			paid: ['*'],
			failed: [],
			refundField: ['pix[].devolucoes[].status'],
			refunded: ['DEVOLVIDO'],
			amountField: ['pix[].valor'],
			idField: ['pix[].txid'],
		};
		const entry = (txid: string, devolucoes: unknown) => ({
			endToEndId: 'E1',
			txid,
			valor: '10.00',
			devolucoes,
		});
		const made = { status: 'DEVOLVIDO' };
		const refused = { status: 'NAO_REALIZADO' };

		test.each<{ what: string; pix: unknown; state: string }>([
			{ what: 'made', pix: [entry('a', [made])], state: 'refunded' },
			{ what: 'refused', pix: [entry('a', [refused])], state: 'paid' },
			{ what: 'refused, then made', pix: [entry('a', [refused, made])], state: 'refunded' },
			{ what: 'none', pix: [entry('a', [])], state: 'paid' },
			{ what: 'no list of them', pix: [entry('a', undefined)], state: 'paid' },
			{ what: 'one object in place of the list', pix: entry('a', made), state: 'refunded' },
			{
				what: 'a text that holds the list',
				pix: [entry('a', JSON.stringify([made]))],
				state: 'refunded',
			},
			{ what: 'made of another charge', pix: [entry('b', [made]), entry('a', [])], state: 'paid' },
		])('where there is $what, the state is $state', ({ pix, state }) => {
			expect(judged(words, { pix }).state).toBe(state);
		});
	});

	test('is said in words of all or part of the money', () => {
		const body = { status: 'paid', refund: 'full' };
		expect(judged(refundOf('refund', 'full'), body).reason).toBe(
			'the field "refund" says that all or part of the money went back',
		);
		expect(judged(refundOf('refund', 'full'), { ...body, refund: [1] }).reason).toBe(
			'the field "refund" is not a single value, so no Refunded Value can be compared',
		);
	});

	test('of a wait that an earlier version put to sleep is whatever is there', () => {
		const { refunded: _, ...words } = refundOf('refund', 'full');
		expect(judged(words, { status: 'paid', refund: 'none' }).state).toBe('refunded');
	});
});

describe('* in Failed Values', () => {
	const CODES: StatusWords = { field: ['ResultCode'], paid: ['0'], failed: ['1', '*'] };

	test.each<{ value: unknown; state: string }>([
		{ value: 0, state: 'paid' },
		{ value: '0', state: 'paid' },
		{ value: 1, state: 'failed' },
		{ value: 1037, state: 'failed' },
		{ value: 'E-17', state: 'failed' },
		{ value: false, state: 'failed' },
		{ value: 'null', state: 'failed' },
		{ value: '*', state: 'failed' },
		{ value: null, state: 'other' },
		{ value: undefined, state: 'other' },
		{ value: ' ', state: 'other' },
		{ value: { code: 1 }, state: 'other' },
		{ value: [1], state: 'other' },
	])('$value is $state', ({ value, state }) => {
		expect(judged(CODES, { ResultCode: value }).state).toBe(state);
	});

	test('takes 0 too, where that is not the word for paid', () => {
		expect(judged({ field: ['s'], paid: ['1'], failed: ['*'] }, { s: 0 }).state).toBe('failed');
	});

	test('is named in the reason', () => {
		expect(judged(CODES, { ResultCode: 1037 }).reason).toBe(
			'the field "ResultCode" has none of the Paid Values, and * in the Failed Values means any other value',
		);
		expect(judged(CODES, { ResultCode: 1 }).reason).toBe(
			'the field "ResultCode" has one of the Failed Values',
		);
	});

	test('says nothing of another charge, nor of what lacks a required value', () => {
		const words: StatusWords = {
			...CODES,
			idField: ['id'],
			required: [{ path: 'live', value: '1' }],
		};
		expect(judged(words, { ResultCode: 7, id: 'b', live: 1 }).state).toBe('other');
		expect(judged(words, { ResultCode: 7, id: 'a', live: 0 }).state).toBe('other');
		expect(judged(words, { ResultCode: 7, id: 'a', live: 1 }).state).toBe('failed');
	});
});
