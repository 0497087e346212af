import { createHash } from 'node:crypto';
import { Sandbox } from './service';
import { click, raw, send, startReceiver, stateOf } from './caller';

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await Sandbox.start();
});
afterEach(async () => await sandbox.close());

describe('every request is listed with its response', () => {
	const BODY = { amount: 1, external_id: 'a' };
	test.each<{
		name: string;
		path: string;
		body: object | string;
		headers: Record<string, string>;
		status: number;
	}>([
		{ name: 'a good one', path: '/v2/pay/qrcode', body: BODY, headers: {}, status: 201 },
		{
			name: 'one without a field',
			path: '/v2/pay/payment',
			body: { amount: 1 },
			headers: {},
			status: 422,
		},
		{ name: 'broken JSON', path: '/v2/pay/payment', body: '{"amount":', headers: {}, status: 422 },
		{
			name: 'one without a token',
			path: '/v2/pay/payment',
			body: BODY,
			headers: { Authorization: '' },
			status: 401,
		},
		{
			name: 'one to another path',
			path: '/v2/other/payment',
			body: BODY,
			headers: {},
			status: 404,
		},
		{
			name: 'one whose fault the base URL ordered',
			path: '/fault/status-503/v2/pay/payment',
			body: {},
			headers: {},
			status: 503,
		},
		{
			name: 'one from another web page',
			path: '/v2/pay/payment',
			body: {},
			headers: { Origin: 'https://other.example' },
			status: 403,
		},
	])('$name is listed', async ({ path, body, headers, status }) => {
		expect((await send(sandbox, path, body, headers)).status).toBe(status);
		const { exchanges } = await stateOf(sandbox);
		expect(exchanges).toMatchObject([{ method: 'POST', response: { status } }]);
	});

	test('as it was sent, digit by digit', async () => {
		const body =
			'{"amount":10.50,"external_id":"a","split":[{"username":"b","percentageSplit":12.0}]}';
		await send(sandbox, '/v2/pay/qrcode', body);
		const [transaction] = (await stateOf(sandbox)).transactions;
		expect(transaction?.exchange.fields).toStrictEqual([
			['amount', '10.50'],
			['external_id', '"a"'],
			['split.0.username', '"b"'],
			['split.0.percentageSplit', '12.0'],
		]);
	});

	test('and the second payment with one external_id is counted', async () => {
		const body = { amount: 1, external_id: 'twice' };
		await send(sandbox, '/v2/pay/payment', body);
		await send(sandbox, '/v2/pay/payment', body);
		await send(sandbox, '/v2/pay/qrcode', body);
		const { transactions } = await stateOf(sandbox);
		expect(transactions.map(({ occurrence }) => occurrence)).toStrictEqual([1, 2, 1]);
	});

	test('but no more than 200 are kept', async () => {
		for (let number = 0; number < 205; number++) {
			await send(sandbox, '/v2/pay/qrcode', { amount: 1, external_id: `${number}` });
		}
		const { exchanges, transactions } = await stateOf(sandbox);
		expect([exchanges.length, transactions.length]).toStrictEqual([200, 50]);
		expect(sandbox.received).toHaveLength(205);
	});
});

test('no secret reaches the page: token, client secret, proof or resume signature', async () => {
	await sandbox.close();
	sandbox = await Sandbox.start({
		clientCredentials: { clientId: 'client', clientSecret: 'secret-of-the-client' },
	});
	const form = 'grant_type=client_credentials&client_id=client&client_secret=secret-of-the-client';
	const inBody = await fetch(sandbox.tokenUrl, { method: 'POST', body: new URLSearchParams(form) });
	const { access_token: token } = (await inBody.json()) as { access_token: string };
	const basic = Buffer.from('client:secret-of-the-client').toString('base64');
	await fetch(sandbox.tokenUrl, {
		method: 'POST',
		body: new URLSearchParams('grant_type=client_credentials'),
		headers: { Authorization: `Basic ${basic}` },
	});
	// A receiver that responds with all that it was sent.
	const receiver = await startReceiver(`{"echo":"?pay_proof=the-proof-of-the-charge"}`);
	const postbackUrl = `${receiver.url}?pay_proof=the-proof-of-the-charge&signature=signature-of-n8n`;
	const response = await send(
		sandbox,
		'/v2/pay/qrcode',
		{ amount: 1, external_id: 'a', postbackUrl, payerQuestion: `token ${token}` },
		{ Authorization: `Bearer ${token}` },
	);
	expect(response.status).toBe(201);
	await sandbox.settle(sandbox.transactions[0]!.id, 'paid');
	receiver.close();

	const stateAsText = await (await fetch(`${sandbox.url}/state`)).text();
	const one = await fetch(`${sandbox.url}/transactions/${sandbox.transactions[0]!.id}`);
	for (const text of [stateAsText, await one.text()]) {
		for (const secret of [
			token,
			'secret-of-the-client',
			basic,
			'the-proof-of-the-charge',
			'signature-of-n8n',
		]) {
			expect(text).not.toContain(secret);
		}
	}
	// What is shortened is there: the check above looked at the right place.
	for (const start of [`Bearer ${token.slice(0, 4)}…`, 'pay_proof=the-…', 'secr…', 'Basic ']) {
		expect(stateAsText).toContain(start);
	}
});

test('a token that begins with another one is not shown in part', async () => {
	const body = { amount: 1, external_id: 'a', payerQuestion: 'token-of-the-test-and-more' };
	await send(sandbox, '/v2/pay/qrcode', body, { Authorization: 'Bearer token-of-the-test' });
	await send(sandbox, '/v2/pay/qrcode', body, {
		Authorization: 'Bearer token-of-the-test-and-more',
	});
	expect(await (await fetch(`${sandbox.url}/state`)).text()).not.toContain('and-more');
});

describe('another web page in the same browser', () => {
	const AIM = '/next/reject-422';
	const name = () => sandbox.url.replace('http://', '');

	test.each([
		{
			name: 'its own page',
			headers: () => ({ Origin: sandbox.url, 'Sec-Fetch-Site': 'same-origin' }),
			status: 202,
		},
		{ name: 'a program, which sends neither header', headers: () => ({}), status: 202 },
		{
			name: 'a page on another site',
			headers: () => ({ Origin: 'https://other.example' }),
			status: 403,
		},
		{
			name: 'a page on another port of this machine',
			headers: () => ({ Origin: 'http://127.0.0.1:1' }),
			status: 403,
		},
		{ name: 'a sandboxed frame', headers: () => ({ Origin: 'null' }), status: 403 },
		{
			name: 'a page that hides its origin',
			headers: () => ({ 'Sec-Fetch-Site': 'cross-site' }),
			status: 403,
		},
		{
			name: 'a page on a sibling port',
			headers: () => ({ 'Sec-Fetch-Site': 'same-site' }),
			status: 403,
		},
		{
			name: 'a name that was pointed here',
			headers: () => ({ Host: 'other.example' }),
			status: 421,
		},
		{
			name: 'a name that begins like ours',
			headers: () => ({ Host: '127.0.0.1.other.example' }),
			status: 421,
		},
		{
			name: 'a name that ends like ours',
			headers: () => ({ Host: 'other-localhost' }),
			status: 421,
		},
	])('$name gets $status for its POST', async ({ headers, status }) => {
		expect(await raw(sandbox.url + AIM, 'POST', headers())).toBe(status);
		expect(sandbox.orderedRehearsal?.name).toBe(status === 202 ? 'reject-422' : undefined);
	});

	test.each(['/', '/state', '/events', '/lists', '/pay/x'])(
		'a name that was pointed here reads nothing at %s',
		async (path) => {
			expect(await raw(sandbox.url + path, 'GET', { Host: name() })).toBe(200);
			expect(await raw(sandbox.url + path, 'GET', { Host: 'other.example' })).toBe(421);
		},
	);

	test('a preflight is not granted, so no page can send a token', async () => {
		const response = await fetch(`${sandbox.url}/v2/pay/payment`, { method: 'OPTIONS' });
		expect(response.headers.get('access-control-allow-origin')).toBeNull();
	});

	test.each(['/', '/pay/x'])(
		'%s runs its own script only, and stands in no frame',
		async (path) => {
			const response = await fetch(sandbox.url + path);
			const policy = response.headers.get('content-security-policy') ?? '';
			const [, script = ''] = /<script>(.*?)<\/script>/s.exec(await response.text()) ?? [];
			const hash = createHash('sha256').update(script).digest('base64');
			expect(script.length).toBeGreaterThan(100);
			expect(policy).toContain(`script-src 'sha256-${hash}'`);
			expect(policy).toContain("default-src 'none'");
			expect(policy).toContain("frame-ancestors 'none'");
			expect(policy).not.toMatch(/unsafe|\*/);
		},
	);
});

test.each(['/next/nothing', '/transactions/x/pay', '/transactions/x/postbacks/0/again'])(
	'%s, which is not there, is 404 or rejected, and changes nothing',
	async (path) => {
		expect(await click(sandbox, path)).toBeGreaterThanOrEqual(400);
		expect(sandbox.orderedRehearsal).toBeUndefined();
	},
);

test('what a browser asks for by itself does not use up what was ordered', async () => {
	await click(sandbox, '/next/reject-422');
	expect((await fetch(`${sandbox.url}/favicon.ico`)).status).toBe(404);
	expect(sandbox.orderedRehearsal?.name).toBe('reject-422');
	const response = await send(sandbox, '/v2/pay/payment', { amount: 1, external_id: 'a' });
	expect(response.status).toBe(422);
	expect(sandbox.orderedRehearsal).toBeUndefined();
});

test('the address is of this machine only', () => {
	expect(new URL(sandbox.url).hostname).toBe('127.0.0.1');
});
