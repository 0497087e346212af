import { createHash } from 'node:crypto';
import fc from 'fast-check';
import triggerPreview from '../../nodes/Pay/__schema__/v1.0.0.json';
import waitPreview from '../../nodes/Pay/__schema__/v1.0.0/postback/wait.json';
import { parsePostback, toJson, type Postback } from '../../nodes/Pay/postback/postback';
import { signUrl, type Reference } from '../../nodes/Pay/postback/proof';
import { isCounted, runs } from '../runs';

const ABOUT: Reference = { external_id: 'a', kind: 'payment', amount: 1 };
const SIGNED = signUrl('https://n8n.example.com/webhook/x/postback', ABOUT, 'a secret');
const PROOF = new URL(SIGNED).searchParams.get('pay_proof')!;
const MAC = PROOF.split('.')[1]!;

/** A request as n8n hands it over. */
const request = (body: string | Buffer, contentType?: string, more: object = {}) => ({
	method: 'POST',
	query: {} as Record<string, unknown>,
	headers: (contentType ? { 'content-type': contentType } : {}) as Record<string, unknown>,
	bytes: Buffer.from(body as string),
	resumeToken: undefined as string | undefined,
	...more,
});
type Request = ReturnType<typeof request>;
const parsed = async ({ resumeToken, ...of }: Request, isSigned = false) =>
	await parsePostback(of, of.bytes, { resumeToken, isSignedByService: isSigned });

/** The id of a postback, whose files are in memory here. */
function eventIdOf(postback: Postback, reference: Reference | null): unknown {
	const files = postback.files.map(({ name, content }) => ({ name, bytes: content as Buffer }));
	return toJson(postback, { reference }, files).eventId;
}

/** Processor time in microseconds; none where each statement is counted, which takes longer than the code. */
function timeSince(begun: NodeJS.CpuUsage): number {
	return isCounted ? 0 : process.cpuUsage(begun).user;
}

const bodyOf = async (...args: Parameters<typeof request>) => (await parsed(request(...args))).body;
const BOM = '\uFEFF';

describe('a body whose signature was verified', () => {
	const signedBody = async (body: string | Buffer, type: string) =>
		(await parsed(request(body, type), true)).body;
	// The second byte of the letter takes the backslash with it in these charsets.
	const SJIS = Buffer.from('{"note":"Á\\"&state=paid&","state":"processing"}');

	test.each(['shift_jis', 'gbk', 'big5', 'utf-16le', 'utf-8'])(
		'is what its bytes are, not a form in %s, whatever its header says',
		async (charset) => {
			const type = `application/x-www-form-urlencoded; charset=${charset}`;
			expect(await signedBody(SJIS, type)).toMatchObject({ state: 'processing' });
			// The control: without a signature the header counts.
			if (charset === 'shift_jis') {
				expect(await bodyOf(SJIS, type)).toMatchObject({ state: 'paid' });
			}
		},
	);

	test('of JSON that is broken stays text', async () => {
		const broken = '{"note":"&state=paid&';
		expect(await signedBody(broken, 'application/x-www-form-urlencoded')).toBe(broken);
	});

	test('of XML is text, and not the form that a text in it holds', async () => {
		const xml = '<data><note><![CDATA[&state=paid&]]></note><state>processing</state></data>';
		expect(await signedBody(xml, 'application/x-www-form-urlencoded')).toBe(xml);
	});

	test('of a multipart form has the boundary that it begins with', async () => {
		const part = (boundary: string, name: string, value: string) =>
			`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
		const inside = `${part('B', 'state', 'paid')}--B--`;
		const body = `${part('A', 'note', `x\r\n${inside}`)}${part('A', 'state', 'processing')}--A--`;
		expect(await signedBody(body, 'multipart/form-data; boundary=A')).toMatchObject({
			state: 'processing',
		});
		expect(await signedBody(body, 'multipart/form-data; boundary=B')).toBe(body);
		// The control: without a signature the header counts. Node.js 20 takes no text before a form.
		const unsigned = await bodyOf(body, 'multipart/form-data; boundary=B').catch(() => 'refused');
		expect(['refused', { state: 'paid' }]).toContainEqual(unsigned);
	});

	test('is no form where a text, or a multipart form, only holds one', async () => {
		const form = 'application/x-www-form-urlencoded';
		const text = 'note: hi&state=paid&amount=10&x=';
		expect(await signedBody(text, form)).toBe(text);
		const multipartForm = `--A\r\nContent-Disposition: form-data; name="note"\r\n\r\nhi&state=paid&x=\r\n--A--`;
		expect(await signedBody(multipartForm, form)).toBe(multipartForm);
	});

	test.each([
		{
			what: 'a form',
			body: 'state=paid',
			type: 'application/x-www-form-urlencoded',
			read: { state: 'paid' },
		},
		{ what: 'JSON of no type', body: '{"state":"paid"}', type: '', read: { state: 'paid' } },
		{
			what: 'JSON with a byte order mark',
			body: `${BOM}{"state":"paid"}`,
			type: '',
			read: { state: 'paid' },
		},
		{
			what: 'JSON in ISO-8859-1',
			body: Buffer.from('{"n":"é"}', 'latin1'),
			type: 'application/json; charset=iso-8859-1',
			read: { n: 'é' },
		},
		{
			what: 'JSON in UTF-16',
			body: Buffer.from(`${BOM}{"n":"é"}`, 'utf16le'),
			type: 'application/json',
			read: { n: 'é' },
		},
	])('may be $what', async ({ body, type, read }) => {
		expect(await signedBody(body, type)).toStrictEqual(read);
	});
});

test('a fixed secret that a service sends is not shown, whatever it is called', async () => {
	const headers = {
		'asaas-access-token': 'one',
		'x-api-key': 'two',
		'x-gitlab-token': 'three',
		'x-signature': 'shown',
	};
	const { headers: shown, query } = await parsed(
		request('', undefined, { headers, query: { hmac: 'four', key: 'a' } }),
	);
	expect(shown).toStrictEqual({
		'asaas-access-token': '***',
		'x-api-key': '***',
		'x-gitlab-token': '***',
		'x-signature': 'shown',
	});
	expect(query).toStrictEqual({ hmac: '***', key: 'a' });
});
const FORM = 'application/x-www-form-urlencoded';

test.each([
	{ type: 'application/json', text: '{"a":1}', body: { a: 1 } },
	{ type: 'application/vnd.pay+json', text: '{"a":1}', body: { a: 1 } },
	{ type: 'Application/JSON;', text: '{"a":1}', body: { a: 1 } },
	{ type: 'application/x-json', text: '"paid"', body: 'paid' },
	{ type: 'text/json', text: '{"a":1}', body: { a: 1 } },
	{ type: 'text/plain', text: '{"a":1}', body: { a: 1 } },
	{ type: 'text/plain', text: '[{"a":1}]', body: [{ a: 1 }] },
	{ type: 'text/plain', text: '007', body: '007' },
	{ type: 'text/plain', text: '42', body: '42' },
	{ type: 'text/plain', text: 'null', body: 'null' },
	{ type: 'text/html', text: '<p>paid</p>', body: '<p>paid</p>' },
	{ type: 'text/x; a=multipart/form-data', text: '5', body: '5' },
	{ type: 'text/x; application/x-www-form-urlencoded', text: 'a=1', body: 'a=1' },
	{ type: 'text/xml; charset=utf-8', text: '<a>1</a>', body: '<a>1</a>' },
	{ type: 'xjson', text: '5', body: '5' },
	{ type: 'text/x; json', text: '5', body: '5' },
	{ type: 'json', text: '5', body: 5 },
	{ type: 'json ; a=b', text: '5', body: 5 },
	{ type: 'application/jsonx', text: '5', body: '5' },
	{ type: ' application/json ', text: '5', body: 5 },
	{ type: ' ', text: '5', body: 5 },
	{ type: 'application/json', text: `${BOM}{"a":1}`, body: { a: 1 } },
	{ type: 'application/json', text: 'null', body: null },
	{ type: 'application/json', text: '{"a":', body: '{"a":' },
	{ type: undefined, text: '{"a":1}', body: { a: 1 } },
	{ type: undefined, text: 'plain', body: 'plain' },
	{ type: 'application/octet-stream', text: 'x', body: 'x' },
	{ type: FORM, text: 'a=1&b=J%C3%B3+o&c=1&c=2', body: { a: '1', b: 'Jó o', c: ['1', '2'] } },
	{ type: FORM, text: 'data.status=paid', body: { 'data.status': 'paid' } },
	{ type: FORM, text: '{"status":"paid"}', body: { status: 'paid' } },
	{
		type: 'application/json',
		text: '{"id":12345678901234567890}',
		body: { id: '12345678901234567890' },
	},
	{
		type: 'application/json',
		text: '{"id":9007199254740991,"x":1.5}',
		body: { id: 9007199254740991, x: 1.5 },
	},
	{ type: undefined, text: '', body: '' },
])('a body of type $type: $text', async ({ type, text, body }) => {
	expect(await bodyOf(text, type)).toEqual(body);
});

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
test.each([
	{
		name: 'utf-16le',
		type: 'application/json; charset=utf-16le',
		bytes: Buffer.from('{"a":"é"}', 'utf16le'),
	},
	{
		name: 'utf-16',
		type: 'application/json; charset="UTF-16"',
		bytes: Buffer.from('{"a":"é"}', 'utf16le'),
	},
	{
		name: 'utf-16le by its mark',
		type: 'application/json',
		bytes: Buffer.from(`${BOM}{"a":"é"}`, 'utf16le'),
	},
	{ name: 'utf-16be by its mark', type: 'text/plain', bytes: utf16be(`${BOM}{"a":"é"}`) },
	{
		name: 'latin1',
		type: 'application/json;charset=iso-8859-1',
		bytes: Buffer.from('{"a":"é"}', 'latin1'),
	},
	{
		name: 'latin1, spaced',
		type: 'text/plain;  charset = iso-8859-1',
		bytes: Buffer.from('{"a":"é"}', 'latin1'),
	},
	{
		name: 'latin1, quoted',
		type: 'text/plain; charset="latin1"; a=b',
		bytes: Buffer.from('{"a":"é"}', 'latin1'),
	},
	{
		name: 'windows-1252',
		type: 'text/plain; charset=windows-1252',
		bytes: Buffer.from('{"a":"é"}', 'latin1'),
	},
	{
		name: 'utf-8, said to be unknown',
		type: 'application/json; charset=utf8mb4',
		bytes: Buffer.from('{"a":"é"}'),
	},
	{
		name: 'utf-8 by its mark',
		type: 'text/json; charset=latin1',
		bytes: Buffer.from(`${BOM}{"a":"é"}`),
	},
])('a body in $name', async ({ type, bytes }) => {
	expect(await parsed(request(bytes, type))).toMatchObject({
		body: { a: 'é' },
		rawBody: '{"a":"é"}',
	});
});

test('JSON of any shape is taken as it was sent', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.jsonValue({ maxDepth: 5 }),
			fc.constantFrom('application/json', 'application/problem+json', undefined),
			async (value, type) => {
				const text = JSON.stringify(value);
				// Integers beyond 2^53 become texts, see above.
				fc.pre(!/\d{16}/.test(text));
				expect(await bodyOf(text, type)).toStrictEqual(JSON.parse(text));
			},
		),
		{ numRuns: runs(100) },
	);
});

test.each(['query', 'headers', 'body', 'rawBody'])(
	'a token that is spelled "%s" takes no part of the postback away',
	async (resumeToken) => {
		const postback = await parsed(
			request('paid', 'text/plain', { resumeToken, query: { a: '1' } }),
		);
		expect(postback).toMatchObject({
			query: { a: '1' },
			headers: { 'content-type': 'text/plain' },
			body: 'paid',
			rawBody: 'paid',
		});
	},
);

const nested = (levels: number, open: string, close: string) =>
	open.repeat(levels) + close.repeat(levels);
test.each([
	...[101, 20_000, 200_000, 8_000_000].map((levels): [string, string] => [
		'application/json',
		nested(levels, '[', ']'),
	]),
])('%s of too many levels is left as text, at once', async (type, deep) => {
	const begun = process.cpuUsage();
	expect((await bodyOf(deep, type)) === deep).toBe(true);
	expect(timeSince(begun)).toBeLessThan(5_000_000);
});

/** A part of a multipart form, its headers as they are sent. */
const part = (headers: string, value: string) =>
	`--BOUNDARY\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${value}\r\n`;
const multipart = (parts: string, more = '') =>
	request(
		Buffer.from(`${parts}--BOUNDARY--\r\n`, 'latin1'),
		`multipart/form-data; boundary=BOUNDARY${more}`,
	);

describe('a multipart form', () => {
	const utf8 = (text: string) => Buffer.from(text).toString('latin1');
	const json = 'Content-Type: application/json';

	test.each<{ what: string; of: Request; body: object }>([
		{ what: 'text', of: multipart(part('name="a"', 'b')), body: { a: 'b' } },
		{ what: 'no parts', of: multipart(''), body: {} },
		{ what: 'an empty part', of: multipart(part('name="a"', '')), body: { a: '' } },
		{ what: 'UTF-8', of: multipart(part(`name="${utf8('é')}"`, utf8('ü'))), body: { é: 'ü' } },
		{
			what: 'a broken character of its own',
			of: multipart(part('name="a"', utf8('Jo\ufffdo'))),
			body: { a: 'Jo\ufffdo' },
		},
		{
			what: "Java's name for a charset that is not used",
			of: multipart(
				part(
					'name="a"\r\nContent-Type: text/plain; charset=ISO-8859-1\r\nContent-Transfer-Encoding: 8bit',
					'PAID',
				),
			),
			body: { a: 'PAID' },
		},
		{
			what: 'JSON, which stays text',
			of: multipart(part(`name="a"\r\n${json}`, '{"b":1}')),
			body: { a: '{"b":1}' },
		},
		{
			what: 'a name twice',
			of: multipart(part('name="a"', '1') + part('name="a"', '2')),
			body: { a: ['1', '2'] },
		},
		{
			what: 'brackets',
			of: multipart(part('name="data[status]"', 'paid')),
			body: { 'data[status]': 'paid' },
		},
		{ what: 'quotes in a name', of: multipart(part('name="a%22b"', '1')), body: { 'a"b': '1' } },
		{
			what: 'a name of every object',
			of: multipart(part('name="__proto__"', '1')),
			body: JSON.parse('{"__proto__":"1"}') as object,
		},
		{
			what: 'a file that nobody chose',
			of: multipart(part('name="f"; filename=""', '')),
			body: {},
		},
	])('with $what', async ({ of, body }) => {
		const postback = await parsed(of);
		expect(postback).toMatchObject({ rawBody: '', files: [] });
		expect(postback.body).toStrictEqual(body);
	});

	test('that is empty is an empty text', async () => {
		expect(await bodyOf('', 'multipart/form-data; boundary=BOUNDARY')).toBe('');
	});

	test.each([
		{ headers: 'name="f"; filename="../a/b.pdf"', filename: 'b.pdf', type: undefined },
		{ headers: 'name="f"; filename="C:\\slips\\b.pdf"', filename: 'b.pdf', type: undefined },
		{ headers: 'name="f"; filename="a/"', filename: 'f', type: undefined },
		{
			headers: `name="f"; filename="${utf8('é.png')}"\r\nContent-Type: image/png`,
			filename: 'é.png',
			type: 'image/png',
		},
	])('with a file: $headers', async ({ headers, filename, type }) => {
		const { body, files } = await parsed(multipart(part(headers, '\xff\x00\r\n')));
		expect(body).toStrictEqual({});
		const content = Buffer.from('\xff\x00\r\n', 'latin1');
		expect(files).toStrictEqual([{ name: 'f', filename, type, content }]);
	});

	test('has one eventId whatever its boundary, and another for another file', async () => {
		const form = part('name="a"', '1') + part('name="f"; filename="f"', 'x');
		const id = async (of: Request) => eventIdOf(await parsed(of), ABOUT);
		const other = request(
			`${form}--BOUNDARY--`.replaceAll('--BOUNDARY', '--OTHER'),
			'multipart/form-data; boundary="OTHER"',
		);
		expect(await id(other)).toBe(await id(multipart(form)));
		const others = [form.replace('x', 'y'), form.replace('1', '2'), part('name="a"', '1')];
		const ids = new Set<unknown>();
		for (const each of [form, ...others]) ids.add(await id(multipart(each)));
		expect(ids.size).toBe(4);
	});

	test.each<{ what: string; statusCode: number; of: Request }>([
		{
			what: 'no end',
			statusCode: 400,
			of: request(part('name="a"', '1'), 'multipart/form-data; boundary=BOUNDARY'),
		},
		{
			what: 'another boundary',
			statusCode: 400,
			of: request('--C--', 'multipart/form-data; boundary=BOUNDARY'),
		},
		{ what: 'no boundary', statusCode: 400, of: request('--BOUNDARY--', 'multipart/form-data') },
		{
			what: 'a part without the end of its headers',
			statusCode: 400,
			of: multipart('--BOUNDARY\r\na: b\r\n'),
		},
		{ what: 'a part without a name', statusCode: 400, of: multipart(part('nothing=x', '1')) },
		{
			what: 'a value in ISO-8859-1',
			statusCode: 400,
			of: multipart(part('name="a"\r\nContent-Type: text/plain; charset=iso-8859-1', 'é')),
		},
		{ what: 'a name in ISO-8859-1', statusCode: 400, of: multipart(part('name="é"', '1')) },
		{ what: 'a value in UTF-16', statusCode: 400, of: multipart(part('name="a"', 'p\0a\0i\0d\0')) },
		{
			what: 'a value in Base64',
			statusCode: 400,
			of: multipart(part('name="a"\r\nContent-Transfer-Encoding: BASE64', 'aGk=')),
		},
		{
			what: 'a value in quoted-printable',
			statusCode: 400,
			of: multipart(part('name="a"\r\ncontent-transfer-encoding:quoted-printable', '=C3')),
		},
		{ what: '1,001 parts', statusCode: 413, of: multipart(part('name="a"', '1').repeat(1001)) },
	])('with $what is refused: $statusCode', async ({ statusCode, of }) => {
		await expect(parsed(of)).rejects.toMatchObject({ name: 'BodyError', statusCode });
	});

	test('of 1,000 parts is read', async () => {
		expect(await parsed(multipart(part('name="a"', '1').repeat(1000)))).toHaveProperty(
			'body.a.999',
			'1',
		);
	});
});

test.each<{ what: string; text: string; expected: object | undefined }>([
	{ what: 'fields', text: 'a&'.repeat(runs(8_000_000)), expected: undefined },
	{
		what: 'a value of =',
		text: `a=${'='.repeat(runs(16_000_000))}`,
		expected: { a: '='.repeat(runs(16_000_000)) },
	},
])('a form of 16 MB with $what holds nobody up', async ({ text, expected }) => {
	const of = request(text, 'application/x-www-form-urlencoded');
	const begun = process.cpuUsage();
	if (expected) expect((await parsed(of)).body).toStrictEqual(expected);
	else await expect(parsed(of)).rejects.toThrow('too many fields');
	expect(timeSince(begun)).toBeLessThan(5_000_000);
});

test('brackets without end in a name mean nothing', async () => {
	const name = `a${'[]'.repeat(runs(4_000_000))}`;
	expect(await bodyOf(`${name}=1`, FORM)).toStrictEqual({ [name]: '1' });
});

test.each([
	{
		text: 'data[status]=paid&data[tags][]=a&data[tags][]=b',
		body: { 'data[status]': 'paid', 'data[tags][]': ['a', 'b'] },
	},
	{ text: 'a=&b', body: { a: '', b: '' } },
	{ text: 'a[b=1', body: { 'a[b': '1' } },
	{ text: 'a[b]c=1', body: { 'a[b]c': '1' } },
	{ text: '[a]=1', body: { '[a]': '1' } },
	{ text: 'a[b][c][d][e][f][g]=1', body: { 'a[b][c][d][e][f][g]': '1' } },
	{ text: '=1&a=%zz&b=%', body: { '': '1', a: '%zz', b: '%' } },
])('the form $text keeps its names as they are', async ({ text, body }) => {
	expect(await bodyOf(text, FORM)).toEqual(body);
});

test.each([
	{ text: 'n=Jos%E9&m=Jos\xe9', charset: 'iso-8859-1', name: 'José' },
	{ text: 'n=Jos%E9&m=Jos\xe9', charset: 'windows-1252', name: 'José' },
	{ text: 'n=Jos%C3%A9&m=Jos\xc3\xa9', charset: 'utf-8', name: 'José' },
	{ text: 'n=Jos%c3%a9&m=Jos%C3%A9', charset: 'unknown-1', name: 'José' },
	{ text: 'n=%B0%A1&m=\xb0\xa1', charset: 'x-windows-949', name: '가' },
	// The second byte is the letter A.
	{ text: 'n=%83A&m=\x83A', charset: 'shift_jis', name: 'ア' },
])('a form $text in $charset', async ({ text, charset, name }) => {
	const type = `application/x-www-form-urlencoded; charset=${charset}`;
	expect(await bodyOf(Buffer.from(text, 'latin1'), type)).toEqual({ n: name, m: name });
});

test.each([
	{ what: 'JSON', type: 'application/json; charset=cp936', text: '{"a":"\xc0\xee"}' },
	{ what: 'a form', type: `${FORM}; charset=cp936`, text: 'a=%C0%EE' },
	{ what: 'a form in UTF-16', type: `${FORM}; charset=utf-16`, text: 'a=1' },
])('$what in a charset that cannot be read is refused with 400', async ({ type, text }) => {
	const refused = expect(bodyOf(Buffer.from(text, 'latin1'), type)).rejects;
	await refused.toMatchObject({ name: 'BodyError', statusCode: 400 });
});

test('a __proto__ key pollutes nothing, and deep or binary bodies do no harm', async () => {
	const polluting = '"__proto__":{"polluted":true}';
	const long = `{"n":12345678901234567890,${polluting}}`;
	for (const text of [`{${polluting}}`, long, `{"__proto__":{"polluted":"${MAC}"}}`]) {
		await bodyOf(text, 'application/json', { query: { pay_proof: PROOF } });
		expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
	}
	await bodyOf('__proto__=x&constructor=y', FORM);
	expect(await bodyOf(nested(100, '[', ']'), 'application/json')).toBeInstanceOf(Array);
	expect(await bodyOf(Buffer.from([0xfe, 0x00]), undefined)).toBe('\uFFFD\0');
	// A mark in the middle is none.
	expect(await bodyOf(Buffer.from('aþÿb', 'latin1'), 'text/plain')).toBe('a\ufffd\ufffdb');
});

test('the same postback has the same eventId; any difference that matters gives another', async () => {
	const base = request('{"a":1}', 'application/json', {
		query: { pay_proof: PROOF, x: '1', y: '2' },
	});
	const id = async (more: Partial<Request>, about: Reference | null = ABOUT) =>
		eventIdOf(await parsed({ ...base, ...more }), about);
	const same = await id({});
	expect(same).toBe('819d877bd5e8d6f4a8e7a28e3cc2838beaa1273953f986c3a72a1900abb87cad');
	expect(await id({ headers: { 'x-try': '2' } })).toBe(same);
	expect(await id({ query: { ...base.query, pay_proof: 'another.proof' } })).toBe(same);
	const others = [
		await id({ method: 'PUT' }),
		await id({ bytes: Buffer.from('{"a":2}') }),
		await id({ query: { ...base.query, x: '2' } }),
		await id({ query: { ...base.query, pay_proof: `${PROOF}?status=paid` } }),
		await id({ query: { ...base.query, pay_proof: `${PROOF}?status=failed` } }),
		await id({}, null),
		await id({}, { ...ABOUT, external_id: 'b' }),
	];
	expect(new Set([same, ...others]).size).toBe(others.length + 1);
});

describe('what would let a reader of the execution call again is left out', () => {
	const url = new URL(SIGNED);
	const [path, token] = [url.pathname + url.search, 'f'.repeat(64)];
	const percent = [...PROOF].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

	test.each([
		{ name: 'x-original-url', value: path },
		{ name: 'x-forwarded-uri', value: `${path}&signature=${token}` },
		{ name: 'x-envoy-original-path', value: path },
		{ name: 'referer', value: `${SIGNED}?status=paid` },
		{ name: 'x-percent', value: `/x?pay_proof=${percent}&a=1` },
		{ name: 'x-encoded-whole', value: encodeURIComponent(SIGNED) },
		{ name: 'x-bare', value: MAC },
	])('in the header $name', async ({ name, value }) => {
		const { headers } = await parsed(
			request('', undefined, {
				headers: { [name]: value },
				query: { pay_proof: PROOF, signature: token },
				resumeToken: token,
			}),
		);
		const headerValue = decodeURIComponent(String(headers[name]));
		expect(headerValue).not.toContain(MAC);
		expect(headerValue).not.toContain(token);
		expect(headerValue).toContain('***');
	});

	test.each([
		{
			name: 'JSON',
			type: 'application/json',
			body: JSON.stringify({ postbackUrl: SIGNED, [SIGNED]: [SIGNED] }),
		},
		{ name: 'a form', type: FORM, body: `url=${encodeURIComponent(SIGNED)}` },
		{ name: 'a text', type: 'text/plain', body: SIGNED },
	])('in a body of $name that repeats the URL', async ({ type, body }) => {
		const postback = await parsed(request(body, type, { query: { pay_proof: PROOF } }));
		expect(JSON.stringify({ ...postback, content: '' })).not.toContain(MAC);
		expect(postback.rawBody).toContain('***');
	});

	test('in a multipart form, and in the query', async () => {
		const { body, query } = await parsed(
			request(
				`${part('name="url"', SIGNED)}--BOUNDARY--`,
				'multipart/form-data; boundary=BOUNDARY',
				{
					query: { pay_proof: PROOF, signature: token, url: SIGNED, status: 'paid' },
					resumeToken: token,
				},
			),
		);
		expect(JSON.stringify([body, query])).not.toContain(MAC);
		expect(query).toStrictEqual({ url: expect.stringContaining('***'), status: 'paid' });
	});

	test("a service's own signature stays, and the sender's credentials go", async () => {
		const headers = { authorization: 'x', cookie: 'y', 'proxy-authorization': 'z', host: 'h' };
		const postback = await parsed(
			request('', undefined, { headers, query: { signature: 'of the service' } }),
		);
		expect(postback.headers).toStrictEqual({ host: 'h' });
		expect(postback.query).toStrictEqual({ signature: 'of the service' });
	});
});

const OTHER_URL = signUrl('https://a.example/x', { ...ABOUT, kind: 'qrCode' }, 'another secret');
const OTHER = OTHER_URL.split('pay_proof=')[1]!;
const OTHER_MAC = OTHER.split('.')[1]!;

test.each<{ what: string; text: string; type: string }>([
	{ what: 'a URL', text: JSON.stringify({ url: OTHER_URL, paid: true }), type: 'application/json' },
	{
		what: 'a URL in a URL',
		text: `next=${encodeURIComponent(OTHER_URL)}&paid=true`,
		type: 'text/plain',
	},
	{ what: 'a form', text: `url=${encodeURIComponent(OTHER_URL)}&paid=true`, type: FORM },
	{
		what: 'a member of its own',
		text: JSON.stringify({ pay_proof: OTHER, paid: true }),
		type: 'application/json',
	},
	{ what: 'a text', text: `the proof is ${OTHER}, paid: true`, type: 'text/plain' },
	{ what: 'a name', text: JSON.stringify({ [OTHER]: 1, paid: true }), type: 'application/json' },
	{ what: 'XML', text: `<a><b>${OTHER_URL}</b><c>paid true</c></a>`, type: 'text/xml' },
])("another charge's proof in $what is not kept", async ({ text, type }) => {
	const { eventContent: _eventContent, ...kept } = await parsed(request(text, type));
	expect(JSON.stringify(kept)).not.toContain(OTHER_MAC);
	expect(JSON.stringify(kept)).toMatch(/\*\*\*.*paid\W+true/);
	const { query, headers } = await parsed(
		request('', type, { query: { a: [OTHER] }, headers: { 'x-url': OTHER_URL } }),
	);
	expect(JSON.stringify([query, headers])).not.toContain(OTHER_MAC);
});

test.each(['WyJ', 'WyJ.', 'pay_proof', 'pay_proof=', 'WyJ%2e', 'a.WyJ-'])(
	'proofs are looked for in time that grows with the length: %s',
	async (part) => {
		const time = async (length: number) => {
			const before = process.cpuUsage();
			await parsed(request(part.repeat(Math.ceil(length / part.length)), 'text/plain'));
			const { user, system } = process.cpuUsage(before);
			return (user + system) / 1000;
		};
		await time(10_000);
		// Squared it would be hours; it takes some 50 ms.
		expect(await time(runs(2_000_000))).toBeLessThan(5000);
	},
);

test('the item has its fields in the order in which a person looks for them', async () => {
	const postback = await parsed(request(''));
	const fields = (about: object) =>
		Object.keys(toJson(postback, { reference: null, ...about }, []));
	const rest = ['body', 'eventId', 'receivedAt', 'method', 'query', 'headers', 'rawBody'];
	expect(fields({})).toStrictEqual(['reference', ...rest]);
	expect(fields({ verdict: { state: 'paid' } })).toStrictEqual(['reference', 'state', ...rest]);
	const failed = { verdict: { state: 'failed', reason: 'the field "a" is missing' } };
	expect(fields(failed)).toStrictEqual(['reference', 'state', 'stateReason', ...rest]);
	// So does the editor's preview, of the trigger and of the wait.
	for (const preview of [triggerPreview, waitPreview.properties.postback]) {
		expect(Object.keys(preview.properties)).toStrictEqual(fields(failed));
	}
});

test('a body that repeats nothing stays byte for byte, with or without a proof', async () => {
	for (const query of [{}, { pay_proof: PROOF }]) {
		const text = '{ "a" : "undefined" }';
		const postback = await parsed(request(text, 'application/json', { query }));
		expect(postback.rawBody).toBe(text);
		expect(postback.body).toStrictEqual({ a: 'undefined' });
	}
});

test('headers that are lists stay lists, and a proof is hidden in capitals too', async () => {
	const headers = { 'set-cookie': ['a', 'b'], referer: '/x?PAY_PROOF=abc&a=1&pay_proof=def' };
	expect((await parsed(request('', undefined, { headers }))).headers).toStrictEqual({
		'set-cookie': ['a', 'b'],
		referer: '/x?PAY_PROOF=***&a=1&pay_proof=***',
	});
});

test('the eventId is this one for good, and the order of the query is none of it', async () => {
	const idOf = async (query: Record<string, unknown>) =>
		eventIdOf(await parsed(request('body', 'text/plain', { query })), ABOUT);
	const query = Object.entries({ a: '1', b: '2', c: '3' });
	const list = ['POST', ABOUT, query, []];
	const hash = createHash('sha256')
		.update(`${JSON.stringify(list)}\nbody`)
		.digest('hex');
	expect(await idOf({ a: '1', b: '2', c: '3' })).toBe(hash);
	expect(await idOf({ c: '3', b: '2', a: '1' })).toBe(hash);
	expect(await idOf({ b: '2', c: '3', a: '1' })).toBe(hash);
});
