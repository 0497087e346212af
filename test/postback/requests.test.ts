import { randomUUID } from 'node:crypto';
import assert from 'node:assert/strict';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parse } from 'node:querystring';
import fc from 'fast-check';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import {
	randomProof,
	type Reference,
	signUrl,
	withRandomProof,
} from '../../nodes/Pay/postback/proof';
import { webhookNode, type HandedOver } from '../engine/webhook';
import { runs } from '../runs';

const SECRET = 'the postback secret of the test';
const TOKEN = 'f'.repeat(64);
const ABOUT: Reference = { external_id: 'order-1', kind: 'payment', amount: 500 };
const WAITING: INodeExecutionData = {
	json: {
		external_id: 'order-1',
		kind: 'payment',
		amount: 500,
		toString: 't',
		valueOf: 1,
		hasOwnProperty: 'h',
		constructor: 'c',
		nested: { a: [1, [2, { b: null }]] },
	},
	binary: { receipt: { data: 'aGVsbG8=', mimeType: 'text/plain', fileName: 'r.txt' } },
};
const credential = { postbackSecret: SECRET };

/** A body as bytes, and what a taker should make of it. How each kind is read: body/parse.test.ts. */
interface Sent {
	type: string | undefined;
	bytes: Buffer;
	means: unknown;
}

const MULTIPART = [
	'--BOUNDARY',
	'Content-Disposition: form-data; name="a"',
	'',
	'b',
	'--BOUNDARY--',
	'',
].join('\r\n');
const sent = fc.constantFrom<Sent>(
	{ type: 'application/json', bytes: Buffer.from('{"a":"ü😀"}'), means: { a: 'ü😀' } },
	{ type: undefined, bytes: Buffer.from('\uFEFF{"a":1}', 'utf16le'), means: { a: 1 } },
	{ type: 'application/x-www-form-urlencoded', bytes: Buffer.from('a=b'), means: { a: 'b' } },
	{
		type: 'multipart/form-data; boundary=BOUNDARY',
		bytes: Buffer.from(MULTIPART),
		means: { a: 'b' },
	},
	{ type: 'text/plain', bytes: Buffer.from('paid'), means: 'paid' },
	{ type: 'text/xml', bytes: Buffer.from('<a>&amp;</a>'), means: '<a>&amp;</a>' },
	{ type: 'text/plain', bytes: Buffer.alloc(0), means: '' },
);

/** How far n8n gets with a body before it calls the node. */
const reading = fc.constantFrom('read', 'left to the node', 'cut off', 'too large', 'never there');

const failing = (words: string, statusCode: number) => ({
	readRawBody: async () => await Promise.reject(Object.assign(new Error(words), { statusCode })),
});

function handedOver(
	{ bytes }: Sent,
	how: string,
	zipped: boolean,
): Pick<HandedOver, 'rawBody' | 'readRawBody'> {
	const sent = zipped ? gzipSync(bytes) : bytes;
	switch (how) {
		case 'read':
			return { rawBody: bytes };
		case 'left to the node':
			return { readRawBody: async () => (zipped ? gunzipSync(sent) : bytes) };
		case 'cut off':
			return failing('request aborted', 400);
		case 'too large':
			return failing('request entity too large', 413);
		default:
			return { readRawBody: async () => gunzipSync(Buffer.from('no gzip')) };
	}
}

const proofIn = (url: string) => url.split('pay_proof=')[1]!;
const signed = (about: Reference, secret: string) =>
	proofIn(signUrl('https://n8n.example.com/x', about, secret));
const random = () => withRandomProof('https://n8n.example.com/x', randomProof());
const percent = (proof: string) =>
	[...proof].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
const provenBy = (genuine: string) =>
	fc.constantFrom<[query: string, says: object]>(
		[`pay_proof=${genuine}`, {}],
		[`pay_proof=${genuine}&status=paid`, { status: 'paid' }],
		[`pay_proof=${genuine}?status=paid`, { status: 'paid' }],
		[`pay_proof=${genuine}/`, {}],
		[`status=paid&pay_proof=${genuine}`, { status: 'paid' }],
		[`pay%5Fproof=${percent(genuine)}&a=1&a=2`, { a: ['1', '2'] }],
		[`__proto__=x&pay_proof=${genuine}`, JSON.parse('{"__proto__":"x"}') as object],
	);
const unprovenBeside = (genuine: string) =>
	fc.oneof(
		fc.constantFrom(
			'',
			'status=paid',
			'pay_proof=',
			`pay_proof=${genuine.toLowerCase()}`,
			`pay_proof=${genuine.slice(0, -1)}`,
			`pay_proof=${genuine}A`,
			`pay_proof=${genuine}&pay_proof=${genuine}`,
			`pay_proof=${signed(ABOUT, 'another secret')}`,
			`pay_proof=${proofIn(random().url)}`,
			`pay_proof=${random().hash}`,
			`pay_proof[]=${genuine}`,
		),
		fc.string({ maxLength: 60 }).map((junk) => `pay_proof=${encodeURIComponent(junk)}`),
	);

const own = random();
const headers = fc.dictionary(
	fc.constantFrom('x-try', 'x-original-url', 'referer', 'user-agent', 'x-http-method-override'),
	fc.oneof(
		fc.string(),
		fc.constant(`/webhook/x?pay_proof=${signed(ABOUT, SECRET)}`),
		fc.constant(`/webhook/x?pay_proof=${proofIn(own.url)}`),
	),
);
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
const request = fc.record({ method, headers, sent, how: reading, zipped: fc.boolean() });

/** The two nodes; n8n 1 has no token of its own in resume URLs. */
const waiting = (more: object = {}) => {
	const proofs = [{ hash: own.hash, reference: ABOUT }];
	const awaited = { proofs, given: [], id: randomUUID() };
	return webhookNode({ item: WAITING, awaited, ...more });
};
const NODES: Array<[string, () => ReturnType<typeof webhookNode>, string]> = [
	['the trigger', () => webhookNode({ credential: () => credential }), ''],
	['the wait on n8n 1', waiting, ''],
	['the wait on n8n 2', () => waiting({ resumeToken: TOKEN }), `signature=${TOKEN}&`],
];

const RUNS = { numRuns: runs(150) };

describe.each(NODES)('%s, called with requests of any kind', (name, make, token) => {
	const genuine = name === 'the trigger' ? signed(ABOUT, SECRET) : proofIn(own.url);
	let reads = 0;
	const called = async (
		query: string,
		{ sent, how, zipped, ...rest }: typeof request extends fc.Arbitrary<infer T> ? T : never,
	) => {
		const { rawBody, readRawBody } = handedOver(sent, how, zipped);
		return await make().call({
			method: rest.method,
			query: { ...parse(token + query) },
			headers: {
				...rest.headers,
				...(sent.type ? { 'content-type': sent.type } : {}),
				...(zipped ? { 'content-encoding': 'gzip' } : {}),
			},
			rawBody,
			readRawBody: async () => {
				reads++;
				return (await readRawBody?.()) as Buffer;
			},
		});
	};

	test('never throws; nothing unproven moves anything, and its body is left unread', async () => {
		let refused = 0;
		reads = 0;
		await fc.assert(
			fc.asyncProperty(unprovenBeside(genuine), request, async (query, each) => {
				const { result, status, log } = await called(query, each);
				assert.deepEqual(result, { noWebhookResponse: true });
				assert.equal(status, 401);
				assert.equal(log.length, 1);
				assert.ok(!log[0]?.includes(genuine.split('.').at(-1) as string));
				refused++;
			}),
			RUNS,
		);
		expect(refused).toBeGreaterThanOrEqual(RUNS.numRuns);
		expect(reads).toBe(0);
	});

	test('takes each genuine one that can be read as it was sent, and answers the others', async () => {
		const counts = { taken: 0, answered: 0 };
		await fc.assert(
			fc.asyncProperty(provenBy(genuine), request, async ([query, says], each) => {
				const { result, status } = await called(query, each);
				const isReadable = ['read', 'left to the node'].includes(each.how);
				if (!isReadable) {
					assert.deepEqual(result, { noWebhookResponse: true });
					assert.ok((status ?? 0) >= 400);
					counts.answered++;
					return;
				}
				const [[item]] = result.workflowData as [[INodeExecutionData]];
				const postback = (name === 'the trigger' ? item.json : item.json.postback) as IDataObject;
				expect(postback).toMatchObject({ reference: ABOUT, method: each.method });
				expect(postback.query).toStrictEqual(says);
				expect(postback.body).toStrictEqual(each.sent.means);
				expect(JSON.stringify(item)).not.toContain(genuine.split('.').at(-1));
				expect(JSON.stringify(postback)).not.toContain(TOKEN);
				if (name !== 'the trigger') {
					const { postback: _added, ...input } = item.json;
					expect({ ...item, json: input }).toStrictEqual({ ...WAITING, pairedItem: { item: 0 } });
				}
				counts.taken++;
			}),
			RUNS,
		);
		expect(Math.min(counts.taken, counts.answered, reads)).toBeGreaterThan(RUNS.numRuns / 10);
	});

	if (name !== 'the trigger') {
		test('a credential opens nothing: what it signed does not resume it', async () => {
			const query = { ...parse(token), pay_proof: signed(ABOUT, SECRET) };
			const { result, status } = await make().call({ method: 'POST', query, headers: {} });
			expect([result, status]).toStrictEqual([{ noWebhookResponse: true }, 401]);
		});
	}
});

test.each([
	{ what: 'wrote down nothing', node: waiting({ awaited: undefined }), expected: 401 },
	{
		what: 'awaits no charge',
		node: waiting({ awaited: { proofs: [], given: [] } }),
		expected: 401,
	},
	{ what: 'has broken notes', node: waiting({ awaited: { proofs: 5 } }), expected: 500 },
])('a wait that $what is not resumed by a genuine proof: $expected', async ({ node, expected }) => {
	const query = { pay_proof: proofIn(own.url), signature: TOKEN };
	const post = { method: 'POST', query, headers: {}, rawBody: Buffer.from('{}') };
	const { result, status, log } = await node.call(post);
	expect([status, result]).toStrictEqual([expected, { noWebhookResponse: true }]);
	expect(log).toHaveLength(1);
});
