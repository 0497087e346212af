import { decode } from '../../../nodes/Pay/postback/body';

test.each<{ charset: string; bytes: number[]; text: string }>([
	{ charset: 'windows-1252', bytes: [0x7f, 0x80, 0x9f, 0xa0], text: '\x7f€Ÿ\xa0' },
	{ charset: 'Windows-1252', bytes: [0x61, 0x92, 0x73], text: 'a’s' },
	{ charset: 'CP1251', bytes: [0xe6], text: 'ж' },
	{ charset: 'x-windows-949', bytes: [0xb0, 0xa1], text: '가' },
	{ charset: 'cp1252', bytes: [0x80, 0x93, 0x94, 0x96], text: '€“”–' },
	{ charset: 'ISO-8859-1', bytes: [0xe9], text: 'é' },
	{ charset: 'windows-31j', bytes: [0x83, 0x65, 0x8e, 0xf3], text: 'テ受' },
	{ charset: 'GB2312', bytes: [0xc0, 0xee, 0xc3, 0xf7], text: '李明' },
	{ charset: 'of nobody', bytes: [0xc3, 0xa9], text: 'é' },
])(
	'bytes in $charset, as programs of Java, .NET and others call it, are read',
	({ charset, bytes, text }) => {
		expect(decode(Buffer.from(bytes), charset)).toBe(text);
	},
);

test('bytes in a charset of nobody that are no UTF-8 are refused', () => {
	expect(() => decode(Buffer.from([0xe9]), 'of nobody')).toThrow(
		'The charset "of nobody" cannot be read, send UTF-8',
	);
});
