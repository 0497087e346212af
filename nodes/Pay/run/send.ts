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
import { refusalOfCancelled, refusalOf, triedBefore, withinLimits } from './refuse';
import { resultOfAttempt } from './report';
import { isCancelled, type Run } from './state';
import type { Pace } from './words';

/** Records and sends the items of a batch at once; gives the results of those that were reached. Never rejects. */
export async function sendBatch(run: Run, batch: Ready[]): Promise<Done[]> {
	if (isCancelled(run)) return batch.map((item) => refusalOfCancelled(run, item));
	const recorded = await recordBatch(run, batch);
	const { ready, known, done } = recorded;
	const areSomeRefused = done.length + known.length > 0;
	if (areSomeRefused && !run.tally.continuesOnFailure) return await sendNone(run, recorded);
	const sending = ready.map(async (item) => await sendItem(run, item));
	// While the requests are out, n8n's database is idle, so it takes the marks of the batch before.
	const marking = run.records?.markAccepted();
	const ends = await Promise.all(sending);
	await marking;
	const sent: Done[] = [];
	for (const end of ends) if (end.is === 'done') sent.push(end.done);
	noteAccepted(run, sent);
	// Only now, so that nothing comes between recording the others and sending them.
	const refused = [...done, ...(await refusalsOfKnown(run, known))];
	// Those that were not reached, and those that were certainly not carried out.
	const notPaid = ready.filter((item) => !mayBePaid(run.ledger, item));
	return await takeBackRecords(run, notPaid, [...refused, ...sent]);
}

/** Sends nothing of a batch in which some items are refused, because the node is about to stop. */
async function sendNone(run: Run, { ready, known, done }: RecordedBatch): Promise<Done[]> {
	const refused = [...done, ...(await refusalsOfKnown(run, known))];
	return await takeBackRecords(run, ready, refused);
}

const externalIdsOf = (items: Ready[]) => items.map(({ request }) => request.external_id);

/** A batch after the duplicate check. */
interface RecordedBatch extends Step {
	/** Items that were recorded before, and so are not sent. */
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
			return {
				ready: [],
				known: [],
				done: batch.map((item) => refusalOfCancelled(run, item, error)),
			};
		}
		return { ready: [], known: [], done: batch.map((item) => refusalOf(run, item, error)) };
	}
	return {
		ready: batch.filter(({ request }) => !known.has(request.external_id)),
		known: batch.filter(({ request }) => known.has(request.external_id)),
		done: [],
	};
}

/** Says of items that were recorded before whether they are known to have been accepted. */
async function refusalsOfKnown(run: Run, items: Ready[]): Promise<Done[]> {
	const { words } = run.operation;
	const accepted = await run.records?.acceptedBefore(externalIdsOf(items));
	return items.map((item) => {
		const { external_id } = item.request;
		const wasAccepted = accepted?.has(external_id) === true;
		const refusal = (wasAccepted ? acceptedBefore : recordedBefore)(words, external_id);
		return refusalOf(run, item, refusal, 'duplicate');
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
	// The ids that no result has mentioned yet. Two results may have the same id: the first one mentions it.
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

/** How sending an item ended. The node may stop before it reaches an item, because another one has failed. */
type SendEnd = { is: 'done'; done: Done } | { is: 'notReached' };

/** Sends one item, alone until its account's token was accepted. Once its request was sent, nothing throws. */
export async function sendItem(run: Run, item: Ready): Promise<SendEnd> {
	const standing = standingOf(run.session, item.account);
	const begun = await beginTurn(standing);
	if (begun.is === 'noToken') {
		const refused: SendEnd = { is: 'done', done: refusalOf(run, item, begun.error) };
		stopUnlessAccepted(run, refused);
		return refused;
	}
	let end: SendEnd = { is: 'notReached' };
	try {
		const entry = await enterItem(run, item, standing, begun.turn);
		if (entry.is === 'entered') {
			const result = await post(run, item, standing, entry.bearer);
			end = { is: 'done', done: endItem(run, item, entry.attempt, result) };
		} else {
			end = entry;
		}
		return end;
	} finally {
		// Before the turn ends: when an item fails, those that wait for the turn must not start.
		stopUnlessAccepted(run, end);
		endTurn(standing, begun.turn);
	}
}

function stopUnlessAccepted({ tally }: Run, end: SendEnd): void {
	if (end.is === 'done' && end.done.result.outcome === 'accepted') return;
	if (!tally.continuesOnFailure) tally.isStopping = true;
}

/** An item that is about to be sent, or how it ended without being sent. */
type Entry = { is: 'entered'; attempt: Attempt; bearer: BearerToken } | SendEnd;

/** Gets the token for an item and writes its attempt down, unless there is a reason not to send it. */
async function enterItem(run: Run, item: Ready, standing: Standing, turn: Turn): Promise<Entry> {
	const refusal = judgeStanding(run, standing);
	if (refusal !== undefined) return { is: 'done', done: refusalOf(run, item, refusal) };
	let bearer: BearerToken;
	try {
		bearer = await tokenFor(run, item);
	} catch (error) {
		if (isCancelled(run)) return { is: 'done', done: refusalOfCancelled(run, item) };
		noteMissingToken(run, standing, turn, error);
		return { is: 'done', done: refusalOf(run, item, error) };
	}
	// The duplicate check and a token endpoint may take their time.
	if (isCancelled(run)) return { is: 'done', done: refusalOfCancelled(run, item) };
	if (run.tally.isStopping) return { is: 'notReached' };
	// Nothing is awaited from here until the attempt is written down. Otherwise a second tool of an agent could come
	// in between, and neither would find the other's attempt in the ledger.
	const before = triedBefore(run, item) ?? withinLimits(run, [item]).done[0];
	if (before !== undefined) return { is: 'done', done: before };
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

/** Notes what a missing token means for the account. */
function noteMissingToken(run: Run, standing: Standing, turn: Turn, error: unknown): void {
	if (error instanceof TooManyTokenRequests) beginPause(run.session, standing, error.retryAfter);
	else if (isClientRejected(error)) standing.rejection ??= error;
	else if (error instanceof InputError) turn.noToken = error;
}

/** Writes down what became of an item's request. The request was sent, so nothing here throws. */
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
 * Posts an item's request, and notes what the response says about its account. A rejected token is discarded. If
 * an earlier request had fetched it, the item is posted once more with a new one, unless it is a payment. Never
 * rejects.
 */
async function post(
	run: Run,
	item: Ready,
	standing: Standing,
	{ accessToken, isFromEarlier }: BearerToken,
): Promise<RequestResult> {
	const { operation, session } = run;
	const { account } = item;
	const first = await postOnce(run, item, accessToken);
	noteResponse(session, standing, first);
	// One of the Rejected Values is about the item, not about its token.
	if (!isRejectedForToken(first)) return first;
	if (first.statusCode !== 401) {
		// Some services say 403 to a token that has expired.
		forgetToken(account, accessToken, LEAST_AGE_AT_403);
		return first;
	}
	forgetToken(account, accessToken);
	if (!isFromEarlier) {
		standing.rejection ??= tokenRejected();
		return first;
	}
	// The next request will have a new token, which has not been accepted yet.
	standing.isAccepted = false;
	if (operation.isMoneyOut) return first;
	return await postWithNewToken(run, item, standing, first, accessToken);
}

/** Posts an item once more after a 401; gives the first result unless a second request reached the service. */
async function postWithNewToken(
	run: Run,
	item: Ready,
	standing: Standing,
	first: RequestResult,
	rejectedToken: string,
): Promise<RequestResult> {
	let renewed: BearerToken;
	try {
		renewed = await tokenFor(run, item);
	} catch (error) {
		// The account has no other token.
		if (isClientRejected(error)) standing.rejection ??= tokenRejected();
		return first;
	}
	// The same token would be rejected once more.
	if (renewed.accessToken === rejectedToken) {
		standing.rejection ??= tokenRejected();
		return first;
	}
	if (isCancelled(run) || run.tally.isStopping) return first;
	const second = await postOnce(run, item, renewed.accessToken);
	// The first request did reach the service.
	if (second.outcome === 'notSent') return first;
	noteResponse(run.session, standing, second);
	if (second.statusCode === 401 && isRejectedForToken(second)) {
		standing.rejection ??= tokenRejected();
	}
	return second;
}

async function postOnce(run: Run, item: Ready, accessToken: string): Promise<RequestResult> {
	const connection = connectionOf(run, item, accessToken);
	return await postRequest(run.httpRequest, connection, run.operation, item.request);
}

/** How to reach an item's service, with only what a request needs: the account holds other secrets. */
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
