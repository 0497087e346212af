/*
 * Whether the time that a function takes grows with the length of what it is given, and not with the
 * square: what comes from outside is long where its sender means harm.
 */

/** A pause of the machine or of the garbage collector, in milliseconds of processor time. */
const NOISE = 10;

/** A text repeated up to so many characters. */
export const filled = (size: number, text: string) =>
	text.repeat(Math.ceil(size / text.length)).slice(0, size);

/** The processor time that some work takes, in milliseconds. */
export function processorTime(work: () => unknown): number {
	const before = process.cpuUsage();
	work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}

/** The first size at which the time grew much more than the size; undefined where there is none. */
export function growsTooFast(
	timeOf: (size: number) => number,
	largest: number,
): string | undefined {
	let size = 1000;
	timeOf(size);
	let time = timeOf(size);
	while (size < largest) {
		const next = Math.min(16 * size, largest);
		const allowed = (2.5 * next * Math.max(time, NOISE)) / size;
		let longer = timeOf(next);
		if (longer > allowed) longer = Math.min(longer, timeOf(next));
		if (longer > allowed) return `${next} bytes: ${longer} ms, ${size} bytes: ${time} ms`;
		[size, time] = [next, longer];
	}
	return undefined;
}
