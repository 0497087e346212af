import type { IDataObject, IRun } from 'n8n-workflow';
import {
	arrived,
	batches,
	CHARGE,
	CONTINUE,
	errorOf,
	faultOnce,
	FIELDS,
	ids,
	itemsFor,
	outcomes,
	outputOf,
	pay,
	payNode,
	resultsOf,
	RETRY,
	sandbox,
	sourceNode,
	to,
	withSandbox,
	type RunOptions,
} from './engine';

withSandbox();

const charged = () => sandbox.bodies('qrcode').map(({ external_id }) => external_id);
/** The ids in the responses that came out. */
const answered = (run: IRun) =>
	resultsOf(run).map(({ response }) => (response as IDataObject).external_id);

describe('validation of all items comes first', () => {
	test('one bad item stops the run before anything is sent', async () => {
		const run = await pay([...itemsFor(...ids(3)), { id: 'bad', amount: '10,50' }]);
		expect(errorOf(run)?.description).toContain('"bad" (line 4 of the list)');
		expect(arrived()).toStrictEqual([]);
	});

	test('under "continue" the bad item fails alone', async () => {
		const items = [...itemsFor('a'), { id: 'bad', amount: null }, ...itemsFor('b')];
		const run = await pay(items, { settings: { onError: 'continueErrorOutput' } });
		expect(arrived()).toStrictEqual(['a', 'b']);
		expect(outcomes(run)).toStrictEqual(['accepted', 'accepted']);
		const [failed] = outputOf(run, 'Pay', 0, 1);
		expect(failed?.json).toMatchObject({
			id: 'bad',
			error: { external_id: 'bad', outcome: 'notSent' },
		});
		expect(outputOf(run, 'Pay').map(({ pairedItem }) => pairedItem)).toStrictEqual([
			{ item: 0 },
			{ item: 2 },
		]);
	});

	test('two payments with one external_id: the second is refused before anything is sent', async () => {
		const items = itemsFor('same', 'other', 'same');
		expect(errorOf(await pay(items))?.context?.data).toMatchObject({ outcome: 'duplicate' });
		expect(arrived()).toStrictEqual([]);
		const continued = await pay(items, { settings: CONTINUE });
		expect(arrived()).toStrictEqual(['same', 'other']);
		expect(outcomes(continued)).toStrictEqual(['accepted', 'accepted', 'duplicate']);
	});

	test('two QR codes may have one external_id: a second one harms nobody', async () => {
		const run = await pay(itemsFor('same', 'same'), { parameters: CHARGE });
		expect(outcomes(run)).toStrictEqual(['accepted', 'accepted']);
		expect(charged()).toStrictEqual(['same', 'same']);
	});
});

describe('batches', () => {
	test.each([1, 4])(
		'at most %d are in flight, and the output keeps the order',
		async (batchSize) => {
			let [inFlight, most] = [0, 0];
			sandbox.faultFor = () => {
				most = Math.max(most, ++inFlight);
				// Set before the response's timer, which is as long: it fires first.
				setTimeout(() => inFlight--, 100);
				return { kind: 'delay', ms: 100 };
			};
			const list = ids(10);
			const run = await pay(itemsFor(...list), {}, batches(batchSize));
			expect(resultsOf(run).map(({ external_id }) => external_id)).toStrictEqual(list);
			expect(most).toBe(batchSize);
		},
	);

	test('the pause comes after a batch has finished, not beside it', async () => {
		const arrivalTimes: number[] = [];
		sandbox.faultFor = () => {
			arrivalTimes.push(performance.now());
			return { kind: 'delay', ms: 60 };
		};
		await pay(
			itemsFor(...ids(3)),
			{},
			{ batching: { batch: { batchSize: 1, batchInterval: 60 } } },
		);
		const gaps = arrivalTimes.slice(1).map((at, index) => at - arrivalTimes[index]!);
		expect(gaps).toHaveLength(2);
		// A timer may fire a moment early.
		for (const gap of gaps) expect(gap).toBeGreaterThan(2 * 60 - 5);
	});

	test('there is no pause before the first batch, nor behind the last', async () => {
		const batching = { batch: { batchSize: 2, batchInterval: 3_600_000 } };
		expect(outcomes(await pay(itemsFor(...ids(2)), {}, { batching }))).toHaveLength(2);
	});

	test('after a failure nothing new starts, those in flight are awaited, the error counts', async () => {
		const list = ids(9);
		faultOnce(422, list[3]!);
		const run = await pay(itemsFor(...list), {}, batches(3));
		expect(arrived().sort()).toStrictEqual(list.slice(0, 6).sort());
		expect(errorOf(run)?.context).toMatchObject({
			data: { external_id: list[3], outcome: 'rejected' },
		});
	});

	test('what an earlier execution paid, and this one did not come to, is not told as not sent', async () => {
		await pay(itemsFor('w-2', 'w-3'));
		faultOnce(422, 'w-1');
		const run = await pay(itemsFor('w-1', 'w-2', 'w-3'));
		expect(arrived()).toStrictEqual(['w-2', 'w-3', 'w-1']);
		expect(errorOf(run)?.context?.externalIds).toStrictEqual({
			accepted: [],
			rejected: ['w-1'],
			duplicate: [],
			notSent: [],
			unknown: [],
			notReached: ['w-2', 'w-3'],
		});
	});
});

describe('a re-run of the node', () => {
	const retry = { settings: RETRY };

	test('sends only what was refused, and gives the accepted answers back', async () => {
		const list = ids(4);
		faultOnce(422, list[2]!);
		const run = await pay(itemsFor(...list), retry);
		expect(errorOf(run)).toBeUndefined();
		expect(arrived()).toStrictEqual([list[0], list[1], list[2], list[2], list[3]]);
		expect(answered(run)).toStrictEqual(list);
	});

	test('does not pay twice because the first item failed under "continue"', async () => {
		const list = ids(3);
		faultOnce(500, list[0]!);
		const run = await pay(itemsFor(...list), { settings: { ...RETRY, ...CONTINUE } });
		expect(arrived()).toStrictEqual(list);
		expect(outcomes(run)).toStrictEqual(['unknown', 'accepted', 'accepted']);
		// The answers of the first try, which a run with a failure keeps.
		expect(answered(run).slice(1)).toStrictEqual(list.slice(1));
	});

	test('gives an accepted QR code back with its text, and does not create it again', async () => {
		faultOnce(422, 'second');
		const more = { ...retry, parameters: CHARGE };
		const run = await pay(itemsFor('first', 'second'), more, batches(1));
		expect(outcomes(run)).toStrictEqual(['accepted', 'accepted']);
		expect(charged()).toStrictEqual(['first', 'second', 'second']);
		const codes = resultsOf(run).map(({ qrCode }) => qrCode);
		expect(codes).toStrictEqual(Array(2).fill(expect.stringMatching(/^000201/)));
		expect(new Set(codes).size).toBe(2);
	});

	test('stands in the ledger before its request is answered, without an outcome', async () => {
		const written: unknown[] = [];
		let flow = () => ({}) as { attempts?: object[] };
		sandbox.faultFor = () => {
			written.push(structuredClone(flow().attempts));
			return undefined;
		};
		await pay(itemsFor('a'), {
			context: (context) => {
				flow = () => context.getContext('flow');
				return {};
			},
		});
		const attempt = {
			kind: 'payment',
			external_id: 'a',
			place: { isTool: false, node: 'Pay', run: '0', item: 0 },
			amount: 1,
			fingerprint: expect.any(String),
			executionId: expect.any(String),
		};
		expect(written).toStrictEqual([[attempt]]);
		expect(flow().attempts).toStrictEqual([{ ...attempt, outcome: 'accepted', reason: undefined }]);
	});

	describe('an External ID that changes with each try', () => {
		const CHANGING = [
			['the time', "={{ $json.id + '-' + $now.toMillis() }}"],
			['chance', "={{ $json.id + '-' + Math.random() }}"],
		];
		const changing = (external_id: string) => ({ external_id });

		test.each(CHANGING)('%s: a payment whose answer was lost is paid once', async (_, id) => {
			sandbox.faultFor = () => ({ kind: 'status', status: 500 });
			const run = await pay(itemsFor('payout'), { ...retry, parameters: changing(id!) });
			const [first] = arrived();
			expect(arrived()).toStrictEqual([first]);
			expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'unknown', external_id: first });
		});

		test.each(CHANGING)(
			'%s: an accepted item is not paid again with the next one',
			async (_, id) => {
				sandbox.faultFor = ({ body }) =>
					body.includes('"second') ? { kind: 'status', status: 422 } : undefined;
				const parameters = changing(id!);
				const run = await pay(itemsFor('first', 'second'), { ...retry, parameters });
				expect(arrived().filter((each) => each.startsWith('first'))).toHaveLength(1);
				// A rejected item may be corrected and tried again.
				expect(arrived().filter((each) => each.startsWith('second'))).toHaveLength(3);
				expect(errorOf(run)?.context?.externalIds).toMatchObject({ accepted: [arrived()[0]] });
			},
		);

		test("the editor's Retry gives the accepted answer back, under its first id", async () => {
			sandbox.faultFor = ({ body }) =>
				body.includes('"second') ? { kind: 'status', status: 422 } : undefined;
			const parameters = changing(CHANGING[0]![1]!);
			const failed = await pay(itemsFor('first', 'second'), { parameters });
			sandbox.faultFor = undefined;
			const again = await pay([], { parameters, previous: failed });
			const repeatedIds = resultsOf(again).map(({ external_id }) => external_id);
			expect(repeatedIds).toStrictEqual([arrived()[0], arrived()[2]]);
			expect(arrived().filter((each) => each.startsWith('first'))).toHaveLength(1);
		});

		test('a Retry with another amount is refused, and names the first id', async () => {
			sandbox.faultFor = () => ({ kind: 'status', status: 500 });
			const parameters = changing(CHANGING[0]![1]!);
			const failed = await pay(itemsFor('payout'), { parameters });
			const again = await pay([], { parameters: { ...parameters, amount: 2 }, previous: failed });
			expect(arrived()).toHaveLength(1);
			expect(errorOf(again)?.context?.data).toMatchObject({ outcome: 'duplicate' });
			expect(errorOf(again)?.message).toContain(arrived()[0]);
		});

		test('each round of a loop, and each node, pays its own', async () => {
			const { external_id } = changing(CHANGING[1]![1]!);
			const nodes = [
				sourceNode('Source', [{}]),
				sourceNode('First', itemsFor('a')),
				sourceNode('Second', itemsFor('a')),
				payNode('Pay', { ...FIELDS, external_id }),
				payNode('Pay2', { amount: 1, external_id: '={{ $json.external_id + "-2" }}' }),
			];
			const connections = {
				Source: to(['First', 'Second']),
				First: to(['Pay']),
				Second: to(['Pay']),
				Pay: to(['Pay2']),
			};
			await pay([], { workflow: { nodes, connections } });
			expect(arrived()).toHaveLength(4);
		});
	});

	test("the editor's Retry of a failed execution goes on where it stopped", async () => {
		const list = ids(3);
		faultOnce(422, list[1]!);
		const failed = await pay(itemsFor(...list));
		const retried = await pay(itemsFor(...list), { previous: failed });
		expect(errorOf(retried)).toBeUndefined();
		expect(arrived()).toStrictEqual([list[0], list[1], list[1], list[2]]);
	});
});

describe('several nodes and runs of one execution', () => {
	const twoPayNodes = () => {
		const one = { amount: 1, external_id: 'one' };
		const nodes = [
			sourceNode('Source', [{}]),
			payNode('Pay', one, { onError: 'continueErrorOutput' }),
			payNode('Pay again', one, CONTINUE),
		];
		const connections = { Source: to(['Pay']), Pay: to(['Pay again'], ['Pay again']) };
		return { workflow: { nodes, connections } };
	};

	test.each<{ what: string; status: number; ids: string[]; second: string }>([
		{ what: 'accepted', status: 200, ids: ['one'], second: 'duplicate' },
		{ what: 'unknown', status: 500, ids: ['one'], second: 'duplicate' },
		{ what: 'rejected', status: 422, ids: ['one', 'one'], second: 'accepted' },
	])(
		'of an id that is $what a second Pay node pays what it may',
		async ({ status, ids, second }) => {
			faultOnce(status, 'one');
			const run = await pay([], twoPayNodes());
			expect(arrived()).toStrictEqual(ids);
			expect(outcomes(run, 'Pay again')).toStrictEqual([second]);
		},
	);

	test('a loop that comes to an id again is refused', async () => {
		const nodes = [
			sourceNode('Source', [{}]),
			sourceNode('First', itemsFor('loop')),
			sourceNode('Second', itemsFor('loop')),
			payNode('Pay', FIELDS),
		];
		const connections = {
			Source: to(['First', 'Second']),
			First: to(['Pay']),
			Second: to(['Pay']),
		};
		const run = await pay([], { workflow: { nodes, connections } });
		expect(arrived()).toStrictEqual(['loop']);
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'duplicate' });
	});
});

describe('the duplicate check across executions', () => {
	test('refuses an accepted or unknown id', async () => {
		faultOnce(500, 'lost');
		for (const id of ['paid', 'lost']) await pay(itemsFor(id));
		for (const id of ['paid', 'lost']) {
			const again = await pay(itemsFor(id));
			expect(errorOf(again)?.context?.data).toMatchObject({ outcome: 'duplicate' });
		}
		expect(arrived()).toStrictEqual(['paid', 'lost']);
	});

	test('lets a rejected one be corrected', async () => {
		faultOnce(422, 'a');
		await pay(itemsFor('a'));
		expect(outcomes(await pay(itemsFor('a')))).toStrictEqual(['accepted']);
	});

	test('of 20 simultaneous executions with one id in one process, one pays', async () => {
		const runs = await Promise.all(
			Array.from({ length: 20 }, async () => await pay(itemsFor('a'))),
		);
		expect(arrived()).toStrictEqual(['a']);
		expect(runs.filter((run) => errorOf(run) === undefined)).toHaveLength(1);
	});
});

describe('AI agents', () => {
	const asTool = { settings: { type: 'n8n-nodes-pay.payTool' } };
	const toolParameters = (more: IDataObject = {}) => ({
		amount: 1,
		external_id: "={{ $('Source').first().json.id }}",
		...more,
	});
	const allowed = { options: { allowAiPayments: true } };
	const called = async (
		id: string,
		parameters = toolParameters(),
		settings: object = asTool.settings,
	) => await pay([{ id }], { parameters, settings });

	test('may not pay unless the node allows it', async () => {
		const refused = await called('ai');
		// As an item: a model that is told nothing may believe that it has paid.
		expect(outputOf(refused, 'Pay').map(({ json }) => json)).toStrictEqual([
			{
				kind: 'payment',
				outcome: 'notSent',
				error: expect.objectContaining({ field: 'allowAiPayments' }),
			},
		]);
		expect(arrived()).toStrictEqual([]);
		expect(outcomes(await called('ai', toolParameters(allowed)))).toStrictEqual(['accepted']);
	});

	test('may not allow it to themselves: an expression can hold what the model filled in', async () => {
		const run = await called('ai', toolParameters({ options: { allowAiPayments: '={{ true }}' } }));
		expect(outcomes(run, 'Pay')).toStrictEqual(['notSent']);
		expect(arrived()).toStrictEqual([]);
	});

	test('are known by what n8n says of the execution, too', async () => {
		const context = () => ({ isToolExecution: () => true });
		const refused = await pay([{ id: 'ai' }], {
			parameters: toolParameters(),
			context: context as RunOptions['context'],
		});
		expect(outputOf(refused, 'Pay').map(({ json }) => json)).toStrictEqual([
			{
				kind: 'payment',
				outcome: 'notSent',
				error: expect.objectContaining({ field: 'allowAiPayments' }),
			},
		]);
		expect(arrived()).toStrictEqual([]);
	});

	test('are told that a payment is unknown, and it is not sent again', async () => {
		faultOnce(503, 'ai-unknown');
		const settings = { ...asTool.settings, retryOnFail: true, maxTries: 3 };
		const run = await called('ai-unknown', toolParameters(allowed), settings);
		expect(outputOf(run, 'Pay').map(({ json }) => json)).toMatchObject([
			{ external_id: 'ai-unknown', outcome: 'unknown', error: { message: expect.any(String) } },
		]);
		expect(arrived()).toStrictEqual(['ai-unknown']);
	});

	test.each([
		{ what: 'the same id, of one tool', other: 'Pay', id: 'a' },
		{ what: 'another id, of one tool', other: 'Pay', id: 'b' },
		{ what: 'another id, of another tool', other: 'Pay 2', id: 'b' },
	])('ask twice for one payment under $what: it is made once', async ({ other, id }) => {
		const tool = (name: string, external_id: string) =>
			payNode(name, toolParameters({ ...allowed, external_id }), asTool.settings);
		const sources = ['Source', 'First', 'Second'].map((name) => sourceNode(name, [{}]));
		const nodes = [
			...sources,
			tool('Pay', `={{ $prevNode.name === "First" ? "a" : "${id}" }}`),
			tool('Pay 2', id),
		];
		const connections = {
			Source: to(['First', 'Second']),
			First: to(['Pay']),
			Second: to([other]),
		};
		const run = await pay([], { workflow: { nodes, connections } });
		expect(arrived()).toHaveLength(1);
		const all = ['Pay', 'Pay 2'].flatMap((name) =>
			[0, 1].map((round) => outputOf(run, name, round)),
		);
		const failed = all.flat().filter(({ json }) => json.error !== undefined);
		expect(failed.map(({ json }) => json.outcome)).toStrictEqual(['duplicate']);
	});

	test('may not invent the External ID of a payment, only that of a QR code', async () => {
		const invented = { external_id: "={{ $fromAI('id') }}" };
		const payment = await called('ai', toolParameters({ ...allowed, ...invented }));
		expect(resultsOf(payment)).toMatchObject([{ outcome: 'notSent', field: 'external_id' }]);
		expect(arrived()).toStrictEqual([]);
		const charge = await called('ai', toolParameters({ resource: 'qrCode', ...invented }));
		expect(outcomes(charge)).toStrictEqual(['accepted']);
	});
});
