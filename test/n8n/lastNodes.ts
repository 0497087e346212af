import { example } from '../../dev/demo';
import type { N8n } from '../../dev/n8n';
import { isNote } from './editorPage';

/** The nodes of an example that lead to no other one. */
function lastNodesOf(name: string): string[] {
	const { nodes, connections } = example(name);
	return nodes
		.filter((node) => !isNote(node) && connections[node.name] === undefined)
		.map((node) => node.name);
}

/** The workflows of an n8n that were made from an example. */
async function workflowsOf(n8n: N8n, name: string): Promise<string[]> {
	const { name: title } = example(name);
	const filter = encodeURIComponent(JSON.stringify({ name: title }));
	type Found = { data: Array<{ id: string; name: string }> };
	const { data } = await n8n.rest<Found>('GET', `/workflows?filter=${filter}`);
	return data.filter((workflow) => workflow.name === title).map(({ id }) => id);
}

/** The executions of a workflow, newest first; n8n gives a hundred at a time. */
async function* executionsOf(n8n: N8n, workflowId: string): AsyncGenerator<string> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId }));
	type Page = { data: { results: Array<{ id: string }>; nextCursor?: string | null } };
	let next: string | undefined = '';
	while (next !== undefined) {
		const path: string = `/executions?filter=${filter}&limit=100${next}`;
		const { results, nextCursor } = (await n8n.rest<Page>('GET', path)).data;
		for (const { id } of results) yield id;
		// n8n 2 has a cursor; n8n 1 has none, and asks for the last execution of the page before.
		const last = results.length < 100 ? undefined : results.at(-1);
		if (nextCursor) next = `&cursor=${encodeURIComponent(nextCursor)}`;
		else next = nextCursor === undefined && last !== undefined ? `&lastId=${last.id}` : undefined;
	}
}

/** The last nodes of an example that no execution has reached so far. */
async function lastNodesNotReached(n8n: N8n, name: string): Promise<string[]> {
	const missing = new Set(lastNodesOf(name));
	for (const workflowId of await workflowsOf(n8n, name)) {
		for await (const id of executionsOf(n8n, workflowId)) {
			const { runData } = (await n8n.execution(id)).data.resultData;
			for (const reached of Object.keys(runData)) missing.delete(reached);
			if (missing.size === 0) return [];
		}
	}
	return [...missing];
}

/** The test that comes last of those that run an example: no way through it was left out. */
export function reachesLastNodes(name: string, running: () => N8n) {
	test(`${name}: these tests reached each of its last nodes`, async () => {
		expect(await lastNodesNotReached(running(), name)).toStrictEqual([]);
	});
}
