import { isEarlierState, type RunCount } from '../../nodes/Pay/run/earlierState';

/** An execution that no other test counts: the process remembers each. */
const newId = () => crypto.randomUUID();

test('runs that follow each other are no earlier state, and are counted', () => {
	const id = newId();
	const store: RunCount = {};
	expect([1, 2, 3].map(() => isEarlierState(id, store))).toStrictEqual([false, false, false]);
	expect(store).toStrictEqual({ runs: 3 });
});

test('a state that the execution has left is an earlier one, whatever runs in it', () => {
	const id = newId();
	const store: RunCount = {};
	isEarlierState(id, store);
	const left = { ...store };
	isEarlierState(id, store);
	expect([1, 2, 3].map(() => isEarlierState(id, left))).toStrictEqual([true, true, true]);
	expect(left).toStrictEqual({ runs: 1 });
	expect(isEarlierState(id, store)).toBe(false);
});

test('of two runs of one state the second is told', () => {
	const id = newId();
	expect([{}, {}].map((state) => isEarlierState(id, state))).toStrictEqual([false, true]);
});

test("executions count for themselves, and the editor's Retry goes on with the count of the first try", () => {
	const store: RunCount = {};
	isEarlierState(newId(), store);
	const id = newId();
	expect(isEarlierState(id, store)).toBe(false);
	expect(isEarlierState(id, { runs: 1 })).toBe(true);
	expect(isEarlierState(newId(), { runs: 1 })).toBe(false);
});

test('an execution without an id is not counted', () => {
	const store: RunCount = {};
	expect(isEarlierState(undefined, store)).toBe(false);
	expect(isEarlierState(undefined, {})).toBe(false);
	expect(store).toStrictEqual({});
});

test('a process remembers the 100,000 executions that ran last', () => {
	const [oldest, again] = [newId(), newId()];
	isEarlierState(oldest, {});
	const store: RunCount = {};
	isEarlierState(again, store);
	for (let count = 0; count < 99_998; count++) isEarlierState(newId(), {});
	isEarlierState(again, store);
	expect(isEarlierState(oldest, {})).toBe(true);
	isEarlierState(newId(), {});
	// The oldest is forgotten, so its first state is none that it has left.
	expect(isEarlierState(oldest, {})).toBe(false);
	expect(isEarlierState(again, {})).toBe(true);
});
