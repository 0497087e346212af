import fc from 'fast-check';
import { parseBody, typeOfSigned } from '../../../nodes/Pay/postback/body';
import { runs } from '../../runs';

const BOM = '\uFEFF';
const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=BOUNDARY';

const bytesOf = (body: string | Buffer) => Buffer.from(body as string);
const bodyOf = async (body: string | Buffer, type: string) =>
	(await parseBody(bytesOf(body), type)).body;

test.each([
	'application/json',
	'application/vnd.pay+json',
	'Application/JSON;',
	'application/x-json',
	'text/json',
	'json',
	'json ; a=b',
	'',
])('a number in a body of the type "%s" is JSON', async (type) => {
	expect(await bodyOf('5', type)).toBe(5);
});

test.each([
	'text/plain',
	'application/octet-stream',
	'application/jsonx',
	'xjson',
	'text/x; json',
	'text/x; a=multipart/form-data',
	'text/x; application/x-www-form-urlencoded',
])('a number in a body of the type "%s" is text', async (type) => {
	expect(await bodyOf('5', type)).toBe('5');
});

test.each([
	{ what: 'an object', type: 'text/plain', text: '{"a":1}', body: { a: 1 } },
	{ what: 'a list', type: 'text/plain', text: '[{"a":1}]', body: [{ a: 1 }] },
	{ what: 'an object that says it is a form', type: FORM, text: '{"a":1}', body: { a: 1 } },
	{ what: 'null', type: 'application/json', text: 'null', body: null },
	{ what: 'null that says it is text', type: 'text/plain', text: 'null', body: 'null' },
	{ what: 'broken JSON', type: 'application/json', text: '{"a":', body: '{"a":' },
	{ what: 'a text without a type', type: '', text: 'plain', body: 'plain' },
	{ what: 'XML', type: 'text/xml', text: '<a>1</a>', body: '<a>1</a>' },
	{ what: 'nothing', type: '', text: '', body: '' },
	{ what: 'nothing of a form', type: MULTIPART, text: '', body: '' },
	{
		what: 'an integer that a number cannot hold',
		type: 'application/json',
		text: '{"id":12345678901234567890}',
		body: { id: '12345678901234567890' },
	},
])('a body is read as what it is: $what', async ({ type, text, body }) => {
	expect(await bodyOf(text, type)).toStrictEqual(body);
});

test('a byte order mark is no part of the first name of a form', async () => {
	for (const type of [FORM, `${FORM}; charset=iso-8859-1`]) {
		expect(await bodyOf(`${BOM}status=paid&id=J%C3%B3`, type)).toStrictEqual({
			status: 'paid',
			id: 'Jó',
		});
	}
});

test('JSON of any shape is taken as it was sent', async () => {
	await fc.assert(
		fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (value) => {
			const text = JSON.stringify(value);
			// Integers beyond 2^53 become texts.
			fc.pre(!/\d{16}/.test(text));
			expect(await bodyOf(text, 'application/json')).toStrictEqual(JSON.parse(text));
		}),
		{ numRuns: runs(100) },
	);
});

const LATIN1 = Buffer.from('{"a":"é"}', 'latin1');
test.each([
	{
		name: 'UTF-16',
		type: 'text/plain; charset="UTF-16"',
		bytes: Buffer.from('{"a":"é"}', 'utf16le'),
	},
	{
		name: 'UTF-16LE by its mark',
		type: 'application/json',
		bytes: Buffer.from(`${BOM}{"a":"é"}`, 'utf16le'),
	},
	{
		name: 'UTF-16BE by its mark',
		type: 'text/plain',
		bytes: Buffer.from(`${BOM}{"a":"é"}`, 'utf16le').swap16(),
	},
	{
		name: 'UTF-8 by its mark, whatever its type says',
		type: 'text/json; charset=latin1',
		bytes: Buffer.from(`${BOM}{"a":"é"}`),
	},
	{ name: 'ISO-8859-1', type: 'application/json;charset=iso-8859-1', bytes: LATIN1 },
	{ name: 'ISO-8859-1, spaced', type: 'text/plain;  charset = iso-8859-1', bytes: LATIN1 },
	{ name: 'ISO-8859-1, quoted', type: 'text/plain; charset="latin1"; a=b', bytes: LATIN1 },
])('a body in $name is read', async ({ type, bytes }) => {
	expect(await parseBody(bytes, type)).toMatchObject({ body: { a: 'é' }, rawBody: '{"a":"é"}' });
});

test.each([
	{ what: 'JSON', type: 'application/json; charset=cp936', text: '{"a":"\xc0\xee"}' },
	{ what: 'UTF-8, said to be unknown', type: 'application/json; charset=utf8mb4', text: '{}' },
	{ what: 'a form', type: `${FORM}; charset=cp936`, text: 'a=1' },
	{ what: 'a form in UTF-16', type: `${FORM}; charset=utf-16le`, text: 'a\0=\x001\0' },
])('$what in a charset that cannot be read is refused with 415', async ({ type, text }) => {
	const refused = expect(bodyOf(Buffer.from(text, 'latin1'), type)).rejects;
	await refused.toMatchObject({ name: 'BodyError', statusCode: 415 });
});

test('bytes that are no text are shown as such, and a byte order mark in the middle is none', async () => {
	expect(await bodyOf(Buffer.from([0xfe, 0x00]), '')).toBe('\uFFFD\0');
	expect(await bodyOf(Buffer.from('aþÿb', 'latin1'), 'text/plain')).toBe('a\ufffd\ufffdb');
});

test.each([
	{ type: 'application/json', text: '{"__proto__":{"polluted":true}}' },
	{ type: 'application/json', text: '{"n":12345678901234567890,"__proto__":{"polluted":true}}' },
	{ type: FORM, text: '__proto__=x&constructor=y' },
])('a body pollutes nothing: $text', async ({ type, text }) => {
	expect(Object.keys((await bodyOf(text, type)) as object)).toContain('__proto__');
	expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
	expect(String({})).toBe('[object Object]');
});

describe('a form', () => {
	test.each([
		{ text: 'a=1&b=J%C3%B3+o&c=1&c=2', body: { a: '1', b: 'Jó o', c: ['1', '2'] } },
		{
			text: 'data[status]=paid&data[tags][]=a&data[tags][]=b',
			body: { 'data[status]': 'paid', 'data[tags][]': ['a', 'b'] },
		},
		{ text: 'data.status=paid', body: { 'data.status': 'paid' } },
		{ text: 'a=&b&', body: { a: '', b: '' } },
		{ text: 'a[b=1', body: { 'a[b': '1' } },
		{ text: '=1&&a=%zz&b=%', body: { '': '1', a: '%zz', b: '%' } },
		{ text: 'a==', body: { a: '=' } },
	])('$text keeps its names as they are', async ({ text, body }) => {
		expect(await bodyOf(text, FORM)).toStrictEqual(body);
	});

	test.each([
		{ text: 'n=Jos%E9&m=Jos\xe9', charset: 'iso-8859-1', name: 'Jos\ufffd' },
		{ text: 'n=%83A&m=\x83A', charset: 'shift_jis', name: '\ufffdA' },
		{ text: 'n=%83&m=\x83', charset: 'shift_jis', name: '\ufffd' },
	])('$text in $charset is read as UTF-8', async ({ text, charset, name }) => {
		const type = `${FORM}; charset=${charset}`;
		expect(await bodyOf(Buffer.from(text, 'latin1'), type)).toStrictEqual({ n: name, m: name });
	});

	test('of 1,000 fields is read, and one more is refused with 413', async () => {
		expect(await bodyOf('a=1&'.repeat(1000), FORM)).toHaveProperty('a.999', '1');
		const refused = expect(bodyOf('a=1&'.repeat(1001), FORM)).rejects;
		await refused.toMatchObject({ name: 'BodyError', statusCode: 413 });
	});
});

/** A part of a multipart form, its headers as they are sent. */
const part = (headers: string, value: string, boundary = 'BOUNDARY') =>
	`--${boundary}\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${value}\r\n`;
const multipart = (parts: string) => Buffer.from(`${parts}--BOUNDARY--\r\n`, 'latin1');

describe('a multipart form', () => {
	const utf8 = (text: string) => Buffer.from(text).toString('latin1');

	test.each<{ what: string; parts: string; body: object }>([
		{ what: 'text', parts: part('name="a"', 'b'), body: { a: 'b' } },
		{ what: 'no parts', parts: '', body: {} },
		{ what: 'an empty part', parts: part('name="a"', ''), body: { a: '' } },
		{ what: 'UTF-8', parts: part(`name="${utf8('é')}"`, utf8('ü')), body: { é: 'ü' } },
		{
			what: 'a broken character of its own',
			parts: part('name="a"', utf8('Jo\ufffdo')),
			body: { a: 'Jo\ufffdo' },
		},
		{
			what: "Java's name for a charset that is not used",
			parts: part(
				'name="a"\r\nContent-Type: text/plain; charset=ISO-8859-1\r\nContent-Transfer-Encoding: 8bit',
				'PAID',
			),
			body: { a: 'PAID' },
		},
		{
			what: 'JSON, which stays text',
			parts: part('name="a"\r\nContent-Type: application/json', '{"b":1}'),
			body: { a: '{"b":1}' },
		},
		{
			what: 'a name twice',
			parts: part('name="a"', '1') + part('name="a"', '2'),
			body: { a: ['1', '2'] },
		},
		{
			what: 'brackets',
			parts: part('name="data[status]"', 'paid'),
			body: { 'data[status]': 'paid' },
		},
		{ what: 'quotes in a name', parts: part('name="a%22b"', '1'), body: { 'a"b': '1' } },
		{
			what: 'a name of every object',
			parts: part('name="__proto__"', '1'),
			body: JSON.parse('{"__proto__":"1"}') as object,
		},
		{ what: 'a file that nobody chose', parts: part('name="f"; filename=""', ''), body: {} },
	])('with $what is read', async ({ parts, body }) => {
		const read = await parseBody(multipart(parts), MULTIPART);
		expect(read).toMatchObject({ rawBody: '', hasFiles: false });
		expect(read.body).toStrictEqual(body);
	});

	test('with a file is read without it, and with nothing else is refused with 415', async () => {
		const file = part('name="f"; filename="../a/b.pdf"', '\xff\x00\r\n');
		const read = await parseBody(multipart(file + part('name="a"', '1')), MULTIPART);
		expect(read).toMatchObject({ body: { a: '1' }, hasFiles: true });
		const refused = expect(parseBody(multipart(file), MULTIPART)).rejects;
		await refused.toMatchObject({ name: 'BodyError', statusCode: 415 });
	});

	test('is named by its fields, whatever boundary it was sent with', async () => {
		const quoted = Buffer.from(`${part('name="a"', '1', 'OTHER')}--OTHER--`);
		const one = await parseBody(multipart(part('name="a"', '1')), MULTIPART);
		const other = await parseBody(quoted, 'multipart/form-data; boundary="OTHER"');
		expect(other.eventContent).toBe(one.eventContent);
	});

	test.each<{ what: string; bytes: Buffer; type?: string }>([
		{ what: 'no end', bytes: Buffer.from(part('name="a"', '1')) },
		{ what: 'another boundary', bytes: Buffer.from('--C--') },
		{ what: 'no boundary', bytes: multipart(''), type: 'multipart/form-data' },
		{ what: 'a part without the end of its headers', bytes: multipart('--BOUNDARY\r\na: b\r\n') },
		{ what: 'a part without a name', bytes: multipart(part('nothing=x', '1')) },
		{
			what: 'a value in Base64',
			bytes: multipart(part('name="a"\r\nContent-Transfer-Encoding: BASE64', 'aGk=')),
		},
		{
			what: 'a value in quoted-printable',
			bytes: multipart(part('name="a"\r\ncontent-transfer-encoding:quoted-printable', '=C3')),
		},
	])('with $what is refused with 415', async ({ bytes, type = MULTIPART }) => {
		const refused = expect(parseBody(bytes, type)).rejects;
		await refused.toMatchObject({ name: 'BodyError', statusCode: 415 });
	});

	test('of 1,000 parts is read, and one more is refused with 413', async () => {
		const some = (count: number) => multipart(part('name="a"', '1').repeat(count));
		expect(await bodyOf(some(1000), MULTIPART)).toHaveProperty('a.999', '1');
		const refused = expect(bodyOf(some(1001), MULTIPART)).rejects;
		await refused.toMatchObject({ name: 'BodyError', statusCode: 413 });
	});
});

describe('a body whose signature was verified is what its bytes are, whatever its type says', () => {
	const signedBody = async (body: string | Buffer, type: string) =>
		await bodyOf(body, typeOfSigned(bytesOf(body), type));
	// The second byte of the letter takes the backslash with it in these charsets.
	const SJIS = Buffer.from('{"note":"Á\\"&state=paid&","state":"processing"}');

	test.each(['shift_jis', 'gbk', 'big5', 'utf-16le', 'utf-8'])(
		'JSON is no form in %s',
		async (charset) => {
			const type = `${FORM}; charset=${charset}`;
			expect(await signedBody(SJIS, type)).toMatchObject({ state: 'processing' });
		},
	);

	test('without a signature the type counts (the control)', async () => {
		const type = `${FORM}; charset=shift_jis`;
		expect(await bodyOf(SJIS, type)).toMatchObject({ state: 'paid' });
	});

	test.each([
		{ what: 'broken JSON', text: '{"note":"&state=paid&' },
		{
			what: 'XML that holds a form',
			text: '<data><note><![CDATA[&state=paid&]]></note><state>processing</state></data>',
		},
		{ what: 'a text that holds a form', text: 'note: hi&state=paid&amount=10&x=' },
		{
			what: 'a multipart form that holds a form',
			text: '--A\r\nContent-Disposition: form-data; name="note"\r\n\r\nhi&state=paid&x=\r\n--A--',
		},
	])('$what stays text', async ({ text }) => {
		expect(await signedBody(text, FORM)).toBe(text);
	});

	test('a multipart form has the boundary that it begins with', async () => {
		const inside = `${part('name="state"', 'paid', 'B')}--B--`;
		const note = part('name="note"', `x\r\n${inside}`, 'A');
		const body = `${note}${part('name="state"', 'processing', 'A')}--A--`;
		const withA = 'multipart/form-data; boundary=A';
		const withB = 'multipart/form-data; boundary=B';
		expect(await signedBody(body, withA)).toMatchObject({ state: 'processing' });
		expect(await signedBody(body, withB)).toBe(body);
		// The control: without a signature the type counts. Node.js 20 takes no text before a form.
		const unsigned = await bodyOf(body, withB).catch(() => 'refused');
		expect(['refused', { state: 'paid' }]).toContainEqual(unsigned);
	});

	test.each([
		{ what: 'a form', body: 'state=paid', type: FORM, read: { state: 'paid' } },
		{ what: 'JSON of no type', body: '{"state":"paid"}', type: '', read: { state: 'paid' } },
		{
			what: 'JSON with a byte order mark',
			body: `${BOM}{"state":"paid"}`,
			type: '',
			read: { state: 'paid' },
		},
		{
			what: 'JSON in ISO-8859-1',
			body: LATIN1,
			type: 'application/json; charset=iso-8859-1',
			read: { a: 'é' },
		},
		{
			what: 'JSON in UTF-16',
			body: Buffer.from(`${BOM}{"n":"é"}`, 'utf16le'),
			type: 'application/json',
			read: { n: 'é' },
		},
	])('$what is read', async ({ body, type, read }) => {
		expect(await signedBody(body, type)).toStrictEqual(read);
	});
});
