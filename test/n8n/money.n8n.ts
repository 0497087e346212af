import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import {
	CASES,
	expectedArrivals,
	MAX_TRIES,
	SETTINGS,
	startFaults,
	type Faults,
} from '../faultCases';
import { call, chain, node, noOp, pay, splitItems, start } from '../../dev/workflow';
import { allFinished, startN8n, VERSIONS } from './nodes';

/** Two processes on one database need one key. */
const KEY = randomUUID();
/** A token that is nowhere else, so that finding it means it leaked. */
const TOKEN = `token-${randomUUID()}`;

/** Its executions are all cases; test/engine/items.test.ts has all with all settings. */
const ALL_CASES_WITH = SETTINGS.at(-1)!;
/** One for each way in which an engine may deal with an outcome. */
const ONE_OF_EACH = CASES.filter(({ name }) =>
	/^(DNS|reset after the body|200 with error object|201|307 to .*|422|500|407.*)$/.test(name),
);

/** A file's bytes; none if it is gone: SQLite takes its journal away while n8n runs. */
function contentOf(file: string): Buffer {
	try {
		return readFileSync(file);
	} catch (error) {
		if ((error as { code?: string }).code !== 'ENOENT') throw error;
		return Buffer.alloc(0);
	}
}

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let faults: Faults;
	let payApi: { id: string; name: string };
	beforeAll(async () => {
		faults = await startFaults();
		n8n = await startN8n(version, { env: { N8N_LOG_LEVEL: 'debug', N8N_ENCRYPTION_KEY: KEY } });
		payApi = await n8n.createCredential({ baseUrl: faults.sandbox.url, accessToken: TOKEN });
	});
	afterAll(async () => {
		await n8n?.stop();
		await faults?.close();
	});
	beforeEach(() => {
		faults.sandbox.received.length = 0;
	});

	const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
	const itemsFor = (list: string[]) => list.map((id) => ({ id, amount: 1 }));
	const FROM_ITEM = { amount: '={{ $json.amount }}', external_id: '={{ $json.id }}' };

	/** Publishes Start -> Items -> Pay and gives its address and id. */
	async function payList(parameters: object, settings: object = {}, credential = payApi) {
		const first = start();
		const workflow = chain('Pay a list', [
			first,
			splitItems(),
			pay('Pay', { ...FROM_ITEM, ...parameters }, settings),
		]);
		const id = await n8n.importWorkflow(workflow, { payApi: credential });
		await n8n.activate(id);
		return { id, path: first.webhookId };
	}

	test('the fault matrix: every outcome as designed, nothing with a lost answer sent twice', async () => {
		const credential = {
			baseUrl: '={{ $json.body.baseUrl }}',
			accessToken: TOKEN,
			allowHttp: true,
		};
		const byExpression = await n8n.createCredential(credential);
		const rows = new Map<string, string[]>();
		let runs = 0;
		/** Cases with one setting of the node. */
		const runAll = async (settings: (typeof SETTINGS)[number]) => {
			const cases = settings === ALL_CASES_WITH ? CASES : ONE_OF_EACH;
			const first = start();
			const node = pay(
				'Pay',
				{
					amount: 1,
					external_id: '={{ $json.body.id }}',
					options: { timeout: '={{ $json.body.timeout }}' },
				},
				{ ...settings, maxTries: MAX_TRIES },
			);
			const workflow = chain('Matrix', [first, node, noOp('Success'), noOp('Error')]);
			const link = (name: string) => [{ node: name, type: 'main', index: 0 }];
			workflow.connections.Pay = { main: [link('Success'), link('Error')] };
			delete workflow.connections.Success;
			const id = await n8n.importWorkflow(workflow, { payApi: byExpression });
			await n8n.activate(id);

			const asked = cases.map((each) => {
				const external_id = `${each.name}|${randomUUID()}`;
				const baseUrl = faults.baseUrl(each, external_id);
				// Several hundred executions share one process: a time-out must not pass before the request.
				return { each, id: external_id, baseUrl, timeout: 5 * (each.timeout ?? 2_000) };
			});
			for (const { each: _, ...body } of asked) await call(n8n, first.webhookId, body);
			const executions = await allFinished(n8n, id, asked.length);
			const mine = (external_id: string) =>
				executions.find(
					(one) => (itemsOf(one, 'Start')[0]?.body as { id: string }).id === external_id,
				)!;

			for (const { each, id: external_id } of asked) {
				runs++;
				const execution = mine(external_id);
				const { error } = execution.data.resultData as { error?: Record<string, unknown> };
				const [success] = itemsOf(execution, 'Success');
				const [failed] = itemsOf(
					execution,
					settings.onError === 'continueErrorOutput' ? 'Error' : 'Success',
				);
				const facts =
					each.outcome === 'accepted'
						? success
						: settings.onError === 'stopWorkflow'
							? ((error?.context as Record<string, unknown>)?.data as Record<string, unknown>)
							: (failed?.error as Record<string, unknown>);
				const where = `${each.name}, ${settings.onError}, retry ${settings.retryOnFail}`;
				expect([where, facts]).toStrictEqual([
					where,
					expect.objectContaining({ external_id, kind: 'payment', outcome: each.outcome }),
				]);
				const count = faults.arrivals(external_id);
				expect([where, count]).toStrictEqual([where, expectedArrivals(each, settings.retryOnFail)]);
				expect(JSON.stringify([error ?? null, facts])).not.toMatch(
					/try again later|retry the request|retry on fail/i,
				);
				const row = rows.get(each.name) ?? [each.outcome, ...SETTINGS.map(() => '')];
				row[1 + SETTINGS.indexOf(settings)] = String(count);
				rows.set(each.name, row);
			}
		};
		await Promise.all(SETTINGS.map(runAll));
		expect(faults.elsewhere.received).toStrictEqual([]);
		const titles = SETTINGS.map(
			({ retryOnFail, onError }) =>
				`${onError.replace('Output', '')}${retryOnFail ? '+retry' : ''}`,
		);
		console.log(
			[
				`n8n ${version}: ${runs} runs; arrivals of each payment`,
				`fault | outcome | ${titles.join(' | ')}`,
			]
				.concat([...rows].map(([name, cells]) => [name, ...cells].join(' | ')))
				.join('\n'),
		);
	});

	test("the editor's Retry of a failed execution pays only what was not paid", async () => {
		const list = ids(3);
		let refusals = 1;
		const ordered = faults.sandbox.faultFor;
		faults.sandbox.faultFor = ({ body }) =>
			body.includes(list[1]!) && refusals-- > 0 ? { kind: 'status', status: 422 } : undefined;
		const { id, path } = await payList({});
		await call(n8n, path, { items: itemsFor(list) });
		const [failed] = await allFinished(n8n, id, 1);
		expect(failed?.status).toBe('error');
		await n8n.rest('POST', `/executions/${failed?.id}/retry`, { loadWorkflow: true });
		const [retried] = await allFinished(n8n, id, 2);
		faults.sandbox.faultFor = ordered;
		expect(retried?.status).toBe('success');
		expect(itemsOf(retried!, 'Pay').map(({ external_id }) => external_id)).toStrictEqual(list);
		expect(list.map((external_id) => faults.arrivals(external_id))).toStrictEqual([1, 2, 1]);
	});

	test.each([
		['the time', "={{ $json.id + '-' + $now.toMillis() }}"],
		['chance', "={{ $json.id + '-' + Math.random().toString(36).slice(2) }}"],
	])(
		'an External ID that changes with %s: Retry On Fail pays once after a lost answer',
		async (_what, external_id) => {
			const [one] = ids(1) as [string];
			const ordered = faults.sandbox.faultFor;
			faults.sandbox.faultFor = () => ({ kind: 'reset-after-body' });
			const { id, path } = await payList({ external_id }, { retryOnFail: true, maxTries: 3 });
			await call(n8n, path, { items: itemsFor([one]) });
			const [failed] = await allFinished(n8n, id, 1);
			faults.sandbox.faultFor = ordered;
			const sent = faults.sandbox.bodies('payment').map((body) => String(body.external_id));
			expect(sent).toStrictEqual([expect.stringContaining(one)]);
			expect(failed?.data.resultData.error?.message).toContain(sent[0]);
		},
	);

	test("an External ID that holds $execution.id: the editor's Retry does not pay again", async () => {
		const list = ids(2);
		const ordered = faults.sandbox.faultFor;
		faults.sandbox.faultFor = ({ body }) =>
			body.includes(list[1]!) ? { kind: 'reset-after-body' } : undefined;
		const external_id = "={{ $json.id + '-' + $execution.id }}";
		const { id, path } = await payList({ external_id });
		await call(n8n, path, { items: itemsFor(list) });
		const [failed] = await allFinished(n8n, id, 1);
		faults.sandbox.faultFor = ordered;
		await n8n.rest('POST', `/executions/${failed?.id}/retry`, { loadWorkflow: true });
		const [retried] = await allFinished(n8n, id, 2);
		const sent = faults.sandbox.bodies('payment').map(({ external_id: each }) => each);
		expect(sent).toStrictEqual(list.map((each) => `${each}-${failed?.id}`));
		expect(retried?.data.resultData.error?.message).toContain(`${list[1]}-${failed?.id}`);
	});

	const NOPE = '={{ $json.nope }}';
	test.each<[string, object, RegExp]>([
		['Recipient as one expression', { creditParty: '={{ $json.to }}' }, /^Recipient /],
		['Options as one expression', { options: NOPE }, /Options|options/],
		['Batching as one expression', { options: { binaryData: true, batching: NOPE } }, /atching/],
		['a key that finds nothing', { creditParty: { key: NOPE } }, /^Key .* gives nothing/],
		['a key of blanks', { creditParty: { key: '={{ "  " }}' } }, /^Key /],
		['a leftover in a name', { creditParty: { key: 'k', name: '=to {{ {} }}' } }, /^Name /],
		['a description that finds nothing', { payerQuestion: NOPE }, /^Description .* gives nothing/],
		[
			'additional members with a fee that is no number',
			{ options: { binaryData: true, additionalMembers: '={{ { fee: Number("x") } }}' } },
			/^Additional Members /,
		],
		[
			'a split as one expression',
			{ resource: 'qrCode', specifySplit: 'fields', split: '={{ $json.to }}' },
			/^Split Recipients /,
		],
		[
			'a split without a recipient',
			{ resource: 'qrCode', specifySplit: 'fields' },
			/^Split Recipients /,
		],
		[
			'a split of no JSON',
			{ resource: 'qrCode', specifySplit: 'json', splitJson: NOPE },
			/^Split \(JSON\) /,
		],
	])('what was filled in arrives, or nothing is sent: %s', async (_what, parameters, words) => {
		const { id, path } = await payList(parameters, { onError: 'continueRegularOutput' });
		const item = { id: randomUUID(), amount: 1, to: { key: 'k', recipient: [{ username: 'a' }] } };
		await call(n8n, path, { items: [item] });
		const [execution] = await allFinished(n8n, id, 1);
		expect(itemsOf(execution!, 'Pay')).toStrictEqual([
			{ error: expect.objectContaining({ message: expect.stringMatching(words) }) },
		]);
		expect(faults.sandbox.received).toStrictEqual([]);
	});

	test('no payment goes out above a limit of its account, nor a list above the sum', async () => {
		const limited = await n8n.createCredential({
			...{ baseUrl: faults.sandbox.url, accessToken: TOKEN, limitPayments: true },
			...{ highestPayment: '5', highestSum: '8', onlyRecipients: 'ana\ncid' },
		});
		const fields = { creditParty: { key: '={{ $json.key }}', keyType: '' } };
		const { id, path } = await payList(fields, { onError: 'continueRegularOutput' }, limited);
		const lists: Array<[Array<[amount: number, key: string]>, unknown[]]> = [
			[
				[
					[4, 'ana'],
					[4, 'cid'],
				],
				['accepted', 'accepted'],
			],
			[
				[
					[6, 'ana'],
					[1, 'bob'],
					[2, 'ana'],
				],
				['notSent: amount', 'notSent: creditParty.key', 'accepted'],
			],
			[
				[
					[4, 'ana'],
					[4, 'ana'],
					[1, 'ana'],
				],
				['notSent: amount', 'notSent: amount', 'notSent: amount'],
			],
		];
		for (const [index, [list, expected]] of lists.entries()) {
			const items = list.map(([amount, key]) => ({ id: randomUUID(), amount, key }));
			await call(n8n, path, { items });
			const [execution] = await allFinished(n8n, id, index + 1);
			const told = itemsOf(execution!, 'Pay').map(({ outcome, error }) => {
				const refused = error as { outcome: string; field: string } | undefined;
				return refused ? `${refused.outcome}: ${refused.field}` : outcome;
			});
			expect([index, told]).toStrictEqual([index, expected]);
		}
		const amounts = faults.sandbox.bodies('payment').map(({ amount }) => amount);
		expect(amounts).toStrictEqual([4, 4, 2]);
	});

	test('a list of 10,001 that is run three times is paid once', async () => {
		const list = ids(10_001);
		const options = { binaryData: true, batching: { batch: { batchSize: 1000 } } };
		const { id, path } = await payList({ options }, { onError: 'continueRegularOutput' });
		for (const run of [1, 2, 3]) {
			await call(n8n, path, { items: itemsFor(list) });
			const [execution] = await allFinished(n8n, id, run);
			const sent = faults.sandbox.bodies('payment').map(({ external_id }) => external_id);
			expect([execution?.status, sent.length, new Set(sent).size]).toStrictEqual([
				...['success', list.length, list.length],
			]);
		}
	});

	test('of 20 executions with one id at the same time, one pays', async () => {
		const [same] = ids(1) as [string];
		const { id, path } = await payList({});
		await Promise.all(
			Array.from({ length: 20 }, async () => await call(n8n, path, { items: itemsFor([same]) })),
		);
		const executions = await allFinished(n8n, id, 20);
		const passed = executions.filter(({ status }) => status === 'success').length;
		console.log(`n8n ${version}: of 20 simultaneous executions with one id, ${passed} passed`);
		expect(faults.arrivals(same)).toBe(1);
		expect(passed).toBe(1);
		for (const { data } of executions.filter(({ status }) => status !== 'success')) {
			expect(data.resultData.error?.message).toMatch(/was not sent again/);
		}
	});

	test('of 20 simultaneous executions with one id in two processes, at most one of each passes', async () => {
		const second = await startN8n(version, {
			userFolder: n8n.userFolder,
			tarball: undefined,
			env: { N8N_ENCRYPTION_KEY: KEY },
		});
		const [same] = ids(1) as [string];
		const { id, path } = await payList({});
		const both = [n8n, second];
		await Promise.all(
			Array.from({ length: 20 }, async (_, index) => {
				const body = { items: itemsFor([same]) };
				await call(both[index % 2]!, path, body);
			}),
		);
		await allFinished(n8n, id, 20);
		await second.stop();
		console.log(
			`n8n ${version}: of 20 simultaneous executions with one id in two processes, ${faults.arrivals(same)} passed`,
		);
		// One at a time within each process, so at most one passes in each.
		expect(faults.arrivals(same)).toBeGreaterThanOrEqual(1);
		expect(faults.arrivals(same)).toBeLessThanOrEqual(2);
	});

	const dedupe = (parameters: object) =>
		node('Dedupe', 'n8n-nodes-base.removeDuplicates', parameters, { typeVersion: 2 });
	const seen = (options: object) => ({
		operation: 'removeItemsSeenInPreviousExecutions',
		logic: 'removeItemsWithAlreadySeenKeyValues',
		dedupeValue: '={{ $json.order }}',
		options: { scope: 'workflow', ...options },
	});
	test.each<[string, object, number]>([
		[
			'that clears its history',
			{
				operation: 'clearDeduplicationHistory',
				mode: 'cleanDatabase',
				options: { scope: 'workflow' },
			},
			40,
		],
		[
			'that counts up',
			{
				operation: 'removeItemsSeenInPreviousExecutions',
				logic: 'removeItemsUpToStoredIncrementalKey',
				incrementalDedupeValue: '={{ $json.n }}',
				options: { scope: 'workflow' },
			},
			40,
		],
		['in 40 executions at once', seen({ historySize: 10_000 }), 40],
	])(
		'beside a Remove Duplicates node of the workflow %s, nothing is paid twice',
		async (_what, parameters, count) => {
			const first = start();
			const settings = { onError: 'continueRegularOutput' };
			const nodes = [first, splitItems(), dedupe(parameters), pay('Pay', FROM_ITEM, settings)];
			const id = await n8n.importWorkflow(chain('Beside', nodes), { payApi });
			await n8n.activate(id);
			const list = ids(count);
			let n = 0;
			const item = (external_id: string) => ({
				id: external_id,
				amount: 1,
				order: randomUUID(),
				n: ++n,
			});
			// One first: n8n's first record of a row has a lock that later ones lack.
			await call(n8n, first.webhookId, { items: [item(randomUUID())] });
			await allFinished(n8n, id, 1);
			await Promise.all(
				list.map(async (each) => await call(n8n, first.webhookId, { items: [item(each)] })),
			);
			await allFinished(n8n, id, 1 + count);
			await call(n8n, first.webhookId, { items: list.map(item) });
			const [last] = await allFinished(n8n, id, 2 + count);
			const outcomes = itemsOf(last!, 'Pay').map(
				({ error }) => (error as { outcome?: string } | undefined)?.outcome,
			);
			const counts = list.map((external_id) => faults.arrivals(external_id));
			// A node that counts up drops what comes out of order; what reaches Pay is a duplicate or new.
			expect(counts).toStrictEqual(list.map(() => 1));
			expect(outcomes.length).toBeGreaterThan(0);
			expect(outcomes.filter((outcome) => outcome === 'duplicate').length).toBeGreaterThan(0);
		},
	);

	test('a service that echoes the headers brings no token into what n8n keeps', async () => {
		const [id] = ids(1) as [string];
		const ordered = faults.sandbox.faultFor;
		faults.sandbox.faultFor = ({ headers }) => {
			return { kind: 'status', status: 400, body: JSON.stringify({ headers }) };
		};
		const { id: workflow, path } = await payList({});
		await call(n8n, path, { items: itemsFor([id]) });
		const [failed] = await allFinished(n8n, workflow, 1);
		faults.sandbox.faultFor = ordered;
		expect(failed?.data.resultData.error?.description).toContain('Bearer ***');
	});

	test('beside a Remove Duplicates node of the workflow with room for its own six values, payments are remembered and take none of it', async () => {
		const first = start();
		const settings = { onError: 'continueRegularOutput' };
		// That node refuses items beyond its history: shared with payments it would be full after three.
		const keepsSix = dedupe(seen({ historySize: 6 }));
		const nodes = [first, splitItems(), keepsSix, pay('Pay', FROM_ITEM, settings)];
		const id = await n8n.importWorkflow(chain('Beside', nodes), { payApi });
		await n8n.activate(id);
		const list = ids(5);
		for (const [n, external_id] of [...list, list[0]!].entries()) {
			const item = { id: external_id, amount: 1, order: randomUUID() };
			await call(n8n, first.webhookId, { items: [item] });
			await allFinished(n8n, id, n + 1);
		}
		const [last] = await allFinished(n8n, id, 6);
		expect(itemsOf(last!, 'Pay')).toStrictEqual([
			{ error: expect.objectContaining({ outcome: 'duplicate', external_id: list[0] }) },
		]);
		expect(list.map((external_id) => faults.arrivals(external_id))).toStrictEqual([1, 1, 1, 1, 1]);
	});

	test('n8n offers Pay as a tool for AI agents, and the trigger not', async () => {
		const types = await (
			await fetch(`${n8n.url}/types/nodes.json`, { headers: { Cookie: n8n.session } })
		).json();
		const names = (types as Array<{ name: string }>).map(({ name }) => name);
		expect(names).toContain('n8n-nodes-pay.pay');
		expect(names).toContain('n8n-nodes-pay.payTool');
		expect(names).not.toContain('n8n-nodes-pay.payTriggerTool');
	});

	test('killed with payments in flight: after a restart no id arrives twice', async () => {
		const list = ids(50);
		const ordered = faults.sandbox.faultFor;
		faults.sandbox.faultFor = () => ({ kind: 'delay', ms: 400 });
		const { id, path } = await payList(
			{ options: { batching: { batch: { batchSize: 10 } } } },
			{ onError: 'continueRegularOutput' },
		);
		await call(n8n, path, { items: itemsFor(list) });
		await until('25 payments to arrive', async () => faults.sandbox.bodies('payment').length >= 25);
		await n8n.kill();
		const before = faults.sandbox.bodies('payment').length;
		await n8n.launch();
		faults.sandbox.faultFor = ordered;
		await until('the webhook', async () => (await call(n8n, path, { items: itemsFor(list) })).ok);
		const again = await until('the second run', async () => {
			const finished = await allFinished(n8n, id, 2);
			return finished.find(({ status }) => status === 'success');
		});
		const items = itemsOf(again, 'Pay');
		const refused = items.filter(
			(item) => (item.error as { outcome?: string })?.outcome === 'duplicate',
		);
		const counts = list.map((external_id) => faults.arrivals(external_id));
		console.log(
			`n8n ${version}: killed after ${before} of 50 payments had arrived; run again: ${refused.length} refused, ${items.length - refused.length} paid; most arrivals of one id: ${Math.max(...counts)}`,
		);
		expect(Math.max(...counts)).toBe(1);
		expect(items).toHaveLength(50);
		expect(refused.length).toBeGreaterThanOrEqual(before);
		for (const { error } of refused) {
			expect((error as { message: string }).message).toMatch(/was not sent again/);
		}
	});

	test('the access token is in no execution, no log line at debug level, no error', async () => {
		const [paid] = ids(1);
		const { id, path } = await payList({});
		const before = n8n.log.length;
		await call(n8n, path, { items: itemsFor([paid!]) });
		await allFinished(n8n, id, 1);
		const holding = (text: string) =>
			readdirSync(n8n.userFolder, { recursive: true, withFileTypes: true })
				.filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
				.map(({ parentPath, name }) => join(parentPath, name))
				.filter((file) => contentOf(file).includes(text));
		// The same search finds what was paid, and the log has the run's last line, of debug level.
		await until('what was paid to be found', async () =>
			holding(paid!).some((file) => file.includes('database.sqlite')),
		);
		await until('the end of the run in the log', async () =>
			n8n.log.slice(before).includes('Workflow execution finished successfully'),
		);
		expect(holding(TOKEN)).toStrictEqual([]);
	});
});
