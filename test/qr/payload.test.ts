import fc from 'fast-check';
import { encode as encodePng } from 'fast-png';
import { findQrSource } from '../../nodes/Pay/qr/code';
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
		{ name: 'an EMV code', response: { data: { charge: { pix: code } } } },
		{ name: 'an EMV code in a list', response: [{ a: 1 }, { b: code }] },
		{ name: 'the whole response', response: code },
		{ name: 'the same code twice', response: { a: code, b: { c: code } } },
		{ name: 'a code with white space around it', response: { a: ` \t${code}\r\n` } },
		{ name: 'the same code with and without a newline', response: { a: code, b: `${code}\n` } },
		{
			name: 'a code and its picture',
			response: { a: code, image: `data:image/png;base64,${base64}` },
		},
	])('the code is found: $name', ({ response }) => {
		expect(findQrSource(response)).toStrictEqual({ text: code });
	});

	test('white space around what QR Code Path names counts for nothing: a phone would not open it', () => {
		const address = 'https://pay.example.com/c/1042';
		expect(findQrSource({ link: ` ${address}\r\n` }, ['link'])).toStrictEqual({ text: address });
	});

	// However else an image is written: imageText.test.ts.
	test('a PNG alone is what is shown', () => {
		expect(findQrSource({ id: '1', image: base64 })).toStrictEqual({ image: PNG });
	});

	/** The hint in place of a code; undefined where one was found. */
	const hintOf = (response: unknown, paths?: string[]) => {
		const source = findQrSource(response, paths);
		return 'hint' in source ? source.hint : undefined;
	};

	test.each([
		{
			what: 'of nothing that is a code',
			response: { id: '1', status: 'created' },
			paths: undefined,
			hint: 'No QR code: no payload was recognized in the response. Enter one of its text fields as QR Code Path in the Pay API credential (Describe the Service): id ("1"), status ("created").',
		},
		{
			what: 'of two codes',
			response: { id: '1', a: code, b: brCode('2', 10) },
			paths: undefined,
			hint: 'No QR code: the response contains 2 possible payloads. Enter one of its text fields as QR Code Path in the Pay API credential (Describe the Service): a ("00020126230014com.exampl…"), b ("00020126230014com.exampl…").',
		},
		{
			what: 'of paths that lead nowhere',
			response: { id: '1', a: 5 },
			paths: ['b', 'c'],
			hint: 'No QR code: the response has no text at "b" or "c" (QR Code Path). Its text fields: id ("1").',
		},
		{
			what: 'of a path to the address of a picture',
			response: { id: '1', image: 'https://a.test/qr.png' },
			paths: ['image'],
			hint: 'No QR code: "image" (QR Code Path) leads to the address of a picture, or to a picture that is not a PNG, JPEG or SVG. Set the path to the text of the code, if the response contains it: id ("1"), image ("https://a.test/qr.png").',
		},
	])('a hint says what to do: $what', ({ response, paths, hint }) => {
		expect(hintOf(response, paths)).toBe(hint);
	});

	test.each([
		{ name: 'no text at all', response: { id: 1, list: [null] }, fields: 'none' },
		{ name: 'a text as the whole', response: 'done', fields: '(the whole response) ("done")' },
		{ name: 'an empty response', response: '', fields: '(the whole response) ("")' },
		{ name: 'a field below another', response: { data: { id: '1' } }, fields: 'data.id ("1")' },
		{
			name: 'a text of 24 characters',
			response: { a: 'x'.repeat(24) },
			fields: `a ("${'x'.repeat(24)}")`,
		},
		{
			name: 'a text of 25 characters',
			response: { a: 'x'.repeat(25) },
			fields: `a ("${'x'.repeat(24)}…")`,
		},
		{ name: 'a text with line breaks', response: { a: 'one\n\ttwo' }, fields: 'a ("one two")' },
		{
			name: 'twenty texts, of which it names fifteen',
			response: [...'abcdefghijklmnopqrst'],
			fields: [...'abcdefghijklmno'].map((text, at) => `${at} ("${text}")`).join(', '),
		},
		{
			name: 'one without the address of a picture',
			response: { id: '1', image: 'https://a.test/qr.png' },
			fields: 'id ("1")',
		},
	])('a hint offers the text fields of $name', ({ response, fields }) => {
		const [, offered] = hintOf(response)!.split(' (Describe the Service): ');
		expect(offered).toBe(`${fields}.`);
	});

	test.each([
		{ what: 'a code within a text', text: `copy ${code}` },
		{ what: 'a code with a word behind it', text: `${code} now` },
		{ what: 'a code with a wrong checksum', text: `${code.slice(0, -4)}0000` },
		{ what: 'a PNG within a text', text: `image: ${base64}` },
		{ what: 'a PNG with a mark behind it', text: `${base64}!` },
	])('$what is no code', ({ text }) => {
		expect(hintOf({ text })).toContain('no payload was recognized');
	});

	test.each(EXAMPLES)('the published example of $scheme is found as the payload', ({ example }) => {
		for (const response of [{ id: '1', data: { code: example } }, `\n ${example}\n`]) {
			expect(findQrSource(response)).toStrictEqual({ text: example });
		}
		expect(findQrSource({ a: example, b: ` ${example}` }, ['b'])).toStrictEqual({ text: example });
	});

	test('an EMV code comes before another, and a code before a link', () => {
		const [upi, link] = ['UPI (India)', 'Alipay link'].map(
			(name) => EXAMPLES.find(({ scheme }) => scheme === name)!.example,
		);
		expect(findQrSource({ link, upi, code })).toStrictEqual({ text: code });
		expect(findQrSource({ link, upi })).toStrictEqual({ text: upi });
	});

	const svg = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';
	const jpeg = '/9j/4AAQSkZJRgABAQAAAQABAAD';
	test.each([
		{ what: 'an SVG', image: svg, mimeType: 'image/svg+xml' },
		{ what: 'a JPEG', image: jpeg, mimeType: 'image/jpeg' },
	])('$what of the service is given, named or not', ({ image, mimeType }) => {
		for (const paths of [undefined, ['image']]) {
			const source = findQrSource({ id: '1', image }, paths);
			expect(source).toMatchObject({ image: { mimeType } });
		}
	});

	test('of a code and its pictures the code counts, of pictures the one that is easiest to show', () => {
		expect(findQrSource({ svg, jpeg, base64, code })).toStrictEqual({ text: code });
		expect(findQrSource({ svg, jpeg, base64 })).toStrictEqual({ image: PNG });
		expect(findQrSource({ svg, jpeg })).toMatchObject({ image: { extension: 'jpg' } });
		expect(hintOf({ svg, other: `${svg} ` })).toContain('2 possible payloads');
	});

	test('a payment link that ends as a picture does is a payment link', () => {
		const address = 'upi://pay?pa=shop@bank&tn=a.png';
		for (const paths of [undefined, ['address']]) {
			expect(findQrSource({ address }, paths)).toStrictEqual({ text: address });
		}
	});

	// Which images cannot be used: imageText.test.ts.
	test.each([
		{ what: 'a GIF in base64', image: 'R0lGODlhAQABAAAAACw=' },
		{ what: 'the address of an image', image: 'https://api.example.com/qr/abc.png?size=300' },
	])('$what is never drawn as a code', ({ image }) => {
		expect(hintOf({ id: '1', image }, ['image'])).toContain('leads to the address of a picture');
		expect(hintOf({ id: '1', image })).toContain('no payload was recognized');
	});

	const link = 'https://pay.example.com/c/abc';
	/** More texts than are looked at where no path is given. */
	const many = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`t${n}`, 'x']));
	test.each([
		{
			what: 'a text beside a code',
			paths: ['b.c'],
			response: { a: code, b: { c: 'text' } },
			expected: { text: 'text' },
		},
		{
			what: 'a PNG in a list',
			paths: ['a.0.image'],
			response: { a: [{ image: base64 }] },
			expected: { image: PNG },
		},
		{
			what: 'a link to a page with another ending',
			paths: ['link'],
			response: { link },
			expected: { text: link },
		},
		{
			what: 'a text behind many others',
			paths: ['t2999'],
			response: many,
			expected: { text: 'x' },
		},
		{
			what: 'a key with a dot',
			paths: ['b.qr.code'],
			response: { ...many, b: { 'qr.code': 'it' } },
			expected: { text: 'it' },
		},
		{
			what: 'the first of two texts',
			paths: ['a', 'b'],
			response: { b: 'two', a: 'one' },
			expected: { text: 'one' },
		},
		{
			what: 'the second, where the first is null',
			paths: ['a', 'b'],
			response: { a: null, b: 'two' },
			expected: { text: 'two' },
		},
		{
			what: 'the second, where there is no first',
			paths: ['a', 'b'],
			response: { b: 'two' },
			expected: { text: 'two' },
		},
		{
			what: 'a code with blanks around it',
			paths: ['a'],
			response: { a: ` ${code}\n` },
			expected: { text: code },
		},
	])('a path to $what decides', ({ paths, response, expected }) => {
		expect(findQrSource(response, paths)).toStrictEqual(expected);
	});

	test.each([
		{ what: 'nothing', response: { a: 1 } },
		{ what: 'nothing behind many texts', response: many },
		{ what: 'a number', response: { a: 1, b: 5 } },
		{ what: 'an empty text', response: { a: 1, b: '' } },
		{ what: 'blanks', response: { a: 1, b: ' \n' } },
	])('a path to $what gives a hint', ({ response }) => {
		expect(hintOf(response, ['b'])).toContain('no text at "b"');
	});

	/** A response that holds the code so many levels down. */
	const deep = (levels: number): unknown => (levels === 0 ? code : { a: deep(levels - 1) });
	/** A response that holds the code behind so many other texts. */
	const behind = (count: number) => ({ texts: Array.from({ length: count }, () => 'x'), code });
	test.each([
		{ where: '50 levels down', found: true, response: deep(50) },
		{ where: '51 levels down', found: false, response: deep(51) },
		{ where: 'as the 2,000th text', found: true, response: behind(1999) },
		{ where: 'as the 2,001st text', found: false, response: behind(2000) },
	])('no response holds up a run: a code $where is found: $found', ({ found, response }) => {
		expect(hintOf(response) === undefined).toBe(found);
	});

	test('no response, however odd, makes it throw', () => {
		fc.assert(
			fc.property(fc.anything(), fc.string(), (response, path) => {
				expect(findQrSource(response, [path])).toBeDefined();
			}),
			{ numRuns: runs(1000) },
		);
	});
});
