import assert from 'node:assert/strict';
import fc from 'fast-check';
import { InputError } from '../../nodes/Pay/inputError';
import {
	changingIdHint,
	documentedMembers,
	inOneForm,
	optionalIdentifier,
	optionalText,
	parseExternalId,
	parseIdentifier,
	readMembers,
	withoutEmpty,
	type TextOfGroup,
} from '../../nodes/Pay/parameters/text';
import type { Words } from '../../nodes/Pay/service/contract';
import { refusalOf } from '../refusal';
import { runs } from '../runs';

const WORDS: Words = {
	noun: 'refund',
	plural: 'refunds',
	pastParticiple: 'refunded',
	whenUnknown: { warning: undefined, advice: (external_id) => external_id, reminder: undefined },
};
const NAME_FIELD = { name: 'name', displayName: 'Name' };
const KEY_FIELD = { name: 'creditParty.key', displayName: 'Key' };
const RECIPIENT_FIELD = { name: 'creditParty', displayName: 'Recipient' };
const SPLIT_FIELD = { name: 'split', displayName: 'Split Recipients' };

/** A text inside of an object. */
const textOf = (name: 'key' | 'name', parse = optionalText): TextOfGroup<'key' | 'name'> => ({
	name,
	field: { name, displayName: name === 'key' ? 'Key' : 'Name' },
	parse,
});

const RUNS = { numRuns: runs(1000) };

describe('external_id', () => {
	test('any visible text is kept, trimmed, unicode intact', () => {
		const visible = fc
			.string({ unit: 'grapheme', minLength: 1 })
			.filter(
				(text) =>
					text.trim() !== '' &&
					!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}]|(?! )\p{Zs}/u.test(
						text,
					),
			);
		fc.assert(
			fc.property(visible, (text) => {
				fc.pre(!['undefined', 'null', 'NaN', '[object Object]'].includes(text.trim()));
				assert.equal(parseExternalId(` ${text} `), text.trim().normalize('NFC'));
			}),
			RUNS,
		);
	});

	test('whole numbers become their digits; larger ones would lose some and are refused', () => {
		fc.assert(
			fc.property(fc.maxSafeInteger(), (id) => assert.equal(parseExternalId(id), String(id))),
			RUNS,
		);
		expect(() => parseExternalId(2 ** 53)).toThrow(InputError);
		expect(() => parseExternalId(1.5)).toThrow(InputError);
	});
});

describe('optional text', () => {
	test.each([
		['a', 'a'],
		[12345678901, '12345678901'],
		[1.5, '1.5'],
		[true, 'true'],
		['not null', 'not null'],
		['NaN?', 'NaN?'],
		['', undefined],
		[null, undefined],
		[undefined, undefined],
	])('%p becomes %p', (value, expected) => {
		expect(optionalText(value, NAME_FIELD)).toBe(expected);
	});

	test.each([
		{},
		[],
		NaN,
		Infinity,
		2 ** 60,
		'a [object Object]',
		'undefined',
		'x__UNKNOWN__',
		() => 'x',
		Symbol('x'),
	])('%p is refused', (value) => {
		expect(() => optionalText(value, NAME_FIELD)).toThrow(InputError);
	});

	test.each([
		['undefined', 'is "undefined"'],
		['a [object Object]', 'holds "[object Object]"'],
	])('%p is told as what a failed expression leaves', (value, words) => {
		expect(() => optionalText(value, NAME_FIELD)).toThrow(words);
	});

	test.each(['undefined', 'null', 'NaN', ' null '])(
		'%p is no payment key but what a failed expression leaves',
		(value) => {
			expect(() => optionalIdentifier(value, KEY_FIELD)).toThrow(InputError);
		},
	);
});

test.each(['a\ud83d', '\ude00b', 'x\udfffy'])(
	'%j, half of a pair, is refused as an identifier',
	(text) => {
		expect(() => parseExternalId(text)).toThrow(InputError);
		expect(() => optionalIdentifier(text, KEY_FIELD)).toThrow(/half a character/);
		expect(parseExternalId(`${'a\ud83d\ude00'}`)).toBe('a\ud83d\ude00');
	},
);

test.each([
	'',
	' ',
	true,
	false,
	1.5,
	NaN,
	Infinity,
	2 ** 53,
	{},
	{ id: 1 },
	[],
	['a'],
	null,
	undefined,
	'NaN',
	'undefined',
	'null',
	'[object Object]',
	'a\nb',
	'a\0b',
	'a\x7fb',
	'a\u0085b',
	'a\ud83d',
])('%p is refused, and told of external_id', (value) => {
	const message = expect.stringMatching(/^External ID/);
	expect(refusalOf(() => parseExternalId(value))).toMatchObject({
		field: 'external_id',
		message,
	});
});

describe('an object of optional texts', () => {
	const read = (value: unknown) =>
		readMembers(value, RECIPIENT_FIELD, [textOf('key', optionalIdentifier), textOf('name')]);

	test.each([
		['nothing in it', {}, undefined],
		['empty texts', { key: '', name: '' }, undefined],
		['one member', { key: 'k', name: '' }, { key: 'k' }],
		['a number', { key: 5 }, { key: '5' }],
	])('%s', (_what, value, expected) => {
		expect(read(value)).toStrictEqual(expected);
	});
	// What is refused: test/engine/values.test.ts.
});

describe('identifiers that look alike', () => {
	test.each([
		0x200b, 0xad, 0x2060, 0x200d, 0x200f, 0xfeff, 0xa0, 0xfe0f, 0x2002, 0x34f, 0xe0041, 0x2800,
		0xfffc, 0x2028, 0x1d159,
	])('a character that nobody sees inside of one is refused, and its code named: %d', (code) => {
		const named = code.toString(16).toUpperCase().padStart(4, '0');
		expect(() => parseExternalId(`payout${String.fromCodePoint(code)}7`)).toThrow(
			`holds a line break or another character that nobody sees (U+${named})`,
		);
	});

	test('composed and decomposed letters are one identifier', () => {
		expect(parseExternalId('caf\u0065\u0301-7')).toBe(parseExternalId('caf\u00e9-7'));
	});

	test('an ordinary space inside, and other scripts, stay as they are', () => {
		expect(parseExternalId('Zahlung 7 東京')).toBe('Zahlung 7 東京');
	});
});

describe('a hint where an identifier changes with each try', () => {
	test.each([
		["={{ 'payout-' + $now.toMillis() }}", '$now'],
		['=payout-{{ $today }}', '$today'],
		['={{ Math.random() }}', 'random('],
		['={{ $executionId }}', '$executionId'],
		['={{ $json.id + $runIndex }}', '$runIndex'],
		['={{ new Date().getTime() }}', 'new Date'],
		['={{ Date.now() }}', 'Date.'],
		['={{ DateTime.now() }}', 'DateTime.'],
		['=payout-{{ $execution.id }}', '$execution.id'],
		["=payout-{{ $execution['id'] }}", "$execution['id"],
		['=payout-{{ $execution?.id }}', '$execution?.id'],
		['={{ crypto.randomUUID() }}', 'randomUUID('],
	])('%s', (typed, part) => {
		const hint = changingIdHint(typed, WORDS);
		expect(hint).toBe(
			`The External ID holds ${part}, so it changes with each try, and one refund could be refunded twice. Use an identifier from the item, for example {{ $json.orderId }}.`,
		);
	});

	test.each([
		'payout-7',
		'Math.random() as plain text',
		'={{ $json.orderId }}',
		'={{ $json.Date }}',
		'={{ $json["date"] }}',
		'={{ $json.random_id }}',
		'=order-date-{{ $json.id }}',
		"={{ $('Due Date').item.json.id }}",
		'={{ $json.nowhere }}',
		"={{ $('Set').item.json.id }}",
		'={{ $execution.resumeUrl }}',
		undefined,
		7,
	])('none for %p', (typed) => {
		expect(changingIdHint(typed, WORDS)).toBeUndefined();
	});
});

const LEFT_BEHIND =
	'That is what an expression leaves when it finds no value. Check that the input item has the field the expression asks for.';
const NOT_TEXT = 'Use an expression that gives one text, for example {{ $json.name }}.';
const WHOLE_NUMBER =
	'Pass the id of your own order or payout as text, so that no digit is lost, for example {{ $json.orderId }}.';
const OTHERS =
	'The documented members are key, name. Others go into Additional Members under Options.';
const KEY = 'Key (creditParty.key)';
const ID = 'External ID (external_id)';
test.each<[string, () => unknown, string, string]>([
	['a number that is none', () => optionalText(NaN, KEY_FIELD), `${KEY} is "NaN"`, LEFT_BEHIND],
	['an endless number', () => optionalText(-Infinity, KEY_FIELD), `${KEY} is "NaN"`, LEFT_BEHIND],
	[
		'what an expression left, blanks around it',
		() => optionalText(' undefined ', KEY_FIELD),
		`${KEY} is "undefined"`,
		LEFT_BEHIND,
	],
	[
		'what an expression left inside of a text',
		() => optionalText('a __UNKNOWN__', KEY_FIELD),
		`${KEY} holds "__UNKNOWN__"`,
		LEFT_BEHIND,
	],
	[
		'a number that lost digits',
		() => optionalText(2 ** 53, KEY_FIELD),
		`${KEY} is a number too large to keep all its digits`,
		'Pass it as text from the start, for example as a string in the data it comes from.',
	],
	['a list', () => optionalText(['a'], KEY_FIELD), `${KEY} must be text, but is a list`, NOT_TEXT],
	[
		'an object',
		() => optionalText({}, KEY_FIELD),
		`${KEY} must be text, but is an object`,
		NOT_TEXT,
	],
	[
		'half a character',
		() => parseIdentifier('a\ud83d', KEY_FIELD),
		`${KEY} holds half a character, as a text that was cut in the middle of an emoji does`,
		'Cut it elsewhere, or leave such characters out: the service could not send it back as it is.',
	],
	[
		'a character that nobody sees',
		() => parseIdentifier('a\tb', KEY_FIELD),
		`${KEY} holds a line break or another character that nobody sees (U+0009)`,
		'Type it again, or remove the character where the text comes from. Otherwise two that look alike would be two.',
	],
	[
		'blanks',
		() => optionalIdentifier(' ', KEY_FIELD),
		`${KEY} is missing`,
		'Enter it, or check the expression that gives it.',
	],
	[
		'nothing, where null is no text',
		() => optionalIdentifier(null, KEY_FIELD),
		`${KEY} is missing`,
		'Enter it, or check the expression that gives it.',
	],
	[
		'no External ID',
		() => parseExternalId(''),
		`${ID} is missing`,
		'Give each item an identifier of your own, for example {{ $json.orderId }}. If it comes from an expression, check that the input item has that field.',
	],
	[
		'half an External ID',
		() => parseExternalId(1.5),
		`${ID} must be text or a whole number, but is 1.5`,
		WHOLE_NUMBER,
	],
	[
		'an External ID that is a switch',
		() => parseExternalId(true),
		`${ID} must be text or a whole number, but is true`,
		WHOLE_NUMBER,
	],
	[
		'members that are a text',
		() => readMembers('a', RECIPIENT_FIELD, [textOf('key'), textOf('name')]),
		'Recipient (creditParty) must be an object with key, name',
		'Fill in the fields of the form.',
	],
	[
		'another member',
		() => readMembers({ key: 'a', iban: 'b' }, RECIPIENT_FIELD, [textOf('key'), textOf('name')]),
		'Recipient (creditParty) has a member "iban", which the service does not document',
		OTHERS,
	],
	[
		'a member that is null',
		() => readMembers({ key: null }, RECIPIENT_FIELD, [textOf('key')]),
		`${KEY} is "null"`,
		LEFT_BEHIND,
	],
	[
		'a member that is undefined',
		() => readMembers({ key: undefined }, RECIPIENT_FIELD, [textOf('key')]),
		`${KEY} is "undefined"`,
		LEFT_BEHIND,
	],
	[
		'another member, where others have no place',
		() => documentedMembers({ b: 1 }, SPLIT_FIELD, ['a'], 'Write it so.'),
		'Split Recipients (split) has a member "b", which the service does not document',
		'The documented members are a.',
	],
])('%s is refused in these words', (_name, read, message, advice) => {
	expect(refusalOf(read)).toMatchObject({ message, advice });
});

test('an identifier that was not typed is none', () => {
	expect(optionalIdentifier(undefined, KEY_FIELD)).toBeUndefined();
	expect(optionalIdentifier('', KEY_FIELD)).toBeUndefined();
	expect(optionalIdentifier(' a ', KEY_FIELD)).toBe('a');
});

test('what looks alike has one form', () => {
	expect(inOneForm(' caf\u0065\u0301 ')).toBe('caf\u00e9');
});

test('documented members are given as they are', () => {
	const members = { a: 1 };
	expect(documentedMembers(members, SPLIT_FIELD, ['a', 'b'], '')).toBe(members);
});

test.each<[object, object | undefined]>([
	[{}, undefined],
	[{ a: undefined }, undefined],
	[
		{ a: undefined, b: null, c: '' },
		{ b: null, c: '' },
	],
])('%j without what is undefined', (members, expected) => {
	expect(withoutEmpty(members)).toStrictEqual(expected);
});
