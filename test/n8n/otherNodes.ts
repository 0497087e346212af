import type { N8n } from '../../dev/n8n';
import { node, type Node } from '../../dev/workflow';

/* n8n's own nodes, as the workflows of these tests have them. */

const BASE = 'n8n-nodes-base';
const AI = '@n8n/n8n-nodes-langchain';

/** The end of a wire. */
export const link = (name: string, index = 0) => ({ node: name, type: 'main', index });

/** Edit Fields, which gives this JSON. */
export const set = (name: string, jsonOutput: string, more: object = {}) =>
	node(
		name,
		`${BASE}.set`,
		{ mode: 'raw', jsonOutput, options: {}, ...more },
		{ typeVersion: 3.4 },
	);

export const loopOverItems = (name: string, parameters: object = { options: {} }) =>
	node(name, `${BASE}.splitInBatches`, parameters, { typeVersion: 3 });

/** The beginning of a sub-workflow. */
export const whenCalled = () =>
	node(
		'When called',
		`${BASE}.executeWorkflowTrigger`,
		{ inputSource: 'passthrough' },
		{ typeVersion: 1.1 },
	);

/** A call of a sub-workflow. */
export const callOf = (name: string, workflowId: string, more: object = {}) =>
	node(
		name,
		`${BASE}.executeWorkflow`,
		{ workflowId: { __rl: true, mode: 'id', value: workflowId }, options: {}, ...more },
		{ typeVersion: 1.2 },
	);

export const agent = (text: string, typeVersion: number) =>
	node('Agent', `${AI}.agent`, { promptType: 'define', text, options: {} }, { typeVersion });

/** The wires of a model or a tool to the agent. */
export const toAgent = (type: 'ai_tool' | 'ai_languageModel') => ({
	[type]: [[{ node: 'Agent', type, index: 0 }]],
});

/** A chat model that asks at an address. */
export async function chatModel(n8n: N8n, url: string): Promise<Node> {
	const openAiApi = await n8n.createCredential({ apiKey: 'none', url }, 'openAiApi', 'Model');
	return node(
		'Model',
		`${AI}.lmChatOpenAi`,
		{ model: { __rl: true, mode: 'id', value: 'stand-in' }, options: {} },
		{ typeVersion: 1.2, credentials: { openAiApi } },
	);
}
