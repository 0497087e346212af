/** A file below nodes/Pay, what its built code has once, and what stands there instead. */
type Edit = [file: string, now: string, then: string];

/** Faults that the node once had, or nearly: what has to be changed in its built code to have them again. */
const FAULTS: Record<string, Edit[]> = {
	'a redirect counts as rejected': [
		[
			'service/outcome.ts',
			'statusCode === 307 || statusCode === 308',
			'statusCode >= 300 && statusCode <= 399',
		],
	],
	'a lost answer counts as not sent': [
		['service/outcome.ts', 'return isProven ? "notSent" : "unknown";', 'return "notSent";'],
	],
	'a 409 to a payment counts as rejected': [
		['service/outcome.ts', 'statusCode === 409 && once', 'false'],
	],
	'a 2xx that came outside of TLS counts as accepted': [
		[
			'service/client.ts',
			'byProxy ? "notSent" : outcomeOfStatus',
			'byProxy && statusCode > 299 ? "notSent" : outcomeOfStatus',
		],
	],
	'a 2xx that is not confirmed counts as rejected': [
		[
			'service/client.ts',
			'return { outcome: "unknown", statusCode, response, reason };',
			'return { outcome: "rejected", statusCode, response, reason };',
		],
	],
	'a payment is repeated after a 401': [
		[
			'execution/send.ts',
			'if (operation.once || !isKept) return first;',
			'if (!isKept) return first;',
		],
	],
	'Additional Members may hold the amount': [
		['parameters/additionalMembers.ts', 'if (own !== void 0 && !isTree(own)) {', 'if (false) {'],
		[
			'parameters/additionalMembers.ts',
			'if (own !== void 0 && !isMembers(value)) {',
			'if (false) {',
		],
	],
	'what was accepted is replayed whatever is asked for': [
		[
			'execution/ledger.ts',
			'const sameRequest = attempt.fingerprint === item.fingerprint;',
			'const sameRequest = true;',
		],
	],
	'the fingerprint is without the recipient': [
		[
			'execution/read.ts',
			'...{ external_id: void 0, payerQuestion',
			'...{ creditParty: void 0, external_id: void 0, payerQuestion',
		],
	],
	'the ledger knows a payment by its external_id alone': [
		[
			'execution/ledger.ts',
			'const attempt = isFree(ofId) ? earlier : ofId;',
			'const attempt = isFree(ofId) ? void 0 : ofId;',
		],
	],
	'the ledger ignores case': [
		['execution/ledger.ts', '`${kind} ${external_id}`', '`${kind} ${external_id.toLowerCase()}`'],
	],
	'the ledger is not consulted again before the attempt is written down': [
		[
			'execution/send.ts',
			'const done = triedBefore(run, item) ?? withinLimits',
			'const done = withinLimits',
		],
	],
	'an attempt is written down after its response': [
		['execution/send.ts', 'const end = begin(run.ledger, item);\n', ''],
		['execution/send.ts', 'end(attempted);\n', 'begin(run.ledger, item)(attempted);\n'],
	],
	'a run pushes out of a full list what it is about': [
		['execution/storedList.ts', 'maxEntries: room }', 'maxEntries: room ?? REMEMBERED_PAYMENTS }'],
	],
	'the list is the one of Remove Duplicates nodes': [
		['execution/storedList.ts', 'var SCOPE = "node";', 'var SCOPE = "workflow";'],
	],
	'the record of a payment holds 12 characters of its id': [
		['execution/rememberedList.ts', 'PREFIX + id;', 'PREFIX + id.slice(0, 12);'],
	],
	'nobody looks again whether a record lasts': [
		[
			'execution/duplicateCheck.ts',
			'async function close() {',
			'async function close() {\n return [];',
		],
	],
	'the look comes without a pause': [
		['execution/rememberedList.ts', 'while (this.stored.rest() > 0)', 'while (false)'],
	],
	'a silent database is waited for without end': [
		[
			'within.ts',
			'const clock = AbortSignal.timeout(ms);',
			'const clock = new AbortController().signal;',
		],
	],
	'cancelled in the check, sent all the same': [
		['execution/duplicateCheck.ts', 'if (signal?.aborted !== true) return known;', 'return known;'],
		[
			'execution/send.ts',
			'if (run.signal?.aborted) return batch.map(',
			'if (false) return batch.map(',
		],
		[
			'execution/send.ts',
			'if (run.signal?.aborted) return refuseItem(run, item, cancelled());\n',
			'',
		],
	],
	'a sum is that of one list': [
		['execution/limits.ts', 'sum: sumOf(ledger, accountId)', 'sum: 0n'],
	],
	'a limit that cannot be read is none': [
		[
			'credential/limits.ts',
			'return new InputError(field, message, advice);\n  }\n}',
			'return {};\n  }\n}',
		],
	],
	'limits hide what is unknown': [
		[
			'execution/run.ts',
			'first === void 0 ? triedBefore(run, item)',
			'first === void 0 ? withinLimits(run, [item]).done[0] ?? triedBefore(run, item)',
		],
	],
	'a refused duplicate is told as not sent': [
		[
			'execution/send.ts',
			'recordedBefore(item.request.external_id), "duplicate")',
			'recordedBefore(item.request.external_id))',
		],
	],
};

export const NAMES_OF_FAULTS: readonly string[] = Object.keys(FAULTS);

/** The code with one edit made in what esbuild took from the edit's file, which may be in pieces. */
function edited(code: string, [file, now, then]: Edit): string {
	// Headings and what stands below each, in turn.
	const parts = code.split(/^(\/\/ nodes\/Pay\/.*)$/m);
	const isOf = (index: number) => parts[index - 1] === `// nodes/Pay/${file}`;
	const pieces = parts.map((part, index) => (isOf(index) ? part.split(now) : [part]));
	const times = pieces.reduce((sum, { length }) => sum + length - 1, 0);
	if (times !== 1) throw new Error(`In nodes/Pay/${file}, ${times} times: ${now}`);
	return pieces.map((piece) => piece.join(then)).join('');
}

/**
 * The node's built code with one of the faults; without a name, as it is.
 * @throws with the file and the text of each edit that no longer fits
 */
export function withFault(code: string, name: string | undefined): string {
	const unfit: string[] = [];
	for (const edit of FAULTS[name ?? ''] ?? []) {
		try {
			code = edited(code, edit);
		} catch (error) {
			unfit.push((error as Error).message);
		}
	}
	if (unfit.length === 0) return code;
	throw new Error([`${name}: its edits in test/simulation/putBack.ts`, ...unfit].join('\n'));
}
