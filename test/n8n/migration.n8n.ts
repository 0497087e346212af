import { readdirSync } from 'node:fs';
import { chain, start } from '../../dev/workflow';
import { example } from '../../dev/demo';
import type { N8n } from '../../dev/n8n';
import { EXAMPLES } from './editorPage';
import { startN8n, VERSIONS } from './nodes';

/** What is read of n8n's own report on what n8n 3 breaks (Settings, Migration report). */
interface Report {
	instanceResults: Array<{ ruleId: string }>;
	workflowResults: Array<{ ruleId: string; nbAffectedWorkflows: number }>;
}

/** Has it looked for anew: n8n keeps the last one. */
async function reportOf(n8n: N8n): Promise<Report> {
	const path = '/breaking-changes/report/refresh?version=v3';
	const { data } = await n8n.rest<{ data: { report: Report } }>('POST', path);
	return data.report;
}

/** What it finds in workflows: each rule, and in how many. */
const findingsIn = ({ workflowResults }: Report) =>
	workflowResults.map(({ ruleId, nbAffectedWorkflows }) => [ruleId, nbAffectedWorkflows]);

const rulesOfInstance = ({ instanceResults }: Report) =>
	instanceResults.map(({ ruleId }) => ruleId);

/** One of the workflows that n8n 3 breaks. */
const brokenByN8n3 = chain('Once for each', [
	start(),
	{
		name: 'Each',
		type: 'n8n-nodes-base.executeWorkflow',
		typeVersion: 1.3,
		position: [200, 0],
		parameters: { mode: 'each', workflowId: { __rl: true, mode: 'id', value: '1' } },
	},
]);

// n8n 1 has no such report.
describe.each(VERSIONS.filter((version) => version !== 'n8n1'))('n8n %s', (version) => {
	test('finds no example that n8n 3 breaks', async () => {
		const n8n = await startN8n(version);
		try {
			for (const file of readdirSync(EXAMPLES).filter((name) => name.endsWith('.json'))) {
				await n8n.importWorkflow(example(file.replace('.json', '')));
			}
			const report = await reportOf(n8n);
			expect(findingsIn(report)).toStrictEqual([]);
			// docs/update.md says what to set.
			expect(rulesOfInstance(report)).toContain('unverified-packages-v3');
			// It does look into workflows.
			await n8n.importWorkflow(brokenByN8n3);
			expect(findingsIn(await reportOf(n8n))).toStrictEqual([['execute-workflow-each-mode-v3', 1]]);
		} finally {
			await n8n.stop();
		}
	});

	test('finds nothing about packages where the variable of docs/update.md is set', async () => {
		const env = { N8N_UNVERIFIED_PACKAGES_ENABLED: 'true' };
		const n8n = await startN8n(version, { env });
		try {
			expect(rulesOfInstance(await reportOf(n8n))).not.toContain('unverified-packages-v3');
		} finally {
			await n8n.stop();
		}
	});
});
