import { AcceptedMarks } from '../../nodes/Pay/run/acceptedMarks';
import { MOST_MARKS } from '../../nodes/Pay/run/store';
import { runs } from '../runs';
import { DuplicateStore } from '../simulation/duplicateStore';
import { passing, randomOf, SharedList, type SimulatedProcess } from './sharedList';

beforeEach(() => {
	jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
});
afterEach(() => jest.useRealTimers());

/** Lets simulated time pass until the work is done. */
async function simulate<T>(work: Promise<T>): Promise<T> {
	let isDone = false;
	work.then(
		() => (isDone = true),
		() => (isDone = true),
	);
	while (!isDone) await jest.advanceTimersToNextTimerAsync();
	return await work;
}

/** A process, and its marks in the row of the node that it shares with others. */
function processOf(list: SharedList, name: string) {
	const process = list.process(name);
	return { process, marks: new AcceptedMarks(), store: process.helpers };
}

function oneProcess() {
	const { marks, store } = processOf(new SharedList(() => 5), 'one');
	return {
		accept: async (...keys: string[]) => await simulate(marks.add(store, keys)),
		find: async (...keys: string[]) => [...(await simulate(marks.find(store, keys)))],
		shorten: async () => await simulate(marks.shorten(store)),
		length: async () => await simulate(store.getProcessedDataCount('node', { mode: 'entries' })),
	};
}

test('what was accepted is known, however often it is asked for; nothing else is', async () => {
	const { accept, find } = oneProcess();
	await accept('a', 'b');
	expect(await find('a', 'c')).toStrictEqual(['a']);
	expect(await find('a', 'b', 'c')).toStrictEqual(['a', 'b']);
	expect(await find('c')).toStrictEqual([]);
});

test('what is asked for while it is under way, and accepted then, is known', async () => {
	const { accept, find } = oneProcess();
	expect(await find('a')).toStrictEqual([]);
	await accept('a');
	expect(await find('a')).toStrictEqual(['a']);
});

test('a row that has grown long is cleared as a whole: nothing is known of it then', async () => {
	const { accept, find, shorten, length } = oneProcess();
	const many = Array.from({ length: MOST_MARKS }, (_, index) => `old ${index}`);
	await accept(...many);
	await shorten();
	expect(await length()).toBe(MOST_MARKS);
	await accept('new');
	await shorten();
	expect(await length()).toBe(0);
	expect(await find('new', many[0]!)).toStrictEqual([]);
});

test('a database that does not answer holds nobody up for longer than 5 s, however many ask', async () => {
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
		const clock = new AbortController();
		setTimeout(() => clock.abort(), ms);
		return clock.signal;
	});
	const { marks, store } = processOf(new SharedList(() => 5), 'silent');
	jest.spyOn(store, 'checkProcessedAndRecord').mockReturnValue(new Promise(() => undefined));
	const begun = performance.now();
	const asked = Array.from({ length: 10 }, async (_, key) => await marks.find(store, [`${key}`]));
	for (const end of await simulate(Promise.allSettled(asked))) {
		expect(end).toMatchObject({ reason: new Error("n8n's database did not respond in time") });
	}
	expect(performance.now() - begun).toBeLessThanOrEqual(5_000);
	jest.restoreAllMocks();
});

/** Waits some time, mostly, and stands still in the middle of a change now and then. */
async function linger(process: SimulatedProcess, random: () => number): Promise<void> {
	if (random() < 0.1) process.freeze(random() * 3_000);
	await passing(random() * 200);
}

const KEYS = ['a', 'b', 'c', 'd'];

test.each([2, 5])(
	'%d processes that write over one another, freeze and clear: nothing is called accepted that was not',
	async (number) => {
		let found = 0;
		for (let seed = 0; seed < runs(40); seed++) {
			const random = randomOf(seed);
			const list = new SharedList(() => 1 + random() * 60);
			const accepted = new Set<string>();
			const work = Array.from({ length: number }, async (_, each) => {
				const { process, marks, store } = processOf(list, `process ${each}`);
				for (let step = 0; step < 12; step++) {
					await linger(process, random);
					const key = KEYS[Math.floor(random() * KEYS.length)]!;
					const what = random();
					if (what < 0.2) {
						accepted.add(key);
						await marks.add(store, [key]).catch(() => undefined);
					} else if (what < 0.25) {
						await store.clearAllProcessedItems('node', { mode: 'entries' });
					} else {
						const said = await marks.find(store, [key]).catch(() => new Set<string>());
						found += said.size;
						expect({ seed, lies: [...said].filter((each) => !accepted.has(each)) }).toStrictEqual({
							seed,
							lies: [],
						});
					}
				}
			});
			await simulate(Promise.all(work));
		}
		// The control: it does say so of some.
		expect(found).toBeGreaterThan(runs(40) / 2);
	},
);

/*
 * Why the marks are not kept in the workflow's row, beside the record of each payment, as "no outcome yet" that is
 * removed once it was accepted: that row lets its oldest entries go one by one.
 */
test('control: with both keys in a row that drops its oldest entries, a payment of which nobody knows is called accepted', async () => {
	const store = new DuplicateStore();
	const place = { workflow: { id: 'w', active: true } };
	const record = async (keys: string[], maxEntries?: number) =>
		await store.checkProcessedAndRecord(keys, 'workflow', place, { mode: 'entries', maxEntries });
	// It was sent, and its response was lost. Then others fill the row, until its first key goes alone.
	await record(['lost', 'no outcome yet: lost']);
	await record(['1', '2', '3'], 4);
	// Somebody asks. Its own key is new, so it stands behind the other one now. To remove it again fails.
	const asked = await record(['lost', 'no outcome yet: lost']);
	expect(asked).toStrictEqual({ new: ['lost'], processed: ['no outcome yet: lost'] });
	// Others pay, the other key goes, and somebody asks again.
	await record(['4'], 4);
	expect(await record(['lost', 'no outcome yet: lost'])).toStrictEqual({
		new: ['no outcome yet: lost'],
		processed: ['lost'],
	});
});
