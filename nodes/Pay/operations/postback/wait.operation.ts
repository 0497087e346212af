import { randomUUID } from 'crypto';
import {
	WAIT_INDEFINITELY,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type IWebhookDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { failAll } from '../../execution/report';
import { InputError } from '../../inputError';
import { conditionFields, matchOf, readCondition } from '../../parameters/condition';
import type { StatusValues } from '../../parameters/description';
import type { FieldMatch } from '../../parameters/fieldMatch';
import { wrongField } from '../../parameters/label';
import { LEAVE_BODY, refuseBodyNotLeft } from '../../parameters/leaveBody';
import { showFor, type ReadParameter } from '../../parameters/parameter';
import { parseExternalId } from '../../parameters/text';
import { awaitedProofs, beginWait, statusWordsOf } from '../../postback/expectation';
import { RESUME_SEGMENT } from '../../postback/postbackUrl';
import { verifyRandomProof } from '../../postback/proof';
import { claimWait, isOver, type OpenWait } from '../../postback/resumeOnce';
import { endedByPostback, outlastTimers } from '../../postback/timer';
import {
	logNotAwaited,
	POSTBACK_METHODS,
	readPostback,
	refusePostback,
	refuseUnproven,
	toPostbackItem,
	whyNotAwaited,
} from '../../postback/receive';

/**
 * How long the body of a postback to a wait may take, in milliseconds: a packet that TCP sends again
 * five times, after 0.2, 0.4, 0.8, 1.6 and 3.2 s, is there by then.
 */
const BODY_TIME = 10_000;

/** What a postback is told that comes too late, by its end. */
const OVER = 'The wait is over: another postback, or its time limit, let the execution go on';

const MINUTE = 60_000;
const UNITS: Record<string, number> = {
	seconds: 1000,
	minutes: MINUTE,
	hours: 60 * MINUTE,
	days: 24 * 60 * MINUTE,
};

export const option = {
	name: 'Wait',
	value: 'wait',
	action: 'Wait for postback',
	description: 'Wait until the service reports the status of one charge or payment',
};

export const description: INodeProperties[] = showFor(
	[
		{
			displayName:
				'The Pay node before this one must have Postback set to "Resume This Execution". Run both with "Execute workflow": each step alone is another execution. One item at a time: for several, put both nodes into a Loop Over Items.',
			name: 'waitNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'External ID',
			name: 'external_id',
			type: 'string',
			default: '={{ $json.external_id }}',
			required: true,
			description: 'Identifier of the charge or payment to wait for',
		},
		...conditionFields(
			{
				displayName: 'Resume',
				name: 'resumeWhen',
				description: 'Which postback lets the workflow go on',
			},
			{
				any: 'On Any Postback',
				paid: 'When Paid',
				paidOrFailed: 'When Paid or Failed',
				match: 'When a Field Has a Value',
			},
		),
		{
			displayName: 'Limit Wait Time',
			name: 'limitWaitTime',
			type: 'boolean',
			default: false,
			description:
				'Whether to go on without a postback after a while. The item then has no "postback" field.',
		},
		{
			displayName: 'Wait at Most',
			name: 'resumeAmount',
			type: 'number',
			typeOptions: { minValue: 0, numberPrecision: 2 },
			default: 1,
			displayOptions: { show: { limitWaitTime: [true] } },
			description:
				'How many of the units below to wait. N8n looks for ended waits about once a minute.',
		},
		{
			displayName: 'Wait at Most (Unit)',
			name: 'resumeUnit',
			type: 'options',
			options: [
				{ name: 'Days', value: 'days' },
				{ name: 'Hours', value: 'hours' },
				{ name: 'Minutes', value: 'minutes' },
				{ name: 'Seconds', value: 'seconds' },
			],
			default: 'hours',
			displayOptions: { show: { limitWaitTime: [true] } },
			description: 'Unit of the time to wait',
		},
		{ displayName: 'Options', name: 'options', type: 'hidden', default: LEAVE_BODY },
	],
	'postback',
	'wait',
);

/**
 * The node listens at the resume URL of an execution that waits here, and nowhere else. The service is
 * given that with a segment of its own; URLs that were given out earlier have none.
 */
export const resumeWebhooks = ['', RESUME_SEGMENT].map(
	(path): IWebhookDescription => ({
		name: 'default',
		httpMethod: POSTBACK_METHODS,
		responseMode: 'onReceived',
		responseData: 'noData',
		path,
		restartWebhook: true,
	}),
);

/**
 * What the editor's output panel says while the node waits: at a time limit n8n runs no node, so what did
 * not end the wait can be said only while it lasts.
 */
export const waitingNodeTooltip = [
	'={{ $parameter["resumeWhen"] === "any" ? "Waiting for a postback."',
	': "Waiting for a postback with what Resume asks for. One that lacks it does not end the wait:',
	'n8n\'s log, and the response that the service got, say what was missing." }}',
].join(' ');

/** Whose words a wait has. */
const CHARGE = 'the Pay node that makes the charge or payment';

/** What a wait waits for, fixed when it begins: n8n reads expressions otherwise when it resumes. */
interface Awaited {
	/**
	 * Of what may end it: the proof's hash, see `withRandomProof`; what the postback must hold, absent
	 * where any will do; the words of the account, if it has any.
	 */
	proofs: Array<{ hash: string; match?: FieldMatch; status?: StatusValues }>;
	/** Hashes of all proofs that this execution gave: the others may end a later wait. */
	given: string[];
	/** Of this wait and no other one, see `OpenWait`; absent where 0.1.0 began it. */
	id?: string;
	/** When its time limit passes, in milliseconds since 1970; absent without one. */
	until?: number;
	/** As a wait that began before there were words of the account has its proofs. */
	hashes?: string[];
	match?: FieldMatch;
}

/** Reads how long to wait, in milliseconds; an expression may give the number as text. */
function readLimit(read: ReadParameter): number {
	if (read('limitWaitTime') !== true) return Infinity;
	const typedAmount = read('resumeAmount');
	const text = typeof typedAmount === 'string' ? typedAmount.trim() : '';
	const amount = text === '' ? typedAmount : Number(text);
	const unit = read('resumeUnit');
	if (typeof amount !== 'number' || !(amount >= 0)) {
		const what = `must be 0 or more, but is ${JSON.stringify(typedAmount) ?? 'undefined'}`;
		throw wrongField('resumeAmount', what, 'Enter how long to wait.');
	}
	if (typeof unit !== 'string' || !Object.hasOwn(UNITS, unit)) {
		const names = Object.keys(UNITS).join(', ');
		throw wrongField('resumeUnit', `must be one of ${names}`, 'Choose one from the list.');
	}
	return amount * UNITS[unit]!;
}

/**
 * Removes what another node, or a customer's order, put where a postback will be: at the time limit
 * n8n passes on the list that came in, and "paid" in it would look like a postback. The items are
 * replaced, not changed: the output of the node before shares their JSON.
 */
function withoutPostback(items: INodeExecutionData[]): void {
	for (const [index, item] of items.entries()) {
		const json = { ...item.json };
		delete json.postback;
		items[index] = { ...item, json };
	}
}

/** Checks the parameters and puts the execution to sleep until {@link receive} wakes it. */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	withoutPostback(items);
	try {
		if (items.length > 1) {
			throw new InputError(
				'external_id',
				`An execution can wait for one postback at a time, but ${items.length} items came in`,
				'Put the Pay node and this one into a Loop Over Items with batch size 1, or use a Pay Trigger in a separate workflow.',
			);
		}
		// n8n resumes the node that it runs, which is the agent where that runs its tools itself.
		if (context.getExecuteData().node.name !== context.getNode().name) {
			throw new InputError(
				'operation',
				'An AI agent of this version cannot wait for a postback',
				'Put this node behind the agent, or use version 3 of the agent.',
			);
		}
		const read: ReadParameter = (name) => context.getNodeParameter(name, 0, undefined);
		refuseBodyNotLeft(read('options'));
		const external_id = parseExternalId(read('external_id'));
		const condition = readCondition(read, 'resumeWhen');
		const limit = readLimit(read);
		const store = context.getContext('flow');
		const executionId = context.getExecutionId();
		const hashes = awaitedProofs(store, external_id, executionId, endedByPostback(context));
		if (hashes.length === 0) {
			throw new InputError(
				'external_id',
				`No Pay node of this execution asked for the postback of "${external_id}" to come here, so this wait could never end`,
				'Set Postback of the Pay node before this one to "Resume This Execution". If its output is pinned, unpin it: a pinned node sends nothing. Run both with "Execute workflow", and keep both in one workflow: a step by itself, a sub-workflow and a retry of an execution that has ended are other executions.',
			);
		}
		const proofs = hashes.map((hash) => {
			const status = statusWordsOf(store, hash);
			return { hash, status, match: matchOf(condition, status, 'resumeWhen', CHARGE) };
		});
		await outlastTimers(context);
		const till = new Date(Math.min(Date.now() + limit, WAIT_INDEFINITELY.getTime()));
		const run = Number(context.getWorkflowDataProxy(0).$runIndex);
		const until = till < WAIT_INDEFINITELY ? till.getTime() : undefined;
		const wait = { node: context.getNode().name, run, until };
		const given = beginWait(store, { external_id, executionId, ...wait });
		const awaited: Awaited = { proofs, given, id: randomUUID(), until };
		Object.assign(context.getContext('node'), { awaited });
		// n8n 2 lets each sub-workflow that ends late replace what its parent waits with, unless the
		// parent waits for others. No sub-workflow has this id.
		context.setMetadata({ waitingChildExecutionIds: [executionId] });
		await context.putExecutionToWait(till);
		// Copies: under "Continue (using error output)" n8n empties the list that it is given.
		return [items.map((item) => ({ ...item }))];
	} catch (error) {
		// Paired by a number: else n8n adds what the node before gave, its "postback" too.
		return failAll(context, error).map((failed) =>
			failed.map((item, index) => ({ ...item, pairedItem: index })),
		);
	}
}

/**
 * The item that waits, and what for. As text through n8n's expression engine: a key like "toString"
 * in it would break the engine's own copy.
 */
function readWaiting(context: IWebhookFunctions): [INodeExecutionData, Partial<Awaited> | null] {
	// Nothing of the node's name may be read as code; $node["constructor"] is not the node either.
	const name = context
		.getNode()
		.name.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
	const waiting = `[$input.all()[0], $("${name}").context.awaited]`;
	const text = context.evaluateExpression(`{{ JSON.stringify(${waiting}) }}`, 0);
	return JSON.parse(String(text)) as [INodeExecutionData, Partial<Awaited> | null];
}

/**
 * Takes a call to the resume URL of a waiting execution: gives the input item with the postback to go
 * on with, or only a response. Proof first, body after: nothing of an unproven request is read.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const [item, awaited] = readWaiting(context);
	const query = context.getQueryData() as Record<string, unknown>;
	const { hashes = [], match } = awaited ?? {};
	const proofs = awaited?.proofs ?? hashes.map((hash) => ({ hash, match, status: undefined }));
	const proof = proofs.find(({ hash }) => verifyRandomProof(query, [hash]) !== null);
	const reference = proof === undefined ? null : verifyRandomProof(query, [proof.hash]);
	if (reference === null && verifyRandomProof(query, awaited?.given ?? []) !== null) {
		return refusePostback(context, 409, 'The execution is waiting for another charge or payment');
	}
	if (reference === null) return refuseUnproven(context);
	const resumeUrl = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0)));
	// n8n's own token proves nothing here, and opens other waits and forms of this execution.
	const resumeToken = resumeUrl.searchParams.get('signature') ?? '';
	const postback = await readPostback(context, BODY_TIME, resumeToken);
	const why = whyNotAwaited(proof?.match, postback);
	const status = proof?.status;
	const output =
		why === undefined
			? await toPostbackItem(context, postback, reference, status, item)
			: undefined;
	const wait: OpenWait = {
		id: awaited?.id ?? context.getExecutionId(),
		node: context.getNode().name,
		until: awaited?.until,
	};
	if (await isOver(context, wait)) return refusePostback(context, 409, OVER);
	if (output === undefined) {
		logNotAwaited(context, String(why), reference);
		return { webhookResponse: `The execution waits on: ${why}` };
	}
	// Nothing is awaited from here on: of all postbacks that are under way, one gets through.
	return claimWait(context, wait)
		? { workflowData: [[output]] }
		: refusePostback(context, 409, OVER);
}
