import fc from 'fast-check';
import { signUrl, verifyQuery, type Reference } from '../../nodes/Pay/postback/proof';

const reference: fc.Arbitrary<Reference> = fc.record({
	external_id: fc.string({ unit: 'grapheme', minLength: 1 }),
	kind: fc.constantFrom('qrCode' as const, 'payment' as const),
	amount: fc.double({ min: 0.01, max: 1e9, noNaN: true }),
});
const secret = fc.string({ minLength: 1 });

/** A query as express parses it: a repeated parameter is a list. */
function queryOf(url: string): Record<string, unknown> {
	const query: Record<string, unknown> = {};
	for (const [name, value] of new URL(url).searchParams) {
		query[name] = name in query ? [query[name], value].flat() : value;
	}
	return query;
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('signed postback URLs', () => {
	test('prove the reference they were made for, and leave the rest of the URL alone', () => {
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
				expect(verifyQuery(queryOf(signed), key)).toEqual(about);
				const [before = '', fragment] = address.split('#');
				expect(signed.startsWith(before)).toBe(true);
				expect(signed.split('#')[1]).toBe(fragment);
				const { pay_reference, pay_signature, ...rest } = queryOf(signed);
				expect(rest).toEqual(queryOf(address));
			}),
			{ numRuns: 1000 },
		);
	});

	test('no forgery is taken, of 10,000', () => {
		const SECRET = 'the secret of the test';
		const forge = fc.tuple(
			reference,
			reference,
			secret.filter((other) => other !== SECRET),
			fc.nat(),
			fc.constantFrom(...BASE64URL, '=', '+', '/', '%', ' ', '.'),
			fc.integer({ min: 0, max: 13 }),
		);
		let forged = 0;
		fc.assert(
			fc.property(forge, ([about, other, otherSecret, at, letter, kind]) => {
				const genuine = queryOf(signUrl('https://a.example/', about, SECRET)) as Record<
					string,
					string
				>;
				const foreign = queryOf(signUrl('https://a.example/', other, SECRET)) as Record<
					string,
					string
				>;
				const wrong = queryOf(signUrl('https://a.example/', about, otherSecret)) as Record<
					string,
					string
				>;
				const { pay_reference: r = '', pay_signature: s = '' } = genuine;
				const put = (text: string) => {
					const place = at % text.length;
					return text.slice(0, place) + letter + text.slice(place + 1);
				};
				const cut = (text: string) => text.slice(0, at % text.length);
				const forgeries: Array<Record<string, unknown>> = [
					{ pay_reference: put(r), pay_signature: s },
					{ pay_reference: r, pay_signature: put(s) },
					{ pay_reference: cut(r), pay_signature: s },
					{ pay_reference: r, pay_signature: cut(s) },
					{ pay_reference: foreign.pay_reference, pay_signature: s },
					{ pay_reference: r, pay_signature: foreign.pay_signature },
					wrong,
					{ pay_reference: [r, r], pay_signature: s },
					{ pay_reference: r, pay_signature: [s, s] },
					{ pay_reference: r },
					{ pay_signature: s },
					{ pay_reference: s, pay_signature: r },
					{ pay_reference: `${r}=`, pay_signature: s },
					{ pay_reference: r, pay_signature: Buffer.from(s, 'base64url').toString('base64') },
				];
				const forgery = forgeries[kind]!;
				// A mutation may give back what it started from, and then it is no forgery.
				fc.pre(forgery.pay_reference !== r || forgery.pay_signature !== s);
				forged++;
				expect(verifyQuery(forgery, SECRET)).toBeNull();
			}),
			{ numRuns: 10_000 },
		);
		expect(forged).toBeGreaterThanOrEqual(10_000);
	});

	test('an empty secret proves nothing', () => {
		const about: Reference = { external_id: 'a', kind: 'payment', amount: 1 };
		expect(verifyQuery(queryOf(signUrl('https://a.example/', about, '')), '')).toBeNull();
	});

	test('a reference of boundless length is refused unread', () => {
		const about: Reference = { external_id: 'a'.repeat(10_000), kind: 'payment', amount: 1 };
		expect(verifyQuery(queryOf(signUrl('https://a.example/', about, 's')), 's')).toBeNull();
	});
});
