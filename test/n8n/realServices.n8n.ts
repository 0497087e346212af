import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { itemsOf, type N8n } from '../../dev/n8n';
import { payTrigger } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { inventedService } from '../inventedService';
import { allFinished, n8nOf, NEWEST, publishTrigger, SECRET } from './nodes';

const HEADER_SECRET = 'k7-short';
const CHARGE = { external_id: 'order-1042', amount: 49.9, kind: 'qrCode' };

/** The status of the response to a request whose body never ends. */
async function statusOfUnfinished(url: string): Promise<number | undefined> {
	const headers = { 'Content-Type': 'application/json', 'Content-Length': '50' };
	const request = httpRequest(url, { method: 'POST', headers });
	request.write('{"hub":');
	const [response] = (await once(request, 'response')) as [IncomingMessage];
	request.destroy();
	return response.statusCode;
}

/*
 * Services as public documents show them: lists, refunds, cents, a secret in a header, signatures. The
 * credentials are those of docs/credential.md.
 */
describe.each(NEWEST)('n8n %s', (version) => {
	let n8n: N8n;
	beforeAll(async () => (n8n = await n8nOf(version)));
	afterAll(async () => await n8n?.stop());

	/** Publishes a trigger with a credential; posts to it, and gives what started. */
	async function trigger(credential: object, parameters: object) {
		const payApi = await n8n.createCredential({
			baseUrl: 'https://api.example.com',
			accessToken: 'token',
			postbackSecret: SECRET,
			...credential,
		});
		const node = payTrigger(parameters);
		const { id, url } = await publishTrigger(n8n, payApi, node);
		return {
			url,
			signed: signUrl(url, CHARGE, SECRET),
			post: async (to: string, body: string, headers: Record<string, string> = {}) => {
				const all = { 'Content-Type': 'application/json', ...headers };
				const response = await fetch(to, { method: 'POST', headers: all, body });
				return `${response.status} ${await response.text()}`;
			},
			/**
			 * The items of all that started, once a sound postback has come last. What came before it would have
			 * started before it.
			 */
			started: async () => {
				const executions = await allFinished(n8n, id, 1);
				return executions.map((execution) => itemsOf(execution, node.name));
			},
		};
	}

	test('Listed: paid in the second entry of a list starts Paid, a refund does not', async () => {
		const { credential, bodies } = inventedService('Listed');
		const { post, signed, started } = await trigger(credential, { startWhen: 'paid' });
		const [paid, refunded] = bodies.map((body) => JSON.stringify(body));
		expect(await post(signed, refunded!)).toBe(
			'200 The workflow does not go on with it: the field "payments[].refunds" says that the money went back',
		);
		const pair = { payments: [{ reference: 'order-1042', amount: '49.90' }, { reference: 'x' }] };
		expect(await post(signed, JSON.stringify(pair))).toMatch(
			/^200 .*"payments\[\]\.endToEndId" is missing/,
		);
		expect(await post(signed, paid!)).toBe('200 ');
		expect(await started()).toMatchObject([[{ state: 'paid', reference: CHARGE }]]);
		expect(n8n.log).toContain('It has: payments[].reference, payments[].amount');
	});

	test('Cents: only who knows the secret header starts it, which no item and no log shows', async () => {
		const { credential, bodies } = inventedService('Cents');
		const withSecret = { ...credential, secretHeaderValue: `old-one\n${HEADER_SECRET}` };
		const { post, url, started } = await trigger(withSecret, {
			authentication: 'sender',
			startWhen: 'paidOrFailed',
		});
		const body = JSON.stringify(bodies[0]);
		const event = { 'X-Event': 'charge.paid' };
		expect(await post(url, body, event)).toMatch(/^401 /);
		expect(await post(url, body, { ...event, 'X-Cents-Token': 'wrong' })).toMatch(/^401 /);
		const genuine = { ...event, 'X-Cents-Token': HEADER_SECRET };
		const noAmount = JSON.stringify({ charge: { code: 'order-1042' } });
		expect(await post(url, noAmount, genuine)).toMatch(/^200 .*"charge.paidCents" is missing/);
		expect(await post(url, body, genuine)).toBe('200 ');
		const [items] = await started();
		expect(items).toMatchObject([
			{
				reference: null,
				claimed: { external_id: 'order-1042', amount: 49.9 },
				state: 'paid',
				headers: { 'x-cents-token': '***' },
			},
		]);
		expect(JSON.stringify(items)).not.toContain(HEADER_SECRET);
		expect(n8n.log).not.toContain(HEADER_SECRET);
	});

	test('a template with a path and RSA: what is signed starts it, and a moved border does not', async () => {
		const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
		const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
		const { post, url, started } = await trigger(
			{
				senderCheck: 'signature',
				signatureHeader: 'X-Sig',
				signatureAlgorithm: 'rsaSha256',
				signaturePublicKey: pem.replaceAll('\n', ' '),
				signedContent: 'template',
				signedTemplate: '{method} {path}\n{timestamp}\n{header:X-Nonce}\n{body}\n',
				timestampHeader: 'X-Time',
			},
			{ authentication: 'sender' },
		);
		const body = '{"status":"paid"}';
		const time = String(Math.floor(Date.now() / 1000));
		const content = `POST ${new URL(url).pathname}\n${time}\nn-1\n${body}\n`;
		const signature = createSign('RSA-SHA256').update(content).sign(privateKey, 'base64');
		const hmac = createHmac('sha256', pem).update(content).digest('hex');
		const headers = { 'X-Time': time, 'X-Nonce': 'n-1', 'X-Sig': signature };
		expect(await post(url, body, { ...headers, 'X-Sig': hmac })).toMatch(/^401 .*HMAC-SHA256/);
		expect(await post(url, body, { ...headers, 'X-Nonce': 'n-2' })).toMatch(/^401 /);
		expect(await post(url, '{"status":"paid" }', headers)).toMatch(/^401 /);
		expect(await post(url, body, headers)).toBe('200 ');
		expect(await started()).toMatchObject([[{ claimed: {}, body: { status: 'paid' } }]]);
	});

	test('a challenge is given back as plain text and starts nothing; "paid" that holds it is not swallowed', async () => {
		const responseBody = '{ "status": "received",  "n": 1.0 }';
		const words = { describeService: true, statusField: 'status', paidValues: 'paid' };
		const { url, signed, post, started } = await trigger(words, {
			options: { binaryData: true, challengeField: 'hub.challenge', responseBody },
		});
		const challenge = await fetch(`${url}?hub.mode=subscribe&hub.challenge=11_58=201`);
		expect([challenge.status, await challenge.text()]).toStrictEqual([200, '11_58=201']);
		expect(challenge.headers.get('content-type')).toBe('text/plain; charset=utf-8');
		expect(challenge.headers.get('x-content-type-options')).toBe('nosniff');

		expect(await post(url, '{"hub":{"challenge":"a-1"}}')).toBe('200 a-1');
		expect(await post(url, '{"hub":{"challenge":"<script>"}}')).toMatch(/^400 \{"message":/);
		expect(await post(url, '{"hub":{"challenge":"a-1"},"status":"paid"}')).toMatch(/^401 /);
		const long = JSON.stringify({ hub: { challenge: 'a-1' }, more: 'x'.repeat(8192) });
		expect(await post(url, long)).toMatch(/^401 /);
		const chunked = await fetch(url, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: new Blob(['{"hub":{"challenge":"a-1"}}']).stream(),
			duplex: 'half',
		} as RequestInit);
		expect(chunked.status).toBe(401);
		const begun = Date.now();
		expect(await statusOfUnfinished(url)).toBe(401);
		expect(Date.now() - begun).toBeLessThan(20_000);

		const paid = await fetch(signed, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: '{"hub":{"challenge":"a-1"},"status":"paid"}',
		});
		expect([paid.status, await paid.text()]).toStrictEqual([200, responseBody]);
		expect(paid.headers.get('content-type')).toBe('application/json; charset=utf-8');
		expect(await started()).toMatchObject([[{ state: 'paid', reference: CHARGE }]]);
	});
});
