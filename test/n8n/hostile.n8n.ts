import { randomUUID } from 'node:crypto';
import { itemsOf, type N8n } from '../../dev/n8n';
import { noOp, pay } from '../../dev/workflow';
import { type Reference, signUrl } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import { hostileRequests, sendRaw, type RawRequest } from './hostileRequests';
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
		expect(requests.length).toBeGreaterThan(90);
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
		expect(itemsOf(execution, 'Wait')[0]).toMatchObject({ postback: { reference: waiting.about } });
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
		expect(requests.length).toBeGreaterThan(60);
		const statuses = await sendAll(url, requests);
		expect(statuses.filter((status) => status !== 401 && status !== 0)).toStrictEqual([]);
		const genuine = await fetch(signUrl(url, about, SECRET), { method: 'POST', body: '{}' });
		expect(genuine.status).toBe(200);
		const executions = await allFinished(n8n, id, 1);
		expect(executions).toHaveLength(1);
		expect(itemsOf(executions[0]!, 'After')[0]).toMatchObject({ reference: about, body: {} });
	});
});
