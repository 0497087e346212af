import type { IDataObject, INode } from 'n8n-workflow';
import { payNode, runWorkflow, sandbox, sourceNode, to, withSandbox } from './engine';

withSandbox();

/** A node that lets its charge through. */
const through = (name: string, type = 'test.source', more: IDataObject = {}): INode => {
	const node = sourceNode(name, [{ external_id: 'a' }]);
	return { ...node, type, parameters: { ...node.parameters, ...more } as INode['parameters'] };
};
const charge = (name: string, more: IDataObject = {}) =>
	payNode(name, { resource: 'qrCode', amount: 1, external_id: 'a', postback: 'resume', ...more });
const wait = (name: string, external_id = '={{ $json.external_id }}') =>
	payNode(name, { resource: 'postback', operation: 'wait', resumeWhen: 'any', external_id });
const form = (name = 'Form') => through(name, 'n8n-nodes-base.form');

/**
 * Runs a workflow, in which no wait puts it to sleep; gives the hints that name a pause, node by node.
 * @param ways where each node leads, by name: one list for all its outputs
 */
async function pausesIn(nodes: INode[], ways: Record<string, string[]>) {
	const connections = Object.fromEntries(
		Object.entries(ways).map(([name, next]) => [name, to(next)]),
	);
	const run = await runWorkflow({
		credential: { baseUrl: sandbox.url },
		parameters: {},
		workflow: { nodes: [sourceNode('Source', [{}]), ...nodes], connections },
		context: () => ({ putExecutionToWait: async () => undefined }),
	});
	const found: Record<string, string[]> = {};
	for (const [name, [first]] of Object.entries(run.data.resultData.runData)) {
		for (const { message } of first?.hints ?? []) {
			const [, pauses] = /^(.*) (?:can|may have) paused? this execution/.exec(message) ?? [];
			if (pauses !== undefined) (found[name] ??= []).push(pauses);
		}
	}
	return found;
}

/** Source -> Charge -> these -> Wait. */
async function pausesInRow(...between: INode[]) {
	const names = ['Source', 'Charge', ...between.map(({ name }) => name), 'Wait'];
	const ways: Record<string, string[]> = {};
	for (const [index, name] of names.slice(0, -1).entries()) ways[name] = [names[index + 1]!];
	return await pausesIn([charge('Charge'), ...between, wait('Wait')], ways);
}

test.each<[string, INode]>([
	["n8n's Wait", through('Pause', 'n8n-nodes-base.wait')],
	['a Form page', form('Pause')],
	['"Send and wait"', through('Pause', 'n8n-nodes-base.slack', { operation: 'sendAndWait' })],
])('%s between a charge and its wait is named at both', async (_, pause) => {
	expect(await pausesInRow(through('Before'), pause, through('After'))).toStrictEqual({
		Charge: ['"Pause"'],
		Wait: ['"Pause"'],
	});
});

test.each<[string, INode]>([
	['that only sends', through('Slack', 'n8n-nodes-base.slack', { operation: 'send' })],
	['that is disabled', { ...form(), disabled: true }],
])('a node %s is not named', async (_, node) => {
	expect(await pausesInRow(node)).toStrictEqual({});
});

test('a pause on one of two ways is named', async () => {
	const nodes = [charge('Charge'), through('Straight'), form(), wait('Wait')];
	const ways = {
		Source: ['Charge'],
		Charge: ['Straight', 'Form'],
		Straight: ['Wait'],
		Form: ['Wait'],
	};
	expect((await pausesIn(nodes, ways)).Charge).toStrictEqual(['"Form"']);
});

test('a pause behind the wait is not named, nor on the way back to it or to the charge', async () => {
	// They give nothing, so that the workflow does not go round for ever.
	const pending = { ...sourceNode('Pending', []), type: 'n8n-nodes-base.wait' };
	const next = { ...sourceNode('Next', []), type: 'n8n-nodes-base.form' };
	const nodes = [charge('Charge'), wait('Wait'), pending, next, form('Beside')];
	const ways = {
		Source: ['Charge'],
		Charge: ['Wait', 'Beside'],
		Wait: ['Pending', 'Next'],
		Pending: ['Wait'],
		Next: ['Charge'],
	};
	expect(await pausesIn(nodes, ways)).toStrictEqual({});
});

test('a second wait for the same postback is no pause, and what stands before it is none', async () => {
	const second = wait('Second', "={{ $('Charge').item.json.external_id }}");
	const nodes = [charge('Charge'), wait('Wait'), form(), second];
	const ways = { Source: ['Charge'], Charge: ['Wait'], Wait: ['Form'], Form: ['Second'] };
	expect(await pausesIn(nodes, ways)).toStrictEqual({});
});

test.each(["={{ $('Other').item.json.external_id }}", 'b'])(
	'a wait for another charge, by %s, is named at the charge',
	async (external_id) => {
		const nodes = [charge('Charge'), wait('Other wait', external_id), wait('Wait')];
		const ways = { Source: ['Charge'], Charge: ['Other wait'], 'Other wait': ['Wait'] };
		// This charge is not sent at all where the wrong id stands in the next wait.
		expect((await pausesIn(nodes, ways)).Charge).toStrictEqual(['"Other wait"']);
	},
);

test('a charge whose postback goes elsewhere has no such hint', async () => {
	const nodes = [charge('Charge', { postback: 'none' }), form(), wait('Wait')];
	const ways = { Source: ['Charge'], Charge: ['Form'], Form: ['Wait'] };
	expect(await pausesIn(nodes, ways)).toStrictEqual({});
});
