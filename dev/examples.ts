import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, parse } from 'node:path';
import { example } from './demo';
import type { Workflow } from './n8n';

const EXAMPLES = join(__dirname, '..', 'examples');

/** The names of all examples: those of their files, without ".json". */
export function exampleNames(): string[] {
	return readdirSync(EXAMPLES)
		.filter((file) => extname(file) === '.json')
		.map((file) => parse(file).name);
}

/** Where a node keeps its source, by the node's type, and how the source stands there. */
const PLACES: Record<string, { parameter: string; isExpression: boolean }> = {
	'n8n-nodes-base.code': { parameter: 'jsCode', isExpression: false },
	'n8n-nodes-base.postgres': { parameter: 'query', isExpression: false },
	'n8n-nodes-base.respondToWebhook': { parameter: 'responseBody', isExpression: true },
	'n8n-nodes-base.set': { parameter: 'jsonOutput', isExpression: true },
};

/** Sources that several examples share, by the node that runs them. */
const SHARED: Record<string, string> = {
	'Set up': 'payout-register/register.sql',
};

/**
 * An example with the sources in their nodes: "examples/NAME/NODE.js" (or .sql) is the source of the
 * node NODE in "examples/NAME.json", and each node of {@link SHARED} has the source that stands there.
 * @throws where a source has no node, or a node that holds none
 */
export function withSources(name: string): Workflow {
	const workflow = example(name);
	const folder = join(EXAMPLES, name);
	const shared = Object.entries(SHARED);
	const sources = (existsSync(folder) ? readdirSync(folder) : [])
		.filter((source) => !shared.some(([, path]) => path === `${name}/${source}`))
		.map((source) => ({ nodeName: parse(source).name, path: `${name}/${source}` }));
	for (const [nodeName, path] of shared) {
		if (workflow.nodes.some((each) => each.name === nodeName)) sources.push({ nodeName, path });
	}
	for (const { nodeName, path } of sources) {
		const node = workflow.nodes.find((each) => each.name === nodeName);
		const place = PLACES[node?.type ?? ''];
		if (node === undefined || place === undefined)
			throw new Error(`examples/${path}: no node of that name holds a source`);
		const text = readFileSync(join(EXAMPLES, path), 'utf8').trimEnd();
		// n8n takes one expression between the braces, not a statement with its semicolon.
		const value = place.isExpression ? `={{ ${text.replace(/;$/, '')} }}` : text;
		node.parameters = { ...(node.parameters as object), [place.parameter]: value };
	}
	return workflow;
}

if (require.main === module) {
	for (const name of exampleNames())
		writeFileSync(
			join(EXAMPLES, `${name}.json`),
			`${JSON.stringify(withSources(name), null, '\t')}\n`,
		);
}
