import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../dev/children';
import { itemsOf, until, type Execution, type N8n, type Workflow } from '../../dev/n8n';
import { chain, node, noOp, pay, splitItems, start } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { nightly } from './nightly';
import {
	credentialFor,
	errorFactsOf,
	newIds,
	outcomesOf,
	payEach,
	publish,
	startN8n,
	VERSIONS,
	withN8n,
	type Credential,
} from './nodes';

const CONTINUE = { onError: 'continueRegularOutput' };

/** A workflow's JSON as people keep it in a repository: no node has an id. Its Pay node has another name. */
function deployable({ name, nodes, connections }: Workflow, payNode: string) {
	const bare = nodes.map(({ id, ...rest }) => rest);
	const json = { name, nodes: bare, connections, settings: { executionOrder: 'v1' } };
	return JSON.parse(JSON.stringify(json).replaceAll('"Pay"', `"${payNode}"`)) as typeof json;
}

type Run = (...items: object[]) => Promise<Execution>;

/** Runs a workflow until n8n has the version that has this node: n8n 2 publishes in the background. */
async function runWith(name: string, run: Run, items: object[]): Promise<Execution> {
	return await until(`the version with "${name}"`, async () => {
		const execution = await run(...items);
		return name in execution.data.resultData.runData && execution;
	});
}

const itemsFor = (ids: string[]) => ids.map((id) => ({ id }));

/** Calls n8n's public API. */
async function publicApi(n8n: N8n) {
	const { data: scopes } = await n8n.rest<{ data: string[] }>('GET', '/api-keys/scopes');
	const { data } = await n8n.rest<{ data: { rawApiKey: string } }>('POST', '/api-keys', {
		label: randomUUID(),
		expiresAt: null,
		scopes: scopes.filter((scope) => scope.startsWith('workflow:')),
	});
	return async (method: string, path: string, body: unknown) => {
		const response = await fetch(`${n8n.url}/api/v1${path}`, {
			method,
			headers: { 'X-N8N-API-KEY': data.rawApiKey, 'Content-Type': 'application/json' },
			body: JSON.stringify(body),
		});
		return response.status;
	};
}

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));
	beforeEach(() => {
		sandbox.received.length = 0;
	});

	test('a Pay node says what it has paid; one that is made anew in its place refuses that too', async () => {
		const { id, run } = await publish(n8n, payEach({}, CONTINUE), payApi);
		const list = itemsFor(newIds(2));
		expect(outcomesOf(await run(...list))).toStrictEqual(['accepted', 'accepted']);
		for (const { error } of itemsOf(await run(...list), 'Pay'))
			expect((error as Error).message).toContain('was accepted earlier in this workflow');
		const { versionId, ...before } = await n8n.workflow(id);
		const { nodes, connections } = deployable(before, 'Pay too');
		const withIds = nodes.map((each) => ({ ...each, id: randomUUID() }));
		await n8n.rest('PATCH', `/workflows/${id}`, { nodes: withIds, connections, versionId });
		await n8n.activate(id);
		const again = await runWith('Pay too', run, list);
		expect(outcomesOf(again, 'Pay too')).toStrictEqual(['duplicate', 'duplicate']);
		expect(sandbox.bodies('payment')).toHaveLength(2);
	});

	test('a Remove Duplicates node of the Scope Workflow: the payment is refused, and says which node it is', async () => {
		const remove = node(
			'New rows only',
			'n8n-nodes-base.removeDuplicates',
			{
				operation: 'removeItemsSeenInPreviousExecutions',
				logic: 'removeItemsWithAlreadySeenKeyValues',
				dedupeValue: '={{ $json.id }}',
				options: { scope: 'workflow' },
			},
			{ typeVersion: 2 },
		);
		const paying = pay('Pay', { amount: 1, external_id: '={{ $json.id }}' });
		const workflow = chain('Shared', [start(), splitItems(), remove, paying, noOp('After')]);
		const { run } = await publish(n8n, workflow, payApi);
		const execution = await run(...itemsFor(newIds(1)));
		expect(errorFactsOf(execution)).toMatchObject({ outcome: 'notSent' });
		expect(execution.data.resultData.error?.message).toContain('"New rows only"');
		expect(sandbox.bodies('payment')).toHaveLength(0);
	});

	nightly.test(
		'a workflow that is deployed through the API and on the command line, without node ids, pays nothing twice; one that is made anew does',
		async () => {
			const own = await startN8n(version, { env: { N8N_PUBLIC_API_DISABLED: 'false' } });
			try {
				const account = await credentialFor(sandbox, own);
				const { id, run } = await publish(own, payEach({}, CONTINUE), account);
				const list = itemsFor(newIds(3));
				await run(...list);
				const first = await own.workflow(id);

				const ask = await publicApi(own);
				expect(await ask('PUT', `/workflows/${id}`, deployable(first, 'Deployed'))).toBe(200);
				await own.activate(id);
				const deployed = await runWith('Deployed', run, list);
				expect(outcomesOf(deployed, 'Deployed')).toStrictEqual(Array(3).fill('duplicate'));

				const file = join(temporaryFolder('import'), 'workflow.json');
				const json = { id, active: false, ...deployable(first, 'Imported') };
				writeFileSync(file, JSON.stringify([json]));
				await own.kill();
				// n8n 1's process sometimes crashes as it ends, after it has imported.
				await own.command('import:workflow', `--input=${file}`).catch((error: Error) => {
					if (!error.message.includes('Successfully imported 1 workflow')) throw error;
				});
				await own.launch();
				await own.activate(id);
				const imported = await runWith('Imported', run, list);
				expect(outcomesOf(imported, 'Imported')).toStrictEqual(Array(3).fill('duplicate'));
				expect(sandbox.bodies('payment')).toHaveLength(3);

				// What the record does not survive is another id of the workflow.
				const anew = await publish(own, payEach({}, CONTINUE), account);
				expect(outcomesOf(await anew.run(...list))).toStrictEqual(Array(3).fill('accepted'));
				expect(sandbox.bodies('payment')).toHaveLength(6);
			} finally {
				await own.stop();
			}
		},
	);
});
