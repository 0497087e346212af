/** Something that must not happen; `rule` names the promise that is broken. */
export class Violation extends Error {
	constructor(
		readonly rule: string,
		text: string,
	) {
		super(`${rule}: ${text}`);
	}
}
