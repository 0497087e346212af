import { decode, parseBody } from '../../../nodes/Pay/postback/body';
import { Sources } from '../../../nodes/Pay/service/paths';
import { stateOf, type StatusWords } from '../../../nodes/Pay/service/state';

test.each<{ charset: string; bytes: number[]; text: string }>([
	{ charset: 'windows-1252', bytes: [0x7f, 0x80, 0x9f, 0xa0], text: '\x7f€Ÿ\xa0' },
	{ charset: 'Windows-1252', bytes: [0x61, 0x92, 0x73], text: 'a’s' },
	{ charset: 'CP1251', bytes: [0xe6], text: 'ж' },
	{ charset: 'x-windows-949', bytes: [0xb0, 0xa1], text: '가' },
	{ charset: 'cp1252', bytes: [0x80, 0x93, 0x94, 0x96], text: '€“”–' },
	{ charset: 'ISO-8859-1', bytes: [0xe9], text: 'é' },
	{ charset: 'windows-31j', bytes: [0x83, 0x65, 0x8e, 0xf3], text: 'テ受' },
	{ charset: 'GB2312', bytes: [0xc0, 0xee, 0xc3, 0xf7], text: '李明' },
])(
	'bytes in $charset, as programs of Java, .NET and others call it, are read',
	({ charset, bytes, text }) => {
		expect(decode(Buffer.from(bytes), charset)).toBe(text);
	},
);

test('bytes in a charset of nobody are refused', () => {
	expect(() => decode(Buffer.from([0xe9]), 'of nobody')).toThrow(
		'The charset "of nobody" cannot be read: send UTF-8',
	);
});

const WORDS: StatusWords = {
	field: ['status', 'data.status'],
	paid: ['paid', 'PAGO'],
	failed: [],
	amountField: ['amount', 'data.amount'],
	idField: ['external_id', 'data.external_id'],
};
const FORM = 'application/x-www-form-urlencoded';

/** Identifiers, words and amounts as services send them, beside a name in the charset of its country. */
test.each<{ type: string; body: string }>([
	{
		type: 'application/json',
		body: '{"external_id":"order-1","status":"paid","amount":49.9,"name":"Jo\xc3\xa3o"}',
	},
	{
		type: 'application/json; charset=ISO-8859-1',
		body: '{"external_id":"order-1","status":"PAGO","amount":"49,90","name":"Jo\xe3o"}',
	},
	{
		type: 'application/json; charset=windows-1252',
		body: '{"external_id":"order-1","status":"paid","amount":"\x80 49,90"}',
	},
	{
		type: 'application/json; charset=us-ascii',
		body: '{"data":{"external_id":"order-1","status":"paid","amount":"49.90"}}',
	},
	{
		type: 'application/json; charset=Shift_JIS',
		body: '{"external_id":"order-1","status":"paid","name":"\x95\x5c","amount":49.9}',
	},
	{
		type: 'text/json; charset=GBK',
		body: '{"external_id":"order-1","status":"paid","name":"\xc0\xee","amount":49.9}',
	},
	{
		type: 'application/json; charset=x-windows-949',
		body: '{"external_id":"order-1","status":"paid","name":"\xc8\xab","amount":49.9}',
	},
	{ type: FORM, body: 'data[external_id]=order-1&data[status]=paid&data[amount]=49.90' },
	{ type: FORM, body: 'external_id=order-1&status=PAGO&amount=R%24+49%2C90&name=Jo%C3%A3o' },
	{
		type: `${FORM}; charset=ISO-8859-1`,
		body: 'external_id=order-1&name=Jo%E3o&status=paid&amount=49.90',
	},
	{
		type: `${FORM}; charset=windows-1252`,
		body: 'external_id=order-1&name=Jo\xe3&status=paid&amount=49.90',
	},
	{
		type: `${FORM}; charset=Shift_JIS`,
		body: 'external_id=order-1&name=%83%41%83&status=paid&amount=49.90',
	},
	{
		type: `${FORM}; charset=GBK`,
		body: 'external_id=order-1&name=%C0%EE%C3%F7&status=paid&amount=49.90',
	},
])('a service is understood: $type, $body', async ({ type, body }) => {
	const read = await parseBody(Buffer.from(body, 'latin1'), type);
	const proven = { external_id: 'order-1', amount: 49.9 };
	expect(stateOf(WORDS, proven, new Sources(read.body))).toStrictEqual({ state: 'paid' });
});
