import type { IExecuteFunctions } from 'n8n-workflow';
import { bearerToken, type BearerToken, type PostForm } from '../credential/accessToken';
import { mismatchOf } from '../parameters/fieldMatch';
import { postRequest, type Answer, type HttpRequest } from '../service/client';
import { pathOf, type Kind } from '../service/contract';
import type { Records } from './duplicateCheck';
import { begin, type Ledger } from './ledger';
import type { Done, Ready, RequestOperation, Settings, Step } from './read';
import { cancelled, recordedBefore } from './refusals';
import { answeredResult, refusedResult } from './report';
import type { Tally } from './tally';

/** What all items of a run share, once it stands. */
export interface Run<K extends Kind> {
	context: IExecuteFunctions;
	operation: RequestOperation<K>;
	settings: Settings;
	ledger: Ledger;
	/** Payments only: a second QR code harms nobody. */
	records: Records | undefined;
	httpRequest: HttpRequest;
	postForm: PostForm;
	hint: (text: string) => void;
	isCancelled: () => boolean;
	tally: Tally;
}

/** An item that is refused although nothing is wrong with it. */
export function refuse<K extends Kind>(
	{ operation }: Run<K>,
	{ index, request }: Ready<K>,
	error: unknown,
	outcome: 'notSent' | 'duplicate' = 'notSent',
): Done {
	return { index, result: refusedResult(operation.kind, request.external_id, error, outcome) };
}

const idsOf = <K extends Kind>(items: Array<Ready<K>>) =>
	items.map(({ request }) => request.external_id);

/** Records a batch of payments as about to be made; those that were recorded before are done. */
async function record<K extends Kind>(run: Run<K>, batch: Array<Ready<K>>): Promise<Step<K>> {
	if (run.records === undefined) return { ready: batch, done: [] };
	let known: Set<string>;
	try {
		known = await run.records.record(idsOf(batch));
	} catch (error) {
		return { ready: [], done: batch.map((item) => refuse(run, item, error)) };
	}
	const isKnown = ({ request }: Ready<K>) => known.has(request.external_id);
	return {
		ready: batch.filter((item) => !isKnown(item)),
		done: batch
			.filter(isKnown)
			.map((item) => refuse(run, item, recordedBefore(item.request.external_id), 'duplicate')),
	};
}

/**
 * Takes back records of payments that certainly were not made, so that they can be sent again.
 * @param done the results of the batch; those whose record stays are told of it
 */
async function takeBack<K extends Kind>(run: Run<K>, ids: string[], done: Done[]): Promise<Done[]> {
	if (run.records === undefined || ids.length === 0) return done;
	const { remembered, reason } = await run.records.takeBack(ids);
	if (remembered.length === 0) return done;
	const note = (some: string) =>
		`The duplicate check still remembers ${some}${reason === undefined ? '' : `, because ${reason}`}: to pay it, use a new External ID.`;
	const untold = new Set(remembered);
	const told = done.map((item): Done => {
		const { index, result } = item;
		if (result.outcome === 'accepted' || result.external_id === undefined) return item;
		if (!untold.delete(result.external_id)) return item;
		const description = `${result.description} ${note(`"${result.external_id}"`)}`;
		return { index, result: { ...result, description } };
	});
	for (const id of untold) run.hint(note(`"${id}"`));
	return told;
}

/** A 2xx that does not say what the user told us an acceptance says confirms nothing. */
function confirmed(answer: Answer, { acceptance }: Settings): Answer {
	if (answer.outcome !== 'accepted' || acceptance === undefined) return answer;
	const { response } = answer;
	// The output shows the answer as `response`, so a path may begin with it.
	if (mismatchOf(acceptance, response, { response }) === undefined) return answer;
	const reason = `which "${acceptance.field}" does not confirm (Accepted When Field)`;
	return { ...answer, outcome: 'unknown', reason };
}

/**
 * Posts one request in the name of its account. A 401 says that it was not carried out for lack of
 * valid credentials (RFC 9110, section 15.5.2): a token that was kept for a while is then replaced
 * and the request sent once more.
 */
async function post<K extends Kind>(run: Run<K>, item: Ready<K>, bearer: BearerToken) {
	const { operation, settings, httpRequest, postForm } = run;
	const { kind } = operation;
	const { baseUrl, schemeName } = item.account;
	const connection = { baseUrl, path: pathOf(kind, schemeName), timeout: settings.timeout };
	const { accessToken, isKept } = bearer;
	const answer = await postRequest(httpRequest, { ...connection, accessToken }, item.request);
	if (answer.statusCode !== 401 || answer.outcome !== 'rejected' || !isKept) return answer;
	if (run.isCancelled()) return answer;
	try {
		const renewed = await bearerToken(item.account, postForm, accessToken);
		// The token that was refused, once more, would be refused once more.
		if (renewed.accessToken === accessToken || run.isCancelled()) return answer;
		return await postRequest(httpRequest, { ...connection, ...renewed }, item.request);
	} catch {
		// No other token is to be had, so the refusal stands.
		return answer;
	}
}

/** Characters of all answers of a run; n8n cannot store an execution of some hundred millions. */
const MOST_KEPT = 50_000_000;

/** An answer that is too large to keep beside those of the items before it says so instead. */
function kept(tally: Tally, answer: Answer): Answer {
	const { response } = answer;
	if (response === undefined) return answer;
	tally.kept += JSON.stringify(response).length;
	if (tally.kept <= MOST_KEPT) return answer;
	return { ...answer, response: '(left out: the answers of this run are too large to keep)' };
}

/** Sends one item; what fails before the request is a refusal, and after it nothing throws. */
async function send<K extends Kind>(run: Run<K>, item: Ready<K>): Promise<Done> {
	const { operation, settings, tally } = run;
	const { index, request, finish } = item;
	const { external_id } = request;
	let bearer: BearerToken;
	try {
		bearer = await bearerToken(item.account, run.postForm);
	} catch (error) {
		return refuse(run, item, error);
	}
	// The duplicate check and a token endpoint may take their time.
	if (run.isCancelled()) return refuse(run, item, cancelled());
	item.expectPostback?.();
	const end = begin(run.ledger, item);
	tally.inFlight.add(external_id);
	const answer = kept(tally, confirmed(await post(run, item, bearer), settings));
	end(answer);
	tally.inFlight.delete(external_id);
	const result = answeredResult(operation.kind, request, answer);
	return result.outcome === 'accepted' ? { index, result, finish } : { index, result };
}

/**
 * Records and sends the items of a batch at once.
 * @returns what became of those that were tried or refused; never rejects
 */
export async function sendBatch<K extends Kind>(
	run: Run<K>,
	batch: Array<Ready<K>>,
): Promise<Done[]> {
	const { records, tally } = run;
	if (run.isCancelled()) return batch.map((item) => refuse(run, item, cancelled()));
	const { ready, done } = await record(run, batch);
	// The node is about to stop, so the others of the batch do not start.
	if (done.length > 0 && !tally.goesOn) return await takeBack(run, idsOf(ready), done);
	const sent = await Promise.all(ready.map(async (item) => await send(run, item)));
	const free = sent.flatMap(({ result }) =>
		result.outcome === 'rejected' || result.outcome === 'notSent' ? [result.external_id] : [],
	);
	const told = await takeBack(
		run,
		free.filter((id) => id !== undefined),
		[...done, ...sent],
	);
	const doubt = await records?.lookAgain(false);
	if (doubt !== undefined) run.hint(doubt);
	return told;
}
