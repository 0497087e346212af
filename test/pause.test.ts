import { pause } from '../nodes/Pay/pause';

/** How long a pause took, in milliseconds. */
async function durationOf(ms: number, signal?: AbortSignal): Promise<number> {
	const start = performance.now();
	await pause(ms, signal);
	return performance.now() - start;
}

test('a pause lasts as long as it was asked for, also beyond one step', async () => {
	expect(await durationOf(300)).toBeGreaterThanOrEqual(300);
});

test('a pause of nothing is none', async () => {
	expect(await durationOf(0)).toBeLessThan(100);
});

test('a pause does not begin where the execution was cancelled', async () => {
	expect(await durationOf(60_000, AbortSignal.abort())).toBeLessThan(1_000);
});

test('a pause ends soon after the execution is cancelled', async () => {
	expect(await durationOf(60_000, AbortSignal.timeout(50))).toBeLessThan(5_000);
});
