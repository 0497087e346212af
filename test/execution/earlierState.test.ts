import { countRun, type RunCount } from '../../nodes/Pay/execution/earlierState';

/** An execution that no other test counts: the process remembers each. */
const newId = () => crypto.randomUUID();

const isEarlier = (id: string | undefined, store: RunCount) => countRun(id, store).isEarlier;

test('runs that follow each other are no earlier state, and are counted', () => {
	const id = newId();
	const store: RunCount = {};
	expect([1, 2, 3].map(() => countRun(id, store))).toStrictEqual([
		{ number: 1, isEarlier: false },
		{ number: 2, isEarlier: false },
		{ number: 3, isEarlier: false },
	]);
	expect(store).toStrictEqual({ runs: 3 });
});

test('a state that the execution has left is an earlier one, whatever runs in it', () => {
	const id = newId();
	const store: RunCount = {};
	countRun(id, store);
	const left = { ...store };
	countRun(id, store);
	expect([1, 2, 3].map(() => isEarlier(id, left))).toStrictEqual([true, true, true]);
	expect(left).toStrictEqual({ runs: 1 });
	expect(isEarlier(id, store)).toBe(false);
});

test('of two runs of one state the second is told', () => {
	const id = newId();
	expect([{}, {}].map((state) => isEarlier(id, state))).toStrictEqual([false, true]);
});

test("executions count for themselves, and the editor's Retry goes on with the count of the first try", () => {
	const store: RunCount = {};
	countRun(newId(), store);
	const id = newId();
	expect(isEarlier(id, store)).toBe(false);
	expect(isEarlier(id, { runs: 1 })).toBe(true);
	expect(isEarlier(newId(), { runs: 1 })).toBe(false);
});

test('an execution without an id is not counted', () => {
	const store: RunCount = {};
	expect(isEarlier(undefined, store)).toBe(false);
	expect(isEarlier(undefined, {})).toBe(false);
	expect(store).toStrictEqual({});
});

test('a process remembers the 100,000 executions that ran last', () => {
	const [oldest, again] = [newId(), newId()];
	countRun(oldest, {});
	const store: RunCount = {};
	countRun(again, store);
	for (let count = 0; count < 99_998; count++) countRun(newId(), {});
	countRun(again, store);
	expect(isEarlier(oldest, {})).toBe(true);
	countRun(newId(), {});
	// The oldest is forgotten, so its first state is none that it has left.
	expect(isEarlier(oldest, {})).toBe(false);
	expect(isEarlier(again, {})).toBe(true);
});
