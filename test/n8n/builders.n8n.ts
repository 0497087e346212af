import { randomUUID } from 'node:crypto';
import { itemsOf, type N8n } from '../../dev/n8n';
import { call, chain, node, pay, splitItems, start } from '../../dev/workflow';
import { Sandbox } from '../../sandbox/service';
import { allFinished, startN8n, VERSIONS } from './nodes';

/** Workflows as people who do not code build them, and rows as their spreadsheets have them. */
describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: { id: string; name: string };
	beforeAll(async () => {
		sandbox = await Sandbox.start();
		n8n = await startN8n(version);
		payApi = await n8n.createCredential({ baseUrl: sandbox.url, accessToken: 'token' });
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});
	beforeEach(() => {
		sandbox.received.length = 0;
		sandbox.faultFor = undefined;
	});

	const CONTINUES = { onError: 'continueRegularOutput' };
	const FIELDS = {
		amount: '={{ $json.amount }}',
		external_id: '={{ $json.id }}',
		creditParty: { key: '={{ $json.key }}', keyType: '' },
	};
	const link = (name: string) => ({ node: name, type: 'main', index: 0 });
	const arrived = () => sandbox.bodies('payment').map(({ external_id }) => external_id);

	test('a spreadsheet: what is plain is paid as it stands, every other row says why not', async () => {
		const first = start();
		const work = pay('Pay', FIELDS, CONTINUES);
		const id = await n8n.importWorkflow(chain('Sheet', [first, splitItems(), work]), { payApi });
		await n8n.activate(id);
		const own = randomUUID();
		const rows: Array<[row: object, told: string, sent?: object]> = [
			[{ id: 1, amount: 10.5, key: 'ana' }, 'accepted', { amount: 10.5 }],
			[{ id: 2, amount: '10.50', key: ' ana ' }, 'accepted', { amount: 10.5 }],
			[{ id: 3, amount: '10,50', key: 'ana' }, 'amount'],
			[{ id: 4, amount: '1.234,56', key: 'ana' }, 'amount'],
			[{ id: 5, amount: '1.000', key: 'ana' }, 'amount'],
			[{ id: 6, amount: '#N/A', key: 'ana' }, 'amount'],
			[{ id: 7, amount: '', key: 'ana' }, 'amount'],
			[{ id: 8, amount: null, key: 'ana' }, 'amount'],
			[{ id: 9, amount: [5], key: 'ana' }, 'amount'],
			[{ id: 10, amount: '2026-11-24', key: 'ana' }, 'amount'],
			[{ id: 11, amount: 5, key: '' }, 'creditParty.key'],
			[{ id: 12, amount: 5 }, 'creditParty.key'],
			[{ id: 13, amount: 5, key: { email: 'ana' } }, 'creditParty.key'],
			[{ id: 14, amount: 5, key: 'ana\u200b' }, 'creditParty.key'],
			[{ amount: 5, key: 'ana' }, 'external_id'],
			[{ id: '  ', amount: 5, key: 'ana' }, 'external_id'],
			[{ id: '1 ', amount: 10.5, key: 'ana' }, 'external_id'],
			[{ id: 15, amount: 5, key: 12_345_678_901 }, 'accepted', { amount: 5 }],
		];
		const items = rows.map(([row]) => ({
			...row,
			...('id' in row && String(row.id).trim() !== '' && { id: `${own}-${String(row.id)}` }),
		}));
		await call(n8n, first.webhookId, { items });
		const [execution] = await allFinished(n8n, id, 1);
		const told = itemsOf(execution!, 'Pay').map(({ outcome, error }) => {
			const refused = error as { field?: string } | undefined;
			return refused ? refused.field : outcome;
		});
		expect(told).toStrictEqual(rows.map(([, expected]) => expected));
		const sent = rows.flatMap(([, , body]) => (body === undefined ? [] : [body]));
		expect(sandbox.bodies('payment').map(({ amount }) => ({ amount }))).toStrictEqual(sent);
	});

	test('a loop whose error branch comes back to it: each payment goes out once', async () => {
		const first = start();
		const loop = node(
			'Loop',
			'n8n-nodes-base.splitInBatches',
			{ batchSize: 1 },
			{ typeVersion: 3 },
		);
		const work = pay('Pay', FIELDS, { onError: 'continueErrorOutput' });
		const workflow = chain('Loop', [first, splitItems(), loop, work]);
		Object.assign(workflow.connections, {
			Loop: { main: [[], [link('Pay')]] },
			Pay: { main: [[link('Loop')], [link('Loop')]] },
		});
		const id = await n8n.importWorkflow(workflow, { payApi });
		await n8n.activate(id);
		const ids = Array.from({ length: 4 }, () => randomUUID());
		const faults: Record<string, number> = { [ids[1]!]: 422, [ids[2]!]: 500 };
		sandbox.faultFor = ({ body }) => {
			const { external_id } = JSON.parse(body) as { external_id: string };
			const status = faults[external_id];
			return status === undefined ? undefined : { kind: 'status', status };
		};
		await call(n8n, first.webhookId, {
			items: ids.map((one) => ({ id: one, amount: 1, key: 'ana' })),
		});
		const [execution] = await allFinished(n8n, id, 1);
		expect([execution!.status, arrived()]).toStrictEqual(['success', ids]);
	});

	test('a sub-workflow, once for each item or for all: called again, it pays nothing again', async () => {
		const sub = chain('Sub', [
			node(
				'When called',
				'n8n-nodes-base.executeWorkflowTrigger',
				{ inputSource: 'passthrough' },
				{ typeVersion: 1.1 },
			),
			pay('Pay', FIELDS, CONTINUES),
		]);
		const subId = await n8n.importWorkflow(sub, { payApi });
		// n8n 2 calls published workflows alone.
		await n8n.activate(subId).catch(() => undefined);
		const ids = Array.from({ length: 3 }, () => randomUUID());
		let runs = 0;
		for (const mode of ['each', 'once', 'each']) {
			const first = start();
			const caller = node(
				'Call',
				'n8n-nodes-base.executeWorkflow',
				{ workflowId: { __rl: true, mode: 'id', value: subId }, mode, options: {} },
				{ typeVersion: 1.2 },
			);
			const parent = chain(`Parent ${(runs += 1)}`, [first, splitItems(), caller]);
			const id = await n8n.importWorkflow(parent);
			await n8n.activate(id);
			await call(n8n, first.webhookId, {
				items: ids.map((one) => ({ id: one, amount: 1, key: 'ana' })),
			});
			const [execution] = await allFinished(n8n, id, 1);
			const told = itemsOf(execution!, 'Call').map(
				({ outcome, error }) => outcome ?? (error as { outcome: string }).outcome,
			);
			const expected = runs === 1 ? 'accepted' : 'duplicate';
			expect([runs, told]).toStrictEqual([runs, ids.map(() => expected)]);
		}
		expect(arrived()).toStrictEqual(ids);
	});
});
