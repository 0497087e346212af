import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { middleware } from 'express-openapi-validator';
import {
	Workflow,
	type INode,
	type INodeProperties,
	type INodePropertyCollection,
	type INodeTypes,
} from 'n8n-workflow';
import { parse } from 'yaml';
import { externalIdField } from '../../nodes/Pay/parameters/text';
import { isTree, pathOf, PATHS, type Member } from '../../nodes/Pay/service/contract';
import { Pay } from '../../nodes/Pay/Pay.node';
import { resources } from '../../nodes/Pay/operations';
import { CARDS } from '../../sandbox/page';
import { sectionOf, sectionsCitedIn } from '../markdown';
import { REGISTERED, type Kind } from '../serviceOperations';

const ROOT = join(__dirname, '..', '..');

/** A set of fields as `name: type` lines, nested ones with a dot. */
type Fields = string[];

interface Schema {
	type?: string;
	properties?: Record<string, Schema>;
	items?: Schema;
	$ref?: string;
}

const TEXT = readFileSync(join(ROOT, 'sandbox/openapi.yaml'), 'utf8');
const openApi = parse(TEXT) as {
	components: { schemas: Record<string, Schema & { required?: string[] }> };
	paths: Record<
		string,
		{ post: { requestBody: { content: { 'application/json': { schema: { $ref: string } } } } } }
	>;
};

function fieldsOfSchema(schema: Schema, prefix = ''): Fields {
	if (schema.$ref)
		return fieldsOfSchema(openApi.components.schemas[schema.$ref.split('/').at(-1)!]!, prefix);
	if (schema.type === 'array') return fieldsOfSchema(schema.items!, `${prefix}[]`);
	if (schema.type !== 'object') return [`${prefix}: ${schema.type}`];
	return Object.entries(schema.properties!).flatMap(([name, member]) =>
		fieldsOfSchema(member, prefix === '' ? name : `${prefix}.${name}`),
	);
}

/** The members of the contract, which the types of the two bodies are derived from. */
function fieldsOfTree(member: Member, prefix = ''): Fields {
	if (typeof member === 'string') return [`${prefix}: ${member}`];
	if (!isTree(member)) return fieldsOfTree(member[0], `${prefix}[]`);
	return Object.entries(member).flatMap(([name, below]) =>
		fieldsOfTree(below, prefix === '' ? name : `${prefix}.${name}`),
	);
}

/** Parameters that decide about the request, but are no part of its body. */
const NOT_IN_THE_BODY = [
	'postback',
	'specifySplit',
	'splitJson',
	'options',
	'qrCodeImage',
	'binaryPropertyName',
];

/** Numbers that people type: as text, since a browser's number input drops a typed comma. */
const TYPED_NUMBERS = ['amount', 'percentageSplit'];

function fieldsOfParameters(properties: INodeProperties[], prefix = ''): Fields {
	// A hidden field keeps what was typed in the collection of its name.
	const shown = properties.filter(({ type }) => type !== 'hidden');
	return shown.flatMap((property) => {
		const name = prefix === '' ? property.name : `${prefix}.${property.name}`;
		if (property.type === 'collection') {
			return fieldsOfParameters(property.options as INodeProperties[], name);
		}
		if (property.type === 'fixedCollection') {
			const [group] = property.options as INodePropertyCollection[];
			return fieldsOfParameters(group!.values, `${name}[]`);
		}
		const typed = TYPED_NUMBERS.includes(property.name);
		if (typed) expect(property.type).toBe('string');
		return [`${name}: ${typed ? 'number' : property.type}`];
	});
}

test.each<[string, [string, string], unknown]>([
	['has no fault', ['', ''], undefined],
	['with a type that does not exist has one', ['type: object', 'type: none'], expect.any(Error)],
])('by the OpenAPI standard openapi.yaml %s', async (_what, [from, to], expected) => {
	const apiSpec = parse(TEXT.replace(from, to)) as Parameters<typeof middleware>[0]['apiSpec'];
	const [first] = middleware({ apiSpec, validateApiSpec: true }) as [RequestHandler];
	const error = await new Promise<unknown>((done) => {
		void first({ app: express() } as unknown as Request, {} as Response, done);
	});
	expect(error).toStrictEqual(expected);
});

/** The schema of the body that openapi.yaml has for an operation. */
function schemaOf({ path }: Parameters<typeof pathOf>[0]) {
	const documented = openApi.paths[pathOf({ path }, 'pay')];
	// Its path is asked for above; here the other tests are to run, too.
	if (documented === undefined) return { type: 'object', properties: {} };
	const { $ref } = documented.post.requestBody.content['application/json'].schema;
	return openApi.components.schemas[$ref.split('/').at(-1)!]!;
}

/** The sections of docs/service.md that say an operation's members and its path. */
const SECTIONS: Record<Kind, { members: string; path: string }> = {
	payment: { members: '### 2.2 Payment request', path: '### 4.2 Make payment' },
	qrCode: { members: '### 2.1 QR code request', path: '### 4.1 Generate QR code' },
};
/** The members that the editor shows of an operation's output before it ran. */
function previewOf(resource: string, operation: string): string[] {
	const file = join(ROOT, 'nodes/Pay/__schema__/v1.0.0', resource, `${operation}.json`);
	const { properties = {} } = JSON.parse(readFileSync(file, 'utf8')) as Schema;
	return Object.keys(properties);
}

test('openapi.yaml has the paths of the registered operations, and no others', () => {
	const registered = REGISTERED.map(({ operation }) => pathOf(operation, 'pay'));
	expect(Object.keys(openApi.paths).sort()).toStrictEqual(registered.sort());
});

test.each(
	resources.flatMap(({ value, operations }) =>
		operations.map(({ option }) => [value, option.value] as const),
	),
)('the editor has a preview of the output of %s %s', (resource, operation) => {
	expect(previewOf(resource, operation).length).toBeGreaterThan(0);
});

test('a kind is that of one operation', () => {
	const kinds = REGISTERED.map(({ kind }) => kind);
	expect(new Set(kinds).size).toBe(kinds.length);
});

test('a path is that of one operation, and no other may be pasted', () => {
	const paths = REGISTERED.map(({ operation }) => operation.path);
	expect(paths.sort()).toStrictEqual([...PATHS].sort());
});

describe.each(REGISTERED.map((each) => [each.operation.kind, each] as const))(
	'%s',
	(kind, each) => {
		const { operation, description } = each;
		const schema = schemaOf(operation);
		const body = description.filter(({ name }) => !NOT_IN_THE_BODY.includes(name));

		test('the editor, the types and openapi.yaml have the same fields and types', () => {
			const documented = fieldsOfSchema(schema).sort();
			expect(documented).toContain('external_id: string');
			expect(fieldsOfTree(operation.members).sort()).toStrictEqual(documented);
			expect(fieldsOfParameters(body).sort()).toStrictEqual(documented);
		});

		test('docs/service.md has its path and each of its members in its own sections', () => {
			const sections = SECTIONS[kind as Kind];
			const membersInDocument = sectionOf('docs/service.md', sections.members);
			const names = fieldsOfSchema(schema).flatMap((line) =>
				line.split(':')[0]!.split(/\.|\[\]\.?/),
			);
			expect(names.filter((name) => !membersInDocument.includes(`\`${name}\``))).toStrictEqual([]);
			const path = pathOf(operation, 'pay');
			expect(sectionOf('docs/service.md', sections.path)).toContain(`${path}\``);
		});

		test('its comments cite its own sections of docs/service.md', () => {
			const { members, path } = SECTIONS[kind as Kind];
			const own = [members, path].map((heading) => heading.split(' ')[1]);
			const file = `nodes/Pay/operations/${each.resource}/${each.option.value}.operation.ts`;
			const cited = sectionsCitedIn(readFileSync(join(ROOT, file), 'utf8'));
			expect([...new Set(cited)].sort()).toStrictEqual(own.sort());
		});

		test('docs/service.md says how many go out at a time', () => {
			const { batchSize, words } = operation;
			const noun = batchSize === 1 ? words.noun : words.plural;
			expect(sectionOf('docs/service.md', '## 8. Limits')).toContain(`${batchSize} ${noun}`);
		});

		test('the preview of its output has what every item has, and an amount where there is one', () => {
			const preview = previewOf(each.resource, each.option.value);
			const always = ['external_id', 'kind', 'outcome', 'statusCode', 'response'];
			expect(preview).toStrictEqual(expect.arrayContaining(always));
			expect(preview.includes('amount')).toBe('amount' in operation.members);
		});

		test('its External ID is described as what it is of', () => {
			const field = description.find(({ name }) => name === 'external_id');
			expect(field?.description).toBe(externalIdField(operation.identifier).description);
		});

		test("the sandbox's page has words for it", () => {
			expect(Object.keys(CARDS)).toContain(kind);
		});

		test('the canvas names it by its words', () => {
			const pay = new Pay();
			const node: INode = {
				id: '1',
				name: 'Pay',
				type: 'pay',
				typeVersion: 1,
				position: [0, 0],
				parameters: { resource: each.resource, operation: each.option.value, amount: '12.50' },
			};
			const nodeTypes = { getByNameAndVersion: () => pay } as unknown as INodeTypes;
			const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
			const { subtitle } = pay.description;
			const shown = workflow.expression.getSimpleParameterValue(node, subtitle, 'internal', {});
			const { noun } = operation.words;
			// n8n keeps the amount that was typed for another operation.
			const amount = 'amount' in operation.members ? ' of 12.50' : '';
			expect(shown).toBe(`${noun.charAt(0).toUpperCase()}${noun.slice(1)}${amount}`);
		});

		test('the required fields are required in the editor', () => {
			const required = body.filter(
				(field) => field.required && !field.displayOptions?.show?.postback,
			);
			expect(required.map(({ name }) => name).sort()).toStrictEqual([...schema.required!].sort());
		});
	},
);

test('the editor offers the registered operations, and each shows its own fields only', () => {
	const { properties } = new Pay().description;
	const [resource] = properties.filter(({ name }) => name === 'resource');
	expect(resource!.options!.map((option) => (option as { value: string }).value)).toStrictEqual(
		resources.map(({ value }) => value),
	);
	const choices = properties.filter(({ name }) => name === 'operation');
	const offered = choices.flatMap(({ displayOptions, options }) =>
		options!.map(
			(option) => `${displayOptions!.show!.resource} ${(option as { value: string }).value}`,
		),
	);
	const registered = resources.flatMap(({ value, operations }) =>
		operations.map(({ option }) => `${value} ${option.value}`),
	);
	expect(offered).toStrictEqual(registered);
	for (const { value, operations } of resources) {
		for (const { option, description } of operations) {
			for (const field of description) {
				expect(field.displayOptions?.show).toMatchObject({
					resource: [value],
					operation: [option.value],
				});
			}
		}
	}
});
