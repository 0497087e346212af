import { createHmac, randomUUID } from 'node:crypto';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import { payTrigger } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { allFinished, n8nOf, payEach, publish, publishTrigger, SECRET, NEWEST } from './nodes';

const SERVICE = 'the secret of the service';

/** The amount of a charge that the sandbox reports as paid with 0.01. */
const PAID_WITH_A_CENT = 1.07;

/** What the sandbox says and how it signs, as a person enters it. */
const DESCRIBED = {
	describeService: true,
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
 * What a postback says is compared with what was asked. What a response says: test/engine/items.test.ts; the
 * service's own signature: realServices.n8n.ts.
 */
describe.each(NEWEST)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: { id: string; name: string };
	beforeAll(async () => {
		sandbox = await Sandbox.start({ amountsAct: true, signatureSecret: SERVICE });
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

	/** Start -> Items -> Charge, whose postback goes to an address. */
	const charge = (postbackUrl: string) =>
		payEach({ resource: 'qrCode', amount: PAID_WITH_A_CENT, postback: 'url', postbackUrl });

	test('a charge that is paid with 0.01 instead: Paid does not start, Paid or Failed says otherAmount', async () => {
		const paid = await publishTrigger(n8n, payApi, payTrigger({ startWhen: 'paid' }));
		const either = await publishTrigger(n8n, payApi, payTrigger({ startWhen: 'paidOrFailed' }));
		for (const { url } of [paid, either]) {
			const { run } = await publish(n8n, charge(url), payApi);
			await run({ id: randomUUID() });
		}
		const execution = (await allFinished(n8n, either.id, 1))[0]!;
		expect(itemsOf(execution, 'Pay Trigger')[0]).toMatchObject({
			state: 'otherAmount',
			reference: { amount: PAID_WITH_A_CENT },
			body: { amount: 0.01 },
		});
		const taken = await until('both postbacks', async () => {
			const postbacks = sandbox.transactions.flatMap((transaction) => transaction.postbacks);
			const tries = postbacks.flatMap((postback) => postback.tries);
			return tries.filter(({ response }) => response === 200).length >= 2 && tries;
		});
		expect(taken.map(({ text }) => text)).toContainEqual(
			expect.stringContaining(
				'the field "amount" has a different amount than the charge or payment',
			),
		);
		expect(await n8n.executionIds(paid.id)).toStrictEqual([]);
	});

	test('a genuine "paid" about another charge, or with words in its query, does not start Paid', async () => {
		const { id, url } = await publishTrigger(n8n, payApi, payTrigger({ startWhen: 'paid' }));
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
});
