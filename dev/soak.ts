import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Sandbox } from '../sandbox/service';
import type { Transaction } from '../sandbox/transaction';
import { drawChart } from './chart';
import { packPackage } from './install';
import { N8n, pause, until, webhookPath } from './n8n';
import { PayoutRegister } from './payoutRegister';
import { QueueMode } from './queue';
import { call, chain, noOp, pay, payTrigger, splitItems, start, type Node } from './workflow';

/**
 * Mixed work in one n8n, and the payout register in queue mode beside it, for `--minutes=20`: what
 * grows, what is paid twice, what is lost?
 */
const MINUTES = Number(
	process.argv.find((arg) => arg.startsWith('--minutes='))?.slice('--minutes='.length) ?? 20,
);
/** Each lane begins its next piece when the last one is done: the rate is what n8n can carry. */
const LANES_OF_EACH = 2;
const PAYMENTS_PER_EXECUTION = 3;
const QR_CODES_PER_EXECUTION = 5;
const PAYOUTS_PER_LIST = 10;
/** So short that some are asked for in every minute. */
const TOKEN_SECONDS = 6;

const FROM_ITEM = { amount: 1, external_id: '={{ $json.id }}' };
const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

/** The slope of the line that fits best, in units of y per unit of x. */
function slope(points: Array<[number, number]>): number {
	const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
	const [meanX, meanY] = [mean(0), mean(1)];
	const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
	return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/** Megabytes over minutes, by process. */
type Memory = Record<'n8n' | 'worker', Array<[number, number]>>;

async function plot(memory: Memory): Promise<string> {
	const line = { type: 'line', showSymbol: false };
	const option = {
		title: { text: 'Memory under mixed work', left: 'center' },
		legend: { bottom: 0 },
		xAxis: { type: 'value', name: 'min', max: MINUTES },
		yAxis: { type: 'value', name: 'MB', min: 0 },
		series: [
			{ ...line, name: 'The one n8n', data: memory.n8n },
			{ ...line, name: 'A worker of the queue', data: memory.worker },
		],
	};
	return await drawChart(option, 360);
}

/** How many payments of a service arrived more than once. */
function arrivedTwice(service: Sandbox): number {
	const arrivals = new Map<unknown, number>();
	for (const { external_id } of service.bodies('payment')) {
		arrivals.set(external_id, (arrivals.get(external_id) ?? 0) + 1);
	}
	return [...arrivals.values()].filter((count) => count > 1).length;
}

/** Has a payment or charge reported as paid, once the service knows it; gives what the service has of it. */
async function settle(service: Sandbox, external_id: string): Promise<Transaction> {
	const known = await until('the transaction', async () =>
		service.transactions.findLast((each) => each.external_id === external_id),
	);
	await service.settle(known.id, 'paid');
	return known;
}

/**
 * The example payout-register on two workers, beside all else: each list is sent twice at once, and
 * each of its payments reported three times.
 */
class RegisterLane {
	private constructor(
		readonly queue: QueueMode,
		private readonly service: Sandbox,
		private readonly register: PayoutRegister,
	) {}

	static async start(tarball: string): Promise<RegisterLane> {
		const service = await Sandbox.start();
		const queue = await QueueMode.start({ version: 'n8n2', tarball });
		const register = await PayoutRegister.open(queue);
		const payApi = await queue.main.createCredential({
			baseUrl: service.url,
			accessToken: 'token',
			postbackSecret: randomUUID(),
			postbackUrl: queue.webhook.url + register.postbackPath,
		});
		const id = await queue.main.importWorkflow(register.workflow, { payApi });
		await queue.main.activate(id);
		register.make();
		return new RegisterLane(queue, service, register);
	}

	/** @returns how many payouts settled */
	async play(): Promise<number> {
		const { service, register } = this;
		const list = ids(PAYOUTS_PER_LIST);
		const payouts = list.map((id) => ({ id, amount: '1.00', key: `${id}@example.com` }));
		await Promise.all([register.send(payouts), register.send(payouts)]);
		const inState = async (state: string) => {
			const where = `state = '${state}' AND external_id IN ('${list.join("', '")}')`;
			await until(
				`${list.length} rows to be ${state}`,
				async () => {
					const [count] = register.sql(`SELECT count(*) FROM payout_register WHERE ${where}`);
					return Number(count) === list.length;
				},
				120,
			);
		};
		await inState('accepted');
		for (const id of list) await Promise.all([1, 2, 3].map(async () => await settle(service, id)));
		await inState('settled');
		return list.length;
	}

	/** What stands in the books of both sides. */
	figures() {
		const count = (query: string) => Number(this.register.sql(query)[0]);
		return {
			payoutsArrived: this.service.bodies('payment').length,
			payoutsArrivedTwice: arrivedTwice(this.service),
			rows: count('SELECT count(*) FROM payout_register'),
			rowsNotSettled: count("SELECT count(*) FROM payout_register WHERE state <> 'settled'"),
			followed: count('SELECT count(*) FROM followed'),
			followedTwice: count(
				'SELECT count(*) FROM (SELECT 1 FROM followed GROUP BY external_id HAVING count(*) > 1) twice',
			),
		};
	}

	async close(): Promise<void> {
		await this.queue.stop();
		await this.service.close();
	}
}

async function main() {
	const sandbox = await Sandbox.start();
	const client = { clientId: 'soak', clientSecret: randomUUID() };
	const byClient = await Sandbox.start({
		clientCredentials: { ...client, tokenLife: TOKEN_SECONDS },
	});
	const tarball = await packPackage();
	const payouts = await RegisterLane.start(tarball);
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
		const ofClient = await n8n.createCredential({
			...{ baseUrl: byClient.url, authentication: 'clientCredentials', ...client },
			...{ tokenUrl: byClient.tokenUrl, allowHttp: true },
		});
		const publish = async (name: string, nodes: Node[], account = payApi) => {
			const id = await n8n.importWorkflow(chain(name, nodes), { payApi: account });
			await n8n.activate(id);
			return id;
		};
		const triggerWorkflow = await publish('Postbacks', [entry]);
		const answered = { responseMode: 'lastNode', responseData: 'noData' };
		const [toPay, toCharge, toWait] = [start(answered), start(answered), start()];
		const toPayByClient = start(answered);
		await publish('Payments', [toPay, splitItems(), pay('Pay', FROM_ITEM)]);
		const byClientNodes = [toPayByClient, splitItems(), pay('Pay', FROM_ITEM)];
		await publish('Payments, client credentials', byClientNodes, ofClient);
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
		const done = {
			payments: 0,
			paymentsByClient: 0,
			qrCodes: 0,
			waits: 0,
			postbacks: 0,
			payouts: 0,
		};
		const lanes: Array<() => Promise<void>> = [
			async () => {
				const list = ids(PAYMENTS_PER_EXECUTION);
				await send(toPay, list);
				done.payments += list.length;
				for (const id of list) await settle(sandbox, id);
				done.postbacks += list.length;
			},
			async () => {
				await send(toCharge, ids(QR_CODES_PER_EXECUTION));
				done.qrCodes += QR_CODES_PER_EXECUTION;
			},
			async () => {
				const [id] = ids(1) as [string];
				await send(toWait, [id]);
				// Its first deliveries may come before n8n has stored that it waits.
				await until('the wait to be resumed', async () => {
					const { deliveries } = await settle(sandbox, id);
					return deliveries.some(({ answer }) => answer === 200);
				});
				done.waits++;
			},
			async () => {
				const list = ids(PAYMENTS_PER_EXECUTION);
				await send(toPayByClient, list);
				done.paymentsByClient += list.length;
			},
			async () => {
				const settled = await payouts.play();
				done.payouts += settled;
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
		const memory: Memory = { n8n: [], worker: [] };
		while (minutes() < MINUTES) {
			await pause(10_000);
			const at = Number(minutes().toFixed(2));
			memory.n8n.push([at, n8n.memory()]);
			memory.worker.push([at, payouts.queue.workers[0]!.memory()]);
			if (memory.n8n.length % 6 === 0) {
				console.log(
					`${minutes().toFixed(0)} min: ${n8n.memory()} MB, ${JSON.stringify(done)}, ${failures.length} failed`,
				);
			}
		}
		await Promise.all(work);

		const acknowledged = sandbox.transactions.filter(
			({ postbackUrl, deliveries }) =>
				postbackUrl?.includes(entry.webhookId) && deliveries.some(({ answer }) => answer === 200),
		);
		const stored = new Set(
			n8n.storedExecutions(triggerWorkflow).flatMap((data) => data.match(/[0-9a-f-]{36}/g) ?? []),
		);
		const lost = acknowledged.filter(({ external_id }) => !stored.has(external_id)).length;
		const resumedNow = () =>
			n8n.storedExecutions(waitWorkflow).filter((data) => data.includes('"After"')).length;
		// The last ones were resumed a moment ago.
		await until('the last waits', async () => resumedNow() >= done.waits).catch(() => undefined);
		const resumed = resumedNow();
		const secondHalf = (points: Memory['n8n']) => points.filter(([at]) => at > MINUTES / 2);
		const summary = (points: Memory['n8n']) => ({
			startMB: points[0]?.[1],
			peakMB: Math.max(...points.map(([, megabytes]) => megabytes)),
			endMB: points.at(-1)?.[1],
			slopeOfSecondHalfMBPerMinute: Number(slope(secondHalf(points)).toFixed(2)),
		});
		const facts = {
			date: new Date().toISOString().slice(0, 10),
			machine: `${cpus().length} x ${cpus()[0]?.model}`,
			n8n: 'n8n2',
			minutes: MINUTES,
			...done,
			requestsPerSecond: Number(
				(
					(done.payments + done.paymentsByClient + done.qrCodes + done.waits + done.payouts) /
					minutes() /
					60
				).toFixed(1),
			),
			memoryOfN8n: summary(memory.n8n),
			memoryOfAWorker: summary(memory.worker),
			paymentsArrivedTwice: arrivedTwice(sandbox),
			tokens: byClient.tokenRequests.length,
			paymentsByClientAccepted: byClient.transactions.length,
			paymentsByClientArrivedTwice: arrivedTwice(byClient),
			register: payouts.figures(),
			postbacksAcknowledged: acknowledged.length,
			acknowledgedButNotStored: lost,
			waitsResumed: resumed,
			failures: failures.slice(0, 5),
		};
		console.log(JSON.stringify(facts, null, '\t'));
		const { register } = facts;
		const wrong = [
			...[facts.paymentsArrivedTwice, facts.paymentsByClientArrivedTwice, lost, failures.length],
			...[register.payoutsArrivedTwice, register.rowsNotSettled, register.followedTwice],
			...[done.waits - resumed, done.paymentsByClient - byClient.transactions.length],
			...[register.rows - register.followed, register.rows - register.payoutsArrived],
		];
		if (wrong.some((count) => count !== 0)) process.exitCode = 1;
		const docs = join(__dirname, '..', MINUTES >= 20 ? 'docs' : '.cache');
		mkdirSync(docs, { recursive: true });
		writeFileSync(join(docs, 'soak.json'), `${JSON.stringify({ ...facts, memory }, null, '\t')}\n`);
		writeFileSync(join(docs, 'soak.svg'), await plot(memory));
	} finally {
		await n8n.stop();
		await payouts.close();
		await Promise.all([sandbox.close(), byClient.close()]);
	}
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
