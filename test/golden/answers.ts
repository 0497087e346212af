import { randomUUID } from 'node:crypto';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { webhookNode, type Called, type HandedOver } from '../engine/webhook';
import { postbackUrlOf, waitingExecution } from './executions';

/*
 * What a trigger and a wait make of some requests: the status, headers and body that the sender gets, the lines of
 * n8n's log, and the items that start the workflow or let the execution go on. Here are the items, and the sentences
 * that stand in no unit; which request is taken is a matter of test/postback and test/account.
 */

type Setting = Parameters<typeof webhookNode>[0];

/** A request as its sender sends it. */
interface Request {
	/** The address that it goes to; only its query counts. */
	url?: string;
	headers?: Record<string, string>;
	body?: string;
	/** What n8n meets when it reads the body. */
	breaks?: { message: string; statusCode: number };
}

interface Case {
	title: string;
	setting: Setting;
	/** Sent one after another. */
	requests: Request[];
}

const ADDRESS = 'https://n8n.example.com/webhook/x/postback';
const SECRET = 'thirty random characters of one';
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
const BY_HEADER: IDataObject = {
	...WORDS,
	senderCheck: 'secretHeader',
	secretHeaderName: 'X-Token',
	secretHeaderValue: SENDER_SECRET,
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

const signedTrigger: Setting = { credential: () => ({ postbackSecret: SECRET, ...WORDS }) };

/** Of a trigger whose addresses a Pay node signs. */
const SIGNED_URL: Case[] = [
	{ title: 'no proof', setting: signedTrigger, requests: [json(PAID, { url: ADDRESS })] },
	{ title: 'a proof, and "paid"', setting: signedTrigger, requests: [json(PAID, { url: PROVEN })] },
	{
		title: 'a connection that breaks in the body',
		setting: signedTrigger,
		requests: [{ url: PROVEN, breaks: { message: 'request aborted', statusCode: 400 } }],
	},
];

const entry = (order: string, status: string) => ({ order, status, amount: 49.9 });

function senderTrigger(paths: IDataObject = {}): Setting {
	return {
		credential: () => ({ ...BY_HEADER, ...paths }),
		parameters: { authentication: 'sender' },
	};
}

/** Of a trigger that knows its sender. */
const SENDER: Case[] = [
	{ title: 'no secret header', setting: senderTrigger(), requests: [json(PAID)] },
	{
		title: 'a list, at On Any Postback',
		setting: senderTrigger({
			statusField: 'pix[].status',
			idField: 'pix[].order',
			amountField: 'pix[].amount',
		}),
		requests: [
			json(
				{ pix: [entry('order-1', 'paid'), entry('order-2', 'pending')] },
				{ headers: { 'x-token': SENDER_SECRET } },
			),
		],
	},
];

/** Of executions that wait. */
async function casesOfWaits(): Promise<Case[]> {
	const execution = await waitingExecution({ resumeWhen: 'paid' });
	const url = postbackUrlOf(execution);
	const waiting = (more: IDataObject = {}): Setting => ({
		item: execution.item,
		resumeToken: new URL(url).searchParams.get('signature') ?? undefined,
		// Each is a wait of its own: a process remembers those that it resumed.
		awaited: { ...execution.awaited, id: randomUUID(), ...more },
	});
	return [
		{
			title: 'a proof of another charge of this execution',
			setting: waiting({ proofs: [] }),
			requests: [json(PAID, { url })],
		},
		{
			title: '"paid", at When Paid, and once more',
			setting: waiting(),
			requests: [json(PAID, { url }), json(PAID, { url })],
		},
		{
			title: 'a wait that checked the sender, and whose credential no longer does',
			setting: { ...waiting({ isSigned: true }), credential: () => ({ ...WORDS }) },
			requests: [json(PAID, { url })],
		},
		{
			title: 'a payment, which waits for nothing',
			setting: { ...waiting(), parameters: { resource: 'payment', operation: 'create' } },
			requests: [json(PAID, { url })],
		},
	];
}

function handOver({ url = ADDRESS, headers = {}, body = '', breaks }: Request): HandedOver {
	return {
		method: 'POST',
		query: Object.fromEntries(new URL(url).searchParams),
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

async function play({ title, setting, requests }: Case): Promise<string[]> {
	// Repeats are remembered by workflow.
	const node = webhookNode({ ...setting, workflowId: setting.item ? undefined : title });
	const texts: string[] = [];
	for (const request of requests) texts.push(inWords(await node.call(handOver(request))));
	return texts;
}

/** All requests with what came of them, as answers.txt has it. */
export async function answers(): Promise<string> {
	const { now } = Date;
	const parts: Array<[string, Case[]]> = [
		['Trigger, Signed URL', SIGNED_URL],
		['Trigger, Sender', SENDER],
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
