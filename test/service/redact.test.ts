import fc from 'fast-check';
import { proofsOf, redact } from '../../nodes/Pay/service/redact';

const TOKEN = 'a"b\\c+d/e=f&g?token';
const HIDDEN: Array<[string, string]> = [
	['as it is', TOKEN],
	['as JSON writes it', JSON.stringify(TOKEN).slice(1, -1)],
	['in a URL', encodeURIComponent(TOKEN)],
	[
		'in a URL with small letters',
		encodeURIComponent(TOKEN).replace(/%../g, (x) => x.toLowerCase()),
	],
	['in Base64', Buffer.from(TOKEN).toString('base64')],
	...['B', 'Be', 'Bearer '].map((before): [string, string] => [
		`in Base64 behind ${before}`,
		Buffer.from(`${before}${TOKEN} and more`).toString('base64'),
	]),
	['in Base64 of a URL', Buffer.from(`Bearer ${TOKEN}`).toString('base64url')],
];

test.each(HIDDEN)('a token %s is replaced, and what stands around it stays', (_, written) => {
	const text = `before ${written} after`;
	const shown = JSON.stringify(redact({ a: [{ [text]: text }] }, [TOKEN]));
	expect(shown).toMatch(/before .*\*\*\*.* after/);
	expect(shown).not.toContain(JSON.stringify(TOKEN).slice(1, -1));
	for (const part of shown.match(/[A-Za-z0-9+/_-]{8,}/g) ?? []) {
		expect(Buffer.from(part, 'base64').toString('latin1')).not.toContain('token');
	}
});

test.each([
	['behind backslashes', '-tokens-', '\\\\-tokens\\-', '\\\\***'],
	['a part of which is escaped otherwise', '-tok-ens', '\\%2dtok\\u002dens', '\\***'],
	['twice, with a backslash between', '-secret\\', '-secret\\-secret\\', '******'],
	['that begins with backslashes', '\\\\secret-b', 'x\\\\\\\\secret-b', 'x\\\\\\***'],
	['with a backslash before a sign', 'secret\\-b', 'secret\\\\\\u002db', '***'],
	[
		'with a backslash in hex before a sign',
		'secret\\-b',
		'secret\\u005C-b secret%5C%2Db',
		'*** ***',
	],
])('a token %s is replaced', (_how, secret, text, shown) => {
	expect(redact(text, [secret])).toBe(shown);
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
			const kept = JSON.stringify(redact(echoed, [secret]));
			expect(kept).not.toContain(JSON.stringify(secret).slice(1, -1));
			expect(redact(value, ['no-such-secret'])).toStrictEqual(value);
		}),
	);
});

test.each([
	['https://a.test/?x=1&pay_proof=ref.mac', ['ref.mac', 'mac']],
	['https://a.test/?pay_reference=ref&pay_signature=mac', []],
	['https://n8n.test/webhook-waiting/1?signature=own&pay_proof=r.m', ['r.m', 'm', 'own', 'own']],
	['https://a.test/', []],
	['no URL', []],
	[undefined, []],
])('the proofs of %p', (url, proofs) => {
	expect(proofsOf(url)).toStrictEqual(proofs);
});

test.each([
	['in hex', Buffer.from(TOKEN).toString('hex')],
	['in hex with capitals', Buffer.from(TOKEN).toString('hex').toUpperCase()],
])('a token %s is replaced', (_how, written) => {
	expect(redact(`x ${written} y`, [TOKEN])).toBe('x *** y');
});

test('only secrets of eight characters and more are looked for: shorter ones are ordinary words', () => {
	for (const [secret, found] of [
		['abcdefg', false],
		['abcdefgh', true],
	] as const) {
		for (const encoding of ['latin1', 'base64', 'base64url', 'hex'] as const) {
			const text = `x ${Buffer.from(secret).toString(encoding)} y`;
			expect([encoding, redact(text, [secret]) !== text]).toStrictEqual([encoding, found]);
		}
	}
});

test('of secrets that begin alike the longer one goes first, whatever their order', () => {
	for (const secrets of [
		['token-1', 'token-1-and-more'],
		['token-1-and-more', 'token-1'],
	]) {
		expect(redact('token-1-and-more', secrets)).toBe('***');
	}
});

test('an empty secret hides nothing', () => {
	expect(redact({ a: 'text', '': '' }, [''])).toStrictEqual({ a: 'text', '': '' });
	expect(redact('Stryker was here!', [])).toBe('Stryker was here!');
});

/** What each could take the square, or the cube, of its length. */
test.each([
	['backslashes before a secret that begins with a sign', '-tokens-', '\\'],
	['backslashes in a secret of some', '\\-\\\\-token', '\\'],
	['a secret of signs', '--------x', '-'],
	['unicode escapes', '-tokens-', '\\u0000'],
	['percent signs', '%tokens%', '%25'],
	['ampersands', '&tokens&', '&amp;'],
	['zeros in an entity', '&tokens&', '&#0'],
])(
	'an answer that repeats %s is searched within two seconds of processor time',
	(_name, secret, repeated) => {
		const answer = repeated.repeat(50_000);
		const start = process.cpuUsage();
		const shown = String(redact(`${secret} ${answer} y${secret}`, [secret]));
		expect([shown.slice(0, 4), shown.slice(-5)]).toStrictEqual(['*** ', ' y***']);
		expect(process.cpuUsage(start).user).toBeLessThan(2_000_000);
	},
);

test('whatever an answer repeats, and whatever the secret, the search takes no second of processor time', () => {
	const part = fc.constantFrom(...'\\\\\\--%&#;u0025cdax', 'amp;', '%25', '\\u00', '&#x0');
	const text = fc.string({ unit: part, minLength: 1, maxLength: 6 });
	const long = fc.string({ unit: part, minLength: 8, maxLength: 12 });
	const property = fc.property(long, text, (secret, repeated) => {
		const start = process.cpuUsage();
		redact(repeated.repeat(20_000), [secret]);
		expect(process.cpuUsage(start).user).toBeLessThan(1_000_000);
	});
	fc.assert(property, { numRuns: 300, interruptAfterTimeLimit: 20_000 });
});
