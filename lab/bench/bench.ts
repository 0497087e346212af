import type { StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { QueueMode } from '../../test/n8n/queue';
import { median, ratioOf, textOf, type Figures, type Row } from './figures';
import { startChild } from '../../dev/children';
import { packPackage } from '../../dev/install';
import { N8n, pause, until, webhookPath } from '../../dev/n8n';
import {
	chain,
	node,
	noOp,
	pay,
	payTrigger,
	splitItems,
	start,
	type Node,
} from '../../dev/workflow';

/*
 * Measures the nodes beside others in a running n8n.
 *
 *   npx ts-node lab/bench/bench.ts                      renews docs/bench.json
 *   npx ts-node lab/bench/bench.ts --only=requests      a part: requests, duplicates, postbacks, growth or queue
 *   npx ts-node lab/bench/bench.ts --quick              small numbers: fails where a ratio is far from the one that stands
 */
const QUICK = process.argv.includes('--quick');
const ONLY = process.argv.find((arg) => arg.startsWith('--only='))?.slice('--only='.length);
const ROUNDS = QUICK ? 1 : 5;
const ITEMS = QUICK ? 200 : 1000;
/** A run of payments ends with a pause of 0.3 s: with fewer of them it would weigh more than in docs/bench.json. */
const PAYMENTS = 1000;

const DOCS = join(__dirname, '..', '..', 'docs');

const say = (text: string) => void process.stderr.write(`${text}\n`);

/** What was measured, round by round. */
interface Comparison {
	/** The row of docs/bench.json that it is for. */
	name: string;
	unit: string;
	goal?: number;
	sides: [number[], number[]];
}

type Measure = () => Promise<number>;

/**
 * Measures two sides in turn, after a round that does not count; what slows one slows the other. Each round
 * begins with the other side, so that none is always behind.
 */
async function inTurn(
	facts: Omit<Comparison, 'sides'>,
	first: Measure,
	second: Measure,
	rounds = ROUNDS,
): Promise<Comparison> {
	const sides: Comparison['sides'] = [[], []];
	for (let round = 0; round <= rounds; round++) {
		for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
			const value = await (side === 0 ? first : second)();
			say(`${facts.name}, round ${round} of ${rounds}, side ${side + 1}: ${value.toPrecision(3)}`);
			if (round > 0) sides[side].push(value);
		}
	}
	return { ...facts, sides };
}

const FROM_ITEM = { amount: '={{ $json.amount }}', external_id: '={{ $json.id }}' };
const atOnce = (batchSize: number) => ({ batching: { batch: { batchSize, batchInterval: 0 } } });
const qrCodes = () => pay('Work', { resource: 'qrCode', ...FROM_ITEM });
const payments = (options: object = {}) => pay('Work', { ...FROM_ITEM, options });
const bareLoop = (baseUrl: string) => node('Work', 'CUSTOM.bare', { baseUrl, ...FROM_ITEM });

/** As its fields stand when it is dragged in, filled with the same body. */
function httpRequest(baseUrl: string, bearer: object, options: object = {}): Node {
	const parameters = Object.entries(FROM_ITEM).map(([name, value]) => ({ name, value }));
	const fields = {
		method: 'POST',
		url: `${baseUrl}/v2/pay/qrcode`,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpBearerAuth',
		sendBody: true,
		bodyParameters: { parameters },
		options,
	};
	const more = { typeVersion: 4.2, credentials: { httpBearerAuth: bearer } };
	return node('Work', 'n8n-nodes-base.httpRequest', fields, more);
}

type CredentialOfN8n = { id: string; name: string };

/** A workflow in an n8n, and the path that runs it. */
interface Published {
	id: string;
	path: string;
}

/** Publishes Start -> Items -> Work. */
async function publish(
	n8n: N8n,
	work: Node,
	payApi: CredentialOfN8n,
	responseMode: 'lastNode' | 'onReceived' = 'lastNode',
): Promise<Published> {
	const first = start({ responseMode, responseData: 'noData' });
	const workflow = chain(`Bench ${work.type}`, [first, splitItems(), work]);
	const id = await n8n.importWorkflow(workflow, { payApi });
	await n8n.activate(id);
	return { id, path: `/webhook/${first.webhookId}` };
}

async function send(url: string, count: number): Promise<void> {
	const items = Array.from({ length: count }, () => ({ id: randomUUID(), amount: 10.5 }));
	const response = await fetch(url, {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ items }),
	});
	await response.text();
	if (!response.ok) throw new Error(`The workflow responded ${response.status}`);
}

/** Runs a workflow once; gives the milliseconds that its Work node took per item. */
async function costPerItem(n8n: N8n, { id, path }: Published, count: number): Promise<number> {
	await send(n8n.url + path, count);
	const [newest] = await n8n.executionIds(id, 1);
	const execution = await n8n.finished(newest ?? '');
	const [run] = execution.data.resultData.runData.Work ?? [];
	const done = run?.data?.main?.[0]?.length;
	if (execution.status !== 'success' || done !== count) {
		const { error } = execution.data.resultData;
		throw new Error(`${done} of ${count} items, ${error?.message ?? execution.status}`);
	}
	return run!.executionTime / count;
}

async function startService() {
	const program = ['-r', 'ts-node/register', join(__dirname, 'service.ts')];
	const stdio: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc'];
	const child = startChild(process.execPath, program, { stdio });
	const [port] = (await once(child, 'message')) as [number];
	return { url: `http://127.0.0.1:${port}`, close: () => child.disconnect() };
}

type Service = Awaited<ReturnType<typeof startService>>;

async function credentials(n8n: N8n, baseUrl: string, more: object = {}) {
	const payApi = await n8n.createCredential({ baseUrl, accessToken: 'token', ...more });
	const bearer = await n8n.createCredential({ token: 'token' }, 'httpBearerAuth', 'Bearer');
	return { payApi, bearer };
}

async function requests(n8n: N8n, service: Service): Promise<Comparison[]> {
	const found: Comparison[] = [];
	const unit = 'ms per item';
	for (const delay of [20, 0]) {
		const baseUrl = `${service.url}/delay/${delay}`;
		const { payApi, bearer } = await credentials(n8n, baseUrl);
		const cost = async (work: Node, credential = payApi, items = ITEMS): Promise<Measure> => {
			const published = await publish(n8n, work, credential);
			return async () => await costPerItem(n8n, published, items);
		};
		const ours = await cost(qrCodes());
		found.push(
			await inTurn(
				{
					name: `QR codes, service ${delay} ms: Pay / HTTP Request`,
					unit,
					goal: delay === 0 ? 0.4 : 0.45,
				},
				ours,
				await cost(httpRequest(baseUrl, bearer)),
			),
			await inTurn(
				{ name: `QR codes, service ${delay} ms: Pay / a loop without checks`, unit, goal: 1.05 },
				ours,
				await cost(bareLoop(baseUrl)),
			),
		);
		// With a delay only Pay waits for a response before it sends the next payment.
		if (delay > 0) continue;
		found.push(
			await inTurn(
				{ name: 'Payments one at a time, service 0 ms: Pay / HTTP Request', unit, goal: 1.25 },
				await cost(payments(), payApi, PAYMENTS),
				await cost(httpRequest(baseUrl, bearer, atOnce(1)), payApi, PAYMENTS),
			),
		);
		if (QUICK) continue;
		// Resolved for each item, though it comes out the same.
		const accessToken = '={{ $json.id ? "token" : "none" }}';
		const expression = await n8n.createCredential({ baseUrl, accessToken });
		found.push(
			await inTurn(
				{ name: 'QR codes, service 0 ms: an expression in the credential / none', unit },
				await cost(qrCodes(), expression),
				ours,
			),
		);
	}
	return found;
}

async function duplicateCheck(n8n: N8n, service: Service): Promise<Comparison[]> {
	const { payApi } = await credentials(n8n, service.url);
	const [many, few] = QUICK ? [300, 50] : [5000, 100];
	// A new workflow each time: the list of remembered payments begins empty.
	const cost = (count: number) => async () =>
		await costPerItem(n8n, await publish(n8n, payments(), payApi), count);
	const name = 'Payments one at a time: 5,000 / 100 in one run';
	return [await inTurn({ name, unit: 'ms per item', goal: 1.3 }, cost(many), cost(few))];
}

/** Waits until n8n has done what earlier calls have left it: after a response the workflow still runs. */
async function atRest(n8n: N8n): Promise<void> {
	let quiet = 0;
	for (let round = 0, used = n8n.processorTime; quiet < 3; round++) {
		if (round === 200) return say('n8n is still busy after a minute: measured beside that');
		await pause(300);
		const now = n8n.processorTime;
		quiet = now - used < 40 ? quiet + 1 : 0;
		used = now;
	}
}

/** Postbacks to an address per second, twenty at once. */
function postbacksPerSecond(n8n: N8n, url: string): Measure {
	const total = QUICK ? 20 : 150;
	return async () => {
		await atRest(n8n);
		const begun = Date.now();
		let left = total;
		const sender = async () => {
			while (left-- > 0) {
				const response = await fetch(url, {
					method: 'POST',
					headers: { 'Content-Type': 'application/json' },
					body: JSON.stringify({ status: 'paid', number: left }),
				});
				if (!response.ok) throw new Error(`A postback got ${response.status}`);
			}
		};
		await Promise.all(Array.from({ length: 20 }, sender));
		return total / ((Date.now() - begun) / 1000);
	};
}

async function postbacks(n8n: N8n, service: Service): Promise<Comparison[]> {
	const postbackSecret = 'the secret of the bench';
	const { payApi } = await credentials(n8n, service.url, { postbackSecret });
	const publishEntry = async (entry: Node & { webhookId: string }) => {
		const workflow = chain('Bench postbacks', [entry]);
		await n8n.activate(await n8n.importWorkflow(workflow, { payApi }));
		return n8n.url + webhookPath(entry);
	};
	const reference = { external_id: 'bench', kind: 'qrCode', amount: 1 };
	const signed = signUrl(await publishEntry(payTrigger()), reference, postbackSecret);
	const bare = { ...node('Entry', 'CUSTOM.bareTrigger'), webhookId: randomUUID() };
	const ours = postbacksPerSecond(n8n, signed);
	const unit = 'per second';
	const found = [
		await inTurn(
			{ name: 'Pay Trigger / a trigger without checks', unit, goal: 0.9 },
			ours,
			postbacksPerSecond(n8n, await publishEntry(bare)),
			2 * ROUNDS,
		),
	];
	// n8n makes an isolate for each call to any trigger but its own: no package can reach that goal.
	if (QUICK) return found;
	found.push(
		await inTurn(
			{ name: 'Pay Trigger / Webhook, which verifies nothing', unit, goal: 0.95 },
			ours,
			postbacksPerSecond(n8n, await publishEntry(start())),
			2 * ROUNDS,
		),
	);
	return found;
}

/** Memory of long lists, and their time, each run in a process that has done nothing else: a peak stays. */
async function growth(tarball: string, service: Service): Promise<Comparison[]> {
	const most = QUICK ? 1000 : 10_000;
	const n8n = await N8n.start({ version: 'n8n2', tarball });
	try {
		const { payApi, bearer } = await credentials(n8n, service.url);
		const charging = await publish(n8n, qrCodes(), payApi);
		const http = await publish(n8n, httpRequest(service.url, bearer), payApi);
		const paying = await publish(n8n, payments(atOnce(100)), payApi);
		const fresh = async (published: Published, count: number) => {
			await n8n.kill();
			await n8n.launch();
			const isThere = async () => (await fetch(n8n.url + published.path)).status === 404;
			await until('the webhook', isThere);
			const time = await costPerItem(n8n, published, count);
			const found = { time, peak: n8n.memory('peak') };
			say(`Growth, ${published.path} with ${count}: ${JSON.stringify(found)}`);
			return found;
		};
		const peaks: Comparison['sides'] = [[], []];
		const times: Comparison['sides'] = [[], []];
		for (let round = 1; round <= (QUICK ? 1 : 3); round++) {
			peaks[0].push((await fresh(charging, most)).peak);
			peaks[1].push((await fresh(http, most)).peak);
			if (QUICK) continue;
			times[0].push((await fresh(paying, most)).time);
			times[1].push((await fresh(paying, 100)).time);
		}
		const found: Comparison[] = [
			{ name: 'Memory, 10,000 QR codes: Pay / HTTP Request', unit: 'MB', goal: 1, sides: peaks },
		];
		if (QUICK) return found;
		const name = 'Payments, 100 at once: 10,000 / 100 in one run';
		return [...found, { name, unit: 'ms per item', sides: times }];
	} finally {
		await n8n.stop();
	}
}

/** Prints what an execution costs each process in queue mode; docs/scale.md calculates with it. */
async function queueMode(tarball: string, service: Service): Promise<void> {
	const queue = await QueueMode.start({ version: 'n8n2', tarball, workers: 1 });
	try {
		const { main } = queue;
		const { payApi } = await credentials(main, service.url);
		const total = 60;
		const remembered = 10_000;
		const ended = async ({ id }: Published) => {
			const filter = { workflowId: id, status: ['success'] };
			const { data } = await main.rest<{ data: { count: number } }>(
				'GET',
				`/executions?limit=1&filter=${encodeURIComponent(JSON.stringify(filter))}`,
			);
			return data.count;
		};
		/** Runs executions of ten items each, ten at once, until all have ended. */
		const runAll = async (published: Published) => {
			const before = await ended(published);
			let left = total;
			const sender = async () => {
				while (left-- > 0) await send(queue.webhook.url + published.path, 10);
			};
			await Promise.all(Array.from({ length: 10 }, sender));
			const allEnded = async () => (await ended(published)) >= before + total;
			await until('all executions to end', allEnded, 120);
		};
		/** Main answers ten questions a second besides. */
		const printShares = async (what: string, published: Published) => {
			const times: Record<string, number[]> = {};
			for (let round = 0; round <= ROUNDS; round++) {
				const before = queue.processorTimes;
				await runAll(published);
				for (const [process, time] of Object.entries(queue.processorTimes)) {
					if (round > 0) (times[process] ??= []).push((time - before[process]!) / total);
				}
			}
			const shares = Object.entries(times).map(([process, values]) => {
				return `${process} ${median(values).toPrecision(3)}`;
			});
			console.log(`${what}, ms per execution: ${shares.join(', ')}`);
		};
		const publishHere = async (work: Node) => await publish(main, work, payApi, 'onReceived');
		await printShares('A no-op workflow', await publishHere(noOp('Work')));
		await printShares('10 QR codes with Pay', await publishHere(qrCodes()));
		const paying = await publishHere(payments(atOnce(100)));
		await send(queue.webhook.url + paying.path, remembered);
		await until('the list to be full', async () => (await ended(paying)) === 1, 300);
		await printShares(`10 payments at once, ${remembered} remembered`, paying);
	} finally {
		await queue.stop();
	}
}

const wanted = (part: string) => ONLY === undefined || ONLY.split(',').includes(part);

async function measure(): Promise<Comparison[]> {
	const tarball = await packPackage();
	const service = await startService();
	const found: Comparison[] = [];
	try {
		if (['requests', 'duplicates', 'postbacks'].some(wanted)) {
			const env = { N8N_CUSTOM_EXTENSIONS: __dirname };
			const n8n = await N8n.start({ version: 'n8n2', tarball, env });
			try {
				if (wanted('requests')) found.push(...(await requests(n8n, service)));
				if (wanted('duplicates')) found.push(...(await duplicateCheck(n8n, service)));
				if (wanted('postbacks')) found.push(...(await postbacks(n8n, service)));
			} finally {
				await n8n.stop();
			}
		}
		if (wanted('growth')) found.push(...(await growth(tarball, service)));
		if (wanted('queue') && !QUICK) await queueMode(tarball, service);
	} finally {
		service.close();
	}
	return found;
}

function toRow({ name, unit, goal, sides }: Comparison): Row {
	const [first, second] = sides.map((values) => Number(median(values).toPrecision(4)));
	const date = new Date().toISOString().slice(0, 10);
	const row: Row = { name, date, unit, medians: [first!, second!] };
	if (goal !== undefined) row.goal = goal;
	return row;
}

/** Whether a ratio is twice as bad as the one that stands and as its goal: machines are noisy. */
function isFar(row: Row, figures: Figures): boolean {
	for (const { better, rows } of Object.values(figures.tables)) {
		const standing = rows.find(({ name }) => name === row.name);
		if (standing === undefined) continue;
		const { goal = ratioOf(standing) } = row;
		return better === 'less'
			? ratioOf(row) > 2 * Math.max(ratioOf(standing), goal)
			: ratioOf(row) < Math.min(ratioOf(standing), goal) / 2;
	}
	throw new Error(`docs/bench.json has no row ${row.name}`);
}

/** Puts rows in the place of those of the same name. */
function renew(rows: Row[], figures: Figures): void {
	const [cpu] = cpus();
	figures.machine = `${cpus().length} x ${cpu?.model}`;
	for (const table of Object.values(figures.tables)) {
		table.rows = table.rows.map((row) => rows.find(({ name }) => name === row.name) ?? row);
	}
	writeFileSync(join(DOCS, 'bench.json'), textOf(figures));
	say('docs/bench.json is renewed. Compare the rounded figures in docs/scale.md.');
}

async function main() {
	const figures = JSON.parse(readFileSync(join(DOCS, 'bench.json'), 'utf8')) as Figures;
	const rows = (await measure()).map(toRow);
	for (const row of rows) {
		const { name, unit, medians, goal } = row;
		const aim = goal === undefined ? '' : `, goal ${goal}`;
		console.log(`${name}: ${medians.join(' / ')} ${unit}, ratio ${ratioOf(row).toFixed(2)}${aim}`);
	}
	if (!QUICK) return renew(rows, figures);
	const far = rows.filter((row) => isFar(row, figures)).map(({ name }) => name);
	if (far.length === 0) return;
	console.error(`Far from docs/bench.json: ${far.join('; ')}`);
	process.exitCode = 1;
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
