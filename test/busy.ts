/** A time-out of 12 s is not lengthened beyond two minutes, whatever else the machine does. */
const LONGEST = 10;

/**
 * How many times longer things take on this machine, at this moment, than on one with nothing else to
 * do; 1 where it is no more than what the tests themselves take from one another. Time-outs that a test
 * sets to see them pass are lengthened by it: the request before them has to get out in time.
 */
export function slowness(): number {
	const begun = performance.now();
	const before = process.cpuUsage();
	let used = 0;
	while (used < 40) {
		const { user, system } = process.cpuUsage(before);
		used = (user + system) / 1000;
	}
	const factor = (performance.now() - begun) / used;
	return factor < 6 ? 1 : Math.min(Math.ceil(factor), LONGEST);
}
