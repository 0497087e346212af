import { randomUUID } from 'node:crypto';
import { example } from '../../dev/demo';
import { itemsOf, pause, until, webhookPath, type N8n } from '../../dev/n8n';
import { chain, node, pay } from '../../dev/workflow';
import { crc16 } from '../../nodes/Pay/qr/forms';
import { startReceiver } from '../sandbox/service';
import { ended, waits } from './chargeAndWait';
import { allFinished, startN8n, VERSIONS } from './nodes';

/** What the practice service lets pass before it reports, and room for n8n to take it. */
const REPORTED = 6_000;

// A workflow of the n8n itself takes the service's place, as it does for whoever has no account.
describe.each(VERSIONS)('n8n %s, its own practice service', (version) => {
	let n8n: N8n;
	let service: string;
	let credentials: { payApi: { id: string; name: string } };
	let triggered: string;
	const field = { accessToken: 'practice', postbackSecret: '30 random characters of mine 1' };
	const manual = () => node('Start', 'n8n-nodes-base.manualTrigger');

	beforeAll(async () => {
		n8n = await startN8n(version);
		service = await n8n.importWorkflow(example('practice-service'));
		await n8n.activate(service);
		const data = { ...field, baseUrl: `${n8n.url}/webhook` };
		const payApi = await n8n.createCredential(data);
		credentials = { payApi };
		triggered = await n8n.importWorkflow(example('postbacks'), credentials);
		const path = (await n8n.workflow(triggered)).nodes.map(webhookPath).find(Boolean);
		await n8n.changeCredential(payApi, { ...data, postbackUrl: n8n.url + path });
		await n8n.activate(triggered);
	});
	afterAll(async () => await n8n?.stop());

	/** Runs one Pay node; gives its only item, or the error in its place. */
	async function run(parameters: object): Promise<Record<string, unknown>> {
		const one = pay('Pay', parameters, { onError: 'continueRegularOutput' });
		const id = await n8n.importWorkflow(chain('One', [manual(), one]), credentials);
		const [item] = itemsOf(await n8n.finished(await n8n.run(id, 'Start')), 'Pay');
		return (item?.error ?? item) as Record<string, unknown>;
	}
	/** What the trigger took about an identifier. */
	async function reportedOf(external_id: string) {
		const executions = await allFinished(n8n, triggered, 0);
		return executions
			.flatMap((execution) => itemsOf(execution, 'Pay Trigger'))
			.filter(({ reference }) => (reference as { external_id: string }).external_id === external_id)
			.map(({ reference, body, eventId }) => ({ reference, body, eventId }));
	}

	test('the credential’s test passes with any token, and makes nothing', async () => {
		const { data } = await n8n.rest<{ data: { status: string; message: string } }>(
			'POST',
			'/credentials/test',
			{
				credentials: {
					...{ id: credentials.payApi.id, name: 'Pay API', type: 'payApi' },
					data: { ...field, baseUrl: `${n8n.url}/webhook`, schemeName: 'pay' },
				},
			},
		);
		expect(data).toMatchObject({ status: 'OK', message: 'The service accepts the access token' });
	});

	test('a QR code has a text whose checksum is right, and an image; it is paid, and reported', async () => {
		const external_id = `order-${randomUUID()}`;
		const item = await run({ resource: 'qrCode', amount: '49.90', external_id, qrCodeImage: true });
		expect(item).toMatchObject({ outcome: 'accepted', amount: 49.9, statusCode: 201 });
		const text = String(item.qrCode);
		expect(text).toMatch(/^000201.*540449\.9.*6304[0-9A-F]{4}$/);
		expect(text.slice(-4)).toBe(crc16(text.slice(0, -4)));
		const [report] = await until('the postback', async () => {
			const all = await reportedOf(external_id);
			return all.length > 0 && all;
		});
		expect(report).toMatchObject({
			reference: { external_id, kind: 'qrCode', amount: 49.9 },
			body: { event: 'qrCode.paid', status: 'paid', external_id, amount: 49.9 },
		});
	});

	describe('what an amount comes to', () => {
		const creditParty = { key: 'ana@example.com', keyType: 'email' };
		/** All are paid first, so that one pause is enough for what each is reported as. */
		const paid = new Map<string, { external_id: string; item: Record<string, unknown> }>();
		let receiver: Awaited<ReturnType<typeof startReceiver>>;
		let charge: Record<string, unknown>;
		const AMOUNTS: Array<[string, object, string[]]> = [
			['12.50', { outcome: 'accepted' }, ['paid']],
			['1.02', { outcome: 'accepted' }, ['failed']],
			['1.03', { outcome: 'accepted' }, ['paid', 'paid']],
			['1.06', { outcome: 'accepted' }, []],
			['4.22', { outcome: 'rejected', statusCode: 422 }, []],
			['5.03', { outcome: 'unknown', statusCode: 503 }, []],
		];

		beforeAll(async () => {
			receiver = await startReceiver();
			const to = { postback: 'url', resource: 'qrCode', amount: '5' };
			charge = await run({ ...to, external_id: randomUUID(), postbackUrl: receiver.url });
			for (const [amount] of AMOUNTS) {
				const external_id = `payout-${randomUUID()}`;
				paid.set(amount, { external_id, item: await run({ amount, external_id, creditParty }) });
			}
			// That the trigger hears of others meanwhile is shown by the rows that are reported.
			await pause(REPORTED);
		});
		afterAll(() => receiver?.close());

		test.each(AMOUNTS)(
			'%s comes to %j, and is reported as %j',
			async (amount, expected, statuses) => {
				const { external_id, item } = paid.get(amount)!;
				expect(item).toMatchObject(expected);
				const reports = await reportedOf(external_id);
				expect(reports.map(({ body }) => (body as { status: string }).status)).toStrictEqual(
					statuses,
				);
				expect(new Set(reports.map(({ eventId }) => eventId)).size).toBe(
					Math.min(reports.length, 1),
				);
			},
		);

		test('it calls back no address but those of this n8n, and says so', () => {
			expect(charge).toMatchObject({
				outcome: 'accepted',
				response: { postback: 'None: there is no postback URL of this n8n' },
			});
			expect(receiver.came).toStrictEqual([]);
		});
	});

	test('an External ID that was taken is not taken again; one that was refused may be corrected', async () => {
		const external_id = `payout-${randomUUID()}`;
		expect(await run({ amount: '4.22', external_id })).toMatchObject({ outcome: 'rejected' });
		expect(await run({ amount: '4.23', external_id })).toMatchObject({ outcome: 'accepted' });
		// At once, from another node of another workflow, which has no memory of the first.
		const again = await run({ amount: '4.23', external_id });
		expect(again).toMatchObject({
			statusCode: 409,
			response: { message: 'This external_id has come before' },
		});
		expect(again.outcome).not.toBe('accepted');
		// A charge and a payment are two things, as their two paths are.
		const charge = await run({ resource: 'qrCode', amount: '4.23', external_id });
		expect(charge).toMatchObject({ outcome: 'accepted' });
	});

	test('a checkout is paid by itself: it waits, is resumed and fulfils the order', async () => {
		const id = await n8n.importWorkflow(example('checkout'), credentials);
		const executionId = await n8n.run(id, 'Start');
		await ended(n8n, executionId, 'Fulfil the order');
	});

	describe('in-doubt', () => {
		const PERSON = { user: 'person', password: 'a password' };
		const Authorization = `Basic ${Buffer.from(Object.values(PERSON).join(':')).toString('base64')}`;
		let projectId: string;
		let tableId: string;
		let workflowId: string;
		const rows = async () => {
			const { data } = await n8n.rest<{ data: { data: Array<Record<string, unknown>> } }>(
				'GET',
				`/projects/${projectId}/data-tables/${tableId}/rows`,
			);
			return data.data.map(({ external_id, outcome, answer, source }) => ({
				...{ external_id, outcome, answer, source },
			}));
		};
		/** The example with what a person does after the import, as its note says. */
		async function imported(
			change: (nodes: ReturnType<typeof example>['nodes']) => void = () => {},
		) {
			const workflow = example('in-doubt');
			const named = (name: string) => workflow.nodes.find((each) => each.name === name)!;
			named('Was it paid?').credentials = {
				httpBasicAuth: await n8n.createCredential(PERSON, 'httpBasicAuth', 'Person'),
			};
			const dataTableId = { __rl: true, mode: 'id', value: tableId };
			Object.assign(named('Write the answer down').parameters as object, { dataTableId });
			change(workflow.nodes);
			return await n8n.importWorkflow(workflow, credentials);
		}
		const pageOf = async (executionId: string, turn: number) =>
			await until(`question ${turn}`, async () => {
				const execution = await n8n.execution(executionId);
				const asked = execution.data.resultData.runData['What happened']?.length ?? 0;
				return (
					execution.status === 'waiting' &&
					asked === turn &&
					itemsOf(execution, 'What happened', turn - 1)[0]
				);
			});
		async function answer(
			page: string,
			text: string,
			source: string,
			headers: Record<string, string>,
		) {
			const body = new FormData();
			body.append('field-0', text);
			body.append('field-1', source);
			return (await fetch(page, { method: 'POST', headers, body })).status;
		}

		beforeAll(async () => {
			const personal = await n8n.rest<{ data: { id: string } }>('GET', '/projects/personal');
			projectId = personal.data.id;
			const { data: table } = await n8n.rest('POST', `/projects/${projectId}/data-tables`, {
				name: 'answers',
				columns: ['external_id', 'outcome', 'answer', 'source'].map((name) => ({
					name,
					type: 'string',
				})),
			});
			tableId = table.id;
			workflowId = await imported();
		});

		test('what is in doubt is asked one by one, behind a password, and each answer is written down', async () => {
			const executionId = await n8n.run(workflowId, 'Start');
			await waits(n8n, executionId);
			const first = await n8n.execution(executionId);
			expect(itemsOf(first, 'Accepted').map(({ external_id }) => external_id)).toStrictEqual([
				'invoice-3001',
			]);
			expect(JSON.stringify(first.data.resultData.runData.Pay?.[0] ?? {})).toMatch(
				/1 of 3 payments is unknown.*invoice-3002/,
			);
			expect(itemsOf(first, 'Correct it and run again').map(({ id }) => id)).toStrictEqual([
				'invoice-3003',
			]);
			const told = await pageOf(executionId, 1);
			expect(told).toMatchObject({ external_id: 'invoice-3002', outcome: 'unknown' });
			const page = String(told.page);
			expect(told.text).toContain(`Then answer here: ${page}`);

			expect((await fetch(page)).status).toBe(401);
			expect(await answer(page, 'It was paid', 'a guess', {})).toBe(401);
			const shown = await (await fetch(page, { headers: { Authorization } })).text();
			expect(shown).toContain('Was payment invoice-3002 of 5.03 made?');
			const offered = [...shown.matchAll(/<option value='([^']+)'/g)].map(([, value]) => value);
			expect(offered).toStrictEqual(['It was paid', 'It was not paid']);
			expect(await rows()).toStrictEqual([]);
			expect(
				await answer(page, 'It was not paid', 'Ana at the service, Monday', { Authorization }),
			).toBe(200);
			await ended(n8n, executionId, 'Write the answer down');
			expect(await rows()).toStrictEqual([
				{
					external_id: 'invoice-3002',
					outcome: 'unknown',
					answer: 'It was not paid',
					source: 'Ana at the service, Monday',
				},
			]);
		});

		test('a second run asks about what was sent before too, and a later answer replaces the earlier one', async () => {
			const executionId = await n8n.run(workflowId, 'Start');
			for (const [turn, id] of [
				[1, 'invoice-3001'],
				[2, 'invoice-3002'],
			] as const) {
				const told = await pageOf(executionId, turn);
				expect(told).toMatchObject({ external_id: id, outcome: 'duplicate' });
				expect(
					await answer(String(told.page), 'It was paid', `call ${turn}`, { Authorization }),
				).toBe(200);
			}
			const written = async () =>
				(await rows()).filter(({ source }) => /^call \d/.test(String(source)));
			await until('both answers', async () => (await written()).length === 2);
			expect(await rows()).toStrictEqual(
				expect.arrayContaining([
					{
						external_id: 'invoice-3001',
						outcome: 'duplicate',
						answer: 'It was paid',
						source: 'call 1',
					},
					{
						external_id: 'invoice-3002',
						outcome: 'duplicate',
						answer: 'It was paid',
						source: 'call 2',
					},
				]),
			);
		});

		test('a run that stops sounds the alarm, with where and why', async () => {
			const path = randomUUID();
			const id = await imported((nodes) => {
				const start = nodes.find(({ name }) => name === 'Start')!;
				Object.assign(start, {
					...{ type: 'n8n-nodes-base.webhook', typeVersion: 2, webhookId: path },
					parameters: { path, httpMethod: 'POST', options: {} },
				});
				Object.assign(nodes.find(({ name }) => name === 'Pay')!, { onError: 'stopWorkflow' });
			});
			await n8n.activate(id);
			await fetch(`${n8n.url}/webhook/${path}`, { method: 'POST' });
			const alarm = await until('the alarm', async () => {
				const executions = await allFinished(n8n, id, 2);
				const [item] = executions.flatMap((each) => itemsOf(each, 'Sound the alarm'));
				return item;
			});
			expect(alarm.text).toMatch(
				/^When money is in doubt stopped at Pay: .*\. http:\/\/.*\/executions\/\d+$/,
			);
		});
	});
});
