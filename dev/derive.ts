import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject, INodeProperties, INodePropertyCollection } from 'n8n-workflow';
import { buildSync } from 'esbuild';
import { format, getFileInfo, resolveConfig } from 'prettier';
import { stringify } from 'yaml';
import { sendingOperations } from '../nodes/Pay/operations';
import type { PlayedOperation } from '../sandbox/play';
import { requestPath, valuesAt } from '../nodes/Pay/service/contract';
import { sentences } from '../test/run/sentences';
import { EXAMPLES } from '../test/fullForms';
import { exampleNames, sourcesOf, withSources } from './examples';
import type { Workflow } from './n8n';

/*
 * Writes what follows from other files and is committed all the same, since people read it or n8n loads it as
 * a file: `npm run derive`. Tests say when one is stale (derived, docs, execution/sentences).
 */

const ROOT = join(__dirname, '..');
const WORKFLOW_JSON = 'docs/workflow-json.md';
const PRACTICE_SERVICE = 'examples/practice-service.json';

type Operation = (typeof sendingOperations)[number];

/** The type of a value in a body: that of its example. */
function typeAt({ requestOperation }: Operation, path: string): string {
	const [form] = EXAMPLES[requestOperation.kind].fullForms;
	return typeof valuesAt(form.sent, path)[0];
}

/** A schema of JSON Schema, as far as members of bodies need it. */
interface Schema {
	type: string;
	properties?: Record<string, Schema>;
	items?: Schema;
}

/** The members of an operation's body, in the order of their meanings. */
function bodyMembers(operation: Operation): Record<string, Schema> {
	const members: Record<string, Schema> = {};
	for (const path of Object.keys(operation.requestOperation.meanings)) {
		const value: Schema = { type: typeAt(operation, path) };
		const [name, inside] = path.split('.') as [string, string | undefined];
		if (inside === undefined) {
			members[name] = value;
		} else if (name.endsWith('[]')) {
			const list = (members[name.slice(0, -2)] ??= {
				type: 'array',
				items: { type: 'object', properties: {} },
			});
			list.items!.properties![inside] = value;
		} else {
			const group = (members[name] ??= { type: 'object', properties: {} });
			group.properties![inside] = value;
		}
	}
	return members;
}

/** The members that the editor asks for, whatever is chosen elsewhere. */
function requiredOf({ requestOperation, description }: Operation): string[] {
	return description
		.filter(({ name, required }) => required && Object.hasOwn(requestOperation.meanings, name))
		.filter(({ displayOptions }) => Object.keys(displayOptions?.show ?? {}).length === 2)
		.map(({ name }) => name)
		.sort();
}

const NOT_SHOWN = 'Which status, and with which body, is not shown';

/** The service's contract as the sandbox checks requests: paths and members, and no more. */
function openApi(): string {
	const paths: Record<string, object> = {};
	for (const operation of sendingOperations) {
		const { requestOperation, option } = operation;
		paths[requestPath(requestOperation, 'pay')] = {
			post: {
				operationId: requestOperation.kind,
				tags: [requestOperation.words.noun],
				summary: option.description,
				security: [{ accessToken: [] }],
				requestBody: {
					required: true,
					content: {
						'application/json': {
							schema: {
								type: 'object',
								required: requiredOf(operation),
								properties: bodyMembers(operation),
							},
						},
					},
				},
				responses: {
					'2XX': { description: `A success. ${NOT_SHOWN}` },
					'4XX': { description: `A rejection. ${NOT_SHOWN}` },
					default: { description: 'Not shown' },
				},
			},
		};
	}
	const document = {
		openapi: '3.1.0',
		info: {
			title: 'Instant Payment Service',
			version: 'v2',
			description:
				"What the service's document says of requests, and no more. Formats, lengths, allowed values, units, bounds, responses, errors and the form of postbacks are not shown there, so they are left open here.",
		},
		servers: [{ url: 'https://api.example.com' }],
		paths,
		components: { securitySchemes: { accessToken: { type: 'http', scheme: 'bearer' } } },
	};
	return `# Derived from nodes/Pay/operations: npm run derive\n${stringify(document, { aliasDuplicateObjects: false })}`;
}

/** The members of an operation's items that the editor shows before it ran. */
function preview({ requestOperation }: Operation): string {
	const properties: Record<string, object> = {
		external_id: { type: 'string' },
		amount: { type: 'number' },
		kind: { type: 'string' },
		outcome: { type: 'string' },
		statusCode: { type: 'integer' },
	};
	const { ownOutput } = EXAMPLES[requestOperation.kind];
	for (const [name, type] of Object.entries(ownOutput)) properties[name] = { type };
	properties.response = { type: 'object' };
	// Of a failed item, where the node continues.
	const words = { message: { type: 'string' }, description: { type: 'string' } };
	properties.error = { type: 'object', properties: { ...words, field: { type: 'string' } } };
	return JSON.stringify({ type: 'object', properties, version: 1 });
}

/** What a field holds unless somebody types something; a collection, what each field in it holds. */
function defaultOf(field: INodeProperties): unknown {
	if (field.type !== 'fixedCollection') return field.default;
	const groups = (field.options ?? []) as INodePropertyCollection[];
	return Object.fromEntries(
		groups.map(({ name, values }) => [
			name,
			Object.fromEntries(values.map((each) => [each.name, defaultOf(each)])),
		]),
	);
}

/** An example whose values come from the item, as they should in a workflow. */
function takenFromItem(typed: Readonly<IDataObject>, { meanings }: Operation['requestOperation']) {
	const taken = structuredClone(typed) as Record<string, unknown>;
	for (const [path, means] of Object.entries(meanings)) {
		// An address of a postback is the same for all items, and a list is shown as it is.
		if (path.includes('[]') || (means === 'control' && path !== 'external_id')) continue;
		const [name = '', inside] = path.split('.');
		if (inside === undefined) taken[name] = `={{ $json.${name} }}`;
		else (taken[name] as Record<string, unknown>)[inside] = `={{ $json.${inside} }}`;
	}
	return taken;
}

/** The node of an operation with every field filled in. */
function nodeWithEverything({ resource, option, requestOperation, description }: Operation) {
	const { fullForms } = EXAMPLES[requestOperation.kind];
	const typed = takenFromItem(fullForms[0].typed, requestOperation);
	const parameters: Record<string, unknown> = { resource, operation: option.value };
	for (const field of description) {
		// A hidden field keeps what was typed in the collection of its name.
		if (field.type === 'hidden') continue;
		if (field.name === 'options') {
			const options = (field.options as INodeProperties[]).map((each) => [
				each.name,
				defaultOf(each),
			]);
			parameters.options = Object.fromEntries(options);
		} else if (Object.hasOwn(typed, field.name)) {
			parameters[field.name] = typed[field.name];
		} else if (!fullForms.some(({ typed: other }) => Object.hasOwn(other, field.name))) {
			// No part of the body. What another way of typing a member would need is left out.
			parameters[field.name] = field.type === 'boolean' ? true : field.default;
		}
	}
	return {
		name: option.action,
		type: 'n8n-nodes-pay.pay',
		typeVersion: 1,
		position: [220, 0],
		parameters,
		credentials: { payApi: { id: 'CREDENTIAL_ID', name: 'Pay account' } },
	};
}

/** docs/workflow-json.md with its blocks "With everything" anew. @throws where an operation has none */
function workflowJson(): string {
	let text = readFileSync(join(ROOT, WORKFLOW_JSON), 'utf8');
	for (const operation of sendingOperations) {
		const heading = `\n## ${operation.option.action}\n`;
		const start = text.indexOf(heading);
		const mark = 'With everything:\n\n```json\n';
		const begin = text.indexOf(mark, start) + mark.length;
		const end = text.indexOf('```', begin);
		if (start < 0 || begin < start || text.indexOf('\n## ', start + 1) < end) {
			throw new Error(
				`${WORKFLOW_JSON} needs a section "## ${operation.option.action}" with a block of JSON after "With everything:"`,
			);
		}
		const block = JSON.stringify(nodeWithEverything(operation));
		text = `${text.slice(0, begin)}${block}\n${text.slice(end)}`;
	}
	return text;
}

/**
 * The source of the practice service's Code node: the sandbox's pure part as one readable file. n8n's Code
 * node imports nothing.
 */
function practiceService(): string {
	const { outputFiles } = buildSync({
		entryPoints: [join(ROOT, 'sandbox/play.ts')],
		bundle: true,
		write: false,
		// Without the helpers of other formats: n8n's Code node has no Object.defineProperty that works.
		format: 'esm',
		target: 'node20',
		charset: 'utf8',
		logLevel: 'error',
	});
	const operations = sendingOperations.map((operation): PlayedOperation => {
		const { kind, path } = operation.requestOperation;
		const names = requiredOf(operation);
		return { kind, path, required: names.map((name) => [name, typeAt(operation, name)]) };
	});
	return `// Derived from sandbox/play.ts: npm run derive
// What is asked must be as the service's document says; what is answered is made up.
${outputFiles[0]!.text.replace(/export \{[^}]*\};\s*$/, '')}
return play($json, $execution.id, ${JSON.stringify(operations)});
`;
}

/** The node of the practice service that takes the requests of an operation. */
function requestNode(
	{ requestOperation, option }: Operation,
	path: string,
	position: [number, number],
) {
	return {
		parameters: {
			httpMethod: 'POST',
			path,
			responseMode: 'responseNode',
			options: {},
		},
		name: `${option.action} request`,
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		position,
		webhookId: `practice-service-${requestOperation.kind}`,
	};
}

/** The practice service with a node for the requests of each operation. Those that are there stay as they are. */
function practiceWorkflow(): string {
	const workflow = JSON.parse(readFileSync(join(ROOT, PRACTICE_SERVICE), 'utf8')) as Workflow;
	const paths = workflow.nodes
		.map(({ parameters }) => (parameters as { path?: string }).path)
		.filter((path) => path?.startsWith('v2/'));
	for (const operation of sendingOperations) {
		const path = requestPath(operation.requestOperation, 'pay').slice(1);
		if (paths.includes(path)) continue;
		// Left of the first two and between them, where its wire crosses none.
		const node = requestNode(operation, path, [-220 * (paths.length - 1), 100]);
		paths.push(path);
		workflow.nodes.push(node);
		const next = { node: 'What the service does', type: 'main', index: 0 };
		workflow.connections[node.name] = { main: [[next]] };
	}
	return JSON.stringify(workflow, null, '\t');
}

/** What is derived, by its path, as it is to be. */
export async function derived(): Promise<Map<string, string>> {
	const texts = new Map([
		['sandbox/openapi.yaml', openApi()],
		[WORKFLOW_JSON, workflowJson()],
		['examples/practice-service/What the service does.js', practiceService()],
		[PRACTICE_SERVICE, practiceWorkflow()],
	]);
	for (const operation of sendingOperations) {
		const { resource, option } = operation;
		texts.set(`nodes/Pay/__schema__/v1.0.0/${resource}/${option.value}.json`, preview(operation));
	}
	for (const [path, text] of texts) texts.set(path, await formatted(path, text));
	return texts;
}

/** A text as Prettier has it; as it is where Prettier does not know its language. */
async function formatted(path: string, text: string): Promise<string> {
	const filepath = join(ROOT, path);
	const { inferredParser } = await getFileInfo(filepath);
	if (inferredParser === null) return text;
	return await format(text, { ...(await resolveConfig(filepath)), filepath });
}

/** Writes all that is derived; then the sources of the examples into their workflows; then the sentences. */
async function derive(): Promise<void> {
	const write = (path: string, text: string) => writeFileSync(join(ROOT, path), text);
	for (const [path, text] of await derived()) write(path, text);
	for (const name of exampleNames()) {
		for (const path of sourcesOf(name).values()) {
			const source = `examples/${path}`;
			write(source, await formatted(source, readFileSync(join(ROOT, source), 'utf8')));
		}
		const workflow = `examples/${name}.json`;
		write(workflow, await formatted(workflow, JSON.stringify(withSources(name), null, '\t')));
	}
	write('test/run/sentences.txt', sentences());
}

if (require.main === module) void derive();
