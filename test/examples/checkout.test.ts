import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATES } from '../../nodes/Pay/service/postbackState';

type Json = Record<string, unknown>;
interface Opening {
	/** What stands in the book; `at` in minutes before now. */
	rows?: Json[];
	query?: Json;
	/** What the shop knows of the order. */
	orders?: Json[];
	/** The page asks for the state of this External ID. */
	id?: string;
	hasClaimed?: boolean;
	isByHand?: boolean;
}

const SOURCE = readFileSync(
	join(__dirname, '..', '..', 'examples', 'checkout', 'What the book says.js'),
	'utf8',
);
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** Runs the source as n8n's Code node does, in execution 7. */
function decide({
	rows = [],
	query = { order: '1042' },
	orders = [{ orderId: 'order-1042', total: 49.9 }],
	id,
	hasClaimed = false,
	isByHand = false,
}: Opening): Json {
	const earlier: Record<string, Json[]> =
		id === undefined ? { Order: orders } : { 'Page asks': [{ query: { id } }] };
	if (id === undefined && !isByHand) earlier['Customer opens the page'] = [{ query }];
	if (hasClaimed) earlier['Claim it'] = [{}];
	const items = (some: Json[] = []) => some.map((json) => ({ json }));
	const $ = (node: string) => ({
		all: () => items(earlier[node]),
		first: () => items(earlier[node])[0],
		isExecuted: node in earlier,
	});
	const $input = { all: () => items(rows.length === 0 ? [{}] : rows) };
	const node = new Function('$input', '$', '$execution', SOURCE) as (
		...given: unknown[]
	) => Array<{ json: Json }>;
	return node($input, $, { id: '7' })[0]!.json;
}

const row = (more: Json = {}): Json => ({
	id: 1,
	external_id: 'order-1042',
	amount: '49.9',
	at: minutesAgo(1),
	execution: '5',
	code: 'CODE',
	image: 'IMAGE',
	state: '',
	...more,
});
/** A row without a code, as n8n gives it. */
const claim = (more: Json = {}) => row({ code: null, image: null, state: null, ...more });

test.each<[string, Opening, Json]>([
	['nothing: claim it', {}, { next: 'claim', amount: 49.9 }],
	['my claim: make the code', { rows: [claim({ execution: '7' })] }, { next: 'create' }],
	[
		'my claim and a later one: make the code',
		{ rows: [claim({ id: 2 }), claim({ execution: '7' })] },
		{ next: 'create' },
	],
	[
		'an earlier claim than mine: wait a moment',
		{ rows: [claim(), claim({ id: 2, execution: '7' })] },
		{ next: 'show', state: 'moment' },
	],
	[
		'a claim that nobody finished: claim it',
		{ rows: [claim({ at: minutesAgo(4) })] },
		{ next: 'claim' },
	],
	['a claim that failed: claim it', { rows: [claim({ state: 'no code' })] }, { next: 'claim' }],
	[
		'no claim, although it was written: not again and again',
		{ hasClaimed: true },
		{ next: 'show', state: 'problem' },
	],
	[
		'a code: show it',
		{ rows: [row()] },
		{ next: 'show', state: 'open', code: 'CODE', image: 'IMAGE', amount: '49.9' },
	],
	[
		'a code of 49.90, and a total of 49.9: show it',
		{ rows: [row({ amount: '49.90' })] },
		{ next: 'show', state: 'open', code: 'CODE' },
	],
	[
		'two codes: always show the first',
		{ rows: [row({ id: 2, code: 'SECOND' }), row()] },
		{ next: 'show', code: 'CODE' },
	],
	['an hour later', { rows: [row({ at: minutesAgo(61) })] }, { next: 'show', state: 'late' }],
	[
		'an execution that was lost',
		{ rows: [row({ at: minutesAgo(76) })] },
		{ next: 'show', state: 'time is up' },
	],
	['paid', { rows: [row({ state: 'paid' })] }, { next: 'show', state: 'paid' }],
	[
		'paid, however late and whatever other rows say',
		{ rows: [row(), row({ id: 2, state: 'paid', at: minutesAgo(5000) })] },
		{ next: 'show', state: 'paid' },
	],
	[
		'a word that a person must look at, beside an open code',
		{ rows: [row(), row({ id: 2, state: 'otheramount' })] },
		{ next: 'show', state: 'other' },
	],
	['failed', { rows: [row({ state: 'failed' })] }, { next: 'show', state: 'failed' }],
	[
		'a code for another amount',
		{ rows: [row({ amount: '10' })] },
		{ next: 'show', state: 'changed' },
	],
	[
		'the row of an order that differs in one letter',
		{ rows: [row({ external_id: 'ORDER-1042' })] },
		{ next: 'claim' },
	],
	['an order that the shop does not know', { orders: [{}] }, { next: 'show', state: 'unknown' }],
	[
		'two orders of the shop',
		{
			orders: [
				{ orderId: 'order-1042', total: 1 },
				{ orderId: 'order-1043', total: 2 },
			],
		},
		{ next: 'show', state: 'unknown' },
	],
	['no order in the address', { query: {} }, { next: 'show', state: 'unknown' }],
	['two in it', { query: { order: ['1', '2'] } }, { next: 'show', state: 'unknown' }],
	['no book', { rows: [{ error: 'none' }] }, { next: 'show', state: 'problem' }],
	['no book, run by hand', { rows: [{ error: 'none' }], isByHand: true }, { next: 'create' }],
	['a question: paid', { id: 'order-1042', rows: [row({ state: 'paid' })] }, { state: 'paid' }],
	['a question: claimed', { id: 'order-1042', rows: [claim()] }, { state: 'moment' }],
	['a question about no order', { id: 'x', rows: [] }, { next: 'answer', state: 'moment' }],
])('the order page, %s', (_what, opening, expected) => {
	expect(decide(opening)).toMatchObject(expected);
});

const STATES_IN_BOOK = [
	...STATES.map(({ state }) => state.toLowerCase()),
	'disputed',
	'time is up',
];
test.each(STATES_IN_BOOK)('%s: no code is shown', (state) => {
	const shown = decide({ rows: [row({ state })] });
	expect([shown.code, shown.image]).toStrictEqual([undefined, undefined]);
});
