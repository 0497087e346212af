import type { IDataObject } from 'n8n-workflow';
import {
	arrived,
	CHARGE,
	CONTINUE,
	errorOf,
	FIELDS,
	ids,
	isRecorded,
	itemsFor,
	outcomes,
	outputOf,
	pay,
	payNode,
	sandbox,
	sourceNode,
	to,
	withSandbox,
	type RunOptions,
} from './engine';

withSandbox();

/** Pays one id in a run of n8n's Evaluations. */
async function evaluate(more: Partial<RunOptions>, parameters: object = {}) {
	const [id = ''] = ids(1);
	const run = await pay(itemsFor(id), { parameters: { ...FIELDS, ...parameters }, ...more });
	return { run, id };
}

/** Source -> Row, which is a trigger of n8n -> Pay; n8n starts at a trigger, and here at Source. */
const behindTrigger = (id: string, name = 'evaluationTrigger', more: IDataObject = {}) => ({
	nodes: [
		sourceNode('Source', [{}]),
		{ ...sourceNode('Row', [{ ...itemsFor(id)[0], ...more }]), type: `n8n-nodes-base.${name}` },
		payNode('Pay', FIELDS),
	],
	connections: { Source: to(['Row']), Row: to(['Pay']) },
});

const EVALUATIONS: Array<[string, Partial<RunOptions>]> = [
	['a row of a test data set', { mode: 'evaluation' }],
	[
		'a sub-workflow for a row, of which n8n 2 tells it',
		{ mode: 'integrated', evaluationRunId: 'run-1' },
	],
];

test.each(EVALUATIONS)('%s pays nothing, and records nothing', async (_, more) => {
	const { run, id } = await evaluate(more);
	expect(errorOf(run)?.message).toContain('Evaluation');
	expect(arrived()).toStrictEqual([]);
	expect(isRecorded(id)).toBe(false);
});

test('a run that began at an Evaluation Trigger pays nothing', async () => {
	const [id = ''] = ids(1);
	const run = await pay([], { workflow: behindTrigger(id) });
	expect(errorOf(run)?.message).toContain('Evaluation');
	expect(arrived()).toStrictEqual([]);
	expect(isRecorded(id)).toBe(false);
});

test.each([
	{ mode: 'evaluation', paid: 0 },
	{ mode: 'trigger', paid: 1 },
])(
	'an error workflow pays $paid times after an execution of the mode $mode',
	async ({ mode, paid }) => {
		const [id = ''] = ids(1);
		const run = await pay([], {
			workflow: behindTrigger(id, 'errorTrigger', { execution: { mode } }),
		});
		expect(arrived()).toHaveLength(paid);
		expect(errorOf(run)?.message ?? 'Evaluation').toContain('Evaluation');
		expect(isRecorded(id)).toBe(paid === 1);
	},
);

test('a node that goes on after failures says so in its item', async () => {
	const { run } = await evaluate({ mode: 'evaluation', settings: CONTINUE });
	expect(outputOf(run, 'Pay').map(({ json }) => json)).toMatchObject([
		{ kind: 'payment', outcome: 'notSent', error: { message: expect.any(String) } },
	]);
});

test('a QR code is created: that moves no money', async () => {
	for (const [, more] of EVALUATIONS) await evaluate(more, CHARGE);
	expect(sandbox.bodies('qrcode')).toHaveLength(2);
});

test('a run that began elsewhere in a workflow with an Evaluation Trigger pays', async () => {
	const [id = ''] = ids(1);
	const workflow = behindTrigger('row');
	workflow.connections = { Source: to(['Pay']), Row: to(['Pay']) };
	workflow.nodes[0] = sourceNode('Source', itemsFor(id));
	await pay([], { workflow });
	expect(arrived()).toStrictEqual([id]);
});

test('where n8n invents the responses, to test its own Agents, nothing is recorded as accepted', async () => {
	const [id = ''] = ids(1);
	const evalLlmMockHandler = async () => ({ statusCode: 201, headers: {}, body: { id: 1 } });
	const tested = await pay(itemsFor(id), { evalLlmMockHandler, settings: CONTINUE });
	expect(outcomes(tested)).toStrictEqual(['notSent']);
	expect(isRecorded(id)).toBe(false);
	expect(outcomes(await pay(itemsFor(id)))).toStrictEqual(['accepted']);
	expect(arrived()).toStrictEqual([id]);
});
