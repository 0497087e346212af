import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import { payTrigger } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { inventedService } from '../inventedService';
import { ended, startWaiting } from './chargeAndWait';
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
 * credentials are those of docs/example-services.md.
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
			'200 This postback does not start the workflow: the field "payments[].refunds" says that all or part of the money went back',
		);
		const pair = { payments: [{ reference: 'order-1042', amount: '49.90' }, { reference: 'x' }] };
		expect(await post(signed, JSON.stringify(pair))).toMatch(
			/^200 .*"payments\[\]\.endToEndId" is missing/,
		);
		expect(await post(signed, paid!)).toBe('200 ');
		expect(await started()).toMatchObject([[{ state: 'paid', reference: CHARGE }]]);
		expect(n8n.log).toContain('The postback has: payments[].reference, payments[].amount');
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

	test('two fields decide: an event that was refused starts nothing, and neither does a test', async () => {
		const { post, url, started } = await trigger(
			{
				describeService: true,
				statusField: 'items[].eventCode',
				paidValues: 'AUTHORISATION',
				requiredValues: 'items[].success = true\nlive = true\ncurrency = EUR',
				amountField: 'items[].amount',
				idField: 'items[].reference',
				senderCheck: 'secretHeader',
				secretHeaderName: 'X-Token',
				secretHeaderValue: HEADER_SECRET,
			},
			{ authentication: 'sender', startWhen: 'paid' },
		);
		const item = (success: string, eventCode = 'AUTHORISATION', amount: unknown = 12.5) => {
			return { reference: 'order-1', eventCode, success, amount };
		};
		const send = async (items: object[], live = 'true') =>
			await post(url, JSON.stringify({ live, currency: 'EUR', items }), {
				'X-Token': HEADER_SECRET,
			});
		const lacks = (path: string) =>
			`200 This postback does not start the workflow: of the Required Values, the field "${path}" has another value`;
		expect(await send([item('false')])).toBe(lacks('items[].success'));
		expect(await send([item('false'), item('true', 'REPORT')])).toBe(lacks('items[].success'));
		expect(await send([item('true')], 'false')).toBe(lacks('live'));
		expect(await send([item('true', 'AUTHORISATION', 'IDR 12.50')])).toBe(
			'200 This postback does not start the workflow: the field "items[].amount" names a different currency than the Required Values',
		);
		expect(await send([item('false'), item('true', 'AUTHORISATION', 'EUR 12.50')])).toBe('200 ');
		expect(await started()).toMatchObject([
			[{ state: 'paid', claimed: { external_id: 'order-1', amount: 12.5 } }],
		]);
	});

	test('a test payment hides no real one, a refused refund is none, and any other code is a failure', async () => {
		const { post, signed, started } = await trigger(
			{
				describeService: true,
				statusField: 'ResultCode',
				paidValues: '0',
				failedValues: '*',
				requiredValues: 'livemode = true',
				refundField: 'refunds[].parts[].status',
				refundedValues: 'DEVOLVIDO',
			},
			{ startWhen: 'any', options: { binaryData: true, skipRepeats: true } },
		);
		const refund = (status: string) => ({ refunds: [{ parts: [{ status }] }] });
		for (const body of [
			{ ResultCode: 0, livemode: false },
			{ ResultCode: 0, livemode: true, ...refund('NAO_REALIZADO') },
			{ ResultCode: 0, livemode: true, again: true },
			{ ResultCode: 1037, livemode: true },
			{ ResultCode: 0, livemode: true, ...refund('DEVOLVIDO') },
		]) {
			expect(await post(signed, JSON.stringify(body))).toMatch(/^200 /);
		}
		await until('four executions', async () => (await started()).length === 4);
		const items = (await started()).flat().sort((one, other) => {
			return String(one.receivedAt) < String(other.receivedAt) ? -1 : 1;
		});
		expect(items.map(({ state, stateReason }) => [state, stateReason])).toStrictEqual([
			['other', 'of the Required Values, the field "livemode" has another value'],
			['paid', undefined],
			[
				'failed',
				'the field "ResultCode" has none of the Paid Values, and * in the Failed Values means any other value',
			],
			[
				'refunded',
				'the field "refunds[].parts[].status" says that all or part of the money went back',
			],
		]);
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

	describe('Standard Webhooks', () => {
		const KEY = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
		const STANDARD = {
			senderCheck: 'signature',
			signedContent: 'standardWebhooks',
			signatureSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
			describeService: true,
			statusField: 'type',
			paidValues: 'payment.paid',
			amountField: 'data.amount',
			idField: 'data.external_id',
		};

		/** The headers of a notification, as its service signs it. */
		function signed(body: string, { prefix = 'webhook', id = 'msg_1', ago = 0 } = {}) {
			const time = Math.floor(Date.now() / 1000) - ago;
			const mac = createHmac('sha256', KEY).update(`${id}.${time}.${body}`).digest('base64');
			return {
				[`${prefix}-id`]: id,
				[`${prefix}-timestamp`]: String(time),
				[`${prefix}-signature`]: `v1a,abcd v1,${mac}`,
			};
		}

		const paidOf = (external_id: string, amount: number) =>
			JSON.stringify({ type: 'payment.paid', data: { external_id, amount } });

		test('what is signed starts a trigger, with either names of the headers, and nothing else does', async () => {
			const { post, url, started } = await trigger(STANDARD, {
				authentication: 'sender',
				startWhen: 'paid',
			});
			const body = paidOf('order-1042', 49.9);
			const genuine = signed(body);
			const svix = signed(body, { prefix: 'svix', id: 'msg_2' });
			expect(await post(url, body)).toMatch(/^401 /);
			expect(await post(url, `${body} `, genuine)).toMatch(/^401 /);
			expect(await post(url, body, signed(body, { ago: 301 }))).toMatch(
				/^401 .*is not the current time/,
			);
			expect(await post(url, body, { ...genuine, 'webhook-id': 'msg_2' })).toMatch(/^401 /);
			const mixed = { ...svix, 'webhook-signature': svix['svix-signature']! };
			expect(await post(url, body, mixed)).toMatch(/^401 .*webhook-id is missing/);
			expect(await post(url, body, { ...genuine, 'webhook-signature': 'v1a,abcd' })).toMatch(
				/^401 .*v1a \(ed25519\)/,
			);
			expect(await post(url, body, svix)).toBe('200 ');
			const [items] = await started();
			expect(items).toMatchObject([
				{
					state: 'paid',
					claimed: { external_id: 'order-1042', amount: 49.9 },
					headers: { 'svix-id': 'msg_2', 'svix-signature': '***' },
				},
			]);
		});

		test('a wait with such a credential resumes with what is signed; one without a credential with its address alone', async () => {
			const sandbox = await Sandbox.start({});
			try {
				const payApi = await n8n.createCredential({
					baseUrl: sandbox.url,
					accessToken: 'token',
					...STANDARD,
					// Left from before another choice was made.
					signatureHeader: '={{ $json.header }}',
					signatureAlgorithm: 'rsaSha256',
				});
				const waiting = await startWaiting(n8n, sandbox, payApi, { wait: { resumeWhen: 'paid' } });
				const body = paidOf(waiting.about.external_id, 1);
				const post = async (headers: Record<string, string>) =>
					(await fetch(waiting.url, { method: 'POST', body, headers })).status;
				expect(await post({})).toBe(401);
				expect(await post({ ...signed(body), 'webhook-timestamp': '1' })).toBe(401);
				expect(await post(signed(body))).toBe(200);
				const [item] = itemsOf(await ended(n8n, waiting.executionId), 'After');
				expect(item).toMatchObject({ postback: { state: 'paid' } });

				const without = { settings: { credentials: {} } };
				const unsigned = await startWaiting(n8n, sandbox, payApi, without);
				const own = paidOf(unsigned.about.external_id, 1);
				expect((await fetch(unsigned.url, { method: 'POST', body: own })).status).toBe(200);
				await ended(n8n, unsigned.executionId);
			} finally {
				await sandbox.close();
			}
		});

		test('where its headers come and another form is set, the log says so', async () => {
			const { post, url } = await trigger(
				{ ...STANDARD, signedContent: 'body', signatureHeader: 'webhook-signature' },
				{ authentication: 'sender' },
			);
			const body = paidOf('order-1042', 49.9);
			expect(await post(url, body, signed(body))).toMatch(/^401 /);
			expect(n8n.log).toContain('set Check the Sender to Signature and Signed Content to Standard');
		});
	});

	test('a challenge starts nothing without authentication either, and a ping gets its text back', async () => {
		const { post, url, started } = await trigger(
			{},
			{
				authentication: 'none',
				options: { binaryData: true, challengeField: 'body.test\nquery.challenge' },
			},
		);
		expect(await post(url, '{"test":true}')).toBe('200 true');
		expect(await post(`${url}?challenge=a-1`, '{"status":"paid"}')).toBe('200 a-1');
		expect(await post(`${url}?challenge=%3Cscript%3E`, '{}')).toMatch(/^400 /);
		expect(await post(`${url}?challenge=${'a'.repeat(501)}`, '{}')).toMatch(/^400 /);
		expect(await post(url, '{"status":"paid"}')).toBe('200 ');
		expect(await started()).toMatchObject([[{ body: { status: 'paid' } }]]);
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
