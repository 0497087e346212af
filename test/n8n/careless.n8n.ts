import { randomUUID } from 'node:crypto';
import { itemsOf, until, webhookPath, type N8n } from '../../dev/n8n';
import { chain, node, noOp, payTrigger, splitItems, start } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import { makeBook } from './examples/book';
import { chargeAndWait } from './chargeAndWait';
import { deliver } from './deliveries';
import { nodeOf, payEach, publish, SECRET, VERSIONS, withN8n, type Credential } from './nodes';
import { linesOf, PayoutsPage } from './examples/payouts';

/*
 * What an attack on running n8ns found: settings that give nothing, or that programs write where no node
 * reads them.
 */
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));
	beforeEach(() => {
		sandbox.received.length = 0;
	});
	const NOTHING = '={{ $vars.thatNobodyHasSet }}';
	const credentialWith = async (data: object) =>
		await n8n.createCredential({
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: SECRET,
			...data,
		});

	test.each([
		['the header for the External ID', { describeService: true, externalIdHeader: NOTHING }],
		['the scheme name', { describeService: true, schemeName: NOTHING }],
		[
			'the switch in front of them',
			{ describeService: NOTHING, schemeName: 'other', externalIdHeader: 'Idempotency-Key' },
		],
		[
			'what an acceptance is',
			{ describeService: true, resultField: NOTHING, acceptedValues: NOTHING },
		],
	])('no payment goes out where %s is an expression that gives nothing', async (_what, data) => {
		const { run } = await publish(n8n, payEach(), await credentialWith(data));
		await run({ id: randomUUID() });
		expect(sandbox.received.map(({ path }) => path)).toStrictEqual([]);
	});

	test.each([
		['is to be signed', { senderCheck: NOTHING, signatureHeader: 'X-S', signatureSecret: 'abc' }],
		[
			'has another amount',
			{ describeService: true, statusField: 'status', paidValues: 'paid', amountField: NOTHING },
		],
	])('a postback that %s is not taken where an expression gives nothing', async (_what, data) => {
		/** Publishes a trigger with an account; gives its workflow, and what delivers a postback to it. */
		async function publishWith(credential: Credential) {
			const trigger = payTrigger({ startWhen: 'any' });
			const workflow = chain('Trigger', [trigger, noOp('After')]);
			const id = await n8n.importWorkflow(workflow, { payApi: credential });
			const about = { external_id: randomUUID(), kind: 'qrCode', amount: 50 };
			const url = signUrl(n8n.url + webhookPath(trigger), about, SECRET);
			const headers = { 'Content-Type': 'application/json' };
			const body = '{"status":"paid","amount":1}';
			return { id, send: async () => await deliver(url, { headers, body }) };
		}

		const refused = await publishWith(await credentialWith(data));
		if (version === 'n8n1') {
			await expect(n8n.publish(refused.id)).rejects.toThrow('an expression that gives nothing');
		} else {
			// n8n 2 responds first, tries five times in 15 s, and then says so.
			await n8n.publish(refused.id);
			const failed = `"workflowId": "${refused.id}", "result": "failed"`;
			await until('the refusal', async () => n8n.log.includes(failed));
		}
		expect(await refused.send()).toBe(404);
		// The control: with an account that asks for neither, the same postback is taken.
		const sound = await publishWith(payApi);
		await n8n.activate(sound.id);
		expect(await sound.send()).toBe(200);
	});

	test('only what a person typed allows a payment without a Key, not its item', async () => {
		const workflow = payEach({ creditParty: {}, options: { allowNoKey: '={{ $json.mayPay }}' } });
		const { run } = await publish(n8n, workflow, payApi);
		await run({ id: randomUUID(), mayPay: true });
		expect(sandbox.bodies('payment')).toStrictEqual([]);
	});

	test('a Key that an expression leaves as false is none', async () => {
		const workflow = payEach({ creditParty: { key: '={{ $json.has && $json.key }}' } });
		const { run } = await publish(n8n, workflow, payApi);
		await run({ id: randomUUID(), has: false });
		expect(sandbox.bodies('payment')).toStrictEqual([]);
	});

	test.each([
		['is typed as text', 'true'],
		['is an expression that gives nothing', NOTHING],
		['is an expression that gives null', '={{ null }}'],
	])('a limit that %s is not taken for no limit', async (_what, limitWaitTime) => {
		const [charge, wait] = chargeAndWait({ limitWaitTime, resumeAmount: 5, resumeUnit: 'minutes' });
		const { run } = await publish(
			n8n,
			chain('Wait', [start(), splitItems(), charge, wait]),
			payApi,
		);
		const execution = await run({ id: randomUUID() });
		expect(execution).toMatchObject({
			status: 'error',
			data: { resultData: { error: { message: expect.stringContaining('Limit Wait Time') } } },
		});
	});

	test('a wait on a way that is not taken refuses no charge', async () => {
		const [charge, wait] = chargeAndWait({ external_id: 'vip-1' });
		const conditions = {
			options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
			conditions: [
				{
					id: '1',
					leftValue: '={{ $json.external_id }}',
					rightValue: 'vip-1',
					operator: { type: 'string', operation: 'equals' },
				},
			],
			combinator: 'and',
		};
		const only = node('If', 'n8n-nodes-base.if', { conditions, options: {} }, { typeVersion: 2.2 });
		const { run } = await publish(
			n8n,
			chain('If', [start(), splitItems(), charge, only, wait]),
			payApi,
		);
		const execution = await run({ id: randomUUID() });
		expect(itemsOf(execution, 'Charge')).toMatchObject([{ outcome: 'accepted' }]);
	});

	test('two items in front of one wait: neither charge goes out', async () => {
		const nodes = [start(), splitItems(), ...chargeAndWait()];
		const { run } = await publish(n8n, chain('Two', nodes), payApi);
		await run({ id: randomUUID() }, { id: randomUUID() });
		expect(sandbox.bodies('qrcode')).toStrictEqual([]);
	});

	describe('examples/payouts', () => {
		async function publishPayouts(options: object = {}) {
			const book = await makeBook(n8n);
			return await PayoutsPage.publish(n8n, payApi, (workflow) => {
				book.in('payouts', workflow);
				Object.assign(nodeOf(workflow, 'Pay').parameters as object, { options });
			});
		}
		const paid = () =>
			sandbox.bodies('payment').map(({ amount, creditParty }) => ({ amount, creditParty }));

		test.each([
			'id,key,amount,note\na,a@x,10,50,',
			'id,key,amount,note\na,a@x,10,50',
			'id,amount,key,note\na,10,50,a@x,',
		])(
			'an amount with a comma that moves the cells into a column behind is not paid: %j',
			async (text) => {
				const page = await publishPayouts();
				await page.uploadCsv(text);
				expect(paid()).toStrictEqual([]);
			},
		);

		test('with decimal commas: the same list again is the same, another amount is not', async () => {
			const page = await publishPayouts({ decimalSign: 'comma' });
			const id = randomUUID();
			await page.uploadCsv(`id;amount;key\n${id};10,50;a@x`);
			const same = await page.uploadCsv(`id;amount;key\n${id};10,50;a@x`);
			expect(linesOf(same.text)).toStrictEqual([expect.not.stringContaining('The book has')]);
			const other = await page.uploadCsv(`id;amount;key\n${id};105;a@x`);
			expect(linesOf(other.text)).toStrictEqual([expect.stringContaining('The book has')]);
		});

		test('with decimal commas: lines of one identifier that differ are not paid', async () => {
			const page = await publishPayouts({ decimalSign: 'comma' });
			await page.uploadCsv('id;amount;key\nx;105;a@x\nx;10.5;a@x');
			expect(paid()).toStrictEqual([]);
		});
	});
});
