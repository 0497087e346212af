import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { parse } from 'node:querystring';
import fc from 'fast-check';
import { InputError } from '../../nodes/Pay/base/inputError';
import {
	hashOfRandomProof,
	hideSecrets,
	MOST_URL_CHARACTERS,
	randomProof,
	type Reference,
	signUrl,
	verify,
	withoutProof,
	withRandomProof,
} from '../../nodes/Pay/postback/proof';
import { withResumeSegment } from '../../nodes/Pay/postback/target';
import { refusalOf } from '../refusal';
import { runs } from '../runs';

const reference: fc.Arbitrary<Reference> = fc.record({
	external_id: fc.string({ unit: 'grapheme', minLength: 1 }),
	kind: fc.constantFrom('qrCode' as const, 'payment' as const),
	amount: fc.double({ min: 0.01, max: 1e9, noNaN: true }),
});
const secret = fc.string({ minLength: 1 });
const SECRET = 'the secret of the test';
const ABOUT: Reference = { external_id: 'order-1042', kind: 'payment', amount: 49.9 };

/** A query as n8n's web server parses it: a repeated parameter is a list. */
const queryOf = (url: string): Record<string, unknown> => ({
	...parse(/\?([^#]*)/s.exec(url)?.[1] ?? ''),
});
const proofOf = (url: string) => String(queryOf(url).pay_proof);

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('a signed postback URL', () => {
	test('proves the reference it was made for, and leaves the rest of the URL alone', () => {
		const url = fc.constantFrom(
			'https://n8n.example.com/webhook/1/postback',
			'https://n8n.example.com/webhook/1/postback?',
			'https://n8n.example.com/webhook/1?a=b%20c&a=d',
			'https://n8n.example.com/webhook-waiting/7?signature=0123abcd&x=',
			'https://n8n.example.com/a?b=1&#part?c=2',
		);
		fc.assert(
			fc.property(url, reference, secret, (address, about, key) => {
				const signed = signUrl(address, about, key);
				expect(verify(queryOf(signed), [key])).toStrictEqual({ ...about });
				const [before = '', fragment] = address.split('#');
				assert.ok(signed.startsWith(before));
				assert.equal(signed.split('#')[1], fragment);
				assert.deepEqual(withoutProof(queryOf(signed)), {
					query: withoutProof(queryOf(address)).query,
					secret: proofOf(signed).split('.')[1],
				});
			}),
			{ numRuns: runs(1000) },
		);
	});

	// Made with Python's hmac: URLs that are out must verify in every later version.
	test.each<{ about: Reference; proof: string }>([
		{ about: ABOUT, proof: 'WyJwYXltZW50Iiw0OS45LCJvcmRlci0xMDQyIl0.vej4KUG_zeuDPQpB_caO21' },
		{
			about: { external_id: 'é', kind: 'qrCode', amount: 10 },
			proof: 'WyJxckNvZGUiLDEwLCLDqSJd.AF5SOLSA-X5KRqkpPNDbzU',
		},
	])('about "$about.external_id" is this one for good', ({ about, proof }) => {
		expect(signUrl('https://a.example/x', about, SECRET)).toBe(
			`https://a.example/x?pay_proof=${proof}`,
		);
		expect(verify({ pay_proof: proof }, [SECRET])).toStrictEqual(about);
	});

	// On a host of 20 characters. The lowest bound that is known of a service is 210.
	test('for a UUID and a trigger stays below 210 characters', () => {
		const uuid = '3f2b8c1e-5d4a-4f6b-9c7d-8e9f0a1b2c3d';
		const url = `https://n8n.example-shop.com/webhook/${uuid}/postback`;
		const about: Reference = { ...ABOUT, external_id: uuid };
		expect(signUrl(url, about, SECRET).length).toBeLessThan(210);
	});

	const signed = signUrl('https://a.example/x', ABOUT, SECRET);
	const proof = proofOf(signed);
	const percent = [...proof].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
	test.each([
		{ name: '?status=paid appended', url: `${signed}?status=paid`, query: { status: 'paid' } },
		{ name: '&x=1 appended', url: `${signed}&x=1`, query: { x: '1' } },
		{ name: '&x appended', url: `${signed}&x`, query: { x: '' } },
		{ name: '/ appended', url: `${signed}/`, query: {} },
		{ name: '& appended', url: `${signed}&`, query: {} },
		{ name: 'a space appended', url: `${signed}%20`, query: {} },
		{
			name: 'a parameter before it',
			url: `https://a.example/x?x=1&pay_proof=${proof}`,
			query: { x: '1' },
		},
		{
			name: 'every letter percent-encoded',
			url: `https://a.example/x?pay_proof=${percent}`,
			query: {},
		},
		{
			name: 'its name percent-encoded',
			url: `https://a.example/x?pay%5Fproof=${proof}`,
			query: {},
		},
	])('verifies with $name, and nothing of that is lost', ({ url, query }) => {
		expect(verify(queryOf(url), [SECRET])).toStrictEqual(ABOUT);
		expect(withoutProof(queryOf(url)).query).toStrictEqual(query);
	});

	test.each([
		{ name: 'lower-cased', query: `?pay_proof=${proof.toLowerCase()}` },
		{ name: 'its name in capitals', query: `?PAY_PROOF=${proof}` },
		{ name: 'given twice', query: `?pay_proof=${proof}&pay_proof=${proof}` },
		{ name: 'one letter short', query: `?pay_proof=${proof.slice(0, -1)}` },
		{ name: 'one letter long', query: `?pay_proof=${proof}A` },
		{ name: 'without its mac', query: `?pay_proof=${proof.split('.')[0]}` },
		{ name: 'without its reference', query: `?pay_proof=.${proof.split('.')[1]}` },
		{ name: 'empty', query: '?pay_proof=' },
	])('is refused $name', ({ query }) => {
		expect(verify(queryOf(query), [SECRET])).toBeNull();
	});

	test('no forgery is taken, of 10,000', () => {
		const forge = fc.tuple(
			reference,
			reference,
			secret.filter((other) => other !== SECRET),
			fc.nat(),
			fc.constantFrom(...BASE64URL, '+', '%', ' ', '.'),
			fc.integer({ min: 0, max: 7 }),
		);
		fc.assert(
			fc.property(forge, ([about, other, otherSecret, at, letter, which]) => {
				const genuine = proofOf(signUrl('https://a.example/', about, SECRET));
				const foreign = proofOf(signUrl('https://a.example/', other, SECRET));
				const [r = '', m = ''] = genuine.split('.');
				const [foreignR = '', foreignM = ''] = foreign.split('.');
				const put = (text: string) => {
					const place = at % text.length;
					return text.slice(0, place) + letter + text.slice(place + 1);
				};
				const forgeries: unknown[] = [
					`${put(r)}.${m}`,
					`${r}.${put(m)}`,
					genuine.slice(0, at % genuine.length),
					`${foreignR}.${m}`,
					`${r}.${foreignM}`,
					proofOf(signUrl('https://a.example/', about, otherSecret)),
					[genuine],
					{ toString: () => genuine },
				];
				const forgery = forgeries[which];
				// A mutation may give back what it started from, and then it is no forgery.
				fc.pre(forgery !== genuine && forgery !== foreign);
				assert.equal(verify({ pay_proof: forgery }, [SECRET]), null);
			}),
			{ numRuns: runs(10_000) },
		);
	});

	test('an address that was escaped once as HTML proves the same, and its proof is left out', () => {
		const url = signUrl('https://a.example/?signature=token', ABOUT, SECRET);
		const query = queryOf(url.replaceAll('&', '&amp;'));
		expect(Object.keys(query)).toStrictEqual(['signature', 'amp;pay_proof']);
		expect(verify(query, [SECRET])).toStrictEqual(ABOUT);
		expect(withoutProof(query)).toStrictEqual({
			query: { signature: 'token' },
			secret: url.slice(url.lastIndexOf('.') + 1),
		});
	});

	test('an empty secret proves nothing', () => {
		const query = queryOf(signUrl('https://a.example/', ABOUT, ''));
		expect(verify(query, [''])).toBeNull();
		expect(verify(query, [])).toBeNull();
	});

	/** A proof of any text, as whoever knows the secret could make it. */
	const proofOfText = (text: string) => {
		const encoded = Buffer.from(text).toString('base64url');
		const mac = createHmac('sha256', SECRET).update(encoded).digest('base64url').slice(0, 22);
		return `${encoded}.${mac}`;
	};

	test('made by hand, it is taken (the control of the next)', () => {
		expect(verify({ pay_proof: proofOfText('["payment",1,"a"]') }, [SECRET])).toStrictEqual({
			kind: 'payment',
			amount: 1,
			external_id: 'a',
		});
	});

	test.each([
		'[]',
		'{}',
		'"a"',
		'null',
		'["payment",1]',
		'["payment","1","a"]',
		'["payment",1,5]',
		'[null,1,"a"]',
		'[1,"payment","a"]',
		'{"length":3}',
	])('of %s it proves nothing', (text) => {
		expect(verify({ pay_proof: proofOfText(text) }, [SECRET])).toBeNull();
	});

	test('with so much appended that it cannot be a URL it is not even looked at', () => {
		const filled = (length: number) => `${proof}?`.padEnd(length, 'x');
		expect(verify({ pay_proof: filled(2 * MOST_URL_CHARACTERS) }, [SECRET])).toStrictEqual(ABOUT);
		expect(verify({ pay_proof: filled(2 * MOST_URL_CHARACTERS + 1) }, [SECRET])).toBeNull();
	});

	test.each([
		{ name: 'given twice', given: [proof, proof], mac: undefined, query: {} },
		{ name: 'given as a list of one', given: [proof], mac: undefined, query: {} },
		{
			name: 'followed by an odd text',
			given: `${proof}%&x=1`,
			mac: proof.split('.')[1],
			query: { '%': '', x: '1' },
		},
		{
			name: 'followed by slashes',
			given: `${proof}//x=1`,
			mac: proof.split('.')[1],
			query: { x: '1' },
		},
	])(
		'that is $name is taken out of the query, and what else that says stays',
		({ given, mac, query }) => {
			expect(withoutProof({ pay_proof: given })).toStrictEqual({ query, secret: mac });
		},
	);
});

describe('a random proof', () => {
	const { url, hash } = withRandomProof('https://a.example/?signature=token', randomProof());
	const proof = proofOf(url);

	test('leaves the longest resume URL, that of n8n 2, below 210 characters', () => {
		const token = 'a'.repeat(64);
		const resume = `https://n8n.example-shop.com/webhook-waiting/123456?signature=${token}`;
		const given = withRandomProof(withResumeSegment(resume), randomProof());
		expect(given.url.length).toBeLessThan(210);
	});

	test.each([
		{ name: 'as it was given', value: proof, says: {} },
		{ name: 'with a query of its own', value: `${proof}?status=paid`, says: { status: 'paid' } },
		{ name: 'with a slash', value: `${proof}/`, says: {} },
	])('$name has the hash that its execution keeps, and is left out', ({ value, says }) => {
		expect(hashOfRandomProof({ pay_proof: value })).toBe(hash);
		expect(withoutProof({ pay_proof: value })).toStrictEqual({ query: says, secret: proof });
	});

	test.each<{ name: string; query: Record<string, unknown> }>([
		{ name: 'nothing', query: {} },
		{ name: 'its hash', query: { pay_proof: hash } },
		{ name: 'one letter more', query: { pay_proof: `${proof}A` } },
		{ name: 'one letter less', query: { pay_proof: proof.slice(1) } },
		{ name: 'it twice', query: { pay_proof: [proof, proof] } },
		{ name: 'it behind a reference', query: { pay_proof: `WyJ4Il0.${proof}` } },
	])('a query with $name does not give the hash that its execution keeps', ({ query }) => {
		expect(hashOfRandomProof(query)).not.toBe(hash);
	});
});

describe('a URL too long for its own postback', () => {
	const sign = (url: string, external_id: string) =>
		signUrl(url, { ...ABOUT, external_id }, SECRET);
	/** The field that is refused. */
	const refused = (url: string, external_id: string) =>
		refusalOf(() => sign(url, external_id))?.field;

	test('is refused by name: the external_id, or the address', () => {
		expect(refused('https://a.example/', 'e'.repeat(6200))).toBe('external_id');
		expect(refused(`https://a.example/${'p'.repeat(8000)}`, 'e')).toBe('postbackUrl');
		expect(refused('https://a.example/', 'e')).toBeUndefined();
	});

	test('the longest has exactly so many characters as are allowed', () => {
		const signedWith = (length: number) => sign('https://a.example/'.padEnd(length, 'p'), 'e');
		const proofLength = signedWith(100).length - 100;
		expect(signedWith(MOST_URL_CHARACTERS - proofLength)).toHaveLength(MOST_URL_CHARACTERS);
		expect(() => signedWith(MOST_URL_CHARACTERS - proofLength + 1)).toThrow(InputError);
	});

	test('of address and external_id as long as each other it is the address', () => {
		const external_id = 'e'.repeat(3500);
		const { length } = sign('https://a.example/', external_id).split('?')[1]!;
		const address = 'https://a.example/'.padEnd(length, 'p');
		expect(refused(address, external_id)).toBe('postbackUrl');
		expect(refused(address.slice(0, -1), external_id)).toBe('external_id');
	});

	test('every one that is made is taken, up to the last character', () => {
		for (const letter of ['e', 'ü', '😀', '\u0001']) {
			let [fits, tooMany] = [1, MOST_URL_CHARACTERS];
			while (tooMany - fits > 1) {
				const middle = Math.floor((fits + tooMany) / 2);
				try {
					sign('https://a.example/', letter.repeat(middle));
					fits = middle;
				} catch {
					tooMany = middle;
				}
			}
			const longest = sign('https://a.example/', letter.repeat(fits));
			expect(longest.length).toBeGreaterThan(MOST_URL_CHARACTERS - 20);
			expect(longest.length).toBeLessThanOrEqual(MOST_URL_CHARACTERS);
			expect(verify(queryOf(longest), [SECRET])).not.toBeNull();
		}
	});
});

// How a secret is found, however it is written: test/service/redact.test.ts.
describe('in what is shown', () => {
	test("another charge's postback URL that a response repeats loses its proof", () => {
		const mac = 'aCQVBr5ec8KvwwQU3OrBf-';
		const encoded = Buffer.from('["qrCode",1,"a"]').toString('base64url');
		const proof = `${encoded}.${mac}`;
		const url = (value: string) => `https://n8n.test/webhook-waiting/9?x=1&pay_proof=${value}`;
		const response = { list: [{ postbackUrl: url(proof) }], said: `"${proof}"` };
		expect(hideSecrets(response, [])).toStrictEqual({
			list: [{ postbackUrl: url('***') }],
			said: `"${encoded}.***"`,
		});
	});

	test.each([
		{
			url: 'https://a.test/?x=1&pay_proof=reference.mac-of-it',
			proofs: ['reference.mac-of-it', 'mac-of-it'],
		},
		{ url: 'https://n8n.test/webhook-waiting/1?signature=that-of-n8n', proofs: ['that-of-n8n'] },
		{ url: 'https://a.test/?pay_reference=reference', proofs: [] },
		{ url: 'no URL', proofs: [] },
		{ url: undefined, proofs: [] },
	])('what proves something in $url is replaced', ({ url, proofs }) => {
		const texts = ['reference.mac-of-it', 'mac-of-it', 'that-of-n8n', 'reference'];
		const hidden = texts.filter((each) => hideSecrets(each, [], url) !== each);
		expect(hidden).toStrictEqual(proofs);
	});

	const SIGNED = signUrl('https://a.example/x', ABOUT, 'another secret');
	const RANDOM = withRandomProof('https://a.example/x', randomProof()).url;
	const percent = [...proofOf(SIGNED)].map((letter) => `%${letter.charCodeAt(0).toString(16)}`);
	const MAC = proofOf(SIGNED).split('.')[1]!;

	test.each([
		{ what: 'a signed URL', url: SIGNED, secret: MAC },
		{ what: 'a URL with a random proof', url: RANDOM, secret: proofOf(RANDOM) },
	])('the proof of any charge is replaced in $what, however it is written', ({ url, secret }) => {
		const inUrl = encodeURIComponent(url);
		const inCapitals = url.replace('pay_proof', 'PAY_PROOF');
		for (const text of [url, inUrl, inUrl.replace('%3D', '%3d'), inCapitals, `<b>${url}</b>`]) {
			const shown = hideSecrets(`before ${text} after`, []);
			expect(shown).not.toContain(secret);
			expect(shown).toMatch(/^before .*\*\*\*.* after$/);
		}
	});

	test.each([
		{ what: 'as it is', text: `the proof is ${proofOf(SIGNED)}, which` },
		{ what: 'as a URL writes it', text: proofOf(SIGNED).replace('.', '%2E') },
		{ what: 'with each letter percent-encoded', text: `?pay_proof=${percent.join('')}` },
	])('a proof by itself is replaced, $what', ({ text }) => {
		const shown = hideSecrets(`before ${text} after`, []) as string;
		expect(decodeURIComponent(shown)).not.toContain(MAC);
		expect(shown).toMatch(/^before .*\*\*\*.* after$/);
	});
});
