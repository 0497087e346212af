import type { INodeProperties } from 'n8n-workflow';
import { amountField } from '../../nodes/Pay/fields/amount';
import {
	asTyped,
	mayBeExpression,
	readChoice,
	readSwitch,
	refuseExpressions,
	refuseItemDataInTool,
	readFieldByField,
	readGivenValues,
	showFor,
} from '../../nodes/Pay/fields/expressions';
import { recipientField } from '../../nodes/Pay/fields/recipient';
import { externalIdName } from '../../nodes/Pay/fields/text';
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

test('a choice is one of its list, as it is written there', () => {
	const read = (value: unknown) => readChoice(value, TEXT, ['fields', 'json'], 'Choose one.');
	expect(read('json')).toBe('json');
	expect(refusalOf(() => read('JSON'))?.field).toBe('name');
	expect(refusalOf(() => readChoice('', TEXT, ['a']))?.field).toBe('name');
});

test('a switch is true or false', () => {
	expect([true, false].map((value) => readSwitch(value, TEXT))).toStrictEqual([true, false]);
});

test.each([
	[undefined, 'undefined'],
	[null, 'null'],
	['a secret', 'text'],
	[1, 'a number'],
	[{}, 'an object'],
])(
	'a switch that is %p is refused, and its value not shown, which may be a secret',
	(value, is) => {
		expect(refusalOf(() => readSwitch(value, TEXT))).toMatchObject({
			field: 'name',
			message: `Name must be true or false, but is ${is}`,
			advice: 'Turn it on or off. An expression in it must return true or false.',
		});
	},
);

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
		{ hide: { a: [1] }, show: { resource: ['payment'], operation: ['create'], postback: ['url'] } },
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

	test.each<{ name: string; typed: object }>([
		{ name: 'nothing typed', typed: {} },
		{ name: 'a text that is an expression', typed: { name: '={{ 1 }}' } },
		{ name: 'a member that is one', typed: { payer: { name: '={{ 1 }}' } } },
		{ name: 'a group that was not opened', typed: { split: {} } },
		{ name: 'one entry', typed: { split: { recipient: { name: 'a' } } } },
		{ name: 'entries', typed: { split: { recipient: [{ name: 'a' }, { payer: { name: 'b' } }] } } },
	])('$name is taken', ({ typed }) => {
		expect(refusalOf(() => readFieldByField(FORM, typed))).toBeUndefined();
	});

	test.each<{ name: string; typed: object; field: string }>([
		{ name: 'a collection', typed: { payer: '={{ $json.payer }}' }, field: 'payer' },
		{ name: 'a list', typed: { split: '={{ 1 }}' }, field: 'split' },
		{ name: 'a group', typed: { split: { recipient: '=' } }, field: 'split' },
		{ name: 'the second entry', typed: { split: { recipient: [{}, '='] } }, field: 'split' },
		{
			name: 'a collection of an entry',
			typed: { split: { recipient: [{ payer: '=' }] } },
			field: 'split.payer',
		},
	])('$name that is one expression is refused', ({ typed, field }) => {
		expect(refusalOf(() => readFieldByField(FORM, typed))?.field).toBe(field);
	});

	test('a collection within a collection is named by its path', () => {
		const options = { ...COLLECTION, name: 'options', options: [COLLECTION] };
		const typed = { options: { payer: '=' } };
		expect(refusalOf(() => readFieldByField([options], typed))?.field).toBe('options.payer');
	});
});

test.each<{ typed: unknown; expected: boolean }>([
	{ typed: '=a', expected: true },
	{ typed: 'a', expected: false },
	{ typed: 'a=b', expected: false },
	{ typed: '', expected: false },
	{ typed: undefined, expected: true },
	{ typed: null, expected: false },
	{ typed: 7, expected: false },
	{ typed: { a: 'x', b: ['y', '={{ 1 }}'] }, expected: true },
	{ typed: { a: 'x', b: ['y'] }, expected: false },
	{ typed: {}, expected: false },
])('$typed may be an expression: $expected', ({ typed, expected }) => {
	expect(mayBeExpression(typed)).toBe(expected);
});

describe('an option that only a person may set', () => {
	const refused = (typedOptions: unknown) =>
		refusalOf(() => refuseExpressions([TEXT], typedOptions));

	test('is refused as an expression, and named', () => {
		expect(refused({ name: '={{ true }}' })?.field).toBe('name');
	});

	test.each([undefined, {}, { name: true }, { name: 'a=b' }, { other: '={{ 1 }}' }])(
		'is taken from %p',
		(typedOptions) => {
			expect(refused(typedOptions)).toBeUndefined();
		},
	);
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
		const fields = [externalIdName, amountField];
		const error = refusalOf(() =>
			refuseItemDataInTool(fields, { external_id: 'a', amount: typed }),
		);
		expect(error?.field).toBe('amount');
	});

	test.each<{ name: string; typed: unknown }>([
		{ name: 'what the model fills in', typed: "={{ $fromAI('amount') }}" },
		{ name: 'the first item of a node', typed: "={{ $('Invoice').first().json.amount }}" },
		{ name: 'the items of a node', typed: "={{ $('Invoice').items }}" },
		{ name: 'a text that only looks so', typed: '$json.amount' },
		{ name: 'a longer name', typed: '={{ $jsonText }}' },
		{ name: 'nothing', typed: null },
		{ name: 'no value', typed: undefined },
	])('$name is taken', ({ typed }) => {
		expect(refusalOf(() => refuseItemDataInTool([amountField], { amount: typed }))).toBeUndefined();
	});

	test('a member at any depth counts, and a field that is not named does not', () => {
		const typed = { creditParty: { list: [{ key: '={{ $json.key }}' }] } };
		expect(refusalOf(() => refuseItemDataInTool([recipientField], typed))?.field).toBe(
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
		refusalOf(() => readGivenValues(typed, value, path, form));

	test.each<{ name: string; typed: unknown; value: unknown; path: string; field: string }>([
		{
			name: 'undefined',
			typed: '={{ $json.a }}',
			value: undefined,
			path: 'payerQuestion',
			field: 'payerQuestion',
		},
		{
			name: 'null',
			typed: '={{ $json.a }}',
			value: null,
			path: 'payerQuestion',
			field: 'payerQuestion',
		},
		{
			name: 'an empty text, where none may be',
			typed: { key: '=' },
			value: { key: '' },
			path: 'creditParty',
			field: 'creditParty.key',
		},
		{
			name: 'blanks, where none may be',
			typed: { key: '=' },
			value: { key: ' ' },
			path: 'creditParty',
			field: 'creditParty.key',
		},
		{
			name: 'a collection that is gone',
			typed: { key: '=' },
			value: undefined,
			path: 'creditParty',
			field: 'creditParty.key',
		},
	])('where it gives $name', ({ typed, value, path, field }) => {
		expect(refused(typed, value, path)?.field).toBe(field);
	});

	test.each<{ name: string; typed: unknown; value: unknown; path: string }>([
		{ name: 'an empty text elsewhere', typed: '={{ $json.a }}', value: '', path: 'payerQuestion' },
		{
			name: '0, where no empty text may be',
			typed: { key: '=' },
			value: { key: 0 },
			path: 'creditParty',
		},
		{ name: 'false', typed: '=', value: false, path: 'a' },
		{ name: 'nothing that was typed as nothing', typed: null, value: undefined, path: 'a' },
		{ name: 'a text that is no expression', typed: 'a', value: undefined, path: 'a' },
		{ name: 'a number that was typed', typed: 7, value: undefined, path: 'a' },
	])('$name is not', ({ typed, value, path }) => {
		expect(refused(typed, value, path)).toBeUndefined();
	});

	test.each([
		{ typed: { batching: '=' }, path: 'options', field: 'batching' },
		{
			typed: { recipient: [{ username: 'a' }, { username: '=' }] },
			path: 'split',
			field: 'split.recipient[1].username',
		},
		{ typed: { options: '=' }, path: 'a', field: 'a.options' },
	])('it is named by its path, an option by its own name: $typed', ({ typed, path, field }) => {
		expect(refused(typed, {}, path)?.field).toBe(field);
	});
});
