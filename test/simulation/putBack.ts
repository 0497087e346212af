import type { Patch } from './source';

/*
 * Faults that the node once had, or nearly. Each is a patch of the source: the code that does right, found by its
 * text, and what stands there when the fault is back. A text is found whichever file of nodes/Pay it stands in and
 * however its lines are broken, so that code can be moved. Where it was written anew, `npm test` says which fault no
 * longer fits, and its text here is written anew too.
 */

/** Faults in what is sent, recorded and told, which the simulation of payments finds. */
const FAULTS_OF_PAYMENTS: Record<string, Patch[]> = {
	'an execution that n8n runs again from an earlier state sends': [
		{
			find: 'if (runs < (seenRuns.get(executionId) ?? 0)) return true;',
			replace: 'if (runs < (seenRuns.get(executionId) ?? 0)) return false;',
		},
	],

	'a row of a test data set is paid': [
		{ find: "if (context.getMode() === 'evaluation') return true;", replace: '' },
	],

	'a sub-workflow pays a row of a test data set': [
		{ find: 'if ($evaluation?.runId) return true;', replace: '' },
	],

	'a run from an Evaluation Trigger pays': [
		{
			find: 'if (executedNodes(context, EVALUATION_TRIGGER).length > 0) return true;',
			replace: '',
		},
	],

	'an account that is refused is asked for each item': [
		{
			find: 'const standing = standingOf(run.session, item.account);',
			replace: 'const standing = { isAccepted: true, pausedUntil: 0 };',
		},
	],

	'an account that is refused is asked by each run of a node': [
		{ find: 'identity: additionalDataOf(context) ?? context,', replace: 'identity: {},' },
	],

	'after a 429 the rest is sent': [{ find: 'countShortWaits() === shortWaits', replace: 'false' }],

	'a redirect counts as rejected': [
		{
			find: "return statusCode >= 400 && statusCode <= 499 ? 'rejected' : 'unknown';",
			replace: "return statusCode >= 300 && statusCode <= 499 ? 'rejected' : 'unknown';",
		},
	],

	'a lost answer counts as not sent': [
		{ find: "return isProven ? 'notSent' : 'unknown';", replace: "return 'notSent';" },
	],

	'a 409 to a payment counts as rejected': [
		{
			find: "if (statusCode === 409) return isMoneyOut ? 'unknown' : 'rejected';",
			replace: "if (statusCode === 409) return 'rejected';",
		},
	],

	'a 2xx that came outside of TLS counts as accepted': [
		{
			find: "return { end: 'responded', statusCode, body: whole, contentType, retryAfter, byProxy };",
			replace:
				"return { end: 'responded', statusCode, body: whole, contentType, retryAfter, byProxy: byProxy && statusCode > 299 };",
		},
	],

	'a 2xx that is not confirmed counts as rejected': [
		{
			find: "if (judgement?.means === 'notConfirmed') { return { outcome: 'unknown',",
			replace: "if (judgement?.means === 'notConfirmed') { return { outcome: 'rejected',",
		},
	],

	'a payment is repeated after a 401': [
		{ find: 'if (operation.isMoneyOut) return first;', replace: '' },
	],

	'Retry On Fail repeats a payment after a 401': [
		{
			find: "return { is: 'replay', attempt: ofItem, outcome: 'rejected' };",
			replace: "return { is: 'send' };",
		},
	],

	'a second node repeats a payment after a 401': [
		{
			find: "return { is: 'otherItem', attempt: withId };",
			replace: "return { is: 'send' };",
		},
	],

	'Additional Members may hold the amount': [
		{
			find: "if (formMembers.get(formMember) === 'value') {",
			replace: "if (formMembers.get(formMember) === 'value') { return;",
		},
	],

	'a member of the recipient without a meaning gets past Only Recipients': [
		{ find: "if (path.startsWith('creditParty.')) return moreInRecipient(path);", replace: '' },
	],

	'what was accepted is replayed whatever is asked for': [
		{
			find: "return { is: 'otherDetails', attempt };",
			replace: "return { is: 'replay', attempt, outcome: 'accepted' };",
		},
		{
			find: "if (attempt.fingerprint !== item.fingerprint) { return { is: 'otherExternalId', attempt }; }",
			replace: '',
		},
	],

	'the fingerprint is without the recipient': [
		{ find: 'recipient: true,', replace: 'recipient: false,' },
	],

	'the ledger knows a payment by its external_id alone': [
		{
			find: 'const ofItem = lastAttemptOf(ledger, item);',
			replace:
				'const last = lastAttemptOf(ledger, item); const ofItem = last?.external_id === item.request.external_id ? last : undefined;',
		},
	],

	'the ledger ignores case': [
		{
			find: 'this.lastWithId.set(`${kind} ${external_id}`, attempt);',
			replace: 'this.lastWithId.set(`${kind} ${external_id.toLowerCase()}`, attempt);',
		},
		{
			find: 'return this.lastWithId.get(`${kind} ${external_id}`);',
			replace: 'return this.lastWithId.get(`${kind} ${external_id.toLowerCase()}`);',
		},
	],

	'the ledger is not consulted again before the attempt is written down': [
		{
			find: 'triedBefore(run, item) ?? withinLimits(run, [item]).done[0]',
			replace: 'withinLimits(run, [item]).done[0]',
		},
	],

	'each tool of an agent has an index of the ledger of its own': [
		{ find: 'opened.get(list) ?? new Attempts(list)', replace: 'new Attempts(list)' },
	],

	'an attempt is written down after its response': [
		{
			find: 'const attempt = beginAttempt(run.ledger, item);',
			replace: 'const attempt = undefined;',
		},
		{
			find: 'endAttempt(run.ledger, item, attempt, result);',
			replace: 'endAttempt(run.ledger, item, beginAttempt(run.ledger, item), result);',
		},
	],

	'a run pushes out of a full list what it is about': [
		{ find: 'maxEntries: room', replace: 'maxEntries: room ?? this.remembered' },
	],

	"a payment is recorded under the node's id": [
		{ find: "const SCOPE = 'workflow';", replace: "const SCOPE = 'node';" },
		{
			find: 'workflowId: String(context.getWorkflow().id),',
			replace: 'workflowId: JSON.stringify([context.getWorkflow().id, context.getNode().id]),',
		},
	],

	'a Remove Duplicates node may share the record': [
		{
			find: 'if (sharing !== undefined) throw recordIsShared(operation.words, sharing);',
			replace: '',
		},
	],

	'a payment is marked as accepted whatever became of it': [
		{
			find: "if (result.outcome === 'accepted') ids.push(result.external_id);",
			replace: "ids.push(result.external_id ?? '');",
		},
	],

	'to ask whether a payment was accepted leaves a mark that it was': [
		{
			find: 'if (accepted.length > 0) { await store.removeProcessed(accepted.map(askedOf), SCOPE, OPTIONS); }',
			replace: 'await store.removeProcessed(keys.map(askedOf), SCOPE, OPTIONS);',
		},
	],

	'the record of a payment holds 12 characters of its id': [
		{
			find: 'return `n8n-nodes-pay:${this.run.operation.kind}:${id}`;',
			replace: 'return `n8n-nodes-pay:${this.run.operation.kind}:${id.slice(0, 12)}`;',
		},
	],

	'nobody looks again whether a record lasts': [
		{ find: 'let notSeen = this.notSeenOf(keys);', replace: 'let notSeen = [];' },
	],

	'the look comes without a pause': [
		{ find: 'return this.lastEnd + pause - performance.now();', replace: 'return 0;' },
	],

	'a silent database is waited for without end': [
		{ find: 'giveUp = () => reject(late());', replace: 'giveUp = () => void reject;' },
	],

	'cancelled in the check, sent all the same': [
		{ find: 'if (signal?.aborted !== true) return known;', replace: 'return known;' },
		{ find: '({ signal }: Run) => signal?.aborted === true', replace: '(_run: Run) => false' },
	],

	'a sum is that of one list': [
		{ find: 'if (isOfAccount(each, outlays, item)) sum += BigInt(each.units);', replace: '' },
	],

	'a limit that cannot be read is none': [
		{ find: 'return new InputError(field, message, advice);', replace: 'return {};' },
	],

	'limits hide what is unknown': [
		{
			find: 'const verdict = consult(run.ledger, item);',
			replace:
				'const limited = withinLimits(run, [item]).done[0]; if (limited !== undefined) return limited; const verdict = consult(run.ledger, item);',
		},
	],

	'what was not reached is told as not sent': [
		{
			find: 'if (external_id !== undefined) ids[outcome].push(external_id);',
			replace: "if (external_id !== undefined) ids[result.outcome ?? 'notSent'].push(external_id);",
		},
		{ find: 'ids.notReached.push(external_id);', replace: 'ids.notSent.push(external_id);' },
	],

	'a refused duplicate is told as not sent': [
		{
			find: "(wasAccepted ? acceptedBefore : recordedBefore)(words, external_id); return refusalOf(run, item, refusal, 'duplicate');",
			replace:
				"(wasAccepted ? acceptedBefore : recordedBefore)(words, external_id); return refusalOf(run, item, refusal, 'notSent');",
		},
	],
};

/** Faults in how a wait is resumed, which the simulation of waits finds. */
const FAULTS_OF_WAITS: Record<string, Patch[]> = {
	'a late body resumes the execution as it was when its request began': [
		{ find: 'if (execution === undefined || !isIn(wait, execution)) return true;', replace: '' },
		{ find: 'resumedWaits.set(id, true);', replace: '' },
		{
			find: 'return wait.until !== undefined && Date.now() >= wait.until;',
			replace: 'return false;',
		},
	],

	'a process knows only what it resumed itself': [
		{ find: 'if (execution === undefined || !isIn(wait, execution)) return true;', replace: '' },
	],

	'a process does not know what it resumed itself': [
		{ find: 'resumedWaits.set(id, true);', replace: '' },
	],

	'the time limit may pass while a body is on its way': [
		{
			find: 'return wait.until !== undefined && Date.now() >= wait.until;',
			replace: 'return false;',
		},
	],

	'what n8n could not store counts as resumed': [
		{ find: 'if (response.statusCode >= 400) resumedWaits.delete(id);', replace: '' },
	],
};

export const NAMES_OF_FAULTS: readonly string[] = Object.keys({
	...FAULTS_OF_PAYMENTS,
	...FAULTS_OF_WAITS,
});

/** Whether a fault has to do with waits, not with what is sent. */
export const isFaultOfWaits = (fault: string) => Object.hasOwn(FAULTS_OF_WAITS, fault);

/** What puts a fault back; nothing without a name. */
export function patchesOf(fault: string | undefined): Patch[] {
	if (fault === undefined) return [];
	const patches = FAULTS_OF_PAYMENTS[fault] ?? FAULTS_OF_WAITS[fault];
	if (patches === undefined) throw new Error(`There is no fault "${fault}"`);
	return patches;
}
