import { randomUUID } from 'node:crypto';
import { example } from '../../dev/demo';
import type { N8n, Workflow } from '../../dev/n8n';

const COLUMNS = ['external_id', 'outcome', 'at', 'execution', 'decision', 'source'];

/** The book of the examples "payouts", "in-doubt" and "ask-the-service": a data table, as their notes describe it. */
export async function makeBook(n8n: N8n, columns = COLUMNS) {
	const personal = await n8n.rest<{ data: { id: string } }>('GET', '/projects/personal');
	const tables = `/projects/${personal.data.id}/data-tables`;
	const { data: table } = await n8n.rest('POST', tables, {
		name: `book ${randomUUID().slice(0, 8)}`,
		columns: columns.map((name) => ({ name, type: 'string' })),
	});
	const dataTableId = { __rl: true, mode: 'id', value: table.id };
	return {
		/** The rows, without when and by which execution. */
		rows: async () => {
			const { data } = await n8n.rest<{ data: { data: Array<Record<string, unknown>> } }>(
				'GET',
				`${tables}/${table.id}/rows?take=100`,
			);
			return data.data.map(({ external_id, outcome, decision, source }) => ({
				...{ external_id, outcome, decision, source },
			}));
		},
		add: async (data: object[]) =>
			await n8n.rest('POST', `${tables}/${table.id}/insert`, { data, returnType: 'count' }),
		/** The example as it is after a person has chosen the book. */
		in(name: string): Workflow {
			const workflow = example(name);
			const open = workflow.nodes.find((each) => each.name === 'Open the book')!;
			Object.assign(open.parameters as object, { dataTableId });
			return workflow;
		},
	};
}

/** How a report says when a payment was accepted before. */
export const ACCEPTED_BEFORE = /: accepted on \d+ \w+ \d{4} \(execution \d+\)$/;
