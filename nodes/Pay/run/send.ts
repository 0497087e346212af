import {
	beginPause,
	beginTurn,
	endTurn,
	noteResponse,
	pauseLeft,
	type Standing,
	standingOf,
	type Turn,
} from '../account/standing';
import { bearerToken, forgetToken, isClientRejected, TooManyTokenRequests } from '../account/token';
import { InputError } from '../base/inputError';
import { hideSecrets } from '../postback/proof';
import { confirmExpectation, recordExpectation, withdrawExpectation } from '../postback/waiting';
import { isRejectedForToken, postRequest, type RequestResult } from '../service/client';
import type { Attempt, Done, Ready, Step } from './item';
import { beginAttempt, endAttempt, mayBePaid, wasNotMade } from './ledger';
import { compareResponse, noteHints, withoutLargeResponse } from './notes';
import {
	acceptedBefore,
	recordedBefore,
	stillRecorded,
	tokenRejected,
	tooManyRequests,
} from './refusals';
import { refuseCancelled, refuseItem, triedBefore, withinLimits } from './refuse';
import { resultOfAttempt } from './report';
import { isCancelled, type Run } from './state';
import type { Pace } from './words';

/** Records and sends the items of a batch at once; gives what became of those that it came to. Never rejects. */
export async function sendBatch(run: Run, batch: Ready[]): Promise<Done[]> {
	if (isCancelled(run)) return batch.map((item) => refuseCancelled(run, item));
	const { ready, known, done } = await recordBatch(run, batch);
	// The node is about to stop, so the others of the batch do not start.
	if (done.length + known.length > 0 && !run.tally.continuesOnFailure) {
		return await takeBackRecords(run, ready, [...done, ...(await refuseKnown(run, known))]);
	}
	const sending = ready.map(async (item) => await sendItem(run, item));
	// While they are out, n8n's database is idle: it takes the marks of the batch before.
	const marking = run.records?.markAccepted();
	const all = await Promise.all(sending);
	await marking;
	const sent = all.filter((each) => each !== undefined);
	noteAccepted(run, sent);
	// Not before the others are sent: nothing stands between their record and their request.
	done.push(...(await refuseKnown(run, known)));
	// Those that were not come to, or certainly not carried out.
	const notPaid = ready.filter((item) => !mayBePaid(run.ledger, item));
	return await takeBackRecords(run, notPaid, [...done, ...sent]);
}

const externalIdsOf = (items: Ready[]) => items.map(({ request }) => request.external_id);

/** A batch of which was asked whether it was recorded before. */
interface RecordedBatch extends Step {
	/** Those that were: they are not sent. */
	known: Ready[];
}

/** Records a batch of payments as about to be made. */
async function recordBatch(run: Run, batch: Ready[]): Promise<RecordedBatch> {
	if (run.records === undefined) return { ready: batch, known: [], done: [] };
	let known: Set<string>;
	try {
		known = await run.records.record(externalIdsOf(batch));
	} catch (error) {
		if (isCancelled(run)) {
			return { ready: [], known: [], done: batch.map((item) => refuseCancelled(run, item, error)) };
		}
		return { ready: [], known: [], done: batch.map((item) => refuseItem(run, item, error)) };
	}
	return {
		ready: batch.filter(({ request }) => !known.has(request.external_id)),
		known: batch.filter(({ request }) => known.has(request.external_id)),
		done: [],
	};
}

/** Refuses items that were recorded before, in the words of what is known of them. */
async function refuseKnown(run: Run, items: Ready[]): Promise<Done[]> {
	const { words } = run.operation;
	const accepted = await run.records?.acceptedBefore(externalIdsOf(items));
	return items.map((item) => {
		const { external_id } = item.request;
		const wasAccepted = accepted?.has(external_id) === true;
		const refusal = (wasAccepted ? acceptedBefore : recordedBefore)(words, external_id);
		return refuseItem(run, item, refusal, 'duplicate');
	});
}

/** Notes what the service accepted, so that a list that is run again says so. */
function noteAccepted(run: Run, sent: Done[]): void {
	const ids: string[] = [];
	for (const { result } of sent) if (result.outcome === 'accepted') ids.push(result.external_id);
	run.records?.noteAccepted(ids);
}

/** Removes the records of payments that certainly were not made; a result whose record stays says so. */
async function takeBackRecords(run: Run, items: Ready[], done: Done[]): Promise<Done[]> {
	if (run.records === undefined || items.length === 0) return done;
	const { remembered, reason } = await run.records.takeBack(externalIdsOf(items));
	if (remembered.length === 0) return done;
	// Those of which no result says it yet. Two results may have one id: the first one says it.
	const unsaid = new Set(remembered);
	const results: Done[] = [];
	for (const item of done) {
		const { result } = item;
		const { external_id = '' } = result;
		if (result.outcome === 'accepted' || !unsaid.has(external_id)) {
			results.push(item);
			continue;
		}
		unsaid.delete(external_id);
		const description = `${result.description} ${stillRecorded([external_id], reason)}`;
		results.push({ ...item, result: { ...result, description } });
	}
	for (const id of unsaid) run.tally.hints.add(stillRecorded([id], reason));
	return results;
}

/**
 * Sends one item, alone until its account's token was accepted. Undefined where the node is about to stop, and
 * it was not come to. Once its request was sent, nothing throws.
 */
export async function sendItem(run: Run, item: Ready): Promise<Done | undefined> {
	const { session, tally } = run;
	const standing = standingOf(session, item.account);
	const turn = await beginTurn(standing);
	let done: Done | undefined;
	try {
		const entry = await enterItem(run, item, standing, turn);
		if (entry.is === 'refused') done = entry.done;
		else {
			const result = await post(run, item, standing, entry.bearer);
			done = endItem(run, item, entry.attempt, result);
		}
	} finally {
		// Before those that wait for the turn: of a batch that fails no other item starts.
		if (done?.result.outcome !== 'accepted' && !tally.continuesOnFailure) tally.isStopping = true;
		endTurn(standing, turn);
	}
	return done;
}

/** What an item has before its request, or what becomes of it without one. */
type Entry =
	| { is: 'entered'; attempt: Attempt; bearer: BearerToken }
	| { is: 'refused'; done: Done | undefined };

function refused(done: Done | undefined): Entry {
	return { is: 'refused', done };
}

/** Gets the token of an item and enters its attempt, unless something is against it. */
async function enterItem(run: Run, item: Ready, standing: Standing, turn: Turn): Promise<Entry> {
	const refusal = turn.noToken ?? judgeStanding(run, standing);
	if (refusal !== undefined) return refused(refuseItem(run, item, refusal));
	let bearer: BearerToken;
	try {
		bearer = await tokenFor(run, item);
	} catch (error) {
		if (isCancelled(run)) return refused(refuseCancelled(run, item));
		noteMissingToken(run, standing, turn, error);
		return refused(refuseItem(run, item, error));
	}
	// The duplicate check and a token endpoint may take their time.
	if (isCancelled(run)) return refused(refuseCancelled(run, item));
	if (run.tally.isStopping) return refused(undefined);
	// Nothing is awaited from here to the attempt: a second tool of an agent would come in between, and both would
	// find the ledger without the other's attempt.
	const before = triedBefore(run, item) ?? withinLimits(run, [item]).done[0];
	if (before !== undefined) return refused(before);
	if (item.expectation !== undefined) recordExpectation(run.expectations, item.expectation);
	const attempt = beginAttempt(run.ledger, item);
	run.tally.inFlight.add(item.request.external_id);
	return { is: 'entered', attempt, bearer };
}

/** Why nothing more is sent with an account; undefined where it may be. */
function judgeStanding(run: Run, standing: Standing): InputError | undefined {
	if (standing.rejection !== undefined) return standing.rejection;
	const seconds = pauseLeft(run.session, standing);
	if (seconds === 0) return undefined;
	return tooManyRequests(seconds === Infinity ? undefined : seconds, paceOf(run));
}

/** Notes what it says of an account that there is no token for it. */
function noteMissingToken(run: Run, standing: Standing, turn: Turn, error: unknown): void {
	if (error instanceof TooManyTokenRequests) beginPause(run.session, standing, error.retryAfter);
	else if (isClientRejected(error)) standing.rejection ??= error;
	else if (error instanceof InputError) turn.noToken = error;
}

/** Enters what became of an item's request, and notes what it says. It was sent, so nothing throws. */
function endItem(run: Run, item: Ready, attempt: Attempt, requestResult: RequestResult): Done {
	const { operation, tally } = run;
	const { index, request, finish, expectation } = item;
	const result = withoutLargeResponse(tally, requestResult);
	endAttempt(run.ledger, item, attempt, result);
	if (expectation !== undefined) {
		if (result.outcome === 'accepted') confirmExpectation(expectation);
		if (wasNotMade(result)) withdrawExpectation(expectation);
	}
	if (result.outcome !== 'notSent') noteHints(tally, item);
	if (result.outcome === 'accepted') compareResponse(tally, request, result.response);
	return {
		index,
		result: resultOfAttempt(operation, request, result, { pace: paceOf(run) }),
		finish,
	};
}

const paceOf = ({ settings, tally }: Run): Pace => ({
	batchSize: settings.batchSize,
	items: tally.items,
});

/** A token, and whether an earlier request has fetched it. */
type BearerToken = Awaited<ReturnType<typeof bearerToken>>;

/** Gets the token of an item's account. Rejects with an InputError where there is none. */
async function tokenFor(
	{ postTokenRequest, settings, signal }: Run,
	{ account }: Ready,
): Promise<BearerToken> {
	const patience = { timeout: settings.timeout, cancel: signal };
	return await bearerToken(account, postTokenRequest, patience);
}

/**
 * How old a token is at least, in milliseconds, when a 403 may mean that it has expired. A younger one is
 * kept: a new one in its place would get the same 403.
 */
const LEAST_AGE_AT_403 = 60_000;

/**
 * Posts one request in the name of its account, and notes how that stands afterwards. A token that is rejected
 * is discarded. If an earlier request had fetched it, this one is sent once more with a new token, unless it is
 * a payment. Never rejects.
 */
async function post(
	run: Run,
	item: Ready,
	standing: Standing,
	{ accessToken, isFromEarlier }: BearerToken,
): Promise<RequestResult> {
	const { httpRequest, operation, session } = run;
	const { account, request } = item;
	const first = await postRequest(
		httpRequest,
		connectionOf(run, item, accessToken),
		operation,
		request,
	);
	noteResponse(session, standing, first);
	// One of the Rejected Values is about the item, not about its token.
	if (!isRejectedForToken(first)) return first;
	if (first.statusCode !== 401) {
		// Services say 403 to a token that has expired, too.
		forgetToken(account, accessToken, LEAST_AGE_AT_403);
		return first;
	}
	forgetToken(account, accessToken);
	if (!isFromEarlier) {
		standing.rejection ??= tokenRejected();
		return first;
	}
	// The next request has another token, of which nobody knows yet.
	standing.isAccepted = false;
	if (operation.isMoneyOut) return first;
	let renewed: BearerToken;
	try {
		renewed = await tokenFor(run, item);
	} catch (error) {
		// There is no other token.
		if (isClientRejected(error)) standing.rejection ??= tokenRejected();
		return first;
	}
	// The same token would be rejected once more.
	if (renewed.accessToken === accessToken) {
		standing.rejection ??= tokenRejected();
		return first;
	}
	if (isCancelled(run) || run.tally.isStopping) return first;
	const second = await postRequest(
		httpRequest,
		connectionOf(run, item, renewed.accessToken),
		operation,
		request,
	);
	// The first request did reach the service.
	if (second.outcome === 'notSent') return first;
	noteResponse(session, standing, second);
	if (second.statusCode === 401 && isRejectedForToken(second))
		standing.rejection ??= tokenRejected();
	return second;
}

/** How to reach an item's service. Of the account only what the request needs: it holds secrets too. */
function connectionOf({ settings }: Run, { account, request }: Ready, accessToken: string) {
	return {
		baseUrl: account.baseUrl,
		schemeName: account.schemeName,
		externalIdHeader: account.externalIdHeader,
		accessToken,
		timeout: settings.timeout,
		responseWords: account.responseWords,
		// What comes back holds neither the token nor a proof.
		hide: (response: unknown) => hideSecrets(response, [accessToken], request.postbackUrl),
	};
}
