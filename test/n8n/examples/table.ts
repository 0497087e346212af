import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { N8n, Workflow } from '../../../dev/n8n';

export interface Column {
	name: string;
	type: 'string' | 'number';
}

/** The columns of an example's table, as its CSV file and its note say. */
export function columnsOf(example: string, numbers: string[]): Column[] {
	const file = join(__dirname, '..', '..', '..', 'examples', `${example}.csv`);
	const [header = ''] = readFileSync(file, 'utf8').split('\n');
	return header.split(',').map((name) => ({
		name,
		type: numbers.includes(name) ? 'number' : 'string',
	}));
}

/** Makes a data table of n8n, with a name of its own. */
export async function makeTable(n8n: N8n, columns: Column[]) {
	const personal = await n8n.rest<{ data: { id: string } }>('GET', '/projects/personal');
	const tables = `/projects/${personal.data.id}/data-tables`;
	const name = `table ${randomUUID().slice(0, 8)}`;
	const { data: table } = await n8n.rest('POST', tables, { name, columns });
	const path = `${tables}/${table.id}`;
	return {
		path,
		rows: async () => {
			type Rows = { data: { data: Array<Record<string, unknown>> } };
			const rows: Rows['data']['data'] = [];
			// n8n 1 gives 50 at most.
			for (;;) {
				const page = `${path}/rows?take=50&skip=${rows.length}&sortBy=id:asc`;
				const { data } = (await n8n.rest<Rows>('GET', page)).data;
				rows.push(...data);
				if (data.length < 50) return rows;
			}
		},
		add: async (data: object[]) =>
			await n8n.rest('POST', `${path}/insert`, { data, returnType: 'count' }),
		/** What a person does after the import: chooses the table in each node that has one. */
		chooseIn(workflow: Workflow) {
			for (const { type, parameters } of workflow.nodes) {
				if (type !== 'n8n-nodes-base.dataTable') continue;
				Object.assign(parameters as object, {
					dataTableId: { __rl: true, mode: 'id', value: table.id },
				});
			}
			return workflow;
		},
	};
}
