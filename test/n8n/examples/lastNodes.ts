import { example } from '../../../dev/demo';
import type { N8n } from '../../../dev/n8n';
import { isNote } from '../editorPage';

/** The nodes of an example that lead to no other one. */
function lastNodesOf(name: string): string[] {
	const { nodes, connections } = example(name);
	const last = nodes.filter((node) => !isNote(node) && connections[node.name] === undefined);
	return last.map((node) => node.name);
}

/** The workflows of an n8n that were made from an example. */
async function workflowIdsOf(n8n: N8n, name: string): Promise<string[]> {
	const title = example(name).name;
	const filter = encodeURIComponent(JSON.stringify({ name: title }));
	type Found = { data: Array<{ id: string; name: string }> };
	const { data } = await n8n.rest<Found>('GET', `/workflows?filter=${filter}`);
	return data.filter((workflow) => workflow.name === title).map(({ id }) => id);
}

/** The most executions that n8n gives at a time. */
const PAGE_SIZE = 100;

/** Executions of a workflow, newest first. */
interface Page {
	results: Array<{ id: string }>;
	/** n8n 2 alone has it: where the next page begins; null on the last one. */
	nextCursor?: string | null;
}

/** What asks n8n for the page after this one; undefined, where there is none. */
function queryAfter({ results, nextCursor }: Page): string | undefined {
	if (nextCursor === null) return undefined;
	if (nextCursor !== undefined) return `&cursor=${encodeURIComponent(nextCursor)}`;
	// n8n 1 asks for the last execution of the page before.
	if (results.length < PAGE_SIZE) return undefined;
	return `&lastId=${results.at(-1)!.id}`;
}

/** All executions of a workflow, newest first. */
async function executionIdsOf(n8n: N8n, workflowId: string): Promise<string[]> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId }));
	const ids: string[] = [];
	let query: string | undefined = '';
	while (query !== undefined) {
		const path: string = `/executions?filter=${filter}&limit=${PAGE_SIZE}${query}`;
		const page = (await n8n.rest<{ data: Page }>('GET', path)).data;
		for (const { id } of page.results) ids.push(id);
		query = queryAfter(page);
	}
	return ids;
}

/** The last nodes of an example that no execution has reached so far. */
async function lastNodesNotReached(n8n: N8n, name: string): Promise<string[]> {
	const missing = new Set(lastNodesOf(name));
	for (const workflowId of await workflowIdsOf(n8n, name)) {
		for (const id of await executionIdsOf(n8n, workflowId)) {
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
