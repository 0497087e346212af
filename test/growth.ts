/*
 * Whether the time that a function takes grows with the length of what it is given, and not with the
 * square: what comes from outside is long where its sender means harm.
 */

/** A pause of the machine or of the garbage collector, in milliseconds of processor time. */
const NOISE = 5;

/** A text repeated up to so many characters. */
export const filled = (size: number, text: string) =>
	text.repeat(Math.ceil(size / text.length)).slice(0, size);

/** The processor time that some work takes, in milliseconds. */
export async function processorTime(work: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}

/** Sizes are compared in such steps: a square grows by 256 where a line grows by 16. */
const STEP = 16;

/**
 * How much more than its size a time may grow in one step: between a line (1) and a square (16). A line
 * came to 3.3 from 1 MB to 16 MB on a slow machine beside five other workers.
 */
const TOLERANCE = 5;

/** How often a time is taken anew that is too long: the garbage collector takes its share at random. */
const TRIES = 3;

/** The first size at which the time grew much more than the size; undefined where there is none. */
export async function growsTooFast(
	timeOf: (size: number) => Promise<number>,
	largest: number,
): Promise<string | undefined> {
	let size = Math.round(largest / STEP);
	while (size > 4000) size = Math.round(size / STEP);
	await timeOf(size);
	let time = await timeOf(size);
	while (size <= largest / STEP) {
		const next = STEP * size;
		const allowed = TOLERANCE * STEP * Math.max(time, NOISE);
		let longer = await timeOf(next);
		for (let tries = 1; longer > allowed && tries < TRIES; tries += 1) {
			longer = Math.min(longer, await timeOf(next));
		}
		if (longer > allowed) return `${next} bytes: ${longer} ms, ${size} bytes: ${time} ms`;
		[size, time] = [next, longer];
	}
	return undefined;
}
