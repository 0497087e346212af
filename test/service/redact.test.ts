import fc from 'fast-check';
import { redact } from '../../nodes/Pay/service/redact';

/** Matches nothing. */
const NO_FORM = /(?!)/g;
const SECRET = 'a"b/c?d e=f';

test.each<{ how: string; written: string }>([
	{ how: 'as it is', written: SECRET },
	{ how: 'as a URL writes it', written: 'a%22b%2Fc%3Fd%20e%3Df' },
	{ how: 'as a URL writes it, in small letters', written: 'a%22b%2fc%3fd%20e%3df' },
	{ how: 'as JSON writes it', written: 'a\\"b/c?d e=f' },
	{ how: 'as JSON writes it, with slashes escaped', written: 'a\\"b\\/c?d e=f' },
])('a secret $how is replaced, wherever it stands', ({ written }) => {
	const text = `before ${written}, and ${written} after`;
	const shown = 'before ***, and *** after';
	expect(redact(text, [SECRET], NO_FORM)).toBe(shown);
	expect(redact({ [text]: [text, { deep: text }] }, [SECRET], NO_FORM)).toStrictEqual({
		[shown]: [shown, { deep: shown }],
	});
});

test('a secret that is a part of another does not keep that one from being replaced whole', () => {
	const secrets = ['12345678', '1234567890', '12345678'];
	expect(redact('1234567890 and 12345678', secrets, NO_FORM)).toBe('*** and ***');
});

test('secrets of fewer than eight characters are words that responses are full of', () => {
	expect(redact('1234567', ['1234567', ''], NO_FORM)).toBe('1234567');
	expect(redact('12345678', ['12345678'], NO_FORM)).toBe('***');
});

test('a number that is a secret is replaced, one that only holds it stays', () => {
	const response = { token: 12345678, amount: 123456789 };
	expect(redact(response, ['12345678'], NO_FORM)).toStrictEqual({
		token: '***',
		amount: 123456789,
	});
});

test('what has the form of a secret is replaced, in names too', () => {
	const form = /proof-\d+/g;
	expect(redact({ 'proof-1': 'a proof-2 and proof-3' }, [], form)).toStrictEqual({
		'***': 'a *** and ***',
	});
});

test.each([null, true, undefined, 7, '', [], {}])('%j stays as it is', (value) => {
	expect(redact(value, ['a secret of some length'], NO_FORM)).toStrictEqual(value);
});

test('no token of any form stays in any text or name, and other responses stay as they are', () => {
	const token = fc
		.string({ minLength: 8, unit: 'grapheme-ascii' })
		.filter((each) => /^[!-)+-~]+$/.test(each));
	fc.assert(
		fc.property(token, fc.json(), (secret, json) => {
			const value = JSON.parse(json) as unknown;
			const echoed = { [`x${secret}y`]: [value, { deep: `Bearer ${secret}` }] };
			const shown = JSON.stringify(redact(echoed, [secret], NO_FORM));
			expect(shown).not.toContain(JSON.stringify(secret).slice(1, -1));
			expect(redact(value, ['no-such-secret'], NO_FORM)).toStrictEqual(value);
		}),
	);
});
