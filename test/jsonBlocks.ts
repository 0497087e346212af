import type { INode } from 'n8n-workflow';

/** What docs/workflow-json.md shows: a node, or a whole workflow. */
export type JsonBlock = Omit<INode, 'id'> & { nodes?: undefined };
export interface JsonWorkflow {
	name: string;
	nodes: Array<Omit<INode, 'id'>>;
	connections: Record<string, unknown>;
}

/** The blocks of JSON in a document. */
export const jsonBlocksOf = (markdown: string) =>
	[...markdown.matchAll(/^```json\n(.*?)^```$/gms)].map(
		([, text]) => JSON.parse(text!) as JsonBlock | JsonWorkflow,
	);
