import { example } from '../../dev/demo';
import { exampleNames } from '../../dev/examples';
import type { Workflow } from '../../dev/n8n';

const NOTE = 'n8n-nodes-base.stickyNote';
const SCHEDULE = 'n8n-nodes-base.scheduleTrigger';

function parametersOf({ nodes }: Workflow, wanted: string): Record<string, unknown> {
	return nodes.find(({ name }) => name === wanted)!.parameters as Record<string, unknown>;
}

describe.each(exampleNames())('%s, as it is pasted,', (name) => {
	const workflow = example(name);

	test('has a note', () => {
		expect(workflow.nodes.map(({ type }) => type)).toContain(NOTE);
	});

	test('has no credentials', () => {
		for (const node of workflow.nodes) expect(node).not.toHaveProperty('credentials');
	});

	test('has no pinned data', () => {
		expect(workflow).not.toHaveProperty('pinData');
	});

	test('has no active schedule', () => {
		const schedules = workflow.nodes.filter(({ type }) => type === SCHEDULE);
		expect(schedules.filter(({ disabled }) => disabled !== true)).toStrictEqual([]);
	});
});

const usesPay = ({ nodes }: Workflow) =>
	nodes.some(({ type }) => type.startsWith('n8n-nodes-pay.'));

test.each(exampleNames().filter((name) => usesPay(example(name))))(
	'the first note of %s says that n8n filled in an account',
	(name) => {
		const { content } = parametersOf(example(name), 'Note');
		expect(content).toContain('n8n filled in one of your accounts, perhaps for real money');
	},
);

test('pay-once and payout-register set the same register up', () => {
	const { query } = parametersOf(example('pay-once'), 'Set up');
	expect(parametersOf(example('payout-register'), 'Set up').query).toBe(query);
});
