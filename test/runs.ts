/**
 * How often a random test draws, or how large a hostile input is, out of its usual number: mutation
 * testing repeats the suite some thousand times and takes a part of it (`PAY_SHARE`).
 */
export function runs(usual: number): number {
	return Math.ceil(usual * Number(process.env.PAY_SHARE ?? 1));
}
