import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { qrPng } from '../../nodes/Pay/qr/image';
import { findQrSource } from '../../nodes/Pay/qr/payload';
import { SCHEMES } from '../../nodes/Pay/qr/schemes';
import { brCode } from '../../sandbox/brCode';
import { runs } from '../runs';
import { EXAMPLES } from './schemes';

describe('finding the payload in a response of unknown form', () => {
	const code = brCode('1', 10);
	const png = qrPng(code);
	const base64 = png.toString('base64');

	test.each([
		['an EMV code', { data: { charge: { pix: code } } }],
		['an EMV code in a list', [{ a: 1 }, { b: code }]],
		['the whole response', code],
		['the same code twice', { a: code, b: { c: code } }],
		['a code with white space around it', { a: ` \t${code}\r\n` }],
		['the same code with and without a newline', { a: code, b: `${code}\n` }],
		['a code and its picture', { a: code, image: `data:image/png;base64,${base64}` }],
	])('%s', (_name, response) => {
		expect(findQrSource(response, '')).toStrictEqual({ text: code });
	});

	test.each([
		['a data URI', { image: `data:image/png;base64,${base64}` }],
		['base64', { image: base64 }],
		['base64 in lines', { image: base64.replace(/.{76}/g, '$&\r\n') }],
		['base64url', { image: png.toString('base64url') }],
		['a data URI in capitals', { image: `DATA:image/PNG;BASE64,${base64}` }],
		['a data URI with a parameter', { image: `data:image/png;name=a.png;base64, ${base64}` }],
		[
			'a data URI in percent-encoding',
			{ a: `data:image/png;base64,${encodeURIComponent(base64)}` },
		],
		['a data URI of base64url', { image: `data:image/png;base64,${png.toString('base64url')}` }],
	])('a PNG as %s', (_name, response) => {
		expect(findQrSource(response, '')).toStrictEqual({ png });
	});

	test.each([
		['nothing', { id: '1', status: 'created' }, /no payload was recognized.*id \("1"\), status/],
		['no text at all', { id: 1, list: [null] }, /its text fields: none\.$/],
		['a text as the whole', 'done', /its text fields: \(the whole response\) \("done"\)/],
		['a field below another', { data: { id: '1' } }, /: data\.id \("1"\)\.$/],
		['a text of 24 characters', { a: 'x'.repeat(24) }, /: a \("x{24}"\)\.$/],
		['a text with line breaks', { a: 'one\n\ttwo' }, /: a \("one two"\)\.$/],
		['a longer one', { a: 'x'.repeat(25) }, /: a \("x{24}…"\)\.$/],
		['twenty texts', [...'abcdefghijklmnopqrst'], /: 0 \("a"\), .*, 14 \("o"\)\.$/],
		['a code within a text', { a: `copy ${code}` }, /no payload was recognized/],
		['a code with a word behind it', { a: `${code} now` }, /no payload was recognized/],
		['a PNG within a text', { a: `image: ${base64}` }, /no payload was recognized/],
		['a PNG with a mark behind it', { a: `${base64}!` }, /no payload was recognized/],
		[
			'a code with a wrong checksum',
			{ a: code.replace(/.$/, (last) => (last === '0' ? '1' : '0')) },
			/no payload was recognized/,
		],
		['two codes', { id: '1', a: code, b: brCode('2', 10) }, /2 possible .*fields: a \(.*b \(/],
		['an empty response', '', /no payload was recognized/],
	])('%s gives a hint', (_name, response, hint) => {
		expect(findQrSource(response, '')).toStrictEqual({ hint: expect.stringMatching(hint) });
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
		['a sentence about a scheme', 'upi://pay is not offered here'],
		['a link without who is paid', 'upi://pay?am=10&tn=pa=x@y'],
		['the word of a scheme', 'BCD'],
		['a bank code of the same letters', 'SPC\n0200\n1\nDE89370400440532013000\n'],
		['the word of another', 'SPD*1.0*MSG:hello'],
		['a price list', 'ST00012|Name=a'],
		['a page of a wallet', 'https://qr.alipay.com/'],
		['a page about a wallet', 'https://payconiq.com/pay/2/help'],
	])('%s is no code', (_what, text) => {
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
	test.each([
		['an SVG', svg],
		['an SVG behind an XML declaration', `<?xml version="1.0"?>\n${svg}`],
		['an SVG in base64', Buffer.from(svg).toString('base64')],
		['a data URI of an SVG', `data:image/svg+xml;utf8,${svg}`],
		['a data URI of a JPEG', 'data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD'],
		['a JPEG in base64', '/9j/4AAQSkZJRgABAQAAAQABAAD'],
		['a GIF in base64', 'R0lGODlhAQABAAAAACw='],
		['a WebP in base64', 'UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAUAmJaQAA3AA'],
		['a data URI that calls itself a PNG', 'data:image/png;base64,AAAA'],
		['the bytes of a PNG as text', '\ufffdPNG\r\n\u001a\n'],
		['the address of an image', 'https://api.example.com/qr/abc.png?size=300'],
	])('%s is never drawn as a code', (_what, image) => {
		expect(findQrSource({ id: '1', image }, 'image')).toStrictEqual({
			hint: expect.stringMatching(/leads to an image or its address, and only a PNG.*: id \("1"\)/),
		});
		expect(findQrSource({ id: '1', image }, '')).toStrictEqual({
			hint: expect.stringMatching(/one of its text fields: id \("1"\)\.$/),
		});
	});

	const link = 'https://pay.example.com/c/abc';
	/** More texts than are looked at where no path is given. */
	const many = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`t${n}`, 'x']));
	test.each([
		['a text beside a code', 'b.c', { a: code, b: { c: 'text' } }, { text: 'text' }],
		['a PNG in a list', 'a.0.image', { a: [{ image: base64 }] }, { png }],
		['a link to a page with another ending', 'link', { link }, { text: link }],
		['a text behind many others', 't2999', many, { text: 'x' }],
		['a key with a dot', 'b.qr.code', { ...many, b: { 'qr.code': 'it' } }, { text: 'it' }],
		['the first of two texts', 'a\nb', { b: 'two', a: 'one' }, { text: 'one' }],
		['the second, where the first is null', 'a\nb', { a: null, b: 'two' }, { text: 'two' }],
		['the second, where there is no first', 'a\nb', { b: 'two' }, { text: 'two' }],
		['a code with blanks around it', 'a', { a: ` ${code}\n` }, { text: code }],
	])('a path to %s decides', (_what, path, response, expected) => {
		expect(findQrSource(response, path)).toStrictEqual(expected);
	});

	test.each([
		['nothing', { a: 1 }],
		['nothing behind many texts', many],
		['a number', { a: 1, b: 5 }],
		['an empty text', { a: 1, b: '' }],
		['blanks', { a: 1, b: ' \n' }],
	])('a path to %s gives a hint', (_what, response) => {
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
		['50 levels down', true, deep(50)],
		['51 levels down', false, deep(51)],
		['as the 2,000th text', true, behind(1999)],
		['as the 2,001st text', false, behind(2000)],
	])('no response holds up a run: a code %s is found: %p', (_where, found, response) => {
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
