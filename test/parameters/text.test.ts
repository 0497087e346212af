import assert from 'node:assert/strict';
import fc from 'fast-check';
import { InputError } from '../../nodes/Pay/inputError';
import {
	optionalIdentifier,
	optionalText,
	parseExternalId,
	readMembers,
} from '../../nodes/Pay/parameters/text';
import { runs } from '../runs';

const RUNS = { numRuns: runs(1000) };

describe('external_id', () => {
	test('any visible text is kept, trimmed, unicode intact', () => {
		const visible = fc
			.string({ unit: 'grapheme', minLength: 1 })
			.filter((text) => text.trim() !== '' && !/\p{Cc}/u.test(text));
		fc.assert(
			fc.property(visible, (text) => {
				fc.pre(!['undefined', 'null', 'NaN', '[object Object]'].includes(text.trim()));
				assert.equal(parseExternalId(` ${text} `), text.trim());
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

	test('nothing else gets through', () => {
		const other = fc.oneof(
			fc.constantFrom('', '  ', 'undefined', 'null', 'NaN', '[object Object]', null, undefined),
			fc.boolean(),
			fc.object(),
			fc.array(fc.anything()),
			fc.double().filter((value) => !Number.isSafeInteger(value)),
			fc
				.tuple(fc.string(), fc.constantFrom('\n', '\0', '\x7f', '\u0085'))
				.map(([a, c]) => `x${a}${c}y`),
		);
		fc.assert(
			fc.property(other, (value) => {
				assert.throws(() => parseExternalId(value), InputError);
			}),
			RUNS,
		);
	});
});

describe('optional text', () => {
	test.each([
		['a', 'a'],
		[12345678901, '12345678901'],
		[1.5, '1.5'],
		[true, 'true'],
		['', undefined],
		[null, undefined],
		[undefined, undefined],
		['undefined', 'undefined'],
	])('%p becomes %p', (value, expected) => {
		expect(optionalText(value, 'name')).toBe(expected);
	});

	test.each([{}, [], NaN, Infinity, 2 ** 60, '[object Object]', () => 'x', Symbol('x')])(
		'%p is refused',
		(value) => {
			expect(() => optionalText(value, 'name')).toThrow(InputError);
		},
	);

	test.each(['undefined', 'null', 'NaN', ' null '])(
		'%p is no payment key but what a failed expression leaves',
		(value) => {
			expect(() => optionalIdentifier(value, 'creditParty.key')).toThrow(InputError);
		},
	);
});

test.each(['a\ud83d', '\ude00b', 'x\udfffy'])(
	'%j, half of a pair, is refused as an identifier',
	(text) => {
		expect(() => parseExternalId(text)).toThrow(InputError);
		expect(() => optionalIdentifier(text, 'creditParty.key')).toThrow(/half a character/);
		expect(parseExternalId(`${'a\ud83d\ude00'}`)).toBe('a\ud83d\ude00');
	},
);

test.each(['', ' ', true, 1.5, 2 ** 53, {}, 'NaN', 'a\nb', 'a\ud83d'])(
	'what is wrong with %p is told of external_id',
	(value) => {
		expect(() => parseExternalId(value)).toThrow(
			expect.objectContaining({
				field: 'external_id',
				message: expect.stringMatching(/^External ID/),
			}),
		);
	},
);

describe('an object of optional texts', () => {
	const read = (value: unknown) =>
		readMembers(value, 'creditParty', { key: 'identifier', name: 'text' });

	test.each([
		['an empty text', '', undefined],
		['nothing in it', {}, undefined],
		['empty texts', { key: '', name: '' }, undefined],
		['one member', { key: 'k', name: '' }, { key: 'k' }],
		['a number', { key: 5 }, { key: '5' }],
		['a person of an odd name', { name: 'undefined' }, { name: 'undefined' }],
	])('%s', (_what, value, expected) => {
		expect(read(value)).toStrictEqual(expected);
	});

	test.each([
		['a key that is null', { key: null }, 'creditParty.key'],
		['a key without a value', { key: undefined }, 'creditParty.key'],
		['a name that is null', { name: null }, 'creditParty.name'],
		['a name without a value', { name: undefined }, 'creditParty.name'],
		['a key that is a list', { key: ['k'] }, 'creditParty.key'],
		['a member of another name', { Key: 'k' }, 'creditParty'],
		['an inherited one', { toString: 'k' }, 'creditParty'],
		['a text', 'k', 'creditParty'],
		['a list', [], 'creditParty'],
		['null', null, 'creditParty'],
	])('%s is refused, and its field named', (_what, value, field) => {
		expect(() => read(value)).toThrow(InputError);
		expect(() => read(value)).toThrow(expect.objectContaining({ field }));
	});
});
