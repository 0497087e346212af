import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Sandbox } from '../sandbox/service';
import { drawChart } from './chart';
import { packPackage } from './install';
import { N8n, pause, until, webhookPath } from './n8n';
import { call, chain, noOp, pay, payTrigger, splitItems, start, type Node } from './workflow';

/** Mixed work in one n8n for `--minutes=20`: what grows, what is paid twice, what is lost? */
const MINUTES = Number(
	process.argv.find((arg) => arg.startsWith('--minutes='))?.slice('--minutes='.length) ?? 20,
);
/** Each lane begins its next piece when the last one is done: the rate is what n8n can carry. */
const LANES_OF_EACH = 2;
const PAYMENTS_PER_EXECUTION = 3;
const QR_CODES_PER_EXECUTION = 5;

const FROM_ITEM = { amount: 1, external_id: '={{ $json.id }}' };
const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

/** The slope of the line that fits best, in units of y per unit of x. */
function slope(points: Array<[number, number]>): number {
	const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
	const [meanX, meanY] = [mean(0), mean(1)];
	const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
	return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

async function plot(memory: Array<[number, number]>): Promise<string> {
	const option = {
		title: { text: 'Memory of the n8n process under mixed work', left: 'center' },
		xAxis: { type: 'value', name: 'min', max: MINUTES },
		yAxis: { type: 'value', name: 'MB', min: 0 },
		series: [{ type: 'line', showSymbol: false, data: memory }],
	};
	return await drawChart(option, 360);
}

async function main() {
	const sandbox = await Sandbox.start();
	const tarball = await packPackage();
	// Executions are kept: what was acknowledged is looked up in them at the end.
	const n8n = await N8n.start({
		version: 'n8n2',
		tarball,
		env: { EXECUTIONS_DATA_PRUNE: 'false' },
	});
	try {
		const entry = payTrigger();
		const credential = {
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackUrl: n8n.url + webhookPath(entry),
			postbackSecret: randomUUID(),
		};
		const payApi = await n8n.createCredential(credential);
		const publish = async (name: string, nodes: Node[]) => {
			const id = await n8n.importWorkflow(chain(name, nodes), { payApi });
			await n8n.activate(id);
			return id;
		};
		const triggerWorkflow = await publish('Postbacks', [entry]);
		const answered = { responseMode: 'lastNode', responseData: 'noData' };
		const [toPay, toCharge, toWait] = [start(answered), start(answered), start()];
		await publish('Payments', [toPay, splitItems(), pay('Pay', FROM_ITEM)]);
		const qrCode = { ...FROM_ITEM, resource: 'qrCode' };
		await publish('QR codes', [toCharge, splitItems(), pay('Charge', qrCode)]);
		const wait = {
			resource: 'postback',
			operation: 'wait',
			external_id: '={{ $json.external_id }}',
			resumeWhen: 'any',
		};
		const waitWorkflow = await publish('Waits', [
			toWait,
			splitItems(),
			pay('Charge', { ...qrCode, postback: 'resume' }),
			pay('Wait', wait),
			noOp('After'),
		]);

		const send = async (first: { webhookId: string }, list: string[]) => {
			const answer = await call(n8n, first.webhookId, { items: list.map((id) => ({ id })) });
			await answer.text();
			if (!answer.ok) throw new Error(`A workflow answered ${answer.status}`);
		};
		const known = (external_id: string) =>
			sandbox.transactions.findLast((each) => each.external_id === external_id);
		const settle = async (external_id: string) => {
			const transaction = await until('the transaction', async () => known(external_id));
			await sandbox.settle(transaction.id, 'paid');
		};
		const done = { payments: 0, qrCodes: 0, waits: 0, postbacks: 0 };
		const lanes: Array<() => Promise<void>> = [
			async () => {
				const list = ids(PAYMENTS_PER_EXECUTION);
				await send(toPay, list);
				done.payments += list.length;
				for (const id of list) await settle(id);
				done.postbacks += list.length;
			},
			async () => {
				await send(toCharge, ids(QR_CODES_PER_EXECUTION));
				done.qrCodes += QR_CODES_PER_EXECUTION;
			},
			async () => {
				const [id] = ids(1) as [string];
				await send(toWait, [id]);
				// Its first delivery may come too early and be repeated, as a service would.
				await settle(id);
				done.waits++;
			},
		];

		const begun = Date.now();
		const minutes = () => (Date.now() - begun) / 60_000;
		const failures: string[] = [];
		const work = lanes.flatMap((lane) =>
			Array.from({ length: LANES_OF_EACH }, async () => {
				while (minutes() < MINUTES) {
					await lane().catch((error: unknown) => failures.push(String(error)));
				}
			}),
		);
		const memory: Array<[number, number]> = [];
		while (minutes() < MINUTES) {
			await pause(10_000);
			memory.push([Number(minutes().toFixed(2)), n8n.memory()]);
			if (memory.length % 6 === 0) {
				console.log(
					`${minutes().toFixed(0)} min: ${n8n.memory()} MB, ${JSON.stringify(done)}, ${failures.length} failed`,
				);
			}
		}
		await Promise.all(work);

		const arrivals = new Map<string, number>();
		for (const { external_id } of sandbox.bodies('payment') as Array<{ external_id: string }>) {
			arrivals.set(external_id, (arrivals.get(external_id) ?? 0) + 1);
		}
		const acknowledged = sandbox.transactions.filter(
			({ postbackUrl, deliveries }) =>
				postbackUrl?.includes(entry.webhookId) && deliveries.some(({ answer }) => answer === 200),
		);
		const stored = new Set(
			n8n.storedExecutions(triggerWorkflow).flatMap((data) => data.match(/[0-9a-f-]{36}/g) ?? []),
		);
		const lost = acknowledged.filter(({ external_id }) => !stored.has(external_id)).length;
		const resumed = n8n
			.storedExecutions(waitWorkflow)
			.filter((data) => data.includes('"After"')).length;
		const settled = memory.filter(([at]) => at > MINUTES / 2);
		const facts = {
			date: new Date().toISOString().slice(0, 10),
			machine: `${cpus().length} x ${cpus()[0]?.model}`,
			n8n: 'n8n2',
			minutes: MINUTES,
			...done,
			requestsPerSecond: Number(
				((done.payments + done.qrCodes + done.waits) / minutes() / 60).toFixed(1),
			),
			memoryMB: { start: memory[0]?.[1], end: memory.at(-1)?.[1] },
			memorySlopeOfSecondHalfMBPerMinute: Number(slope(settled).toFixed(2)),
			paymentsArrivedTwice: [...arrivals.values()].filter((count) => count > 1).length,
			postbacksAcknowledged: acknowledged.length,
			acknowledgedButNotStored: lost,
			waitsResumed: resumed,
			failures: failures.slice(0, 5),
		};
		console.log(JSON.stringify(facts, null, '\t'));
		if (facts.paymentsArrivedTwice > 0 || lost > 0 || failures.length > 0) process.exitCode = 1;
		const docs = join(__dirname, '..', MINUTES >= 20 ? 'docs' : '.cache');
		mkdirSync(docs, { recursive: true });
		writeFileSync(join(docs, 'soak.json'), `${JSON.stringify({ ...facts, memory }, null, '\t')}\n`);
		writeFileSync(join(docs, 'soak.svg'), await plot(memory));
	} finally {
		await n8n.stop();
		await sandbox.close();
	}
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
