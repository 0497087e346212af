import { randomUUID } from 'node:crypto';
import { example } from '../../dev/demo';
import { itemsOf, pause, until, webhookPath, type N8n } from '../../dev/n8n';
import { majorOf } from '../../dev/versions';
import { chain, node, pay, payTrigger } from '../../dev/workflow';
import { crc16 } from '../../nodes/Pay/qr/emv';
import { startReceiver } from '../sandbox/service';
import { enterSettings, makeBook } from './book';
import { reachesLastNodes } from './lastNodes';
import { allFinished, nodeOf, startN8n, VERSIONS } from './nodes';
import { linesOf, PayoutsPage } from './payouts';

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
					id: credentials.payApi.id,
					name: 'Pay API',
					type: 'payApi',
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

	test('payouts and ask-the-service, set as its note says: what is clear is decided, and the next list goes by it', async () => {
		const book = await makeBook(n8n);
		const page = await PayoutsPage.publish(n8n, credentials.payApi, (workflow) => {
			book.in('payouts', workflow);
		});
		// The practice service knows odd and even identifiers.
		const list = ['id,amount,key', 'bill-3001,12.5,a@example.com', 'bill-3002,5.03,a@example.com'];
		await page.uploadCsv(list.join('\n'));
		const ask = book.in('ask-the-service');
		const { content } = nodeOf(ask, 'Note on practising').parameters as {
			content: string;
		};
		const said = [...content.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
		const [address = '', method, idField, statusField, paidWords, failedWords, directionField] =
			said;
		const url = address.replace('http://127.0.0.1:5678', n8n.url);
		enterSettings(ask, {
			address: url,
			method,
			idField,
			statusField,
			paidWords,
			failedWords,
			directionField,
			acceptedHours: '0',
		});
		nodeOf(ask, 'Ask the service').credentials = credentials;
		const asking = await n8n.importWorkflow(ask);
		const execution = await n8n.finished(await n8n.run(asking, 'Start'));
		expect(itemsOf(execution, 'Report')[0]?.line).toStrictEqual([
			'bill-3001 (accepted): the service says "paid". It was paid.',
			'bill-3002 (unknown): the service says "failed". It was not paid.',
		]);
		const { text } = await page.uploadCsv(list.join('\n'));
		expect(linesOf(text)).toStrictEqual([
			expect.stringMatching(/^- Line 3: .* It was not paid \(The service said "failed", /),
			expect.stringMatching(/^- Line 2: .* It was paid \(The service said "paid", /),
		]);
	});

	reachesLastNodes('practice-service', () => n8n);
});
