import { pause } from '../nodes/Pay/base/time';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Whether a pause has ended when so many milliseconds are over. */
async function hasEnded(pausing: Promise<void>, ms: number): Promise<boolean> {
	let isOver = false;
	void pausing.then(() => (isOver = true));
	await jest.advanceTimersByTimeAsync(ms);
	return isOver;
}

test('a pause lasts as long as it was asked for, also beyond one step', async () => {
	const pausing = pause(300, undefined);
	expect(await hasEnded(pausing, 299)).toBe(false);
	expect(await hasEnded(pausing, 1)).toBe(true);
});

test('a pause of nothing is none', async () => {
	expect(await hasEnded(pause(0, undefined), 0)).toBe(true);
});

test('a pause does not begin where the execution was cancelled', async () => {
	expect(await hasEnded(pause(60_000, AbortSignal.abort()), 0)).toBe(true);
});

test('a pause ends within a fifth of a second after the execution is cancelled', async () => {
	const cancel = new AbortController();
	const pausing = pause(60_000, cancel.signal);
	expect(await hasEnded(pausing, 1_000)).toBe(false);
	cancel.abort();
	expect(await hasEnded(pausing, 200)).toBe(true);
});
