import { randomUUID } from 'node:crypto';
import type { IDataObject, IExecuteFunctions, IRun } from 'n8n-workflow';
import { Sandbox } from '../../sandbox/service';
import {
	errorOf,
	isRecorded,
	outputOf,
	payNode,
	runWorkflow,
	sinkNode,
	sourceNode,
	to,
	withSandbox,
	store,
	storeHooks,
	type RunOptions,
} from './engine';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

let sandbox: Sandbox;
withSandbox((started) => (sandbox = started));

const FIELDS = { amount: '={{ $json.amount }}', external_id: '={{ $json.id }}' };
const CONTINUE = { onError: 'continueRegularOutput' } as const;
const arrived = () => sandbox.bodies('payment').map(({ external_id }) => external_id);
const itemsFor = (...ids: string[]) => ids.map((id) => ({ id, amount: 1 }));

async function pay(
	items: IDataObject[],
	options: IDataObject = {},
	{ parameters, ...more }: Partial<RunOptions> = {},
) {
	return await runWorkflow({
		credential: { baseUrl: sandbox.url },
		items,
		parameters: { ...FIELDS, options, ...parameters },
		...more,
	});
}

const told = (run: IRun) => outputOf(run, 'Success').map(({ json }) => json.error ?? json);
const outcomes = (run: IRun) => told(run).map((each) => (each as IDataObject).outcome);
const hintsOf = (run: IRun) =>
	(run.data.resultData.runData.Pay ?? []).flatMap(({ hints = [] }) =>
		hints.map(({ message }) => message),
	);

describe('options hold for the whole run', () => {
	const options = { timeout: '={{ $json.slow ? 20000 : 10000 }}' };
	const items = [...itemsFor('a'), { id: 'b', amount: 1, slow: true }, ...itemsFor('c')];

	test('an item whose options differ stops the run before anything is sent', async () => {
		const run = await pay(items, options);
		expect(errorOf(run)?.message).toMatch(
			/Options of this item differ from those of the first item/,
		);
		expect(errorOf(run)?.context).toMatchObject({ itemIndex: 1, data: { field: 'options' } });
		expect(arrived()).toStrictEqual([]);
	});

	test('under "continue" it is refused alone', async () => {
		const run = await pay(items, options, { settings: CONTINUE });
		expect(outcomes(run)).toStrictEqual(['accepted', 'notSent', 'accepted']);
		expect(arrived()).toStrictEqual(['a', 'c']);
	});

	test('an expression that gives every item the same is fine', async () => {
		const run = await pay(itemsFor('a', 'b'), { timeout: '={{ 5000 + 5000 }}' });
		expect(outcomes(run)).toStrictEqual(['accepted', 'accepted']);
	});

	test('additional members are part of the body, and may differ', async () => {
		const additionalMembers = '={{ JSON.stringify({ note: $json.id }) }}';
		await pay(itemsFor('a', 'b'), { additionalMembers });
		expect(sandbox.bodies('payment').map(({ note }) => note)).toStrictEqual(['a', 'b']);
	});
});

describe('a value that is none of those allowed is refused before anything is sent', () => {
	const batch = (values: IDataObject) => ({ options: { batching: { batch: values } } });
	test.each<[string, IDataObject, string]>([
		['no items in a batch', batch({ batchSize: 0 }), 'batchSize'],
		['more than the duplicate check holds', batch({ batchSize: 1001 }), 'batchSize'],
		['a batch size as text', batch({ batchSize: '={{ "5" }}' }), 'batchSize'],
		['a pause before now', batch({ batchInterval: -1 }), 'batchInterval'],
		['a pause of over an hour', batch({ batchInterval: 3_600_001 }), 'batchInterval'],
		['no time at all', { options: { timeout: 0 } }, 'timeout'],
		['more time than a timer holds', { options: { timeout: 2 ** 31 } }, 'timeout'],
		[
			'an unknown postback',
			{ postback: '={{ "somewhere" }}', postbackUrl: 'https://a.example' },
			'postback',
		],
	])('%s', async (_name, parameters, field) => {
		const run = await pay(itemsFor('a'), {}, { parameters });
		expect(errorOf(run)?.context).toMatchObject({ data: { outcome: 'notSent', field } });
		expect(sandbox.received).toStrictEqual([]);
	});
});

test.each<[string, IDataObject]>([
	['nothing', { key: '={{ $json.nope }}', keyType: 'email' }],
	['null', { key: '={{ null }}', keyType: 'email' }],
	['a text of nothing', { key: '={{ "" + $json.nope }}' }],
	['an object', { key: '={{ $json }}' }],
])(
	'a recipient whose key comes out as %s is not left out: the payment is refused',
	async (_what, creditParty) => {
		const run = await pay(itemsFor('a'), {}, { parameters: { creditParty } });
		expect(errorOf(run)?.context).toMatchObject({
			data: { outcome: 'notSent', field: 'creditParty.key' },
		});
		expect(arrived()).toStrictEqual([]);
	},
);

test('answers that are too large together to be stored are left out, and all are accepted', async () => {
	const big = 'x'.repeat(9_000_000);
	let n = 0;
	sandbox.faultFor = () => ({ kind: 'status', status: 200, body: JSON.stringify({ n: n++, big }) });
	const run = await pay(itemsFor('1', '2', '3', '4', '5', '6', '7'));
	expect(outcomes(run)).toStrictEqual(Array(7).fill('accepted'));
	const left = told(run).map((each) => typeof (each as IDataObject).response === 'string');
	expect(left).toStrictEqual([false, false, false, false, false, true, true]);
});

test.each([
	[{ operation: 'nothing' }, /There is no operation "nothing" of "payment"/],
	[{ resource: 'nothing' }, /Could not get parameter "operation"/],
])('under "continue" an unknown choice is a failed item: %j', async (parameters, message) => {
	const item = { id: 'a', amount: 1, outcome: 'accepted' };
	const run = await pay([item], {}, { parameters, settings: CONTINUE });
	const { error } = outputOf(run, 'Success')[0]!.json;
	expect(outputOf(run, 'Success').map(({ json }) => json)).toStrictEqual([{ error }]);
	expect(error).toMatchObject({ message: expect.stringMatching(message) });
	expect(sandbox.received).toStrictEqual([]);
});

describe('the memory of payments', () => {
	test('is a list of each node: two that record one id at once each remember it', async () => {
		const other = () => ({
			nodes: [
				sourceNode('Source', itemsFor('both')),
				payNode('Other', { ...FIELDS }, CONTINUE),
				sinkNode('Success'),
			],
			connections: { Source: to(['Other']), Other: to(['Success']) },
		});
		const bothPay = async () =>
			await Promise.all([
				pay(itemsFor('both'), {}, { settings: CONTINUE }),
				pay([], {}, { workflow: other() }),
			]);
		expect((await bothPay()).map(outcomes)).toStrictEqual([['accepted'], ['accepted']]);
		expect((await bothPay()).map(outcomes)).toStrictEqual([['duplicate'], ['duplicate']]);
		expect(arrived()).toStrictEqual(['both', 'both']);
	});

	test('is a list of the node, which no Remove Duplicates node shares', async () => {
		const rows = new Set<string>();
		storeHooks.written = ({ context }) => void rows.add(context);
		await pay(itemsFor('a'));
		expect([...rows]).toStrictEqual([expect.stringMatching(/^workflow-\d+ n:Pay$/)]);
	});

	test('that cannot be looked at lets no payment pass', async () => {
		storeHooks.before = () => {
			throw new Error('database is locked');
		};
		const failed = await pay(itemsFor('b'));
		expect(errorOf(failed)?.message).toBe('The duplicate check failed: database is locked');
		expect(arrived()).toStrictEqual([]);
	});

	const withHelpers = (helpers: object) => (context: IExecuteFunctions) => ({
		helpers: { ...context.helpers, ...helpers },
	});

	test.each<[string, object, RegExp]>([
		['is missing', { checkProcessedAndRecord: undefined }, /no store/],
		['cannot remove', { removeProcessed: undefined }, /no store/],
		[
			'answers neither new nor processed',
			{ checkProcessedAndRecord: async () => ({ new: [], processed: [] }) },
			/duplicate check failed/,
		],
		[
			'throws what is no error',
			{ checkProcessedAndRecord: async () => await Promise.reject('it is down' as never) },
			/duplicate check failed: it is down/,
		],
	])('a store that %s lets no payment pass', async (_what, helpers, why) => {
		const run = await pay(itemsFor('a'), {}, { context: withHelpers(helpers) });
		expect(errorOf(run)?.message).toMatch(why);
		expect(errorOf(run)?.context).toMatchObject({ data: { outcome: 'notSent' } });
		expect(arrived()).toStrictEqual([]);
	});

	test('what another process overwrote while the payment was out is recorded again at the end', async () => {
		sandbox.faultFor = () => {
			store.clear();
			return undefined;
		};
		expect(outcomes(await pay(itemsFor('a')))).toStrictEqual(['accepted']);
		expect(isRecorded('a')).toBe(true);
	});

	test('a database that fails once the payment is out: it is accepted, and the doubt a hint', async () => {
		sandbox.faultFor = () => {
			storeHooks.before = () => {
				throw new Error('database is locked');
			};
			return undefined;
		};
		const parameters = { creditParty: { key: 'k' }, postback: 'none' };
		const run = await pay(itemsFor('a'), {}, { parameters });
		expect(outcomes(run)).toStrictEqual(['accepted']);
		expect(hintsOf(run)).toStrictEqual([
			expect.stringMatching(/may forget "a".*database is locked/),
		]);
	});

	test('a refusal under "stop", and the rest of its batch cannot be taken back: that is a hint', async () => {
		await pay(itemsFor('paid'));
		const removeProcessed = async () => await Promise.reject(new Error('disk full'));
		const hints: string[] = [];
		const run = await pay(
			itemsFor('next', 'paid'),
			{ batching: { batch: { batchSize: 2 } } },
			{
				// n8n keeps no hint of a node that fails.
				context: (context) => ({
					...withHelpers({ removeProcessed })(context),
					addExecutionHints: (...all) => void hints.push(...all.map(({ message }) => message)),
				}),
			},
		);
		expect(errorOf(run)?.context).toMatchObject({ data: { outcome: 'duplicate' } });
		expect(hints).toContainEqual(
			expect.stringMatching(/still remembers "next", because .*disk full/),
		);
	});
});

describe('what was accepted is never hidden', () => {
	const charge = { resource: 'qrCode', qrCodeImage: true };

	test('a binary field that cannot be resolved is refused before the charge is made', async () => {
		const binaryPropertyName = "={{ $json.id === 'b' ? $('Nowhere').item.json.x : 'data' }}";
		const parameters = { ...charge, binaryPropertyName };
		const run = await pay(itemsFor('a', 'b'), {}, { parameters, settings: CONTINUE });
		expect(outcomes(run)).toStrictEqual(['accepted', 'notSent']);
		expect(sandbox.bodies('qrcode')).toHaveLength(1);
	});

	test.each(['', ' ', '__proto__'])('a binary field named %p is refused', async (name) => {
		const parameters = { ...charge, binaryPropertyName: `={{ ${JSON.stringify(name)} }}` };
		const run = await pay(itemsFor('a'), {}, { parameters });
		expect(errorOf(run)?.context).toMatchObject({ data: { field: 'binaryPropertyName' } });
		expect(sandbox.received).toStrictEqual([]);
	});

	const full = async () => Promise.reject(new Error('ENOSPC: no space left on device'));

	test('an image that cannot be stored is a hint', async () => {
		const context = ({ helpers }: IExecuteFunctions) => ({
			helpers: { ...helpers, prepareBinaryData: full },
		});
		const run = await pay(itemsFor('a'), {}, { parameters: charge, context });
		expect(outcomes(run)).toStrictEqual(['accepted']);
		expect(hintsOf(run)).toContainEqual(expect.stringMatching(/"a", which was accepted: ENOSPC/));
	});

	test.each<[string, (context: IExecuteFunctions) => Partial<IExecuteFunctions>]>([
		[
			'has no hints, as in agents of 1.99 to 1.117',
			() => ({ addExecutionHints: undefined }) as never,
		],
		['fails to show hints', () => ({ addExecutionHints: () => void fail() })],
		['has no highlighted data', () => ({ customData: undefined }) as never],
		['fails to highlight', () => ({ customData: { set: fail } }) as never],
		['has no cancel signal', () => ({ getExecutionCancelSignal: undefined }) as never],
	])('an n8n that %s still hears "accepted"', async (_what, context) => {
		// Without a key of the recipient there is a hint to show.
		const run = await pay(itemsFor('a'), {}, { context });
		expect(outcomes(run)).toStrictEqual(['accepted']);
		expect(arrived()).toStrictEqual(['a']);
	});
	function fail(): never {
		throw new Error('not in this n8n');
	}
});

describe('a re-run', () => {
	const twice = async (first: IDataObject, second: IDataObject) => {
		sandbox.faultFor = ({ body }) =>
			body.includes('"b"') ? { kind: 'status', status: 422 } : undefined;
		const items = itemsFor('a', 'b');
		const failed = await pay(items, {}, { parameters: first });
		expect(errorOf(failed)?.context).toMatchObject({ data: { outcome: 'rejected' } });
		sandbox.faultFor = undefined;
		return await pay(items, {}, { parameters: second, previous: failed });
	};
	const to = (key: string) => ({ creditParty: { key } });

	test('gives back what was accepted', async () => {
		const run = await twice(to('k'), to('k'));
		expect(outcomes(run)).toStrictEqual(['accepted', 'accepted']);
		expect(arrived()).toStrictEqual(['a', 'b', 'b']);
	});

	test.each<[string, IDataObject, IDataObject]>([
		['another recipient', to('wrong'), to('right')],
		['another amount', {}, { amount: 7 }],
		['another additional member', {}, { options: { additionalMembers: '{"x":1}' } }],
	])('to %s is a duplicate, not an acceptance', async (_what, first, second) => {
		const run = await twice(first, second);
		expect(errorOf(run)?.context).toMatchObject({
			itemIndex: 0,
			data: { outcome: 'duplicate', external_id: 'a' },
		});
		expect(errorOf(run)?.message).toMatch(/accepted in an earlier try .* with other details/);
		expect(arrived()).toStrictEqual(['a', 'b']);
	});

	test('with another description or postback is the same request', async () => {
		const postback = { postback: 'url', postbackUrl: 'https://a.example/b' };
		const run = await twice({ payerQuestion: 'one' }, { payerQuestion: 'two', ...postback });
		expect(outcomes(run)).toStrictEqual(['accepted', 'accepted']);
		expect(arrived()).toStrictEqual(['a', 'b', 'b']);
	});

	const client = { authentication: 'clientCredentials', clientId: 'b', clientSecret: 's' };
	test.each<[string, (other: Sandbox) => IDataObject]>([
		['at another address', ({ url }) => ({ baseUrl: url })],
		['under another scheme name', () => ({ schemeName: 'fast' })],
		['as another client', ({ url }) => ({ ...client, tokenUrl: `${url}/token` })],
	])('%s is a duplicate, and not sent', async (_what, credential) => {
		const other = await Sandbox.start();
		sandbox.faultFor = ({ body }) =>
			body.includes('"b"') ? { kind: 'status', status: 422 } : undefined;
		const items = itemsFor('a', 'b');
		const previous = await pay(items);
		const more = { previous, credential: { baseUrl: sandbox.url, ...credential(other) } };
		const run = await pay(items, {}, more);
		await other.close();
		expect(errorOf(run)?.context).toMatchObject({ data: { outcome: 'duplicate' } });
		expect(arrived()).toStrictEqual(['a', 'b']);
		expect(other.received).toStrictEqual([]);
	});

	test('keeps the reason why a payment was unknown at first', async () => {
		sandbox.faultFor = () => ({ kind: 'status', status: 502, body: 'the gateway lost it' });
		const settings = { retryOnFail: true, maxTries: 3 };
		const run = await pay(itemsFor('a'), {}, { settings });
		expect(arrived()).toStrictEqual(['a']);
		expect(errorOf(run)?.description).toMatch(/earlier try .*HTTP 502.*the gateway lost it/);
	});
});

describe('a cancelled execution', () => {
	test('sends nothing when it was cancelled during the duplicate check', async () => {
		let cancel = () => {};
		let held = 0;
		storeHooks.before = (moment) => {
			if (moment === 'answer' && held++ === 0) cancel();
		};
		const ended = new Promise<void>((resolve) => {
			// What a cancelled execution's node says last.
			const warn = (text: string) => void (/what became of its requests/.test(text) && resolve());
			void pay(
				itemsFor('during-1', 'during-2'),
				{ batching: { batch: { batchSize: 2 } } },
				{
					context: (({ logger }: IExecuteFunctions) => ({
						logger: { debug: logger.debug, warn },
					})) as never,
					onStart: (stop) => (cancel = stop),
				},
			).catch(() => undefined);
		});
		await ended;
		expect(held).toBeGreaterThan(0);
		expect(arrived()).toStrictEqual([]);
		expect([isRecorded('during-1'), isRecorded('during-2')]).toStrictEqual([false, false]);
	});

	test('logs what was accepted and what is in flight, and starts nothing new', async () => {
		const logged: Array<[string, IDataObject]> = [];
		let cancel = () => {};
		sandbox.faultFor = ({ body }) => {
			if (!body.includes('"b"')) return undefined;
			cancel();
			return { kind: 'delay', ms: 50 };
		};
		const ended = new Promise<void>((resolve) => {
			const context = ({ logger }: IExecuteFunctions) => ({
				logger: {
					debug: logger.debug,
					warn: (text: string, facts: IDataObject) => {
						logged.push([text, facts]);
						if (logged.length === 2) resolve();
					},
				},
			});
			void pay(
				itemsFor('a', 'b', 'c'),
				{},
				{ context: context as never, onStart: (stop) => (cancel = stop) },
			).catch(() => undefined);
		});
		await ended;
		const where = { workflowId: expect.any(String), executionId: '42', node: 'Pay' };
		expect(logged[0]).toStrictEqual([
			expect.stringMatching(/cancelled/),
			{ ...where, accepted: ['a'], unknown: [], inFlight: ['b'] },
		]);
		expect(logged[1]?.[1]).toMatchObject({ accepted: ['a', 'b'], unknown: [], inFlight: [] });
		expect(arrived()).toStrictEqual(['a', 'b']);
	});
});

test('a run that nobody cancels logs nothing, nor does one that is cancelled when it has ended', async () => {
	const warn = jest.fn();
	const controller = new AbortController();
	const context = ({ logger }: IExecuteFunctions) => ({
		logger: { debug: logger.debug, warn },
		getExecutionCancelSignal: () => controller.signal,
	});
	const run = await pay(itemsFor('a'), {}, { context: context as never });
	expect(outcomes(run)).toStrictEqual(['accepted']);
	controller.abort();
	expect(warn).not.toHaveBeenCalled();
	// The control: this signal is the one that the node listens to.
	await pay(itemsFor('b'), {}, { context: context as never, settings: CONTINUE });
	expect(warn).toHaveBeenCalled();
	expect(arrived()).toStrictEqual(['a']);
});

describe('the report', () => {
	test('names every external_id of the run by outcome', async () => {
		const ids = Array.from({ length: 60 }, (_, index) => `${index}-${randomUUID()}`);
		sandbox.faultFor = ({ body }) => {
			const { external_id } = JSON.parse(body) as { external_id: string };
			const index = Number(external_id.split('-')[0]);
			if (index === 1) return { kind: 'status', status: 500 };
			return index % 2 === 1 ? { kind: 'status', status: 422 } : undefined;
		};
		const batching = { batch: { batchSize: 50 } };
		const run = await pay(itemsFor(...ids), { batching });
		const of = (wanted: (index: number) => boolean) => ids.filter((_, index) => wanted(index));
		const { externalIds } = errorOf(run)?.context as { externalIds: Record<string, string[]> };
		expect(externalIds).toStrictEqual({
			accepted: of((index) => index < 50 && index % 2 === 0),
			rejected: of((index) => index < 50 && index % 2 === 1 && index > 1),
			unknown: [ids[1]],
			duplicate: [],
			notSent: of((index) => index >= 50),
		});
		expect(errorOf(run)?.description).toMatch(
			/Of 60 payments: 25 accepted, 24 rejected, 1 unknown, 10 not sent\..*and 4 more/,
		);
	});

	test('tells only the item concerned that its id stays remembered', async () => {
		sandbox.faultFor = ({ body }) => {
			storeHooks.before = () => {
				throw new Error('database is locked');
			};
			return { kind: 'status', status: body.includes('"b"') ? 422 : 500 };
		};
		const batching = { batch: { batchSize: 3 } };
		const run = await pay(itemsFor('a', 'b', 'c'), { batching }, { settings: CONTINUE });
		const notes = told(run).map((each) =>
			/still remembers/.test(String((each as IDataObject).description)),
		);
		expect(outcomes(run)).toStrictEqual(['unknown', 'rejected', 'unknown']);
		expect(notes).toStrictEqual([false, true, false]);
	});

	test('where the node goes on, a hint says what needs a person', async () => {
		sandbox.faultFor = ({ body }) =>
			body.includes('"b"') ? { kind: 'status', status: 503 } : undefined;
		const run = await pay(itemsFor('a', 'b', 'c'), {}, { settings: CONTINUE });
		expect(hintsOf(run)[0]).toBe(
			'1 of 3 payments is unknown: "b". Ask the service before you pay again.',
		);
		expect(hintsOf(await pay(itemsFor('d')))).not.toContainEqual(
			expect.stringMatching(/unknown|^Of /),
		);
	});

	test('an identifier that changes with each try brings a hint; a payment, once for all items', async () => {
		const external_id = "={{ $json.id + '-' + $now.toMillis() }}";
		const parameters = { ...FIELDS, external_id };
		const run = await pay(itemsFor('a', 'b'), {}, { parameters });
		expect(hintsOf(run).filter((hint) => /holds \$now/.test(String(hint)))).toHaveLength(1);
		const charge = await pay(
			itemsFor('a'),
			{},
			{ parameters: { ...parameters, resource: 'qrCode' } },
		);
		expect(hintsOf(charge).join()).not.toMatch(/holds \$now/);
	});

	test('an execution of one item is findable by its external_id and outcome', async () => {
		const run = await pay(itemsFor('a'));
		expect(run.data.resultData.metadata).toStrictEqual({
			payment_external_id: 'a',
			payment_outcome: 'accepted',
		});
		const three = await pay(itemsFor('b', 'a', 'c'), {}, { settings: CONTINUE });
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
		const nameless = await pay([{ amount: 1 }, ...itemsFor('h')], {}, { settings: CONTINUE });
		expect(nameless.data.resultData.metadata).toStrictEqual({
			payment_2_external_id: 'h',
			payment_2_outcome: 'accepted',
		});
	});

	test.each<[string, IDataObject, RegExp | undefined]>([
		[
			'the test URL of a trigger',
			{ postbackUrl: 'https://a.example/webhook-test/1' },
			/a test URL/,
		],
		['a private address', { postbackUrl: 'http://10.0.0.7/hook' }, /points to 10\.0\.0\.7/],
		['this machine, as the service is', { postbackUrl: 'http://localhost:5678/hook' }, undefined],
		['an unsigned trigger', { postbackUrl: 'https://a.example/webhook/1/postback' }, /unsigned/],
		[
			'a signed trigger',
			{
				postbackUrl: 'https://a.example/webhook/1/postback',
				postbackSecret: 'a secret of the shop',
			},
			undefined,
		],
	])('a postback to %s brings the hint %p', async (_what, credential, expected) => {
		const parameters = { creditParty: { key: 'k' } };
		const more = { parameters, credential: { baseUrl: sandbox.url, ...credential } };
		const run = await pay(itemsFor('a'), {}, more);
		expect(outcomes(run)).toStrictEqual(['accepted']);
		expect(hintsOf(run)).toStrictEqual(expected ? [expect.stringMatching(expected)] : []);
	});

	test('of hints that differ from item to item, ten are shown; of one for all, one', async () => {
		const creditParty = { key: 'k' };
		const to = (postbackUrl: string) => ({ creditParty, postback: 'url', postbackUrl });
		const items = Array.from({ length: 12 }, (_, n) => ({ id: `${n}`, amount: 1, n }));
		const each = await pay(items, {}, { parameters: to('={{ "http://10.0.0." + $json.n }}') });
		expect(hintsOf(each)).toHaveLength(10);
		const all = await pay(itemsFor('x', 'y'), {}, { parameters: to('http://10.0.0.1') });
		expect(hintsOf(all)).toHaveLength(1);
	});

	test('a hint is about what was sent: a run that sent nothing has none of its own', async () => {
		const creditParty = { key: '' };
		const more = { parameters: { creditParty }, settings: CONTINUE };
		const hints = async (...ids: string[]) => hintsOf(await pay(itemsFor(...ids), {}, more));
		expect(await hints('a', 'b')).toStrictEqual([
			'"a", "b": sent without a recipient key, so the request did not say where the money goes.',
			expect.stringMatching(/^You will not be told when this is paid/),
		]);
		expect(await hints('a', 'b')).toStrictEqual([
			'Of 2 payments: none accepted in this run, 2 duplicate.',
		]);
	});

	test('an item with a bad postback is told by its id and the field', async () => {
		const parameters = { postback: 'url', postbackUrl: 'no address' };
		const run = await pay(itemsFor(' a '), {}, { parameters, settings: CONTINUE });
		expect(told(run)).toMatchObject([
			{ external_id: 'a', outcome: 'notSent', field: 'postbackUrl' },
		]);
		// An id that is read is told, whatever came in for it.
		const big = { ...parameters, external_id: '={{ BigInt("1042") }}' };
		const other = await pay(itemsFor('a'), {}, { parameters: big, settings: CONTINUE });
		expect(told(other)).toMatchObject([{ external_id: '1042', field: 'postbackUrl' }]);
	});

	test('a postback that the credential has no address for brings a hint', async () => {
		const parameters = { creditParty: { key: 'k' } };
		expect(hintsOf(await pay(itemsFor('a'), {}, { parameters }))).toStrictEqual([
			expect.stringMatching(/You will not be told when this is paid.*has no Postback URL/),
		]);
		const none = { ...parameters, postback: 'none' };
		expect(hintsOf(await pay(itemsFor('b'), {}, { parameters: none }))).toStrictEqual([]);
	});

	test('an item that cannot be read is told by its id, without the spaces around it', async () => {
		const items = [
			{ id: ' bad ', amount: '10,50' },
			{ id: 7, amount: 0 },
			{ id: true, amount: 1 },
		];
		const run = await pay(items, {}, { settings: CONTINUE });
		const ids = told(run).map((each) => (each as IDataObject).external_id);
		expect(ids).toStrictEqual(['bad', '7', undefined]);
	});
});

describe('what some n8n lacks', () => {
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
			const parameters = { resource: 'qrCode', postback: 'none', options: {} };
			sandbox.faultFor = () => ({ kind: 'status', status: 201, body: '{}' });
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
		getProcessedDataCount: async () => await paysOnlyWith('getProcessedDataCount'),
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
});
