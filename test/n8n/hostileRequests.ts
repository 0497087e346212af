import { gzipSync } from 'node:zlib';
import { connect } from 'node:net';
import { type Reference, signUrl } from '../../nodes/Pay/postback/proof';

/** A body, and what its sender says of it. */
interface HostileBody {
	headers?: string[];
	body?: string | Buffer;
	/** The connection ends before the body does. */
	cut?: true;
	/** What is sent a moment later. */
	late?: string;
	/** How many bytes never come: an answer then shows that nobody read the body. */
	missing?: number;
}

const FORM = 'Content-Type: multipart/form-data; boundary=B';
const MIXED = 'Content-Type: multipart/mixed; boundary=B';
const JSON_TYPE = 'Content-Type: application/json';
const PAID = '{"status":"paid"}';
const FIELD = '--B\r\nContent-Disposition: form-data; name="status"\r\n\r\npaid\r\n--B--\r\n';
const FILE =
	'--B\r\nContent-Disposition: form-data; name="f"; filename="../../f.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--B--\r\n';

/** Bodies that n8n leaves to the node, has consumed, or fails on. */
const BODIES: Record<string, HostileBody> = {
	'plain JSON': { headers: [JSON_TYPE], body: PAID },
	'a multipart form': { headers: [FORM], body: FIELD },
	'a multipart form with a file': { headers: [FORM], body: FILE },
	'an empty multipart form': { headers: [FORM], body: '--B--\r\n' },
	'a multipart form without a body': { headers: [FORM] },
	'a multipart form without a boundary': {
		headers: ['Content-Type: multipart/form-data'],
		body: FIELD,
	},
	'a multipart form that ends early': { headers: [FORM], body: FIELD.slice(0, 40) },
	'a multipart form, its end late': { headers: [FORM], body: FIELD.slice(0, -2), late: '\r\n' },
	'a multipart form of another boundary': { headers: [FORM], body: FIELD.replaceAll('--B', '--C') },
	'a multipart form, gzipped': { headers: [FORM, 'Content-Encoding: gzip'], body: gzipSync(FIELD) },
	'a multipart form with an empty file': {
		headers: [FORM],
		body: FIELD.replace('name="status"', 'name="f"; filename=""').replace('paid', ''),
	},
	'a multipart form, cut off': { headers: [FORM], body: FIELD.slice(0, 40), cut: true },
	'multipart/mixed': { headers: [MIXED], body: FIELD },
	'multipart/mixed, bad gzip': { headers: [MIXED, 'Content-Encoding: gzip'], body: 'no gzip' },
	'multipart/mixed, cut off': { headers: [MIXED], body: '--B', cut: true },
	'multipart/mixed, bad deflate': { headers: [MIXED, 'Content-Encoding: deflate'], body: 'no' },
	'JSON, cut off': { headers: [JSON_TYPE], body: PAID.slice(0, 8), cut: true },
	'JSON of 10 MB that never comes': { headers: [JSON_TYPE], body: '{', missing: 10_000_000 },
	'a multipart form that never comes': { headers: [FORM], body: '--B', missing: 10_000_000 },
	'JSON, bad gzip': { headers: [JSON_TYPE, 'Content-Encoding: gzip'], body: 'no gzip' },
	'JSON, gzip of something else': {
		headers: [JSON_TYPE, 'Content-Encoding: gzip'],
		body: gzipSync('{"status":'),
	},
	'JSON in an encoding that n8n does not know': {
		headers: [JSON_TYPE, 'Content-Encoding: br'],
		body: PAID,
	},
	'JSON in a charset that nobody knows': { headers: [`${JSON_TYPE}; charset=foo`], body: PAID },
	'no JSON': { headers: [JSON_TYPE], body: '{' },
	'deep JSON': { headers: [JSON_TYPE], body: '['.repeat(2000) + ']'.repeat(2000) },
	'deep XML': {
		headers: ['Content-Type: application/xml'],
		body: '<a>'.repeat(300) + '</a>'.repeat(300),
	},
	'no XML': { headers: ['Content-Type: text/xml'], body: 'no < xml' },
	'a form': { headers: ['Content-Type: application/x-www-form-urlencoded'], body: 'status=paid' },
	'no content type': { body: PAID },
	'no body': {},
	'keys of the prototype': {
		headers: [JSON_TYPE],
		body: '{"__proto__":{"status":"paid"},"constructor":1,"toString":2}',
	},
};

/** What is sent in place of a genuine proof, or beside one that proves something else. */
const PROOFS: Record<string, (genuine: string, about: Reference, secret: string) => string> = {
	none: () => '',
	'an empty one': () => 'pay_proof=',
	'one with another secret': (_, about) => proof(about, 'another secret'),
	'one with the empty secret': (_, about) => proof(about, ''),
	'a mac with one letter changed': (genuine) =>
		genuine.replace(/.$/, (letter) => (letter === 'A' ? 'B' : 'A')),
	'another reference before its mac': (genuine, about) =>
		`${proof({ ...about, amount: 999 }, '').split('.')[0]!}.${genuine.split(/[.=]/).at(-1)}`,
	'a lower-cased one': (genuine) => genuine.replace(/=.*/, (text) => text.toLowerCase()),
	'a genuine one twice': (genuine) => `${genuine}&${genuine}`,
	'a genuine one as a list': (genuine) => genuine.replace('=', '[]='),
	'one for another external_id': (_, about, secret) =>
		proof({ ...about, external_id: 'another' }, secret),
	'one for another address': (_, about, secret) => proof(about, secret),
	'the words of a proof': () => 'pay_proof=paid.paid&status=paid&verified=true',
};

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];

const proof = (about: Reference, secret: string) =>
	signUrl('http://a/', about, secret).split('?')[1]!;

/** A request as it goes over the wire. */
export interface RawRequest {
	name: string;
	bytes: Buffer;
	cut: boolean;
	late: Buffer;
	/** Whether its proof is genuine, and about something else. */
	foreign: boolean;
	/** n8n has one XML parser, and answers neither of two bad documents that come at one moment. */
	alone: boolean;
}

/**
 * A node looks at the proof before it reads the body. So every body is sent with these proofs alone, and
 * every proof with these bodies: what the node reads itself, what n8n has read, and what breaks off or
 * fails while it is read.
 */
const PROOFS_OF_EVERY_BODY = [
	'none',
	'a mac with one letter changed',
	'one for another external_id',
];
const BODIES_OF_EVERY_PROOF = [
	'plain JSON',
	'a multipart form',
	'JSON, cut off',
	'multipart/mixed, bad gzip',
];

/**
 * Every kind of body with what is no proof of it; the method goes round.
 * @param url an address without a proof
 * @param genuine the parameter of a genuine postback to it
 * @param about what that proves (a charge)
 */
export function hostileRequests(
	url: string,
	genuine: string,
	about: Reference,
	secret: string,
): RawRequest[] {
	const requests: RawRequest[] = [];
	for (const [bodyName, body] of Object.entries(BODIES)) {
		for (const [proofName, make] of Object.entries(PROOFS)) {
			const isSent =
				PROOFS_OF_EVERY_BODY.includes(proofName) || BODIES_OF_EVERY_PROOF.includes(bodyName);
			if (!isSent) continue;
			const method = METHODS[requests.length % METHODS.length]!;
			requests.push({
				name: `${method} ${bodyName}, with ${proofName} for a proof`,
				bytes: bytesOf(method, url, make(genuine, about, secret), body),
				cut: body.cut === true,
				late: Buffer.from(body.late ?? ''),
				foreign: proofName.startsWith('one for another '),
				alone: bodyName.endsWith('XML'),
			});
		}
	}
	return requests;
}

/** A request up to what comes late, or never. */
function bytesOf(
	method: string,
	url: string,
	proofParameter: string,
	{ headers = [], body = '', cut, late = '', missing = 0 }: HostileBody,
): Buffer {
	const { pathname, search, host } = new URL(url);
	const parameters = [search.slice(1), proofParameter].filter((each) => each !== '').join('&');
	const path = parameters === '' ? pathname : `${pathname}?${parameters}`;
	const content = Buffer.from(body);
	const length = content.length + late.length + (cut ? 1000 : missing);
	const head = [
		`${method} ${path} HTTP/1.1`,
		`Host: ${host}`,
		'Connection: close',
		...headers,
		`Content-Length: ${length}`,
	];
	return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), content]);
}

/** Sends it as it is; gives the answer's status, 0 where the connection ended without one. */
export async function sendRaw(
	url: string,
	{ bytes, cut, late }: Pick<RawRequest, 'bytes' | 'cut'> & { late?: Buffer },
	delay = 30,
): Promise<number> {
	const { hostname, port } = new URL(url);
	return await new Promise((resolve) => {
		let answer = '';
		const socket = connect(Number(port), hostname, () => {
			// What is cut off ends when n8n has begun to read it, which takes it a moment.
			socket.write(bytes, () => {
				if (late && late.length > 0) setTimeout(() => socket.write(late), delay);
				if (cut) setTimeout(() => socket.destroy(), late ? 2 * delay : delay);
			});
		});
		socket.setTimeout(20_000, () => socket.destroy());
		socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
		socket.on('error', () => undefined);
		socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)));
	});
}
