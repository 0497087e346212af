import { Pause, type Standing, WithoutToken } from '../account/standing';
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

const paceOf = ({ settings, tally }: Run): Pace => ({
	batchSize: settings.batchSize,
	items: tally.items,
});

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

/** Marks what the service accepted, so that a list that is run again says so. */
async function markAccepted(run: Run, sent: Done[]): Promise<void> {
	const ids: string[] = [];
	for (const { result } of sent) if (result.outcome === 'accepted') ids.push(result.external_id);
	await run.records?.markAccepted(ids);
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

/** Sends one item, unless the node is about to stop, or its account was rejected in this execution. */
async function send(run: Run, item: Ready): Promise<Done | undefined> {
	const done = await run.gate.pass(item.account, async () => await sendWithToken(run, item));
	if (done instanceof InputError) return refuseItem(run, item, done);
	if (done instanceof Pause) {
		return refuseItem(run, item, tooManyRequests(done.seconds, paceOf(run)));
	}
	return done;
}

/** What became of an item, and what that tells of its account. */
interface SendReport {
	/** Undefined where the node is about to stop, and the item was not come to. */
	result: Done | undefined;
	standing: Standing;
}

/** The report of an item whose account was not asked. */
function notAsked(result: Done | undefined): SendReport {
	return { result, standing: undefined };
}

/** Gets a token and sends one item; after the request nothing throws. */
async function sendWithToken(run: Run, item: Ready): Promise<SendReport> {
	let bearer: BearerToken;
	try {
		bearer = await tokenFor(run, item);
	} catch (error) {
		if (isCancelled(run)) return notAsked(refuseCancelled(run, item));
		return { result: refuseItem(run, item, error), standing: standingWithoutToken(error) };
	}
	// The duplicate check and a token endpoint may take their time.
	if (isCancelled(run)) return notAsked(refuseCancelled(run, item));
	if (run.tally.isStopping) return notAsked(undefined);
	const entry = enterAttempt(run, item);
	if ('done' in entry) return notAsked(entry.done);
	return await sendAttempt(run, item, entry.attempt, bearer);
}

/**
 * Enters an attempt for an item, or says why not. Not async: a second tool of an agent would come in
 * between, and both would find the ledger without the other's attempt.
 */
function enterAttempt(run: Run, item: Ready): { attempt: Attempt } | { done: Done } {
	const done = triedBefore(run, item) ?? withinLimits(run, [item]).done[0];
	if (done !== undefined) return { done };
	if (item.expectation !== undefined) recordExpectation(run.expectations, item.expectation);
	const attempt = beginAttempt(run.ledger, item);
	run.tally.inFlight.add(item.request.external_id);
	return { attempt };
}

/** What it tells of an account that there is no token for it. */
function standingWithoutToken(error: unknown): Standing {
	if (error instanceof TooManyTokenRequests) return new Pause(error.retryAfter);
	if (isClientRejected(error)) return error;
	return error instanceof InputError ? new WithoutToken(error) : undefined;
}

/** What a request tells of its account. */
function standingOf({ result, token }: Posted): Standing {
	if (result.statusCode === 429) return new Pause(result.retryAfter);
	if (token === 'rejected') return tokenRejected();
	if (token === 'replaced') return 'tokenReplaced';
	const { outcome, statusCode } = result;
	const isJudged = outcome === 'accepted' || outcome === 'rejected';
	// A 401 or 403 accepts no token.
	return isJudged && statusCode !== 401 && statusCode !== 403 ? 'tokenAccepted' : undefined;
}

/** Sends one item whose attempt was entered, and enters what became of it. Nothing throws. */
async function sendAttempt(
	run: Run,
	item: Ready,
	attempt: Attempt,
	bearer: BearerToken,
): Promise<SendReport> {
	const { operation, tally } = run;
	const { index, request, finish, expectation } = item;
	const posted = await post(run, item, bearer);
	const result = withoutLargeResponse(tally, posted.result);
	endAttempt(run.ledger, item, attempt, result);
	if (expectation !== undefined) {
		if (result.outcome === 'accepted') confirmExpectation(expectation);
		if (wasNotMade(result)) withdrawExpectation(expectation);
	}
	if (result.outcome !== 'notSent') noteHints(tally, item);
	if (result.outcome === 'accepted') compareResponse(tally, request, result.response);
	const done: Done = {
		index,
		result: resultOfAttempt(operation, request, result, { pace: paceOf(run) }),
		finish,
	};
	return { result: done, standing: standingOf(posted) };
}

/** Sends the items of a batch at once; gives what became of those that it came to. */
async function sendEach(run: Run, items: Ready[]): Promise<Done[]> {
	const { tally } = run;
	const sent = await Promise.all(
		items.map(async (item) => {
			const done = await send(run, item);
			const isAccepted = done?.result.outcome === 'accepted';
			if (!isAccepted && !tally.continuesOnFailure) tally.isStopping = true;
			return done;
		}),
	);
	return sent.filter((done) => done !== undefined);
}

/** Records and sends the items of a batch at once; gives what became of them. Never rejects. */
export async function sendBatch(run: Run, batch: Ready[]): Promise<Done[]> {
	if (isCancelled(run)) return batch.map((item) => refuseCancelled(run, item));
	const { ready, known, done } = await recordBatch(run, batch);
	// The node is about to stop, so the others of the batch do not start.
	if (done.length + known.length > 0 && !run.tally.continuesOnFailure) {
		return await takeBackRecords(run, ready, [...done, ...(await refuseKnown(run, known))]);
	}
	const sent = await sendEach(run, ready);
	await markAccepted(run, sent);
	// Not before the others are sent: nothing stands between their record and their request.
	done.push(...(await refuseKnown(run, known)));
	// Those that were not come to, or certainly not carried out.
	const notPaid = ready.filter((item) => !mayBePaid(run.ledger, item));
	return await takeBackRecords(run, notPaid, [...done, ...sent]);
}

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

/** What a request came to. */
interface Posted {
	result: RequestResult;
	/** What its token came to: accepted or unknown, rejected for the next request to have another one, or for good. */
	token: 'notRejected' | 'replaced' | 'rejected';
}

/**
 * Posts one request in the name of its account. A token that is rejected is discarded. If an earlier
 * request had fetched it, this one is sent once more with a new token, unless it is a payment.
 */
async function post(run: Run, item: Ready, bearer: BearerToken): Promise<Posted> {
	const { accessToken, isFromEarlier } = bearer;
	const first = await postWith(run, item, accessToken);
	// One of the Rejected Values is about the item, not about its token.
	if (!isRejectedForToken(first)) return { result: first, token: 'notRejected' };
	if (first.statusCode !== 401) {
		// Services say 403 to a token that has expired, too.
		forgetToken(item.account, accessToken, LEAST_AGE_AT_403);
		return { result: first, token: 'notRejected' };
	}
	forgetToken(item.account, accessToken);
	if (!isFromEarlier) return { result: first, token: 'rejected' };
	if (run.operation.isMoneyOut) return { result: first, token: 'replaced' };
	return await postOnceMore(run, item, accessToken, first);
}

/** Posts with a token; what comes back holds neither that nor a proof. Never rejects. */
async function postWith(run: Run, item: Ready, accessToken: string): Promise<RequestResult> {
	const { operation, settings, httpRequest } = run;
	const { account, request } = item;
	// Of the account only what the request needs: it holds secrets too.
	const connection = {
		baseUrl: account.baseUrl,
		schemeName: account.schemeName,
		externalIdHeader: account.externalIdHeader,
		accessToken,
		timeout: settings.timeout,
		responseWords: account.responseWords,
		hide: (response: unknown) => hideSecrets(response, [accessToken], request.postbackUrl),
	};
	return await postRequest(httpRequest, connection, operation, request);
}

/** Posts a request whose earlier token was rejected once more, with a new one if there is one. */
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
		return { result: first, token: isClientRejected(error) ? 'rejected' : 'replaced' };
	}
	// The same token would be rejected once more.
	if (renewed.accessToken === rejectedToken) return { result: first, token: 'rejected' };
	if (isCancelled(run) || run.tally.isStopping) return { result: first, token: 'replaced' };
	const second = await postWith(run, item, renewed.accessToken);
	// The first request did reach the service.
	if (second.outcome === 'notSent') return { result: first, token: 'replaced' };
	const isRejected = second.statusCode === 401 && isRejectedForToken(second);
	return { result: second, token: isRejected ? 'rejected' : 'notRejected' };
}
