import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import type { IDataObject, INode, IPinData, IRun, Workflow } from 'n8n-workflow';
import { listen } from '../../listen';
import { outputOf, runWorkflow } from '../engine';
import { webhookNode } from '../webhook';

/** A request that the workflow sends, as far as it is told, and what the service says to it. */
interface Exchange {
	path: string;
	request: IDataObject;
	status: number;
	response: IDataObject;
}

interface Folder {
	/** A sentence: what the workflow shows. */
	name: string;
	nodes: INode[];
	connections: Workflow['connectionsBySourceNode'];
	/** What the trigger gives, and what each other node is expected to give. */
	pinData: IPinData;
	expected: Record<string, IDataObject[]>;
	service: Exchange[];
	/** Fields of the credential, beside address and token. */
	credential: IDataObject;
	/** The body of the postback that the service sends where an execution waits. */
	postback?: IDataObject;
}

const jsonOf = (items: IPinData[string]) => items.map((item) => item.json);

/** All workflows of this folder. */
export function readWorkflows(): Folder[] {
	const folders = readdirSync(__dirname, { withFileTypes: true }).filter((each) =>
		each.isDirectory(),
	);
	return folders.map((folder) => {
		const read = <Content>(file: string, otherwise?: Content): Content => {
			const path = join(__dirname, folder.name, file);
			if (!existsSync(path) && otherwise !== undefined) return otherwise;
			return JSON.parse(readFileSync(path, 'utf8')) as Content;
		};
		const workflow =
			read<Pick<Folder, 'name' | 'nodes' | 'connections' | 'pinData'>>('workflow.json');
		const [trigger, ...others] = workflow.nodes.filter(({ name }) => name in workflow.pinData);
		const expected = others.map(({ name }) => [name, jsonOf(workflow.pinData[name]!)] as const);
		return {
			...workflow,
			pinData: { [trigger!.name]: workflow.pinData[trigger!.name]! },
			expected: Object.fromEntries(expected),
			service: read<Exchange[]>('service.json'),
			credential: read<IDataObject>('credential.json', {}),
			postback: read<IDataObject | undefined>('postback.json', {}),
		};
	});
}

/** A service that says what the folder lists. */
async function startService(exchanges: Exchange[]) {
	const requests: IDataObject[] = [];
	const started = await listen(async (request, response) => {
		const body = (await json(request)) as IDataObject;
		requests.push(body);
		const listed = exchanges.find(
			(each) => each.path === request.url && each.request.external_id === body.external_id,
		);
		response.writeHead(listed?.status ?? 500, { 'Content-Type': 'application/json' });
		response.end(JSON.stringify(listed?.response ?? { error: 'It is not in service.json.' }));
	});
	/** Those of a batch arrive in any order. */
	const inOrder = () => requests.sort((one, other) => placeOf(one) - placeOf(other));
	const placeOf = ({ external_id }: IDataObject) =>
		exchanges.findIndex(({ request }) => request.external_id === external_id);
	return { ...started, requests, inOrder };
}

/** Lets the postback come for which an execution waits, and goes on with it as n8n does. */
async function resume(
	run: IRun,
	postbackUrl: string,
	options: Parameters<typeof runWorkflow>[0],
	postback: IDataObject,
) {
	const { contextData, nodeExecutionStack } = run.data.executionData!;
	const [waiting] = nodeExecutionStack;
	const { name, parameters } = waiting!.node;
	const node = webhookNode({
		parameters,
		credential: () => ({ baseUrl: '', accessToken: '', ...options.credential }),
		item: waiting!.data.main![0]![0]!,
		awaited: contextData[`node:${name}`]!.awaited as IDataObject,
	});
	const { result, log } = await node.post(postbackUrl, postback);
	if (result.workflowData === undefined) throw new Error(log.join('\n'));
	waiting!.data.main = result.workflowData;
	return await runWorkflow({ ...options, goesOn: run });
}

/** Runs a workflow in n8n's own engine; gives what its nodes gave and what the service was asked. */
export async function play(folder: Folder) {
	const { nodes, connections, pinData } = folder;
	const service = await startService(folder.service);
	const options = {
		parameters: {},
		credential: { baseUrl: service.url, ...folder.credential },
		workflow: { nodes, connections, pinData },
	};
	let run = await runWorkflow(options);
	if (run.waitTill) {
		run = await resume(run, String(service.requests[0]!.postbackUrl), options, folder.postback!);
	}
	service.close();
	const outputs = Object.keys(folder.expected).map((name) => [name, jsonOf(outputOf(run, name))]);
	return {
		requests: service.inOrder(),
		outputs: Object.fromEntries(outputs) as Folder['expected'],
	};
}
