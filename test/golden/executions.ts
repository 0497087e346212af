import type { IDataObject, IHttpRequestOptions, INodeExecutionData, IRun } from 'n8n-workflow';
import type { WaitRecord } from '../../nodes/Pay/operations/wait';
import { ALL_FULL_FORMS, KINDS } from '../serviceOperations';
import {
	errorOf,
	forget,
	outputOf,
	payNode,
	runWorkflow,
	sourceNode,
	to,
	type RunOptions,
} from '../engine/engine';

/*
 * What leaves the node and what n8n stores of it, of executions that n8n's own engine runs. The service is one that
 * accepts everything, at an address that is always the same: fingerprints hold it.
 */

/** Fields of a credential with which everything goes out. */
export const ACCOUNT = {
	baseUrl: 'https://bank.example.com/api',
	schemeName: 'pix',
	accessToken: 'token-of-the-test',
	describeService: true,
	statusField: 'status',
	paidValues: 'paid',
	failedValues: 'failed',
	refundField: 'refund',
	amountField: 'amount',
	idField: 'order',
};

/** A request as it is handed to n8n. */
interface Sent {
	url: string;
	headers: Record<string, unknown>;
	body: IDataObject;
}

interface Execution {
	run: IRun;
	sent: Sent[];
}

/**
 * Runs a workflow with a service that accepts what comes.
 * @param executionId one that no other execution has: a process remembers what it has run
 */
async function runAccepted(executionId: string, options: RunOptions): Promise<Execution> {
	forget();
	const sent: Sent[] = [];
	const run = await runWorkflow({
		credential: ACCOUNT,
		executionId,
		...options,
		context: (real) => ({
			helpers: {
				...real.helpers,
				async httpRequest({ url, headers = {}, body }: IHttpRequestOptions) {
					const text = String(body);
					sent.push({
						url,
						headers: headers as Sent['headers'],
						body: JSON.parse(text) as IDataObject,
					});
					return await Promise.resolve({ statusCode: 200, headers: {}, body: text });
				},
			},
		}),
	});
	return { run, sent };
}

/** A charge and an execution that waits for its postback, as n8n has stored it. */
export interface WaitingExecution extends Execution {
	/** The item that waits. */
	item: INodeExecutionData;
	awaited: WaitRecord & IDataObject;
}

/** A charge whose postback lets the execution go on. */
const CHARGE = { resource: 'qrCode', amount: 49.9, external_id: 'order-1', postback: 'resume' };

let waits = 0;

/** Runs a charge of "order-1" and a wait with these parameters. */
export async function waitingExecution(parameters: IDataObject): Promise<WaitingExecution> {
	const wait = { resource: 'postback', operation: 'wait', external_id: '={{ $json.external_id }}' };
	const { run, sent } = await runAccepted(`wait ${++waits}`, {
		parameters: {},
		workflow: {
			nodes: [
				sourceNode('Source', [{}]),
				payNode('Charge', CHARGE),
				payNode('Wait', { ...wait, ...parameters }),
			],
			connections: { Source: to(['Charge']), Charge: to(['Wait']) },
		},
	});
	const { awaited } = run.data.executionData!.contextData['node:Wait'] as {
		awaited: WaitingExecution['awaited'];
	};
	return { run, sent, awaited, item: { json: outputOf(run, 'Charge')[0]!.json } };
}

/** Where the service sends the postback of a charge. */
export const postbackUrlOf = ({ sent }: Execution) => String(sent[0]!.body.postbackUrl);

let inputs = 0;

/** The JSON of the item that a node gives, whatever becomes of it; a wait stands behind the charge of "order-1". */
export async function itemFrom(parameters: IDataObject, credential: IDataObject) {
	const settings = { onError: 'continueRegularOutput' } as const;
	const charge = payNode('Charge', CHARGE);
	const nodes = [sourceNode('Source', [{}]), charge, payNode('Pay', parameters, settings)];
	const workflow = { nodes, connections: { Source: to(['Charge']), Charge: to(['Pay']) } };
	const { run } = await runAccepted(`input ${++inputs}`, {
		parameters,
		settings,
		credential,
		...(parameters.resource === 'postback' ? { workflow } : {}),
	});
	const [item] = outputOf(run, 'Pay');
	if (item !== undefined) return item.json;
	// The charge before a wait was refused.
	const { message, description, context } = errorOf(run)!;
	const { field } = context!.data as { field?: string };
	return { error: { field, message, description } };
}

const pretty = (value: unknown) => JSON.stringify(value, undefined, 2);

/** The requests of every form with all of its fields filled in, as bodies.txt has them. */
export async function bodies(): Promise<string> {
	const sections: string[] = [];
	for (const kind of KINDS) {
		for (const [index, parameters] of ALL_FULL_FORMS[kind].entries()) {
			const { sent } = await runAccepted(`${kind} ${index}`, { parameters });
			const texts = sent.map(({ url, headers, body }) => {
				const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
				return [`POST ${url}`, ...lines, '', pretty(body)].join('\n');
			});
			sections.push(
				`## ${kind}, form ${index + 1}\n\n${texts.join('\n\n') || 'nothing was sent'}\n`,
			);
		}
	}
	return sections.join('\n');
}

/** What differs in each execution, as a word that says what it is. */
function withoutChance({ run }: Execution): unknown {
	const { contextData } = run.data.executionData!;
	const text = JSON.stringify(contextData, (name: string, value: unknown) => {
		if (name === 'executionId') return '(id of the execution)';
		if (name === 'hash') return '(hash of the proof)';
		if (name === 'given') return (value as string[]).map(() => '(hash of the proof)');
		if (name === 'id') return '(id of the wait)';
		if (name === 'until' && value !== undefined) return '(end of the wait)';
		return value;
	});
	return JSON.parse(text);
}

/** What n8n stores of an execution that paid, and of one that waits, as stored.txt has it. */
export async function stored(): Promise<string> {
	const paid = await runAccepted('payment', {
		items: [{ id: 'order-1', amount: 49.9 }],
		parameters: {
			external_id: '={{ $json.id }}',
			amount: '={{ $json.amount }}',
			creditParty: { keyType: 'email', key: 'ana@example.com' },
		},
	});
	const waiting = await waitingExecution({
		resumeWhen: 'paid',
		limitWaitTime: true,
		resumeAmount: 1,
		resumeUnit: 'hours',
	});
	return [
		`## An execution that paid\n\n${pretty(withoutChance(paid))}\n`,
		`## An execution that waits\n\n${pretty(withoutChance(waiting))}\n`,
	].join('\n');
}
