import { randomUUID } from 'node:crypto';
import { itemsOf, webhookPath, type N8n } from '../../dev/n8n';
import { chain, noOp, pay, payTrigger } from '../../dev/workflow';
import { signUrl, type Reference } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import { hostileRequests, sendRaw, type RawRequest } from './hostileRequests';
import { nightly } from './nightly';
import { allFinished, publishTrigger, SECRET, VERSIONS, withN8n, type Credential } from './nodes';
import { ended, startWaiting } from './chargeAndWait';

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));

	/** Sends them, some at a time; none may be told that it was taken. */
	async function sendAll(url: string, requests: RawRequest[]): Promise<number[]> {
		const statuses: number[] = [];
		const sendEach = async (list: Iterable<RawRequest>) => {
			for (const each of list) {
				const status = await sendRaw(url, each);
				statuses.push(status);
				// A connection that was cut hears nothing.
				const isRefused = status === 0 ? each.cut : status >= 400;
				expect([each.name, status, isRefused]).toStrictEqual([each.name, status, true]);
			}
		};
		const together = requests.filter(({ alone }) => !alone).values();
		await Promise.all(Array.from({ length: 5 }, async () => await sendEach(together)));
		await sendEach(requests.filter(({ alone }) => alone).values());
		return statuses;
	}

	test('hostile requests move no waiting execution and pay nothing; the genuine one does', async () => {
		const payout = pay('Payout', {
			amount: 250,
			external_id: `payout-${randomUUID()}`,
			postback: 'none',
			creditParty: { key: 'k' },
		});
		const waiting = await startWaiting(n8n, sandbox, payApi, { after: [payout, noOp('After')] });
		const genuineProof = `pay_proof=${waiting.url.split('pay_proof=')[1]!}`;
		const requests = hostileRequests(waiting.bare, genuineProof, waiting.about, SECRET);
		const statuses = await sendAll(waiting.bare, requests);
		// Nothing of them was read: not one is malformed, in an unknown charset, or too late.
		expect(statuses.filter((status) => status !== 401 && status !== 0)).toStrictEqual([]);
		const { status, data } = await n8n.execution(waiting.executionId);
		expect(status).toBe('waiting');
		expect(data.resultData.runData).not.toHaveProperty('Payout');
		expect(sandbox.bodies('payment')).toStrictEqual([]);

		const genuine = await fetch(waiting.url, { method: 'POST', body: '{"status":"paid"}' });
		expect(genuine.status).toBe(200);
		const execution = await ended(n8n, waiting.executionId);
		expect(itemsOf(execution, 'Wait')[0]).toMatchObject({
			postback: { reference: waiting.about },
		});
		expect(sandbox.bodies('payment')).toHaveLength(1);
	});

	test('hostile requests start no execution of a trigger; the genuine one does', async () => {
		const { id, url } = await publishTrigger(n8n, payApi);
		const about: Reference = { external_id: randomUUID(), kind: 'qrCode', amount: 1 };
		const genuineProof = signUrl(url, about, SECRET).split('?')[1]!;
		// What is proven for something else is a postback about that, to a trigger.
		const requests = hostileRequests(url, genuineProof, about, SECRET).filter(
			({ foreign }) => !foreign,
		);
		const statuses = await sendAll(url, requests);
		expect(statuses.filter((status) => status !== 401 && status !== 0)).toStrictEqual([]);
		const genuine = await fetch(signUrl(url, about, SECRET), { method: 'POST', body: '{}' });
		expect(genuine.status).toBe(200);
		const executions = await allFinished(n8n, id, 1);
		expect(executions).toHaveLength(1);
		expect(itemsOf(executions[0]!, 'After')[0]).toMatchObject({ reference: about, body: {} });
	});

	nightly.test(
		'a proven body of 16 MB that means harm holds n8n no longer than one that means none',
		async () => {
			const entry = payTrigger({ startWhen: 'match', matchField: 'status', matchValues: ['paid'] });
			const workflowId = await n8n.importWorkflow(chain('Trigger', [entry]), { payApi });
			await n8n.activate(workflowId);
			const about: Reference = { external_id: randomUUID(), kind: 'qrCode', amount: 1 };
			const url = signUrl(n8n.url + webhookPath(entry), about, SECRET);
			/** The processor time that n8n takes for a body, in milliseconds. */
			const timeOf = async (type: string, body: string): Promise<number> => {
				const before = n8n.processorTime;
				const headers = { 'Content-Type': type, Connection: 'close' };
				const { status } = await fetch(url, { method: 'POST', headers, body });
				expect(status).toBe(200);
				return n8n.processorTime - before;
			};
			const size = 15_000_000;
			await timeOf('text/plain', 'x'.repeat(size));
			const harmless = await timeOf('text/plain', 'x'.repeat(size));
			const form = 'application/x-www-form-urlencoded';
			const hostile = {
				'[ in a name': await timeOf(form, '['.repeat(size)),
				numbers: await timeOf('application/json', `[${'1,'.repeat(size / 2)}1234567890123456]`),
			};
			console.log(`n8n ${version}: 15 MB of text ${harmless} ms, ${JSON.stringify(hostile)}`);
			for (const time of Object.values(hostile)) expect(time).toBeLessThan(8 * harmless + 1_000);
			expect(await n8n.executionIds(workflowId)).toStrictEqual([]);
		},
	);
});
