import { createHmac, randomUUID } from 'node:crypto';
import type {
	IConnections,
	IDataObject,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	IRun,
} from 'n8n-workflow';
import { WAIT_INDEFINITELY } from 'n8n-workflow';
import {
	awaitedProofs,
	recordWait,
	recordExpectation,
	type ExpectationStore,
} from '../../nodes/Pay/postback/expectation';
import { withRandomProof } from '../../nodes/Pay/postback/proof';
import {
	errorOf,
	faultOnce,
	outputOf,
	payNode,
	runWorkflow,
	sandbox,
	sourceNode,
	to,
	withSandbox,
	type RunOptions,
} from './engine';
import { webhookNode } from './webhook';

/** The flow context of an execution that asked for the postback of "a". */
function asked() {
	const store = {};
	recordExpectation(store, { external_id: 'a', executionId: '42', hash: 'first' });
	return store;
}

/** Runs the wait with an item of its charge; gives until when the execution was put to sleep. */
async function wait(
	parameters: IDataObject,
	{ context, ...more }: Partial<RunOptions> = {},
	store: ExpectationStore = asked(),
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

test.each<[string, number | string, string, number]>([
	['text', ' 5 ', 'seconds', 5_000],
	['seconds', 2, 'seconds', 2_000],
	['minutes', 1.5, 'minutes', 90_000],
	['hours', 1, 'hours', 3_600_000],
	['days', 3, 'days', 259_200_000],
	['nothing', 0, 'hours', 0],
])('waits at most %s: %s %s are %d ms', async (_what, amount, unit, ms) => {
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

const matching = (matchField: string, value: string) => ({
	resumeWhen: 'match',
	matchField,
	matchValues: [value],
});
const NOT_LESS = /must be 0 or more/;
test.each<[string, IDataObject, RegExp, string, Partial<RunOptions>?]>([
	[
		...(['for two items', {}, /one postback at a time, but 2/, 'external_id'] as const),
		{ items: [{ external_id: 'a' }, { external_id: 'b' }] },
	],
	['for no identifier', { external_id: '={{ "" }}' }, /external_id\) is missing/, 'external_id'],
	['for a value of no field', matching('={{ "" }}', 'paid'), /values must both be/, 'matchField'],
	['for less than nothing', limited(-1, 'hours'), /or more, but is -1/, 'resumeAmount'],
	['for a word', limited('five', 'hours'), NOT_LESS, 'resumeAmount'],
	['for an empty text', limited('', 'hours'), NOT_LESS, 'resumeAmount'],
	['for null', limited(null, 'hours'), NOT_LESS, 'resumeAmount'],
	['for weeks', limited(1, 'weeks'), /must be one of seconds/, 'resumeUnit'],
	['for what every object has', limited(1, 'constructor'), /must be one of/, 'resumeUnit'],
	['for what nobody asked for', { external_id: 'b' }, /could never end/, 'external_id'],
	['for several values as one', matching('status', 'paid, no'), /holds a comma/, 'matchField'],
])('it does not wait %s', async (_what, parameters, why, field, more = {}) => {
	const { run, till } = await wait(parameters, more);
	expect(errorOf(run)?.message).toMatch(why);
	const settings = { onError: 'continueErrorOutput' } as const;
	const continued = await wait(parameters, { ...more, settings });
	const [failed] = outputOf(continued.run, 'Pay', 0, 1);
	expect(failed?.json.error).toMatchObject({ message: expect.stringMatching(why), field });
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
		{ error: { message: 'An AI agent of this version cannot wait for a postback' } },
	]);
	expect(till).toStrictEqual([]);
});

test('a wait begins where n8n has lost the run of an earlier one: a postback ended that', async () => {
	const store: ExpectationStore = asked();
	recordWait(store, { external_id: 'a', executionId: '42', node: 'Pay', run: 7 });
	recordExpectation(store, { external_id: 'a', executionId: '42', hash: 'newer' });
	const context: IDataObject = {};
	const getContext = (type: string) => (type === 'flow' ? store : context) as IDataObject;
	const { run } = await wait({}, { context: () => ({ getContext }) });
	expect(errorOf(run)).toBeUndefined();
	expect(context.awaited).toStrictEqual({
		proofs: [{ hash: 'newer', status: undefined, match: undefined }],
		given: ['first', 'newer'],
		id: expect.any(String),
		until: undefined,
	});
});

/** Runs the wait behind one whose limit is so far off, and how it ended. */
async function waitAfter(ms: number, ended: 'by a postback' | 'by its limit', cancelled = false) {
	const store: ExpectationStore = asked();
	const until = Date.now() + ms;
	recordWait(store, { external_id: 'b', executionId: '42', node: 'Source', run: 0, until });
	const items = [{ external_id: 'a', ...(ended === 'by a postback' && { postback: {} }) }];
	const context = () => (cancelled ? { getExecutionCancelSignal: () => AbortSignal.abort() } : {});
	let begun = 0;
	const putExecutionToWait = async () => void (begun = Date.now());
	const more = { items, context: () => ({ putExecutionToWait, ...context() }) };
	const { run } = await wait({}, more, store);
	expect(errorOf(run)).toBeUndefined();
	return begun - until;
}

// n8n sets a timer at most 70 s before a limit.
test.each([
	['by a postback', -4_000, false, true],
	['by its limit', -4_000, false, false],
	['by a postback', 100_000, false, false],
	['by a postback', 60_000, true, false],
] as const)(
	"a wait behind one that was ended %s %d ms before its limit (cancelled: %s) outlasts n8n's timer: %s",
	async (ended, ms, cancelled, outlasts) => {
		expect((await waitAfter(ms, ended, cancelled)) >= 5_000).toBe(outlasts);
	},
);

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

test('of its own postbacks it goes on at the one that matches; the others are taken', async () => {
	const about = { external_id: 'a', kind: 'payment', amount: 1 } as const;
	const { url, hash } = withRandomProof('https://a.example/', about);
	const node = webhookNode({
		item: { json: { external_id: 'a', kind: 'qrCode', amount: 4990 } },
		resumeToken: 'token',
		awaited: { proofs: [{ hash, match: { field: 'status', values: ['paid'] } }] },
	});
	const send = async (status: string) => await node.post(`${url}&signature=token`, { status });
	const pending = await send('pending');
	const why = 'The execution waits on: the field "status" has another value';
	expect([pending.status, pending.result]).toStrictEqual([undefined, { webhookResponse: why }]);
	// Nobody else hears of it, and the value is not for a log.
	expect(pending.log).toStrictEqual([
		expect.stringMatching(/the field "status" has another value/),
	]);
	const { workflowData } = (await send('paid')).result;
	expect(workflowData).toMatchObject([
		[{ json: { external_id: 'a', postback: { reference: about, body: { status: 'paid' } } } }],
	]);
});

test('an operation that waits for nothing takes no call, proven or not', async () => {
	const node = webhookNode({
		item: { json: { external_id: 'a' } },
		parameters: { resource: 'payment', operation: 'create' },
	});
	const { result, status } = await node.call({ method: 'POST', query: {}, headers: {} });
	expect([result, status]).toStrictEqual([{ noWebhookResponse: true }, 409]);
});

describe('the charge before it', () => {
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
	function mayWaitFor(run: IRun, external_id: string): boolean {
		const store = run.data.executionData!.contextData['flow'] as ExpectationStore;
		const { executionId = '' } = store.postbacks?.[0] ?? {};
		return awaitedProofs(store, external_id, executionId, () => false).length > 0;
	}

	test('may be answered from the ledger: what was accepted in the first try is expected still', async () => {
		faultOnce(503, 'b');
		const run = await chargeAndWait([{ id: 'a' }, { id: 'b' }], undefined, { isNext: false });
		// Two items cannot wait at once; both could in a loop.
		expect(errorOf(run)?.message).toMatch(/one postback at a time/);
		const sent = sandbox.bodies('qrcode').map(({ external_id }) => external_id as string);
		expect(sent.sort()).toStrictEqual(['a', 'b', 'b']);
		expect(['a', 'b', 'c'].map((id) => mayWaitFor(run, id))).toStrictEqual([true, true, false]);
	});

	test('of several right in front of one wait none is sent: it takes one item', async () => {
		const run = await chargeAndWait([{ id: 'a' }, { id: 'b' }]);
		expect(errorOf(run)?.message).toBe(
			'"Wait", which waits for this postback, takes one item at a time, but 2 QR codes would come to it',
		);
		expect(sandbox.received).toStrictEqual([]);
	});

	test.each([
		['in doubt', 500, undefined, true],
		['rejected', 400, undefined, false],
		['not sent, for nobody listens', 0, 'http://127.0.0.1:1', false],
	])('that is %s: whether it is expected', async (_what, status, baseUrl, isExpected) => {
		sandbox.faultFor = () => ({ kind: 'status', status, body: '{}' });
		const run = await chargeAndWait([{ id: 'a' }], baseUrl);
		expect(errorOf(run)).toBeDefined();
		expect(mayWaitFor(run, 'a')).toBe(isExpected);
	});

	test('is not expected where no request was sent', async () => {
		const run = await chargeAndWait([{ id: '' }]);
		expect(errorOf(run)?.message).toMatch(/is missing/);
		expect(sandbox.received).toHaveLength(0);
		expect(run.data.executionData!.contextData['flow']).not.toHaveProperty('postbacks');
	});

	test.each<IDataObject>([
		{ postback: 'none' },
		{ postback: 'url', postbackUrl: 'https://a.example/b' },
	])('that has its postback sent elsewhere is not waited for: %j', async (target) => {
		const run = await chargeAndWait([{ id: 'a' }], undefined, { target });
		expect(errorOf(run)?.message).toMatch(/could never end/);
		expect(mayWaitFor(run, 'a')).toBe(false);
	});

	const WORDS = {
		describeService: true,
		statusField: 'data.status',
		paidValues: 'paid\r\nSettled',
		failedValues: '\nno',
	};
	/** What a wait that has begun makes of a postback that says a word; its credential is not asked. */
	async function told({ data }: IRun, word: string) {
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
		['paid', { SETTLED: 'paid', no: undefined, pending: undefined }],
		['paidOrFailed', { paid: 'paid', No: 'failed', pending: undefined }],
		['any', { paid: 'paid', no: 'failed', pending: 'other' }],
	])(
		'hands the words of its account on: at %s the wait goes on with %j',
		async (resumeWhen, states) => {
			const run = await chargeAndWait([{ id: 'a' }], undefined, { words: WORDS, resumeWhen });
			expect(errorOf(run)).toBeUndefined();
			expect(run.waitTill).toBeInstanceOf(Date);
			for (const [word, state] of Object.entries(states)) expect(await told(run, word)).toBe(state);
		},
	);

	/** Posts "paid" to a wait with a credential of its own that asks for the service's signature. */
	async function signedWait(signature: (body: string) => string | undefined, now: IDataObject) {
		const words = {
			verifySignature: true,
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
		return result.workflowData === undefined ? status : 200;
	}
	const genuine = (body: string) =>
		createHmac('sha256', 'the secret of the service').update(body).digest('hex');

	test.each<[string, (body: string) => string | undefined, IDataObject, number]>([
		['its signature', genuine, {}, 200],
		['no signature', () => undefined, {}, 401],
		['that of another body', () => genuine('{"status":"pending"}'), {}, 401],
		['its signature, the switch being off by now', genuine, { verifySignature: false }, 401],
	])(
		'that asks for the signature of the service, with %s: %d',
		async (_what, sign, now, status) => {
			expect(await signedWait(sign, now)).toBe(status);
		},
	);

	test('whose credential has an expression in what the signature needs does not begin', async () => {
		const words = { verifySignature: true, signatureHeader: 'X', signatureSecret: '={{ "a" }}' };
		const run = await chargeAndWait([{ id: 'a' }], undefined, { words });
		expect(errorOf(run)?.message).toBe(
			'The Signature Secret of the Pay API credential holds an expression, which is not resolved for a wait',
		);
		expect(run.waitTill).toBeUndefined();
	});

	test('whose account has no words: what comes out has no state', async () => {
		const run = await chargeAndWait([{ id: 'a' }]);
		expect(await told(run, 'paid')).toBeUndefined();
	});

	test.each([
		['paid', {}, /mean "paid"$/, /credential of "Charge".*Status Field and Paid Values\.$/],
		['paid', { ...WORDS, paidValues: '' }, /mean "paid"$/, /Describe the Service/],
		['paidOrFailed', { ...WORDS, failedValues: '' }, /mean "paid" and "failed"$/, /Failed Values/],
		['paid', { ...WORDS, describeService: false }, /mean "paid"$/, /Describe the Service/],
		['Paid', WORDS, /Resume \(resumeWhen\) must be one of any, paid, .* is "Paid"$/, /Choose one/],
	])(
		'has no words for %s with %j: nothing is sent, and it says where to enter them',
		async (resumeWhen, words, why, advice) => {
			const run = await chargeAndWait([{ id: 'a' }], undefined, { words, resumeWhen });
			expect(errorOf(run)?.message).toMatch(why);
			expect(errorOf(run)?.message).toMatch(
				/^"Wait", which waits for this postback, could not begin/,
			);
			expect(errorOf(run)?.description).toMatch(advice);
			expect(errorOf(run)?.description).toMatch(/^Nothing was sent/);
			expect(sandbox.received).toHaveLength(0);
			expect(run.waitTill).toBeUndefined();
		},
	);
});

describe('the waits behind a charge', () => {
	withSandbox();
	const GUESSED = { resumeWhen: 'onPaid' };
	const GOOD = { resumeWhen: 'any' };
	const charge = (name: string, id = '={{ $json.id }}', more: IDataObject = {}) =>
		payNode(name, {
			resource: 'qrCode',
			amount: 1,
			external_id: id,
			postback: 'resume',
			...more,
		});
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
	/** How many charges go out, and what the first error and the hints say. */
	async function played(nodes: INode[], connections: IConnections, words: IDataObject = {}) {
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
		return { sent: sandbox.received.length, error: errorOf(run)?.message ?? '', hints };
	}

	test.each<[string, INode[], IConnections]>([
		['directly', [waiting('Wait', GUESSED)], { Charge: to(['Wait']) }],
		[
			'behind other nodes, one of them disabled',
			[other('A'), { ...other('B'), disabled: true }, waiting('Wait', GUESSED)],
			{ Charge: to(['A']), A: to(['B']), B: to(['Wait']) },
		],
		[
			'behind a disabled wait that is right',
			[waiting('Off', GOOD, { disabled: true }), waiting('Wait', GUESSED)],
			{ Charge: to(['Off']), Off: to(['Wait']) },
		],
		[
			'in all branches',
			[
				other('A'),
				waiting('Wait', GUESSED),
				waiting('Wait 2', { ...GOOD, limitWaitTime: true, resumeAmount: -1 }),
			],
			{ Charge: to(['A', 'Wait']), A: to(['Wait 2']) },
		],
		[
			'before a second charge and its wait, which is right',
			[waiting('Wait', GUESSED), charge('Charge 2'), waiting('Wait 2', GOOD)],
			{ Charge: to(['Wait']), Wait: to(['Charge 2']), 'Charge 2': to(['Wait 2']) },
		],
		[
			'in a loop',
			[waiting('Wait', GUESSED), other('A')],
			{ Charge: to(['Wait']), Wait: to(['A']), A: to(['Charge']) },
		],
		[
			'behind a second charge',
			[charge('Charge 2', '={{ $json.external_id }}-2'), waiting('Wait', GUESSED)],
			{ Charge: to(['Charge 2']), 'Charge 2': to(['Wait']) },
		],
		[
			'an operation that there is none of',
			[waiting('Wait', { operation: 'waitForPayment' })],
			{ Charge: to(['Wait']) },
		],
		[
			'with the id of another order',
			[waiting('Wait', { ...GOOD, external_id: 'b' })],
			{ Charge: to(['Wait']) },
		],
		[
			'with a limit in weeks',
			[waiting('Wait', { ...GOOD, limitWaitTime: true, resumeAmount: 1, resumeUnit: 'weeks' })],
			{ Charge: to(['Wait']) },
		],
	])('one that cannot begin, %s: nothing is sent', async (_, nodes, connections) => {
		const { sent, error } = await played([charge('Charge'), ...nodes], connections);
		expect(error).toMatch(/^"Wait", which waits for this postback, could not begin: \S/);
		expect(sent).toBe(0);
	});

	test.each<[string, INode[], IConnections]>([
		['right', [waiting('Wait', GOOD)], { Charge: to(['Wait']) }],
		[
			'an expression',
			[waiting('Wait', { ...GOOD, limitWaitTime: true, resumeAmount: '={{ 5 }}' })],
			{ Charge: to(['Wait']) },
		],
		[
			'right in one of two branches',
			[waiting('Bad', GUESSED), waiting('Wait', GOOD)],
			{ Charge: to(['Wait', 'Bad']) },
		],
		[
			'for a charge between, with its id',
			[charge('Charge 2', 'b'), waiting('Wait', { ...GOOD, external_id: 'b' })],
			{ Charge: to(['Charge 2']), 'Charge 2': to(['Wait']) },
		],
		[
			'for a charge before, with its id',
			[charge('Charge 2', 'b'), waiting('Wait', { ...GOOD, external_id: 'a' })],
			{ Charge: to(['Charge 2']), 'Charge 2': to(['Wait']) },
		],
	])('one that may be %s: all is sent, and no hint', async (_, nodes, connections) => {
		const charges = nodes.filter(({ parameters }) => parameters.resource === 'qrCode').length + 1;
		const { sent, hints } = await played([charge('Charge'), ...nodes], connections);
		expect({ sent, hints }).toStrictEqual({ sent: charges, hints: [] });
	});

	test.each<[string, INode[], IConnections]>([
		['none at all', [], {}],
		['a disabled one', [waiting('Off', GOOD, { disabled: true })], { Charge: to(['Off']) }],
		['one before it', [waiting('Wait', GUESSED)], { Wait: to(['Charge']) }],
	])('%s: it is sent, and a hint says that nothing is resumed', async (_, nodes, connections) => {
		const { sent, hints } = await played([charge('Charge'), ...nodes], connections);
		expect(sent).toBe(1);
		expect(hints).toStrictEqual([expect.stringMatching(/^No "Wait for postback" stands behind/)]);
	});

	test.each([
		['a wait without a credential', undefined, 1],
		['a wait with one', { payApi: { id: '1', name: 'Pay API' } }, 0],
	])(
		'%s, of a charge whose service signs: whether a hint says that it does not check',
		async (_, credentials, count) => {
			const { hints } = await played(
				[charge('Charge'), waiting('Wait', GOOD, { credentials })],
				{ Charge: to(['Wait']) },
				{
					verifySignature: true,
					signatureHeader: 'X-Signature',
					signatureSecret: 'the secret of the service',
				},
			);
			expect(
				hints.filter((hint) => /does not check the service's signature/.test(hint)),
			).toHaveLength(count);
		},
	);

	test('of a charge that asks for no postback here are not looked at', async () => {
		const { sent } = await played(
			[charge('Charge', undefined, { postback: 'none' }), waiting('Wait', GUESSED)],
			{ Charge: to(['Wait']) },
		);
		expect(sent).toBe(1);
	});
});

describe('a claim that was lost', () => {
	withSandbox();

	test('a run that has lost its claim behind a wait to another process sends nothing in its retries either', async () => {
		const wait = { external_id: 'a', executionId: '42', node: 'Wait', run: 0 };
		const flow = { postbacks: [wait] };
		const known = new Set(['n8n-nodes-pay:passage:42 1']);
		const checkProcessedAndRecord = async (keys: string[]) => {
			const processed = keys.filter((key) => known.has(key));
			for (const key of keys) known.add(key);
			return { new: keys.filter((key) => !processed.includes(key)), processed };
		};
		const helpers = (real: IExecuteFunctions) => ({ ...real.helpers, checkProcessedAndRecord });
		const run = await runWorkflow({
			executionId: '42',
			items: [{ id: 'pay-1' }],
			credential: { baseUrl: sandbox.url },
			parameters: {
				resource: 'payment',
				operation: 'create',
				amount: '1',
				external_id: '={{ $json.id }}',
				creditParty: { key: 'k' },
			},
			settings: { retryOnFail: true, maxTries: 3 },
			context: (real) => ({
				getContext: () => flow as unknown as IDataObject,
				helpers: helpers(real) as unknown as IExecuteFunctions['helpers'],
			}),
		});
		expect(errorOf(run)?.message).toMatch(
			/^n8n runs this execution a second time from an earlier wait/,
		);
		expect(sandbox.received).toHaveLength(0);
	});
});
