import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { claimPassage, isLost, passageOf, type PassageStore } from '../../nodes/Pay/n8n1/passage';
import {
	errorOf,
	itemsFor,
	pay,
	runWorkflow,
	sandbox,
	store,
	withSandbox,
	type RunOptions,
} from '../engine/engine';

// The library of n8n 1 lacks this constant.
jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	WAIT_FOR_SUB_EXECUTION: undefined,
}));

withSandbox();

test('the claim of a run that fails while it reads is made to last like any other', async () => {
	const executionId = 'execution-that-has-waited';
	const attempt: object = {
		kind: 'payment',
		external_id: 'a',
		place: { isTool: false, node: 'Pay', run: '0', item: 0 },
		fingerprint: 'of 1',
		executionId,
	};
	Object.defineProperty(attempt, 'outcome', {
		get() {
			// Another process writes over the list, as it may between the claim and the look.
			store.clear();
			throw new Error('the stored attempt cannot be read');
		},
	});
	const wait = { is: 'wait', external_id: 'a', executionId, node: 'Wait', run: 0 };
	const flow = { attempts: [attempt], postbacks: [wait] };
	const context: RunOptions['context'] = () => ({ getContext: () => flow });
	const run = await pay(itemsFor('a'), { context, executionId });
	expect(errorOf(run)?.message).toBe('the stored attempt cannot be read');
	expect(store.has(`n8n-nodes-pay:passage:${executionId} 1`)).toBe(true);
});

test('a run that has lost its claim behind a wait to another process sends nothing in its retries either', async () => {
	const wait = { is: 'wait', external_id: 'a', executionId: '42', node: 'Wait', run: 0 };
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
	expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'duplicate' });
	expect(sandbox.received).toHaveLength(0);
});

describe('a passage', () => {
	/** A list of payments that no other process uses. */
	function listOf(keys = new Set<string>()) {
		return {
			knows: () => false,
			async add(_store: undefined, added: string[]) {
				const stored = new Set<unknown>(added.filter((key) => keys.has(key)));
				for (const key of added) keys.add(key);
				return { stored, durationMs: 1 };
			},
			async deleteStored(_store: undefined, deleted: string[]) {
				for (const key of deleted) keys.delete(key);
			},
			rememberClaim: () => undefined,
			longestExpected: () => 0,
		};
	}

	test('is none before the first wait', () => {
		expect(passageOf({}, '42', 0)).toBeUndefined();
	});

	test('is claimed once for an execution and a wait, whichever node pays in it', async () => {
		const flow: PassageStore = {};
		const keys = new Set<string>();
		const claims: unknown[] = [];
		for (const waits of [1, 1, 2]) {
			const passage = passageOf(flow, '42', waits)!;
			claims.push((await claimPassage(passage, listOf(keys), undefined)).key);
		}
		expect(claims).toStrictEqual([
			'n8n-nodes-pay:passage:42 1',
			undefined,
			'n8n-nodes-pay:passage:42 2',
		]);
		expect([...keys]).toStrictEqual(['n8n-nodes-pay:passage:42 1', 'n8n-nodes-pay:passage:42 2']);
	});

	test('is claimed once by two tools of an agent that run at once: both pay', async () => {
		const flow: PassageStore = {};
		const list = listOf();
		const claim = async () => await claimPassage(passageOf(flow, '42', 1)!, list, undefined);
		expect(await Promise.all([claim(), claim()])).toStrictEqual([
			{ isOurs: true, key: 'n8n-nodes-pay:passage:42 1' },
			{ isOurs: true },
		]);
	});

	test('that two runs of one execution claim at once in one process is that of one of them', async () => {
		const list = listOf();
		// n8n has loaded the execution twice: each run has a store of its own.
		const claim = async () => await claimPassage(passageOf({}, '42', 1)!, list, undefined);
		const [first, second] = await Promise.all([claim(), claim()]);
		expect([first!.isOurs, second!.isOurs]).toStrictEqual([true, false]);
	});

	test('that another process claimed is lost until the next wait, for every node', async () => {
		const flow: PassageStore = {};
		const passage = passageOf(flow, '42', 1)!;
		expect(isLost(passage)).toBe(false);
		const list = listOf(new Set(['n8n-nodes-pay:passage:42 1']));
		expect(await claimPassage(passage, list, undefined)).toStrictEqual({ isOurs: false });
		expect(isLost(passageOf(flow, '42', 1)!)).toBe(true);
		expect(isLost(passageOf(flow, '42', 2)!)).toBe(false);
		expect(isLost(passageOf(flow, '43', 1)!)).toBe(false);
	});

	test('over which others write again and again is nobody’s, and that is told', async () => {
		jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
		const add = async () => ({ stored: new Set<unknown>(), durationMs: 1 });
		const list = { ...listOf(), add };
		const claimed = claimPassage(passageOf({}, '42', 1)!, list, undefined);
		const refused = expect(claimed).rejects.toThrow('other executions keep overwriting it');
		await jest.advanceTimersByTimeAsync(60_000);
		await refused;
		jest.useRealTimers();
	});
});
