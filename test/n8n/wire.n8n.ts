import { runDemo, setUpDemo } from '../../dev/demo';
import { itemsOf, N8n, until, webhookPath } from '../../dev/n8n';
import { Sandbox } from '../../sandbox/service';
import { chain, node, pay, payTrigger } from '../../dev/workflow';
import { startN8n, VERSIONS } from './nodes';

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let credential: { id: string; name: string };
	beforeAll(async () => {
		sandbox = await Sandbox.start({ settlePaymentsAfter: 100 });
		n8n = await startN8n(version);
		credential = await n8n.createCredential({ baseUrl: sandbox.url, accessToken: 'token' });
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});
	beforeEach(() => {
		sandbox.received.length = 0;
	});

	const manual = () => node('Start', 'n8n-nodes-base.manualTrigger');

	async function runOnce(parameters: object, payApi = credential) {
		const workflow = chain('Wire', [manual(), pay('Pay', parameters)]);
		const id = await n8n.importWorkflow(workflow, { payApi });
		return await n8n.finished(await n8n.run(id, 'Start'));
	}

	test('the demo: a QR code, a payment and both postbacks', async () => {
		const report = await runDemo(n8n, sandbox, await setUpDemo(n8n, sandbox));
		expect(report.filter((line) => /accepted \(HTTP 201\)/.test(line))).toHaveLength(2);
		expect(report.filter((line) => line.startsWith('postback: '))).toHaveLength(2);
	});

	test('the bodies on the wire are those of sections 2.1 and 2.2', async () => {
		const common = { payerQuestion: 'Q', postback: 'url', postbackUrl: 'https://a.example/b' };
		const payer = { name: 'A', document: '1', email: 'a@example.com' };
		const split = [{ username: 'b', percentageSplit: 12.5 }];
		const creditParty = { key: 'k', keyType: 't', document: '1', name: 'N' };
		const charge = { resource: 'qrCode', amount: 10.5 };
		await runOnce({
			...charge,
			external_id: 'full',
			...common,
			payer,
			specifySplit: 'fields',
			split: { recipient: split },
		});
		await runOnce({ ...charge, external_id: 'minimal' });
		await runOnce({
			...charge,
			external_id: 'json',
			specifySplit: 'json',
			splitJson: JSON.stringify(split),
		});
		await runOnce({ amount: 2, external_id: 'full', ...common, creditParty });
		await runOnce({ amount: 2, external_id: 'minimal' });
		const sent = { payerQuestion: 'Q', postbackUrl: 'https://a.example/b' };
		expect(sandbox.bodies('qrcode')).toStrictEqual([
			{ amount: 10.5, external_id: 'full', ...sent, payer, split },
			{ amount: 10.5, external_id: 'minimal' },
			{ amount: 10.5, external_id: 'json', split },
		]);
		expect(sandbox.bodies('payment')).toStrictEqual([
			{ amount: 2, external_id: 'full', ...sent, creditParty },
			{ amount: 2, external_id: 'minimal' },
		]);
	});

	test('bad configuration names the field and the item, and sends nothing', async () => {
		const charge = { resource: 'qrCode', amount: 1, external_id: 'a' };
		const bad = async (data: object) =>
			await n8n.createCredential({ baseUrl: sandbox.url, accessToken: 'token', ...data });
		const errors = [
			await runOnce(charge, await bad({ accessToken: ' ' })),
			await runOnce(charge, await bad({ baseUrl: 'nowhere' })),
			await runOnce({ ...charge, specifySplit: 'json', splitJson: '[{]' }),
			await runOnce({ ...charge, amount: '={{ "10,50" }}' }),
		].map(({ data }) => data.resultData.error as Record<string, unknown> & { message: string });
		expect(errors.map(({ message }) => message)).toStrictEqual([
			expect.stringMatching(/Access Token/),
			expect.stringMatching(/Base URL/),
			expect.stringMatching(/splitJson.*position 2/),
			expect.stringMatching(/amount.*"10,50"/),
		]);
		for (const { context } of errors) expect(context).toMatchObject({ itemIndex: 0 });
		expect(sandbox.received).toStrictEqual([]);
	});

	test('the credential test tells its four answers apart and cannot move money', async () => {
		const test = async (data: object) => {
			const credentials = {
				...credential,
				type: 'payApi',
				data: { baseUrl: sandbox.url, accessToken: 'token', allowHttp: false, ...data },
			};
			const { data: result } = await n8n.rest<{ data: { status: string; message: string } }>(
				'POST',
				'/credentials/test',
				{ credentials },
			);
			return `${result.status}: ${result.message}`;
		};
		const answers: string[] = [];
		for (const path of [
			'',
			'/fault/status-401',
			'/fault/status-403',
			'/fault/status-404',
			'/fault/status-503',
			'/fault/status-307',
			'/v2/pay/qrcode',
		]) {
			answers.push(await test({ baseUrl: sandbox.url + path }));
		}
		answers.push(await test({ baseUrl: 'http://127.0.0.1:9' }));
		answers.push(await test({ baseUrl: 'api.example.com' }));
		expect(answers).toStrictEqual([
			'OK: The service accepts the access token',
			expect.stringMatching(/^Error: The service refused the access token/),
			expect.stringMatching(/^Error: The service refused the access token/),
			expect.stringMatching(/^Error: .* Base URL .*is wrong/),
			expect.stringMatching(/^Error: The service is failing \(HTTP 503\)/),
			expect.stringMatching(/^Error: The service redirects/),
			'OK: The service accepts the access token',
			expect.stringMatching(/^Error: Nothing answers at 127\.0\.0\.1:9\./),
			expect.stringMatching(/^Error: .*must be an absolute URL/),
		]);
		expect(sandbox.bodies('qrcode').every((body) => Object.keys(body).length === 0)).toBe(true);
		expect(
			sandbox.transactions.filter(({ external_id }) => external_id === undefined),
		).toStrictEqual([]);
	});

	describe('the trigger', () => {
		let url: string;
		let workflowId: string;
		beforeAll(async () => {
			const trigger = payTrigger({ authentication: 'none' });
			workflowId = await n8n.importWorkflow(chain('Any postback', [trigger]));
			await n8n.activate(workflowId);
			url = n8n.url + webhookPath(trigger);
		});

		async function deliver(method: string, body?: string | Buffer, contentType?: string) {
			const before = await n8n.executionIds(workflowId);
			const answer = await fetch(`${url}?try=1`, {
				method,
				body: body === undefined ? undefined : Buffer.from(body as string),
				headers: {
					...(contentType ? { 'Content-Type': contentType } : {}),
					Authorization: 'Bearer x',
					Cookie: 'a=b',
				},
			});
			expect([answer.status, await answer.text()]).toStrictEqual([200, '']);
			const id = await until('the execution', async () =>
				(await n8n.executionIds(workflowId)).find((found) => !before.includes(found)),
			);
			const [item] = itemsOf(await n8n.finished(id), 'Pay Trigger');
			return item as Record<string, unknown> & { headers: Record<string, string> };
		}

		test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('takes %s', async (method) => {
			const item = await deliver(method);
			expect(item).toMatchObject({ method, reference: null, query: { try: '1' }, rawBody: '' });
			expect(item.eventId).toMatch(/^[0-9a-f]{64}$/);
			expect(Object.keys(item)).toStrictEqual([
				'reference',
				'body',
				'eventId',
				'receivedAt',
				'method',
				'query',
				'headers',
				'rawBody',
			]);
			expect(item.headers).not.toHaveProperty('authorization');
			expect(item.headers).not.toHaveProperty('cookie');
		});

		test.each([
			[
				'application/json',
				'{"a":{"b":12345678901234567890}}',
				{ a: { b: '12345678901234567890' } },
			],
			['application/vnd.pay+json', '{"a":1}', { a: 1 }],
			[undefined, '{"a":1}', { a: 1 }],
			['application/x-www-form-urlencoded', 'a=1&b=x', { a: '1', b: 'x' }],
			['application/xml', '<a><b>1</b></a>', { a: { b: '1' } }],
			['text/plain', 'paid', 'paid'],
			['application/json', '{"a":', '{"a":'],
			['application/json; charset=foo', '{"a":1}', { a: 1 }],
			['application/xml', '<a>', '<a>'],
			['application/json', '', ''],
		])('reads a %p body: %p', async (type, text, body) => {
			const item = await deliver('POST', text, type);
			expect(item.rawBody).toBe(text);
			expect(item.body).toStrictEqual(body);
		});
	});
});
