import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTCOME_WORDS } from '../../nodes/Pay/execution/words/outcome';
import { CORRECT_ITEM } from '../../nodes/Pay/execution/words/result';
import { amountField, parseAmount } from '../../nodes/Pay/parameters/amount';
import { STATES } from '../../nodes/Pay/service/postbackState';

type Json = Record<string, unknown>;
type Item = { json: Json };
interface Line {
	id: unknown;
	amount: unknown;
	key: unknown;
}
interface Report {
	title: string;
	text: string;
	html: string;
	parts: Array<{ name: string; count: string; lines: Array<{ line?: number; what: string }> }>;
}

const { accepted, unknown, rejected } = OUTCOME_WORDS;
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
/** The words of outcomes as they begin a sentence. */
const FIRST = {
	accepted: capital(accepted),
	unknown: capital(unknown),
	rejected: capital(rejected),
};

const FOLDER = join(__dirname, '..', '..', 'examples', 'payouts');
const PAGE = 'http://localhost:5678/form/payouts';
/** As the example has it: nothing of the service is entered. */
const SETTINGS = { paymentNumberField: '' };
const COLUMNS = { identifier: 'id', amount: 'amount', recipient: 'key', page: PAGE };

/** Runs the source of a node as n8n's Code node does, after nodes that gave these items. */
function runNode(
	name: string,
	input: Json[],
	earlier: Record<string, Json[]>,
	run = 0,
	payParameters: Json = {},
): Json[] {
	const items = (some: Json[] = []) => some.map((json) => ({ json }));
	const $input = { all: () => items(input) };
	const $ = (node: string) => ({
		all: () => items(earlier[node]),
		first: () => items(earlier[node])[0],
		isExecuted: node in earlier,
		params: node === 'Pay' ? payParameters : {},
	});
	const DateTime = { fromISO: (at: string) => ({ toFormat: () => at }) };
	const $now = { toISO: () => `day ${run}` };
	const source = readFileSync(join(FOLDER, `${name}.js`), 'utf8');
	const node = new Function('$input', '$', 'DateTime', '$now', '$execution', source) as (
		...given: unknown[]
	) => Item[];
	return node($input, $, DateTime, $now, { id: run }).map(({ json }) => json);
}

/** A book, and a Pay node that keeps the identifiers it sent, over several runs. */
class Payouts {
	readonly book: Json[] = [];
	/** What the service does about an identifier; it accepts all others. */
	outcomes: Record<string, string> = {};
	sent: Json[] = [];
	private readonly known = new Set<unknown>();
	private runs = 0;
	/** As Pay has it under Options. */
	decimalSign: 'point' | 'comma' = 'point';

	/** What n8n gives of a file, through the nodes up to the report. */
	upload(file: Json[]): Report {
		const run = ++this.runs;
		this.sent = [];
		const earlier: Record<string, Json[]> = { Columns: [COLUMNS], Settings: [SETTINGS] };
		const step = (name: string, input: Json[]) => {
			earlier[name] = runNode(name, input, earlier, run, {
				options: { decimalSign: this.decimalSign },
			});
			return earlier[name];
		};
		step('Lines', file);
		step('What the book says', this.book.length === 0 ? [{}] : this.book);
		const checked = step('Check the list', []);
		expect(checked[0]!.isAnythingToPay).toBe(checked.some(({ why }) => why === ''));
		if (checked[0]!.isAnythingToPay) {
			earlier['To be paid'] = checked.filter(({ why }) => why === '');
			const paid = earlier['To be paid'].map((line) => this.pay(line));
			const rows = step('What became of it', paid);
			earlier['Write it into the book'] = rows;
			for (const { external_id, amount, recipient, outcome, at, execution } of rows)
				this.add({ external_id, amount, recipient, outcome, at, execution });
		}
		const [report] = step('Report', []);
		return report as unknown as Report;
	}

	uploadLines(lines: Line[]): Report {
		const cells = lines.map(({ id, amount, key }) => [id, amount, key]);
		return this.upload([['id', 'amount', 'key'], ...cells].map((row) => ({ row })));
	}

	/** The form with a person's answer, or an empty one. */
	decide(id = '', answer = '', source = ''): Report {
		const form = { 'Payment in doubt': id, 'Was it paid?': answer, 'How do you know?': source };
		const earlier: Record<string, Json[]> = {
			Columns: [COLUMNS],
			Settings: [SETTINGS],
			Payouts: [form],
		};
		const book = this.book.length === 0 ? [{}] : this.book;
		earlier['What the book says'] = runNode('What the book says', book, earlier);
		earlier.Decision = runNode('Decision', [], earlier);
		for (const written of earlier.Decision) {
			if (written.decision === undefined) continue;
			const { id: row, external_id, amount, recipient, execution, decision, source: who } = written;
			const values = { external_id, amount, recipient, execution, decision, source: who };
			const found = this.book.find((each) => each.id === row);
			if (found) Object.assign(found, values);
			else this.add(values);
		}
		return runNode('Report', [], earlier)[0] as unknown as Report;
	}

	/** What a postback reports, as "Write what was reported" puts it into the book. */
	report(external_id: string, outcome: string) {
		this.add({ external_id, amount: '10.5', outcome, at: 'day 9', execution: '9' });
	}

	add(row: Json) {
		this.book.push({ id: this.book.length + 1, ...row });
	}

	private pay({ external_id, amount, recipient }: Json): Json {
		if (this.known.has(external_id)) return failure(external_id, 'duplicate');
		const outcome = this.outcomes[String(external_id)] ?? 'accepted';
		let value: number;
		try {
			value = parseAmount(amount, amountField, { decimalSign: this.decimalSign });
		} catch {
			return failure(external_id, 'notSent');
		}
		this.sent.push({ external_id, amount: value, recipient });
		if (!outcome.startsWith('rejected')) this.known.add(external_id);
		if (outcome === 'rejected for its token') return rejectedForToken(external_id);
		if (outcome !== 'accepted') return failure(external_id, outcome);
		return { external_id, amount: value, outcome };
	}
}

function failure(external_id: unknown, outcome: string): Json {
	return {
		error: { external_id, outcome, message: `It ended as ${outcome}`, description: 'Do it' },
	};
}

/** As Pay gives a 403 of a gateway. */
function rejectedForToken(external_id: unknown): Json {
	return {
		error: {
			external_id,
			outcome: 'rejected',
			tokenRejected: true,
			message: `The service rejected payment "${String(external_id)}" (HTTP 403)`,
			description: 'The request was sent. Ask, then run again.',
			statusCode: 403,
			response: { message: 'not on our list' },
		},
	};
}

/** The part of the report that each line is in, by the line's number, and what it says. */
function told({ parts }: Report): Record<string, string> {
	const lines = parts.flatMap(({ name, lines: some }) =>
		some.map(({ line, what }) => [String(line), `${name}: ${what}`.trim()]),
	);
	return Object.fromEntries(lines);
}

const line = (id: unknown, amount: unknown = 10.5, key: unknown = 'a@x'): Line => ({
	id,
	amount,
	key,
});

let payouts: Payouts;
beforeEach(() => {
	payouts = new Payouts();
});

describe('the report', () => {
	test('has for every outcome what happened, and what to do', () => {
		payouts.outcomes.b = 'unknown';
		payouts.outcomes.c = 'rejected';
		const report = payouts.uploadLines([
			line('a'),
			line('b', '7', 'b@x'),
			line('c', 1),
			line('d', '12,00'),
		]);
		expect(report.text).toBe(
			[
				'1 of 4 lines accepted now: 10.50 in all. 1 in doubt.',
				'',
				'In doubt: 1, 7.00 in all. It may have been paid: do not pay it in another way now. Ask the service whether it was, then say so on this page: http://localhost:5678/form/payouts',
				'- Line 3: b, 7.00 to b@x. It ended as unknown. Do it. http://localhost:5678/form/payouts?Payment%20in%20doubt=b',
				'',
				'Not paid: 2. Read why. If the service says that it has the payment already, it may be paid: ask it first. Otherwise correct the line and upload the list again. What was accepted is not sent again.',
				'- Line 4: c, 1.00 to a@x. It ended as rejected. Do it.',
				'- Line 5: d, 12,00 to a@x. It ended as notSent. Do it.',
				'',
				'Accepted now: 1, 10.50 in all. The service took them. Its statement says which of them were paid.',
				'- Line 2: a, 10.50 to a@x.',
			].join('\n'),
		);
	});

	test('what was rejected for its token stands by itself: ask, then say so, or upload again', () => {
		payouts.outcomes.a = 'rejected for its token';
		payouts.outcomes.b = 'unknown';
		payouts.outcomes.c = 'rejected';
		const report = payouts.uploadLines([line('a'), line('b', 7), line('c', 1)]);
		expect(report.parts.map(({ name }) => name)).toStrictEqual([
			'in doubt',
			'ask first',
			'refused',
		]);
		expect(report.title).toBe(
			'0 of 3 lines accepted now: 0.00 in all. 1 in doubt. 1 to ask the service about.',
		);
		expect(report.text).toContain(
			[
				`${FIRST.rejected}, perhaps paid: 1, 10.50 in all. It may have been paid all the same. Ask the service whether it has the payment. If it has, say so on this page: each line has a link. If it has not, correct the token in the Pay API credential (or the service’s list of allowed addresses) and upload the list again.`,
				`- Line 2: a, 10.50 to a@x. The service rejected payment "a" (HTTP 403). The response said: "not on our list". ${PAGE}?Payment%20in%20doubt=a`,
				'',
			].join('\n'),
		);
		expect(report.html).toContain(`<a href="${PAGE}?Payment%20in%20doubt=a">Decide</a>`);
	});

	test('what was rejected for its token is sent again, unless a person says that it was paid', () => {
		payouts.outcomes.a = 'rejected for its token';
		payouts.outcomes.b = 'rejected for its token';
		payouts.uploadLines([line('a'), line('b')]);
		payouts.outcomes = {};
		expect(payouts.decide('a', 'It was paid', 'Ana').title).toBe(
			'Written down about "a": It was paid. Nothing is in doubt.',
		);
		expect(told(payouts.uploadLines([line('a'), line('b')]))).toStrictEqual({
			2: 'before: It was paid (Ana).',
			3: 'accepted:',
		});
		expect(payouts.sent.map(({ external_id }) => external_id)).toStrictEqual(['b']);
	});

	test.each<{ response: unknown; says: string }>([
		{ response: undefined, says: '' },
		{ response: '', says: '' },
		{ response: 'Forbidden', says: ' The response said: "Forbidden".' },
		{
			response: { code: 7, message: 'no' },
			says: ' The response said: "{"code":7,"message":"no"}".',
		},
		{
			response: '<html><title>403 Forbidden</title>\n<hr><center>nginx</center></html>',
			says: ' The response said: "403 Forbidden nginx".',
		},
		{ response: '<html></html>', says: '' },
		{ response: 'x'.repeat(201), says: ` The response said: "${'x'.repeat(200)}…".` },
	])(
		'of a rejection for the token with the response $response the line says it',
		({ response, says }) => {
			const [row] = runNode(
				'What became of it',
				[{ error: { outcome: 'rejected', tokenRejected: true, message: 'No', response } }],
				{ Settings: [SETTINGS], 'To be paid': [{ external_id: 'a', plain: '1', recipient: 'x' }] },
			);
			expect(row).toMatchObject({ tokenRejected: true, message: 'No', advice: says.trim() });
		},
	);

	test('beside the words of the list, the words for one item are left out', () => {
		const error = {
			outcome: 'rejected',
			message: 'The service rejected payment "a" (HTTP 422)',
			description: `The request was sent. ${CORRECT_ITEM}`,
		};
		const earlier: Record<string, Json[]> = {
			Settings: [SETTINGS],
			'To be paid': [{ external_id: 'a', plain: '1', recipient: 'x' }],
		};
		const [row] = runNode('What became of it', [{ error }], earlier);
		expect(row!.advice).toBe('The request was sent.');
	});

	test('what the list or the service says is no HTML', () => {
		payouts.outcomes['<b>'] = 'unknown';
		const { html } = payouts.uploadLines([line('<b>', 1, '"><script>')]);
		expect(html).toContain('&lt;b&gt;, 1.00 to &quot;&gt;&lt;script&gt;.');
		expect(html).not.toMatch(/<b>|<script/);
		expect(html).toContain(`href="${PAGE}?Payment%20in%20doubt=%3Cb%3E"`);
	});

	test('sums are those of the decimals', () => {
		const report = payouts.uploadLines([line('a', 0.1), line('b', 0.2), line('c', 1.005)]);
		expect(report.title).toBe('3 of 3 lines accepted now: 1.305 in all.');
	});

	test('where the book was not written, it says to keep the report', () => {
		const row = { external_id: 'a', amount: '1', outcome: 'accepted', message: '', advice: '' };
		const earlier = {
			Columns: [COLUMNS],
			Settings: [SETTINGS],
			'Check the list': [{ line: 2, external_id: 'a', amount: 1, recipient: 'a@x', why: '' }],
			'What became of it': [row],
			'Write it into the book': [{ error: 'disk full' }],
		};
		expect(runNode('Report', [], earlier)[0]!.title).toMatch(
			/1 of 1 .* The book could not be written: keep this report\. n8n says: disk full$/,
		);
	});
});

describe('the service’s own number in a response', () => {
	const response = {
		text: ' tx-17 ',
		digits: '12345678901234567890',
		whole: 17,
		// n8n and JSON round it.
		rounded: 2 ** 53,
		half: 17.5,
		nothing: null,
		line: 'a\nb',
		tooLong: 'x'.repeat(201),
		object: { id: 'inner' },
		list: [{ id: 'first' }],
	};
	test.each<[field: string, number: string]>([
		['text', 'tx-17'],
		[' text ', 'tx-17'],
		['digits', '12345678901234567890'],
		['whole', '17'],
		['object.id', 'inner'],
		['list.0.id', 'first'],
		['rounded', ''],
		['half', ''],
		['nothing.id', ''],
		['line', ''],
		['tooLong', ''],
		['object', ''],
		['', ''],
	])('the field "%s" is kept as "%s"', (paymentNumberField, number) => {
		for (const paid of [
			{ outcome: 'accepted', response },
			{ error: { outcome: 'unknown', response } },
		]) {
			const earlier: Record<string, Json[]> = {
				Settings: [{ paymentNumberField }],
				'To be paid': [{ external_id: 'a', plain: '1', recipient: 'x' }],
			};
			expect(runNode('What became of it', [paid], earlier)[0]!.number).toBe(number);
		}
	});
});

describe('lists that were doubled, corrected or reordered', () => {
	test('one payment is one row of the book, with amount and recipient', () => {
		// The list of repro: doubled and not sent, then corrected.
		expect(told(payouts.uploadLines([line('a', '15,00'), line('a', '15,00')]))).toStrictEqual({
			2: 'refused: It ended as notSent. Do it.',
			3: 'no payout: It says the same as line 2, which counts.',
		});
		expect(told(payouts.uploadLines([line('a', '15'), line('a', '15')]))).toStrictEqual({
			2: 'accepted:',
			3: 'no payout: It says the same as line 2, which counts.',
		});
		expect(payouts.sent).toStrictEqual([{ external_id: 'a', amount: 15, recipient: 'a@x' }]);
		expect(payouts.book).toStrictEqual([
			{
				id: 1,
				external_id: 'a',
				amount: '15,00',
				recipient: 'a@x',
				outcome: 'notSent',
				at: 'day 1',
				execution: '1',
			},
			{
				id: 2,
				external_id: 'a',
				amount: '15',
				recipient: 'a@x',
				outcome: 'accepted',
				at: 'day 2',
				execution: '2',
			},
		]);
	});

	test('lines of one identifier that do not say the same are not paid, none of them', () => {
		const report = payouts.uploadLines([
			line('a'),
			line('b', 1),
			line('a', 105),
			line('b', '1.00'),
		]);
		expect(told(report)).toStrictEqual({
			2: 'refused: Lines 2 and 4 have this identifier and do not say the same.',
			3: 'accepted:',
			4: 'refused: Lines 2 and 4 have this identifier and do not say the same.',
			5: 'no payout: It says the same as line 3, which counts.',
		});
		expect(payouts.sent).toStrictEqual([{ external_id: 'b', amount: 1, recipient: 'a@x' }]);
	});

	test.each([
		['another amount', line('inv-1', 105), '105.00 to a@x'],
		['another recipient', line('inv-1', 10.5, 'b@x'), '10.50 to b@x'],
		['an amount that Pay would refuse', line('inv-1', '12,00'), '12,00 to a@x'],
	])('%s than was accepted is said first, with both', (_what, changed, says) => {
		payouts.uploadLines([line('inv-1')]);
		const report = payouts.uploadLines([line('inv-2'), changed]);
		expect(report.parts[0]!.name).toBe('differs');
		expect(report.text).toContain(
			`- Line 3: inv-1, ${says}. The book has 10.50 to a@x under this identifier. ${FIRST.accepted} on day 1 (execution 1).`,
		);
		expect(payouts.sent).toMatchObject([{ external_id: 'inv-2' }]);
	});

	test('a line that is what was sent is told so, however it is written and wherever it stands', () => {
		payouts.uploadLines([line('a'), line('b', 7)]);
		const report = payouts.uploadLines([line('c', 1), line('b', '7.00'), line(' a ', '10.50')]);
		expect(told(report)).toStrictEqual({
			2: 'accepted:',
			3: `before: ${FIRST.accepted} on day 1 (execution 1).`,
			4: `before: ${FIRST.accepted} on day 1 (execution 1).`,
		});
	});

	test('what Pay has sent and the book does not know is in doubt', () => {
		payouts.uploadLines([line('a')]);
		payouts.book.length = 0;
		expect(told(payouts.uploadLines([line('a')]))).toStrictEqual({
			2: 'in doubt: It ended as duplicate. Do it.',
		});
		expect(told(payouts.uploadLines([line('a')]))).toStrictEqual({
			2: 'in doubt: Sent before on day 2 (execution 2).',
		});
	});
});

describe('what the book says of an identifier', () => {
	const row = (outcome: string, decision?: string, source?: string): Json => ({
		external_id: 'X',
		amount: '10.5',
		recipient: 'a@x',
		outcome,
		at: 'day 0',
		execution: '7',
		decision,
		source,
	});
	const notPaid = (outcome: string) => row(outcome, 'It was not paid', 'the service');
	const paid = (outcome: string) => row(outcome, 'It was paid', 'the statement');
	const BEFORE = `before: ${FIRST.accepted} on day 0 (execution 7).`;
	const OPEN = `in doubt: ${FIRST.unknown} on day 0 (execution 7).`;
	test.each<[string, Json[], string]>([
		['accepted', [row('accepted')], BEFORE],
		['unknown', [row('unknown')], OPEN],
		['a duplicate', [row('duplicate')], 'in doubt: Sent before on day 0 (execution 7).'],
		[
			'the service said "failed" of an accepted one, a person "It was paid" in a second row',
			[notPaid('accepted'), paid('')],
			'before: It was paid (the statement).',
		],
		[
			'the same, the rows the other way',
			[paid(''), notPaid('accepted')],
			'before: It was paid (the statement).',
		],
		['two accepted rows, one decided not paid', [notPaid('accepted'), row('accepted')], BEFORE],
		['not paid, then accepted elsewhere', [notPaid('unknown'), row('accepted')], BEFORE],
		['not paid, then unknown elsewhere', [notPaid('unknown'), row('unknown')], OPEN],
		['accepted and not paid, and one in doubt', [notPaid('accepted'), row('unknown')], OPEN],
		['a duplicate beside an unknown one', [row('duplicate'), row('unknown')], OPEN],
		[
			'a decision in other letters',
			[row('unknown', ' it was PAID ', 'Ana')],
			`before: ${FIRST.unknown} on day 0 (execution 7). it was PAID (Ana).`,
		],
		['other words', [row('unknown', 'yes', 'Ana')], `${OPEN} "yes" is no decision.`],
		[
			'a rejected one that a person calls paid',
			[paid('rejected')],
			`before: ${FIRST.rejected} on day 0 (execution 7). It was paid (the statement).`,
		],
		[
			'not paid',
			[notPaid('unknown')],
			`decided: ${FIRST.unknown} on day 0 (execution 7). It was not paid (the service).`,
		],
	])('%s: nothing is sent', (_what, rows, says) => {
		for (const each of rows) payouts.add(each);
		expect(told(payouts.uploadLines([line('X')]))).toStrictEqual({ 2: says });
		expect(payouts.sent).toStrictEqual([]);
	});

	test.each(['rejected', 'notSent'])('%s: it is paid', (outcome) => {
		payouts.add(row(outcome));
		expect(told(payouts.uploadLines([line('X', 11)]))).toStrictEqual({ 2: 'accepted:' });
	});

	test('a row without amount and recipient, such as one by hand, differs from nothing', () => {
		payouts.add({ external_id: 'X', outcome: 'accepted' });
		expect(told(payouts.uploadLines([line('X')]))).toStrictEqual({
			2: `before: ${FIRST.accepted}.`,
		});
	});

	test('a book that cannot be opened: nothing is paid, and it says what to do', () => {
		payouts.add({ error: 'no such table' });
		const report = payouts.uploadLines([line('X')]);
		expect(report.title).toMatch(
			/^Nothing was paid\. The book could not be opened\. On n8n 1, .* n8n says: no such table$/,
		);
		expect([payouts.sent, report.parts]).toStrictEqual([[], []]);
		expect(payouts.decide().title).toMatch(/^The book could not be opened/);
	});
});

describe('what postbacks reported', () => {
	const ACCEPTED = `${FIRST.accepted} on day 1 (execution 1).`;
	const on = (words: string) => `Reported ${words} on day 9 (execution 9).`;
	test.each<{ outcome: string; reports: string[]; says: string; isSent: boolean }>([
		{
			outcome: 'accepted',
			reports: ['paid'],
			says: `before: ${ACCEPTED} ${on('as paid')}`,
			isSent: false,
		},
		{
			outcome: 'unknown',
			reports: ['paid'],
			says: `before: ${FIRST.unknown} on day 1 (execution 1). ${on('as paid')}`,
			isSent: false,
		},
		{
			outcome: 'rejected',
			reports: ['paid'],
			says: `before: ${FIRST.rejected} on day 1 (execution 1). ${on('as paid')}`,
			isSent: false,
		},
		{
			outcome: 'accepted',
			reports: ['failed'],
			says: `decided: ${ACCEPTED} ${on('as failed')}`,
			isSent: false,
		},
		{
			outcome: 'unknown',
			reports: ['failed'],
			says: `decided: ${FIRST.unknown} on day 1 (execution 1). ${on('as failed')}`,
			isSent: false,
		},
		// The report of the very rejection.
		{ outcome: 'rejected', reports: ['failed'], says: 'accepted:', isSent: true },
		{
			outcome: 'accepted',
			reports: ['paid', 'failed'],
			says: `odd: ${ACCEPTED} ${on('as paid')} ${on('as failed')}`,
			isSent: false,
		},
		{
			outcome: 'accepted',
			reports: ['failed', 'paid'],
			says: `odd: ${ACCEPTED} ${on('as failed')} ${on('as paid')}`,
			isSent: false,
		},
		{
			outcome: 'accepted',
			reports: ['otherAmount'],
			says: `odd: ${ACCEPTED} ${on('with another amount')}`,
			isSent: false,
		},
		{
			outcome: 'accepted',
			reports: ['paid', 'refunded'],
			says: `odd: ${ACCEPTED} ${on('as paid')} ${on('as refunded')}`,
			isSent: false,
		},
	])('$outcome, then $reports: the list again', ({ outcome, reports, says, isSent }) => {
		payouts.outcomes.a = outcome;
		payouts.uploadLines([line('a')]);
		for (const word of reports) payouts.report('a', word);
		payouts.outcomes = {};
		expect(told(payouts.uploadLines([line('a')]))).toStrictEqual({ 2: says });
		expect(payouts.sent).toHaveLength(isSent ? 1 : 0);
	});

	test.each([...STATES, { state: 'disputed', hasMoneyMoved: true }])(
		'$state, after a try that was rejected: nothing is sent again where money may have moved',
		({ state, hasMoneyMoved }) => {
			payouts.outcomes.a = 'rejected';
			payouts.uploadLines([line('a')]);
			payouts.report('a', state);
			payouts.outcomes = {};
			const [part] = payouts.uploadLines([line('a')]).parts;
			expect(payouts.sent).toHaveLength(hasMoneyMoved ? 0 : 1);
			const forMoneyMoved = state === 'paid' ? 'before' : 'odd';
			expect(part!.name).toBe(hasMoneyMoved ? forMoneyMoved : 'accepted');
		},
	);

	test('a report that comes before the row of its payment counts all the same', () => {
		payouts.report('a', 'paid');
		expect(told(payouts.uploadLines([line('a', 99)]))).toStrictEqual({
			2: `before: ${on('as paid')}`,
		});
		expect(payouts.sent).toStrictEqual([]);
	});

	test('"failed" after a try that was rejected may be about that one: a person decides', () => {
		payouts.outcomes.a = 'rejected';
		payouts.uploadLines([line('a')]);
		payouts.outcomes = {};
		payouts.uploadLines([line('a')]);
		payouts.report('a', 'failed');
		expect(told(payouts.uploadLines([line('a')]))).toMatchObject({
			2: expect.stringMatching(/^in doubt: .* on day 2 .* Reported as failed on day 9/),
		});
		expect(payouts.decide('a', 'It was not paid', 'Ana').title).toBe(
			'Written down about "a": It was not paid. Nothing is in doubt.',
		);
		expect(payouts.uploadLines([line('a')]).parts[0]!.name).toBe('decided');
	});

	test('the page shows what is odd until a person decides, and a paid one is not undone', () => {
		payouts.uploadLines([line('a'), line('b')]);
		payouts.report('a', 'refunded');
		payouts.report('b', 'paid');
		expect(payouts.decide().parts).toMatchObject([
			{ name: 'odd', lines: [{ external_id: 'a', what: `${ACCEPTED} ${on('as refunded')}` }] },
		]);
		expect(payouts.decide('b', 'It was not paid', 'Ana').title).toContain(
			'Nothing was written down. "b": it was paid (the service reported it).',
		);
		payouts.decide('a', 'It was not paid', 'Ana');
		expect(payouts.decide().parts).toStrictEqual([]);
		expect(payouts.uploadLines([line('a')]).parts[0]!.name).toBe('decided');
	});
});

describe('a decision', () => {
	beforeEach(() => {
		payouts.outcomes.a = 'unknown';
		payouts.outcomes.b = 'unknown';
		payouts.uploadLines([line('a'), line('b', 7), line('c', 1)]);
	});
	const decisions = () => payouts.book.map(({ external_id, decision }) => [external_id, decision]);

	test('an empty form shows what is in doubt', () => {
		expect(payouts.decide().text).toBe(
			[
				'2 in doubt.',
				'',
				`In doubt: 2, 17.50 in all. It may have been paid: do not pay it in another way now. Ask the service whether it was, then say so on this page: ${PAGE}`,
				`- a, 10.50 to a@x. ${FIRST.unknown} on day 1 (execution 1). ${PAGE}?Payment%20in%20doubt=a`,
				`- b, 7.00 to a@x. ${FIRST.unknown} on day 1 (execution 1). ${PAGE}?Payment%20in%20doubt=b`,
			].join('\n'),
		);
	});

	test('is written into the row, and the next list goes by it', () => {
		expect(payouts.decide('a', 'It was paid', 'Ana').title).toBe(
			'Written down about "a": It was paid. 1 in doubt.',
		);
		expect(payouts.decide(' b ', 'It was not paid', 'Ana').title).toBe(
			'Written down about "b": It was not paid. Nothing is in doubt.',
		);
		expect(decisions()).toStrictEqual([
			['a', 'It was paid'],
			['b', 'It was not paid'],
			['c', undefined],
		]);
		expect(told(payouts.uploadLines([line('a'), line('b', 7)]))).toStrictEqual({
			2: `before: ${FIRST.unknown} on day 1 (execution 1). It was paid (Ana).`,
			3: `decided: ${FIRST.unknown} on day 1 (execution 1). It was not paid (Ana).`,
		});
	});

	test('"It was paid" comes after "It was not paid", and nothing after it', () => {
		payouts.decide('a', 'It was not paid', 'Ana');
		expect(payouts.decide('a', 'It was paid', 'the statement').title).toMatch(/^Written down/);
		expect(payouts.book).toHaveLength(4);
		expect(payouts.decide('a', 'It was not paid', 'Bo').title).toMatch(
			/^Nothing was written down\. "a": it was paid \(the statement\)\./,
		);
	});

	test.each([
		['without how one knows', ['a', 'It was paid', ' '], /say how you know/],
		['without an answer', ['a', '', 'Ana'], /Choose whether it was paid/],
		['with other words', ['a', 'Yes', 'Ana'], /Choose whether it was paid/],
		['about what the book does not know', ['z', 'It was paid', 'Ana'], /no payment "z"/],
		['about nothing', ['', 'It was paid', 'Ana'], /no payment ""/],
		['about an accepted one', ['c', 'It was not paid', 'Ana'], /is not in doubt/],
	])('%s is not written', (_how, [id, answer, source], says) => {
		expect(payouts.decide(id, answer, source).title).toMatch(says);
		expect(decisions()).toStrictEqual([
			['a', undefined],
			['b', undefined],
			['c', undefined],
		]);
	});

	test.each(['rejected', 'notSent'])(
		'about what was %s: "It was paid" is written down, and it is not sent again',
		(outcome) => {
			payouts.add({ external_id: 'r', amount: '4', recipient: 'a@x', outcome });
			expect(payouts.decide('r', 'It was paid', 'Ana').title).toBe(
				'Written down about "r": It was paid. 2 in doubt.',
			);
			expect(payouts.book.slice(3)).toMatchObject([
				{ external_id: 'r', outcome },
				{ external_id: 'r', amount: '4', recipient: 'a@x', decision: 'It was paid', source: 'Ana' },
			]);
			expect(told(payouts.uploadLines([line('r', 4)]))).toStrictEqual({
				2: 'before: It was paid (Ana).',
			});
			expect(payouts.sent).toStrictEqual([]);
		},
	);

	test('"It was not paid" about what was rejected is not written: it says what happens next', () => {
		payouts.add({ external_id: 'r', amount: '4', recipient: 'a@x', outcome: 'rejected' });
		expect(payouts.decide('r', 'It was not paid', 'Ana').title).toBe(
			'Nothing was written down: "r" was not accepted, so it is sent when the list is uploaded again. If it is not to be paid, take its line out of the list. 2 in doubt.',
		);
		expect(payouts.book).toHaveLength(4);
	});

	test('of a payment with several open rows is written into each', () => {
		payouts.add({ external_id: 'a', outcome: 'duplicate' });
		payouts.decide('a', 'It was not paid', 'Ana');
		expect(payouts.decide().title).toBe('1 in doubt.');
	});
});

describe('a file', () => {
	/** What becomes of a CSV. */
	const csv = (text: string) => told(payouts.upload([{ text }]));
	const sentNow = () => payouts.sent.map(({ external_id, amount }) => `${external_id} ${amount}`);

	test('what is no payout line is told with its number, and not paid', () => {
		const said = csv(
			'id;amount;key\r\na;10.50;a@x\r\n\r\n;;\r\nb;7;b@x\r\nb;7;b@x\r\nTotal;17.50;\r\nTotal\r\n\r\n',
		);
		expect(said).toStrictEqual({
			2: 'accepted:',
			3: 'no payout: The line is empty.',
			4: 'no payout: The line is empty.',
			5: 'accepted:',
			6: 'no payout: It says the same as line 5, which counts.',
			7: 'no payout: It has no recipient.',
			8: 'no payout: It has no amount.',
		});
		expect(sentNow()).toStrictEqual(['a 10.5', 'b 7']);
	});

	test('a last line with the sum of those above it is no payout', () => {
		expect(csv('id,amount,key\na,10.50,a@x\nb,7,b@x\nTotal,17.50,2 payouts')[4]).toMatch(
			/^no payout: Its amount is the sum of the lines above: a total\?/,
		);
		expect(sentNow()).toStrictEqual(['a 10.5', 'b 7']);
		// Two lines of one amount are two payouts.
		csv('id,amount,key\nc,5,a@x\nd,5,a@x');
		expect(sentNow()).toStrictEqual(['c 5', 'd 5']);
	});

	test.each([
		['a comma in an amount', 'id,amount,key\na,10,50,a@x'],
		['a cell that lacks', 'id,amount,key,name\na,10,Ana'],
	])('%s moves the cells: the line is not paid', (_what, text) => {
		expect(csv(text)[2]).toMatch(
			/^refused: It has \d cells, and the first line has another number/,
		);
		expect(sentNow()).toStrictEqual([]);
	});

	test('quotes, tabs, other columns, letters of the header, and cells too many that are empty', () => {
		csv('Name\tID\tAmount\tKEY\r"Ana ""A""\nof\tB"\tx\t1\ta@x\t\t\rBo\ty\t2\tb@x');
		expect(sentNow()).toStrictEqual(['x 1', 'y 2']);
		expect(told(payouts.upload([{ text: 'id\tamount\tkey\n"a\nb"\t\t\nc\t\t' }]))).toStrictEqual({
			2: 'no payout: It has no amount.',
			4: 'no payout: It has no amount.',
		});
	});

	test('a sheet: numbers as identifiers, an empty line, a number as recipient', () => {
		const rows = [
			['id', 'amount', 'key'],
			[1002, 7, 'b@x'],
			['', '', ''],
			['c', 3, 5511999990000],
		];
		expect(told(payouts.upload(rows.map((row) => ({ row }))))).toStrictEqual({
			2: 'accepted:',
			3: 'no payout: The line is empty.',
			4: expect.stringMatching(/^refused: The recipient is a number in the sheet/),
		});
		expect(payouts.sent).toStrictEqual([{ external_id: '1002', amount: 7, recipient: 'b@x' }]);
	});

	test.each([
		['', /^Nothing was paid\. The file is empty\.$/],
		['\n\n', /The file is empty/],
		['id;amount;key\n;;\n', /no line below the names of its columns/],
		['nr;amount;key\na;1;b', /no column "id"\. Its line 1 has: "nr", "amount", "key"\. Enter/],
		['id;amount;amount;key\na;1;2;b', /more than one column "amount"/],
		['id;amount;key\na;1;"b\nc;2;d', /The quote that begins in line 2 has no end/],
	])('%j is refused whole', (text, says) => {
		const report = payouts.upload([{ text }]);
		expect(report.title).toMatch(says);
		expect([payouts.sent, payouts.book]).toStrictEqual([[], []]);
	});

	test('one that n8n cannot read is refused, with n8n’s words', () => {
		expect(payouts.upload([{ error: 'not in xlsx format' }]).title).toBe(
			'Nothing was paid. The file could not be read: not in xlsx format',
		);
	});
});

describe('a decimal comma in a file that commas divide', () => {
	test.each([
		'id,key,amount,note\na,a@x,10,50,',
		'id,key,amount,note\na,a@x,10,50',
		'id,amount,key,note\na,10,50,a@x,',
	])('is not paid as 10: %j', (text) => {
		const report = payouts.upload([{ text }]);
		expect(payouts.sent).toStrictEqual([]);
		expect(report.parts.map(({ name }) => name)).toStrictEqual(['refused']);
	});

	test('an amount in quotes, and a note that is no number of two digits, are read', () => {
		payouts.upload([{ text: 'id,key,amount,note\na,a@x,10.50,12\nb,b@x,7,monthly\nc,c@x,8,' }]);
		expect(payouts.sent.map(({ amount }) => amount)).toStrictEqual([10.5, 7, 8]);
	});
});

test('a list of 10,000 lines is checked in time that grows with the list', () => {
	const begun = process.cpuUsage();
	const report = payouts.uploadLines(
		Array.from({ length: 10_000 }, (_, index) => line(`p-${index}`, index + 1)),
	);
	expect(payouts.sent).toHaveLength(10_000);
	expect(report.title).toMatch(/^10000 of 10000/);
	expect(process.cpuUsage(begun).user).toBeLessThan(10_000_000);
});

describe('with Decimal Sign set to comma', () => {
	beforeEach(() => {
		payouts.decimalSign = 'comma';
	});

	test('the book keeps the amount that was sent, and knows it again', () => {
		payouts.uploadLines([line('a', '10,50'), line('b', '1.234,56')]);
		expect(payouts.sent.map(({ amount }) => amount)).toStrictEqual([10.5, 1234.56]);
		expect(payouts.book.map(({ amount }) => amount)).toStrictEqual(['10.5', '1234.56']);
		const again = payouts.uploadLines([line('a', '10,50'), line('b', '1.234,56')]);
		expect(again.parts.map(({ name }) => name)).toStrictEqual(['before']);
		expect(payouts.sent).toStrictEqual([]);
	});

	test.each(['105', '105,00', '1,05'])(
		'%s is another amount than the 10,50 that was sent',
		(other) => {
			payouts.uploadLines([line('a', '10,50')]);
			const report = payouts.uploadLines([line('a', other)]);
			expect(report.parts.map(({ name }) => name)).toStrictEqual(['differs']);
		},
	);

	test('what is in doubt is kept with its amount, and summed up', () => {
		payouts.outcomes.a = 'unknown';
		payouts.outcomes.b = 'unknown';
		const report = payouts.uploadLines([line('a', '10,50'), line('b', '1.000')]);
		expect(report.parts[0]?.count).toBe('2, 1010.50 in all');
		expect(payouts.book.map(({ amount }) => amount)).toStrictEqual(['10.50', '1000']);
	});

	test('a total of such amounts is no payout', () => {
		payouts.uploadLines([line('a', '10,50'), line('b', '9,50'), line('c', '20,00')]);
		expect(payouts.sent.map(({ external_id }) => external_id)).toStrictEqual(['a', 'b']);
	});
});
