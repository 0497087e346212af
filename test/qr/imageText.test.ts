import { imageIn } from '../../nodes/Pay/qr/imageText';

const PNG = Buffer.concat([
	Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
	Buffer.from([0xfb, 0xff, 0xbf, 0x00, 0x01]),
]);
const BASE64 = PNG.toString('base64');
const DATA = `data:image/png;base64,${BASE64}`;

test.each([
	{
		how: 'base64',
		text: BASE64,
	},
	{
		how: 'base64 without its end signs',
		text: BASE64.replace(/=+$/, ''),
	},
	{
		how: 'base64url',
		text: PNG.toString('base64url'),
	},
	{
		how: 'base64 with white space of any kind',
		text: ` ${BASE64.slice(0, 5)} \r\n\t${BASE64.slice(5)}\n`,
	},
	{
		how: 'a data URI',
		text: DATA,
	},
	{
		how: 'a data URI behind blanks',
		text: ` \n${DATA}`,
	},
	{
		how: 'a data URI in capitals',
		text: `DATA:IMAGE/PNG;BASE64,${BASE64}`,
	},
	{
		how: 'a data URI in percent-encoding',
		text: `data:image/png;base64,${encodeURIComponent(BASE64)}`,
	},
	{
		how: 'a data URI without a type',
		text: `data:image/,${BASE64}`,
	},
])('a PNG in $how', ({ text }) => {
	expect(imageIn(text)).toStrictEqual({ png: PNG });
});

test.each([
	{
		what: 'a data URI that cannot be decoded',
		text: 'data:image/png;base64,%',
	},
	{
		what: 'a data URI of nothing',
		text: 'data:image/png;base64,',
	},
	{
		what: 'a data URI of a JPEG',
		text: 'data:image/jpeg;base64,/9j/4AAQSkZJRg==',
	},
	{
		what: 'the address of an image',
		text: ' https://a.test/qr.png\n',
	},
	{
		what: 'the address of an image with a query',
		text: 'http://a.test/QR.JPEG?size=3#x',
	},
	{
		what: 'a PNG that was read as text',
		text: '\ufffdPNG\r\n\u001a\n',
	},
	{
		what: 'an SVG',
		text: '\n<svg>',
	},
	{
		what: 'an SVG with attributes',
		text: '<svg width="1">',
	},
	{
		what: 'an SVG behind a comment',
		text: '<?xml version="1.0"?>\n<!-- x -->\n<svg>',
	},
	{
		what: 'a GIF as text',
		text: 'GIF89a',
	},
	{
		what: 'a GIF in base64',
		text: 'R0lGODlhAQABAAAAACw=',
	},
	{
		what: 'a JPEG in base64',
		text: '/9j/4AAQSkZJRg==',
	},
])('$what is an image, and no PNG that can be used', ({ text }) => {
	expect(imageIn(text)).toBe('other');
});

test.each([
	{
		what: 'a word',
		text: 'R0lGODl',
	},
	{
		what: 'nothing',
		text: '',
	},
	{
		what: 'a PNG with a mark behind it',
		text: `${BASE64}!`,
	},
	{
		what: 'a PNG with an end sign inside',
		text: `R0lGODlh=${BASE64}`,
	},
	{
		what: 'a PNG with three end signs',
		text: 'R0lGODlhAQABAAAAACw===',
	},
	{
		what: 'a data URI within a text',
		text: `x ${DATA}`,
	},
	{
		what: 'a data URI of a text',
		text: 'data:text/plain,image',
	},
	{
		what: 'a data URI without data',
		text: 'data:image/png',
	},
	{
		what: 'an SVG within a text',
		text: 'x <svg>',
	},
	{
		what: 'an element with a longer name',
		text: '<svgs>',
	},
	{
		what: 'a page',
		text: 'https://a.test/qr.html',
	},
	{
		what: 'an address with a blank',
		text: 'https://a.test/q r.png',
	},
	{
		what: 'an address within a text',
		text: 'see https://a.test/qr.png',
	},
	{
		what: 'an address with more behind it',
		text: 'https://a.test/qr.pngs',
	},
	{
		what: 'an address whose query names an image',
		text: 'https://a.test/?qr.png',
	},
	{
		what: 'the name of PNG',
		text: 'PNG\r\n',
	},
])('$what is no image', ({ text }) => {
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
