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

/** The executions of a workflow that have ended, newest first, a hundred at a time, as many as n8n gives. */
async function* executionsOf(n8n: N8n, workflowId: string): AsyncGenerator<string> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId }));
	let before = '';
	for (;;) {
		type Found = { data: { results: Array<{ id: string }> } };
		const { data } = await n8n.rest<Found>(
			'GET',
			`/executions?filter=${filter}&limit=100${before}`,
		);
		const last = data.results.at(-1);
		if (last === undefined) return;
		for (const { id } of data.results) yield id;
		before = `&lastId=${last.id}`;
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
