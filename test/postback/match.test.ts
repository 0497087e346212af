import { matchOf } from '../../nodes/Pay/fields/condition';
import {
	judgeClaims,
	namesIn,
	takenPostback,
	unsignedSources,
	whyNotAwaited,
} from '../../nodes/Pay/postback/match';
import type { Postback } from '../../nodes/Pay/postback/postback';
import type { Reference } from '../../nodes/Pay/postback/proof';
import { NOT_TOLD_APART, type StatusWords } from '../../nodes/Pay/service/state';
import { judgedPostback, postbackOf } from './postbackOf';

/** Why a workflow does not go on with a postback. */
const whyNot = (
	match: Parameters<typeof whyNotAwaited>[0],
	postback: Postback,
	reference: Reference | null = null,
	words?: StatusWords,
) => whyNotAwaited(match, judgedPostback(postback, reference, words));

const CHARGE: Reference = { external_id: 'a', kind: 'qrCode', amount: 49.9 };

describe('a workflow goes on with a postback', () => {
	const WORDS: StatusWords = {
		field: ['state'],
		paid: ['paid'],
		failed: ['failed'],
		refundField: ['refunds'],
		amountField: ['amount'],
		idField: ['order'],
	};
	const PAID = { state: 'paid', amount: '49.90', order: 'a', event: 'news' };
	const OTHER_AMOUNT = 'the field "amount" has a different amount than the charge or payment';

	/** The conditions under which it does. */
	function conditionsMetBy(body: object): string[] {
		const conditions = {
			any: matchOf('any', WORDS, 'startWhen', ''),
			paid: matchOf('paid', WORDS, 'startWhen', ''),
			paidOrFailed: matchOf('paidOrFailed', WORDS, 'startWhen', ''),
			field: { field: ['event'], values: ['news'] },
		};
		const met = Object.entries(conditions).filter(([, match]) => {
			return whyNot(match, postbackOf({ ...PAID, ...body }), CHARGE, WORDS) === undefined;
		});
		return met.map(([name]) => name);
	}

	test.each<{ what: string; body: object; met: string[] }>([
		{ what: 'paid', body: {}, met: ['any', 'paid', 'paidOrFailed', 'field'] },
		{ what: 'paid with another amount', body: { amount: 0.01 }, met: ['any', 'paidOrFailed'] },
		{ what: 'paid without an amount', body: { amount: null }, met: ['any', 'paidOrFailed'] },
		{ what: 'failed', body: { state: 'failed', amount: 0 }, met: ['any', 'paidOrFailed', 'field'] },
		{ what: 'refunded', body: { refunds: [1] }, met: ['any', 'paidOrFailed', 'field'] },
		{ what: 'pending', body: { state: 'pending' }, met: ['any', 'field'] },
		{ what: 'paid, of another charge', body: { order: 'b' }, met: ['any'] },
		{ what: 'failed, of another charge', body: { state: 'failed', order: 'b' }, met: ['any'] },
	])('that is $what under the conditions $met', ({ body, met }) => {
		expect(conditionsMetBy(body)).toStrictEqual(met);
	});

	test('and where it does not, the reason is that of its state, or of the field', () => {
		const other = postbackOf({ ...PAID, amount: 0.01 });
		const paid = matchOf('paid', WORDS, 'startWhen', '');
		expect(whyNot(paid, other, CHARGE, WORDS)).toBe(OTHER_AMOUNT);
		expect(whyNot({ field: ['event'], values: ['news'] }, other, CHARGE, WORDS)).toBe(OTHER_AMOUNT);
		const missing = whyNot({ field: ['kind'], values: ['x'] }, other, CHARGE, WORDS);
		expect(missing).toBe('the field "kind" is missing');
	});

	test('of an account without words by a field alone', () => {
		expect(whyNot({ field: ['state'], values: ['paid'] }, postbackOf(PAID))).toBeUndefined();
		expect(whyNot({ states: ['paid'] }, postbackOf(PAID))).toBe(
			'the credential has no words that say what it means',
		);
	});
});

test.each([
	{ field: ['body.data.status'], isMet: true },
	{ field: ['postback.body.data.status'], isMet: true },
	{ field: ['Data.Status'], isMet: true },
	{ field: ['query.state'], isMet: true },
	{ field: ['query.status'], isMet: false },
])('a field may be typed as it is seen: $field is found: $isMet', ({ field, isMet }) => {
	const postback = postbackOf({ data: { status: 'paid' } }, { query: { state: 'paid' } });
	expect(whyNot({ field, values: ['paid'] }, postback) === undefined).toBe(isMet);
});

describe('what a service that signs did not sign', () => {
	const inBody = { field: ['state'], values: ['paid'] };
	const inHeader = { field: ['headers.x-state'], values: ['paid'] };
	const unsigned = { query: { state: 'paid' }, headers: { 'x-state': 'paid' } };
	const signed = { ...unsigned, isSignedByService: true };

	test('says nothing in the query, which counts without a signature (the control)', () => {
		expect(whyNot(inBody, postbackOf({}, unsigned))).toBeUndefined();
		expect(whyNot(inBody, postbackOf({}, signed))).toBeDefined();
		expect(whyNot(inBody, postbackOf({ state: 'processing' }, signed))).toBeDefined();
	});

	test('says nothing in the headers, but for those that it signed too', () => {
		expect(whyNot(inHeader, postbackOf({}, unsigned))).toBeUndefined();
		expect(whyNot(inHeader, postbackOf({}, signed))).toBeDefined();
		const withHeader = { ...signed, signedHeaders: ['x-state'] };
		expect(whyNot(inHeader, postbackOf({}, withHeader))).toBeUndefined();
	});
});

describe('a field of a list', () => {
	const match = { field: ['pix[].status'], values: ['paid'] };
	const pix = [
		{ txid: 'a', status: 'pending' },
		{ txid: 'b', status: 'paid' },
	];

	test('has a value where any entry has it', () => {
		expect(whyNot(match, postbackOf({ pix }))).toBeUndefined();
		expect(whyNot({ ...match, values: ['failed'] }, postbackOf({ pix }))).toBe(
			'the field "pix[].status" has another value',
		);
	});

	test.each([
		{ external_id: 'a', why: 'the field "pix[].status" has another value' },
		{ external_id: 'b', why: undefined },
		{ external_id: 'c', why: 'no entry of the list is about this charge or payment' },
	])('has it in the entry of the charge $external_id alone: $why', ({ external_id, why }) => {
		const words = { field: ['pix[].status'], paid: ['x'], failed: [], idField: ['pix[].txid'] };
		expect(whyNot(match, postbackOf({ pix }), { ...CHARGE, external_id }, words)).toBe(why);
	});

	test.each<{ what: string; idField?: string[]; field: string; lines?: object[]; why?: string }>([
		{ what: 'an own list', field: 'pix[].status', why: NOT_TOLD_APART },
		{ what: 'another list', field: 'lines[].status', why: NOT_TOLD_APART },
		{
			what: 'another list than that of the External IDs',
			idField: ['pix[].txid'],
			field: 'lines[].status',
			why: NOT_TOLD_APART,
		},
		{ what: 'a list of one', field: 'lines[].status', lines: [{ status: 'paid' }] },
		{ what: 'a list in a postback about one charge', idField: ['id'], field: 'lines[].status' },
	])(
		'that nothing says whose it is counts for no charge: $what: $why',
		({ idField, field, lines = [...pix], why }) => {
			const words: StatusWords = { field: ['event'], paid: ['done'], failed: [], idField };
			const postback = postbackOf({ id: 'a', event: 'done', pix, lines });
			const values = ['paid'];
			expect(whyNot({ field: [field], values }, postback, CHARGE, words)).toBe(why);
			if (idField === undefined) {
				expect(whyNot({ field: [field], values }, postback, CHARGE)).toBe(why);
			}
		},
	);

	test('of another list says nothing of an entry that claims to be about a charge', () => {
		const words = { field: ['pix[].status'], paid: ['x'], failed: [], idField: ['pix[].txid'] };
		const { claims } = judgeClaims(
			takenPostback(postbackOf({ pix, lines: [...pix] }), null),
			words,
		);
		const inLines = { field: ['lines[].status'], values: ['paid'] };
		expect(claims.map((claim) => whyNotAwaited(inLines, claim))).toStrictEqual([
			NOT_TOLD_APART,
			NOT_TOLD_APART,
		]);
	});

	test.each([
		{ what: '"paid" with another amount', entry: { status: 'paid', amount: 0.01 }, isMet: false },
		{ what: '"paid" with its amount', entry: { status: 'paid', amount: 49.9 }, isMet: true },
		{ what: 'what is not "paid"', entry: { status: 'new', amount: 0.01 }, isMet: true },
	])('is met in one of two entries of a charge by $what: $isMet', ({ entry, isMet }) => {
		const words: StatusWords = {
			field: ['pix[].status'],
			paid: ['paid'],
			failed: [],
			amountField: ['pix[].amount'],
			idField: ['pix[].txid'],
		};
		const paid = { txid: 'a', status: 'paid', amount: 49.9, sku: 1 };
		const postback = postbackOf({ pix: [paid, { ...paid, ...entry, sku: 2 }] });
		const match = { field: ['pix[].sku'], values: ['2'] };
		expect(whyNot(match, postback, CHARGE, words) === undefined).toBe(isMet);
	});
});

test('what nothing proves claims itself, whole where the account has no words', () => {
	const taken = takenPostback(postbackOf({ status: 'paid' }), null);
	expect(judgeClaims(taken, undefined)).toStrictEqual({
		claims: [{ ...taken, entries: [], claimed: {} }],
		faults: [],
	});
});

test('of an entry that was claimed by itself the other entries say nothing', () => {
	const words: StatusWords = {
		field: ['pix[].status'],
		paid: ['paid'],
		failed: [],
		idField: ['pix[].txid'],
	};
	const pix = [{ txid: 'a', status: 'pending' }, { txid: 'b', status: 'paid' }, { status: 'paid' }];
	const { claims, faults } = judgeClaims(takenPostback(postbackOf({ pix }), null), words);
	const match = { field: ['pix[].status'], values: ['paid'] };
	const met = claims.filter((claim) => whyNotAwaited(match, claim) === undefined);
	expect(met.map(({ claimed }) => claimed)).toStrictEqual([{ external_id: 'b' }]);
	expect(faults).toHaveLength(1);
});

test('the names of a body for a log are few, short, and of letters that no terminal obeys', () => {
	const namesOf = (body: unknown) => {
		const postback = postbackOf(body);
		return namesIn({ postback, reference: null, sources: unsignedSources(postback) });
	};
	expect(namesOf({ status: 'secret', ['evil\n\u202e'.repeat(20)]: 1 })).toBe(
		`status, ${'evil??'.repeat(7).slice(0, 40)}`,
	);
	expect(namesOf('secret')).toBe('no fields');
});
