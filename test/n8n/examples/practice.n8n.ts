import { randomUUID } from 'node:crypto';
import { example } from '../../../dev/demo';
import { itemsOf, pause, until, webhookPath, type Execution, type N8n } from '../../../dev/n8n';
import { majorOf } from '../../../dev/versions';
import { call, chain, node, pay, payTrigger, splitItems, start } from '../../../dev/workflow';
import { startReceiver } from '../../../sandbox/caller';
import { allFinished, nodeOf, startN8n, VERSIONS } from '../nodes';
import { callOf } from '../otherNodes';

/** What the practice service lets pass before it reports, and room for n8n to take it. */
const REPORTED = 6_000;

// A workflow of the n8n itself takes the service's place, as it does for whoever has no account.
// Amounts that the practice service takes for an order (sandbox/rehearsals.ts), and one that is none.
const REJECTED = '4.22';
const UNKNOWN = '5.03';
const PAID = '4.23';

describe.each(VERSIONS)('n8n %s, its own practice service', (version) => {
	let n8n: N8n;
	let service: string;
	let credentials: { payApi: { id: string; name: string } };
	let triggered: string;
	const field = { accessToken: 'practice', postbackSecret: '30 random characters of mine 1' };
	const manual = () => node('Start', 'n8n-nodes-base.manualTrigger');

	beforeAll(async () => {
		// As docs/examples.md says: else runs at once break n8n's database layer.
		const env = majorOf(version) === 1 ? { DB_SQLITE_POOL_SIZE: '2' } : undefined;
		n8n = await startN8n(version, { env });
		service = await n8n.importWorkflow(example('practice-service'));
		await n8n.activate(service);
		const data = { ...field, baseUrl: `${n8n.url}/webhook` };
		const payApi = await n8n.createCredential(data);
		credentials = { payApi };
		triggered = await n8n.importWorkflow(chain('Postbacks', [payTrigger()]), credentials);
		const path = (await n8n.workflow(triggered)).nodes.map(webhookPath).find(Boolean);
		await n8n.changeCredential(payApi, { ...data, postbackUrl: n8n.url + path });
		await n8n.activate(triggered);
	});
	afterAll(async () => await n8n?.stop());

	/** Runs one Pay node; gives its only item. */
	async function run(parameters: object): Promise<Record<string, unknown>> {
		const one = pay('Pay', parameters, { onError: 'continueRegularOutput' });
		const id = await n8n.importWorkflow(chain('One', [manual(), one]), credentials);
		const [item] = itemsOf(await n8n.finished(await n8n.run(id, 'Start')), 'Pay');
		return item!;
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
					id: credentials.payApi.id,
					name: 'Pay API',
					type: 'payApi',
					data: { ...field, baseUrl: `${n8n.url}/webhook`, schemeName: 'pay' },
				},
			},
		);
		expect(data).toMatchObject({ status: 'OK', message: 'The service accepts the access token' });
	});

	test('a QR code has a text and an image; it is paid, and reported', async () => {
		const external_id = `order-${randomUUID()}`;
		const item = await run({ resource: 'qrCode', amount: '49.90', external_id, qrCodeImage: true });
		expect(item).toMatchObject({ outcome: 'accepted', amount: 49.9, statusCode: 201 });
		const text = String(item.qrCode);
		expect(text).toMatch(/^000201.*540449\.9.*6304[0-9A-F]{4}$/);
		const [report] = await until('the postback', async () => {
			const all = await reportedOf(external_id);
			return all.length > 0 && all;
		});
		expect(report).toMatchObject({
			reference: { external_id, kind: 'qrCode', amount: 49.9 },
			body: { event: 'qrCode.paid', status: 'paid', external_id, amount: 49.9 },
		});
	});

	test('its postbacks are signed: who checks that takes them, and not with another secret', async () => {
		const signed = { ...field, senderCheck: 'signature', signatureHeader: 'X-Practice-Signature' };
		const triggers: Record<string, string> = {};
		for (const signatureSecret of ['practice-signature-secret', 'another secret of a service']) {
			const payApi = await n8n.createCredential({
				...signed,
				baseUrl: `${n8n.url}/webhook`,
				signatureSecret,
			});
			const trigger = await n8n.importWorkflow(chain('Postbacks', [payTrigger()]), { payApi });
			await n8n.activate(trigger);
			const path = (await n8n.workflow(trigger)).nodes.map(webhookPath).find(Boolean);
			const external_id = `order-${randomUUID()}`;
			const charge = { resource: 'qrCode', amount: '12.50', external_id };
			const one = pay('Pay', { ...charge, postback: 'url', postbackUrl: n8n.url + path });
			const id = await n8n.importWorkflow(chain('Signed', [manual(), one]), { payApi });
			await n8n.finished(await n8n.run(id, 'Start'));
			triggers[signatureSecret] = trigger;
		}
		await pause(REPORTED);
		const taken: Record<string, string[]> = {};
		for (const [signatureSecret, trigger] of Object.entries(triggers)) {
			const executions = await allFinished(n8n, trigger, 0);
			const items = executions.flatMap((execution) => itemsOf(execution, 'Pay Trigger'));
			taken[signatureSecret] = items.map(({ body }) => (body as { status: string }).status);
		}
		expect(taken).toStrictEqual({
			'practice-signature-secret': ['paid'],
			'another secret of a service': [],
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
			[REJECTED, { outcome: 'rejected', statusCode: 422 }, []],
			[UNKNOWN, { outcome: 'unknown', statusCode: 503 }, []],
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
				response: { postback: 'None: no postback URL of this n8n was given' },
			});
			expect(receiver.came).toStrictEqual([]);
		});
	});

	test('an External ID that was taken is not taken again; one that was refused may be corrected', async () => {
		const external_id = `payout-${randomUUID()}`;
		expect(await run({ amount: REJECTED, external_id })).toMatchObject({ outcome: 'rejected' });
		expect(await run({ amount: PAID, external_id })).toMatchObject({ outcome: 'accepted' });
		// At once, from another node of another workflow, which has no memory of the first.
		const again = await run({ amount: PAID, external_id });
		expect(again).toMatchObject({
			statusCode: 409,
			response: { message: 'This external_id was used before' },
		});
		expect(again.outcome).not.toBe('accepted');
		// A charge and a payment are two things, as their two paths are.
		const charge = await run({ resource: 'qrCode', amount: PAID, external_id });
		expect(charge).toMatchObject({ outcome: 'accepted' });
	});

	describe('ask-the-service', () => {
		let address: string;
		let asking: string;
		/** The example as its notes say, with what a person enters in "Which payment". */
		async function importAsking(entered: Record<string, string | undefined>): Promise<string> {
			const workflow = example('ask-the-service');
			const { assignments } = nodeOf(workflow, 'Which payment').parameters as {
				assignments: { assignments: Array<{ name: string; value: string }> };
			};
			for (const each of assignments.assignments) each.value = entered[each.name] ?? each.value;
			nodeOf(workflow, 'Ask the service').credentials = credentials;
			return await n8n.importWorkflow(workflow);
		}
		const saidTo = (execution: Execution) => itemsOf(execution, 'What it said');
		beforeAll(async () => {
			const note = nodeOf(example('ask-the-service'), 'Note before it is real');
			const { content } = note.parameters as { content: string };
			[address = ''] = /http:[^`]+/.exec(content) ?? [];
			address = address.replace('http://127.0.0.1:5678', n8n.url);
			asking = await importAsking({ address });
			if (majorOf(version) === 2) await n8n.activate(asking);
		});

		test.each([
			{ entered: { external_id: 'bill-3001' }, statusCode: 200, said: 'paid' },
			{ entered: { external_id: 'bill 3/&2' }, statusCode: 200, said: 'failed' },
			{ entered: { external_id: 'bill-3001', number: '42' }, statusCode: 200, said: 'failed' },
			{ entered: { external_id: 'bill' }, statusCode: 404, said: '' },
		])('asked by hand about $entered, it says $statusCode $said', async (row) => {
			const id = await importAsking({ address, ...row.entered });
			const execution = await n8n.finished(await n8n.run(id, 'Start'));
			const [item, ...more] = saidTo(execution);
			expect(more).toStrictEqual([]);
			expect(item).toMatchObject({ ...row.entered, statusCode: row.statusCode, error: '' });
			const { status = '' } = JSON.parse(String(item!.said)) as { status?: string };
			expect(status).toBe(row.said);
		});

		test('another workflow calls it with a list, and gets an item for each', async () => {
			const first = start();
			const caller = chain('Asks', [first, splitItems(), callOf('Ask', asking)]);
			const id = await n8n.importWorkflow(caller);
			await n8n.activate(id);
			const items = [{ external_id: 'a-1' }, { external_id: 'a-2' }, { number: '3' }];
			await call(n8n, first.webhookId, { items });
			const [execution] = await allFinished(n8n, id, 1);
			expect(itemsOf(execution!, 'Ask')).toMatchObject([
				{ external_id: 'a-1', said: expect.stringContaining('"paid"') },
				{ external_id: 'a-2', said: expect.stringContaining('"failed"') },
				{ number: '3', said: expect.stringContaining('"paid"') },
			]);
		});

		test('a service that cannot be asked is told, and the token is in no item', async () => {
			const id = await importAsking({ address: 'http://127.0.0.1:1/{identifier}' });
			const execution = await n8n.finished(await n8n.run(id, 'Start'));
			const [item] = saidTo(execution);
			expect(item).toMatchObject({ statusCode: null, said: '' });
			expect(item!.error).not.toBe('');
			expect(JSON.stringify(execution.data)).not.toContain('Bearer practice');
		});
	});
});
