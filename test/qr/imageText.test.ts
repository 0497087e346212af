import { imageIn } from '../../nodes/Pay/qr/image';

const PNG = Buffer.concat([
	Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
	Buffer.from([0xfb, 0xff, 0xbf, 0x00, 0x01]),
]);
const BASE64 = PNG.toString('base64');
const DATA = `data:image/png;base64,${BASE64}`;

test.each([
	{ how: 'base64', text: BASE64 },
	{ how: 'base64 without its end signs', text: BASE64.replace(/=+$/, '') },
	{ how: 'base64url', text: PNG.toString('base64url') },
	{
		how: 'base64 with white space of any kind',
		text: ` ${BASE64.slice(0, 5)} \r\n\t${BASE64.slice(5)}\n`,
	},
	{ how: 'a data URI', text: DATA },
	{ how: 'a data URI behind blanks', text: ` \n${DATA}` },
	{ how: 'a data URI in capitals', text: `DATA:IMAGE/PNG;BASE64,${BASE64}` },
	{
		how: 'a data URI in percent-encoding',
		text: `data:image/png;base64,${encodeURIComponent(BASE64)}`,
	},
	{ how: 'a data URI without a type', text: `data:image/,${BASE64}` },
])('a PNG in $how is found', ({ text }) => {
	expect(imageIn(text)).toStrictEqual({ bytes: PNG, mimeType: 'image/png', extension: 'png' });
});

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><rect fill="#fff"/>é</svg>';
test.each([
	{ how: 'text', text: SVG, svg: SVG },
	{
		how: 'text behind declarations, comments and white space',
		text: `\ufeff\n<?xml version="1.0"?>\n<!-- a - b --><!DOCTYPE svg PUBLIC "x" [ <!ENTITY a "b"> ]>${SVG}`,
		svg: `\ufeff\n<?xml version="1.0"?>\n<!-- a - b --><!DOCTYPE svg PUBLIC "x" [ <!ENTITY a "b"> ]>${SVG}`,
	},
	{ how: 'base64', text: Buffer.from(SVG).toString('base64'), svg: SVG },
	{
		how: 'a data URI in base64',
		text: `data:image/svg+xml;base64,${Buffer.from(SVG).toString('base64')}`,
		svg: SVG,
	},
	{ how: 'a data URI as text', text: `data:image/svg+xml;utf8,${SVG}`, svg: SVG },
	{
		how: 'a data URI in percent-encoding',
		text: `data:image/svg+xml,${encodeURIComponent(SVG)}`,
		svg: SVG,
	},
	{
		how: 'a data URI that calls itself a PNG',
		text: `data:image/png;base64,${Buffer.from(SVG).toString('base64')}`,
		svg: SVG,
	},
])('an SVG as $how is given as it is, as what it is', ({ text, svg }) => {
	const expected = { bytes: Buffer.from(svg), mimeType: 'image/svg+xml', extension: 'svg' };
	expect(imageIn(text)).toStrictEqual(expected);
});

test.each(['/9j/4AAQSkZJRg==', 'data:image/jpeg;base64,/9j/4AAQSkZJRg=='])(
	'a JPEG is given as it is: %s',
	(text) => {
		const bytes = Buffer.from('/9j/4AAQSkZJRg==', 'base64');
		expect(imageIn(text)).toStrictEqual({ bytes, mimeType: 'image/jpeg', extension: 'jpg' });
	},
);

test.each([
	{ what: 'a data URI that cannot be decoded', text: 'data:image/png;base64,%' },
	{ what: 'a data URI of nothing', text: 'data:image/png;base64,' },
	{ what: 'the address of an image', text: ' https://a.test/qr.png\n' },
	{ what: 'the address of an image with a query', text: 'http://a.test/QR.JPEG?size=3#x' },
	{ what: 'a PNG that was read as text', text: '\ufffdPNG\r\n\u001a\n' },
	{ what: 'a GIF as text', text: 'GIF89a' },
	{ what: 'a GIF in base64', text: 'R0lGODlhAQABAAAAACw=' },
	{ what: 'a WebP in base64', text: 'UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAUAmJaQAA3AA' },
	{ what: 'a data URI that calls itself a PNG', text: 'data:image/png;base64,AAAA' },
	{
		what: 'a data URI that calls itself an SVG',
		text: 'data:image/svg+xml,<html><script>1</script><svg></html>',
	},
	{ what: 'an address whose query ends as a picture does', text: 'https://a.test/?qr.png' },
	{ what: 'an address with a blank', text: 'https://a.test/q r.png' },
	{ what: 'an address with a slash at its end', text: 'https://a.test/qr.svg/' },
	{ what: 'an address without its beginning', text: '//a.test/qr.bmp' },
	{ what: 'a path', text: '/qr/1042.avif' },
	{ what: 'the name of a file', text: 'qr.jfif' },
])('$what is an image that cannot be used', ({ text }) => {
	expect(imageIn(text)).toBe('other');
});

test.each([
	{ what: 'a word', text: 'R0lGODl' },
	{ what: 'nothing', text: '' },
	{ what: 'a PNG with a mark behind it', text: `${BASE64}!` },
	{ what: 'a PNG with an end sign inside', text: `R0lGODlh=${BASE64}` },
	{ what: 'a PNG with three end signs', text: 'R0lGODlhAQABAAAAACw===' },
	{ what: 'a data URI within a text', text: `x ${DATA}` },
	{ what: 'a data URI of a text', text: 'data:text/plain,image' },
	{ what: 'a data URI without data', text: 'data:image/png' },
	{ what: 'an SVG within a text', text: 'x <svg>' },
	{ what: 'an element with a longer name', text: '<svgs>' },
	{ what: 'a page', text: 'https://a.test/qr.html' },
	{ what: 'an address within a text', text: 'see https://a.test/qr.png' },
	{ what: 'an address with more behind it', text: 'https://a.test/qr.pngs' },
	{
		what: 'an address that names a picture in its middle',
		text: 'https://a.test/c/abc?logo=a.png&id=1',
	},
	{ what: 'a page that holds an SVG', text: '<!DOCTYPE html><html><svg></svg></html>' },
	{ what: 'XML that holds an SVG', text: '<?xml version="1.0"?><html><svg></svg></html>' },
	{ what: 'a comment that holds an SVG', text: '<!-- <svg> --><p>' },
	{ what: 'a sentence that ends in the name of a file', text: 'Payment for logo.png' },
	{ what: 'the name of PNG', text: 'PNG\r\n' },
])('$what is no image', ({ text }) => {
	expect(imageIn(text)).toBeUndefined();
});

test('only the beginning of a text is looked at for an image that is no PNG', () => {
	const address = (length: number) => `https://a.test/${'a'.repeat(length - 19)}.png`;
	expect(address(20_000)).toHaveLength(20_000);
	expect(imageIn(address(20_000))).toBe('other');
	expect(imageIn(address(20_001))).toBeUndefined();
	const svg = (blanks: number) => `${' '.repeat(blanks)}<svg>`;
	expect(imageIn(svg(19_995))).toMatchObject({ extension: 'svg' });
	expect(imageIn(svg(19_996))).toBeUndefined();
});
