import { brCode } from './brCode';
import type { PostbackBody } from './postbacks';
import { REHEARSALS, SEQUELS, type Rehearsal, type ResponseBody, type Sequel } from './rehearsals';

/*
 * What the service does with a request, as a value: no server, no clock, nothing kept. The sandbox is made
 * of it, and so is the Code node of the practice service (`npm run derive` puts it there).
 */

/** What a request that is carried out makes. */
interface Made {
	kind: string;
	id: string;
	external_id: string;
	/** Absent where the request has none. */
	amount?: number;
}

export function rehearsalOf(amount: number | undefined): Rehearsal | undefined {
	return REHEARSALS.find((rehearsal) => rehearsal.amount === amount);
}

export function sequelOf(amount: number | undefined): Sequel | undefined {
	return SEQUELS.find((sequel) => sequel.amount === amount);
}

/** The code to copy; only a charge has one. */
export function qrCodeOf({ kind, id, amount }: Made): string | undefined {
	return kind === 'qrCode' && amount !== undefined ? brCode(id, amount) : undefined;
}

/** The body of the response, also where a rehearsal says that it is a wrong one. */
export function responseBodyOf(
	{ id, external_id, amount }: Made,
	status: string,
	qrCode: string | undefined,
	rehearsal: Rehearsal | undefined,
): ResponseBody {
	// What is undefined is not in the JSON.
	const body: ResponseBody = {
		id,
		external_id,
		amount,
		status,
		qrCode,
	};
	if (rehearsal?.effect.kind === 'misreported') rehearsal.effect.falsify(body);
	return body;
}

/** The body of the postback that reports a status. */
export function postbackBodyOf(
	{ kind, id, external_id }: Made,
	status: string,
	paid: number | undefined,
): PostbackBody {
	return {
		event: `${kind}.${status}`,
		id,
		external_id,
		amount: paid,
		status,
	};
}

/** An operation, as far as a request without a validator is looked at. */
export interface PlayedOperation {
	kind: string;
	/** The end of its path. */
	path: string;
	/** The members that a body must have, and their types. */
	required: ReadonlyArray<readonly [name: string, type: string]>;
}

/** A request as n8n's Webhook node gives it. */
interface WebhookItem {
	headers: Record<string, string | undefined>;
	body?: Record<string, unknown>;
	webhookUrl: string;
}

/** What becomes of a request. */
interface Played {
	status: number;
	answer: Record<string, unknown>;
	postbacks: Array<{ url: string; body: PostbackBody }>;
	/** By it a request is known that came before; of one that was refused, nothing is known. */
	id: string;
}

/** Why a request is refused, in the words of the sandbox's validator; undefined where it is not. */
function refusalOf(
	{ headers: { authorization }, body = {} }: WebhookItem,
	{ required }: PlayedOperation,
): [status: number, message: string] | undefined {
	if (authorization === undefined || authorization === '') {
		return [401, 'Authorization header required'];
	}
	if (!/^Bearer\b/i.test(authorization)) {
		return [401, "Authorization header with scheme 'Bearer' required"];
	}
	if (!/^Bearer \S+$/.test(authorization)) return [401, 'unauthorized'];
	for (const [name, type] of required) {
		const value = body[name];
		if (value === undefined) return [422, `request/body must have required property '${name}'`];
		if (typeof value !== type) return [422, `request/body/${name} must be ${type}`];
	}
	return undefined;
}

/** What the answer says of the postbacks that follow. */
function postbackInWords(isHere: boolean, times: number): string {
	if (!isHere) return 'None: no postback URL of this n8n was given';
	return times > 0 ? 'In 3 seconds' : 'Never';
}

/**
 * Plays the service for a request to n8n itself. It calls this n8n alone: whoever finds its address must
 * not reach others through it.
 */
export function play(
	item: WebhookItem,
	executionId: string,
	operations: readonly PlayedOperation[],
): Played {
	const { body = {}, webhookUrl } = item;
	const refuse = (status: number, answer: Record<string, unknown>): Played => ({
		status,
		answer,
		postbacks: [],
		id: executionId,
	});
	const operation = operations.find(({ path }) => webhookUrl.endsWith(`/${path}`));
	if (operation === undefined) return refuse(404, { message: 'not found' });
	const refusal = refusalOf(item, operation);
	if (refusal !== undefined) return refuse(refusal[0], { message: refusal[1] });

	const made: Made = {
		kind: operation.kind,
		id: `test-${executionId}`,
		external_id: String(body.external_id),
		amount: body.amount as number | undefined,
	};
	const rehearsal = rehearsalOf(made.amount);
	if (rehearsal?.effect.kind === 'notCarriedOut' && rehearsal.effect.fault.kind === 'status') {
		const { status, body: text = '{}' } = rehearsal.effect.fault;
		return refuse(status, JSON.parse(text) as Record<string, unknown>);
	}
	// Its account is short: a longer text could be the access token that somebody chose, and that Pay
	// hides in every answer.
	const qrCode = qrCodeOf({ ...made, id: executionId });
	const ending = sequelOf(made.amount)?.ending;
	const isReported = ending !== undefined && ending.reported !== 'never';
	const { status, times, paid } = isReported
		? ending
		: { status: 'paid', times: ending === undefined ? 1 : 0, paid: undefined };

	const plain = (url: string) => url.replace('//127.0.0.1:', '//localhost:');
	const url = String(body.postbackUrl ?? '');
	const [here = ''] = plain(webhookUrl).split('/v2/');
	const isHere = [`${here}/`, `${here}-waiting/`].some((each) => plain(url).startsWith(each));
	const postback = { url, body: postbackBodyOf(made, status, paid ?? made.amount) };
	const response = responseBodyOf(made, 'waiting', qrCode, rehearsal);
	return {
		status: 201,
		answer: { ...response, postback: postbackInWords(isHere, times) },
		postbacks: isHere ? Array.from({ length: times }, () => postback) : [],
		id: made.kind + made.external_id,
	};
}
