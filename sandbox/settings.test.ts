import { readDescription } from '../nodes/Pay/account/describe';
import { CLIENT_AUTHENTICATIONS, type PayCredential } from '../nodes/Pay/account/fields';
import { headerFault, readSenderRule, signatureFault } from '../nodes/Pay/account/sender';
import { InputError } from '../nodes/Pay/base/inputError';
import { findQrSource } from '../nodes/Pay/qr/code';
import { Sources } from '../nodes/Pay/service/paths';
import { stateOf } from '../nodes/Pay/service/state';
import { SIGNED_TEMPLATE } from './senders';
import { fetchToken } from '../nodes/Pay/account/token';
import type { TokenPost } from '../nodes/Pay/service/client';
import { readOptions } from './main';
import { Sandbox, type SandboxOptions } from './service';
import type { ClientCredentials } from './tokens';
import { listen } from '../test/listen';
import { click, send, startReceiver, type ServiceResponse } from './caller';

let sandbox: Sandbox | undefined;
afterEach(async () => {
	await sandbox?.close();
	sandbox = undefined;
});
async function start(options: SandboxOptions): Promise<Sandbox> {
	sandbox = await Sandbox.start(options);
	return sandbox;
}
const BODY = { amount: 1, external_id: 'a' };

test.each(['instant', 'a:b(c)* été'])(
	'the scheme name %s takes the place of pay',
	async (schemeName) => {
		const service = await start({ schemeName });
		const path = `/v2/${encodeURIComponent(schemeName)}/payment`;
		expect((await send(service, path, BODY)).status).toBe(201);
		expect((await send(service, path, { amount: 1 })).status).toBe(422);
		expect((await send(service, '/v2/pay/payment', BODY)).status).toBe(404);
		expect(service.bodies('payment')).toStrictEqual([BODY, { amount: 1 }]);
	},
);

test('a caller whose address is not allowed gets 403, another is served', async () => {
	const closed = await start({ allowedAddresses: ['192.0.2.7'] });
	const response = await send(closed, '/v2/pay/payment', BODY);
	const body = { message: '127.0.0.1 is not an allowed address' };
	expect(response).toMatchObject({ status: 403, body });
	expect(closed.transactions).toStrictEqual([]);
	await closed.close();
	const open = await start({ allowedAddresses: ['127.0.0.1'] });
	expect((await send(open, '/v2/pay/payment', BODY)).status).toBe(201);
});

test('where responses have a success, a body that breaks the contract gets false in a 200', async () => {
	const service = await start({ saysSuccess: true });
	expect(await send(service, '/v2/pay/payment', BODY)).toMatchObject({
		status: 201,
		body: { success: true },
	});
	expect(await send(service, '/v2/pay/payment', { amount: 1 })).toMatchObject({
		status: 200,
		body: { success: false },
	});
	expect((await send(service, '/v2/pay/payment', BODY, { Authorization: 'x' })).status).toBe(401);
	expect(service.transactions).toHaveLength(1);
});

type BodyOf = (id: string) => object;
test.each<{ what: string; postbackBody: SandboxOptions['postbackBody']; expected: BodyOf }>([
	{
		what: 'nested',
		postbackBody: 'nested',
		expected: (id) => ({
			event: 'payment.paid',
			data: { id, external_id: 'a', amount: 1, status: 'paid' },
		}),
	},
	{
		what: 'of its own form',
		postbackBody: ({ id }) => ({ n: { id, status: 2 } }),
		expected: (id) => ({ n: { id, status: 2 } }),
	},
])('a postback is $what', async ({ postbackBody, expected }) => {
	const service = await start({ postbackBody });
	const receiver = await startReceiver();
	await send(service, '/v2/pay/payment', { ...BODY, postbackUrl: receiver.url });
	const { id } = service.transactions[0]!;
	await service.settle(id, 'paid');
	expect(receiver.came.map((text) => JSON.parse(text) as unknown)).toStrictEqual([expected(id)]);
	receiver.close();
});

describe('what a sandbox sends is what a credential describes', () => {
	const WORDS = { statusField: 'status', paidValues: 'paid', describeService: true };
	const IN_LIST = {
		statusField: 'entries[].status',
		amountField: 'entries[].amount',
		idField: 'entries[].external_id',
	};

	/** The first postbacks of a payment of 12.5 that is paid, and what the credential says of them. */
	async function reported(options: SandboxOptions, described: object, count = 1) {
		const service = await start(options);
		const receiver = await startReceiver();
		const request = { amount: 12.5, external_id: 'a', postbackUrl: receiver.url };
		await send(service, '/v2/pay/payment', request);
		await service.settle(service.transactions[0]!.id, 'paid');
		await receiver.count(count);
		receiver.close();
		const { statusWords } = readDescription({ ...WORDS, ...described });
		const reference = { external_id: 'a', kind: 'payment', amount: 12.5 };
		return receiver.came.map((text) => {
			const body: unknown = JSON.parse(text);
			return stateOf(statusWords!, reference, new Sources(body)).state;
		});
	}

	test.each<{ what: string; options: SandboxOptions; described: object; states: string[] }>([
		{
			what: 'amounts in hundredths',
			options: { reportsHundredths: true },
			described: { amountField: 'amount', amountUnit: 'hundredths' },
			states: ['paid'],
		},
		{
			what: 'amounts in hundredths, of which the credential knows nothing',
			options: { reportsHundredths: true },
			described: { amountField: 'amount' },
			states: ['otherAmount'],
		},
		{ what: 'a list', options: { postbackBody: 'list' }, described: IN_LIST, states: ['paid'] },
		{
			what: 'a refund beside "paid"',
			options: { refundAfter: 1 },
			described: { refundField: 'refund' },
			states: ['paid', 'refunded'],
		},
	])('the credential reads $what', async ({ options, described, states }) => {
		expect(await reported(options, described, states.length)).toStrictEqual(states);
	});

	const SIGNED = { senderCheck: 'signature', signatureHeader: 'X-Signature' };
	const TEMPLATE = {
		signedContent: 'template',
		signedTemplate: SIGNED_TEMPLATE,
		timestampHeader: 'X-Timestamp',
	};
	test.each<{ what: string; options: SandboxOptions; rule: (service: Sandbox) => object }>([
		{
			what: 'an HMAC',
			options: { signatureSecret: 's3cret' },
			rule: () => ({ ...SIGNED, signatureSecret: 's3cret' }),
		},
		{
			what: 'an HMAC of a template',
			options: { signatureSecret: 's3cret', signsTemplate: true },
			rule: () => ({ ...SIGNED, ...TEMPLATE, signatureSecret: 's3cret' }),
		},
		{
			what: 'RSA',
			options: { signsWithRsa: true },
			rule: ({ sender }) => ({
				...SIGNED,
				signatureAlgorithm: 'rsaSha256',
				signaturePublicKey: sender.publicKey,
			}),
		},
		{
			what: 'a secret header',
			options: { secretHeader: { name: 'X-Token', value: 'Bearer k7' } },
			rule: () => ({
				senderCheck: 'secretHeader',
				secretHeaderName: 'X-Token',
				secretHeaderValue: 'Bearer k7',
			}),
		},
	])('the credential recognizes its sender by $what', async ({ options, rule }) => {
		const service = await start(options);
		const receiver = await startReceiver();
		await send(service, '/v2/pay/payment', { ...BODY, postbackUrl: receiver.url });
		await service.settle(service.transactions[0]!.id, 'paid');
		receiver.close();
		const sender = readSenderRule(rule(service) as PayCredential)!;
		const [headers = {}] = receiver.headers;
		const request = { headers, method: 'POST', path: '/postback' };
		const body = Buffer.from(receiver.came[0]!);
		expect(headerFault(sender, headers)).toBeUndefined();
		expect(signatureFault(sender, request, body)).toBeUndefined();
		// The control: without its headers nothing shows who sent it.
		expect(headerFault(sender, {})).toBeDefined();
	});

	test.each(['svg', 'png'] as const)('a code as %s is the image of the item', async (qrCodeAs) => {
		const service = await start({ qrCodeAs });
		const { body } = await send(service, '/v2/pay/qrcode', BODY);
		expect(findQrSource(body)).toMatchObject({ image: { extension: qrCodeAs } });
	});

	test("a picture's address is never drawn as a code", async () => {
		const service = await start({ qrCodeAs: 'address' });
		const { body } = await send(service, '/v2/pay/qrcode', BODY);
		expect(findQrSource(body, ['qrCode'])).toHaveProperty('hint');
		expect((await fetch(String(body.qrCode))).headers.get('content-type')).toMatch(/svg/);
	});

	test('postbacks to a dashboard go there alone, once its challenge came back', async () => {
		const sent: string[] = [];
		let answer = 'something else';
		const { url, close } = await listen((request, response) => {
			const { searchParams } = new URL(request.url!, 'http://a.test');
			sent.push(`${request.method} ${[...searchParams.keys()].join()}`);
			response.end(answer === 'echo' ? searchParams.get('challenge') : answer);
		});
		const notificationUrl = `${url}/dashboard`;
		const service = await start({ notificationUrl, asksChallenge: true });
		await send(service, '/v2/pay/payment', { ...BODY, postbackUrl: 'http://127.0.0.1:9/' });
		const { id } = service.transactions[0]!;
		await service.settle(id, 'paid');
		expect(sent).toStrictEqual(['GET challenge']);
		answer = 'echo';
		await service.settle(id, 'paid');
		await service.settle(id, 'paid');
		expect(sent).toStrictEqual(['GET challenge', 'GET challenge', 'POST ', 'POST ']);
		close();
	});

	test('a postback is sent again until the response has the expected body', async () => {
		const service = await start({ expectedResponse: 'OK' });
		const [wrong, right] = [await startReceiver('ok'), await startReceiver('OK')];
		for (const { url } of [wrong, right]) {
			await send(service, '/v2/pay/payment', { ...BODY, postbackUrl: url });
		}
		const [first, second] = service.transactions;
		const never = service.settle(first!.id, 'paid');
		await wrong.count(2);
		await service.settle(second!.id, 'paid');
		expect(right.came).toHaveLength(1);
		for (const receiver of [wrong, right]) receiver.close();
		await service.close();
		sandbox = undefined;
		await never;
	});
});

test('a body that is no JSON is not among the bodies that arrived', async () => {
	const service = await start({});
	expect((await send(service, '/v2/pay/payment', '{"amount":')).status).toBe(422);
	await send(service, '/v2/pay/payment', BODY);
	expect(service.bodies('payment')).toStrictEqual([BODY]);
});

test('a postback whose body cannot be made ends the click, not the sandbox', async () => {
	const service = await start({
		postbackBody: () => {
			throw new Error('No body');
		},
	});
	await send(service, '/v2/pay/qrcode', BODY);
	const { id } = service.transactions[0]!;
	expect(await click(service, `/transactions/${id}/pay`)).toBe(500);
	expect(service.transactions[0]?.status).toBe('waiting');
});

describe('the token endpoint', () => {
	const CLIENT = { clientId: 'client', clientSecret: 'sécret +:%' };
	const GRANT = { grant_type: 'client_credentials' };
	const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
	const basic = ({ clientId, clientSecret }: typeof CLIENT) =>
		`Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
	const inBody = { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret };

	async function ask(
		fields: Record<string, string>,
		authorization?: string,
		path = '/oauth/token',
		type = 'application/x-www-form-urlencoded',
	): Promise<ServiceResponse> {
		const response = await fetch(sandbox!.url + path, {
			method: 'POST',
			headers: { 'Content-Type': type, ...(authorization && { Authorization: authorization }) },
			body: form(fields),
		});
		const { status, headers } = response;
		return { status, headers, body: (await response.json()) as Record<string, unknown> };
	}
	const token = async () => String((await ask(GRANT, basic(CLIENT))).body.access_token);
	const pay = async (bearer: string) =>
		(await send(sandbox!, '/v2/pay/payment', BODY, { Authorization: `Bearer ${bearer}` })).status;
	const withTokens = async (more: Partial<ClientCredentials> = {}) =>
		await start({ clientCredentials: { ...CLIENT, ...more } });

	test.each([
		{ name: 'the header', fields: GRANT, authorization: basic(CLIENT) },
		{ name: 'the body', fields: { ...GRANT, ...inBody }, authorization: undefined },
	])('gives a token to a client that is named in $name', async ({ fields, authorization }) => {
		const service = await withTokens();
		const { status, headers, body } = await ask(fields, authorization);
		expect(status).toBe(200);
		expect(headers.get('cache-control')).toBe('no-store');
		expect(body).toStrictEqual({
			access_token: expect.stringMatching(/^[\w-]{32}$/) as string,
			token_type: 'Bearer',
			expires_in: 3600,
		});
		expect(await pay(String(body.access_token))).toBe(201);
		expect(await pay('a-token-of-its-own')).toBe(401);
		expect(service.tokenRequests).toHaveLength(1);
		expect(service.received).toHaveLength(2);
	});

	const BODY_WITH = { ...GRANT, ...inBody };
	const JSON_TYPE = 'application/json';
	test.each<{
		name: string;
		asked: Parameters<typeof ask>;
		expected: string;
		more?: Partial<ClientCredentials>;
	}>([
		{
			name: 'both ways at once',
			asked: [BODY_WITH, basic(CLIENT)],
			expected: '400 invalid_request',
		},
		{
			name: 'a form, where JSON is asked for',
			asked: [BODY_WITH, undefined, '/oauth/token', JSON_TYPE],
			expected: '400 invalid_request',
			more: { clientAuthentication: 'json' },
		},
	])('rejects $name', async ({ asked, expected, more = {} }) => {
		await withTokens(more);
		const { status, body } = await ask(...asked);
		expect(`${status} ${String(body.error)}`).toBe(expected);
		expect(sandbox?.tokens?.active).toBe(0);
	});

	const WAYS = CLIENT_AUTHENTICATIONS.map(({ value }) => value);
	test.each(WAYS)("a Pay node's own request is taken where only %s is", async (taken) => {
		await withTokens({ clientAuthentication: taken });
		const post: TokenPost = async (url, headers, body) => {
			const response = await fetch(url, { method: 'POST', headers, body });
			return { statusCode: response.status, body: await response.text() };
		};
		for (const sendIn of WAYS) {
			const client = { ...CLIENT, tokenUrl: sandbox!.tokenUrl, scope: '', sendIn };
			const fetched = fetchToken(client, post);
			if (sendIn === taken) await expect(fetched).resolves.toMatchObject({ life: 3600 });
			else await expect(fetched).rejects.toThrow(InputError);
		}
	});

	test('a token is rejected once its life is over, and a new one is taken', async () => {
		await withTokens({ tokenLife: 2 });
		const begin = Date.now();
		const clock = jest.spyOn(Date, 'now').mockReturnValue(begin);
		const first = await token();
		clock.mockReturnValue(begin + 1999);
		expect(await pay(first)).toBe(201);
		clock.mockReturnValue(begin + 2000);
		expect(await pay(first)).toBe(401);
		expect(await pay(await token())).toBe(201);
		clock.mockRestore();
	});

	test.each([
		{ oneActiveToken: true, statuses: [401, 201] },
		{ oneActiveToken: false, statuses: [201, 201] },
	])(
		'where only one token may be active, $oneActiveToken, two in turn get $statuses',
		async ({ oneActiveToken, statuses }) => {
			await withTokens({ oneActiveToken });
			const [first, second] = [await token(), await token()];
			expect([await pay(first), await pay(second)]).toStrictEqual(statuses);
		},
	);

	test('a token is revoked by the client, and all by the sandbox', async () => {
		const service = await withTokens();
		const [first, second] = [await token(), await token()];
		const revoked = await ask({ token: first }, basic(CLIENT), '/oauth/revoke');
		expect(revoked.status).toBe(200);
		expect([await pay(first), await pay(second)]).toStrictEqual([401, 201]);
		service.revokeTokens();
		expect(await pay(second)).toBe(401);
	});

	test('its life need not be told, and faults can be ordered for it alone', async () => {
		const service = await withTokens({ tellsLife: false });
		expect((await ask(GRANT, basic(CLIENT))).body).not.toHaveProperty('expires_in');
		const given = await token();
		service.tokenFaultFor = () => ({ kind: 'status', status: 503 });
		expect((await ask(GRANT, basic(CLIENT))).status).toBe(503);
		expect(await pay(given)).toBe(201);
		expect((await ask(GRANT, basic(CLIENT), '/fault/status-500/oauth/token')).status).toBe(500);
	});

	test('is not there unless asked for', async () => {
		await start({});
		expect((await ask(GRANT, basic(CLIENT))).status).toBe(404);
	});
});

describe('the command line', () => {
	test('asks for nothing that the document leaves open, and for a usual port', () => {
		expect(readOptions([], {})).toEqual({
			port: 8787,
			settlePaymentsAfter: 1000,
			amountsAct: true,
		});
	});

	test('sets every option', () => {
		const args =
			'--port 0 --settle-after off --scheme instant --oauth --client-id c --client-auth body ' +
			'--token-life 2 --one-token --scope s --allow 192.0.2.1 --allow 192.0.2.2 --success-field ' +
			'--postback-as nested --wrap-token --sign s3cret --sign-rsa --sign-template --hundredths ' +
			'--refund-after 5 --qr-code-as svg --notify http://a.test --challenge --expect OK';
		const all = [...args.split(' '), '--secret-header', 'X-Token: a b'];
		expect(readOptions(all, { SANDBOX_CLIENT_SECRET: 'from the environment' })).toEqual({
			port: 0,
			amountsAct: true,
			schemeName: 'instant',
			clientCredentials: {
				clientId: 'c',
				clientSecret: 'from the environment',
				clientAuthentication: 'body',
				tokenLife: 2,
				oneActiveToken: true,
				wrapsTokens: true,
				scope: 's',
			},
			allowedAddresses: ['192.0.2.1', '192.0.2.2'],
			saysSuccess: true,
			postbackBody: 'nested',
			signatureSecret: 's3cret',
			signsWithRsa: true,
			signsTemplate: true,
			reportsHundredths: true,
			refundAfter: 5,
			qrCodeAs: 'svg',
			notificationUrl: 'http://a.test',
			asksChallenge: true,
			expectedResponse: 'OK',
			secretHeader: { name: 'X-Token', value: 'a b' },
		});
	});

	test.each([
		{ args: ['--port', 'x'], message: /--port needs a whole number/ },
		{ args: ['--settle-after', 'never'], message: /--settle-after needs a whole number or off/ },
		{ args: ['--secret-header', 'X-Token'], message: /Name: value/ },
		{ args: ['--challenge'], message: /needs --notify/ },
		{ args: ['--client-auth', 'both'], message: /header, body, json, headerJson/ },
		{ args: ['--unknown'], message: /unknown/i },
	])('refuses $args', ({ args, message }) => {
		expect(() => readOptions(args, {})).toThrow(message);
	});

	test('--help asks for nothing else', () => {
		expect(readOptions(['--help'], {})).toBeUndefined();
	});
});
