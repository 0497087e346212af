import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	INodeExecutionData,
} from 'n8n-workflow';
import {
	arrived,
	batches,
	CHARGE,
	CONTINUE,
	errorOf,
	faultOnce,
	FIELDS,
	hintsOf,
	isRecorded,
	itemsFor,
	outcomes,
	outputOf,
	pay,
	payNode,
	resultsOf,
	sandbox,
	sourceNode,
	storeHooks,
	to,
	withSandbox,
	workflowId,
	type RunOptions,
} from './engine';

withSandbox();

/** A recipient, without whom there is a hint. */
const RECIPIENT = { creditParty: { key: 'k' } };
const databaseIsLocked = () => {
	throw new Error('database is locked');
};

describe('options hold for the whole run', () => {
	// Longer than a busy machine takes for an item.
	const options = { timeout: '={{ $json.slow ? 120000 : 60000 }}' };
	const items = [...itemsFor('a'), { id: 'b', amount: 1, slow: true }, ...itemsFor('c')];

	test('an item whose options differ stops the run before anything is sent', async () => {
		const run = await pay(items, {}, options);
		expect(errorOf(run)?.context).toMatchObject({ data: { field: 'options' } });
		expect(errorOf(run)?.description).toContain('"b" (line 2 of the list)');
		expect(arrived()).toStrictEqual([]);
	});

	test('under "continue" it is refused alone', async () => {
		const run = await pay(items, { settings: CONTINUE }, options);
		expect(outcomes(run)).toStrictEqual(['accepted', 'notSent', 'accepted']);
		expect(arrived()).toStrictEqual(['a', 'c']);
	});

	test('an expression that gives every item the same is fine', async () => {
		const run = await pay(itemsFor('a', 'b'), {}, { timeout: '={{ 30000 + 30000 }}' });
		expect(outcomes(run)).toStrictEqual(['accepted', 'accepted']);
	});

	test('additional members are part of the body, and may differ', async () => {
		const additionalMembers = '={{ JSON.stringify({ note: $json.id }) }}';
		await pay(itemsFor('a', 'b'), {}, { additionalMembers });
		expect(sandbox.bodies('payment').map(({ note }) => note)).toStrictEqual(['a', 'b']);
	});
});

test.each([{ operation: 'nothing' }, { resource: 'charge' }])(
	'under "continue" an unknown choice is a failed item, whatever came in: %j',
	async (parameters) => {
		const item = { id: 'a', amount: 1, outcome: 'accepted' };
		const run = await pay([item], { parameters, settings: CONTINUE });
		const [{ json }] = outputOf(run, 'Pay') as [INodeExecutionData];
		expect(Object.keys(json)).toStrictEqual(['error']);
		expect(sandbox.received).toStrictEqual([]);
	},
);

describe('the memory of payments', () => {
	test('is a list of the workflow: of two nodes that record one id at once one pays', async () => {
		const other = () => ({
			nodes: [sourceNode('Source', itemsFor('both')), payNode('Other', { ...FIELDS }, CONTINUE)],
			connections: { Source: to(['Other']) },
		});
		const bothPay = async () =>
			await Promise.all([
				pay(itemsFor('both'), { settings: CONTINUE }),
				pay([], { workflow: other() }),
			]);
		const both = async () => {
			const [one, two] = await bothPay();
			return [outcomes(one), outcomes(two, 'Other')];
		};
		expect((await both()).flat().sort()).toStrictEqual(['accepted', 'duplicate']);
		expect(await both()).toStrictEqual([['duplicate'], ['duplicate']]);
		expect(arrived()).toStrictEqual(['both']);
	});

	test.each<{ what: string; thrown: unknown }>([
		{ what: 'an error', thrown: new Error('database is locked') },
		{ what: 'what is no error', thrown: 'database is locked' },
	])('that throws $what lets no payment pass', async ({ thrown }) => {
		storeHooks.before = async () => await Promise.reject(thrown as Error);
		const run = await pay(itemsFor('b'));
		expect(errorOf(run)?.context).toMatchObject({ data: { outcome: 'notSent' } });
		expect(arrived()).toStrictEqual([]);
	});

	const withHelpers = (helpers: object) => (context: IExecuteFunctions) => ({
		helpers: { ...context.helpers, ...helpers },
	});

	test('a database that fails once the payment is out: it is accepted, and the doubt a hint', async () => {
		sandbox.faultFor = () => {
			storeHooks.before = databaseIsLocked;
			return undefined;
		};
		const parameters = { ...RECIPIENT, postback: 'none' };
		const run = await pay(itemsFor('a'), { parameters });
		expect(outcomes(run)).toStrictEqual(['accepted']);
		expect(hintsOf(run)).toHaveLength(1);
	});

	test('a refusal under "stop", and the rest of its batch cannot be taken back: that is a hint', async () => {
		await pay(itemsFor('paid'));
		const removeProcessed = async () => await Promise.reject(new Error('disk full'));
		const hints: string[] = [];
		// n8n keeps no hint of a node that fails.
		const context: RunOptions['context'] = (real) => ({
			...withHelpers({ removeProcessed })(real),
			addExecutionHints: (...all) => void hints.push(...all.map(({ message }) => message)),
		});
		const run = await pay(itemsFor('next', 'paid'), { context }, batches(2));
		expect(errorOf(run)?.context).toMatchObject({ data: { outcome: 'duplicate' } });
		expect(hints).toContainEqual(expect.stringContaining('"next"'));
		expect(arrived()).toStrictEqual(['paid']);
	});
});

describe('what was accepted is never hidden', () => {
	const charge = { resource: 'qrCode', qrCodeImage: true };

	test('a binary field that cannot be resolved is refused before the charge is made', async () => {
		const binaryPropertyName = "={{ $json.id === 'b' ? $('Nowhere').item.json.x : 'data' }}";
		const parameters = { ...charge, binaryPropertyName };
		const run = await pay(itemsFor('a', 'b'), { parameters, settings: CONTINUE });
		expect(outcomes(run)).toStrictEqual(['accepted', 'notSent']);
		expect(sandbox.bodies('qrcode')).toHaveLength(1);
	});

	test.each(['', ' ', '__proto__'])('a binary field named %p is refused', async (name) => {
		const parameters = { ...charge, binaryPropertyName: `={{ ${JSON.stringify(name)} }}` };
		const run = await pay(itemsFor('a'), { parameters });
		expect(errorOf(run)?.context).toMatchObject({ data: { field: 'binaryPropertyName' } });
		expect(sandbox.received).toStrictEqual([]);
	});

	const full = async () => Promise.reject(new Error('ENOSPC: no space left on device'));

	test('an image that cannot be stored is a hint', async () => {
		const context = ({ helpers }: IExecuteFunctions) => ({
			helpers: { ...helpers, prepareBinaryData: full },
		});
		const run = await pay(itemsFor('a'), { parameters: charge, context });
		expect(outcomes(run)).toStrictEqual(['accepted']);
		expect(hintsOf(run)).toContainEqual(expect.stringContaining('ENOSPC'));
	});

	test.each<{ what: string; context: (context: IExecuteFunctions) => Partial<IExecuteFunctions> }>([
		{ what: 'fails to show hints', context: () => ({ addExecutionHints: () => void fail() }) },
		{ what: 'fails to highlight', context: () => ({ customData: { set: fail } }) as never },
	])('an n8n that $what still hears "accepted"', async ({ context }) => {
		// Without a key of the recipient there is a hint to show.
		const run = await pay(itemsFor('a'), { context });
		expect(outcomes(run)).toStrictEqual(['accepted']);
		expect(arrived()).toStrictEqual(['a']);
	});
	function fail(): never {
		throw new Error('not in this n8n');
	}
});

// What makes another request, and another account: test/run/fingerprint.test.ts.
test.each<{ what: string; parameters: IDataObject; credential: IDataObject }>([
	{ what: 'another recipient', parameters: { creditParty: { key: 'right' } }, credential: {} },
	{ what: 'another account', parameters: {}, credential: { schemeName: 'fast' } },
])('a re-run for $what is a duplicate, and not sent', async ({ parameters, credential }) => {
	faultOnce(422, 'b');
	const items = itemsFor('a', 'b');
	const previous = await pay(items);
	expect(errorOf(previous)?.context).toMatchObject({ data: { outcome: 'rejected' } });
	const run = await pay(items, {
		previous,
		parameters,
		credential: { describeService: true, ...credential },
	});
	expect(errorOf(run)?.context).toMatchObject({
		data: { outcome: 'duplicate', external_id: 'a' },
	});
	expect(arrived()).toStrictEqual(['a', 'b']);
});

/** A context that hands on what the Pay node logs as a warning, as n8n's log as text has it. */
const warned = (warn: (line: string) => void) =>
	(({ logger }: IExecuteFunctions) => ({
		logger: { debug: logger.debug, warn: (line: string) => warn(line) },
	})) as unknown as RunOptions['context'];

test('a cancelled execution logs what was accepted and what is in flight, and starts nothing new', async () => {
	const logged: string[] = [];
	let cancel = () => {};
	sandbox.faultFor = ({ body }) => {
		if (!body.includes('"b"')) return undefined;
		cancel();
		return { kind: 'delay', ms: 50 };
	};
	await new Promise<void>((resolve) => {
		const context = warned((line) => logged.push(line) === 2 && resolve());
		const onStart = (stop: () => void) => (cancel = stop);
		pay(itemsFor('a', 'b', 'c'), { context, onStart, executionId: '42' }).catch(() => undefined);
	});
	const place = `"workflow":"${workflowId()}","workflowId":"${workflowId()}","node":"Pay"`;
	expect(logged).toStrictEqual([
		`Pay: the execution was stopped while it was sending payments. Responses to the requests in flight are still expected. {${place},"executionId":"42","accepted":["a"],"unknown":[],"inFlight":["b"],"notReached":["c"]}`,
		`Pay: the execution was stopped while it was sending payments. This is what became of its requests. {${place},"executionId":"42","accepted":["a","b"],"unknown":[],"inFlight":[],"notReached":["c"]}`,
	]);
	expect(arrived()).toStrictEqual(['a', 'b']);
	// A later execution may pay what was not sent, and nothing else.
	expect(['a', 'b', 'c'].map(isRecorded)).toStrictEqual([true, true, false]);
});

test('the pause between two batches ends when the execution is cancelled', async () => {
	const batching = { batch: { batchSize: 1, batchInterval: 3_600_000 } };
	let cancel = () => {};
	let hasEnded = () => {};
	const ended = new Promise<void>((resolve) => (hasEnded = resolve));
	const context: RunOptions['context'] = (real) => ({
		...warned((text) => {
			// n8n itself does not wait for a node whose execution is cancelled.
			if (text.includes('This is what became of its requests')) hasEnded();
		})!(real),
		helpers: {
			...real.helpers,
			httpRequest: async (options: IHttpRequestOptions): Promise<unknown> => {
				try {
					return await real.helpers.httpRequest(options);
				} finally {
					// By then the first payment was accepted, and the pause has begun.
					setTimeout(() => cancel(), 1000);
				}
			},
		},
	});
	const onStart = (stop: () => void) => (cancel = stop);
	pay(itemsFor('a', 'b'), { context, onStart }, { batching }).catch(() => undefined);
	await ended;
	expect(arrived()).toStrictEqual(['a']);
});

test('a run that nobody cancels logs nothing, nor does one that is cancelled when it has ended', async () => {
	const warn = jest.fn();
	const controller = new AbortController();
	const context: RunOptions['context'] = (real) => ({
		...warned(warn)!(real),
		getExecutionCancelSignal: () => controller.signal,
	});
	const run = await pay(itemsFor('a'), { context });
	expect(outcomes(run)).toStrictEqual(['accepted']);
	controller.abort();
	expect(warn).not.toHaveBeenCalled();
	// The control: this signal is the one that the node listens to.
	await pay(itemsFor('b'), { context, settings: CONTINUE });
	expect(warn).toHaveBeenCalled();
	expect(arrived()).toStrictEqual(['a']);
});

describe('the report', () => {
	test('tells only the item concerned that its id stays remembered', async () => {
		sandbox.faultFor = ({ body }) => {
			storeHooks.before = databaseIsLocked;
			return { kind: 'status', status: body.includes('"b"') ? 422 : 500 };
		};
		const run = await pay(itemsFor('a', 'b', 'c'), { settings: CONTINUE }, batches(3));
		expect(outcomes(run)).toStrictEqual(['unknown', 'rejected', 'unknown']);
		const words =
			'The duplicate check still remembers "b", because n8n\'s database failed (database is locked): to send it, use a new External ID.';
		expect(
			resultsOf(run).map(({ description }) => (description as string).includes(words)),
		).toStrictEqual([false, true, false]);
	});

	test('an identifier that changes with each try brings a hint; a payment, once for all items', async () => {
		const external_id = "={{ $json.id + '-' + $now.toMillis() }}";
		const parameters = { ...FIELDS, external_id };
		const run = await pay(itemsFor('a', 'b'), { parameters });
		expect(hintsOf(run).filter((hint) => /contains \$now/.test(String(hint)))).toHaveLength(1);
		const charge = await pay(itemsFor('a'), { parameters: { ...CHARGE, external_id } });
		expect(outcomes(charge)).toStrictEqual(['accepted']);
		expect(hintsOf(charge).join()).not.toMatch(/contains \$now/);
	});

	test('an execution of one item is findable by its external_id and outcome', async () => {
		const run = await pay(itemsFor('a'));
		expect(run.data.resultData.metadata).toStrictEqual({
			payment_external_id: 'a',
			payment_outcome: 'accepted',
		});
		const three = await pay(itemsFor('b', 'a', 'c'), { settings: CONTINUE });
		expect(three.data.resultData.metadata).toStrictEqual({
			payment_1_external_id: 'b',
			payment_1_outcome: 'accepted',
			payment_2_external_id: 'a',
			payment_2_outcome: 'duplicate',
			payment_3_external_id: 'c',
			payment_3_outcome: 'accepted',
		});
		const many = await pay(itemsFor('d', 'e', 'f', 'g'));
		expect(many.data.resultData.metadata ?? {}).toStrictEqual({});
		const nameless = await pay([{ amount: 1 }, ...itemsFor('h')], { settings: CONTINUE });
		expect(nameless.data.resultData.metadata).toStrictEqual({
			payment_2_external_id: 'h',
			payment_2_outcome: 'accepted',
		});
	});

	test('of hints that differ from item to item, ten are shown; of one for all, one', async () => {
		const to = (postbackUrl: string) => ({ ...RECIPIENT, postback: 'url', postbackUrl });
		const items = Array.from({ length: 12 }, (_, n) => ({ id: `${n}`, amount: 1, n }));
		const each = await pay(items, { parameters: to('={{ "http://10.0.0." + $json.n }}') });
		expect(hintsOf(each)).toHaveLength(10);
		const all = await pay(itemsFor('x', 'y'), { parameters: to('http://10.0.0.1') });
		expect(hintsOf(all)).toHaveLength(1);
	});

	test('a hint is about what was sent: a run that sent nothing has none of its own', async () => {
		const creditParty = { key: '={{ 12345 }}' };
		const more = { parameters: { creditParty }, settings: CONTINUE };
		const hints = async (...list: string[]) => hintsOf(await pay(itemsFor(...list), more));
		expect(await hints('a', 'b')).toHaveLength(2);
		// How many were not sent, and no more.
		expect(await hints('a', 'b')).toHaveLength(1);
	});

	test('an item with a bad postback is told by its id and the field', async () => {
		const parameters = { postback: 'url', postbackUrl: 'no address' };
		const run = await pay(itemsFor(' a '), { parameters, settings: CONTINUE });
		expect(resultsOf(run)).toMatchObject([
			{ external_id: 'a', outcome: 'notSent', field: 'postbackUrl' },
		]);
		// An id that is read is told, whatever came in for it.
		const big = { ...parameters, external_id: '={{ BigInt("1042") }}' };
		const other = await pay(itemsFor('a'), { parameters: big, settings: CONTINUE });
		expect(resultsOf(other)).toMatchObject([{ external_id: '1042', field: 'postbackUrl' }]);
	});

	test('an item that cannot be read is told by its id, in the form in which it would be sent', async () => {
		const items = [
			{ id: ' cafe\u0301 ', amount: '10,50' },
			{ id: 7, amount: 0 },
			{ id: true, amount: 1 },
		];
		const run = await pay(items, { settings: CONTINUE });
		const ids = resultsOf(run).map(({ external_id }) => external_id);
		expect(ids).toStrictEqual(['caf\u00e9', '7', undefined]);
	});
});

// What some version or context of n8n lacks, as the table in nodes/Pay/run/README.md has it.
describe('an n8n without', () => {
	/** A tool reads nothing of an item. */
	const TOOL = {
		settings: { type: 'n8n-nodes-pay.payTool' },
		parameters: { amount: 1, external_id: 'a' } as IDataObject,
	};
	const without = (name: string) => () => ({ [name]: undefined }) as Partial<IExecuteFunctions>;
	const payOne = async (more: Partial<RunOptions> = {}) => await pay(itemsFor('a'), more);

	async function paysWithout(name: string, more: Partial<RunOptions> = {}) {
		const run = await payOne({ context: without(name), ...more });
		expect([outcomes(run), arrived()]).toStrictEqual([['accepted'], ['a']]);
		return run;
	}

	test('addExecutionHints pays, and shows hints only where it is there', async () => {
		const parameters = { ...TOOL.parameters, options: { allowAiPayments: true } };
		const run = await paysWithout('addExecutionHints', { ...TOOL, parameters });
		expect(hintsOf(run)).toStrictEqual([]);
		sandbox.faultFor = () => ({ kind: 'status', status: 201, body: '{}' });
		const charge = await payOne({ parameters: { ...CHARGE, postback: 'none' } });
		expect(hintsOf(charge)).toHaveLength(1);
	});

	test('customData pays, and highlights all the same', async () => {
		const run = await paysWithout('customData');
		expect(run.data.resultData.metadata).toMatchObject({ payment_external_id: 'a' });
	});

	test('isToolExecution pays, and knows a tool by its type', async () => {
		const refused = await payOne({ context: without('isToolExecution'), ...TOOL });
		expect(resultsOf(refused)[0]).toMatchObject({ outcome: 'notSent', field: 'allowAiPayments' });
		expect(arrived()).toStrictEqual([]);
		await paysWithout('isToolExecution');
	});

	test('getExecutionCancelSignal pays', async () => {
		await paysWithout('getExecutionCancelSignal');
	});

	test.each(['checkProcessedAndRecord', 'removeProcessed', 'getProcessedDataCount'])(
		'%s makes no payment, only QR codes',
		async (name) => {
			const context: RunOptions['context'] = ({ helpers }) => ({
				helpers: { ...helpers, [name]: undefined },
			});
			const refused = await payOne({ context });
			expect(errorOf(refused)?.context).toMatchObject({ data: { outcome: 'notSent' } });
			expect(arrived()).toStrictEqual([]);
			expect(outcomes(await payOne({ parameters: CHARGE, context }))).toStrictEqual(['accepted']);
			expect(outcomes(await payOne())).toStrictEqual(['accepted']);
		},
	);
});
