import { createHmac, randomUUID } from 'node:crypto';
import type { IConnections, IDataObject, INode, INodeExecutionData, IRun } from 'n8n-workflow';
import { WAIT_INDEFINITELY } from 'n8n-workflow';
import {
	awaitedRequests,
	type ExpectationStore,
	recordExpectation,
	recordWait,
} from '../../nodes/Pay/postback/waiting';
import { randomProof, withRandomProof } from '../../nodes/Pay/postback/proof';
import {
	errorOf,
	faultOnce,
	outputOf,
	payNode,
	RETRY,
	runWorkflow,
	sandbox,
	sourceNode,
	to,
	withSandbox,
	type RunOptions,
} from './engine';
import type * as time from '../../nodes/Pay/base/time';
import { lineInLog, webhookNode } from './webhook';

/** The pauses that were begun, in milliseconds. */
const mockPauses: number[] = [];
jest.mock('../../nodes/Pay/base/time', () => {
	const actual = jest.requireActual<typeof time>('../../nodes/Pay/base/time');
	const pause: typeof time.pause = async (ms, signal) => {
		mockPauses.push(ms);
		await actual.pause(ms, signal);
	};
	return { ...actual, pause };
});

/** The flow context of an execution that asked for the postback of "a". */
function flowThatExpectsA() {
	const store = {};
	recordExpectation(store, {
		is: 'request',
		external_id: 'a',
		kind: 'qrCode',
		amount: 1,
		executionId: '42',
		hash: 'first',
	});
	return store;
}

/** Runs the wait with an item of its charge; gives until when the execution was put to sleep. */
async function wait(
	parameters: IDataObject,
	{ context, ...more }: Partial<RunOptions> = {},
	store: ExpectationStore = flowThatExpectsA(),
) {
	const till: Date[] = [];
	const run = await runWorkflow({
		executionId: '42',
		items: [{ external_id: 'a' }],
		parameters: {
			resource: 'postback',
			operation: 'wait',
			resumeWhen: 'any',
			external_id: '={{ $json.external_id }}',
			...parameters,
		},
		context: (real) => ({
			putExecutionToWait: async (date: Date) => void till.push(date),
			getContext: () => store as IDataObject,
			...context?.(real),
		}),
		...more,
	});
	return { run, till };
}

const limited = (resumeAmount: unknown, resumeUnit: unknown) => ({
	limitWaitTime: true,
	resumeAmount: `={{ ${JSON.stringify(resumeAmount)} }}`,
	resumeUnit: `={{ ${JSON.stringify(resumeUnit)} }}`,
});

// How a limit is read: test/fields/waitLimit.test.ts.
test('waits at most as long as its limit says', async () => {
	const before = Date.now();
	const { run, till } = await wait(limited(1.5, 'minutes'));
	const after = Date.now();
	expect(errorOf(run)).toBeUndefined();
	expect(till).toHaveLength(1);
	expect(till[0]!.getTime()).toBeGreaterThanOrEqual(before + 90_000);
	expect(till[0]!.getTime()).toBeLessThanOrEqual(after + 90_000);
});

test.each<{ what: string; parameters: IDataObject }>([
	{ what: 'without a limit', parameters: {} },
	{ what: 'with one beyond the end of time', parameters: limited(1e15, 'days') },
])('$what it waits until a postback comes', async ({ parameters }) => {
	expect((await wait(parameters)).till).toStrictEqual([WAIT_INDEFINITELY]);
});

test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
	'a wait that is refused hands on no "postback" that came in: %s',
	async (onError) => {
		const items = [{ external_id: 'b', postback: { body: { status: 'paid' } } }];
		const { run } = await wait({}, { items, settings: { onError } });
		const [item] = outputOf(run, 'Pay', 0, onError === 'continueErrorOutput' ? 1 : 0);
		expect(Object.keys(item!.json)).toStrictEqual(['error']);
		expect(item!.pairedItem).toBe(0);
		expect(JSON.stringify(item)).not.toContain('paid');
	},
);

test.each<IDataObject>([{ amount: 4990, state: 'open' }, { kind: 'payment' }, { amount: '50.90' }])(
	'what the item says of other things counts for nothing: %j',
	async (more) => {
		const { run, till } = await wait({}, { items: [{ external_id: 'a', ...more }] });
		expect(errorOf(run)).toBeUndefined();
		expect(till).toStrictEqual([WAIT_INDEFINITELY]);
	},
);

test.each<{
	what: string;
	parameters: IDataObject;
	field: string;
	more?: Partial<RunOptions>;
}>([
	{
		what: 'for two items',
		parameters: {},
		field: 'external_id',
		more: { items: [{ external_id: 'a' }, { external_id: 'b' }] },
	},
	{ what: 'for no identifier', parameters: { external_id: '={{ "" }}' }, field: 'external_id' },
	{
		what: 'for a value of no field',
		parameters: { resumeWhen: 'match', matchField: '={{ "" }}', matchValues: ['paid'] },
		field: 'matchField',
	},
	{ what: 'with the limit "five"', parameters: limited('five', 'hours'), field: 'resumeAmount' },
	{
		what: 'with a limit of which an expression does not say whether there is one',
		parameters: { ...limited(1, 'hours'), limitWaitTime: '={{ $json.isLimited }}' },
		field: 'limitWaitTime',
	},
	{ what: 'for what nobody asked for', parameters: { external_id: 'b' }, field: 'external_id' },
])('it does not wait $what', async ({ parameters, field, more = {} }) => {
	const { run, till } = await wait(parameters, more);
	expect(errorOf(run)?.context?.data).toMatchObject({ field });
	const settings = { onError: 'continueErrorOutput' } as const;
	const continued = await wait(parameters, { ...more, settings });
	const [failed] = outputOf(continued.run, 'Pay', 0, 1);
	expect(failed?.json.error).toMatchObject({ field });
	expect([...till, ...continued.till]).toStrictEqual([]);
});

test('an agent that runs its tools itself cannot wait, for n8n would resume the agent; the model hears that', async () => {
	const { run, till } = await wait(
		{},
		{
			settings: { type: 'n8n-nodes-pay.payTool' },
			context: () => ({ getExecuteData: () => ({ node: { name: 'Agent' } }) as never }),
		},
	);
	expect(outputOf(run, 'Pay').map(({ json }) => json)).toMatchObject([
		{
			error: {
				message: expect.stringContaining('An AI agent of this version cannot wait for a postback'),
			},
		},
	]);
	expect(till).toStrictEqual([]);
});

test('a wait begins where n8n has lost the run of an earlier one: a postback ended that', async () => {
	const store: ExpectationStore = flowThatExpectsA();
	recordWait(store, { external_id: 'a', executionId: '42', node: 'Pay', run: 7 });
	recordExpectation(store, {
		is: 'request',
		external_id: 'a',
		kind: 'qrCode',
		amount: 2,
		executionId: '42',
		hash: 'newer',
	});
	const context: IDataObject = {};
	const getContext = (type: string) => (type === 'flow' ? store : context) as IDataObject;
	const { run } = await wait({}, { context: () => ({ getContext }) });
	expect(errorOf(run)).toBeUndefined();
	expect(context.awaited).toStrictEqual({
		proofs: [
			{
				hash: 'newer',
				reference: { external_id: 'a', kind: 'qrCode', amount: 2 },
				status: undefined,
				match: undefined,
			},
		],
		given: ['first', 'newer'],
		id: expect.any(String),
		until: undefined,
	});
});

/** The pauses of a wait behind one that ended, so many milliseconds after that one's limit. */
async function pausesAfter(
	ms: number,
	ended: 'by a postback' | 'by its limit',
	signal?: AbortSignal,
) {
	const now = Date.now();
	const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
	const store: ExpectationStore = flowThatExpectsA();
	const until = now - ms;
	recordWait(store, { external_id: 'b', executionId: '42', node: 'Source', run: 0, until });
	const items = [{ external_id: 'a', ...(ended === 'by a postback' && { postback: {} }) }];
	mockPauses.length = 0;
	const context = () => ({ getExecutionCancelSignal: () => signal });
	const { run, till } = await wait({}, { items, context }, store);
	clock.mockRestore();
	expect(errorOf(run)).toBeUndefined();
	expect(till).toStrictEqual([WAIT_INDEFINITELY]);
	return mockPauses;
}

// n8n sets a timer at most 70 s before a limit.
test('a wait behind one that a postback ended, 4 s after its limit, holds back until 5 s after it', async () => {
	expect(await pausesAfter(4_000, 'by a postback')).toStrictEqual([1_000]);
});

test.each([
	{ what: 'that its limit ended, 4 s after it', ended: 'by its limit', ms: 4_000 },
	{ what: 'that a postback ended 100 s before its limit', ended: 'by a postback', ms: -100_000 },
] as const)('a wait behind one $what does not hold back', async ({ ended, ms }) => {
	expect(await pausesAfter(ms, ended)).toStrictEqual([]);
});

test('a cancelled execution does not stay in that pause', async () => {
	const before = performance.now();
	const cancelled = AbortSignal.abort();
	expect(await pausesAfter(-60_000, 'by a postback', cancelled)).toStrictEqual([65_000]);
	expect(performance.now() - before).toBeLessThan(60_000);
});

test('a "postback" that came in is not what waits; the item that the node before gave keeps it', async () => {
	const json = { external_id: 'a', postback: { body: { status: 'paid' } } };
	let list: INodeExecutionData[] = [];
	const context: RunOptions['context'] = (real) => ({
		getInputData: () => (list = real.getInputData()),
	});
	const { run } = await wait({}, { items: [json], context });
	const waiting = outputOf(run, 'Pay');
	expect(waiting.map((item) => item.json)).toStrictEqual([{ external_id: 'a' }]);
	// What n8n does with the list is nothing to what waits.
	expect(waiting).not.toBe(list);
	// At the time limit n8n goes on with the list that came in.
	expect(list.map((item) => item.json)).toStrictEqual([{ external_id: 'a' }]);
	expect(outputOf(run, 'Source')[0]?.json).toStrictEqual(json);
});

/**
 * An execution that waits for the postback of one request, as n8n calls it, and the URL that this request gave the service.
 * @param expected what the wait wrote down of the request beside its proof
 */
function waitingFor(expected: IDataObject, more: Partial<Parameters<typeof webhookNode>[0]> = {}) {
	const { url, hash } = withRandomProof('https://a.example/', randomProof());
	const awaited = { proofs: [{ hash, ...expected }], given: [hash], id: randomUUID() };
	return { url, node: webhookNode({ item: { json: { external_id: 'a' } }, awaited, ...more }) };
}

test('"paid" with another amount than the charge had does not end a wait for "paid"', async () => {
	const reference = { external_id: 'a', kind: 'qrCode', amount: 49.9 };
	const status = { field: ['status'], paid: ['paid'], failed: [], amountField: ['amount'] };
	const { url, node } = waitingFor({ reference, match: { states: ['paid'] }, status });
	const wrong = await node.post(url, { status: 'paid', amount: 4.99 });
	expect(wrong.result).toStrictEqual({
		webhookResponse:
			'The execution is still waiting: the field "amount" has a different amount than the charge or payment',
	});
	const right = await node.post(url, { status: 'paid', amount: 49.9 });
	expect(right.result.workflowData?.[0]?.[0]?.json).toMatchObject({
		postback: { reference, state: 'paid' },
	});
});

test('of its own postbacks it goes on at the one that matches; the others are taken', async () => {
	const about = { external_id: 'a', kind: 'payment', amount: 1 } as const;
	const match = { field: ['status'], values: ['paid'] };
	// The item says otherwise, and is not what a postback is about.
	const item = { json: { external_id: 'a', kind: 'qrCode', amount: 4990 } };
	const { url, node } = waitingFor({ reference: about, match }, { item, resumeToken: 'token' });
	const send = async (status: string) => await node.post(`${url}&signature=token`, { status });
	const pending = await send('pending');
	const why = 'The execution is still waiting: the field "status" has another value';
	expect([pending.status, pending.result]).toStrictEqual([undefined, { webhookResponse: why }]);
	// Nobody else hears of it, and the value is not for a log.
	expect(pending.log).toStrictEqual([
		lineInLog(
			'Pay received a postback, but the workflow does not continue with it: the field "status" has another value. The postback has: status',
			{ external_id: 'a' },
		),
	]);
	const { workflowData } = (await send('paid')).result;
	expect(workflowData).toMatchObject([
		[{ json: { external_id: 'a', postback: { reference: about, body: { status: 'paid' } } } }],
	]);
});

test('an operation that waits for nothing takes no call, proven or not', async () => {
	const reference = { external_id: 'a', kind: 'qrCode', amount: 1 };
	const parameters = { resource: 'payment', operation: 'create' };
	const { url, node } = waitingFor({ reference }, { parameters });
	for (const address of [url, 'https://a.example/']) {
		const { result, status } = await node.post(address);
		expect([result, status]).toStrictEqual([{ noWebhookResponse: true }, 409]);
	}
	// The control: a wait goes on at such a call.
	const waiting = waitingFor({ reference });
	expect((await waiting.node.post(waiting.url)).result.workflowData).toHaveLength(1);
});

describe('a charge directly before a wait', () => {
	withSandbox();

	/** Source -> Charge (Resume This Execution) -> Wait, in n8n's engine. */
	async function chargeAndWait(
		items: IDataObject[],
		baseUrl = sandbox.url,
		{
			words = {},
			resumeWhen = 'any',
			target = { postback: 'resume' } as IDataObject,
			isNext = true,
		} = {},
	) {
		const charge = { resource: 'qrCode', amount: 1, external_id: '={{ $json.id }}', ...target };
		const wait = { resource: 'postback', operation: 'wait', resumeWhen };
		const nodes = [
			sourceNode('Source', items),
			payNode('Charge', charge, { retryOnFail: true }),
			// It lets everything through, and hides that the wait comes next.
			{ ...sourceNode('Between', []), disabled: true },
			payNode('Wait', { ...wait, external_id: '={{ $json.external_id }}' }),
		];
		const connections = {
			Source: to(['Charge']),
			Charge: to([isNext ? 'Wait' : 'Between']),
			Between: to(['Wait']),
		};
		const credential = { baseUrl, ...words };
		return await runWorkflow({ credential, parameters: {}, workflow: { nodes, connections } });
	}
	/** Whether an execution expects the postback of a charge, which is of its first request at least. */
	function isExpected(run: IRun, external_id: string): boolean {
		const store = run.data.executionData!.contextData['flow'] as ExpectationStore;
		const { executionId = '' } = store.postbacks?.[0] ?? {};
		return awaitedRequests(store, external_id, executionId, () => false).length > 0;
	}

	test.each([
		['right in front of one wait', true],
		['with other nodes between', false],
	])('of several, %s, none is sent: an execution hears one at a time', async (_, isNext) => {
		const run = await chargeAndWait([{ id: 'a' }, { id: 'b' }], undefined, { isNext });
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'notSent', field: 'postback' });
		expect(sandbox.received).toStrictEqual([]);
	});

	test('a charge that is tried again has the same postback URL, and so the same body', async () => {
		faultOnce(503, 'a');
		const charge = { postback: 'resume', resource: 'qrCode', amount: 1, external_id: 'a' };
		const nodes = [sourceNode('Source', [{}]), payNode('Charge', charge, RETRY)];
		const twice = { nodes, connections: { Source: to(['Charge']) } };
		const credential = { baseUrl: sandbox.url };
		await runWorkflow({ parameters: {}, credential, workflow: twice });
		expect(sandbox.received).toHaveLength(2);
		expect(sandbox.received[0]?.body).toBe(sandbox.received[1]?.body);
		await runWorkflow({ parameters: {}, credential, workflow: twice });
		// Another execution has its own.
		expect(new Set(sandbox.received.map(({ body }) => body)).size).toBe(2);
	});

	test('of several of which one asks for its postback here, none is sent', async () => {
		const target = { postback: '={{ $json.to }}', postbackUrl: 'https://shop.example.com' };
		const items = [
			{ id: 'a', to: 'none' },
			{ id: 'b', to: 'resume' },
		];
		const run = await chargeAndWait(items, undefined, { target });
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'notSent', field: 'postback' });
		expect(sandbox.received).toStrictEqual([]);
	});

	test.each([
		{ what: 'in doubt', status: 500, expected: true },
		{ what: 'rejected', status: 400, expected: false },
		{ what: 'not sent, for nobody listens', baseUrl: 'http://127.0.0.1:1', expected: false },
	])('that is $what is expected: $expected', async ({ status, baseUrl, expected }) => {
		sandbox.faultFor = () => (status ? { kind: 'status', status, body: '{}' } : undefined);
		const run = await chargeAndWait([{ id: 'a' }], baseUrl);
		expect(errorOf(run)).toBeDefined();
		expect(isExpected(run, 'a')).toBe(expected);
	});

	test('is not expected where no request was sent', async () => {
		const run = await chargeAndWait([{ id: '' }]);
		expect(errorOf(run)?.context?.data).toMatchObject({ field: 'external_id' });
		expect(sandbox.received).toHaveLength(0);
		expect(run.data.executionData!.contextData['flow']).not.toHaveProperty('postbacks');
	});

	test.each<IDataObject>([
		{ postback: 'none' },
		{ postback: 'url', postbackUrl: 'https://a.example/b' },
	])('that has its postback sent elsewhere is not waited for: %j', async (target) => {
		const run = await chargeAndWait([{ id: 'a' }], undefined, { target });
		expect(errorOf(run)?.context?.data).toMatchObject({ field: 'external_id' });
		expect(isExpected(run, 'a')).toBe(false);
	});

	const WORDS = {
		describeService: true,
		statusField: 'data.status',
		paidValues: 'paid\r\nSettled',
		failedValues: '\nno',
	};
	/** What a wait that has begun makes of a postback that says a word; its credential is not asked. */
	async function stateAfter({ data }: IRun, word: string) {
		const [body] = sandbox.bodies('qrcode') as [IDataObject];
		const node = webhookNode({
			item: { json: { external_id: 'a' } },
			// Each word is told to a wait of its own.
			awaited: {
				...(data.executionData!.contextData['node:Wait']!.awaited as object),
				id: randomUUID(),
			},
			credential: () => {
				throw new Error('a wait has none');
			},
		});
		const { result } = await node.post(String(body.postbackUrl), { data: { status: word } });
		const [item] = result.workflowData?.flat() ?? [];
		return item && (item.json.postback as IDataObject).state;
	}

	test.each([
		{ resumeWhen: 'paid', states: { SETTLED: 'paid', no: undefined, pending: undefined } },
		{ resumeWhen: 'paidOrFailed', states: { paid: 'paid', No: 'failed', pending: undefined } },
		{ resumeWhen: 'any', states: { paid: 'paid', no: 'failed', pending: 'other' } },
	])(
		'hands the words of its account on: at $resumeWhen the wait goes on with $states',
		async ({ resumeWhen, states }) => {
			const run = await chargeAndWait([{ id: 'a' }], undefined, { words: WORDS, resumeWhen });
			expect(errorOf(run)).toBeUndefined();
			expect(run.waitTill).toBeInstanceOf(Date);
			for (const [word, state] of Object.entries(states))
				expect(await stateAfter(run, word)).toBe(state);
		},
	);

	/** Posts "paid" to a wait with a credential of its own that asks for the service's signature. */
	async function signedWait(signature: (body: string) => string | undefined, now: IDataObject) {
		const words = {
			senderCheck: 'signature',
			signatureHeader: 'X-Signature',
			signatureSecret: 'the secret of the service',
		};
		const run = await chargeAndWait([{ id: 'a' }], undefined, { words });
		const { awaited } = run.data.executionData!.contextData['node:Wait'] as {
			awaited: IDataObject;
		};
		expect(awaited.isSigned).toBe(true);
		const [charge] = sandbox.bodies('qrcode') as [IDataObject];
		const node = webhookNode({
			item: { json: { external_id: 'a' } },
			awaited,
			credential: () => ({ ...words, ...now }),
		});
		const body = '{"status":"paid"}';
		const { result, status } = await node.call({
			method: 'POST',
			query: Object.fromEntries(new URL(String(charge.postbackUrl)).searchParams),
			headers: { 'x-signature': signature(body) ?? '' },
			rawBody: Buffer.from(body),
		});
		return result.workflowData === undefined ? status : 'goes on';
	}
	const genuine = (body: string) =>
		createHmac('sha256', 'the secret of the service').update(body).digest('hex');

	test.each<{
		what: string;
		sign: (body: string) => string | undefined;
		now: IDataObject;
		then: 'goes on' | 401 | 500;
	}>([
		{ what: 'its signature', sign: genuine, now: {}, then: 'goes on' },
		{ what: 'no signature', sign: () => undefined, now: {}, then: 401 },
		{
			what: 'that of another body',
			sign: () => genuine('{"status":"pending"}'),
			now: {},
			then: 401,
		},
		{
			what: 'its signature, the switch being off by now: the service may send again',
			sign: genuine,
			now: { senderCheck: 'none' },
			then: 500,
		},
	])(
		'that asks for the signature of the service, with $what: $then',
		async ({ sign, now, then }) => {
			expect(await signedWait(sign, now)).toBe(then);
		},
	);

	test('whose credential has an expression in what the signature needs: the charge is not sent', async () => {
		const words = { senderCheck: 'signature', signatureHeader: 'X', signatureSecret: '={{ "a" }}' };
		const run = await chargeAndWait([{ id: 'a' }], undefined, { words });
		expect(errorOf(run)?.context?.data).toMatchObject({
			outcome: 'notSent',
			field: 'signatureSecret',
		});
		expect(sandbox.received).toStrictEqual([]);
	});

	test('whose account has no words: what comes out has no state', async () => {
		const run = await chargeAndWait([{ id: 'a' }]);
		expect(await stateAfter(run, 'paid')).toBeUndefined();
	});

	test.each([
		{ resumeWhen: 'paid', words: {} },
		{ resumeWhen: 'paid', words: { ...WORDS, describeService: false } },
		{ resumeWhen: 'paidOrFailed', words: { ...WORDS, failedValues: '' } },
		{ resumeWhen: 'Paid', words: WORDS },
	])('has no words for $resumeWhen with $words: nothing is sent', async ({ words, resumeWhen }) => {
		const run = await chargeAndWait([{ id: 'a' }], undefined, { words, resumeWhen });
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'notSent', field: 'resumeWhen' });
		expect(sandbox.received).toHaveLength(0);
		expect(run.waitTill).toBeUndefined();
	});
});

describe('the waits behind a charge', () => {
	withSandbox();
	const UNKNOWN_CONDITION = { resumeWhen: 'onPaid' };
	const GOOD = { resumeWhen: 'any' };
	const charge = (name: string, id = '={{ $json.id }}', more: IDataObject = {}) =>
		payNode(name, { resource: 'qrCode', amount: 1, external_id: id, postback: 'resume', ...more });
	const waiting = (name: string, parameters: IDataObject, more: Partial<INode> = {}): INode => ({
		...payNode(name, {
			resource: 'postback',
			operation: 'wait',
			external_id: '={{ $json.external_id }}',
			...parameters,
		}),
		...more,
	});
	const other = (name: string): INode => sourceNode(name, [{ external_id: 'a', id: 'a' }]);
	/** The ids of the charges that go out, the field that the error is about, and the hints. */
	async function runCharges(nodes: INode[], connections: IConnections, words: IDataObject = {}) {
		const run = await runWorkflow({
			credential: { baseUrl: sandbox.url, ...words },
			parameters: {},
			workflow: {
				nodes: [sourceNode('Source', [{ id: 'a' }]), ...nodes],
				connections: { Source: to(['Charge']), ...connections },
			},
		});
		const hints = Object.values(run.data.resultData.runData)
			.flat()
			.flatMap((each) => each.hints ?? [])
			.map(({ message }) => message);
		const { field } = (errorOf(run)?.context?.data ?? {}) as { field?: string };
		const sent = sandbox.bodies('qrcode').map(({ external_id }) => external_id);
		return { sent, field, hints };
	}

	test('one whose response cannot be read could not begin: nothing is sent', async () => {
		const options = { responseBody: '={{ $json.id }}' };
		const nodes = [charge('Charge'), waiting('Wait', { ...GOOD, options })];
		const { sent, field } = await runCharges(nodes, { Charge: to(['Wait']) });
		expect({ sent, field }).toStrictEqual({ sent: [], field: 'responseBody' });
	});

	test.each<{ what: string; field: string; nodes: INode[]; connections: IConnections }>([
		{
			what: 'directly',
			field: 'resumeWhen',
			nodes: [waiting('Wait', UNKNOWN_CONDITION)],
			connections: { Charge: to(['Wait']) },
		},
		{
			what: 'behind other nodes, one of them disabled',
			field: 'resumeWhen',
			nodes: [other('A'), { ...other('B'), disabled: true }, waiting('Wait', UNKNOWN_CONDITION)],
			connections: { Charge: to(['A']), A: to(['B']), B: to(['Wait']) },
		},
		{
			what: 'behind a disabled wait that is right',
			field: 'resumeWhen',
			nodes: [waiting('Off', GOOD, { disabled: true }), waiting('Wait', UNKNOWN_CONDITION)],
			connections: { Charge: to(['Off']), Off: to(['Wait']) },
		},
		{
			what: 'in all branches',
			field: 'resumeWhen',
			nodes: [
				other('A'),
				waiting('Wait', UNKNOWN_CONDITION),
				waiting('Wait 2', { ...GOOD, limitWaitTime: true, resumeAmount: -1 }),
			],
			connections: { Charge: to(['A', 'Wait']), A: to(['Wait 2']) },
		},
		{
			what: 'behind a second charge',
			field: 'resumeWhen',
			nodes: [charge('Charge 2', '={{ $json.external_id }}-2'), waiting('Wait', UNKNOWN_CONDITION)],
			connections: { Charge: to(['Charge 2']), 'Charge 2': to(['Wait']) },
		},
		{
			what: 'an operation that there is none of',
			field: 'operation',
			nodes: [waiting('Wait', { operation: 'waitForPayment' })],
			connections: { Charge: to(['Wait']) },
		},
		{
			what: 'with the id of another order',
			field: 'external_id',
			nodes: [waiting('Wait', { ...GOOD, external_id: 'b' })],
			connections: { Charge: to(['Wait']) },
		},
		{
			what: 'with its condition among the options, which it does not read',
			field: 'options.resumeWhen',
			nodes: [waiting('Wait', { ...GOOD, options: { resumeWhen: 'paid' } })],
			connections: { Charge: to(['Wait']) },
		},
		{
			what: 'with the id of another order, behind a charge that asks for no postback',
			field: 'external_id',
			nodes: [
				charge('Charge 2', 'b', { postback: 'none' }),
				waiting('Wait', { ...GOOD, external_id: 'b' }),
			],
			connections: { Charge: to(['Wait', 'Charge 2']), 'Charge 2': to(['Wait']) },
		},
	])(
		'one that cannot begin, $what: nothing is sent',
		async ({ nodes, connections, field: expected }) => {
			const { sent, field } = await runCharges([charge('Charge'), ...nodes], connections);
			expect({ sent, field }).toStrictEqual({ sent: [], field: expected });
		},
	);

	test('one that looks at what the service does not sign: nothing is sent', async () => {
		const match = { resumeWhen: 'match', matchField: 'query.status', matchValues: 'paid' };
		const { sent, field } = await runCharges(
			[charge('Charge'), waiting('Wait', match)],
			{ Charge: to(['Wait']) },
			{ senderCheck: 'signature', signatureHeader: 'X', signatureSecret: 'of the service' },
		);
		expect({ sent, field }).toStrictEqual({ sent: [], field: 'matchField' });
	});

	test.each<{ what: string; nodes: INode[]; connections: IConnections }>([
		{ what: 'is right', nodes: [waiting('Wait', GOOD)], connections: { Charge: to(['Wait']) } },
		{
			what: 'has an expression as its limit',
			nodes: [waiting('Wait', { ...GOOD, limitWaitTime: true, resumeAmount: '={{ 5 }}' })],
			connections: { Charge: to(['Wait']) },
		},
		{
			what: 'is for the id that a node between gives the item',
			nodes: [other('A'), waiting('Wait', { ...GOOD, external_id: 'b' })],
			connections: { Charge: to(['A']), A: to(['Wait']) },
		},
		{
			what: 'is right in one of two branches',
			nodes: [waiting('Bad', UNKNOWN_CONDITION), waiting('Wait', GOOD)],
			connections: { Charge: to(['Wait', 'Bad']) },
		},
		{
			what: 'is for the first of two charges, the second of which asks for no postback here',
			nodes: [
				charge('Charge 2', 'b', { postback: 'none' }),
				waiting('Wait', { ...GOOD, external_id: '={{ "a" }}' }),
			],
			connections: { Charge: to(['Charge 2']), 'Charge 2': to(['Wait']) },
		},
	])(
		'one that $what: every charge is sent, and there is no hint',
		async ({ nodes, connections }) => {
			const all = nodes.some(({ name }) => name === 'Charge 2') ? ['a', 'b'] : ['a'];
			const { sent, hints } = await runCharges([charge('Charge'), ...nodes], connections);
			expect({ sent, hints }).toStrictEqual({ sent: all, hints: [] });
		},
	);

	test('two charges in a row, then two waits: the second charge is not sent', async () => {
		const { sent } = await runCharges(
			[charge('Charge'), charge('Charge 2', 'b'), waiting('Wait', GOOD), waiting('Wait 2', GOOD)],
			{ Charge: to(['Charge 2']), 'Charge 2': to(['Wait']), Wait: to(['Wait 2']) },
		);
		expect(sent).toStrictEqual(['a']);
	});

	test.each<{ what: string; nodes: INode[]; connections: IConnections }>([
		{ what: 'none at all', nodes: [], connections: {} },
		{
			what: 'a disabled one',
			nodes: [waiting('Off', GOOD, { disabled: true })],
			connections: { Charge: to(['Off']) },
		},
		{
			what: 'one before it',
			nodes: [waiting('Wait', UNKNOWN_CONDITION)],
			connections: { Wait: to(['Charge']) },
		},
	])(
		'$what: it is sent, and a hint says that nothing is resumed',
		async ({ nodes, connections }) => {
			const { sent, hints } = await runCharges([charge('Charge'), ...nodes], connections);
			expect(sent).toStrictEqual(['a']);
			expect(hints).toHaveLength(1);
		},
	);

	test.each([
		{ what: 'a wait without a credential', credentials: undefined, count: 1 },
		{ what: 'a wait with one', credentials: { payApi: { id: '1', name: 'Pay API' } }, count: 0 },
	])(
		'$what, of a charge whose service signs, brings $count hints that it does not check',
		async ({ credentials, count }) => {
			const { hints } = await runCharges(
				[charge('Charge'), waiting('Wait', GOOD, { credentials })],
				{ Charge: to(['Wait']) },
				{
					senderCheck: 'signature',
					signatureHeader: 'X-Signature',
					signatureSecret: 'the secret of the service',
				},
			);
			expect(hints.filter((hint) => /does not check the sender/.test(hint))).toHaveLength(count);
		},
	);

	test.each([
		['without a credential', undefined],
		['with another one', { payApi: { id: '2', name: 'Pay API 2' } }],
	])(
		'one %s: an expression in what the credential of the charge checks stops nothing',
		async (_, credentials) => {
			const { sent } = await runCharges(
				[charge('Charge'), waiting('Wait', GOOD, { credentials })],
				{ Charge: to(['Wait']) },
				{ senderCheck: 'signature', signatureHeader: 'X', signatureSecret: '={{ "a" }}' },
			);
			expect(sent).toStrictEqual(['a']);
		},
	);

	test('of a charge that asks for no postback here are not looked at', async () => {
		const { sent } = await runCharges(
			[charge('Charge', undefined, { postback: 'none' }), waiting('Wait', UNKNOWN_CONDITION)],
			{ Charge: to(['Wait']) },
		);
		expect(sent).toStrictEqual(['a']);
	});
});
