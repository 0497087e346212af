import { randomUUID } from 'node:crypto';
import { example } from '../../../dev/demo';
import type { N8n, Workflow } from '../../../dev/n8n';
import { nodeOf } from '../nodes';

const COLUMNS = [
	'external_id',
	'amount',
	'recipient',
	'number',
	'outcome',
	'at',
	'execution',
	'decision',
	'source',
];

/** A data table of n8n, with a name of its own. */
export async function makeTable(n8n: N8n, columns: object[]) {
	const personal = await n8n.rest<{ data: { id: string } }>('GET', '/projects/personal');
	const tables = `/projects/${personal.data.id}/data-tables`;
	const name = `table ${randomUUID().slice(0, 8)}`;
	const { data: table } = await n8n.rest('POST', tables, { name, columns });
	return {
		path: `${tables}/${table.id}`,
		rows: async () => {
			const path = `${tables}/${table.id}/rows?take=100`;
			type Rows = { data: { data: Array<Record<string, unknown>> } };
			return (await n8n.rest<Rows>('GET', path)).data.data;
		},
		/** What a person does after the import: chooses it in a node. */
		chooseIn(workflow: Workflow, node: string) {
			const dataTableId = { __rl: true, mode: 'id', value: table.id };
			Object.assign(nodeOf(workflow, node).parameters as object, { dataTableId });
		},
	};
}

/** The book of the examples "payouts" and "ask-the-service": a data table, as their notes describe it. */
export async function makeBook(n8n: N8n, columns = COLUMNS) {
	const table = await makeTable(
		n8n,
		columns.map((name) => ({ name, type: 'string' })),
	);
	return {
		/** The rows, without when and by which execution. */
		rows: async () =>
			(await table.rows()).map(({ external_id, amount, recipient, outcome, decision, source }) => ({
				external_id,
				amount,
				recipient,
				outcome,
				decision,
				source,
			})),
		numbers: async () =>
			(await table.rows()).map(({ external_id, number }) => [external_id, number ?? '']),
		add: async (data: object[]) =>
			await n8n.rest('POST', `${table.path}/insert`, { data, returnType: 'count' }),
		/** What a person does under Data tables. */
		addColumn: async (name: string) =>
			await n8n.rest('POST', `${table.path}/columns`, { name, type: 'string' }),
		/** The example, or what it became, as it is after a person has chosen the book. */
		in(name: string, workflow = example(name)): Workflow {
			table.chooseIn(workflow, 'Open the book');
			return workflow;
		},
	};
}

/** Fills in an example's Settings, as a person does; what is not named stays. */
export function enterSettings(workflow: Workflow, values: Record<string, unknown>) {
	const { assignments } = nodeOf(workflow, 'Settings').parameters as {
		assignments: { assignments: Array<{ name: string; value: unknown }> };
	};
	for (const each of assignments.assignments) each.value = values[each.name] ?? each.value;
}
