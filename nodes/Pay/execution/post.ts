import { bearerToken, forgetToken } from '../credential/accessToken';
import { isClientRejected } from '../credential/tokenEndpoint';
import { hideSecrets } from '../postback/proof';
import { isRejectedForToken, postRequest, type RequestResult } from '../service/client';
import type { Ready } from './item';
import { isCancelled, type Run } from './runState';

/** A token, and whether an earlier request has fetched it. */
export type BearerToken = Awaited<ReturnType<typeof bearerToken>>;

/** Gets the token of an item's account. Rejects with an InputError where there is none. */
export async function tokenFor(
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
export interface Posted {
	result: RequestResult;
	/** What its token came to: accepted or unknown, rejected for the next request to have another one, or for good. */
	token: 'notRejected' | 'replaced' | 'rejected';
}

/**
 * Posts one request in the name of its account. A token that is rejected is discarded. If an earlier
 * request had fetched it, this one is sent once more with a new token, unless it is a payment.
 */
export async function post(run: Run, item: Ready, bearer: BearerToken): Promise<Posted> {
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
