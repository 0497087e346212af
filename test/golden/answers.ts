import { createHmac, randomUUID } from 'node:crypto';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { webhookNode, type Called, type HandedOver } from '../engine/webhook';
import { postbackUrlOf, waitingExecution } from './executions';

/*
 * What a trigger and a wait make of some requests: the status, headers and body that the sender gets, the lines of
 * n8n's log, and the items that start the workflow or let the execution go on.
 */

type Setting = Parameters<typeof webhookNode>[0];

/** A request as its sender sends it. */
interface Request {
	/** The address that it goes to; only its query counts. */
	url?: string;
	method?: string;
	headers?: Record<string, string>;
	body?: string;
	/** What n8n meets when it reads the body. */
	breaks?: { message: string; statusCode: number };
}

interface Case {
	title: string;
	setting: Setting;
	/** Sent one after another, or at the same moment. */
	requests: Request[];
	atOnce?: true;
	/** What happens to the execution before the request. */
	before?: (node: ReturnType<typeof webhookNode>) => void;
}

/** What becomes of these requests, one sent after another. */
const asked = (title: string, setting: Setting, ...requests: Request[]): Case => ({
	title,
	setting,
	requests,
});

const ADDRESS = 'https://n8n.example.com/webhook/x/postback';
const SECRET = 'thirty random characters of one';
const OLD_SECRET = 'thirty random characters before';
const SENDER_SECRET = 'what the service and n8n both know';
/** The moment at which all requests come, in milliseconds since 1970. */
const NOW = Date.parse('2026-11-25T12:00:00Z');

const WORDS = {
	describeService: true,
	statusField: 'status',
	paidValues: 'paid',
	failedValues: 'failed',
	refundField: 'refund',
	amountField: 'amount',
	idField: 'order',
};
const SIGNED: IDataObject = { postbackSecret: SECRET, ...WORDS };
const BY_HEADER: IDataObject = {
	...WORDS,
	senderCheck: 'secretHeader',
	secretHeaderName: 'X-Token',
	secretHeaderValue: SENDER_SECRET,
};
const BY_SIGNATURE: IDataObject = {
	...WORDS,
	senderCheck: 'signature',
	signatureHeader: 'X-Signature',
	signatureSecret: SENDER_SECRET,
};
const BY_TIMED_SIGNATURE: IDataObject = {
	...BY_SIGNATURE,
	signedContent: 'timestampAndBody',
	timestampHeader: 'X-Time',
};

const ORDER = { external_id: 'order-1', kind: 'qrCode', amount: 49.9 };
const PROVEN = signUrl(ADDRESS, ORDER, SECRET);
const PAID = { order: 'order-1', status: 'paid', amount: 49.9 };

function json(value: unknown, more: Request = {}): Request {
	return {
		...more,
		body: JSON.stringify(value),
		headers: { 'content-type': 'application/json', ...more.headers },
	};
}

const hmac = (text: string, encoding: 'hex' | 'base64' = 'hex') =>
	createHmac('sha256', SENDER_SECRET).update(text).digest(encoding);

/** A postback with a signature of its body. */
function signedBy(signatureOf: (body: string) => string, value: unknown = PAID): Request {
	return json(value, { headers: { 'x-signature': signatureOf(JSON.stringify(value)) } });
}

/** A postback with a signature of a time and its body. */
function signedAt(ms: number): Request {
	const time = String(ms / 1000);
	const signature = hmac(`${time}.${JSON.stringify(PAID)}`);
	return json(PAID, { headers: { 'x-time': time, 'x-signature': signature } });
}

/** A trigger with a credential and parameters; each has a memory of repeats of its own. */
function trigger(
	authentication: 'signedUrl' | 'sender' | 'none',
	credential: IDataObject,
	parameters: IDataObject = {},
	options: IDataObject = {},
): Setting {
	return {
		credential: () => ({ ...credential }),
		parameters: { authentication, ...parameters, options } as Setting['parameters'],
	};
}

const signedTrigger = trigger('signedUrl', SIGNED);
const WHEN_PAID = { startWhen: 'paid' };
const TOKEN = { 'x-token': SENDER_SECRET };

const FILE = [
	'--BOUNDARY',
	'Content-Disposition: form-data; name="status"',
	'',
	'paid',
	'--BOUNDARY',
	'Content-Disposition: form-data; name="receipt"; filename="r.txt"',
	'Content-Type: text/plain',
	'',
	'Thank you',
	'--BOUNDARY--',
	'',
].join('\r\n');

/** Of a trigger whose addresses a Pay node signs. */
const SIGNED_URL: Case[] = [
	{ title: 'no proof', setting: signedTrigger, requests: [json(PAID, { url: ADDRESS })] },
	{
		title: 'a proof that another secret made',
		setting: signedTrigger,
		requests: [json(PAID, { url: signUrl(ADDRESS, ORDER, OLD_SECRET) })],
	},
	asked('a proof that was cut short', signedTrigger, json(PAID, { url: PROVEN.slice(0, -1) })),
	asked(
		'the reference of another order before the mac of this one',
		signedTrigger,
		json(PAID, {
			url: `${signUrl(ADDRESS, { ...ORDER, amount: 1 }, SECRET)
				.split('.')
				.slice(0, -1)
				.join('.')}.${PROVEN.split('.').at(-1)}`,
		}),
	),
	asked('a proof twice', signedTrigger, json(PAID, { url: `${PROVEN}&${PROVEN.split('?')[1]}` })),
	asked('no proof, and a body that never ends', signedTrigger, {
		url: ADDRESS,
		breaks: { message: 'request aborted', statusCode: 400 },
	}),
	{ title: 'a proof, and "paid"', setting: signedTrigger, requests: [json(PAID, { url: PROVEN })] },
	{
		title: 'a proof behind which the service wrote something of its own',
		setting: signedTrigger,
		requests: [json(PAID, { url: `${PROVEN}?attempt=1` })],
	},
	{
		title: 'a proof in an address that was escaped as HTML',
		setting: signedTrigger,
		requests: [json(PAID, { url: `${ADDRESS}?a=1&amp;${PROVEN.split('?')[1]}` })],
	},
	{
		title: 'a proof that the previous secret made',
		setting: trigger('signedUrl', { ...SIGNED, previousPostbackSecret: OLD_SECRET }),
		requests: [json(PAID, { url: signUrl(ADDRESS, ORDER, OLD_SECRET) })],
	},
	asked('a GET with all that it says in the address', signedTrigger, {
		method: 'GET',
		url: `${PROVEN}&status=paid`,
	}),
	asked('a form', signedTrigger, {
		url: PROVEN,
		headers: { 'content-type': 'application/x-www-form-urlencoded' },
		body: 'order=order-1&status=paid&amount=49.90',
	}),
	asked('a form with a file', signedTrigger, {
		url: PROVEN,
		headers: { 'content-type': 'multipart/form-data; boundary=BOUNDARY' },
		body: FILE,
	}),
	asked('XML', signedTrigger, {
		url: PROVEN,
		headers: { 'content-type': 'text/xml' },
		body: '<status>paid</status>',
	}),
	{ title: 'no body', setting: signedTrigger, requests: [{ url: PROVEN }] },
	asked('JSON that is cut off', signedTrigger, {
		url: PROVEN,
		headers: { 'content-type': 'application/json' },
		body: '{"status":"paid"',
	}),
	asked('a connection that breaks in the body', signedTrigger, {
		url: PROVEN,
		breaks: { message: 'request aborted', statusCode: 400 },
	}),
	asked('a body larger than n8n takes', signedTrigger, {
		url: PROVEN,
		breaks: { message: 'request entity too large', statusCode: 413 },
	}),
	{
		title: 'a body that repeats its own proof and names a token',
		setting: signedTrigger,
		requests: [json({ ...PAID, callback: PROVEN }, { url: PROVEN })],
	},
	{
		title: 'a word of no state, at On Any Postback',
		setting: signedTrigger,
		requests: [json({ ...PAID, status: 'pending' }, { url: PROVEN })],
	},
	{
		title: 'a word of no state, at When Paid',
		setting: trigger('signedUrl', SIGNED, WHEN_PAID),
		requests: [json({ ...PAID, status: 'pending' }, { url: PROVEN })],
	},
	{
		title: '"paid", at When Paid',
		setting: trigger('signedUrl', SIGNED, WHEN_PAID),
		requests: [json(PAID, { url: PROVEN })],
	},
	{
		title: '"failed", at When Paid or Failed',
		setting: trigger('signedUrl', SIGNED, { startWhen: 'paidOrFailed' }),
		requests: [json({ ...PAID, status: 'failed' }, { url: PROVEN })],
	},
	{
		title: 'another amount than was asked for, at When Paid',
		setting: trigger('signedUrl', SIGNED, WHEN_PAID),
		requests: [json({ ...PAID, amount: 4.99 }, { url: PROVEN })],
	},
	{
		title: 'another order than the address was made for, at When Paid',
		setting: trigger('signedUrl', SIGNED, WHEN_PAID),
		requests: [json({ ...PAID, order: 'order-2' }, { url: PROVEN })],
	},
	{
		title: 'money that went back, and another order: the order is asked first',
		setting: signedTrigger,
		requests: [json({ ...PAID, order: 'order-2', refund: 'full' }, { url: PROVEN })],
	},
	{
		title: 'money that went back, at When Paid',
		setting: trigger('signedUrl', SIGNED, WHEN_PAID),
		requests: [json({ ...PAID, refund: { id: 'r-1' } }, { url: PROVEN })],
	},
	{
		title: 'no status at all, at When Paid',
		setting: trigger('signedUrl', SIGNED, WHEN_PAID),
		requests: [json({ order: 'order-1' }, { url: PROVEN })],
	},
	asked(
		'a value that the workflow asks for, at When a Field Has a Value',
		trigger('signedUrl', SIGNED, {
			startWhen: 'match',
			matchField: 'event.type',
			matchValues: ['paid', 'settled'],
		}),
		json({ ...PAID, event: { type: 'Settled' } }, { url: PROVEN }),
		json({ ...PAID, event: { type: 'created' } }, { url: PROVEN }),
		json(PAID, { url: PROVEN }),
	),
	{
		title: 'with a response that a person entered',
		setting: trigger('signedUrl', SIGNED, WHEN_PAID, { responseBody: '{"ok":true}' }),
		requests: [json(PAID, { url: PROVEN }), json({ ...PAID, status: 'pending' }, { url: PROVEN })],
	},
	{
		title: 'a trigger that lost its secret: 500 makes the service send again',
		setting: trigger('signedUrl', WORDS),
		requests: [json(PAID, { url: PROVEN })],
	},
	{
		title: 'a trigger whose credential is gone',
		setting: {
			...signedTrigger,
			credential: () => {
				throw new Error('no such credential');
			},
		},
		requests: [json(PAID, { url: PROVEN })],
	},
	{
		title: 'Authentication as an expression, which a request could choose',
		setting: { ...signedTrigger, parameters: { authentication: '={{ "none" }}' } },
		requests: [json(PAID, { url: ADDRESS })],
	},
];

/** Of a trigger that anybody may call. */
const NONE: Case[] = [
	asked('whatever comes', trigger('none', {}), json(PAID, { url: ADDRESS })),
	asked('a challenge', trigger('none', {}, {}, { challengeField: 'hub.challenge' }), {
		method: 'GET',
		url: `${ADDRESS}?hub.challenge=1158201444`,
	}),
];

const ENTRIES: IDataObject = { ...BY_HEADER, statusField: 'pix[].status', idField: 'pix[].order' };
const entriesTrigger = (parameters: IDataObject = {}) =>
	trigger('sender', { ...ENTRIES, amountField: 'pix[].amount' }, parameters);
const entry = (order: string, status: string) => ({ order, status, amount: 49.9 });
const two = { pix: [entry('order-1', 'paid'), entry('order-2', 'pending')] };

/** Of a trigger that knows its sender. */
const SENDER: Case[] = [
	{ title: 'no secret header', setting: trigger('sender', BY_HEADER), requests: [json(PAID)] },
	{
		title: 'another secret header',
		setting: trigger('sender', BY_HEADER),
		requests: [json(PAID, { headers: { 'x-token': 'a guess' } })],
	},
	asked('the secret header', trigger('sender', BY_HEADER), json(PAID, { headers: TOKEN })),
	{
		title: 'the secret header, and a signed address as well',
		setting: trigger('sender', { ...BY_HEADER, postbackSecret: SECRET }),
		requests: [json(PAID, { url: PROVEN, headers: TOKEN })],
	},
	{
		title: 'a trigger whose credential does not say how the sender shows itself',
		setting: trigger('sender', WORDS),
		requests: [json(PAID, { headers: TOKEN })],
	},
	asked('a list, at On Any Postback', entriesTrigger(), json(two, { headers: TOKEN })),
	asked('a list, at When Paid', entriesTrigger(WHEN_PAID), json(two, { headers: TOKEN })),
	asked('a list with nothing in it', entriesTrigger(), json({ pix: [] }, { headers: TOKEN })),
	{
		title: 'a list with an entry that names no order',
		setting: entriesTrigger(),
		requests: [json({ pix: [entry('order-1', 'paid'), { status: 'paid' }] }, { headers: TOKEN })],
	},
	asked(
		'a list of 1,001',
		entriesTrigger(),
		json(
			{ pix: Array.from({ length: 1001 }, (_, index) => entry(`order-${index}`, 'paid')) },
			{ headers: TOKEN },
		),
	),
	{ title: 'no signature', setting: trigger('sender', BY_SIGNATURE), requests: [json(PAID)] },
	{
		title: 'a signature of another body',
		setting: trigger('sender', BY_SIGNATURE),
		requests: [signedBy(() => hmac('something else'))],
	},
	asked(
		'signatures of this body, hexadecimal with a prefix, and base64',
		trigger('sender', BY_SIGNATURE),
		signedBy((body) => `sha256=${hmac(body)}`),
		signedBy((body) => hmac(body, 'base64')),
	),
	asked(
		'a signature of the time and the body: now, six minutes ago, and without its time',
		trigger('sender', BY_TIMED_SIGNATURE),
		signedAt(NOW),
		signedAt(NOW - 360_000),
		json(PAID, { headers: { 'x-signature': hmac(JSON.stringify(PAID)) } }),
	),
];

const challenged = (credential: IDataObject, field = 'challenge') =>
	trigger(
		credential === SIGNED ? 'signedUrl' : 'sender',
		credential,
		{},
		{ challengeField: field },
	);

/** Of a trigger that answers challenges. */
const CHALLENGES: Case[] = [
	asked('a challenge in the query', challenged(SIGNED, 'hub.challenge'), {
		method: 'GET',
		url: `${ADDRESS}?hub.mode=subscribe&hub.challenge=1158201444`,
	}),
	{
		title: 'a challenge in the body',
		setting: challenged(SIGNED),
		requests: [json({ type: 'url_verification', challenge: 'abc' })],
	},
	asked('a challenge of 501 characters', challenged(SIGNED), json({ challenge: 'a'.repeat(501) })),
	{
		title: 'a challenge that would be read as a page',
		setting: challenged(SIGNED),
		requests: [json({ challenge: '<script>' })],
	},
	{
		title: 'a challenge beside a status, without a proof',
		setting: challenged(SIGNED),
		requests: [json({ ...PAID, challenge: 'abc' })],
	},
	{
		title: 'a challenge beside a status, with a proof',
		setting: challenged(SIGNED),
		requests: [json({ ...PAID, challenge: 'abc' }, { url: PROVEN })],
	},
	{
		title: 'a challenge from an unknown sender, and from the known one',
		setting: challenged(BY_HEADER),
		requests: [json({ challenge: 'abc' }), json({ challenge: 'abc' }, { headers: TOKEN })],
	},
];

const skipping = (setting: Setting = {}): Setting => ({
	...trigger('signedUrl', SIGNED, {}, { skipRepeats: true }),
	...setting,
});

/** Of a trigger that skips repeats. */
const REPEATS: Case[] = [
	{
		title: 'the same "paid" again, in other words',
		setting: skipping(),
		requests: [json(PAID, { url: PROVEN }), json({ ...PAID, attempt: 2 }, { url: PROVEN })],
	},
	{
		title: 'another state of the same order',
		setting: skipping(),
		requests: [json({ ...PAID, status: 'pending' }, { url: PROVEN }), json(PAID, { url: PROVEN })],
	},
	{
		title: 'the same one while n8n has not answered the first',
		setting: skipping({ answered: new Promise(() => undefined) }),
		atOnce: true,
		requests: [json(PAID, { url: PROVEN }), json(PAID, { url: PROVEN })],
	},
	{
		title: 'the same one after n8n failed to start the workflow',
		setting: skipping({ statusOfN8n: 500 }),
		requests: [json(PAID, { url: PROVEN }), json(PAID, { url: PROVEN })],
	},
	{
		title: 'the same one while a person listens in the editor',
		setting: skipping({ mode: 'manual' }),
		requests: [json(PAID, { url: PROVEN }), json(PAID, { url: PROVEN })],
	},
];

/** Of executions that wait. */
async function casesOfWaits(): Promise<Case[]> {
	const paid = await waitingExecution({ resumeWhen: 'paid' });
	const any = await waitingExecution({ resumeWhen: 'any' });
	const limited = await waitingExecution({
		resumeWhen: 'any',
		limitWaitTime: true,
		resumeAmount: 1,
		resumeUnit: 'hours',
	});
	const url = postbackUrlOf(paid);
	const tokenOf = (execution: typeof paid) =>
		new URL(postbackUrlOf(execution)).searchParams.get('signature') ?? undefined;
	const waiting = (execution: typeof paid, more: IDataObject = {}): Setting => ({
		item: execution.item,
		resumeToken: tokenOf(execution),
		// Each is a wait of its own: a process remembers those that it resumed.
		awaited: { ...execution.awaited, id: randomUUID(), ...more },
	});
	const pending = json({ ...PAID, status: 'pending' }, { url });
	return [
		{ title: 'no proof', setting: waiting(paid), requests: [json(PAID, { url: ADDRESS })] },
		{
			title: "no proof but n8n's own token",
			setting: waiting(paid),
			requests: [json(PAID, { url: `${ADDRESS}?signature=${tokenOf(paid)}` })],
		},
		asked('a proof of another execution', waiting(paid), json(PAID, { url: postbackUrlOf(any) })),
		{
			title: 'a proof of another charge of this execution',
			setting: waiting(paid, { proofs: [] }),
			requests: [json(PAID, { url })],
		},
		{
			title: '"paid", at When Paid, and once more',
			setting: waiting(paid),
			requests: [json(PAID, { url }), json(PAID, { url })],
		},
		{
			title: '"paid" twice at the same moment',
			setting: waiting(paid),
			atOnce: true,
			requests: [json(PAID, { url }), json(PAID, { url })],
		},
		{
			title: '"paid" once more, after n8n failed to store the first',
			setting: { ...waiting(paid), statusOfN8n: 500 },
			requests: [json(PAID, { url }), json(PAID, { url })],
		},
		{ title: 'a word of no state, at When Paid', setting: waiting(paid), requests: [pending] },
		{
			title: 'another amount than was asked for, at When Paid',
			setting: waiting(paid),
			requests: [json({ ...PAID, amount: 4.99 }, { url })],
		},
		{
			title: 'another order than the charge was made for, at When Paid',
			setting: waiting(paid),
			requests: [json({ ...PAID, order: 'order-2' }, { url })],
		},
		{
			title: 'a word of no state, at On Any Postback',
			setting: waiting(any),
			requests: [json({ ...PAID, status: 'pending' }, { url: postbackUrlOf(any) })],
		},
		asked('a form with a file', waiting(any), {
			url: postbackUrlOf(any),
			headers: { 'content-type': 'multipart/form-data; boundary=BOUNDARY' },
			body: FILE,
		}),
		{
			title: '"paid", after the time limit',
			setting: waiting(limited, { until: NOW }),
			requests: [json(PAID, { url: postbackUrlOf(limited) })],
		},
		asked('a word of no state, after the time limit', waiting(paid, { until: NOW }), pending),
		{
			title: 'an execution that n8n has no more',
			setting: waiting(paid),
			before: (node) => delete node.stored,
			requests: [json(PAID, { url })],
		},
		{
			title: 'an execution that went on meanwhile',
			setting: waiting(paid),
			before: (node) => delete node.stored!.waitTill,
			requests: [json(PAID, { url })],
		},
		{
			title: 'a wait that n8n did not store',
			setting: { ...waiting(paid), awaited: undefined },
			requests: [json(PAID, { url })],
		},
		{
			title: 'a wait that checks the sender: without the header, and with it',
			setting: { ...waiting(paid, { isSigned: true }), credential: () => ({ ...BY_HEADER }) },
			requests: [json(PAID, { url }), json(PAID, { url, headers: TOKEN })],
		},
		{
			title: 'a wait that checked the sender, and whose credential no longer does',
			setting: { ...waiting(paid, { isSigned: true }), credential: () => ({ ...WORDS }) },
			requests: [json(PAID, { url })],
		},
		{
			title: 'with a response that a person entered',
			setting: { ...waiting(paid), parameters: { options: { responseBody: 'OK' } } },
			requests: [pending, json(PAID, { url })],
		},
		{
			title: 'a payment, which waits for nothing',
			setting: { ...waiting(paid), parameters: { resource: 'payment', operation: 'create' } },
			requests: [json(PAID, { url })],
		},
	];
}

function handOver({ url = ADDRESS, method = 'POST', ...request }: Request): HandedOver {
	const { headers = {}, body = '', breaks } = request;
	const query: Record<string, unknown> = {};
	const { searchParams } = new URL(url);
	for (const name of new Set(searchParams.keys())) {
		const values = searchParams.getAll(name);
		query[name] = values.length > 1 ? values : values[0];
	}
	return {
		method,
		query,
		headers,
		async readRawBody() {
			if (breaks === undefined) return await Promise.resolve(Buffer.from(body));
			const { message, statusCode } = breaks;
			throw Object.assign(new Error(message), { statusCode });
		},
	};
}

/** Members of an item that differ each time. */
function withoutTimes(text: string): string {
	return text.replace(/"receivedAt": "[^"]*"/g, '"receivedAt": "…"');
}

function itemsInWords(items: INodeExecutionData[]): string[] {
	return items.map((item) => `item: ${withoutTimes(JSON.stringify(item, undefined, 2))}`);
}

/** A line of the log without where it was, which is the same in all. */
function withoutPlace(line: string): string {
	const [, sentence, text] = /^(.*?) (\{"workflow":.*\})$/.exec(line) ?? [];
	if (text === undefined) return line;
	const { workflow, workflowId, node, ...facts } = JSON.parse(text) as IDataObject;
	return Object.keys(facts).length === 0 ? sentence! : `${sentence} ${JSON.stringify(facts)}`;
}

function inWords({ result, status, text, body, headers, log }: Called): string {
	const { workflowData, webhookResponse } = result;
	const lines: string[] = [];
	if (status !== undefined) lines.push(`status: ${status}`);
	else lines.push("status: n8n's");
	for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
	const said = text ?? body ?? webhookResponse;
	if (said !== undefined)
		lines.push(`body: ${typeof said === 'string' ? said : JSON.stringify(said)}`);
	for (const line of log) lines.push(`log: ${withoutPlace(line)}`);
	if (workflowData === undefined) lines.push('no item');
	else lines.push(...itemsInWords(workflowData.flat()));
	return lines.join('\n');
}

async function play({ title, setting, requests, atOnce, before }: Case): Promise<string[]> {
	// Repeats are remembered by workflow.
	const workflowId = setting.item ? undefined : title;
	const node = webhookNode({ ...setting, workflowId });
	before?.(node);
	const calls: Called[] = [];
	if (atOnce) {
		const all = requests.map(async (request) => await node.call(handOver(request)));
		calls.push(...(await Promise.all(all)));
	} else {
		for (const request of requests) calls.push(await node.call(handOver(request)));
	}
	return calls.map(inWords);
}

/** All requests with what came of them, as answers.txt has it. */
export async function answers(): Promise<string> {
	const { now } = Date;
	const parts: Array<[string, Case[]]> = [
		['Trigger, Signed URL', SIGNED_URL],
		['Trigger, None', NONE],
		['Trigger, Sender', SENDER],
		['Trigger, challenges', CHALLENGES],
		['Trigger, Skip Repeats', REPEATS],
		['Wait', await casesOfWaits()],
	];
	const sections: string[] = [];
	Date.now = () => NOW;
	try {
		for (const [part, cases] of parts) {
			for (const each of cases) {
				const texts = await play(each);
				sections.push(`## ${part}: ${each.title}\n\n${texts.join('\n\n')}\n`);
			}
		}
	} finally {
		Date.now = now;
	}
	return sections.join('\n');
}
