type Edit = [now: string, then: string];

/** Faults that the node once had, or nearly: what has to be changed in its built code to have them again. */
const FAULTS: Record<string, Edit[]> = {
	'a redirect counts as rejected': [
		['statusCode === 307 || statusCode === 308', 'statusCode >= 300 && statusCode <= 399'],
	],
	'a lost answer counts as not sent': [
		['return nothing ? "nothing" : sent ?? "whole";', 'return "nothing";'],
	],
	'what was accepted is replayed whatever is asked for': [
		['const same = attempt.fingerprint === entry.fingerprint;', 'const same = true;'],
	],
	'the list is the one of Remove Duplicates nodes': [
		['var SCOPE = "node";', 'var SCOPE = "workflow";'],
	],
	'Within This Execution records nothing': [
		['async record(ids) {', 'async record(ids) {\n if (check === "execution") return new Set();'],
	],
	'nobody looks again whether a record lasts': [
		[
			'async lookAgain(atEnd) {',
			'async lookAgain(atEnd) {\n for (const entry of mine.values()) list.drop(entry);\n return void 0;',
		],
	],
	'the look comes without a pause': [
		['while (this.stored.rest(contended) > 0)', 'while (false)'],
		['recordAndLook(store, this.stored.rest(contended) <= 0)', 'recordAndLook(store, true)'],
	],
	'workers: nobody looks for the token': [
		['entry.token === void 0 ? id : there.has(entry.token)', 'id'],
	],
	'a record that another execution relies on is taken out': [['this.reliedOn.add(entry.id);', '']],
	'a silent database is waited for without end': [
		['const clock = AbortSignal.timeout(ms);', 'const clock = new AbortController().signal;'],
	],
	'cancelled in the check, sent all the same': [
		['unsure === void 0 && signal?.aborted !== true', 'unsure === void 0'],
		['if (isCancelled()) {\n    const refused', 'if (false) {\n    const refused'],
		['if (run.isCancelled()) return refuse3(run, item, cancelled2());\n', ''],
	],
	'a refused duplicate is told as not sent': [
		[
			'recordedBefore(item.request.external_id), "duplicate")',
			'recordedBefore(item.request.external_id))',
		],
	],
};

export const NAMES_OF_FAULTS: readonly string[] = Object.keys(FAULTS);

/**
 * The node's built code with one of the faults; without a name, as it is.
 * @throws when the code is no longer the one that the fault's edits were written for
 */
export function withFault(code: string, name: string | undefined): string {
	if (name === undefined) return code;
	return (FAULTS[name] ?? []).reduce((changed, [now, then]) => {
		const parts = changed.split(now);
		if (parts.length !== 2)
			throw new Error(`${name}: ${parts.length - 1} times in the code: ${now}`);
		return parts.join(then);
	}, code);
}
