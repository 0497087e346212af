import { REMEMBERED_PAYMENTS } from '../../nodes/Pay/execution/duplicateCheck';
import { InputError } from '../../nodes/Pay/inputError';
import { passing, randomOf, SharedList, type SimulatedProcess } from './sharedList';
import { runs } from '../runs';

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

let count = 0;
/** Processes of one n8n that share a list which already has entries. */
function processes(number: number, takes: () => number) {
	const list = new SharedList(takes);
	// Long before the first change of a process, which takes time.
	void list.fill();
	const cluster = `cluster ${count++}`;
	const all = Array.from({ length: number }, (_, each) => list.process(`${cluster}.${each}`));
	return { list, all };
}

type Check = 'workflow' | 'workers' | 'execution';

/** One execution that pays one id, as a run of the node does; gives whether it was sent. */
async function pay(
	process: SimulatedProcess,
	check: Check,
	id: string,
	{ takesMs = 0, rejected = false } = {},
): Promise<boolean> {
	const records = process.open(check);
	const known = await records.record([id]);
	if (!known.has(id)) {
		await passing(takesMs);
		if (rejected) await records.takeBack([id]);
		await records.lookAgain(false);
	} else {
		// What another run recorded is not this one's to take back.
		expect(await records.takeBack([id])).toStrictEqual({ remembered: [], reason: undefined });
	}
	expect(await records.lookAgain(true)).toBeUndefined();
	return !known.has(id);
}

const ROUNDS = runs(25);

describe.each([2, 3, 5])('%i processes that share a list', (number) => {
	test.each(['workflow', 'workers', 'execution'] as const)(
		'%s: payments that overlap are all remembered when their executions have ended',
		async (check) => {
			for (let seed = 0; seed < ROUNDS; seed++) {
				const random = randomOf(seed);
				const { list, all } = processes(number, () => 1 + random() * 30);
				const paid = Array.from({ length: 25 }, async (_, each) => {
					await passing(random() * 400);
					const worker = all[Math.floor(random() * number)]!;
					return await pay(worker, check, `${each}`, { takesMs: random() * 300 });
				});
				expect(await simulate(Promise.all(paid))).toStrictEqual(Array(25).fill(true));
				const forgotten = Array.from({ length: 25 }, (_, each) => `${each}`).filter(
					(id) => !list.has(id),
				);
				expect({ seed, forgotten }).toStrictEqual({ seed, forgotten: [] });
			}
		},
		120_000,
	);

	test('workers: of simultaneous executions with one id exactly one sends it', async () => {
		for (let seed = 0; seed < ROUNDS; seed++) {
			const random = randomOf(seed);
			const { list, all } = processes(number, () => 1 + random() * 30);
			const other = Array.from({ length: 10 }, async (_, each) => {
				await passing(random() * 600);
				const rejected = random() < 0.3;
				await pay(all[each % number]!, 'workers', `other ${each}`, { rejected });
			});
			const same = Array.from({ length: 10 }, async (_, each) => {
				await passing(100 + random() * 20);
				return await pay(all[each % number]!, 'workers', 'same', { takesMs: random() * 300 });
			});
			const [sent] = await simulate(Promise.all([Promise.all(same), Promise.all(other)]));
			expect({ seed, sent: sent.filter(Boolean).length }).toStrictEqual({ seed, sent: 1 });
			expect(list.has('same')).toBe(true);
		}
	}, 120_000);
});

test('the pause grows with the changes: slow ones that overlap are all remembered, too', async () => {
	for (let seed = 0; seed < ROUNDS; seed++) {
		const random = randomOf(seed);
		const { list, all } = processes(2, () => 200 + random() * 800);
		const paid = Array.from({ length: 12 }, async (_, each) => {
			await passing(random() * 400);
			return await pay(all[each % 2]!, 'workflow', `${each}`, { takesMs: random() * 300 });
		});
		expect(await simulate(Promise.all(paid))).toStrictEqual(Array(12).fill(true));
		const forgotten = paid.flatMap((_, each) => (list.has(`${each}`) ? [] : [each]));
		expect({ seed, forgotten }).toStrictEqual({ seed, forgotten: [] });
	}
}, 120_000);

test('control: without a second look, payments that overlap on two processes are forgotten', async () => {
	const random = randomOf(1);
	const { list, all } = processes(2, () => 1 + random() * 30);
	const paid = Array.from({ length: 25 }, async (_, each) => {
		await passing(random() * 400);
		const { helpers } = all[each % 2]!;
		await helpers.checkProcessedAndRecord([`:${each}`], 'node', { mode: 'entries' });
	});
	await simulate(Promise.all(paid));
	const forgotten = paid.filter((_, each) => !list.has(`${each}`));
	expect(forgotten.length).toBeGreaterThan(0);
});

test('control: with workflow alone, simultaneous executions on two processes can both send one id', async () => {
	let most = 0;
	for (let seed = 0; seed < ROUNDS; seed++) {
		const random = randomOf(seed);
		const { all } = processes(2, () => 1 + random() * 30);
		const sent = all.map(async (process) => await pay(process, 'workflow', 'same'));
		most = Math.max(most, (await simulate(Promise.all(sent))).filter(Boolean).length);
	}
	expect(most).toBe(2);
});

test('workers: timers that fire a moment early let no second execution pass', async () => {
	jest.spyOn(Math, 'random').mockReturnValue(0);
	const { setTimeout: exact } = globalThis;
	jest
		.spyOn(globalThis, 'setTimeout')
		.mockImplementation(((work: () => void, ms = 0) =>
			exact(work, ms > 100 ? ms - 1 : ms)) as typeof setTimeout);
	const { list, all } = processes(2, () => 10);
	const sent = all.map(async (process) => await pay(process, 'workers', 'same'));
	expect((await simulate(Promise.all(sent))).filter(Boolean)).toHaveLength(1);
	expect(list.has('same')).toBe(true);
});

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
	const refusalOf = async (work: Promise<unknown>): Promise<InputError> => {
		const error = await simulate(work).catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(InputError);
		return error as InputError;
	};

	test('an id that was recorded before is known, a new one is not', async () => {
		const { process } = one();
		expect(await simulate(pay(process, 'workflow', 'a'))).toBe(true);
		const known = await simulate(process.open('workflow').record(['a', 'b']));
		expect([...known]).toStrictEqual(['a']);
	});

	test('within an execution only: nothing is reported as known, and all is recorded', async () => {
		const { list, process } = one();
		expect(await simulate(pay(process, 'execution', 'a'))).toBe(true);
		expect(await simulate(pay(process, 'execution', 'a'))).toBe(true);
		expect(list.has('a')).toBe(true);
		expect(await simulate(pay(process, 'workflow', 'a'))).toBe(false);
	});

	test.each(['workflow', 'workers'] as const)(
		'%s: what is taken back is new again; what another run recorded is not taken back',
		async (check) => {
			const { list, process } = one();
			const [first, second] = [process.open(check), process.open(check)];
			await simulate(first.record(['a', 'b']));
			await simulate(second.record(['a']));
			expect(await simulate(second.takeBack(['a', 'b']))).toStrictEqual({
				remembered: [],
				reason: undefined,
			});
			expect([list.has('a'), list.has('b')]).toStrictEqual([true, true]);
			expect(await simulate(first.takeBack(['a']))).toStrictEqual({
				remembered: [],
				reason: undefined,
			});
			await simulate(first.lookAgain(true));
			expect([list.has('a'), list.has('b')]).toStrictEqual([false, true]);
		},
	);

	test('what cannot be taken back is told with the reason', async () => {
		const { process } = one();
		const records = process.open('workflow');
		await simulate(records.record(['a', 'b']));
		jest.spyOn(process.helpers, 'removeProcessed').mockRejectedValue(new Error('disk full'));
		expect(await simulate(records.takeBack(['a', 'b']))).toStrictEqual({
			remembered: ['a', 'b'],
			reason: "n8n's database failed (disk full)",
		});
	});

	test('what is taken back is not put back by a change that waits behind it', async () => {
		const { process } = one();
		const first = process.open('workflow');
		await simulate(first.record(['a']));
		const others = Array.from({ length: 3 }, () => process.open('workflow'));
		await simulate(
			Promise.all([
				first.takeBack(['a']),
				...others.map(async (each, n) => await each.record([`other-${n}`])),
			]),
		);
		expect(await simulate(process.open('workflow').record(['a']))).toStrictEqual(new Set());
	});

	test('a record on whose word another run sent the id stays, whatever becomes of who made it', async () => {
		const { process } = one();
		const first = process.open('workflow');
		await simulate(first.record(['a', 'b']));
		await simulate(process.open('execution').record(['a']));
		expect(await simulate(first.takeBack(['a', 'b']))).toStrictEqual({
			remembered: ['a'],
			reason: 'another execution sent it too',
		});
		expect(await simulate(process.open('workflow').record(['a', 'b']))).toStrictEqual(
			new Set(['a']),
		);
	});

	test('a store that throws: nothing may be sent, and the words say what may be remembered', async () => {
		const { list, process } = one();
		const lost = { code: 'ECONNRESET' };
		faulty(process, [Object.assign(new Error('Connection terminated unexpectedly'), lost)]);
		const records = process.open('workflow');
		const error = await refusalOf(records.record(['a']));
		expect(error).toMatchObject({ field: 'duplicateCheck' });
		expect(error.message).toBe(
			'The duplicate check could not be made: Connection terminated unexpectedly',
		);
		expect(error.advice).toMatch(/^Nothing was sent\..*remembered although it was not sent/);
		expect(error.advice).not.toMatch(/Within This Execution|[Ss]ave the workflow/);
		// Nothing was sent, so nothing is recorded later either.
		expect(await simulate(records.lookAgain(true))).toBeUndefined();
		expect(list.has('a')).toBe(false);
	});

	test('a workflow without an id: the advice is to save it', async () => {
		const { process } = one();
		const assertion = Object.assign(new Error('The expression evaluated to a falsy value'), {
			code: 'ERR_ASSERTION',
		});
		faulty(process, [assertion]);
		const error = await refusalOf(process.open('workflow').record(['a']));
		expect(error.message).toMatch(/has not been saved/);
		expect(error.advice).toMatch(/Save the workflow/);
	});

	test.each<[string, string[], string[]]>([
		['none as new or processed', [], []],
		['one of two as neither', ['a'], []],
		['one of two as both', ['a', 'b'], ['b']],
	])('a store that answers %s: nothing may be sent', async (_what, fresh, processed) => {
		const { process } = one();
		const keys = (ids: string[]) => ids.map((id) => `n8n-nodes-pay:payment:${id}`);
		jest
			.spyOn(process.helpers, 'checkProcessedAndRecord')
			.mockResolvedValue({ new: keys(fresh), processed: keys(processed) });
		const error = await refusalOf(process.open('workflow').record(['a', 'b']));
		expect(error.message).toMatch(/does not say whether/);
	});

	test.each([
		[
			'PostgreSQL',
			'duplicate key value violates unique constraint "PK_ca04b9d8dc72de268fe07a65773"',
		],
		['SQLite', 'SQLITE_CONSTRAINT: UNIQUE constraint failed: processed_data.workflowId'],
		['MySQL', "Duplicate entry 'x' for key 'PRIMARY'"],
	])(
		'the first record of a node, made by another process meanwhile (%s), is tried once more',
		async (_, text) => {
			const { process } = one();
			const calls = faulty(process, [new Error(text)]);
			expect(await simulate(process.open('workflow').record(['a']))).toStrictEqual(new Set());
			expect(calls).toHaveBeenCalledTimes(2);
			faulty(process, [new Error(text), new Error(text)]);
			expect((await refusalOf(process.open('workflow').record(['b']))).message).toContain(text);
		},
	);

	test('two processes that make the first record of a node at once: both payments are remembered', async () => {
		const { list, all } = processes(2, () => 20);
		list.clear();
		const sent = all.map(async (process, each) => await pay(process, 'workflow', `${each}`));
		expect(await simulate(Promise.all(sent))).toStrictEqual([true, true]);
		expect([list.has('0'), list.has('1')]).toStrictEqual([true, true]);
	});

	test('a database that never answers holds up a payment for 30 s, and other nodes not at all', async () => {
		const { process } = one();
		const other = one().process;
		faulty(process, ['never']);
		const begun = performance.now();
		const stuck = process.open('workflow').record(['a']);
		const waiting = process.open('workflow');
		const late = waiting.record(['b']);
		expect(await simulate(pay(other, 'workflow', 'c'))).toBe(true);
		expect(performance.now() - begun).toBeLessThan(2_000);
		const error = await refusalOf(stuck);
		expect(error.message).toMatch(/did not answer within 30 s/);
		expect(performance.now() - begun).toBeLessThan(30_500);
		// It joined the change that never ended, or came after it: either way it has an end.
		await simulate(late.catch(() => undefined));
		expect(performance.now() - begun).toBeLessThan(31_500);
		expect(await simulate(pay(process, 'workflow', 'd'))).toBe(true);
	});

	test.each(['workflow', 'workers'] as const)(
		'%s: an execution that is cancelled in the check is refused, and its id taken back',
		async (check) => {
			const { list, process } = one(() => 500);
			const cancel = new AbortController();
			const work = process.open(check, cancel.signal).record(['a']);
			setTimeout(() => cancel.abort(), 100);
			const error = await refusalOf(work);
			expect(error).toMatchObject({ field: 'duplicateCheck' });
			expect(error.message).toMatch(/cancelled/);
			expect(error.advice).toBe('Nothing was sent. Run it again if it is still to be sent.');
			expect(list.has('a')).toBe(false);
		},
	);

	test('cancelled in the check, and the id cannot be taken back: that is told', async () => {
		const { process } = one(() => 500);
		const cancel = new AbortController();
		jest.spyOn(process.helpers, 'removeProcessed').mockRejectedValue(new Error('disk full'));
		const work = process.open('workflow', cancel.signal).record(['a']);
		setTimeout(() => cancel.abort(), 100);
		const error = await refusalOf(work);
		expect(error.advice).toMatch(/^Nothing was sent\. .*still remembers "a".*new External ID\.$/);
	});

	test('a removal that was given up is not made later: its id was told to stay', async () => {
		const { list, process } = one();
		const records = process.open('workflow');
		await simulate(records.record(['a']));
		// Two changes before it take all of their time each.
		faulty(process, ['never', 'never']);
		const stuck = ['b', 'c'].map(async (id) => {
			const refused = process
				.open('workflow')
				.record([id])
				.catch(() => undefined);
			await passing(10);
			return await refused;
		});
		const { remembered, reason } = await simulate(records.takeBack(['a']));
		expect([remembered, reason]).toStrictEqual([['a'], expect.stringMatching(/within 30 s/)]);
		await simulate(Promise.all(stuck));
		await simulate(passing(120_000));
		expect(list.has('a')).toBe(true);
	});

	test.each<['workflow' | 'workers', number, RegExp | undefined]>([
		['workers', 1_998, undefined],
		['workers', 2_004, /took longer than 2 s/],
		['workflow', 2_004, undefined],
		['workflow', 9_996, undefined],
		['workflow', 10_002, /took longer than 10 s/],
	])('%s: a record that takes %d ms is refused: %p', async (check, ms, refused) => {
		// A change reads, writes and answers, in shares of 1, 4 and 1.
		const { process } = one(() => (ms * 4) / 6);
		const work = process.open(check).record(['a']);
		if (refused === undefined) expect(await simulate(work)).toStrictEqual(new Set());
		else expect((await refusalOf(work)).message).toMatch(refused);
	});

	test('workers: a record that takes too long refuses all of its batch, known ones before it or not', async () => {
		let ms = 6;
		const { process } = one(() => (ms * 4) / 6);
		expect(await simulate(pay(process, 'workers', 'known'))).toBe(true);
		ms = 2_004;
		const error = await refusalOf(process.open('workers').record(['known', 'new']));
		expect(error.message).toMatch(/took longer than 2 s/);
	});

	test.each<['workflow' | 'workers', number, [number, number]]>([
		['workers', 5, [1_000, 1_100]],
		['workers', Infinity, [10_000, 10_100]],
		['workflow', 5, [0, 1]],
	])(
		'%s: a process that is busy for %d turns begins its record after %j ms',
		async (check, busy, [least, most]) => {
			const { setTimeout: exact } = globalThis;
			let turns = 0;
			const late = (work: () => void, ms = 0) =>
				exact(work, ms === 10 && turns++ < busy ? 200 : ms);
			jest.spyOn(globalThis, 'setTimeout').mockImplementation(late as typeof setTimeout);
			const { process } = one();
			const { checkProcessedAndRecord } = process.helpers;
			const begun = performance.now();
			let after: number | undefined;
			process.helpers.checkProcessedAndRecord = async (...all) => {
				after ??= performance.now() - begun;
				return await checkProcessedAndRecord(...all);
			};
			expect(await simulate(process.open(check).record(['a']))).toStrictEqual(new Set());
			expect(after).toBeGreaterThanOrEqual(least);
			expect(after).toBeLessThan(most);
		},
	);

	test('a hundred runs that pay at once record and look together', async () => {
		const { list, process } = one();
		const calls = jest.spyOn(process.helpers, 'checkProcessedAndRecord');
		const paid = Array.from(
			{ length: 100 },
			async (_, each) => await pay(process, 'workflow', `${each}`),
		);
		expect(await simulate(Promise.all(paid))).toStrictEqual(Array(100).fill(true));
		expect(paid.filter((_, each) => !list.has(`${each}`))).toStrictEqual([]);
		expect(calls.mock.calls.length).toBeLessThan(10);
	});

	test('tokens of payments that were refused are taken out, too', async () => {
		const { list, process } = one(() => 1);
		expect(await simulate(pay(process, 'workers', 'same'))).toBe(true);
		for (let each = 0; each < 40; each++) {
			expect(await simulate(pay(process, 'workers', 'same'))).toBe(false);
		}
		expect(list.length).toBeLessThan(2 + 21);
	});

	test('what could not be taken back is looked after as before', async () => {
		const { list, process } = one();
		const records = process.open('workflow');
		await simulate(records.record(['a']));
		jest.spyOn(process.helpers, 'removeProcessed').mockRejectedValue(new Error('disk full'));
		await simulate(records.takeBack(['a']));
		await list.fill();
		expect(await simulate(records.lookAgain(true))).toBeUndefined();
		expect(list.has('a')).toBe(true);
	});

	test('a machine that was suspended within a change, told by its wall clock alone: refused', async () => {
		const { process } = one(() => 100);
		setTimeout(() => jest.setSystemTime(Date.now() + 12_000), 50);
		const work = process.open('workflow').record(['a']);
		expect((await refusalOf(work)).message).toMatch(/took longer than 10 s/);
	});

	test('a run that is frozen refuses all it has not sent; one within its execution only goes on', async () => {
		const { list, process } = one();
		const [careful, careless] = [process.open('workflow'), process.open('execution')];
		process.freeze(12_000);
		await refusalOf(careful.record(['a']));
		// Another may have recorded it too, so it is not taken out; but this run looks after it no more.
		expect(list.has('a')).toBe(true);
		await list.fill();
		expect(await simulate(careful.lookAgain(true))).toBeUndefined();
		expect(list.has('a')).toBe(false);
		await refusalOf(careful.record(['b']));
		expect(await simulate(careless.record(['c']))).toStrictEqual(new Set());
		expect(await simulate(process.open('workflow').record(['d']))).toStrictEqual(new Set());
	});

	test('a pause of 0.3 s is all that quick changes cost, also after a slow one is long past', async () => {
		let takes = 1_000;
		const { process } = one(() => takes);
		const cost = async (id: string) => {
			const records = process.open('workflow');
			await simulate(records.record([id]));
			const begun = performance.now();
			expect(await simulate(records.lookAgain(true))).toBeUndefined();
			return performance.now() - begun;
		};
		expect(await cost('slow')).toBeGreaterThan(4_000);
		takes = 5;
		for (let each = 0; each < 20; each++) await cost(`${each}`);
		const last = await cost('last');
		expect(last).toBeGreaterThanOrEqual(300);
		expect(last).toBeLessThan(400);
		takes = 4_000;
		// However slow, it is five seconds at most, beside the look itself, which takes six.
		expect(await cost('slowest')).toBeLessThan(5_100 + 6_000);
	});

	test('a look after a batch waits for nothing, and is left out where it had to', async () => {
		const { process } = one();
		const calls = jest.spyOn(process.helpers, 'checkProcessedAndRecord');
		const records = process.open('workflow');
		await simulate(records.record(['a']));
		await simulate(records.lookAgain(false));
		expect(calls).toHaveBeenCalledTimes(1);
		await simulate(passing(400));
		await simulate(records.lookAgain(false));
		expect(calls).toHaveBeenCalledTimes(2);
		await simulate(passing(400));
		// It lasts, so there is nothing left to look at.
		await simulate(records.lookAgain(false));
		await simulate(records.lookAgain(true));
		expect(calls).toHaveBeenCalledTimes(2);
	});

	test('a record that others overwrite for a minute is told, and looked for no more', async () => {
		const { process } = one();
		const records = process.open('workflow');
		const forgets = jest
			.spyOn(process.helpers, 'checkProcessedAndRecord')
			.mockImplementation(async (keys) => ({ new: keys, processed: [] }));
		const ids = Array.from({ length: 12 }, (_, each) => `${each}`);
		await simulate(records.record(ids));
		const begun = performance.now();
		const words = await simulate(records.lookAgain(true));
		expect(words).toMatch(/"0", "1", .*"9" and 2 more: .*\(other executions overwrite it\)/);
		expect(performance.now() - begun).toBeGreaterThan(60_000);
		expect(performance.now() - begun).toBeLessThan(61_000);
		const before = forgets.mock.calls.length;
		expect(await simulate(records.lookAgain(true))).toBeUndefined();
		expect(forgets).toHaveBeenCalledTimes(before);
	});

	test('ten ids are all named', async () => {
		const { process } = one();
		const records = process.open('workflow');
		const ids = Array.from({ length: 10 }, (_, each) => `${each}`);
		await simulate(records.record(ids));
		faulty(process, Array(3).fill(new Error('down')));
		expect(await simulate(records.lookAgain(true))).toMatch(/"8", "9": .*\(down\)/);
	});

	test('of one id in two runs at the same moment, one goes on; within the execution only, both', async () => {
		const { list, process } = one();
		const runs = (['workflow', 'workflow', 'execution'] as const).map((check) =>
			process.open(check),
		);
		const known = await simulate(
			Promise.all(runs.map(async (records) => await records.record(['a']))),
		);
		expect(known.map(({ size }) => size)).toStrictEqual([0, 1, 0]);
		// The third has sent it on the word of the first one's record.
		expect(await simulate(runs[0]!.takeBack(['a']))).toStrictEqual({
			remembered: ['a'],
			reason: 'another execution sent it too',
		});
		expect(list.has('a')).toBe(true);
	});

	test('more ids at once than one change takes are all recorded, 2,000 at a time', async () => {
		const { list, process } = one();
		const calls = jest.spyOn(process.helpers, 'checkProcessedAndRecord');
		const records = process.open('workflow');
		const ids = Array.from({ length: 2_500 }, (_, each) => `${each}`);
		expect(await simulate(records.record(ids))).toStrictEqual(new Set());
		expect(await simulate(records.lookAgain(true))).toBeUndefined();
		expect(ids.filter((id) => !list.has(id))).toStrictEqual([]);
		expect(Math.max(...calls.mock.calls.map(([keys]) => keys.length))).toBe(2_000);
	});

	test('twenty tokens are taken out together; what other checks record has none', async () => {
		const { list, process } = one(() => 1);
		for (let each = 0; each < 19; each++) await simulate(pay(process, 'workers', `${each}`));
		await simulate(pay(process, 'workflow', 'without a token'));
		expect(list.length).toBe(1 + 20 + 19);
		await simulate(pay(process, 'workers', 'last'));
		expect(list.length).toBe(1 + 21);
	});

	test('workers: a token that an id waits for stays, though others are taken out meanwhile', async () => {
		const { process } = one(() => 1);
		for (let each = 0; each < 19; each++) await simulate(pay(process, 'workers', `${each}`));
		const removal = jest.spyOn(process.helpers, 'removeProcessed');
		const known = process.open('workers').record(['0', 'new']);
		await simulate(passing(500));
		await simulate(process.open('workflow').lookAgain(true));
		expect([...(await simulate(known))]).toStrictEqual(['0']);
		expect(removal).not.toHaveBeenCalled();
		// Control: with one more they are taken out.
		await simulate(pay(process, 'workers', 'the twentieth'));
		expect(removal).toHaveBeenCalled();
	});

	test('workflow: a payment waits neither for the pause of another, nor for its token', async () => {
		const { process } = one();
		await simulate(process.open('workflow').record(['a']));
		const begun = Date.now();
		const exclusive = process.open('workers').record(['b']);
		await simulate(process.open('workflow').record(['c']));
		expect(Date.now() - begun).toBeLessThan(300);
		await simulate(exclusive);
		expect(Date.now() - begun).toBeGreaterThan(2_000);
	});

	test('a slow look that records an id again leaves it to its run, which can take it back', async () => {
		let takes = 5;
		const { list, process } = one(() => takes);
		const records = process.open('workflow');
		await simulate(records.record(['a']));
		await list.fill();
		takes = 2_500;
		expect(await simulate(records.lookAgain(true))).toBeUndefined();
		expect(list.has('a')).toBe(true);
		expect(await simulate(records.takeBack(['a']))).toStrictEqual({
			remembered: [],
			reason: undefined,
		});
		expect(list.has('a')).toBe(false);
	});

	test('workers: a slow look that finds neither id nor token refuses the payment', async () => {
		let takes = 5;
		const { list, process } = one(() => takes);
		const recorded = process.open('workers').record(['a']);
		const refused = refusalOf(recorded);
		await passing(500);
		await list.fill();
		takes = 2_500;
		expect((await refused).message).toContain('took longer than 2 s');
	});

	test('within an execution only: an id that was recorded before is looked after, too', async () => {
		const { list, process } = one();
		await simulate(pay(process, 'workflow', 'a'));
		const records = process.open('execution');
		await simulate(records.record(['a']));
		await list.fill();
		expect(await simulate(records.lookAgain(true))).toBeUndefined();
		expect(list.has('a')).toBe(true);
	});

	test('the last 10,000 ids that were sent on the word of another run are not taken back', async () => {
		const { process } = one(() => 1);
		const [first, second] = [process.open('workflow'), process.open('execution')];
		const ids = Array.from({ length: 10_001 }, (_, each) => `${each}`);
		const send = async (some: string[]) => {
			await simulate(first.record(some));
			await simulate(first.lookAgain(true));
			await simulate(second.record(some));
			await simulate(second.lookAgain(true));
		};
		const staysOf = async (id: string) => (await simulate(first.takeBack([id]))).remembered;
		for (let at = 0; at < 10_000; at += 1_000) await send(ids.slice(at, at + 1_000));
		expect(await staysOf('0')).toStrictEqual(['0']);
		await send(ids.slice(10_000));
		expect(await staysOf('0')).toStrictEqual([]);
		expect(await staysOf('1')).toStrictEqual(['1']);
	});

	test('tokens whose removal failed are taken out later', async () => {
		const { list, process } = one(() => 1);
		const { removeProcessed } = process.helpers;
		const removal = jest.spyOn(process.helpers, 'removeProcessed');
		removal.mockRejectedValue(new Error('disk full'));
		for (let each = 0; each < 25; each++) await simulate(pay(process, 'workers', `${each}`));
		expect(removal).toHaveBeenCalled();
		expect(list.length).toBe(1 + 25 + 25);
		removal.mockImplementation(removeProcessed);
		await simulate(pay(process, 'workers', 'last'));
		expect(list.length).toBe(1 + 26);
	});

	test('a look that fails once is made again; one that goes on failing is told', async () => {
		const { list, process } = one();
		const records = process.open('workflow');
		const down = () => new Error('database is down');
		faulty(process, [undefined, down()]);
		await simulate(records.record(['a']));
		await list.fill();
		expect(await simulate(records.lookAgain(true))).toBeUndefined();
		expect(list.has('a')).toBe(true);
		await simulate(records.record(['b']));
		faulty(process, [down(), down(), down()]);
		expect(await simulate(records.lookAgain(true))).toMatch(/"b".*database is down/);
	});

	test('workers: a look that fails refuses the payment: what it wrote proves nothing', async () => {
		const { process } = one();
		faulty(process, [undefined, new Error('Connection terminated')]);
		const error = await refusalOf(process.open('workers').record(['a']));
		expect(error.message).toContain('Connection terminated');
	});

	test('the list ends at 10,000, and tokens take hardly any of it', async () => {
		const { list, process } = one(() => 1);
		for (let each = 0; each < 120; each++) await simulate(pay(process, 'workers', `${each}`));
		expect(list.length).toBeLessThan(1 + 120 + 25);
		const records = process.open('workflow');
		const ids = Array.from({ length: 12_000 }, (_, each) => `many ${each}`);
		for (let at = 0; at < ids.length; at += 1_000) {
			await simulate(records.record(ids.slice(at, at + 1_000)));
		}
		await simulate(records.lookAgain(true));
		expect(list.length).toBe(REMEMBERED_PAYMENTS);
		const forgotten = ids.filter((id, each) => each >= 3_000 && each % 9 === 0 && !list.has(id));
		expect(forgotten).toStrictEqual([]);
	});
});

describe('a process that is frozen between reading and writing', () => {
	test('workers: it does not pay what another paid meanwhile, nor anything else of that run', async () => {
		const { all } = processes(2, () => 10);
		const [frozen, other] = all as [SimulatedProcess, SimulatedProcess];
		const run = frozen.open('workers');
		frozen.freeze(12_000);
		const first = run.record(['a']).catch((error: unknown) => error);
		expect(await simulate(pay(other, 'workers', 'a'))).toBe(true);
		expect(await simulate(pay(other, 'workers', 'b'))).toBe(true);
		expect(await simulate(first)).toBeInstanceOf(InputError);
		await expect(run.record(['b'])).rejects.toThrow(InputError);
	});

	test('not held: what another recorded meanwhile is forgotten', async () => {
		const { list, all } = processes(2, () => 10);
		const [frozen, other] = all as [SimulatedProcess, SimulatedProcess];
		frozen.freeze(12_000);
		const first = frozen
			.open('workflow')
			.record(['a'])
			.catch(() => undefined);
		expect(await simulate(pay(other, 'workflow', 'b'))).toBe(true);
		await simulate(first);
		expect(list.has('b')).toBe(false);
	});
});
