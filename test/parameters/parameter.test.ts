import type { INodeProperties } from 'n8n-workflow';
import { amountField } from '../../nodes/Pay/parameters/amount';
import {
	asTyped,
	mayBeExpression,
	refuseItemDataInTool,
	requireFieldByField,
	requireValues,
	showFor,
} from '../../nodes/Pay/parameters/parameter';
import { creditParty } from '../../nodes/Pay/parameters/recipient';
import { externalIdField } from '../../nodes/Pay/parameters/text';
import { refusalOf } from '../refusal';
import { OPERATIONS } from '../serviceOperations';

const TEXT: INodeProperties = { displayName: 'Name', name: 'name', type: 'string', default: '' };
const COLLECTION: INodeProperties = {
	displayName: 'Payer',
	name: 'payer',
	type: 'collection',
	typeOptions: { multipleValues: true },
	default: {},
	options: [TEXT],
};
const LIST: INodeProperties = {
	displayName: 'Split Recipients',
	name: 'split',
	type: 'fixedCollection',
	default: {},
	options: [{ displayName: 'Recipient', name: 'recipient', values: [TEXT, COLLECTION] }],
};

test.each([COLLECTION, LIST])('behind a collection stands a hidden field of its name', (field) => {
	const hidden = { ...field, type: 'hidden', typeOptions: undefined, options: undefined };
	expect(asTyped(field)).toStrictEqual([field, hidden]);
});

test('any other field stands alone', () => {
	expect(asTyped(TEXT)).toStrictEqual([TEXT]);
});

test('fields are shown for one resource and operation, and where they were shown before', () => {
	const displayOptions = { hide: { a: [1] }, show: { postback: ['url'] } };
	const shown = showFor([{ ...TEXT, displayOptions }, COLLECTION], 'payment', 'create');
	expect(shown.map((field) => field.displayOptions)).toStrictEqual([
		{
			hide: { a: [1] },
			show: { resource: ['payment'], operation: ['create'], postback: ['url'] },
		},
		{ show: { resource: ['payment'], operation: ['create'] } },
		{ show: { resource: ['payment'], operation: ['create'] } },
	]);
	expect(shown.map(({ name, type }) => [name, type])).toStrictEqual([
		['name', 'string'],
		['payer', 'collection'],
		['payer', 'hidden'],
	]);
});

describe('collections are filled in field by field', () => {
	const FORM = [TEXT, COLLECTION, LIST];

	test.each<[string, object]>([
		['nothing typed', {}],
		['a text that is an expression', { name: '={{ 1 }}' }],
		['a member that is one', { payer: { name: '={{ 1 }}' } }],
		['a group that was not opened', { split: {} }],
		['one entry', { split: { recipient: { name: 'a' } } }],
		['entries', { split: { recipient: [{ name: 'a' }, { payer: { name: 'b' } }] } }],
	])('%s is taken', (_name, typed) => {
		expect(refusalOf(() => requireFieldByField(FORM, typed))).toBeUndefined();
	});

	const MESSAGE = 'must be filled in field by field, not as one expression';
	test.each<[string, object, string, string]>([
		['a collection', { payer: '={{ $json.payer }}' }, 'payer', 'Payer'],
		['a list', { split: '={{ 1 }}' }, 'split', 'Split Recipients (split)'],
		['a group', { split: { recipient: '=' } }, 'split', 'Split Recipients (split)'],
		['the second entry', { split: { recipient: [{}, '='] } }, 'split', 'Split Recipients (split)'],
		[
			'a collection of an entry',
			{ split: { recipient: [{ payer: '=' }] } },
			'split.payer',
			'Payer (split.payer)',
		],
	])('%s that is one expression is refused', (_name, typed, field, label) => {
		expect(refusalOf(() => requireFieldByField(FORM, typed))).toMatchObject({
			field,
			message: `${label} ${MESSAGE}`,
			advice: 'Fill in its fields. Each of them may hold an expression of its own.',
		});
	});

	test('a collection within a collection is named by its path', () => {
		const options = { ...COLLECTION, name: 'options', options: [COLLECTION] };
		const typed = { options: { payer: '=' } };
		expect(refusalOf(() => requireFieldByField([options], typed))?.field).toBe('options.payer');
	});
});

test.each<[unknown, boolean]>([
	['=a', true],
	['a', false],
	['a=b', false],
	['', false],
	[undefined, true],
	[null, false],
	[7, false],
	[{ a: 'x', b: ['y', '={{ 1 }}'] }, true],
	[{ a: 'x', b: ['y'] }, false],
	[{}, false],
])('%j may be an expression: %p', (typed, expected) => {
	expect(mayBeExpression(typed)).toBe(expected);
});

describe('in a tool', () => {
	test.each([
		'={{ $json.amount }}',
		'={{ $binary.data }}',
		'={{ $input.first() }}',
		'={{ $item }}',
		'={{ $node["Pay"].json }}',
		"={{ $('Invoice').item.json.amount }}",
		"={{ $('Invoice') ?. item.json.amount }}",
		"={{ $('Invoice').pairedItem(0).json.amount }}",
	])('%s is refused', (typed) => {
		const fields = [externalIdField, amountField];
		const error = refusalOf(() =>
			refuseItemDataInTool(fields, { external_id: 'a', amount: typed }),
		);
		expect(error).toMatchObject({
			field: 'amount',
			message:
				'Amount reads its item, which in a tool is the first one, or holds what the model says',
			advice:
				"Let the model fill it in ($fromAI), or take it from a node: {{ $('Invoice').first().json.amount }}.",
		});
	});

	test.each<[string, unknown]>([
		['what the model fills in', "={{ $fromAI('amount') }}"],
		['the first item of a node', "={{ $('Invoice').first().json.amount }}"],
		['the items of a node', "={{ $('Invoice').items }}"],
		['a text that only looks so', '$json.amount'],
		['a longer name', '={{ $jsonText }}'],
		['nothing', null],
		['no value', undefined],
	])('%s is taken', (_name, typed) => {
		expect(refusalOf(() => refuseItemDataInTool([amountField], { amount: typed }))).toBeUndefined();
	});

	test('a member at any depth counts, and a field that is not named does not', () => {
		const typed = { creditParty: { list: [{ key: '={{ $json.key }}' }] } };
		expect(refusalOf(() => refuseItemDataInTool(creditParty.fields, typed))?.field).toBe(
			'creditParty',
		);
		expect(refusalOf(() => refuseItemDataInTool([amountField], typed))).toBeUndefined();
	});
});

describe('an expression that gives nothing is refused', () => {
	const form = {
		description: [...OPERATIONS.payment.description, ...OPERATIONS.qrCode.description],
		neverEmpty: new Set(['creditParty.key']),
	};
	const refused = (typed: unknown, value: unknown, path: string) =>
		refusalOf(() => requireValues(typed, value, path, form));

	const DESCRIPTION = 'Description (payerQuestion) is missing: its expression gives nothing';
	const KEY = 'Key (creditParty.key) is missing: its expression gives nothing';
	test.each<[string, unknown, unknown, string, string]>([
		['undefined', '={{ $json.a }}', undefined, 'payerQuestion', DESCRIPTION],
		['null', '={{ $json.a }}', null, 'payerQuestion', DESCRIPTION],
		['an empty text, where none may be', { key: '=' }, { key: '' }, 'creditParty', KEY],
		['blanks, where none may be', { key: '=' }, { key: ' ' }, 'creditParty', KEY],
		['a collection that is gone', { key: '=' }, undefined, 'creditParty', KEY],
	])('%s', (_name, typed, value, path, message) => {
		expect(refused(typed, value, path)?.message).toBe(message);
	});

	test.each<[string, unknown, unknown, string]>([
		['an empty text elsewhere', '={{ $json.a }}', '', 'payerQuestion'],
		['0, where no empty text may be', { key: '=' }, { key: 0 }, 'creditParty'],
		['false', '=', false, 'a'],
		['nothing that was typed as nothing', null, undefined, 'a'],
		['a text that is no expression', 'a', undefined, 'a'],
		['a number that was typed', 7, undefined, 'a'],
	])('not %s', (_name, typed, value, path) => {
		expect(refused(typed, value, path)).toBeUndefined();
	});

	test.each([
		[{ batching: '=' }, 'options', 'batching', 'Batching'],
		[
			{ recipient: [{ username: 'a' }, { username: '=' }] },
			'split',
			'split.recipient[1].username',
			'Username (split.recipient[1].username)',
		],
		[
			{ batch: { batchSize: '=' } },
			'options.batching',
			'batching.batch.batchSize',
			'Items per Batch (batching.batch.batchSize)',
		],
		[{ key: { type: '=' } }, 'creditParty', 'creditParty.key.type', 'creditParty.key.type'],
		[{ options: '=' }, 'a', 'a.options', 'a.options'],
	])('it is named by its path, an option by its own name: %j', (typed, path, field, label) => {
		expect(refused(typed, {}, path)).toMatchObject({
			field,
			message: `${label} is missing: its expression gives nothing`,
			advice: 'Check that the input item has the field that the expression asks for.',
		});
	});
});
