import 'reflect-metadata';
import { Readable } from 'node:stream';
import { WebhookContext } from 'n8n-core';
import {
	createRunExecutionData,
	Workflow,
	type ICredentialsHelper,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type IRunExecutionData,
	type IWebhookData,
	type IWebhookResponseData,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { Pay } from '../../nodes/Pay/Pay.node';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';

/** A request as n8n hands it to a webhook. */
export interface HandedOver {
	method: string;
	query: Record<string, unknown>;
	headers: Record<string, string>;
	/** The bytes that n8n has read; undefined where it leaves the body to the node. */
	rawBody?: Buffer;
	/** What reading the rest does; it throws where the stream has been read or breaks. */
	readRawBody?: () => Promise<Buffer>;
}

export interface Called {
	/** What n8n would do: start or resume with these items, or only answer. */
	result: IWebhookResponseData;
	/** The status that the node itself wrote, if it did. */
	status?: number;
	/** The text that it wrote itself. */
	text?: string;
	/** The JSON that it wrote itself. */
	body?: unknown;
	/** The headers that it set. */
	headers: Record<string, string>;
	log: string[];
}

/** A webhook node in n8n's own context, called as n8n calls it. */
export interface Callee {
	call(request: HandedOver): Promise<Called>;
	/** Posts JSON, with the query of this address. */
	post(url: string, body?: unknown): Promise<Called>;
	/** What n8n has stored of an execution that waits; undefined when it is gone. */
	stored?: IRunExecutionData;
}

interface Setting {
	parameters?: INodeParameters;
	/** What n8n gives of the credential, or throws: with its expressions as text, or resolved. */
	credential?: (unresolved: boolean) => IDataObject;
	/** For an execution that waits. */
	item?: INodeExecutionData;
	/** The status with which n8n responds after the node let the execution go on. */
	statusOfN8n?: number;
	/** What the wait wrote down when it began. */
	awaited?: IDataObject;
	/** n8n 2's token in resume URLs; none on n8n 1. */
	resumeToken?: string;
	workflowId?: string;
	/** When n8n responds; at once where it is absent. */
	answered?: Promise<unknown>;
	mode?: 'webhook' | 'manual';
}

const NODE_NAME = 'The "{{ Postbacks }}" .constructor';

/** A line of n8n's log as text: a sentence, and behind it where that was and what else is known. */
export function lineInLog(sentence: string, facts: IDataObject = {}): string {
	const place = { workflow: 'workflow-1', workflowId: 'workflow-1', node: NODE_NAME };
	return `${sentence} ${JSON.stringify({ ...place, ...facts })}`;
}

function nodeWith(type: INodeType, typeName: string, parameters: INodeParameters): INode {
	const { properties } = type.description;
	const shown = Object.fromEntries(properties.map(({ name, default: value }) => [name, value]));
	return {
		id: 'node-1',
		webhookId: 'webhook-1',
		name: NODE_NAME,
		type: typeName,
		typeVersion: 1,
		position: [0, 0],
		parameters: { ...(shown as INodeParameters), ...parameters },
		credentials: { payApi: { id: '1', name: 'Pay API' } },
	};
}

let executions = 0;

/** A trigger, or an execution that waits where an item is given. */
export function webhookNode(setting: Setting): Callee {
	const { item, resumeToken } = setting;
	const { awaited = null } = setting;
	const executionId = String(++executions);
	const type: INodeType = item ? new Pay() : new PayTrigger();
	const node = nodeWith(type, item ? 'n8n-nodes-pay.pay' : 'n8n-nodes-pay.payTrigger', {
		...(item ? { resource: 'postback', operation: 'wait' } : {}),
		...setting.parameters,
	});
	const workflow = new Workflow({
		id: setting.workflowId ?? 'workflow-1',
		active: true,
		nodes: [node],
		connections: {},
		nodeTypes: {
			getByName: () => type,
			getByNameAndVersion: () => type,
			getKnownTypes: () => ({}),
		},
	});
	const run = item && {
		...createRunExecutionData({
			executionData: {
				contextData: { [`node:${node.name}`]: { awaited } },
				nodeExecutionStack: [{ node, data: { main: [[item]] }, source: null }],
			},
		}),
		resumeToken,
	};
	const callee: Callee = {
		// n8n clears `waitTill` of what it loads for a request, not of what it has stored.
		stored: run && {
			...run,
			waitTill: new Date('3000-01-01'),
			resultData: { ...run.resultData, lastNodeExecuted: node.name },
		},
		async call(request) {
			const called: Omit<Called, 'result'> = { log: [], headers: {} };
			let finish = () => {};
			const response = {
				headersSent: false,
				statusCode: 200,
				setHeader(name: string, value: string) {
					called.headers[name.toLowerCase()] = value;
					return response;
				},
				end(text: string) {
					called.text = text;
					return response;
				},
				once: (_event: 'finish', listener: () => void) => {
					finish = listener;
					return response;
				},
				status(code: number) {
					called.status = code;
					return response;
				},
				json(body: unknown) {
					called.body = body;
					return response;
				},
			};
			const { readRawBody, rawBody, ...rest } = request;
			const httpRequest = Object.assign(new Readable({ read: () => undefined }), rest, {
				rawBody,
				async readRawBody() {
					httpRequest.rawBody = await readRawBody?.();
				},
			}) as Readable & { rawBody?: Buffer };
			const additional = {
				executionId: item ? executionId : undefined,
				webhookBaseUrl: 'https://n8n.example.com/webhook',
				webhookTestBaseUrl: 'https://n8n.example.com/webhook-test',
				webhookWaitingBaseUrl: 'https://n8n.example.com/webhook-waiting',
				formWaitingBaseUrl: 'https://n8n.example.com/form-waiting',
				variables: {},
				httpRequest,
				httpResponse: response,
				getRunExecutionData: async () => structuredClone(callee.stored),
				credentialsHelper: {
					// n8n resolves what it is asked for here with a workflow of its own.
					getDecrypted: (async (...[, , , , , , values]) => {
						const fields = setting.credential?.(values !== undefined) ?? {};
						if (values === undefined) return fields;
						const expression = values.workflow.expression as unknown as {
							getParameterValue(given: IDataObject): IDataObject;
						};
						return expression.getParameterValue(fields);
					}) as ICredentialsHelper['getDecrypted'],
					getCredentialsProperties: () => [],
					getParentTypes: () => [],
					isCredentialUsableByNode: () => true,
				},
			} as unknown as IWorkflowExecuteAdditionalData;
			const [webhookDescription] = type.description.webhooks!;
			const webhookData = { webhookDescription, node: node.name } as unknown as IWebhookData;
			const context = new WebhookContext(
				workflow,
				node,
				additional,
				setting.mode ?? 'webhook',
				webhookData,
				[],
				run ?? null,
			);
			const log = (message: string) => called.log.push(message);
			Object.defineProperty(context, 'logger', {
				value: { warn: log, error: log, info: log, debug: log },
			});
			const result = await type.webhook!.call(context);
			response.statusCode = setting.statusOfN8n ?? 200;
			if (setting.answered === undefined) finish();
			else void setting.answered.then(() => finish());
			return { result, ...called };
		},
		async post(url, body = {}) {
			const query = Object.fromEntries(new URL(url).searchParams);
			const rawBody = Buffer.from(JSON.stringify(body));
			return await this.call({ method: 'POST', query, headers: {}, rawBody });
		},
	};
	return callee;
}
