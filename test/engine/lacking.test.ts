import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject, IExecuteFunctions, IRun } from 'n8n-workflow';
import { Sandbox } from '../../sandbox/service';
import { errorOf, outputOf, runWorkflow, withSandbox, type RunOptions } from './engine';

/*
 * What some version or context of n8n lacks, as the table in docs/install.md has it: without it, and
 * for comparison with it.
 */
let sandbox: Sandbox;
withSandbox((started) => (sandbox = started));

const AS_TOOL = { type: 'n8n-nodes-pay.payTool' };
const MAY_PAY = { options: { allowAiPayments: true } };

async function pay(
	parameters: IDataObject,
	context: RunOptions['context'],
	settings: RunOptions['settings'] = {},
) {
	return await runWorkflow({
		credential: { baseUrl: sandbox.url },
		items: [{}],
		parameters: { amount: 1, external_id: 'a', ...parameters },
		context,
		settings,
	});
}
const without = (name: string) => () => ({ [name]: undefined }) as Partial<IExecuteFunctions>;
const withoutHelper = (name: string) => (context: IExecuteFunctions) =>
	({ helpers: { ...context.helpers, [name]: undefined } }) as Partial<IExecuteFunctions>;
const outcomeOf = (run: IRun) => outputOf(run, 'Pay')[0]?.json.outcome;
const hintsOf = (run: IRun) => run.data.resultData.runData.Pay?.[0]?.hints ?? [];
const arrived = () => sandbox.received.length;

async function paysOnlyWith(name: string) {
	const refused = await pay({}, withoutHelper(name));
	expect(errorOf(refused)?.context).toMatchObject({ data: { outcome: 'notSent' } });
	expect(arrived()).toBe(0);
	expect(outcomeOf(await pay({ resource: 'qrCode' }, withoutHelper(name)))).toBe('accepted');
	expect(outcomeOf(await pay({}, undefined))).toBe('accepted');
}

const LACKING: Record<string, () => Promise<void>> = {
	addExecutionHints: async () => {
		const run = await pay(MAY_PAY, without('addExecutionHints'), AS_TOOL);
		expect([outcomeOf(run), hintsOf(run), arrived()]).toStrictEqual(['accepted', [], 1]);
		const parameters = { resource: 'qrCode', postback: 'none', options: { qrCodePath: 'x' } };
		const charge = await pay(parameters, undefined);
		expect(hintsOf(charge)).toHaveLength(1);
	},
	customData: async () => {
		const run = await pay({ external_id: 'a' }, without('customData'));
		expect([outcomeOf(run), arrived()]).toStrictEqual(['accepted', 1]);
		expect(run.data.resultData.metadata).toMatchObject({ payment_external_id: 'a' });
	},
	isToolExecution: async () => {
		const refused = await pay({}, without('isToolExecution'), AS_TOOL);
		expect(outputOf(refused, 'Pay')[0]?.json.error).toMatchObject({
			message: expect.stringMatching(/AI agent/),
		});
		expect(arrived()).toBe(0);
		expect(outcomeOf(await pay({}, without('isToolExecution')))).toBe('accepted');
	},
	getExecutionCancelSignal: async () => {
		const run = await pay({}, without('getExecutionCancelSignal'));
		expect([outcomeOf(run), arrived()]).toStrictEqual(['accepted', 1]);
	},
	checkProcessedAndRecord: async () => await paysOnlyWith('checkProcessedAndRecord'),
	removeProcessed: async () => await paysOnlyWith('removeProcessed'),
};

const document = readFileSync(join(__dirname, '..', '..', 'docs', 'install.md'), 'utf8');
const [, table = ''] = /## What some n8n lacks\n(.*?)(\n## |$)/s.exec(document) ?? [];
const named = table
	.split('\n')
	.filter((line) => line.startsWith('| `'))
	.map((line) => /^\| `(\w+)`/.exec(line)![1]!);

test('docs/install.md lists what is tried here, and nothing else', () => {
	expect(named.sort()).toStrictEqual(Object.keys(LACKING).sort());
});

test.each(Object.entries(LACKING))('an n8n without %s', async (_, tried) => await tried());
