import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { WAIT_INDEFINITELY } from 'n8n-workflow';
import { errorOf, outputOf, runWorkflow, withResumeUrl, type RunOptions } from './engine';
import { webhookNode } from './webhook';

const SECRET = { postbackSecret: 's' };

/** Runs the wait with an item of its charge; gives until when the execution was put to sleep. */
async function wait(parameters: IDataObject, more: Partial<RunOptions> = {}) {
	const till: Date[] = [];
	const run = await runWorkflow({
		credential: SECRET,
		items: [{ external_id: 'a' }],
		parameters: {
			resource: 'postback',
			operation: 'wait',
			external_id: '={{ $json.external_id }}',
			resumeWhen: 'any',
			...parameters,
		},
		context: () => ({ putExecutionToWait: async (date: Date) => void till.push(date) }),
		...more,
	});
	return { run, till };
}

const limited = (resumeAmount: unknown, resumeUnit: unknown) => ({
	limitWaitTime: true,
	resumeAmount: `={{ ${JSON.stringify(resumeAmount)} }}`,
	resumeUnit: `={{ ${JSON.stringify(resumeUnit)} }}`,
});

test.each<[string, number, string, number]>([
	['seconds', 2, 'seconds', 2_000],
	['minutes', 1.5, 'minutes', 90_000],
	['hours', 1, 'hours', 3_600_000],
	['days', 3, 'days', 259_200_000],
	['nothing', 0, 'hours', 0],
])('waits at most %s: %d %s are %d ms', async (_what, amount, unit, ms) => {
	const before = Date.now();
	const { run, till } = await wait(limited(amount, unit));
	const after = Date.now();
	expect(errorOf(run)).toBeUndefined();
	expect(till).toHaveLength(1);
	expect(till[0]!.getTime()).toBeGreaterThanOrEqual(before + ms);
	expect(till[0]!.getTime()).toBeLessThanOrEqual(after + ms);
});

test.each<[string, IDataObject]>([
	['without a limit', {}],
	['with one that is switched off', { ...limited(5, 'seconds'), limitWaitTime: false }],
	['with one beyond the end of time', limited(1e15, 'days')],
])('%s it waits until a postback comes', async (_what, parameters) => {
	expect((await wait(parameters)).till).toStrictEqual([WAIT_INDEFINITELY]);
});

test('what waits is the item that came in, whatever n8n does with the list it is given', async () => {
	let given: unknown;
	const { run } = await wait(
		{},
		{
			context: (context: IExecuteFunctions) => ({
				getInputData: () => (given = context.getInputData()) as never,
				putExecutionToWait: async () => undefined,
			}),
		},
	);
	const waiting = outputOf(run, 'Pay');
	expect(waiting.map(({ json }) => json)).toStrictEqual([{ external_id: 'a' }]);
	expect(waiting).not.toBe(given);
});

test.each<[string, IDataObject, Partial<RunOptions>, RegExp, string]>([
	[
		'for two items',
		{},
		{ items: [{ external_id: 'a' }, { external_id: 'b' }] },
		/one postback at a time, but 2/,
		'external_id',
	],
	[
		'for no identifier',
		{ external_id: '={{ "" }}' },
		{},
		/external_id\) is missing/,
		'external_id',
	],
	[
		'for a value of no field',
		{ resumeWhen: 'match', matchField: '={{ "" }}', matchValues: ['paid'] },
		{},
		/field or its values/,
		'matchField',
	],
	['for a text', limited('5', 'hours'), {}, /no number/, 'resumeAmount'],
	['for less than nothing', limited(-1, 'hours'), {}, /no number/, 'resumeAmount'],
	['for null', limited(null, 'hours'), {}, /no number/, 'resumeAmount'],
	['for weeks', limited(1, 'weeks'), {}, /no number/, 'resumeAmount'],
	['for what every object has', limited(1, 'constructor'), {}, /no number/, 'resumeAmount'],
	[
		'with a secret that depends on the item',
		{},
		{ credential: { postbackSecret: '={{ $json.external_id }}' } },
		/depends on the item/,
		'postbackSecret',
	],
	[
		"with a secret of another node's item",
		{},
		{ credential: { ...SECRET, previousPostbackSecret: '={{ $("Source").first().json.x }}' } },
		/depends on the item/,
		'postbackSecret',
	],
])('it does not wait %s', async (_what, parameters, more, why, field) => {
	const { run, till } = await wait(parameters, more);
	expect(errorOf(run)?.message).toMatch(why);
	const settings = { onError: 'continueErrorOutput' } as const;
	const continued = await wait(parameters, { ...more, settings });
	const [item] = outputOf(continued.run, 'Error');
	expect(item?.json.error).toMatchObject({ message: expect.stringMatching(why), field });
	expect([...till, ...continued.till]).toStrictEqual([]);
});

test('a secret that is the same for every item may be an expression', async () => {
	const credential = { postbackSecret: '={{ "s" + $now.year }}' };
	expect((await wait({}, { credential })).till).toHaveLength(1);
});

test('with a secret it waits where n8n does not protect resume URLs, too', async () => {
	const till: Date[] = [];
	const context = (real: IExecuteFunctions) => ({
		putExecutionToWait: async (date: Date) => void till.push(date),
		...withResumeUrl('')(real),
	});
	const { run } = await wait({}, { context });
	expect(errorOf(run)).toBeUndefined();
	expect(till).toHaveLength(1);
});

test('of its own postbacks it goes on at the one that matches; the others are taken', async () => {
	const node = webhookNode({
		item: { json: { external_id: 'a' } },
		resumeToken: 'token',
		parameters: { resumeWhen: 'match', matchField: 'status', matchValues: ['paid'] },
	});
	const send = async (status: string) =>
		await node.call({
			method: 'POST',
			query: { signature: 'token' },
			headers: { 'content-type': 'application/json' },
			rawBody: Buffer.from(JSON.stringify({ status })),
			body: { status },
		});
	const pending = await send('pending');
	expect([pending.status, pending.result]).toStrictEqual([undefined, { webhookResponse: '' }]);
	const { workflowData } = (await send('paid')).result;
	expect(workflowData).toMatchObject([
		[{ json: { external_id: 'a', postback: { body: { status: 'paid' } } } }],
	]);
});

test('an operation that waits for nothing takes no call, proven or not', async () => {
	const node = webhookNode({
		item: { json: { external_id: 'a' } },
		credential: () => SECRET,
		parameters: { resource: 'payment', operation: 'create' },
	});
	const { result, status } = await node.call({ method: 'POST', query: {}, headers: {} });
	expect([result, status]).toStrictEqual([{ noWebhookResponse: true }, 409]);
});
