import fc from 'fast-check';
import assert from 'node:assert/strict';
import {
	changingIdHint,
	documentedMembers,
	readOptionalIdentifier,
	readText,
	OWN_ID,
	readExternalId,
	readIdentifier,
	readMembers,
	refuseInventedId,
	withoutEmpty,
} from '../../nodes/Pay/fields/text';
import type { Words } from '../../nodes/Pay/service/contract';
import { refusalOf } from '../refusal';
import { runs } from '../runs';

const WORDS: Words = {
	noun: 'refund',
	plural: 'refunds',
	pastParticiple: 'refunded',
	whenUnknown: { warning: undefined, advice: (external_id) => external_id, reminder: undefined },
};
const readOwnId = (value: unknown) => readExternalId(value, OWN_ID);
const KEY_FIELD = { name: 'creditParty.key', displayName: 'Key' };
const RECIPIENT_FIELD = { name: 'creditParty', displayName: 'Recipient' };
const SPLIT_FIELD = { name: 'split', displayName: 'Split Recipients' };

/** A text inside of an object. */
const textOf = (name: 'key' | 'name', read = readText) => ({
	field: { name, displayName: name === 'key' ? 'Key' : 'Name' },
	read,
});

describe('an optional text', () => {
	test.each([
		{ value: 'a', expected: 'a' },
		{ value: 12345678901, expected: '12345678901' },
		{ value: 1.5, expected: '1.5' },
		{ value: true, expected: 'true' },
		{ value: 'not null', expected: 'not null' },
		{ value: 'NaN?', expected: 'NaN?' },
		{ value: '', expected: undefined },
		{ value: null, expected: undefined },
		{ value: undefined, expected: undefined },
	])('$value is read as $expected', ({ value, expected }) => {
		expect(readText(value, KEY_FIELD)).toBe(expected);
	});

	// The last two are of n8n's dates and of JavaScript's.
	test.each([
		'undefined',
		' null ',
		'NaN',
		'a [object Object]',
		'x__UNKNOWN__',
		'Invalid DateTime',
		'Invalid Date',
	])('%p is refused: a failed expression leaves it', (value) => {
		expect(refusalOf(() => readText(value, KEY_FIELD))?.field).toBe('creditParty.key');
	});

	test.each([() => 'x', Symbol('x')])('%p is refused', (value) => {
		expect(refusalOf(() => readText(value, KEY_FIELD))?.field).toBe('creditParty.key');
	});

	// Typed into a field on Fixed, n8n 2.41 leaves it as it is.
	test.each([
		'{{ $json.orderId }}',
		'order-{{ $json.id }} }}',
		'{{\n$json.id\n}}',
		'{{ Math.round($json.total) }}',
		'$json.orderId',
		' { $json.orderId }',
		'{{ $json.orderId }',
		'$json.orderId }}',
		"$('Order').item.json.id",
		'$execution.id',
		'Hi {{name}}, {{ $json.id }}',
	])('%j is refused: an expression that n8n did not take for one', (value) => {
		expect(refusalOf(() => readText(value, KEY_FIELD))?.message).toBe(
			'Key (creditParty.key) contains an expression as plain text',
		);
	});

	test.each([
		'{ a }',
		'}} $ {{',
		'{{',
		'Hi {{name}}',
		'Hi {{name}}, US$ 5, see {{link}}',
		'{{\\bf x}}',
		'US$ 5',
		'$jsonp',
		'$(5)',
	])('%j is an ordinary text', (value) => {
		expect(readText(value, KEY_FIELD)).toBe(value);
	});
});

describe('an External ID', () => {
	test.each([
		[' order-7 ', 'order-7'],
		['Zahlung 7 東京', 'Zahlung 7 東京'],
		['a\ud83d\ude00', 'a\ud83d\ude00'],
		['cafe\u0301-7', 'caf\u00e9-7'],
		[7, '7'],
		[Number.MAX_SAFE_INTEGER, '9007199254740991'],
	])('%j is read as %j', (value, expected) => {
		expect(readOwnId(value)).toBe(expected);
	});

	test.each(['', ' ', null, undefined, true, 1.5, NaN, 2 ** 53, {}, ['a'], 'undefined'])(
		'%p is refused',
		(value) => {
			expect(refusalOf(() => readOwnId(value))?.field).toBe('external_id');
		},
	);

	test.each(['a\ud83d', '\ude00b', 'x\udfffy'])('%j, half of a pair, is refused', (text) => {
		expect(refusalOf(() => readOwnId(text))?.field).toBe('external_id');
	});

	test.each([
		0x0a, 0x00, 0x7f, 0x85, 0x200b, 0xad, 0x2060, 0x200d, 0x200f, 0xfeff, 0xa0, 0xfe0f, 0x2002,
		0x34f, 0xe0041, 0x2800, 0xfffc, 0x2028, 0x1d159,
	])('that holds a character that nobody sees is refused, and its code named: %d', (code) => {
		const named = code.toString(16).toUpperCase().padStart(4, '0');
		const read = () => readOwnId(`payout${String.fromCodePoint(code)}7`);
		expect(refusalOf(read)?.message).toContain(`(U+${named})`);
	});
});

test.each([
	{ value: undefined, expected: undefined },
	{ value: '', expected: undefined },
	{ value: ' a ', expected: 'a' },
])('an optional identifier $value is read as $expected', ({ value, expected }) => {
	expect(readOptionalIdentifier(value, KEY_FIELD)).toBe(expected);
});

// What is refused: test/engine/values.test.ts.
test.each([
	{ what: 'nothing in it', value: {}, expected: undefined },
	{ what: 'empty texts', value: { key: '', name: '' }, expected: undefined },
	{ what: 'one member', value: { key: 'k', name: '' }, expected: { key: 'k' } },
	{ what: 'a number', value: { key: 5 }, expected: { key: '5' } },
])('an object of texts with $what is read as $expected', ({ value, expected }) => {
	const texts = [textOf('key', readOptionalIdentifier), textOf('name')];
	expect(readMembers(value, RECIPIENT_FIELD, texts)).toStrictEqual(expected);
});

describe('an External ID that an agent may not use for what goes out once', () => {
	test.each([
		["={{ $fromAI('id') }}", '$fromAI'],
		['={{ $fromai("id", ``, "string") }}', '$fromai'],
		[
			"={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('External_ID', ``, 'string') }}",
			'$fromAI',
		],
		["={{ 'pay-' + $execution.id }}", '$execution.id'],
		['={{ $now.toMillis() }}', '$now'],
		['={{ Math.random() }}', 'random('],
		['={{ $tool.parameters.id }}', '$tool'],
	])('%s is none, because of %s', (typed, part) => {
		const refusal = refusalOf(() => refuseInventedId(typed, WORDS));
		expect(refusal?.message).toBe(
			`External ID (external_id) contains ${part}, so the same refund would be refunded twice if an AI agent is asked for it twice`,
		);
	});

	test.each([
		"={{ $('Order').first().json.orderId }}",
		"={{ 'payment-' + $('Chat').first().json.sessionId }}",
		"={{ $('Order').first().json.Date.slice(0, 10) }}",
		'$fromAI as plain text',
		'invoice-7',
		undefined,
	])('%p may be used', (typed) => {
		expect(() => refuseInventedId(typed, WORDS)).not.toThrow();
	});
});

describe('a hint where an identifier changes with each try', () => {
	test.each([
		{ typed: "={{ 'payout-' + $now.toMillis() }}", part: '$now' },
		{ typed: '=payout-{{ $today }}', part: '$today' },
		{ typed: '={{ Math.random() }}', part: 'random(' },
		{ typed: '={{ $executionId }}', part: '$executionId' },
		{ typed: '={{ $json.id + $runIndex }}', part: '$runIndex' },
		{ typed: '={{ new Date().getTime() }}', part: 'new Date' },
		{ typed: '={{ Date.now() }}', part: 'Date.' },
		{ typed: '={{ DateTime.now() }}', part: 'DateTime.' },
		{ typed: '={{ Date?.now() }}', part: 'Date?.' },
		{ typed: '={{ $execution?.["id"] }}', part: '$execution?.["id' },
		{ typed: '=payout-{{ $execution.id }}', part: '$execution.id' },
		{ typed: "=payout-{{ $execution['id'] }}", part: "$execution['id" },
		{ typed: '=payout-{{ $execution?.id }}', part: '$execution?.id' },
		{ typed: '={{ Date() }}', part: 'Date(' },
		{ typed: '={{ crypto.randomUUID() }}', part: 'randomUUID(' },
	])('comes for $typed', ({ typed, part }) => {
		const hint = changingIdHint(typed, WORDS);
		expect(hint).toBe(
			`The External ID contains ${part}, so it changes with every try, and the same refund could be refunded twice. Use an identifier from the item, for example {{ $json.orderId }}.`,
		);
	});

	test.each([
		'payout-7',
		'Math.random() as plain text',
		'={{ $json.orderId }}',
		'={{ $json.Date }}',
		'={{ $json.Date.slice(0, 10) }}-{{ $json.number }}',
		'={{ $json?.Date.replaceAll("/", "-") }}',
		'={{ $json["date"] }}',
		'={{ $json.random_id }}',
		'=order-date-{{ $json.id }}',
		"={{ $('Due Date').item.json.id }}",
		'={{ $json.day.toDate().id }}',
		'={{ $json.nowhere }}',
		"={{ $('Set').item.json.id }}",
		'={{ $execution.resumeUrl }}',
		undefined,
		7,
	])('does not come for %p', (typed) => {
		expect(changingIdHint(typed, WORDS)).toBeUndefined();
	});
});

test.each<{ name: string; read: () => unknown; field: string }>([
	{ name: 'a number that is none', read: () => readText(NaN, KEY_FIELD), field: 'creditParty.key' },
	{
		name: 'an endless number',
		read: () => readText(-Infinity, KEY_FIELD),
		field: 'creditParty.key',
	},
	{
		name: 'a number that lost digits',
		read: () => readText(2 ** 53, KEY_FIELD),
		field: 'creditParty.key',
	},
	{ name: 'a list', read: () => readText(['a'], KEY_FIELD), field: 'creditParty.key' },
	{ name: 'an object', read: () => readText({}, KEY_FIELD), field: 'creditParty.key' },
	{
		name: 'a date of n8n',
		read: () => readText({ toISODate: () => '2030-12-31' }, KEY_FIELD),
		field: 'creditParty.key',
	},
	{
		name: 'a date of JavaScript',
		read: () => readText(new Date(0), KEY_FIELD),
		field: 'creditParty.key',
	},
	{
		name: 'an External ID that is a date',
		read: () => readOwnId({ toISODate: () => '2030-12-31' }),
		field: 'external_id',
	},
	{
		name: 'half a character',
		read: () => readIdentifier('a\ud83d', KEY_FIELD),
		field: 'creditParty.key',
	},
	{
		name: 'a character that nobody sees',
		read: () => readIdentifier('a\tb', KEY_FIELD),
		field: 'creditParty.key',
	},
	{
		name: 'a key that is a switch',
		read: () => readOptionalIdentifier(true, KEY_FIELD),
		field: 'creditParty.key',
	},
	{ name: 'blanks', read: () => readOptionalIdentifier(' ', KEY_FIELD), field: 'creditParty.key' },
	{
		name: 'nothing, where null is no text',
		read: () => readOptionalIdentifier(null, KEY_FIELD),
		field: 'creditParty.key',
	},
	{
		name: 'members that are a text',
		read: () => readMembers('a', RECIPIENT_FIELD, [textOf('key'), textOf('name')]),
		field: 'creditParty',
	},
	{
		name: 'another member',
		read: () =>
			readMembers({ key: 'a', iban: 'b' }, RECIPIENT_FIELD, [textOf('key'), textOf('name')]),
		field: 'creditParty',
	},
	{
		name: 'a member that is null',
		read: () => readMembers({ key: null }, RECIPIENT_FIELD, [textOf('key')]),
		field: 'creditParty.key',
	},
	{
		name: 'a member that is undefined',
		read: () => readMembers({ key: undefined }, RECIPIENT_FIELD, [textOf('key')]),
		field: 'creditParty.key',
	},
	{
		name: 'another member, where others have no place',
		read: () => documentedMembers({ b: 1 }, SPLIT_FIELD, ['a'], 'Write it so.'),
		field: 'split',
	},
])('$name is refused, by the name of its field', ({ read, field }) => {
	expect(refusalOf(read)?.field).toBe(field);
});

test('documented members are given as they are', () => {
	const members = { a: 1 };
	expect(documentedMembers(members, SPLIT_FIELD, ['a', 'b'], '')).toBe(members);
});

test.each<{ members: object; expected: object | undefined }>([
	{ members: {}, expected: undefined },
	{ members: { a: undefined }, expected: undefined },
	{ members: { a: undefined, b: null, c: '' }, expected: { b: null, c: '' } },
])('$members without what is undefined is $expected', ({ members, expected }) => {
	expect(withoutEmpty(members)).toStrictEqual(expected);
});

// By chance, beside the tables above.
test('whatever visible text is an External ID: it is kept, trimmed, its letters composed', () => {
	const invisible =
		/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}]|(?! )\p{Zs}/u;
	const leftovers = ['undefined', 'null', 'NaN', '[object Object]'];
	const ofSpreadsheet = /^[='#]/;
	const visible = fc
		.string({ unit: 'grapheme', minLength: 1 })
		.map((text) => text.trim())
		.filter((text) => text !== '' && !invisible.test(text))
		.filter((text) => !leftovers.includes(text) && !ofSpreadsheet.test(text));
	fc.assert(
		fc.property(visible, (text) => {
			assert.equal(readOwnId(` ${text} `), text.normalize('NFC'));
		}),
		{ numRuns: runs(1000) },
	);
});
