import type { IExecuteFunctions } from 'n8n-workflow';
import { bearerToken, forgetToken, isClientRejected } from '../credential/accessToken';
import type { AccountGate, Standing } from '../credential/accountGate';
import type { Account } from '../credential/connection';
import { isSameAmount } from '../parameters/description';
import { firstValue, mismatchOf } from '../parameters/fieldMatch';
import { isMembers } from '../json';
import { InputError } from '../inputError';
import {
	hasAsked,
	recordExpectation,
	withdrawExpectation,
	type ExpectationStore,
} from '../postback/expectation';
import { hideSecrets } from '../postback/proof';
import { postRequest, type Judgement, type TokenPost, type RequestResult } from '../service/client';
import type { ServiceRequest, Words } from '../service/contract';
import type { HttpRequest } from '../service/exchange';
import type { Records } from './memory/RunRecords';
import { beginAttempt, consult, endAttempt, mayBePaid, type Ledger, type Verdict } from './ledger';
import { refusedByLimits } from './limits';
import type { Done, Ready, RequestOperation, Settings, Step } from './read';
import {
	acceptedWithOtherDetails,
	cancelled,
	noWaitBehind,
	recordedBefore,
	severalForOneWait,
	sentInThisExecution,
	sentUnderAnotherId,
	stillRecorded,
	tokenRejected,
} from './words/refusal';
import { attemptInWords } from './words/place';
import { otherAmountInResponse, otherIdInResponse } from './words/result';
import { resultOfAttempt, resultOfRefusal } from './itemResult';
import type { Tally } from './tally';
import { firstWaitsBehind, refusalOfWaits } from './waitsBehind';

type BearerToken = Awaited<ReturnType<typeof bearerToken>>;

/** What all items of a run share. */
export interface Run {
	context: IExecuteFunctions;
	operation: RequestOperation;
	settings: Settings;
	ledger: Ledger;
	/** Whether n8n runs the execution again from a state that it has left. */
	isEarlier: boolean;
	/** Where postbacks are recorded that the execution may wait for. */
	expectations: ExpectationStore;
	/** Only of an operation whose external_ids are recorded. */
	records: Records | undefined;
	gate: AccountGate;
	httpRequest: HttpRequest;
	postForm: TokenPost;
	/** The execution's cancel signal. */
	signal: AbortSignal | undefined;
	tally: Tally;
}

/** An item that is refused although nothing is wrong with it. */
export function refuseItem(
	{ operation }: Run,
	{ index, request }: Ready,
	error: unknown,
	end: 'notSent' | 'duplicate' | 'notReached' = 'notSent',
): Done {
	return { index, result: resultOfRefusal(operation.kind, request.external_id, error, end) };
}

const isCancelled = ({ signal }: Run) => signal?.aborted === true;

/** An item that a cancelled run does not send. Whether an earlier run sent it was perhaps not asked. */
const refuseCancelled = (run: Run, item: Ready, error: unknown = cancelled()) =>
	refuseItem(run, item, error, 'notReached');

/** Why the ledger does not let an item out, in words. */
function refusalByLedger(
	words: Words,
	{ attempt, because }: Extract<Verdict, { do: 'refuse' }>,
): InputError {
	switch (because) {
		case 'otherItem':
			return sentInThisExecution(words, attempt);
		case 'otherDetails':
			return acceptedWithOtherDetails(words, attempt);
		case 'otherExternalId':
			return sentUnderAnotherId(words, attempt);
	}
}

/** What the ledger knows of an item that was tried before in this execution. */
export function triedBefore(run: Run, item: Ready): Done | undefined {
	const { index, finish } = item;
	const verdict = consult(run.ledger, item);
	if (verdict.do === 'send') return undefined;
	if (verdict.do === 'refuse') {
		const refusal = refusalByLedger(run.operation.words, verdict);
		return refuseItem(run, item, refusal, 'duplicate');
	}
	const { attempt, outcome } = verdict;
	if (outcome === 'accepted') compareResponse(run.tally, attempt, attempt.response);
	const earlier = attemptInWords(attempt);
	const result = resultOfAttempt(run.operation, attempt, { ...attempt, outcome }, earlier);
	return { index, result, finish };
}

/** Takes refused items out of some. */
function withoutRefused(run: Run, items: Ready[], refused: Map<Ready, InputError>): Step {
	return {
		ready: items.filter((item) => !refused.has(item)),
		done: [...refused].map(([item, error]) => refuseItem(run, item, error)),
	};
}

/** Refuses the items that the limits of their accounts do not let out. */
export function withinLimits(run: Run, items: Ready[]): Step {
	return withoutRefused(run, items, refusedByLimits(run.ledger, items));
}

/** Refuses the items whose postback no wait behind this node could take, as far as the workflow says it. */
export function refuseForWaits(run: Run, items: Ready[]): Step {
	return withoutRefused(run, items, refusedByWaits(run, items));
}

/** Why items cannot be waited for: of all that ask for it, or of none. One wait is for one of them. */
function refusedByWaits(run: Run, items: Ready[]): Map<Ready, InputError> {
	const { context, expectations, ledger, operation, tally } = run;
	const refused = new Map<Ready, InputError>();
	const asking = items.filter(({ expectation }) => expectation !== undefined);
	if (asking.length === 0 || ledger.isTool) return refused;
	const first = firstWaitsBehind(context);
	if (first === undefined) return refused;
	if (first.waits.length === 0) {
		tally.hints.add(noWaitBehind(operation.words));
		return refused;
	}
	const next = first.waits.find(({ isNext }) => isNext);
	if (asking.length > 1 && next !== undefined) {
		const refusal = severalForOneWait(next.name, asking.length, operation.words);
		for (const item of asking) refused.set(item, refusal);
		return refused;
	}
	// Of an item that is done, or an earlier request, it may be the postback that the wait is for.
	const isForIt = items.length === tally.items && !hasAsked(expectations, context.getExecutionId());
	for (const item of asking) {
		const { expectation } = item;
		if (expectation === undefined) continue;
		const refusal = refusalOfWaits(first, tally.node.name, expectation, isForIt);
		if (refusal === undefined) return new Map();
		refused.set(item, refusal);
	}
	return refused;
}

const externalIdsOf = (items: Ready[]) => items.map(({ request }) => request.external_id);

/** Records a batch of payments as about to be made; those that were recorded before are done. */
async function record(run: Run, batch: Ready[]): Promise<Step> {
	if (run.records === undefined) return { ready: batch, done: [] };
	let known: Set<string>;
	try {
		known = await run.records.record(externalIdsOf(batch));
	} catch (error) {
		const refuse = isCancelled(run) ? refuseCancelled : refuseItem;
		return { ready: [], done: batch.map((item) => refuse(run, item, error)) };
	}
	const isKnown = ({ request }: Ready) => known.has(request.external_id);
	return {
		ready: batch.filter((item) => !isKnown(item)),
		done: batch
			.filter(isKnown)
			.map((item) =>
				refuseItem(
					run,
					item,
					recordedBefore(run.operation.words, item.request.external_id),
					'duplicate',
				),
			),
	};
}

/** Removes the records of payments that certainly were not made; a result whose record stays says so. */
async function removeRecords(run: Run, items: Ready[], done: Done[]): Promise<Done[]> {
	if (run.records === undefined || items.length === 0) return done;
	const { remembered, reason } = await run.records.remove(externalIdsOf(items));
	if (remembered.length === 0) return done;
	const stillToReport = new Set<string | undefined>(remembered);
	const noted = done.map((item): Done => {
		const { result } = item;
		if (result.outcome === 'accepted' || !stillToReport.delete(result.external_id)) return item;
		const description = `${result.description} ${stillRecorded([result.external_id ?? ''], reason)}`;
		return { ...item, result: { ...result, description } };
	});
	for (const id of stillToReport) run.tally.hints.add(stillRecorded([id ?? ''], reason));
	return noted;
}

/** What the account takes for a yes and for a no in a response. */
function judgeOf({
	responseWords,
}: Account): ((response: unknown) => Judgement | undefined) | undefined {
	if (responseWords === undefined) return undefined;
	const { field, accepted, rejected } = responseWords;
	return (response) => {
		// The output shows the body as `response`, so a path may begin with it.
		const sources = [response, { response }];
		const path = firstValue(field, sources)?.path ?? field;
		if (mismatchOf({ field, values: rejected }, ...sources) === undefined) {
			return { means: 'rejected', reason: { is: 'saidNo', path } };
		}
		if (accepted.length === 0) return undefined;
		const mismatch = mismatchOf({ field, values: accepted }, ...sources);
		if (mismatch === undefined) return { means: 'confirmed', reason: { is: 'saidYes', path } };
		return { means: 'notConfirmed', reason: { is: 'notConfirmed', field } };
	};
}

/** A token that is younger, in milliseconds, has not expired: then a new one would get the same 403. */
const MAY_HAVE_EXPIRED = 60_000;

/** What a request came to, and whether its token was rejected although no newer one is there. */
interface Posted {
	result: RequestResult;
	isAccountRejected: boolean;
}

/**
 * Posts one request in the name of its account. A token that is rejected is discarded. If it was kept
 * for a while, the request is sent once more with a new one, where the operation's policy says so.
 */
async function post(run: Run, item: Ready, bearer: BearerToken): Promise<Posted> {
	const { accessToken, isKept } = bearer;
	const first = await postWith(run, item, accessToken);
	// Services say 403 to a token that has expired, too.
	if (first.statusCode === 401) forgetToken(item.account, accessToken);
	if (first.statusCode === 403) forgetToken(item.account, accessToken, MAY_HAVE_EXPIRED);
	if (!isTokenRejected(first)) return { result: first, isAccountRejected: false };
	if (!isKept) return { result: first, isAccountRejected: true };
	if (!run.operation.policy.isSentAgainAfter401) return { result: first, isAccountRejected: false };
	return await postOnceMore(run, item, accessToken, first);
}

/** Posts with a token; what comes back holds neither that nor a proof. Never rejects. */
async function postWith(run: Run, item: Ready, accessToken: string): Promise<RequestResult> {
	const { operation, settings, httpRequest } = run;
	const { account, request } = item;
	const connection = {
		...account,
		timeout: settings.timeout,
		judge: judgeOf(account),
		accessToken,
		hide: (response: unknown) => hideSecrets(response, [accessToken], request.postbackUrl),
	};
	return await postRequest(httpRequest, connection, operation, request);
}

const isTokenRejected = ({ statusCode, outcome }: RequestResult) =>
	statusCode === 401 && outcome === 'rejected';

/** Posts a request whose kept token was rejected once more, with a new one if there is one. */
async function postOnceMore(
	run: Run,
	item: Ready,
	rejectedToken: string,
	first: RequestResult,
): Promise<Posted> {
	let renewed: BearerToken;
	try {
		renewed = await tokenFor(run, item);
	} catch (error) {
		// There is no other token.
		return { result: first, isAccountRejected: isClientRejected(error) };
	}
	// The same token would be rejected once more.
	if (renewed.accessToken === rejectedToken) return { result: first, isAccountRejected: true };
	if (isCancelled(run) || run.tally.isStopping) return { result: first, isAccountRejected: false };
	const second = await postWith(run, item, renewed.accessToken);
	// The first request did reach the service.
	if (second.outcome === 'notSent') return { result: first, isAccountRejected: false };
	return { result: second, isAccountRejected: isTokenRejected(second) };
}

const tokenFor = async ({ postForm, settings, signal }: Run, { account }: Ready) =>
	await bearerToken(account, postForm, { timeout: settings.timeout, cancel: signal });

/** Characters of all responses of a run; n8n cannot store an execution of some hundred millions. */
const MOST_KEPT = 50_000_000;

/** Leaves out a response that is too large to keep beside those of the items before it. */
function withinRoom(tally: Tally, result: RequestResult): RequestResult {
	const { response } = result;
	if (response === undefined) return result;
	tally.responseLength += JSON.stringify(response).length;
	if (tally.responseLength <= MOST_KEPT) return result;
	return { ...result, response: '(left out: the responses of this run are too large to keep)' };
}

function takeHints(tally: Tally, { request, hints = {} }: Ready): void {
	if (hints.postback !== undefined) tally.hints.add(hints.postback);
	if (hints.item === undefined) return;
	const ids = tally.itemHints.get(hints.item) ?? [];
	ids.push(request.external_id);
	tally.itemHints.set(hints.item, ids);
}

/** Compares an acceptance with its request, as far as it repeats members of that at its top. */
function compareResponse(
	{ doubts }: Tally,
	request: Pick<ServiceRequest, 'external_id' | 'amount'>,
	response: unknown,
): void {
	if (!isMembers(response)) return;
	const { external_id, amount: asked } = request;
	const { amount, external_id: id } = response;
	const isSaid = typeof amount === 'string' || typeof amount === 'number';
	if (asked !== undefined && isSaid && !isSameAmount(amount, asked)) {
		doubts.add(otherAmountInResponse(external_id, String(amount), asked));
	}
	const isText = typeof id === 'string' || typeof id === 'number';
	if (isText && String(id).trim() !== external_id) {
		doubts.add(otherIdInResponse(external_id, String(id)));
	}
}

/** Sends one item, unless the node is about to stop, or its account was rejected in this run. */
async function send(run: Run, item: Ready): Promise<Done | undefined> {
	const done = await run.gate.pass(item.account, async () => await askAccount(run, item));
	return done instanceof InputError ? refuseItem(run, item, done) : done;
}

/** What became of an item, and what that tells of its account. */
interface Asked {
	result: Done | undefined;
	standing: Standing;
}

/** Gets a token and sends one item; after the request nothing throws. */
async function askAccount(run: Run, item: Ready): Promise<Asked> {
	const notAsked = (result: Done | undefined): Asked => ({ result, standing: undefined });
	let bearer: BearerToken;
	try {
		bearer = await tokenFor(run, item);
	} catch (error) {
		if (isCancelled(run)) return notAsked(refuseCancelled(run, item));
		const standing = isClientRejected(error) ? error : undefined;
		return { result: refuseItem(run, item, error), standing };
	}
	// The duplicate check and a token endpoint may take their time.
	if (isCancelled(run)) return notAsked(refuseCancelled(run, item));
	if (run.tally.isStopping) return notAsked(undefined);
	// A second tool of an agent may have begun meanwhile; nothing is awaited from here to `beginAttempt`.
	const done = triedBefore(run, item) ?? withinLimits(run, [item]).done[0];
	return done === undefined ? await sendNow(run, item, bearer) : notAsked(done);
}

/** What a request tells of its account. */
function standingOf({ result, isAccountRejected }: Posted): Standing {
	if (isAccountRejected) return tokenRejected();
	const { outcome, statusCode } = result;
	const isJudged = outcome === 'accepted' || outcome === 'rejected';
	// A 401 or 403 accepts no token.
	return isJudged && statusCode !== 401 && statusCode !== 403 ? 'tokenAccepted' : undefined;
}

/** Sends one item between the two entries of the ledger. Nothing throws. */
async function sendNow(run: Run, item: Ready, bearer: BearerToken): Promise<Asked> {
	const { operation, tally } = run;
	const { index, request, finish, expectation } = item;
	if (expectation !== undefined) recordExpectation(run.expectations, expectation);
	const attempt = beginAttempt(run.ledger, item);
	tally.inFlight.add(request.external_id);
	const posted = await post(run, item, bearer);
	const result = withinRoom(tally, posted.result);
	endAttempt(run.ledger, item, attempt, result);
	const isWithoutEffect = result.outcome === 'rejected' || result.outcome === 'notSent';
	if (isWithoutEffect && expectation !== undefined) withdrawExpectation(expectation);
	if (result.outcome !== 'notSent') takeHints(tally, item);
	if (result.outcome === 'accepted') compareResponse(tally, request, result.response);
	const done = { index, result: resultOfAttempt(operation, request, result), finish };
	return { result: done, standing: standingOf(posted) };
}

/** Records and sends the items of a batch at once; gives what became of them. Never rejects. */
export async function sendBatch(run: Run, batch: Ready[]): Promise<Done[]> {
	const { tally, ledger } = run;
	if (isCancelled(run)) return batch.map((item) => refuseCancelled(run, item));
	const { ready, done } = await record(run, batch);
	// The node is about to stop, so the others of the batch do not start.
	if (done.length > 0 && !tally.goesOn) return await removeRecords(run, ready, done);
	const sent = await Promise.all(
		ready.map(async (item) => {
			const sentNow = await send(run, item);
			if (sentNow?.result.outcome !== 'accepted') tally.isStopping = !tally.goesOn;
			return sentNow ?? [];
		}),
	);
	const notPaid = ready.filter((item) => !mayBePaid(ledger, item));
	return await removeRecords(run, notPaid, [...done, ...sent.flat()]);
}
