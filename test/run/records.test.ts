import { InputError } from '../../nodes/Pay/base/inputError';
import { cancelled, checkFailed, listWasFull, mayBeForgotten } from '../../nodes/Pay/run/refusals';
import { runs } from '../runs';
import { OPERATIONS } from '../serviceOperations';
import { passing, randomOf, SharedList, type SimulatedProcess } from './sharedList';

beforeEach(() => {
	jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
	// The limit on a change is a clock of Node's own, which fake timers do not reach.
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
		const clock = new AbortController();
		setTimeout(() => clock.abort(), ms);
		return clock.signal;
	});
});
afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

/** Lets simulated time pass until the work is done. */
async function simulate<T>(work: Promise<T>): Promise<T> {
	let done = false;
	work.then(
		() => (done = true),
		() => (done = true),
	);
	while (!done) await jest.advanceTimersToNextTimerAsync();
	return await work;
}

const WORDS = OPERATIONS.payment.words;
/** The message of a check that failed for a reason. */
const failedFor = (reason: string) => checkFailed(WORDS, new Error(reason)).message;
/** What a refusal says, to compare another one with. */
const asMembers = ({ field, message, advice }: InputError) => ({ field, message, advice });

let count = 0;
/** Processes of one n8n that share a list which already has entries: those of these ids, or another. */
function processes(number: number, takes: () => number, ids?: string[]) {
	const list = new SharedList(takes);
	// Long before the first change of a process, which takes time.
	void list.fill(ids);
	const cluster = `cluster ${count++}`;
	const all = Array.from({ length: number }, (_, each) => list.process(`${cluster}.${each}`));
	return { list, all };
}

/** Ids that are numbers, up to the second. */
const numbered = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, each) => `${from + each}`);

/** One execution that pays one id, as a run of the node does; gives whether it was sent. */
async function pay(process: SimulatedProcess, id: string, takesMs = 0): Promise<boolean> {
	const records = process.open();
	const known = await records.record([id]);
	if (!known.has(id)) {
		await passing(takesMs);
	} else {
		// What another run recorded is not this one's to remove.
		expect(await records.takeBack([id])).toStrictEqual({ remembered: [] });
	}
	expect(await records.close()).toStrictEqual([]);
	return !known.has(id);
}

describe('one process', () => {
	const one = (takes: () => number = () => 5) => {
		const { list, all } = processes(1, takes);
		return { list, process: all[0]! };
	};
	/** Plays a fault in the next call that is not excused, and gives how many calls there were. */
	function faulty(process: SimulatedProcess, faults: Array<Error | 'never' | undefined>) {
		const { checkProcessedAndRecord } = process.helpers;
		const mock = jest.spyOn(process.helpers, 'checkProcessedAndRecord');
		mock.mockImplementation(async (...args) => {
			const fault = faults.shift();
			if (fault === 'never') return await new Promise(() => undefined);
			if (fault !== undefined) throw fault;
			return await checkProcessedAndRecord(...args);
		});
		return mock;
	}
	const simulatedRefusal = async (work: Promise<unknown>): Promise<InputError> => {
		const error = await simulate(work).catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(InputError);
		return error as InputError;
	};

	test('what is taken back is new again; what another run recorded is not taken back', async () => {
		const { list, process } = one();
		const [first, second] = [process.open(), process.open()];
		await simulate(first.record(['a', 'b']));
		await simulate(second.record(['a']));
		expect(await simulate(second.takeBack(['a', 'b']))).toStrictEqual({ remembered: [] });
		expect([list.has('a'), list.has('b')]).toStrictEqual([true, true]);
		expect(await simulate(first.takeBack(['a']))).toStrictEqual({ remembered: [] });
		await simulate(first.close());
		expect([list.has('a'), list.has('b')]).toStrictEqual([false, true]);
	});

	test('what is taken back is not put back by a change that waits behind it', async () => {
		const { process } = one();
		const first = process.open();
		await simulate(first.record(['a']));
		const others = Array.from({ length: 3 }, () => process.open());
		await simulate(
			Promise.all([
				first.takeBack(['a']),
				...others.map(async (each, n) => await each.record([`other-${n}`])),
			]),
		);
		expect(await simulate(process.open().record(['a']))).toStrictEqual(new Set());
	});

	test('a store that throws: nothing may be sent, and the words say what may be remembered', async () => {
		const { list, process } = one();
		const lost = { code: 'ECONNRESET' };
		faulty(process, [Object.assign(new Error('Connection terminated unexpectedly'), lost)]);
		const records = process.open();
		const error = await simulatedRefusal(records.record(['a']));
		expect(error.message).toBe(failedFor('Connection terminated unexpectedly'));
		// Nothing was sent, so nothing is recorded later either.
		expect(await simulate(records.close())).toStrictEqual([]);
		expect(list.has('a')).toBe(false);
	});

	test('a workflow without an id: the advice is to save it', async () => {
		const { process } = one();
		const assertion = Object.assign(new Error('The expression evaluated to a falsy value'), {
			code: 'ERR_ASSERTION',
		});
		faulty(process, [assertion]);
		const error = await simulatedRefusal(process.open().record(['a']));
		expect(error).toMatchObject(asMembers(checkFailed(WORDS, assertion)));
	});

	test.each<{ what: string; fresh: string[]; processed: string[] }>([
		{ what: 'none as new or processed', fresh: [], processed: [] },
		{ what: 'one of two as neither', fresh: ['a'], processed: [] },
		{ what: 'one of two as both', fresh: ['a', 'b'], processed: ['b'] },
	])('a store that answers $what: nothing may be sent', async ({ fresh, processed }) => {
		const { process } = one();
		const keys = (ids: string[]) => ids.map((id) => `n8n-nodes-pay:payment:${id}`);
		jest
			.spyOn(process.helpers, 'checkProcessedAndRecord')
			.mockResolvedValue({ new: keys(fresh), processed: keys(processed) });
		const error = await simulatedRefusal(process.open().record(['a', 'b']));
		expect(error.message).toBe(failedFor("n8n's store does not say whether they are recorded"));
	});

	test.each([
		{
			what: 'PostgreSQL',
			text: 'duplicate key value violates unique constraint "PK_ca04b9d8dc72de268f"',
		},
		{
			what: 'SQLite',
			text: 'SQLITE_CONSTRAINT: UNIQUE constraint failed: processed_data.workflowId',
		},
		{ what: 'MySQL', text: "Duplicate entry 'x' for key 'PRIMARY'" },
	])(
		'the first record of a workflow, made by another process meanwhile ($what), is tried once more',
		async ({ text }) => {
			const { process } = one();
			const calls = faulty(process, [new Error(text)]);
			expect(await simulate(process.open().record(['a']))).toStrictEqual(new Set());
			expect(calls).toHaveBeenCalledTimes(2);
			faulty(process, [new Error(text), new Error(text)]);
			expect((await simulatedRefusal(process.open().record(['b']))).message).toContain(text);
		},
	);

	test('two processes that make the first record of a workflow at once: both payments are remembered', async () => {
		const { list, all } = processes(2, () => 20);
		list.clear();
		const sent = all.map(async (process, each) => await pay(process, `${each}`));
		expect(await simulate(Promise.all(sent))).toStrictEqual([true, true]);
		expect([list.has('0'), list.has('1')]).toStrictEqual([true, true]);
	});

	test('a database that never answers holds up a payment for 30 s, and other nodes not at all', async () => {
		const { process } = one();
		const other = one().process;
		faulty(process, ['never']);
		const begun = performance.now();
		const stuck = process.open().record(['a']);
		const waiting = process.open();
		const late = waiting.record(['b']);
		expect(await simulate(pay(other, 'c'))).toBe(true);
		expect(performance.now() - begun).toBeLessThan(2_000);
		const error = await simulatedRefusal(stuck);
		expect(error.message).toBe(failedFor("n8n's database did not respond within 30 s"));
		expect(performance.now() - begun).toBeLessThan(30_500);
		// It joined the change that never ended, or came after it: either way it has an end.
		await simulate(late.catch(() => undefined));
		expect(performance.now() - begun).toBeLessThan(31_500);
		expect(await simulate(pay(process, 'd'))).toBe(true);
	});

	test('an execution that is cancelled in the check is refused, and its id taken back', async () => {
		const { list, process } = one(() => 500);
		const cancel = new AbortController();
		const work = process.open(cancel.signal).record(['a']);
		setTimeout(() => cancel.abort(), 100);
		const error = await simulatedRefusal(work);
		expect(error).toMatchObject(asMembers(cancelled()));
		expect(list.has('a')).toBe(false);
	});

	test('cancelled in the check, and the id cannot be taken back: that is told', async () => {
		const { process } = one(() => 500);
		jest.spyOn(process.helpers, 'removeProcessed').mockRejectedValue(new Error('disk full'));
		const cancel = new AbortController();
		setTimeout(() => cancel.abort(), 100);
		const error = await simulatedRefusal(process.open(cancel.signal).record(['a']));
		expect(error).toMatchObject(asMembers(cancelled(['a'])));
	});

	test('cancelled while another run asks for the id, which the list has lost: it is paid once at most', async () => {
		const { list, process } = one(() => 500);
		const cancel = new AbortController();
		const cancelled = simulatedRefusal(process.open(cancel.signal).record(['a']));
		// It joins the change that comes between the first one's record and its removal.
		const next = process.open();
		const asked = passing(100).then(async () => {
			cancel.abort();
			return await next.record(['a']);
		});
		// Behind the first change's writing, before its answer.
		void passing(700).then(async () => await list.fill());
		const sent = [(await simulate(asked)).size === 0];
		await simulate(cancelled);
		await simulate(next.close());
		sent.push(await simulate(pay(process, 'a')));
		expect(sent.filter(Boolean)).toHaveLength(1);
	});

	test('a removal that was given up is not made later: its id was told to stay', async () => {
		const { list, process } = one();
		const records = process.open();
		await simulate(records.record(['a']));
		// Two changes before it take all of their time each.
		faulty(process, ['never', 'never']);
		const stuck = ['b', 'c'].map(async (id) => {
			const refused = process.open().record([id]);
			await Promise.all([refused.catch(() => undefined), passing(10)]);
		});
		const { remembered, reason } = await simulate(records.takeBack(['a']));
		expect([remembered, reason]).toStrictEqual([
			['a'],
			expect.stringContaining("n8n's database did not respond within 30 s"),
		]);
		await simulate(Promise.all(stuck));
		await simulate(passing(120_000));
		expect(list.has('a')).toBe(true);
	});

	/** A record that takes so long: a change reads, writes and answers, in shares of 1, 4 and 1. */
	const recordWithin = async (ms: number) =>
		await one(() => (ms * 4) / 6)
			.process.open()
			.record(['a']);

	test('a record that takes just below 10 s is taken', async () => {
		expect(await simulate(recordWithin(9_996))).toStrictEqual(new Set());
	});

	test('a record that takes more than 10 s is refused', async () => {
		const { message } = await simulatedRefusal(recordWithin(10_002));
		expect(message).toBe(failedFor("n8n's database took longer than 10 s for it"));
	});

	test('a hundred runs that pay at once record and look together', async () => {
		const { list, process } = one();
		const calls = jest.spyOn(process.helpers, 'checkProcessedAndRecord');
		const paid = numbered(0, 100).map(async (id) => await pay(process, id));
		expect(await simulate(Promise.all(paid))).toStrictEqual(Array(100).fill(true));
		expect(numbered(0, 100).filter((id) => !list.has(id))).toStrictEqual([]);
		expect(calls.mock.calls.length).toBeLessThan(10);
	});

	test('what could not be taken back is looked after as before', async () => {
		const { list, process } = one();
		const records = process.open();
		await simulate(records.record(['a']));
		jest.spyOn(process.helpers, 'removeProcessed').mockRejectedValue(new Error('disk full'));
		await simulate(records.takeBack(['a']));
		await list.fill();
		expect(await simulate(records.close())).toStrictEqual([]);
		expect(list.has('a')).toBe(true);
	});

	test('a machine that was suspended within a change, told by its wall clock alone: refused', async () => {
		const { process } = one(() => 100);
		setTimeout(() => jest.setSystemTime(Date.now() + 12_000), 50);
		const work = process.open().record(['a']);
		expect((await simulatedRefusal(work)).message).toBe(
			failedFor("n8n's database took longer than 10 s for it"),
		);
	});

	test('a run that is frozen refuses all it has not sent; the next one goes on', async () => {
		const { list, process } = one();
		const careful = process.open();
		process.freeze(12_000);
		await simulatedRefusal(careful.record(['a']));
		// Another may have recorded it too, so it is not taken out; but this process looks after it no more.
		expect(list.has('a')).toBe(true);
		await list.fill();
		expect(await simulate(careful.close())).toStrictEqual([]);
		await simulatedRefusal(careful.record(['b']));
		expect(await simulate(process.open().record(['d']))).toStrictEqual(new Set());
		expect(list.has('a')).toBe(false);
	});

	test('a pause of 0.3 s is all that quick changes cost, also after a slow one is long past', async () => {
		let takes = 1_000;
		const { process } = one(() => takes);
		const cost = async (id: string) => {
			const records = process.open();
			await simulate(records.record([id]));
			const begun = performance.now();
			expect(await simulate(records.close())).toStrictEqual([]);
			return performance.now() - begun;
		};
		expect(await cost('slow')).toBeGreaterThan(4_000);
		takes = 5;
		for (let each = 0; each < 20; each++) await cost(`${each}`);
		const last = await cost('last');
		expect(last).toBeGreaterThanOrEqual(300);
		expect(last).toBeLessThan(400);
		takes = 4_000;
		// However slow, it is five seconds at most, beside the look itself: it asks for a second, and takes six.
		expect(await cost('slowest')).toBeLessThan(5_100 + 1_000 + 6_000);
	});

	test('a record that others overwrite for a minute is told, and looked for no more', async () => {
		const { process } = one();
		const records = process.open();
		const forgets = jest
			.spyOn(process.helpers, 'checkProcessedAndRecord')
			.mockImplementation(async (keys) => ({ new: keys, processed: [] }));
		await simulate(records.record(numbered(0, 12)));
		const begun = performance.now();
		const [words] = await simulate(records.close());
		expect(words).toBe(
			mayBeForgotten(numbered(0, 12), new Error('other executions keep overwriting it')),
		);
		expect(performance.now() - begun).toBeGreaterThan(60_000);
		expect(performance.now() - begun).toBeLessThan(61_000);
		const before = forgets.mock.calls.length;
		expect(await simulate(records.close())).toStrictEqual([]);
		expect(forgets).toHaveBeenCalledTimes(before);
	});

	test('a process knows its own payments although the list forgot them, and records them again', async () => {
		const { list, process } = one();
		expect(await simulate(pay(process, 'a'))).toBe(true);
		await list.fill();
		expect(await simulate(process.open().record(['a']))).toStrictEqual(new Set(['a']));
		expect(list.has('a')).toBe(true);
		await list.fill();
		expect(await simulate(pay(process, 'b'))).toBe(true);
		expect(list.has('a')).toBe(true);
	});

	test('of runs that join a change which fails, none hears of a payment that nobody made', async () => {
		const { process } = one();
		faulty(process, [new Error('down')]);
		const refused = Array.from(
			{ length: 3 },
			async () => await simulatedRefusal(process.open().record(['a'])),
		);
		for (const error of await Promise.all(refused)) expect(error.message).toBe(failedFor('down'));
		expect(await simulate(pay(process, 'a'))).toBe(true);
	});

	test('a record that lasts and cannot be taken back is not looked for once more', async () => {
		const { process } = one();
		const records = process.open();
		await simulate(records.record(['a']));
		await simulate(records.close());
		jest.spyOn(process.helpers, 'removeProcessed').mockRejectedValue(new Error('disk full'));
		await simulate(records.takeBack(['a']));
		const calls = jest.spyOn(process.helpers, 'checkProcessedAndRecord');
		await simulate(process.open().close());
		expect(calls).not.toHaveBeenCalled();
		expect(await simulate(pay(process, 'a'))).toBe(false);
	});

	test('a process knows its last 10,000 payments, and records the last 1,000 of them again', async () => {
		const { list, process } = one(() => 1);
		const records = process.open();
		const ids = numbered(0, 10_001);
		for (let at = 0; at < ids.length; at += 1_000) {
			await simulate(records.record(ids.slice(at, at + 1_000)));
			await simulate(records.close());
		}
		await list.fill();
		const known = await simulate(process.open().record(['0', '1']));
		expect([...known]).toStrictEqual(['1']);
		// With "0", which is new, and "1", which it was asked for.
		expect(list.length).toBe(1 + 1_000 + 2);
		expect([list.has('9001'), list.has('9000')]).toStrictEqual([true, false]);
	});

	test('more ids than a process records again are all recorded and looked at, in one change each', async () => {
		const { list, process } = one();
		const calls = jest.spyOn(process.helpers, 'checkProcessedAndRecord');
		const records = process.open();
		const ids = numbered(0, 2_500);
		expect(await simulate(records.record(ids))).toStrictEqual(new Set());
		expect(await simulate(records.close())).toStrictEqual([]);
		expect(ids.filter((id) => !list.has(id))).toStrictEqual([]);
		expect(calls.mock.calls.map(([keys]) => keys.length)).toStrictEqual([2_500, 2_500]);
	});

	test('while the list has lost nothing, a change names only what is new and the newest before', async () => {
		const { process } = one();
		const calls = jest.spyOn(process.helpers, 'checkProcessedAndRecord');
		const records = process.open();
		for (const id of ['a', 'b', 'c']) await simulate(records.record([id]));
		expect(calls.mock.calls.map(([keys]) => keys.length)).toStrictEqual([1, 2, 2]);
	});

	test('a slow look that records an id again leaves it to its run, which can take it back', async () => {
		let takes = 5;
		const { list, process } = one(() => takes);
		const records = process.open();
		await simulate(records.record(['a']));
		await list.fill();
		takes = 2_500;
		expect(await simulate(records.close())).toStrictEqual([]);
		expect(list.has('a')).toBe(true);
		expect(await simulate(records.takeBack(['a']))).toStrictEqual({ remembered: [] });
		expect(list.has('a')).toBe(false);
	});

	test('a look that fails once is made again; one that goes on failing is told', async () => {
		const { list, process } = one();
		const records = process.open();
		const down = () => new Error('database is down');
		faulty(process, [undefined, down()]);
		await simulate(records.record(['a']));
		await list.fill();
		expect(await simulate(records.close())).toStrictEqual([]);
		expect(list.has('a')).toBe(true);
		await simulate(records.record(['b']));
		faulty(process, [down(), down(), down()]);
		expect(await simulate(records.close())).toStrictEqual([mayBeForgotten(['b'], down())]);
	});
});

describe('a list that is full', () => {
	/** A list of so many payments, the oldest first, that no process of these made. */
	function full(length: number) {
		const { list, all } = processes(2, () => 1, numbered(0, length));
		return { list, process: all[0]!, other: all[1]! };
	}
	/** One run of the node: what it paid, and its hints. */
	async function run(
		process: SimulatedProcess,
		ids: string[],
		size: number,
		hasTriedBefore = false,
	) {
		const records = process.open(undefined, hasTriedBefore);
		if (ids.length > size) records.keepAll();
		const paid: string[] = [];
		for (let at = 0; at < ids.length; at += size) {
			const batch = ids.slice(at, at + size);
			const known = await simulate(records.record(batch));
			paid.push(...batch.filter((id) => !known.has(id)));
		}
		return { paid, hints: await simulate(records.close()) };
	}

	test.each([1, 5, 60])(
		'batches of %d: what was forgotten is paid, and pushes out nothing',
		async (size) => {
			const { list, process } = full(10_000);
			const asked = ['forgotten', 'forgotten too', ...numbered(0, 60)];
			const { paid, hints } = await run(process, asked, size);
			expect(paid).toStrictEqual(['forgotten', 'forgotten too']);
			expect(hints).toStrictEqual([listWasFull(WORDS, 10_000)]);
			// A list that is run again loses none of it, nor the next time.
			expect(list.length).toBe(10_002);
			expect(await run(process, asked, size)).toStrictEqual({ paid: [], hints: [] });
		},
	);

	test('10,001 payments of one run are all known afterwards, to another process too', async () => {
		const { list, process, other } = full(0);
		const ids = numbered(0, 10_001);
		expect(await run(process, ids, 1_000)).toStrictEqual({ paid: ids, hints: [] });
		expect(await run(other, ids.slice(0, 20), 1)).toStrictEqual({ paid: [], hints: [] });
		expect(list.length).toBe(10_001);
	});

	test('two lists of 6,000 in turn: both stay known', async () => {
		const { process, other } = full(0);
		const both = [numbered(0, 6_000), numbered(6_000, 12_000)];
		for (const ids of both) await run(process, ids, 1_000);
		for (const ids of both) expect((await run(other, ids, 1_000)).paid).toStrictEqual([]);
	});

	test.each([
		{ what: '10,000: it keeps one more', before: 10_000, after: 10_001, hasTriedBefore: false },
		{
			what: '12,000: two go for each, so that it shrinks',
			before: 12_000,
			after: 11_998,
			hasTriedBefore: false,
		},
		{
			what: '12,000, in later turns of a loop: none goes',
			before: 12_000,
			after: 12_002,
			hasTriedBefore: true,
		},
	])('two new payments and a list of $what', async ({ before, after, hasTriedBefore }) => {
		const { list, process } = full(before);
		for (const id of ['x', 'y']) await run(process, [id], 1, hasTriedBefore);
		expect(list.length).toBe(after);
	});

	test('while a run has batches to come, the payments of others drop nothing', async () => {
		const { list, process } = full(12_000);
		const records = process.open();
		records.keepAll();
		expect((await run(process, ['x'], 1)).paid).toStrictEqual(['x']);
		expect(list.length).toBe(12_001);
		await simulate(records.close());
		expect((await run(process, ['y'], 1)).paid).toStrictEqual(['y']);
		expect(list.length).toBe(12_000);
	});

	test.each([
		{ length: 9_999, count: 0 },
		{ length: 10_000, count: 1 },
	])('a payment beside $length others brings $count hints', async ({ length, count }) => {
		const { process } = full(length);
		expect((await run(process, ['x'], 1)).hints).toHaveLength(count);
	});

	test('runs that pay new ids are told once by a process, one that finds others known each time', async () => {
		const { process, other } = full(12_000);
		const told = async (process: SimulatedProcess, ...ids: string[]) =>
			(await run(process, ids, 1)).hints.length;
		expect([await told(process, 'a'), await told(process, 'b')]).toStrictEqual([1, 0]);
		expect(await told(other, 'c')).toBe(1);
		expect([await told(process, 'd', 'a'), await told(process, 'e', 'b')]).toStrictEqual([1, 1]);
		expect([await told(process, 'a', 'b'), await told(process, 'f')]).toStrictEqual([0, 0]);
	});
});

test('a run that has come to a payment first says so when n8n was too slow for it to be sure', async () => {
	const { all } = processes(1, () => 1_500);
	const records = all[0]!.open(undefined, false, 'execution 7, run 2');
	await expect(simulate(records.claimPassage())).rejects.toThrow(InputError);
});

test('the next run of that execution, and one that has not waited, is no second one', async () => {
	const { all } = processes(2, () => 5);
	const isOurs = async (process: SimulatedProcess, passage?: string) =>
		await simulate(process.open(undefined, false, passage).claimPassage());
	expect(await isOurs(all[0]!, 'execution 7, run 2')).toBe(true);
	expect(await isOurs(all[1]!, 'execution 7, run 3')).toBe(true);
	expect(await isOurs(all[0]!)).toBe(true);
	expect(await isOurs(all[1]!)).toBe(true);
	expect(await isOurs(all[1]!, 'execution 7, run 2')).toBe(false);
});

// By chance: payments and processes that meet in whatever order.

test('control: without a second look, payments that overlap on two processes are forgotten', async () => {
	const random = randomOf(1);
	const { list, all } = processes(2, () => 1 + random() * 30);
	const paid = numbered(0, 25).map(async (id) => {
		await passing(random() * 400);
		const { helpers } = all[Number(id) % 2]!;
		const key = `n8n-nodes-pay:payment:${id}`;
		await helpers.checkProcessedAndRecord([key], 'workflow', { mode: 'entries' });
	});
	await simulate(Promise.all(paid));
	const forgotten = numbered(0, 25).filter((id) => !list.has(id));
	expect(forgotten.length).toBeGreaterThan(0);
	expect(forgotten.length).toBeLessThan(25);
});

const ROUNDS = runs(25);

test.each([
	...[2, 3, 5].map((number) => ({ number, payments: 25, least: 1, most: 31 })),
	// The pause grows with the changes.
	{ number: 2, payments: 12, least: 200, most: 1000 },
])(
	'$number processes, changes of $least to $most ms: payments that overlap are all remembered when their executions have ended',
	async ({ number, payments, least, most }) => {
		for (let seed = 0; seed < ROUNDS; seed++) {
			const random = randomOf(seed);
			const { list, all } = processes(number, () => least + random() * (most - least));
			const paid = numbered(0, payments).map(async (id) => {
				await passing(random() * 400);
				const worker = all[Math.floor(random() * number)]!;
				return await pay(worker, id, random() * 300);
			});
			expect(await simulate(Promise.all(paid))).toStrictEqual(Array(payments).fill(true));
			const forgotten = numbered(0, payments).filter((id) => !list.has(id));
			expect({ seed, forgotten }).toStrictEqual({ seed, forgotten: [] });
		}
	},
);

test.each([
	{ what: 'one process', most: 1 },
	// Between two there is no lock.
	{ what: 'two processes', most: 2 },
])(
	'two executions pay one id at the same moment on $what: $most send it at most',
	async ({ most }) => {
		const counts = new Set<number>();
		for (let seed = 0; seed < ROUNDS; seed++) {
			const random = randomOf(seed);
			const { all } = processes(most, () => 1 + random() * 30);
			const sent = [0, 1].map(async (each) => await pay(all[each % most]!, 'same'));
			counts.add((await simulate(Promise.all(sent))).filter(Boolean).length);
		}
		expect(Math.min(...counts)).toBeGreaterThan(0);
		expect(Math.max(...counts)).toBe(most);
	},
);

test.each([
	{ what: 'the second long after the first', latenessOf: () => 2_000 },
	{ what: 'the second while the first pays', latenessOf: () => 100 },
	{ what: 'both in the same moment', latenessOf: (random: () => number) => random() * 30 },
])(
	'of an execution that goes on twice from one wait, in two processes, one run goes on: $what',
	async ({ latenessOf }) => {
		for (let seed = 0; seed < ROUNDS; seed++) {
			const random = randomOf(seed);
			const { all } = processes(3, () => 1 + random() * 30);
			const goOn = async (process: SimulatedProcess) => {
				const records = process.open(undefined, false, 'execution 7, run 2');
				const isOurs = await records.claimPassage();
				expect(await records.close()).toStrictEqual([]);
				return isOurs;
			};
			// Other executions of the node write over the list meanwhile.
			const others = numbered(0, 10).map(async (id) => {
				await passing(random() * 2_000);
				return await pay(all[2]!, id);
			});
			const first = goOn(all[0]!);
			const second = passing(latenessOf(random)).then(async () => await goOn(all[1]!));
			const [both] = await simulate(Promise.all([Promise.all([first, second]), ...others]));
			expect({ seed, goOn: both.filter((isOurs) => isOurs) }).toStrictEqual({ seed, goOn: [true] });
		}
	},
);

describe('a process that pays in more workflows than it has lists for', () => {
	const MOST_LISTS = 1_000;

	/** Opens so many other lists, one after the other, and pays nothing in them. */
	async function openOthers(number: number): Promise<void> {
		const { all } = processes(number, () => 0);
		for (const each of all) await each.open().close();
	}

	test('forgets the one that it has not used for longest, and n8n remembers its payments', async () => {
		const { list, all } = processes(2, () => 1);
		const [first, second] = [all[0]!, all[1]!];
		expect(await simulate(pay(first, 'a'))).toBe(true);
		expect(await simulate(pay(second, 'b'))).toBe(true);
		await openOthers(MOST_LISTS / 2);
		await first.open().close();
		await openOthers(MOST_LISTS / 2);
		expect(await simulate(pay(first, 'a'))).toBe(false);
		expect(await simulate(pay(second, 'b'))).toBe(false);
		// The control: only of the first one's list does the process know without n8n.
		list.clear();
		expect(await simulate(pay(first, 'a'))).toBe(false);
		list.clear();
		expect(await simulate(pay(second, 'b'))).toBe(true);
	});

	test('keeps the one that a run is recording in: two lists would both find the payment new', async () => {
		const { all } = processes(1, () => 200);
		const process = all[0]!;
		const run = process.open();
		const recording = run.record(['a']);
		await jest.advanceTimersByTimeAsync(100);
		await openOthers(MOST_LISTS + 1);
		const other = process.open();
		const [, known] = await simulate(Promise.all([recording, other.record(['a'])]));
		expect(known).toStrictEqual(new Set(['a']));
		await simulate(Promise.all([run.close(), other.close()]));
	});

	test('keeps the one that a run is sending in, whatever becomes of the list of n8n', async () => {
		const { list, all } = processes(1, () => 1);
		const process = all[0]!;
		const run = process.open();
		await simulate(run.record(['a']));
		await openOthers(MOST_LISTS + 1);
		list.clear();
		expect(await simulate(pay(process, 'a'))).toBe(false);
		await simulate(run.close());
	});

	test('keeps the one with a change that is under way when no run is any more', async () => {
		const { all } = processes(1, () => 200);
		const process = all[0]!;
		const run = process.open();
		await simulate(run.record(['a']));
		await simulate(run.close());
		const removing = run.takeBack(['a']);
		await jest.advanceTimersByTimeAsync(100);
		await openOthers(MOST_LISTS + 1);
		const other = process.open();
		const [, known] = await simulate(Promise.all([removing, other.record(['a'])]));
		// It waited for the removal, so the payment is new.
		expect(known).toStrictEqual(new Set());
		await simulate(other.close());
		expect(await simulate(pay(process, 'a'))).toBe(false);
	});
});
