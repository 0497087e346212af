import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** One thing that a service may tell, in the ways that services tell it. */
export interface Spelling {
	method?: string;
	headers?: Record<string, string>;
	body?: string | Buffer;
	/** Appended to the signed URL. */
	query?: string;
}

const PAID = '{"data":{"status":"paid"}}';
const BOUNDARY = 'XXBOUNDARYXX';

/** A multipart form; a part with a file name is a file. */
export function multipart(
	parts: Array<{ name: string; value: string; filename?: string }>,
	boundary = BOUNDARY,
): Required<Pick<Spelling, 'headers' | 'body'>> {
	const text = parts.map(({ name, value, filename }) =>
		[
			`--${boundary}`,
			`Content-Disposition: form-data; name="${name}"${filename ? `; filename="${filename}"` : ''}`,
			...(filename ? ['Content-Type: text/plain'] : []),
			'',
			value,
			'',
		].join('\r\n'),
	);
	return {
		headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
		body: `${text.join('')}--${boundary}--\r\n`,
	};
}

const inLatin1 = (type: string, charset: string, text: string): Spelling => ({
	headers: { 'Content-Type': `${type}; charset=${charset}` },
	body: Buffer.from(text, 'latin1'),
});

/** Each says that `data.status` is `paid`. */
export const SPELLINGS: Record<string, Spelling> = {
	JSON: { headers: { 'Content-Type': 'application/json' }, body: PAID },
	'JSON with a byte order mark': {
		headers: { 'Content-Type': 'application/json; charset=utf-8' },
		body: Buffer.from(`\uFEFF${PAID}`),
	},
	'JSON sent as text/plain': { headers: { 'Content-Type': 'text/plain' }, body: PAID },
	'JSON sent as text/json': { headers: { 'Content-Type': 'text/json' }, body: PAID },
	'JSON sent as a form': {
		headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
		body: PAID,
	},
	'JSON in UTF-16LE': {
		headers: { 'Content-Type': 'application/json; charset=utf-16le' },
		body: Buffer.from(PAID, 'utf16le'),
	},
	...Object.fromEntries(
		['ISO-8859-1', 'windows-1252', 'us-ascii'].flatMap(
			(charset): Array<[string, Spelling]> => [
				[
					`JSON in ${charset}`,
					inLatin1('application/json', charset, '{"n":"é","data":{"status":"paid"}}'),
				],
				[
					`XML in ${charset}`,
					inLatin1('text/xml', charset, '<data><n>é</n><status>paid</status></data>'),
				],
				[
					`a form in ${charset}`,
					inLatin1('application/x-www-form-urlencoded', charset, 'n=%E9&data[status]=paid'),
				],
				[`text in ${charset}`, inLatin1('text/plain', charset, '{"n":"é","data.status":"paid"}')],
			],
		),
	),
	...Object.fromEntries(
		['UTF-8', 'none', '8bit', 'ISO-8859-1'].map((label): [string, Spelling] => [
			`JSON in the content coding ${label}, which is none`,
			{ headers: { 'Content-Type': 'application/json', 'Content-Encoding': label }, body: PAID },
		]),
	),
	...Object.fromEntries(
		['GZIP', 'x-gzip'].map((coding): [string, Spelling] => [
			`JSON in the content coding ${coding}`,
			{
				headers: { 'Content-Type': 'application/json', 'Content-Encoding': coding },
				body: gzipSync(PAID),
			},
		]),
	),
	'XML behind a blank line': {
		headers: { 'Content-Type': 'application/xml' },
		body: '\n<?xml version="1.0"?><data><status>paid</status></data>',
	},
	'JSON of a type of its own': {
		headers: { 'Content-Type': 'application/vnd.x+json' },
		body: PAID,
	},
	'JSON of no type': { headers: { 'Content-Type': '' }, body: Buffer.from(PAID) },
	'a form': {
		headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
		body: 'data.status=paid',
	},
	'a multipart form': multipart([{ name: 'data.status', value: 'paid' }]),
	XML: {
		headers: { 'Content-Type': 'application/xml' },
		body: '<data><status>paid</status></data>',
	},
	'a key with a dot': {
		headers: { 'Content-Type': 'application/json' },
		body: '{"data.status":"paid"}',
	},
	'the query of a GET': { method: 'GET', query: '&data.status=paid' },
	'a second query appended to the URL': { method: 'GET', query: '?data.status=paid' },
	'the query of a POST with another body': {
		headers: { 'Content-Type': 'text/plain' },
		body: 'notification',
		query: '&data.status=paid',
	},
};

/** Sends it to a signed URL; gives the answer's status. */
export async function deliver(url: string, spelling: Spelling = SPELLINGS.JSON!): Promise<number> {
	const { method = 'POST', query = '' } = spelling;
	const headers = Object.entries({ Connection: 'close', ...spelling.headers }).filter(
		([, value]) => value !== '',
	);
	const body = spelling.body === undefined ? undefined : Buffer.from(spelling.body);
	const answer = await fetch(url + query, { method, headers, body });
	await answer.text();
	return answer.status;
}

/**
 * Posts JSON whose body comes so many milliseconds after its head, or once something has happened; gives
 * the answer's status.
 */
export async function deliverLate(
	url: string,
	late: number | Promise<unknown>,
	body = PAID,
): Promise<number> {
	const headers = {
		'Content-Type': 'application/json',
		'Content-Length': Buffer.byteLength(body),
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
	// At once, without waiting for the body.
	sending.flushHeaders();
	await (typeof late === 'number' ? pause(late) : late);
	sending.end(body);
	return await status;
}
