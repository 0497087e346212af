import type { StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parse } from 'flatted';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { startChild } from '../children';
import { packPackage } from '../install';
import { N8n, pause, until, webhookPath } from '../n8n';
import { QueueMode } from '../../test/n8n/queue';
import { chain, node, noOp, pay, payTrigger, splitItems, start, type Node } from '../workflow';
import { report, type Comparison } from './figures';

/** `--quick` fails where a ratio is far from the one that docs/bench.json has: small numbers, goals alone. */
const QUICK = process.argv.includes('--quick');
/** `--only=growth,queue` measures a part. */
const ONLY = process.argv.find((arg) => arg.startsWith('--only='))?.slice('--only='.length);
const ROUNDS = QUICK ? 1 : 5;
const ITEMS = QUICK ? 200 : 1000;

const say = (text: string) => void process.stderr.write(`${text}\n`);

/**
 * Measures the sides in turn, after a round that does not count; what slows one slows the other.
 * Each round begins with another side, so that none is always behind the same one.
 */
async function inTurn(
	facts: Omit<Comparison, 'sides'>,
	sides: Record<string, () => Promise<number>>,
	rounds = ROUNDS,
): Promise<Comparison> {
	const all = Object.entries(sides);
	const found = Object.fromEntries(all.map(([name]) => [name, [] as number[]]));
	for (let round = 0; round <= rounds; round++) {
		const first = round % all.length;
		for (const [name, measure] of [...all.slice(first), ...all.slice(0, first)]) {
			const value = await measure();
			say(`${facts.name}, round ${round} of ${rounds}: ${name} ${value.toPrecision(3)}`);
			if (round > 0) found[name]?.push(value);
		}
	}
	return { ...facts, sides: found };
}

const FROM_ITEM = { amount: '={{ $json.amount }}', external_id: '={{ $json.id }}' };
const qrCodes = (options: object = {}) =>
	pay('Work', { resource: 'qrCode', ...FROM_ITEM, options });
const payments = (options: object = {}) => pay('Work', { ...FROM_ITEM, options });
const HUNDRED_AT_ONCE = { batching: { batch: { batchSize: 100, batchInterval: 0 } } };
const bare = (baseUrl: string, fields: object = { amount: '', external_id: '' }) =>
	node('Work', 'CUSTOM.bare', { baseUrl, ...fields });
/** As its fields stand when it is dragged in, filled with the same body. */
const httpRequest = (baseUrl: string, bearer: object, options: object = {}) =>
	node(
		'Work',
		'n8n-nodes-base.httpRequest',
		{
			method: 'POST',
			url: `${baseUrl}/v2/pay/qrcode`,
			authentication: 'genericCredentialType',
			genericAuthType: 'httpBearerAuth',
			sendBody: true,
			bodyParameters: {
				parameters: Object.entries(FROM_ITEM).map(([name, value]) => ({ name, value })),
			},
			options,
		},
		{ typeVersion: 4.2, credentials: { httpBearerAuth: bearer } },
	);

const items = (count: number) =>
	Array.from({ length: count }, () => ({ id: randomUUID(), amount: 10.5 }));

/** Publishes Start -> Items -> Work in an n8n and gives the address that runs it. */
async function publish(
	n8n: N8n,
	work: Node,
	payApi: { id: string; name: string },
	answer: 'lastNode' | 'onReceived' = 'lastNode',
) {
	const first = start({ responseMode: answer, responseData: 'noData' });
	const workflow = chain(`Bench ${work.type}`, [first, splitItems(), work]);
	const id = await n8n.importWorkflow(workflow, { payApi });
	await n8n.activate(id);
	return { id, path: `/webhook/${first.webhookId}` };
}

type Published = Awaited<ReturnType<typeof publish>>;

async function send(url: string, count: number) {
	const answer = await fetch(url, {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ items: items(count) }),
	});
	await answer.text();
	if (!answer.ok) throw new Error(`The workflow answered ${answer.status}`);
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

/** What n8n's database holds of the newest execution: bytes in all, and those of the Pay nodes' ledger. */
function stored(n8n: N8n, { id }: Published): { bytes: number; ledger: number } {
	const text = n8n.storedExecutions(id).at(-1) ?? '[]';
	const { executionData } = parse(text) as {
		executionData?: { contextData?: Record<string, unknown> };
	};
	const ledger = JSON.stringify(executionData?.contextData?.flow ?? {});
	return { bytes: Buffer.byteLength(text), ledger: Buffer.byteLength(ledger) };
}

async function startService() {
	const program = ['-r', 'ts-node/register', join(__dirname, 'service.ts')];
	const stdio: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc'];
	const child = startChild(process.execPath, program, { stdio });
	const [port] = (await once(child, 'message')) as [number];
	const url = `http://127.0.0.1:${port}`;
	return { url, close: () => child.disconnect() };
}

type Service = Awaited<ReturnType<typeof startService>>;

async function credentials(n8n: N8n, baseUrl: string, more: object = {}) {
	const payApi = await n8n.createCredential({ baseUrl, accessToken: 'token', ...more });
	const bearer = await n8n.createCredential({ token: 'token' }, 'httpBearerAuth', 'Bearer');
	return { payApi, bearer };
}

/** What a row has beside the plain Pay node with a static token, by the row's words. */
const variants = (service: Service, baseUrl: string) => ({
	// Resolved for each item, though it comes out the same.
	'credential that depends on the item': {
		credential: { baseUrl, accessToken: '={{ $json.id ? "token" : "none" }}' },
	},
	'client credentials': {
		credential: {
			baseUrl,
			authentication: 'clientCredentials',
			tokenUrl: `${service.url}/token`,
			clientId: 'bench',
			clientSecret: 'secret',
			allowHttp: true,
		},
	},
	'Result Field and Additional Members': {
		credential: {
			baseUrl,
			accessToken: 'token',
			describeService: true,
			resultField: 'success',
			acceptedValues: 'true',
		},
		options: { additionalMembers: '{ "payer": { "phone": "1" } }' },
	},
});

async function requests(n8n: N8n, service: Service): Promise<Comparison[]> {
	const found: Comparison[] = [];
	for (const delay of [0, 20]) {
		const baseUrl = `${service.url}/delay/${delay}`;
		const { payApi, bearer } = await credentials(n8n, baseUrl);
		const pay = await publish(n8n, qrCodes(), payApi);
		const http = await publish(n8n, httpRequest(baseUrl, bearer), payApi);
		const loop = await publish(n8n, bare(baseUrl, FROM_ITEM), payApi);
		const fieldless = await publish(n8n, bare(baseUrl), payApi);
		const title = `QR codes, service delay ${delay} ms`;
		const unit = 'ms per item';
		found.push(
			await inTurn(
				{ name: `${title}: Pay / HTTP Request`, unit, goal: delay === 0 ? 0.4 : 0.45 },
				{
					Pay: async () => await costPerItem(n8n, pay, ITEMS),
					'HTTP Request': async () => await costPerItem(n8n, http, ITEMS),
				},
			),
			await inTurn(
				{ name: `${title}: Pay / bare loop`, unit, goal: 1.05 },
				{
					Pay: async () => await costPerItem(n8n, pay, ITEMS),
					'Bare loop': async () => await costPerItem(n8n, loop, ITEMS),
					'the same without fields': async () => await costPerItem(n8n, fieldless, ITEMS),
				},
			),
		);
		for (const [what, { credential, options }] of Object.entries<{
			credential?: Record<string, unknown>;
			options?: object;
		}>(QUICK ? {} : variants(service, baseUrl))) {
			const other = await publish(
				n8n,
				qrCodes(options),
				credential === undefined ? payApi : await n8n.createCredential(credential),
			);
			found.push(
				await inTurn(
					{ name: `${title}: ${what} / none of it`, unit },
					{
						With: async () => await costPerItem(n8n, other, ITEMS),
						Without: async () => await costPerItem(n8n, pay, ITEMS),
					},
				),
			);
		}
		const one = { batching: { batch: { batchSize: 1, batchInterval: 0 } } };
		const onePayment = await publish(n8n, payments(), payApi);
		const oneRequest = await publish(n8n, httpRequest(baseUrl, bearer, one), payApi);
		found.push(
			await inTurn(
				{
					name: `Payments one at a time, service delay ${delay} ms: Pay / HTTP Request, batch size 1`,
					unit,
					// Only Pay waits for the response before it sends the next.
					goal: delay === 0 ? 1.4 : undefined,
				},
				{
					Pay: async () => await costPerItem(n8n, onePayment, ITEMS),
					'HTTP Request': async () => await costPerItem(n8n, oneRequest, ITEMS),
				},
			),
		);
	}
	return found;
}

async function duplicateCheck(n8n: N8n, service: Service): Promise<Comparison[]> {
	const { payApi } = await credentials(n8n, service.url);
	const publishPayments = async (options: object = {}) =>
		await publish(n8n, payments(options), payApi);
	const [few, many] = QUICK ? [50, 300] : [100, 5000];
	// A new workflow each time: the list of remembered payments begins empty.
	const fresh = (count: number) => async () =>
		await costPerItem(n8n, await publishPayments(), count);
	return [
		await inTurn(
			{ name: 'Payments one at a time: a long list / a short one', unit: 'ms per item', goal: 1.3 },
			{ [`${many} payments`]: fresh(many), [`${few} payments`]: fresh(few) },
		),
	];
}

const ISOLATE = 'n8n makes an isolate for each call to any trigger but its own Webhook node';

/** Waits until n8n has done what earlier calls have left it: an answered postback's workflow still runs. */
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

const POSTBACK_SECRET = 'the secret of the bench';
/** What Pay Trigger verifies, as somebody would write it behind a Webhook node. */
const VERIFY = `
const { createHmac, timingSafeEqual } = require('crypto');
const { query, body } = $input.first().json;
const [reference, mac] = String(query.pay_proof).split('.');
const wanted = createHmac('sha256', '${POSTBACK_SECRET}').update(reference).digest('base64url').slice(0, 22);
if (mac.length !== wanted.length || !timingSafeEqual(Buffer.from(mac), Buffer.from(wanted))) throw new Error('Forged');
return [{ json: { reference: JSON.parse(Buffer.from(reference, 'base64url').toString()), body } }];`;

async function postbacks(n8n: N8n, service: Service): Promise<Comparison[]> {
	const secret = POSTBACK_SECRET;
	const { payApi } = await credentials(n8n, service.url, { postbackSecret: secret });
	const publishEntry = async (entry: Node, ...behind: Node[]) => {
		const workflow = chain('Bench postbacks', [entry, ...behind]);
		await n8n.activate(await n8n.importWorkflow(workflow, { payApi, httpHeaderAuth }));
		return n8n.url + webhookPath(entry);
	};
	const httpHeaderAuth = await n8n.createCredential(
		{ name: 'X-Secret', value: secret },
		'httpHeaderAuth',
		'Header',
	);
	const about = { external_id: 'bench', kind: 'qrCode', amount: 1 } as const;
	const unsigned = await publishEntry(payTrigger());
	const trigger = signUrl(unsigned, about, secret);
	const bareTrigger = await publishEntry({
		...node('Entry', 'CUSTOM.bareTrigger'),
		webhookId: randomUUID(),
	});
	const webhook = await publishEntry(start());
	// Answers when its code has verified the proof, as Pay Trigger does.
	const verifying = signUrl(
		await publishEntry(
			start({ responseMode: 'lastNode', responseData: 'noData' }),
			node('Verify', 'n8n-nodes-base.code', { jsCode: VERIFY }, { typeVersion: 2 }),
		),
		about,
		secret,
	);
	const guarded = await publishEntry({
		...start({ authentication: 'headerAuth' }),
		credentials: { httpHeaderAuth },
	});
	const total = QUICK ? 20 : 150;
	const perSecond =
		(url: string, expected = 200) =>
		async () => {
			await atRest(n8n);
			const begun = Date.now();
			let left = total;
			const sender = async () => {
				while (left-- > 0) {
					const answer = await fetch(url, {
						method: 'POST',
						headers: { 'Content-Type': 'application/json' },
						body: JSON.stringify({ status: 'paid', number: left }),
					});
					if (answer.status !== expected) {
						throw new Error(`A postback was answered ${answer.status}, not ${expected}`);
					}
				}
			};
			await Promise.all(Array.from({ length: 20 }, sender));
			return total / ((Date.now() - begun) / 1000);
		};
	const shared = { unit: 'per second', more: 'better' } as const;
	const { sides } = await inTurn(
		{ ...shared, name: 'Postbacks' },
		{
			'Pay Trigger': perSecond(trigger),
			'bare trigger': perSecond(bareTrigger),
			Webhook: perSecond(webhook),
			'Webhook and Code': perSecond(verifying),
		},
		QUICK ? ROUNDS : 2 * ROUNDS,
	);
	const beside = (other: string) => ({
		'Pay Trigger': sides['Pay Trigger'] ?? [],
		[other]: sides[other] ?? [],
	});
	return [
		{
			...shared,
			name: 'Postbacks: Pay Trigger, signed / a trigger node that checks nothing',
			goal: 0.9,
			sides: beside('bare trigger'),
		},
		{
			...shared,
			name: "Postbacks: Pay Trigger, signed / n8n's own Webhook node",
			goal: 0.95,
			sides: beside('Webhook'),
			outOfReach: ISOLATE,
		},
		{
			...shared,
			name: 'Postbacks: Pay Trigger, signed / Webhook and a Code node that verifies the same',
			goal: 1,
			sides: beside('Webhook and Code'),
			outOfReach: ISOLATE,
		},
		await inTurn(
			{ ...shared, name: 'Forged postbacks refused: Pay Trigger / Webhook with header auth' },
			{ 'Pay Trigger': perSecond(unsigned, 401), Webhook: perSecond(guarded, 403) },
		),
	];
}

/** Time, memory and what is stored, each run in a process that has done nothing else: a peak stays. */
async function growth(tarball: string, service: Service): Promise<Comparison[]> {
	const counts = QUICK ? [] : [100, 1000, 10_000];
	const most = QUICK ? 1000 : 10_000;
	const n8n = await N8n.start({ version: 'n8n2', tarball });
	try {
		const { payApi, bearer } = await credentials(n8n, service.url);
		const paying = await publish(n8n, payments(HUNDRED_AT_ONCE), payApi);
		const charging = await publish(n8n, qrCodes(), payApi);
		const http = await publish(n8n, httpRequest(service.url, bearer), payApi);
		const rows: Record<'time' | 'peak' | 'bytes' | 'ledger', Record<string, number[]>> = {
			time: {},
			peak: {},
			bytes: {},
			ledger: {},
		};
		const fresh = async (side: string, published: Published, count: number) => {
			await n8n.kill();
			await n8n.launch();
			await until(
				'the webhook',
				async () => (await fetch(n8n.url + published.path)).status === 404,
			);
			const time = await costPerItem(n8n, published, count);
			const { bytes, ledger } = stored(n8n, published);
			const found = { time, peak: n8n.memory('peak'), bytes: bytes / count, ledger };
			say(`Growth, ${side} of ${count}: ${JSON.stringify(found)}`);
			for (const [row, value] of Object.entries(found)) {
				(rows[row as keyof typeof rows][side] ??= []).push(value);
			}
		};
		const rounds = QUICK ? 1 : 3;
		for (let round = 1; round <= rounds; round++) {
			for (const count of counts.toReversed()) await fresh(`${count} payments`, paying, count);
			await fresh('Pay', charging, most);
			await fresh('HTTP Request', http, most);
		}
		const ofPay = (row: keyof typeof rows) =>
			Object.fromEntries(
				counts.map((count) => [`${count} payments`, rows[row][`${count} payments`]!]),
			);
		const beside = (row: keyof typeof rows) => ({
			Pay: rows[row].Pay!,
			'HTTP Request': rows[row]['HTTP Request']!,
		});
		return [
			{
				name: 'Peak memory, QR codes: Pay / HTTP Request',
				unit: 'MB',
				goal: 1,
				sides: beside('peak'),
			},
			{
				name: 'Stored execution, QR codes: Pay / HTTP Request',
				unit: 'bytes per item',
				sides: beside('bytes'),
			},
			{ name: 'Payments, 100 at once: time', unit: 'ms per item', sides: ofPay('time') },
			{ name: 'Payments, 100 at once: peak memory of n8n', unit: 'MB', sides: ofPay('peak') },
			{
				name: 'Payments, 100 at once: stored execution',
				unit: 'bytes per item',
				sides: ofPay('bytes'),
			},
			{ name: 'Payments, 100 at once: the ledger in it', unit: 'bytes', sides: ofPay('ledger') },
		];
	} finally {
		await n8n.stop();
	}
}

async function queueMode(tarball: string, service: Service): Promise<Comparison[]> {
	const queue = await QueueMode.start({ version: 'n8n2', tarball, workers: 1 });
	try {
		const { main } = queue;
		const { payApi } = await credentials(main, service.url);
		const pay = await publish(main, qrCodes(), payApi, 'onReceived');
		const idle = await publish(main, noOp('Work'), payApi, 'onReceived');
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
		/** Executions of ten items each that end per second. */
		const perSecond = (published: Published) => async () => {
			const before = await ended(published);
			const begun = Date.now();
			const url = queue.webhook.url + published.path;
			let left = total;
			const sender = async () => {
				while (left-- > 0) await send(url, 10);
			};
			await Promise.all(Array.from({ length: 10 }, sender));
			const allEnded = async () => (await ended(published)) >= before + total;
			await until('all executions to end', allEnded, 120);
			return total / ((Date.now() - begun) / 1000);
		};
		/** What an execution costs each process; main answers ten questions a second besides. */
		const shares = async (what: string, published: Published): Promise<Comparison> => {
			const sides: Record<string, number[]> = {};
			for (let round = 0; round <= ROUNDS; round++) {
				const before = queue.processorTimes;
				const rate = await perSecond(published)();
				say(`Queue mode, ${what}, round ${round} of ${ROUNDS}: ${rate.toPrecision(3)} per second`);
				for (const [process, time] of Object.entries(queue.processorTimes)) {
					if (round > 0) (sides[process] ??= []).push((time - before[process]!) / total);
				}
			}
			return {
				name: `Queue mode, 1 worker: processor time of ${what}`,
				unit: 'ms per execution',
				sides,
			};
		};
		const both = async (workers: string) =>
			await inTurn(
				{
					name: `Queue mode, ${workers}: 10 QR codes with Pay / no-op workflow`,
					unit: 'executions per second',
					more: 'better',
				},
				{ Pay: perSecond(pay), 'No-op': perSecond(idle) },
			);
		const found = [
			await both('1 worker'),
			await shares('a no-op workflow', idle),
			await shares('10 QR codes with Pay', pay),
		];
		const paying = await publish(main, payments(HUNDRED_AT_ONCE), payApi, 'onReceived');
		await send(queue.webhook.url + paying.path, remembered);
		await until('the list to be full', async () => (await ended(paying)) === 1, 300);
		found.push(await shares(`10 payments at once, ${remembered} remembered`, paying));
		for (const workers of [2, 3, 4]) {
			await queue.addWorker();
			found.push(await both(`${workers} workers`));
		}
		return found;
	} finally {
		await queue.stop();
	}
}

async function main() {
	const wanted = (part: string) => ONLY === undefined || ONLY.split(',').includes(part);
	const tarball = await packPackage();
	const service = await startService();
	const found: Comparison[] = [];
	try {
		if (['requests', 'duplicates', 'postbacks'].some(wanted)) {
			const n8n = await N8n.start({
				version: 'n8n2',
				tarball,
				// The Code node of the comparison verifies an HMAC.
				env: { N8N_CUSTOM_EXTENSIONS: __dirname, NODE_FUNCTION_ALLOW_BUILTIN: 'crypto' },
			});
			try {
				if (wanted('requests')) found.push(...(await requests(n8n, service)));
				if (wanted('duplicates')) found.push(...(await duplicateCheck(n8n, service)));
				if (wanted('postbacks')) found.push(...(await postbacks(n8n, service)));
			} finally {
				await n8n.stop();
			}
		}
		if (wanted('growth')) found.push(...(await growth(tarball, service)));
		if (wanted('queue') && !QUICK) found.push(...(await queueMode(tarball, service)));
	} finally {
		service.close();
	}
	report(found, QUICK);
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
