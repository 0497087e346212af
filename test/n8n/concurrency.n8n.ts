import { Sandbox } from '../../sandbox/service';
import { until, type N8n } from '../../dev/n8n';
import { payoutAndSecondWait, payoutsBehind, startWaiting } from './chargeAndWait';
import { deliver } from './deliveries';
import { credentialFor, startN8n, type Credential } from './nodes';

/** Of the first wait, in seconds; n8n, which looks once a minute, sets its timer in that time. */
const LIMIT = 75;

/*
 * n8n's timer of a time limit loads the execution, and waits for its place under the concurrency limit
 * until the execution stands in its next wait. n8n 1 runs what it loaded beside the execution.
 */
describe('n8n 2 with room for one execution at a time', () => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	beforeAll(async () => {
		sandbox = await Sandbox.start();
		n8n = await startN8n('n8n2', { env: { N8N_CONCURRENCY_PRODUCTION_LIMIT: '1' } });
		payApi = await credentialFor(sandbox, n8n);
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});

	test("a payment and a charge behind a wait that ends shortly before its limit are made once, whatever n8n's timer does", async () => {
		const wait = { limitWaitTime: true, resumeAmount: LIMIT, resumeUnit: 'seconds' };
		const waiting = await startWaiting(n8n, sandbox, payApi, {
			wait,
			after: payoutAndSecondWait(),
		});
		const { executionId, url, about } = waiting;
		const since = Date.now();
		const after = async (seconds: number) =>
			await until('the time', async () => Date.now() > since + seconds * 1000, 2 * LIMIT);
		await after(LIMIT - 8);
		expect(await deliver(url)).toBe(200);
		// The first pass comes to its second wait 5 s after the limit, and n8n begins the second pass.
		await after(LIMIT + 15);
		expect(payoutsBehind(sandbox, waiting)).toHaveLength(1);
		const charges = sandbox
			.bodies('qrcode')
			.filter(({ external_id }) => external_id === `${about.external_id}-2`);
		expect(charges).toHaveLength(1);
		const { status, data } = await n8n.execution(executionId);
		expect(status).toBe('error');
		expect(data.resultData.error).toMatchObject({
			message: 'n8n runs this execution a second time from an earlier wait, so no payment is sent',
		});
	});
});
