import { randomUUID } from 'node:crypto';
import { itemsOf, type Execution, type N8n } from '../../../dev/n8n';
import { chain, node, pay, splitItems, start } from '../../../dev/workflow';
import type { Sandbox } from '../../../sandbox/service';
import { codeSpansOf } from '../../markdown';
import { newIds, publish, NEWEST, withN8n, type Credential } from '../nodes';

/*
 * "Pay from a Google Sheet" of docs/pay-a-sheet.md, without Google: a list stands in place of the sheet's
 * rows, and a Set node in place of what writes the outcomes. The expressions are those of the page.
 */

/** An expression that the page says to enter, as n8n stores it. */
function asOnThePage(expression: string): string {
	expect(codeSpansOf('docs/pay-a-sheet.md')).toContain(expression);
	return `=${expression}`;
}

/** A condition of n8n's Filter about a text. */
const textCondition = (expression: string, operation: string) => ({
	id: randomUUID(),
	leftValue: asOnThePage(expression),
	rightValue: '',
	operator: { type: 'string', operation, singleValue: true },
});

/** A field of n8n's Set node. */
const textField = (name: string, expression: string) => ({
	id: randomUUID(),
	name,
	value: asOnThePage(expression),
	type: 'string',
});

function payFromSheet() {
	const rows = { ...splitItems(), name: 'Rows' };
	const conditions = {
		options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
		conditions: [
			textCondition('{{ $json.id }}', 'notEmpty'),
			textCondition('{{ $json.outcome }}', 'empty'),
		],
		combinator: 'and',
	};
	const filter = node(
		'Filter',
		'n8n-nodes-base.filter',
		{ conditions, options: {} },
		{ typeVersion: 2.2 },
	);
	const payment = pay(
		'Pay',
		{
			creditParty: { key: asOnThePage('{{ $json.key }}') },
			amount: asOnThePage('{{ $json.amount }}'),
			external_id: asOnThePage('{{ $json.id }}'),
		},
		{ onError: 'continueRegularOutput' },
	);
	const assignments = [
		textField('id', "{{ $('Rows').item.json.id }}"),
		textField('outcome', '{{ $json.outcome }}'),
		textField('why', "{{ $json.error?.message ?? '' }}"),
	];
	const update = node(
		'Update',
		'n8n-nodes-base.set',
		{ assignments: { assignments }, options: {} },
		{ typeVersion: 3.4 },
	);
	return chain('Pay from a sheet', [start(), rows, filter, payment, update]);
}

describe.each(NEWEST)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));

	/** What would be written into the sheet. */
	const writtenBy = (execution: Execution) => itemsOf(execution, 'Update');

	test('each row gets its outcome by its id, and a second run pays none again', async () => {
		const [good, wrong, lost] = newIds(3) as [string, string, string];
		const recipient = { key: 'ana@example.com' };
		const sheet = [
			{ ...recipient, id: good, amount: 12.5, outcome: '' },
			{ ...recipient, id: '', amount: 1 },
			{ ...recipient, id: wrong, amount: 'twelve' },
			{ ...recipient, id: lost, amount: 5 },
			{ ...recipient, id: 'paid-before', amount: 7, outcome: 'accepted' },
		];
		const { run } = await publish(n8n, payFromSheet(), payApi);
		sandbox.faultFor = ({ body }) =>
			JSON.stringify(body).includes(lost) ? { kind: 'status', status: 503 } : undefined;
		const first = await run(...sheet);
		sandbox.faultFor = undefined;
		expect(writtenBy(first)).toStrictEqual([
			{ id: good, outcome: 'accepted', why: '' },
			{ id: wrong, outcome: 'notSent', why: expect.stringContaining('must be a number') },
			{ id: lost, outcome: 'unknown', why: expect.stringContaining('It is not known') },
		]);

		// As after a crash: no outcome was written.
		const second = await run(...sheet);
		expect(writtenBy(second)).toStrictEqual([
			{ id: good, outcome: 'duplicate', why: expect.stringContaining(good) },
			{ id: wrong, outcome: 'notSent', why: expect.stringContaining('must be a number') },
			{ id: lost, outcome: 'duplicate', why: expect.stringContaining(lost) },
		]);
		const sent = sandbox.bodies('payment').map(({ external_id }) => external_id);
		expect(sent).toStrictEqual([good, lost]);
	});
});
