import fc from 'fast-check';
import { encode as encodePng } from 'fast-png';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findQrSource } from '../../nodes/Pay/qr/payload';
import { SCHEMES } from '../../nodes/Pay/qr/schemes';
import { brCode } from '../../sandbox/brCode';
import { runs } from '../runs';
import { EXAMPLES } from './schemes';

describe('finding the payload in a response of unknown form', () => {
	const code = brCode('1', 10);
	const pixels = new Uint8Array(16 * 16 * 4).map((_, at) => at);
	const png = Buffer.from(encodePng({ width: 16, height: 16, data: pixels }));
	const base64 = png.toString('base64');
	const PNG = { bytes: png, mimeType: 'image/png', extension: 'png' };

	test.each([
		{
			name: 'an EMV code',
			response: { data: { charge: { pix: code } } },
		},
		{
			name: 'an EMV code in a list',
			response: [{ a: 1 }, { b: code }],
		},
		{
			name: 'the whole response',
			response: code,
		},
		{
			name: 'the same code twice',
			response: { a: code, b: { c: code } },
		},
		{
			name: 'a code with white space around it',
			response: { a: ` \t${code}\r\n` },
		},
		{
			name: 'the same code with and without a newline',
			response: { a: code, b: `${code}\n` },
		},
		{
			name: 'a code and its picture',
			response: { a: code, image: `data:image/png;base64,${base64}` },
		},
	])('$name', ({ response }) => {
		expect(findQrSource(response, '')).toStrictEqual({ text: code });
	});

	test('white space around what QR Code Path names counts for nothing: a phone would not open it', () => {
		const address = 'https://pay.example.com/c/1042';
		expect(findQrSource({ link: ` ${address}\r\n` }, 'link')).toStrictEqual({ text: address });
	});

	test.each([
		{
			name: 'a data URI',
			response: { image: `data:image/png;base64,${base64}` },
		},
		{
			name: 'base64',
			response: { image: base64 },
		},
		{
			name: 'base64 in lines',
			response: { image: base64.replace(/.{76}/g, '$&\r\n') },
		},
		{
			name: 'base64url',
			response: { image: png.toString('base64url') },
		},
		{
			name: 'a data URI in capitals',
			response: { image: `DATA:image/PNG;BASE64,${base64}` },
		},
		{
			name: 'a data URI with a parameter',
			response: { image: `data:image/png;name=a.png;base64, ${base64}` },
		},
		{
			name: 'a data URI in percent-encoding',
			response: { a: `data:image/png;base64,${encodeURIComponent(base64)}` },
		},
		{
			name: 'a data URI of base64url',
			response: { image: `data:image/png;base64,${png.toString('base64url')}` },
		},
	])('a PNG as $name', ({ response }) => {
		expect(findQrSource(response, '')).toStrictEqual({ image: PNG });
	});

	test.each([
		{
			name: 'nothing',
			response: { id: '1', status: 'created' },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: id ("1"), status ("created").',
		},
		{
			name: 'no text at all',
			response: { id: 1, list: [null] },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: none.',
		},
		{
			name: 'a text as the whole',
			response: 'done',
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: (the whole response) ("done").',
		},
		{
			name: 'a field below another',
			response: { data: { id: '1' } },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: data.id ("1").',
		},
		{
			name: 'a text of 24 characters',
			response: { a: 'x'.repeat(24) },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: a ("xxxxxxxxxxxxxxxxxxxxxxxx").',
		},
		{
			name: 'a text with line breaks',
			response: { a: 'one\n\ttwo' },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: a ("one two").',
		},
		{
			name: 'a longer one',
			response: { a: 'x'.repeat(25) },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: a ("xxxxxxxxxxxxxxxxxxxxxxxx…").',
		},
		{
			name: 'twenty texts',
			response: [...'abcdefghijklmnopqrst'],
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: 0 ("a"), 1 ("b"), 2 ("c"), 3 ("d"), 4 ("e"), 5 ("f"), 6 ("g"), 7 ("h"), 8 ("i"), 9 ("j"), 10 ("k"), 11 ("l"), 12 ("m"), 13 ("n"), 14 ("o").',
		},
		{
			name: 'a code within a text',
			response: { a: `copy ${code}` },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: a ("copy 00020126230014com.e…").',
		},
		{
			name: 'a code with a word behind it',
			response: { a: `${code} now` },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: a ("00020126230014com.exampl…").',
		},
		{
			name: 'a PNG within a text',
			response: { a: `image: ${base64}` },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: a ("image: iVBORw0KGgoAAAANS…").',
		},
		{
			name: 'a PNG with a mark behind it',
			response: { a: `${base64}!` },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: a ("iVBORw0KGgoAAAANSUhEUgAA…").',
		},
		{
			name: 'a code with a wrong checksum',
			response: { a: code.replace(/.$/, (last) => (last === '0' ? '1' : '0')) },
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: a ("00020126230014com.exampl…").',
		},
		{
			name: 'two codes',
			response: { id: '1', a: code, b: brCode('2', 10) },
			hint: 'No QR code: the response holds 2 possible payloads. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: a ("00020126230014com.exampl…"), b ("00020126230014com.exampl…").',
		},
		{
			name: 'an empty response',
			response: '',
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: (the whole response) ("").',
		},
	])('$name gives a hint', ({ response, hint }) => {
		expect(findQrSource(response, '')).toStrictEqual({ hint: hint });
	});

	test.each(EXAMPLES)('$scheme, by its published example', ({ example }) => {
		for (const response of [{ id: '1', data: { code: example } }, `\n ${example}\n`]) {
			expect(findQrSource(response, '')).toStrictEqual({ text: example });
		}
		expect(findQrSource({ a: example, b: ` ${example}` }, 'b')).toStrictEqual({ text: example });
	});

	test('an EMV code comes before another, and a code before a link', () => {
		const [upi, link] = ['UPI (India)', 'Alipay link'].map(
			(name) => EXAMPLES.find(({ scheme }) => scheme === name)!.example,
		);
		expect(findQrSource({ link, upi, code }, '')).toStrictEqual({ text: code });
		expect(findQrSource({ link, upi }, '')).toStrictEqual({ text: upi });
	});

	test('the document lists these schemes', () => {
		const document = readFileSync(join(__dirname, '../../docs/service.md'), 'utf8');
		const table = document.slice(
			document.indexOf('| Code '),
			document.indexOf('_`test/qr/schemes'),
		);
		const rows = table.split('\n').slice(2).filter(Boolean);
		const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
		expect(cells.map((row) => row.slice(1, 3))).toStrictEqual(
			SCHEMES.map(({ name, begins }) => [name, `\`${begins}\``]),
		);
	});

	test('each scheme has an example, which it alone takes for its own', () => {
		expect(EXAMPLES.map(({ scheme }) => scheme)).toStrictEqual(SCHEMES.map(({ name }) => name));
		for (const { scheme, example } of EXAMPLES) {
			const own = SCHEMES.filter(({ isCode }) => isCode(example));
			expect(own.map(({ name }) => name)).toStrictEqual([scheme]);
			expect(example.startsWith(own[0]!.begins)).toBe(true);
		}
	});

	test.each([
		{
			what: 'a sentence about a scheme',
			text: 'upi://pay is not offered here',
		},
		{
			what: 'a link without who is paid',
			text: 'upi://pay?am=10&tn=pa=x@y',
		},
		{
			what: 'the word of a scheme',
			text: 'BCD',
		},
		{
			what: 'a bank code of the same letters',
			text: 'SPC\n0200\n1\nDE89370400440532013000\n',
		},
		{
			what: 'the word of another',
			text: 'SPD*1.0*MSG:hello',
		},
		{
			what: 'a price list',
			text: 'ST00012|Name=a',
		},
		{
			what: 'a page of a wallet',
			text: 'https://qr.alipay.com/',
		},
		{
			what: 'a page about a wallet',
			text: 'https://payconiq.com/pay/2/help',
		},
	])('$what is no code', ({ text }) => {
		expect(findQrSource({ text }, '')).toStrictEqual({
			hint: expect.stringMatching(/no payload was recognized/),
		});
	});

	test('a form that only looks like one takes no time to tell', () => {
		const begun = process.cpuUsage();
		for (const long of ['upi://pay?' + 'pa='.repeat(1e6), 'SPD*1.0*' + 'A*'.repeat(1e6)]) {
			findQrSource({ long }, '');
		}
		expect(process.cpuUsage(begun).user).toBeLessThan(5_000_000);
	});

	const svg = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';
	const jpeg = '/9j/4AAQSkZJRgABAQAAAQABAAD';
	test.each([
		{ what: 'an SVG', image: svg, mimeType: 'image/svg+xml' },
		{ what: 'a JPEG', image: jpeg, mimeType: 'image/jpeg' },
	])('$what of the service is given, named or not', ({ image, mimeType }) => {
		for (const path of ['', 'image']) {
			const source = findQrSource({ id: '1', image }, path);
			expect(source).toMatchObject({ image: { mimeType } });
		}
	});

	test('of a code and its pictures the code counts, of pictures the one that is easiest to show', () => {
		expect(findQrSource({ svg, jpeg, base64, code }, '')).toStrictEqual({ text: code });
		expect(findQrSource({ svg, jpeg, base64 }, '')).toStrictEqual({ image: PNG });
		expect(findQrSource({ svg, jpeg }, '')).toMatchObject({ image: { extension: 'jpg' } });
		expect(findQrSource({ svg, other: `${svg} ` }, '')).toStrictEqual({
			hint: expect.stringMatching(/the response holds 2 possible payloads/),
		});
	});

	test('a payment link that ends as a picture does is a payment link', () => {
		const address = 'upi://pay?pa=shop@bank&tn=a.png';
		for (const path of ['', 'address']) {
			expect(findQrSource({ address }, path)).toStrictEqual({ text: address });
		}
	});

	test.each([
		{
			what: 'a GIF in base64',
			image: 'R0lGODlhAQABAAAAACw=',
		},
		{
			what: 'a WebP in base64',
			image: 'UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAUAmJaQAA3AA',
		},
		{
			what: 'a data URI that calls itself a PNG',
			image: 'data:image/png;base64,AAAA',
		},
		{
			what: 'the bytes of a PNG as text',
			image: '\ufffdPNG\r\n\u001a\n',
		},
		{
			what: 'the address of an image',
			image: 'https://api.example.com/qr/abc.png?size=300',
		},
		{
			what: 'an address whose query ends as a picture does',
			image: 'https://api.example.com/qr?file=abc.png',
		},
	])('$what is never drawn as a code', ({ image }) => {
		expect(findQrSource({ id: '1', image }, 'image')).toStrictEqual({
			hint: expect.stringMatching(
				/leads to the address of a picture, or to one that is no PNG, JPEG or SVG.*: id \("1"\)/,
			),
		});
		expect(findQrSource({ id: '1', image }, '')).toStrictEqual({
			hint: 'No QR code: no payload was recognized in the response. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: id ("1").',
		});
	});

	const link = 'https://pay.example.com/c/abc';
	/** More texts than are looked at where no path is given. */
	const many = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`t${n}`, 'x']));
	test.each([
		{
			what: 'a text beside a code',
			path: 'b.c',
			response: { a: code, b: { c: 'text' } },
			expected: { text: 'text' },
		},
		{
			what: 'a PNG in a list',
			path: 'a.0.image',
			response: { a: [{ image: base64 }] },
			expected: { image: PNG },
		},
		{
			what: 'a link to a page with another ending',
			path: 'link',
			response: { link },
			expected: { text: link },
		},
		{
			what: 'a text behind many others',
			path: 't2999',
			response: many,
			expected: { text: 'x' },
		},
		{
			what: 'a key with a dot',
			path: 'b.qr.code',
			response: { ...many, b: { 'qr.code': 'it' } },
			expected: { text: 'it' },
		},
		{
			what: 'the first of two texts',
			path: 'a\nb',
			response: { b: 'two', a: 'one' },
			expected: { text: 'one' },
		},
		{
			what: 'the second, where the first is null',
			path: 'a\nb',
			response: { a: null, b: 'two' },
			expected: { text: 'two' },
		},
		{
			what: 'the second, where there is no first',
			path: 'a\nb',
			response: { b: 'two' },
			expected: { text: 'two' },
		},
		{
			what: 'a code with blanks around it',
			path: 'a',
			response: { a: ` ${code}\n` },
			expected: { text: code },
		},
	])('a path to $what decides', ({ path, response, expected }) => {
		expect(findQrSource(response, path)).toStrictEqual(expected);
	});

	test.each([
		{
			what: 'nothing',
			response: { a: 1 },
		},
		{
			what: 'nothing behind many texts',
			response: many,
		},
		{
			what: 'a number',
			response: { a: 1, b: 5 },
		},
		{
			what: 'an empty text',
			response: { a: 1, b: '' },
		},
		{
			what: 'blanks',
			response: { a: 1, b: ' \n' },
		},
	])('a path to $what gives a hint', ({ response }) => {
		expect(findQrSource(response, 'b')).toStrictEqual({
			hint: expect.stringMatching(/no text at "b"/),
		});
	});

	test('paths that lead nowhere are both named', () => {
		expect(findQrSource({ id: '1', a: 5 }, 'b\nc')).toStrictEqual({
			hint: 'No QR code: the response has no text at "b" or "c" (QR Code Path). Its text fields: id ("1").',
		});
	});

	/** A response that holds the code so many levels down. */
	const deep = (levels: number): unknown => (levels === 0 ? code : { a: deep(levels - 1) });
	/** A response that holds the code behind so many other texts. */
	const behind = (count: number) => ({ texts: Array.from({ length: count }, () => 'x'), code });
	test.each([
		{
			where: '50 levels down',
			found: true,
			response: deep(50),
		},
		{
			where: '51 levels down',
			found: false,
			response: deep(51),
		},
		{
			where: 'as the 2,000th text',
			found: true,
			response: behind(1999),
		},
		{
			where: 'as the 2,001st text',
			found: false,
			response: behind(2000),
		},
	])('no response holds up a run: a code $where is found: $found', ({ found, response }) => {
		expect('hint' in findQrSource(response, '')).toBe(!found);
	});

	test('no response, however odd, makes it throw', () => {
		fc.assert(
			fc.property(fc.anything(), fc.string(), (response, path) => {
				expect(findQrSource(response, path)).toBeDefined();
			}),
			{ numRuns: runs(1000) },
		);
	});
});
