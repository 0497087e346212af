import { mismatchOf, Sources } from '../../../nodes/Pay/service/paths';
import { parsePostback, toJson } from '../../../nodes/Pay/postback/postback';
import { signUrl } from '../../../nodes/Pay/postback/proof';
import { filled, growsTooFast, processorTime } from '../../growth';

const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=BOUNDARY';
const SIGNED = signUrl(
	'https://a.example/',
	{ external_id: 'a', kind: 'payment', amount: 1 },
	'a secret',
);

const multipart = (headers: string, value: string) =>
	`--BOUNDARY\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${value}\r\n--BOUNDARY--\r\n`;

interface Hostile {
	type: string;
	body?: string;
	headers?: Record<string, string>;
}

/** Everything that is done with a proven postback whose sender means harm; gives its processor time. */
async function timeOf({ type, body = '', headers = {} }: Hostile): Promise<number> {
	const bytes = Buffer.from(body, 'latin1');
	const query = { pay_proof: SIGNED.split('pay_proof=')[1]! };
	return await processorTime(async () => {
		try {
			const postback = await parsePostback(
				{ method: 'POST', query, headers: { ...headers, 'content-type': type } },
				bytes,
				{ resumeToken: 'a resume token', isSignedByService: false },
			);
			const { body: parsed } = postback;
			const sources = new Sources(parsed, query, { postback: { body: parsed } });
			mismatchOf({ field: ['data[attributes].status'], values: ['paid'] }, sources);
			sources.names(20);
			JSON.stringify(toJson(postback, { reference: null }));
		} catch (error) {
			expect(error).toMatchObject({ name: 'BodyError' });
		}
	});
}

/** A body of each size, by what it is full of. */
const BODIES: Array<[name: string, type: string, body: (size: number) => string]> = [
	['[a in the name of a member', 'application/json', (n) => `{"${filled(n, '[a')}":1}`],
	['dots in the name of a member', 'application/json', (n) => `{"${filled(n, 'data.')}":1}`],
	['numbers, one of them long', 'application/json', (n) => `[${filled(n, '1,')}1234567890123456]`],
	['digits of one number', 'application/json', (n) => `[${filled(n, '1')}]`],
	['zeros of an exponent', 'application/json', (n) => `[1e${filled(n, '0')}1234567890123456]`],
	[
		'members of one name',
		'application/json',
		(n) => `{${filled(n - (n % 6), '"a":1,')}"b":1234567890123456}`,
	],
	['levels', 'application/json', (n) => filled(n, '[')],
	[
		'members',
		'application/json',
		(n) => `{${Array.from({ length: n / 12 }, (_, at) => `"${at}":1`).join()}}`,
	],
	['backslashes', 'application/json', (n) => `["${filled(n - (n % 2), '\\\\')}",1234567890123456]`],
	['quotes without end', 'application/json', (n) => filled(n, '"')],
	['proofs', 'text/plain', (n) => filled(n, 'WyJ.%2eWyJ-pay_proof=')],
	['base64url', 'text/plain', (n) => filled(n, 'WyJhYmM')],
	['€ in Windows-1252', 'text/plain; charset=windows-1252', (n) => filled(n, '\x80')],
	['no character of GBK', 'text/plain; charset=gbk', (n) => filled(n, '\xff')],
	['[a] in a name', URLENCODED, (n) => `a${filled(n - (n % 3), '[a]')}=1`],
	['one long name', URLENCODED, (n) => `${filled(n, 'a')}=1`],
	['=', URLENCODED, (n) => filled(n, '=')],
	['&', URLENCODED, (n) => filled(n, '&')],
	['fields', URLENCODED, (n) => filled(n, 'a=1&')],
	['broken escapes', URLENCODED, (n) => `a=${filled(n, '%4')}`],
	['escapes', URLENCODED, (n) => `a=${filled(n, '%41')}`],
	['escapes in Windows-1252', `${URLENCODED}; charset=cp1252`, (n) => `a=${filled(n, '%80')}`],
	['values of one list', URLENCODED, (n) => filled(Math.min(n, 5000), 'a[]=1&')],
	['almost boundaries', MULTIPART, (n) => multipart('name="a"', filled(n, '\r\n--BOUNDARYx'))],
	['line breaks', MULTIPART, (n) => multipart('name="a"', filled(n, '\r\n'))],
	['empty parts', MULTIPART, (n) => filled(n, '--BOUNDARY\r\n\r\n\r\n')],
	['headers without end', MULTIPART, (n) => `--BOUNDARY\r\n${filled(n, 'a: b\r\n')}--BOUNDARY--`],
	[
		'folded headers',
		MULTIPART,
		(n) => `${filled(n, `--BOUNDARY\r\nA:${filled(3900, '\r\n ')}\r\n\r\n\r\n`)}\r\n--BOUNDARY--`,
	],
	[
		'parameters',
		MULTIPART,
		(n) => filled(n, multipart(filled(3900, ';a'), '').slice(0, -14)) + '\r\n--BOUNDARY--',
	],
	[
		'quotes in parameters',
		MULTIPART,
		(n) => filled(n, multipart(filled(3900, ';a="\\'), '').slice(0, -14)) + '\r\n--BOUNDARY--',
	],
	[
		'quoted-printable',
		MULTIPART,
		(n) =>
			multipart('name="a"\r\nContent-Transfer-Encoding: quoted-printable', filled(n, '= \r\n=4')),
	],
	[
		'parts of JSON',
		MULTIPART,
		(n) =>
			filled(
				n - (n % 16_000),
				`--BOUNDARY\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: application/json\r\n\r\n[${filled(15_907, '1,')}1]\r\n`,
			) + '--BOUNDARY--',
	],
	[
		'a boundary of 69 a',
		`multipart/form-data; boundary=${'a'.repeat(69)}`,
		(n) => filled(n, `\r\n-${'-'.repeat(9)}${'a'.repeat(200)}`),
	],
];

/** One of each kind goes up to what n8n takes; the others would take this suite a minute more. */
const LARGEST = new Set([
	'[a in the name of a member',
	'numbers, one of them long',
	'backslashes',
	'[a] in a name',
	'broken escapes',
	'almost boundaries',
	'quoted-printable',
	'proofs',
]);

test.each(BODIES)(
	'a body full of %s, in %s, takes time that grows with its length',
	async (name, type, body) => {
		const largest = LARGEST.has(name) ? 16_000_000 : 1_000_000;
		const time = async (size: number) => await timeOf({ type, body: body(size) });
		expect(await growsTooFast(time, largest)).toBeUndefined();
	},
);

/** Node.js takes 16 kB of headers. */
const HEADERS: Array<[name: string, hostile: (size: number) => Hostile]> = [
	['; in the type', (n) => ({ type: `text/plain${filled(n, ';')}` })],
	['; charset in the type', (n) => ({ type: `text/plain${filled(n, '; charset')}` })],
	['blanks in the type', (n) => ({ type: `text/plain;${filled(n, ' ')}x` })],
	['quotes in the type', (n) => ({ type: `text/plain;${filled(n, 'a="\\;')}` })],
	['/json in the type', (n) => ({ type: `${filled(n, '/json  ')}x`, body: '1' })],
	['a charset', (n) => ({ type: `text/plain; charset=${filled(n, 'x-cp1')}` })],
	['a boundary', (n) => ({ type: `multipart/form-data; boundary=${filled(n, 'a')}`, body: '--a' })],
	['a cookie', (n) => ({ type: 'text/plain', headers: { cookie: filled(n, 'a=b; ') } })],
	['proofs in a header', (n) => ({ type: 'text/plain', headers: { referer: filled(n, 'WyJ.') } })],
];

test.each(HEADERS)(
	'a request with %s takes time that grows with its length',
	async (_name, hostile) => {
		const time = async (size: number) => await timeOf(hostile(size));
		expect(await growsTooFast(time, 16_000)).toBeUndefined();
	},
);
