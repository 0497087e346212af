import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Sandbox } from '../sandbox/service';
import { packPackage } from './install';
import { plot, slope, type Memory } from './memoryPlot';
import { pause, until, type N8n } from './n8n';
import { PayoutRegister, type Payout } from './payoutRegister';
import { QueueMode } from './queue';

/** Each lane sends its next list when nothing of the last one is due or claimed. */
const LANES = 4;
const PAYOUTS_PER_LIST = 20;
/** Executions that get the same list at once. */
const SAME_LIST = 2;

/** The register under lists, lost answers, refusals and postbacks: what grows, is paid twice, is lost? */
export async function soakRegister(minutes: number): Promise<void> {
	const sandbox = await Sandbox.start({ settlePaymentsAfter: 1000 });
	// Of twenty one is refused, and of one the answer is lost.
	sandbox.faultFor = ({ body }) => {
		const last = parseInt((JSON.parse(body) as { external_id: string }).external_id.slice(-4), 16);
		if (last % 20 === 0) return { kind: 'status', status: 422 };
		return last % 20 === 1 ? { kind: 'reset-after-body' } : undefined;
	};
	const queue = await QueueMode.start({
		version: 'n8n2',
		tarball: await packPackage(),
		env: { EXECUTIONS_DATA_PRUNE: 'false' },
	});
	try {
		const register = await PayoutRegister.open(queue);
		const payApi = await queue.main.createCredential({
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: randomUUID(),
			postbackUrl: queue.webhook.url + register.postbackPath,
		});
		const id = await queue.main.importWorkflow(register.workflow, { payApi });
		await queue.main.activate(id);
		const { query } = register.node('Create the register').parameters as { query: string };
		register.sql(query);
		register.watch();

		const begun = Date.now();
		const now = () => (Date.now() - begun) / 60_000;
		const failures: string[] = [];
		let lists = 0;
		const lane = async () => {
			const list = Array.from({ length: PAYOUTS_PER_LIST }, (): Payout => {
				const one = randomUUID();
				return { id: one, amount: '10.50', key: `${one}@example.com` };
			});
			for (let each = 0; each < SAME_LIST; each++) await register.send(list);
			const these = list.map((each) => `'${each.id}'`).join();
			await until('the list to be paid', async () => {
				const rows = register.sql(
					`SELECT count(*) FROM payout_register WHERE external_id IN (${these}) AND state NOT IN ('due', 'claimed')`,
				);
				return Number(rows[0]) === list.length;
			});
			lists++;
		};
		const work = Array.from({ length: LANES }, async () => {
			while (now() < minutes) {
				await lane().catch((error: unknown) => failures.push(String(error)));
			}
		});
		const processes: Record<string, N8n> = {
			main: queue.main,
			webhook: queue.webhook,
			'worker 1': queue.workers[0]!,
			'worker 2': queue.workers[1]!,
		};
		const memory: Record<string, Memory> = {};
		while (now() < minutes) {
			await pause(10_000);
			for (const [name, n8n] of Object.entries(processes)) {
				(memory[name] ??= []).push([Number(now().toFixed(2)), n8n.memory()]);
			}
			if (memory.main!.length % 6 === 0) {
				console.log(`${now().toFixed(0)} min: ${lists} lists, ${failures.length} failed`);
			}
		}
		await Promise.all(work);
		// The last postbacks.
		await until('every payment to be settled', async () =>
			sandbox.transactions.every(({ deliveries }) => deliveries.length > 0),
		);
		await pause(5_000);

		const arrived = new Map<string, number>();
		for (const { external_id } of sandbox.bodies('payment') as Array<{ external_id: string }>) {
			arrived.set(external_id, (arrived.get(external_id) ?? 0) + 1);
		}
		const made = new Set(sandbox.transactions.map(({ external_id }) => external_id));
		const rows = register.rows();
		const counts: Record<string, number> = {};
		for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1;
		const facts = {
			date: new Date().toISOString().slice(0, 10),
			machine: `${cpus().length} x ${cpus()[0]?.model}`,
			n8n: 'n8n2, queue mode, two workers',
			minutes,
			...{ lists, payouts: rows.length, states: counts },
			payoutsPerSecond: Number((rows.length / now() / 60).toFixed(1)),
			arrivedTwice: [...arrived.values()].filter((times) => times > 1).length,
			rowsAgainstTheBooks: rows.filter(
				({ external_id, state }) => made.has(external_id) !== (state === 'settled'),
			).length,
			settledTwice: register.sql(
				"SELECT external_id FROM transition WHERE became = 'settled' GROUP BY 1 HAVING count(*) > 1",
			).length,
			memoryMB: Object.fromEntries(
				Object.entries(memory).map(([name, points]) => [
					name,
					{
						start: points[0]?.[1],
						end: points.at(-1)?.[1],
						slopeOfSecondHalf: Number(slope(points.filter(([at]) => at > minutes / 2)).toFixed(2)),
					},
				]),
			),
			failures: failures.slice(0, 5),
		};
		console.log(JSON.stringify(facts, null, '\t'));
		const { arrivedTwice, rowsAgainstTheBooks, settledTwice } = facts;
		if (arrivedTwice + rowsAgainstTheBooks + settledTwice + failures.length > 0) {
			process.exitCode = 1;
		}
		const folder = join(__dirname, '..', minutes >= 20 ? 'docs' : '.cache');
		mkdirSync(folder, { recursive: true });
		const file = join(folder, 'soak-register');
		writeFileSync(`${file}.json`, `${JSON.stringify({ ...facts, memory }, null, '\t')}\n`);
		writeFileSync(`${file}.svg`, plot('Memory under the payout register', minutes, memory));
	} finally {
		await queue.stop();
		await sandbox.close();
	}
}
