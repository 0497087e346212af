import 'reflect-metadata';
import { Readable } from 'node:stream';
import { WebhookContext } from 'n8n-core';
import {
	createRunExecutionData,
	Workflow,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
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
	log: string[];
}

/** A webhook node in n8n's own context, called as n8n calls it. */
export interface Callee {
	call(request: HandedOver): Promise<Called>;
	/** Posts JSON, with the query of this address. */
	post(url: string, body?: unknown): Promise<Called>;
}

interface Setting {
	parameters?: INodeParameters;
	/** What n8n gives of the credential, or throws: as it was typed, or resolved. */
	credential?: (typed: boolean) => IDataObject;
	/** For an execution that waits. */
	item?: INodeExecutionData;
	/** What the wait wrote down when it began. */
	awaited?: IDataObject;
	/** n8n 2's token in resume URLs; none on n8n 1. */
	resumeToken?: string;
	workflowId?: string;
}

function nodeWith(type: INodeType, typeName: string, parameters: INodeParameters): INode {
	const { properties } = type.description;
	const shown = Object.fromEntries(properties.map(({ name, default: value }) => [name, value]));
	return {
		id: 'node-1',
		name: 'The "{{ Postbacks }}" .constructor',
		type: typeName,
		typeVersion: 1,
		position: [0, 0],
		parameters: { ...(shown as INodeParameters), ...parameters },
		credentials: { payApi: { id: '1', name: 'Pay API' } },
	};
}

/** A trigger, or an execution that waits where an item is given. */
export function webhookNode(setting: Setting): Callee {
	const { item, resumeToken } = setting;
	const { awaited = {} } = setting;
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
	return {
		async call(request) {
			const called: Omit<Called, 'result'> = { log: [] };
			const response = {
				headersSent: false,
				setHeader: () => response,
				status(code: number) {
					called.status = code;
					return response;
				},
				json: () => response,
			};
			const { readRawBody, rawBody, ...rest } = request;
			const httpRequest = Object.assign(new Readable({ read: () => undefined }), rest, {
				rawBody,
				async readRawBody() {
					httpRequest.rawBody = await readRawBody?.();
				},
			}) as Readable & { rawBody?: Buffer };
			const additional = {
				executionId: item ? '42' : undefined,
				webhookWaitingBaseUrl: 'https://n8n.example.com/webhook-waiting',
				formWaitingBaseUrl: 'https://n8n.example.com/form-waiting',
				variables: {},
				httpRequest,
				httpResponse: response,
				credentialsHelper: {
					getDecrypted: async (...[, , , , , raw]: unknown[]) =>
						setting.credential?.(raw === true) ?? {},
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
				'webhook',
				webhookData,
				[],
				run ?? null,
			);
			const log = (message: string) => called.log.push(message);
			Object.defineProperty(context, 'logger', {
				value: { warn: log, error: log, info: log, debug: log },
			});
			return { result: await type.webhook!.call(context), ...called };
		},
		async post(url, body = {}) {
			const query = Object.fromEntries(new URL(url).searchParams);
			const rawBody = Buffer.from(JSON.stringify(body));
			return await this.call({ method: 'POST', query, headers: {}, rawBody });
		},
	};
}
