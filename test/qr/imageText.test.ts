import { imageIn } from '../../nodes/Pay/qr/imageText';

const PNG = Buffer.concat([
	Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
	Buffer.from([0xfb, 0xff, 0xbf, 0x00, 0x01]),
]);
const BASE64 = PNG.toString('base64');
const DATA = `data:image/png;base64,${BASE64}`;

test.each([
	['base64', BASE64],
	['base64 without its end signs', BASE64.replace(/=+$/, '')],
	['base64url', PNG.toString('base64url')],
	['base64 with white space of any kind', ` ${BASE64.slice(0, 5)} \r\n\t${BASE64.slice(5)}\n`],
	['a data URI', DATA],
	['a data URI behind blanks', ` \n${DATA}`],
	['a data URI in capitals', `DATA:IMAGE/PNG;BASE64,${BASE64}`],
	['a data URI in percent-encoding', `data:image/png;base64,${encodeURIComponent(BASE64)}`],
	['a data URI without a type', `data:image/,${BASE64}`],
])('a PNG in %s', (_how, text) => {
	expect(imageIn(text)).toStrictEqual({ png: PNG });
});

test.each([
	['a data URI that cannot be decoded', 'data:image/png;base64,%'],
	['a data URI of nothing', 'data:image/png;base64,'],
	['a data URI of a JPEG', 'data:image/jpeg;base64,/9j/4AAQSkZJRg=='],
	['the address of an image', ' https://a.test/qr.png\n'],
	['the address of an image with a query', 'http://a.test/QR.JPEG?size=3#x'],
	['a PNG that was read as text', '\ufffdPNG\r\n\u001a\n'],
	['an SVG', '\n<svg>'],
	['an SVG with attributes', '<svg width="1">'],
	['an SVG behind a comment', '<?xml version="1.0"?>\n<!-- x -->\n<svg>'],
	['a GIF as text', 'GIF89a'],
	['a GIF in base64', 'R0lGODlhAQABAAAAACw='],
	['a JPEG in base64', '/9j/4AAQSkZJRg=='],
])('%s is an image, and no PNG that can be used', (_what, text) => {
	expect(imageIn(text)).toBe('other');
});

test.each([
	['a word', 'R0lGODl'],
	['nothing', ''],
	['a PNG with a mark behind it', `${BASE64}!`],
	['a PNG with an end sign inside', `R0lGODlh=${BASE64}`],
	['a PNG with three end signs', 'R0lGODlhAQABAAAAACw==='],
	['a data URI within a text', `x ${DATA}`],
	['a data URI of a text', 'data:text/plain,image'],
	['a data URI without data', 'data:image/png'],
	['an SVG within a text', 'x <svg>'],
	['an element with a longer name', '<svgs>'],
	['a page', 'https://a.test/qr.html'],
	['an address with a blank', 'https://a.test/q r.png'],
	['an address within a text', 'see https://a.test/qr.png'],
	['an address with more behind it', 'https://a.test/qr.pngs'],
	['an address whose query names an image', 'https://a.test/?qr.png'],
	['the name of PNG', 'PNG\r\n'],
])('%s is no image', (_what, text) => {
	expect(imageIn(text)).toBeUndefined();
});

test('only the beginning of a text is looked at for an image that is no PNG', () => {
	const address = (length: number) => `https://a.test/${'a'.repeat(length - 19)}.png`;
	expect(address(20_000)).toHaveLength(20_000);
	expect(imageIn(address(20_000))).toBe('other');
	expect(imageIn(address(20_001))).toBeUndefined();
	const svg = (blanks: number) => `<?xml ${' '.repeat(blanks)}<svg>`;
	expect(imageIn(svg(19_989))).toBe('other');
	expect(imageIn(svg(19_990))).toBeUndefined();
});
