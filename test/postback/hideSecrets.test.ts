import fc from 'fast-check';
import { hideSecrets as redact } from '../../nodes/Pay/postback/proof';

const TOKEN = 'a"b\\c+d/e=f&g?token';
const HIDDEN: Array<[string, string]> = [
	['as it is', TOKEN],
	['as JSON writes it', JSON.stringify(TOKEN).slice(1, -1)],
	['in a URL', encodeURIComponent(TOKEN)],
	[
		'in a URL with small letters',
		encodeURIComponent(TOKEN).replace(/%../g, (x) => x.toLowerCase()),
	],
	['as PHP writes it', JSON.stringify(TOKEN).slice(1, -1).replaceAll('/', '\\/')],
];

test.each(HIDDEN)('a token %s is replaced, and what stands around it stays', (_, written) => {
	const text = `before ${written} after`;
	const shown = JSON.stringify(redact({ a: [{ [text]: text }] }, [TOKEN]));
	expect(shown).toBe('{"a":[{"before *** after":"before *** after"}]}');
	expect(shown).not.toContain(JSON.stringify(TOKEN).slice(1, -1));
});

test("another charge's postback URL that a response repeats loses its proof", () => {
	const mac = 'aCQVBr5ec8KvwwQU3OrBf-';
	const reference = Buffer.from('["qrCode",1,"a"]').toString('base64url');
	const proof = `${reference}.${mac}`;
	const url = (value: string) => `https://n8n.test/webhook-waiting/9?x=1&pay_proof=${value}`;
	const response = { list: [{ postbackUrl: url(proof) }], said: `"${proof}"` };
	expect(redact(response, [])).toStrictEqual({
		list: [{ postbackUrl: url('***') }],
		said: `"${reference}.***"`,
	});
});

test('a token of digits is replaced where it is echoed as a number', () => {
	expect(redact({ token: 12345678 }, ['12345678'])).toStrictEqual({ token: '***' });
});

test('no token of any form stays in any text or name, and other answers stay as they are', () => {
	const token = fc
		.string({ minLength: 8, unit: 'grapheme-ascii' })
		.filter((t) => /^[!-)+-~]+$/.test(t));
	fc.assert(
		fc.property(token, fc.json(), (secret, json) => {
			const value = JSON.parse(json) as unknown;
			const echoed = { [`x${secret}y`]: [value, { deep: `Bearer ${secret}` }] };
			const untouched = JSON.stringify(redact(echoed, [secret]));
			expect(untouched).not.toContain(JSON.stringify(secret).slice(1, -1));
			expect(redact(value, ['no-such-secret'])).toStrictEqual(value);
		}),
	);
});

test.each([
	{
		url: 'https://a.test/?x=1&pay_proof=reference.mac-of-it',
		proofs: ['reference.mac-of-it', 'mac-of-it'],
	},
	{
		url: 'https://n8n.test/webhook-waiting/1?signature=that-of-n8n',
		proofs: ['that-of-n8n'],
	},
	{
		url: 'https://a.test/?pay_reference=reference',
		proofs: [],
	},
	{
		url: 'no URL',
		proofs: [],
	},
	{
		url: undefined,
		proofs: [],
	},
])('of $url, what proves something is replaced', ({ url, proofs }) => {
	const text = ['reference.mac-of-it', 'mac-of-it', 'that-of-n8n', 'reference'];
	const kept = text.filter((each) => redact(each, [], url) === each);
	expect(text.filter((each) => !kept.includes(each))).toStrictEqual(proofs);
});

test('only secrets of eight characters and more are looked for: shorter ones are ordinary words', () => {
	expect(redact('x abcdefg y', ['abcdefg'])).toBe('x abcdefg y');
	expect(redact('x abcdefgh y', ['abcdefgh'])).toBe('x *** y');
});

test('of secrets that begin alike the longer one goes first, whatever their order', () => {
	expect(redact('token-1-and-more', ['token-1', 'token-1-and-more'])).toBe('***');
	expect(redact('token-1-and-more', ['token-1-and-more', 'token-1'])).toBe('***');
});

test('an empty secret hides nothing', () => {
	expect(redact({ a: 'text', '': '' }, [''])).toStrictEqual({ a: 'text', '': '' });
	expect(redact('Stryker was here!', [])).toBe('Stryker was here!');
});
