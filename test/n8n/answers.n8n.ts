import { createHmac, randomUUID } from 'node:crypto';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import { chain, node, noOp, pay, splitItems, start } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { chargeAndWait, ended, firstExecution, startWaiting } from './chargeAndWait';
import { allFinished, n8nOf, publish, SECRET, VERSIONS } from './nodes';

const SERVICE = 'the secret of the service';

/** What the sandbox says and how it signs, as a person enters it. */
const DESCRIBED = {
	describeService: true,
	resultField: 'success\nresult.code',
	acceptedValues: 'true',
	rejectedValues: 'false',
	statusField: 'data.status\nstatus',
	paidValues: 'paid',
	failedValues: 'failed',
	amountField: 'data.amount\namount',
	idField: 'data.external_id\nexternal_id',
	senderCheck: 'signature',
	signatureHeader: 'X-Signature',
	signatureSecret: SERVICE,
};

/*
 * What comes back is compared with what was asked: the amount of a code, of a response and of a
 * postback, words for "no", an account that is refused, and the service's own signature.
 */
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: { id: string; name: string };
	beforeAll(async () => {
		sandbox = await Sandbox.start({
			amountsAct: true,
			saysSuccess: true,
			signatureSecret: SERVICE,
		});
		n8n = await n8nOf(version);
		payApi = await n8n.createCredential({
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: SECRET,
			...DESCRIBED,
		});
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});
	beforeEach(() => (sandbox.faultFor = undefined));

	const list = (parameters: object, settings = {}) =>
		chain('A list', [
			start(),
			splitItems(),
			pay('Pay', { external_id: '={{ $json.id }}', postback: 'none', ...parameters }, settings),
		]);
	const hintsOf = (execution: Awaited<ReturnType<N8n['execution']>>) =>
		(execution.data.resultData.runData.Pay![0]!.hints ?? []).map(({ message }) => message);

	test('a code that asks for another amount: the item and a hint say so', async () => {
		const { run } = await publish(n8n, list({ resource: 'qrCode', amount: '9.06' }), payApi);
		const execution = await run({ id: 'order-1' });
		expect(itemsOf(execution, 'Pay')[0]).toMatchObject({ amount: 9.06, qrCodeAmount: 0.0906 });
		expect(hintsOf(execution)).toStrictEqual([
			expect.stringMatching(
				/^The QR code of "order-1" asks its payer for 0\.0906, but the request/,
			),
		]);
	});

	test('a response about another amount and identifier: two hints, and the outcome stays', async () => {
		const { run } = await publish(n8n, list({ amount: '9.07', creditParty: { key: 'k' } }), payApi);
		const execution = await run({ id: randomUUID() });
		expect(itemsOf(execution, 'Pay')[0]).toMatchObject({ outcome: 'accepted' });
		expect(hintsOf(execution)).toHaveLength(2);
	});

	test('a 200 that says no: rejected, and paid when it is sent again', async () => {
		const settings = { onError: 'continueRegularOutput' };
		const { run } = await publish(
			n8n,
			list({ amount: '={{ $json.amount }}', creditParty: { key: 'k' } }, settings),
			payApi,
		);
		const id = randomUUID();
		const [refused] = itemsOf(await run({ id, amount: '2.99' }), 'Pay');
		expect(refused).toMatchObject({ error: { outcome: 'rejected', statusCode: 200 } });
		const [paid] = itemsOf(await run({ id, amount: '3' }), 'Pay');
		expect(paid).toMatchObject({ outcome: 'accepted' });
	});

	test('30 payments with a token that is refused: one request', async () => {
		const settings = { onError: 'continueRegularOutput' };
		const token = randomUUID();
		const expired = await n8n.createCredential({ baseUrl: sandbox.url, accessToken: token });
		sandbox.faultFor = () => ({ kind: 'status', status: 401 });
		const workflow = list({ amount: '1', creditParty: { key: 'k' } }, settings);
		const { run } = await publish(n8n, workflow, expired);
		const execution = await run(...Array.from({ length: 30 }, () => ({ id: randomUUID() })));
		const sent = sandbox.received.filter(({ headers }) => headers.authorization?.includes(token));
		expect(sent).toHaveLength(1);
		const outcomes = itemsOf(execution, 'Pay').map(
			({ error }) => (error as { outcome: string }).outcome,
		);
		expect(outcomes).toStrictEqual(['rejected', ...Array<string>(29).fill('notSent')]);
	});

	/** The Production URL of a published Pay Trigger, and its workflow. */
	async function trigger(parameters: object, credential = payApi) {
		const webhookId = randomUUID();
		const workflow = chain('Trigger', [
			node(
				'Trigger',
				'n8n-nodes-pay.payTrigger',
				{ options: { binaryData: true }, ...parameters },
				{ webhookId },
			),
			noOp('After'),
		]);
		const id = await n8n.importWorkflow(workflow, { payApi: credential });
		await n8n.activate(id);
		return { id, url: `${n8n.url}/webhook/${webhookId}/postback` };
	}

	test('a charge of 1.07 that is paid with 0.01: Paid does not start, Paid or Failed says otherAmount', async () => {
		const paid = await trigger({ startWhen: 'paid' });
		const either = await trigger({ startWhen: 'paidOrFailed' });
		for (const { url } of [paid, either]) {
			const charge = { resource: 'qrCode', amount: '1.07', postback: 'url', postbackUrl: url };
			const { run } = await publish(n8n, list(charge), payApi);
			await run({ id: randomUUID() });
		}
		const execution = (await allFinished(n8n, either.id, 1))[0]!;
		expect(itemsOf(execution, 'Trigger')[0]).toMatchObject({
			state: 'otherAmount',
			reference: { amount: 1.07 },
			body: { amount: 0.01 },
		});
		const taken = await until('both postbacks', async () => {
			const postbacks = sandbox.transactions.flatMap((transaction) => transaction.postbacks);
			const tries = postbacks.flatMap((postback) => postback.tries);
			return tries.filter(({ response }) => response === 200).length >= 2 && tries;
		});
		expect(taken.map(({ text }) => text)).toContainEqual(
			expect.stringContaining('the field "amount" has another amount than the charge or payment'),
		);
		expect(await n8n.executionIds(paid.id)).toStrictEqual([]);
	});

	test('a genuine "paid" about another charge, or with words in its query, does not start Paid', async () => {
		const { id, url } = await trigger({ startWhen: 'paid' });
		const reference = { external_id: randomUUID(), kind: 'qrCode', amount: 1.01 } as const;
		const post = async (to: string, about: object) => {
			const body = JSON.stringify({ amount: 1.01, ...about });
			const mac = createHmac('sha256', SERVICE).update(body).digest('hex');
			const headers = { 'Content-Type': 'application/json', 'X-Signature': `sha256=${mac}` };
			const response = await fetch(to, { method: 'POST', headers, body });
			return `${response.status} ${await response.text()}`;
		};
		const signed = signUrl(url, reference, SECRET);
		const { external_id } = reference;
		expect(await post(signed, { external_id: randomUUID(), status: 'paid' })).toMatch(
			/^200 .*"external_id" names another charge or payment/,
		);
		expect(await post(`${signed}&data.status=paid`, { external_id, status: 'running' })).toMatch(
			/^200 .*"status" has none of the Paid Values/,
		);
		expect(await n8n.executionIds(id)).toStrictEqual([]);
		expect(await post(signed, { external_id, status: 'paid' })).toBe('200 ');
		await allFinished(n8n, id, 1);
	});

	test("only the service's own signature starts a trigger that asks for it", async () => {
		const { id, url } = await trigger({ authentication: 'sender' });
		const body = '{"status":"paid"}';
		const forged = await fetch(url, {
			method: 'POST',
			body,
			headers: { 'X-Signature': 'sha256=00' },
		});
		expect(forged.status).toBe(401);
		const charge = { resource: 'qrCode', amount: '1.01', postback: 'url', postbackUrl: url };
		const { run } = await publish(n8n, list(charge), payApi);
		await run({ id: randomUUID() });
		await allFinished(n8n, id, 1);
	});

	test('a wait with a credential of its own asks for the signature; without one for the proof alone', async () => {
		const signed = await startWaiting(n8n, sandbox, payApi);
		const body = '{"status":"paid","amount":1}';
		const post = async (url: string) => (await fetch(url, { method: 'POST', body })).status;
		expect(await post(signed.url)).toBe(401);
		const { id } = sandbox.transactions.find(
			({ external_id }) => external_id === signed.about.external_id,
		)!;
		await sandbox.settle(id, 'paid');
		const [item] = itemsOf(await ended(n8n, signed.executionId), 'After');
		expect(item).toMatchObject({ postback: { state: 'paid' } });

		const [charge, wait] = chargeAndWait();
		const first = start();
		const workflow = chain('Unsigned', [first, splitItems(), charge, wait, noOp('After')]);
		const unsigned = await n8n.importWorkflow(
			{
				...workflow,
				nodes: workflow.nodes.map((each) =>
					each.name === 'Wait' ? { ...each, credentials: {} } : each,
				),
			},
			{ payApi },
		);
		await n8n.activate(unsigned);
		const external_id = randomUUID();
		await fetch(`${n8n.url}/webhook/${first.webhookId}`, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify({ items: [{ id: external_id }] }),
		});
		const executionId = await firstExecution(n8n, unsigned);
		const url = await until(
			'the charge',
			async () =>
				sandbox.bodies('qrcode').find((sent) => sent.external_id === external_id)?.postbackUrl,
		);
		await until('the wait', async () => (await n8n.execution(executionId)).status === 'waiting');
		expect(await post(String(url))).toBe(200);
		await ended(n8n, executionId);
	});
});
