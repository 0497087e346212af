type Edit = [now: string, then: string];

/** Faults that the node once had, or nearly: what has to be changed in its built code to have them again. */
const FAULTS: Record<string, Edit[]> = {
	'a redirect counts as rejected': [
		['statusCode === 307 || statusCode === 308', 'statusCode >= 300 && statusCode <= 399'],
	],
	'a lost answer counts as not sent': [
		['return nothing ? "nothing" : sent ?? "whole";', 'return "nothing";'],
	],
	'a 409 to a payment counts as rejected': [['statusCode === 409 && once', 'false']],
	'a 2xx that came outside of TLS counts as accepted': [
		[
			'byProxy ? "notSent" : outcomeOfStatus',
			'byProxy && statusCode > 299 ? "notSent" : outcomeOfStatus',
		],
	],
	'a 2xx that is not confirmed counts as rejected': [
		[
			'return { outcome: "unknown", sent: "whole", statusCode, response, reason };',
			'return { outcome: "rejected", sent: "whole", statusCode, response, reason };',
		],
	],
	'a payment is repeated after a 401': [
		['if (operation.once || !isKept) return first;', 'if (!isKept) return first;'],
	],
	'Additional Members may hold the amount': [
		['if (own !== void 0 && !isTree(own)) {', 'if (false) {'],
		['if (own !== void 0 && !isMembers(value)) {', 'if (false) {'],
	],
	'what was accepted is replayed whatever is asked for': [
		['const sameRequest = attempt.fingerprint === entry.fingerprint;', 'const sameRequest = true;'],
	],
	'the fingerprint is without the recipient': [
		[
			'const left = { external_id: void 0,',
			'const left = { creditParty: void 0, external_id: void 0,',
		],
	],
	'the ledger knows a payment by its external_id alone': [
		[
			'const attempt = isFree(ofId) ? earlier : ofId;',
			'const attempt = isFree(ofId) ? void 0 : ofId;',
		],
	],
	'the ledger ignores case': [
		['`${kind} ${external_id}`', '`${kind} ${external_id.toLowerCase()}`'],
	],
	'the ledger is not consulted again before the attempt is written down': [
		['const done = triedBefore(run, item);\n  if (done !== void 0) return done;\n', ''],
	],
	'an attempt is written down after its response': [
		['const end = begin(run.ledger, item);\n', ''],
		['end(attempted);\n', 'begin(run.ledger, item)(attempted);\n'],
	],
	'the list is the one of Remove Duplicates nodes': [
		['var SCOPE = "node";', 'var SCOPE = "workflow";'],
	],
	'the record of a payment holds 12 characters of its id': [
		['PREFIX + id;', 'PREFIX + id.slice(0, 12);'],
	],
	'nobody looks again whether a record lasts': [
		['async function lookAgain() {', 'async function lookAgain() {\n return void 0;'],
		[
			'async function close() {',
			'async function close() {\n for (const entry of mine.values()) list.drop(entry);\n return void 0;',
		],
	],
	'the look comes without a pause': [
		['while (this.stored.rest() > 0)', 'while (false)'],
		['recordAndLook(store, this.stored.rest() <= 0)', 'recordAndLook(store, true)'],
	],
	'a silent database is waited for without end': [
		['const clock = AbortSignal.timeout(ms);', 'const clock = new AbortController().signal;'],
	],
	'cancelled in the check, sent all the same': [
		['unsure === void 0 && signal?.aborted !== true', 'unsure === void 0'],
		['if (run.signal?.aborted) return batch.map(', 'if (false) return batch.map('],
		['if (run.signal?.aborted) return refuseItem(run, item, cancelled());\n', ''],
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
