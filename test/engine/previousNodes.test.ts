import type { IRunExecutionData } from 'n8n-workflow';
import {
	arrived,
	CHARGE,
	CONTINUE,
	errorOf,
	FIELDS,
	ids,
	isRecorded,
	itemsFor,
	outputOf,
	pay,
	sandbox,
	withSandbox,
} from './engine';

withSandbox();

type StartData = IRunExecutionData['startData'];

/** Runs a Pay node in a run that a person started in the editor. */
async function runFromEditor(startData: StartData, parameters: object = {}, settings = {}) {
	const [id = ''] = ids(1);
	const run = await pay(itemsFor(id), {
		parameters: { ...FIELDS, ...parameters },
		settings,
		startData,
	});
	return { run, id };
}

const EXECUTE_PREVIOUS = { destinationNode: { nodeName: 'Pay', mode: 'exclusive' } } as const;
test('"Execute previous nodes" in a Pay node makes no payment, and records none', async () => {
	const { run, id } = await runFromEditor(EXECUTE_PREVIOUS);
	expect(errorOf(run)).toBeDefined();
	expect(arrived()).toStrictEqual([]);
	expect(isRecorded(id)).toBe(false);
});

test('it creates no QR code either', async () => {
	await runFromEditor(EXECUTE_PREVIOUS, CHARGE);
	expect(sandbox.received).toStrictEqual([]);
});

test('a node that goes on after failures says so in its item', async () => {
	const { run, id } = await runFromEditor(EXECUTE_PREVIOUS, {}, CONTINUE);
	expect(outputOf(run, 'Pay').map(({ json }) => json)).toMatchObject([
		{ kind: 'payment', outcome: 'notSent', error: { message: expect.any(String) } },
	]);
	expect(arrived()).not.toContain(id);
});

test('a tool, which n8n runs through a node of its own, makes no payment there either', async () => {
	await runFromEditor({
		destinationNode: { nodeName: 'PartialExecutionToolExecutor', mode: 'inclusive' },
		originalDestinationNode: { nodeName: 'Pay', mode: 'exclusive' },
	});
	expect(sandbox.received).toStrictEqual([]);
});

test.each<[string, StartData]>([
	['"Execute step"', { destinationNode: { nodeName: 'Pay', mode: 'inclusive' } }],
	[
		'"Execute step" of a tool',
		{
			destinationNode: { nodeName: 'PartialExecutionToolExecutor', mode: 'inclusive' },
			originalDestinationNode: { nodeName: 'Pay', mode: 'inclusive' },
		},
	],
	[
		'"Execute previous nodes" in a node behind it',
		{ destinationNode: { nodeName: 'Behind', mode: 'exclusive' } },
	],
	['a run of the whole workflow', undefined],
	// n8n before 1.123 keeps the name alone, and does not tell the two buttons apart.
	['a step in an n8n before 1.123', { destinationNode: 'Pay' } as unknown as StartData],
])('%s pays', async (_, startData) => {
	const { id } = await runFromEditor(startData);
	expect(arrived()).toStrictEqual([id]);
});
