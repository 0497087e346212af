import { mismatchOf, Sources } from '../../../nodes/Pay/service/fieldMatch';
import { parsePostback, toJson } from '../../../nodes/Pay/postback/postback';
import { signUrl } from '../../../nodes/Pay/postback/proof';
import { filled, growsTooFast, processorTime } from '../../growth';

const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=B';
const SIGNED = signUrl(
	'https://a.example/',
	{ external_id: 'a', kind: 'payment', amount: 1 },
	'a secret',
);

const multipart = (headers: string, value: string) =>
	`--B\r\nContent-Disposition: form-data; ${headers}\r\n\r\n${value}\r\n--B--\r\n`;

interface Hostile {
	type: string;
	body?: string;
	headers?: Record<string, string>;
}

/** Everything that is done with a proven postback whose sender means harm; gives its processor time. */
function timeOf({ type, body = '', headers = {} }: Hostile): number {
	const bytes = Buffer.from(body, 'latin1');
	const query = { pay_proof: SIGNED.split('pay_proof=')[1]! };
	return processorTime(() => {
		try {
			const postback = parsePostback(
				{ method: 'POST', query, headers: { ...headers, 'content-type': type } },
				bytes,
				{ resumeToken: 'a resume token', isSignedByService: false },
			);
			const { body: parsed } = postback;
			const sources = new Sources(parsed, query, { postback: { body: parsed } });
			mismatchOf({ field: 'data[attributes].status', values: ['paid'] }, sources);
			sources.names(20);
			JSON.stringify(toJson(postback, { reference: null }));
		} catch (error) {
			expect(error).toMatchObject({ name: 'BodyError' });
		}
	});
}

/** A body of each size, by what it is full of. */
const BODIES: Array<[name: string, type: string, body: (size: number) => string]> = [
	['[ in the name of a member', 'application/json', (n) => `{"${filled(n, '[')}":1}`],
	['[a in the name of a member', 'application/json', (n) => `{"${filled(n, '[a')}":1}`],
	['[a] in the name of a member', 'application/json', (n) => `{"${filled(n, '[a]')}":1}`],
	['dots in the name of a member', 'application/json', (n) => `{"${filled(n, 'data.')}":1}`],
	['numbers', 'application/json', (n) => `[${filled(n, '1,')}1]`],
	['numbers, one of them long', 'application/json', (n) => `[${filled(n, '1,')}1234567890123456]`],
	['long numbers', 'application/json', (n) => `[${filled(n - (n % 18), '1234567890123456, ')}1]`],
	['digits of one number', 'application/json', (n) => `[${filled(n, '1')}]`],
	['digits of one fraction', 'application/json', (n) => `[1.${filled(n, '1')}]`],
	['zeros of an exponent', 'application/json', (n) => `[1e${filled(n, '0')}1234567890123456]`],
	['empty lists', 'application/json', (n) => `[${filled(n - (n % 3), '[],')}1]`],
	[
		'empty lists, and a long number',
		'application/json',
		(n) => `[${filled(n - (n % 3), '[],')}1234567890123456]`,
	],
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
	['escapes', 'application/json', (n) => `["${filled(n - (n % 6), '\\u0041')}",1234567890123456]`],
	['quotes without end', 'application/json', (n) => filled(n, '"')],
	['proofs', 'text/plain', (n) => filled(n, 'WyJ.%2eWyJ-pay_proof=')],
	['base64url', 'text/plain', (n) => filled(n, 'WyJhYmM')],
	['€ in Windows-1252', 'text/plain; charset=windows-1252', (n) => filled(n, '\x80')],
	['no character of GBK', 'text/plain; charset=gbk', (n) => filled(n, '\xff')],
	['[ in a name', URLENCODED, (n) => `${filled(n, '[')}=1`],
	['a[ in a name', URLENCODED, (n) => `${filled(n, 'a[')}=1`],
	['[] in a name', URLENCODED, (n) => `a${filled(n - (n % 2), '[]')}=1`],
	['[a] in a name', URLENCODED, (n) => `a${filled(n - (n % 3), '[a]')}=1`],
	['one long name', URLENCODED, (n) => `${filled(n, 'a')}=1`],
	['=', URLENCODED, (n) => filled(n, '=')],
	['&', URLENCODED, (n) => filled(n, '&')],
	['fields', URLENCODED, (n) => filled(n, 'a=1&')],
	['percent signs', URLENCODED, (n) => `a=${filled(n, '%')}`],
	['broken escapes', URLENCODED, (n) => `a=${filled(n, '%4')}`],
	['escapes', URLENCODED, (n) => `a=${filled(n, '%41')}`],
	['escapes in Windows-1252', `${URLENCODED}; charset=cp1252`, (n) => `a=${filled(n, '%80')}`],
	['values of one list', URLENCODED, (n) => filled(Math.min(n, 5000), 'a[]=1&')],
	['objects beside values', URLENCODED, (n) => filled(Math.min(n, 8000), 'a=1&a[b]=1&')],
	['almost boundaries', MULTIPART, (n) => multipart('name="a"', filled(n, '\r\n--Bx'))],
	['boundaries with blanks', MULTIPART, (n) => multipart('name="a"', filled(n, '\r\n--B    x'))],
	['line breaks', MULTIPART, (n) => multipart('name="a"', filled(n, '\r\n'))],
	['one blank line of blanks', MULTIPART, (n) => `--B${filled(n, ' ')}`],
	['empty parts', MULTIPART, (n) => filled(n, '--B\r\n\r\n\r\n')],
	['headers without end', MULTIPART, (n) => `--B\r\n${filled(n, 'a: b\r\n')}--B--`],
	[
		'folded headers',
		MULTIPART,
		(n) => `${filled(n, `--B\r\nA:${filled(3900, '\r\n ')}\r\n\r\n\r\n`)}\r\n--B--`,
	],
	[
		'parameters',
		MULTIPART,
		(n) => filled(n, multipart(filled(3900, ';a'), '').slice(0, -7)) + '\r\n--B--',
	],
	[
		'quotes in parameters',
		MULTIPART,
		(n) => filled(n, multipart(filled(3900, ';a="\\'), '').slice(0, -7)) + '\r\n--B--',
	],
	[
		'quoted-printable',
		MULTIPART,
		(n) =>
			multipart('name="a"\r\nContent-Transfer-Encoding: quoted-printable', filled(n, '= \r\n=4')),
	],
	[
		'base64',
		MULTIPART,
		(n) => multipart('name="a"\r\nContent-Transfer-Encoding: base64', filled(n, 'aGk= ')),
	],
	[
		'parts of JSON',
		MULTIPART,
		(n) =>
			filled(
				n - (n % 16_000),
				`--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: application/json\r\n\r\n[${filled(15_914, '1,')}1]\r\n`,
			) + '--B--',
	],
	[
		'parts of XML',
		MULTIPART,
		(n) =>
			filled(
				n - (n % 16_000),
				`--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/xml\r\n\r\n<a>${filled(15_916, '<b/>')}</a>\r\n`,
			) + '--B--',
	],
	[
		'a boundary of 69 a',
		`multipart/form-data; boundary=${'a'.repeat(69)}`,
		(n) => filled(n, `\r\n-${'-'.repeat(9)}${'a'.repeat(200)}`),
	],
	['XML: levels', 'text/xml', (n) => filled(n, '<a>')],
	['XML: <', 'text/xml', (n) => filled(n, '<')],
	['XML: elements', 'text/xml', (n) => `<a>${filled(n - (n % 4), '<b/>')}</a>`],
	[
		'XML: attributes',
		'text/xml',
		(n) => `<a ${Array.from({ length: n / 12 }, (_, at) => `a${at}="1"`).join(' ')}/>`,
	],
	['XML: one attribute again', 'text/xml', (n) => `<a ${filled(n - (n % 6), 'a="1" ')}/>`],
	['XML: a name', 'text/xml', (n) => `<${filled(n, 'a')}/>`],
	['XML: entities', 'text/xml', (n) => `<a>${filled(n - (n % 5), '&amp;')}</a>`],
	['XML: numbered characters', 'text/xml', (n) => `<a>${filled(n - (n % 6), '&#x41;')}</a>`],
	['XML: & in an attribute', 'text/xml', (n) => `<a b="${filled(n, '&')}"/>`],
	[
		'XML: entities of its own',
		'text/xml',
		(n) => `<!DOCTYPE a [${filled(n - (n % 17), '<!ENTITY a "b" >')}]><a>&a;</a>`,
	],
	['XML: comments', 'text/xml', (n) => `<a>${filled(n, '<!--')}</a>`],
	['XML: CDATA', 'text/xml', (n) => `<a>${filled(n, '<![CDATA[')}</a>`],
	['XML: ]]', 'text/xml', (n) => `<a><![CDATA[${filled(n, ']')}]]></a>`],
	['XML: <?', 'text/xml', (n) => filled(n, '<?x ')],
	['XML: blanks before it', 'text/xml', (n) => `${filled(n, ' \n')}<a/>`],
	['XML: blanks in it', 'text/xml', (n) => `<a>${filled(n, ' \n')}x</a>`],
];

/** One of each kind goes up to what n8n takes; the others would take this suite a minute more. */
const LARGEST = new Set([
	'[ in the name of a member',
	'numbers, one of them long',
	'backslashes',
	'[ in a name',
	'percent signs',
	'almost boundaries',
	'quoted-printable',
	'proofs',
	'XML: levels',
]);

test.each(BODIES)(
	'a body full of %s, in %s, takes time that grows with its length',
	(name, type, body) => {
		const largest = LARGEST.has(name) ? 16_000_000 : 1_000_000;
		expect(growsTooFast((size) => timeOf({ type, body: body(size) }), largest)).toBeUndefined();
	},
);

/** Node.js takes 16 kB of headers. */
const HEADERS: Array<[name: string, hostile: (size: number) => Hostile]> = [
	['; in the type', (n) => ({ type: `text/plain${filled(n, ';')}` })],
	['; charset in the type', (n) => ({ type: `text/plain${filled(n, '; charset')}` })],
	['blanks in the type', (n) => ({ type: `text/plain;${filled(n, ' ')}x` })],
	['quotes in the type', (n) => ({ type: `text/plain;${filled(n, 'a="\\;')}` })],
	['/xml in the type', (n) => ({ type: `${filled(n, '/xml  ')}x`, body: '<a/>' })],
	['/json in the type', (n) => ({ type: `${filled(n, '/json  ')}x`, body: '1' })],
	['a charset', (n) => ({ type: `text/plain; charset=${filled(n, 'x-cp1')}` })],
	['a boundary', (n) => ({ type: `multipart/form-data; boundary=${filled(n, 'a')}`, body: '--a' })],
	['a cookie', (n) => ({ type: 'text/plain', headers: { cookie: filled(n, 'a=b; ') } })],
	['proofs in a header', (n) => ({ type: 'text/plain', headers: { referer: filled(n, 'WyJ.') } })],
	['an XML declaration', (n) => ({ type: 'text/xml', body: `<?xml ${filled(n, ' encoding')}` })],
];

test.each(HEADERS)('a request with %s takes time that grows with its length', (_name, hostile) => {
	expect(growsTooFast((size) => timeOf(hostile(size)), 16_000)).toBeUndefined();
});
