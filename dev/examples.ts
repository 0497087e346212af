import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, parse } from 'node:path';
import type { Workflow } from './n8n';

const EXAMPLES = join(__dirname, '..', 'examples');

/** The names of all examples: those of their files, without ".json". */
export function exampleNames(): string[] {
	return readdirSync(EXAMPLES)
		.filter((file) => extname(file) === '.json')
		.map((file) => parse(file).name);
}

/** Where a node keeps its source, by the node's type, and how a source in JavaScript stands there. */
const PLACES: Record<string, { parameter: string; isExpression: boolean }> = {
	'n8n-nodes-base.code': { parameter: 'jsCode', isExpression: false },
	'n8n-nodes-base.postgres': { parameter: 'query', isExpression: false },
	'n8n-nodes-base.respondToWebhook': { parameter: 'responseBody', isExpression: true },
	'n8n-nodes-base.set': { parameter: 'jsonOutput', isExpression: true },
};

/** A source as the value of its node's parameter. */
function valueOf(text: string, extension: string, isExpression: boolean): string {
	// A page is text with expressions of its own.
	if (extension === '.html') return `=${text}`;
	// n8n takes one expression between the braces, not a statement with its semicolon.
	if (isExpression) return `={{ ${text.replace(/;$/, '')} }}`;
	return text;
}

/** The sources of an example, as paths below the folder of examples, by the nodes that run them. */
export function sourcesOf(name: string): Map<string, string> {
	const sources = new Map<string, string>();
	const folder = join(EXAMPLES, name);
	for (const file of existsSync(folder) ? readdirSync(folder) : []) {
		// A workflow's own file is what sets it up.
		const nodeName = parse(file).name === name ? 'Set up' : parse(file).name;
		sources.set(nodeName, `${name}/${file}`);
	}
	return sources;
}

/**
 * An example with the sources in their nodes: "examples/NAME/NODE.js" (.sql, .html) is the source of the
 * node NODE in "examples/NAME.json"; "examples/NAME/NAME.sql" is that of its node "Set up".
 * @throws where a source has no node, or a node that holds none
 */
export function withSources(name: string): Workflow {
	const text = readFileSync(join(EXAMPLES, `${name}.json`), 'utf8');
	const workflow = JSON.parse(text) as Workflow;
	for (const [nodeName, path] of sourcesOf(name)) {
		const node = workflow.nodes.find((each) => each.name === nodeName);
		const place = PLACES[node?.type ?? ''];
		if (node === undefined || place === undefined)
			throw new Error(`examples/${path}: no node of that name holds a source`);
		const source = readFileSync(join(EXAMPLES, path), 'utf8').trimEnd();
		const value = valueOf(source, extname(path), place.isExpression);
		node.parameters = { ...(node.parameters as object), [place.parameter]: value };
	}
	return workflow;
}
