import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** A postback as it is sent: a POST with these headers and this body, unless it says otherwise. */
export interface Delivery {
	method?: string;
	headers?: Record<string, string>;
	body?: string | Buffer;
	/** Appended to the signed URL. */
	query?: string;
}

/** A postback that says "paid", and what a node gives of it. */
export interface PaidPostback extends Delivery {
	expected: { body?: object; query?: object };
}

const BOUNDARY = 'XXBOUNDARYXX';

/** A field of a multipart form; with a file name it is a file. */
interface FormPart {
	name: string;
	value: string;
	filename?: string;
}

/** A multipart form. */
export function multipart(parts: FormPart[], boundary = BOUNDARY) {
	let body = '';
	for (const { name, value, filename } of parts) {
		body += `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`;
		if (filename !== undefined) body += `; filename="${filename}"\r\nContent-Type: text/plain`;
		body += `\r\n\r\n${value}\r\n`;
	}
	return {
		headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
		body: `${body}--${boundary}--\r\n`,
	};
}

const PAID = '{"data":{"status":"paid"}}';
/** With a letter that these charsets write in one byte, and UTF-8 in two. */
const LATIN1_JSON = Buffer.from('{"n":"é","data":{"status":"paid"}}', 'latin1');
const LATIN1_FORM = Buffer.from('n=%E9&data[status]=paid', 'latin1');
const LATIN1_TEXT = Buffer.from('{"n":"é","data.status":"paid"}', 'latin1');

/** Each says that `data.status` is `paid`. Every charset and coding: test/postback/. */
export const SPELLINGS = {
	JSON: {
		headers: { 'Content-Type': 'application/json' },
		body: PAID,
		expected: { body: { data: { status: 'paid' } } },
	},
	'JSON with a byte order mark': {
		headers: { 'Content-Type': 'application/json; charset=utf-8' },
		body: Buffer.from(`\uFEFF${PAID}`),
		expected: { body: { data: { status: 'paid' } } },
	},
	'JSON sent as text/plain': {
		headers: { 'Content-Type': 'text/plain' },
		body: PAID,
		expected: { body: { data: { status: 'paid' } } },
	},
	'JSON sent as a form': {
		headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
		body: PAID,
		expected: { body: { data: { status: 'paid' } } },
	},
	'JSON in UTF-16LE': {
		headers: { 'Content-Type': 'application/json; charset=utf-16le' },
		body: Buffer.from(PAID, 'utf16le'),
		expected: { body: { data: { status: 'paid' } } },
	},
	'JSON in ISO-8859-1': {
		headers: { 'Content-Type': 'application/json; charset=ISO-8859-1' },
		body: LATIN1_JSON,
		expected: { body: { n: 'é', data: { status: 'paid' } } },
	},
	'a form in windows-1252': {
		headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=windows-1252' },
		body: LATIN1_FORM,
		// Forms are read as UTF-8: a name loses its sign.
		expected: { body: { n: '\ufffd', 'data[status]': 'paid' } },
	},
	'text in us-ascii': {
		headers: { 'Content-Type': 'text/plain; charset=us-ascii' },
		body: LATIN1_TEXT,
		expected: { body: { n: 'é', 'data.status': 'paid' } },
	},
	'JSON in the content coding none, which is none': {
		headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'none' },
		body: PAID,
		expected: { body: { data: { status: 'paid' } } },
	},
	'JSON in the content coding GZIP': {
		headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'GZIP' },
		body: gzipSync(PAID),
		expected: { body: { data: { status: 'paid' } } },
	},
	'JSON of a type of its own': {
		headers: { 'Content-Type': 'application/vnd.x+json' },
		body: PAID,
		expected: { body: { data: { status: 'paid' } } },
	},
	'JSON of no type': { body: PAID, expected: { body: { data: { status: 'paid' } } } },
	'a form': {
		headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
		body: 'data.status=paid',
		expected: { body: { 'data.status': 'paid' } },
	},
	'a multipart form': {
		headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
		body: multipart([{ name: 'data.status', value: 'paid' }]).body,
		expected: { body: { 'data.status': 'paid' } },
	},
	'a key with a dot': {
		headers: { 'Content-Type': 'application/json' },
		body: '{"data.status":"paid"}',
		expected: { body: { 'data.status': 'paid' } },
	},
	'the query of a GET': {
		method: 'GET',
		query: '&data.status=paid',
		expected: { query: { 'data.status': 'paid' } },
	},
	'a second query appended to the URL': {
		method: 'GET',
		query: '?data.status=paid',
		expected: { query: { 'data.status': 'paid' } },
	},
	'the query of a POST with another body': {
		headers: { 'Content-Type': 'text/plain' },
		body: 'notification',
		query: '&data.status=paid',
		expected: { query: { 'data.status': 'paid' } },
	},
} satisfies Record<string, PaidPostback>;

export type SpellingName = keyof typeof SPELLINGS;
export const SPELLING_NAMES = Object.keys(SPELLINGS) as SpellingName[];

/** Sends a postback to an address; gives the status that it is answered with. */
export async function deliver(url: string, delivery: Delivery = SPELLINGS.JSON): Promise<number> {
	const { method = 'POST', query = '' } = delivery;
	const headers = { Connection: 'close', ...delivery.headers };
	// As bytes: to a text, fetch adds a type.
	const body = delivery.body === undefined ? undefined : Buffer.from(delivery.body);
	const answer = await fetch(url + query, { method, headers, body });
	await answer.text();
	return answer.status;
}

/**
 * Posts JSON whose head arrives at once, and its body when something has happened; gives the status of
 * the response.
 */
export async function deliverWhen(url: string, happened: Promise<unknown>): Promise<number> {
	const headers = {
		'Content-Type': 'application/json',
		'Content-Length': Buffer.byteLength(PAID),
		Connection: 'close',
	};
	const sending = request(url, { method: 'POST', headers });
	const status = new Promise<number>((resolve, reject) => {
		sending.on('error', reject);
		sending.on('response', (response) => {
			response.resume();
			response.on('end', () => resolve(response.statusCode!));
		});
	});
	sending.flushHeaders();
	await happened;
	sending.end(PAID);
	return await status;
}

/** The same, with the body so many milliseconds after the head. */
export async function deliverLate(url: string, ms: number): Promise<number> {
	return await deliverWhen(url, pause(ms));
}

/**
 * Posts the head of a request that announces so many bytes, and none of them; gives the status that it is
 * answered with. A server that does not take so many closes the connection, which may come before its answer
 * to a client that goes on sending.
 */
export async function deliverHead(url: string, bytes: number): Promise<number> {
	const headers = { 'Content-Length': bytes, Connection: 'close' };
	const sending = request(url, { method: 'POST', headers });
	sending.flushHeaders();
	const [response] = (await once(sending, 'response')) as [IncomingMessage];
	sending.destroy();
	return response.statusCode!;
}
