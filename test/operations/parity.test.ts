import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { middleware } from 'express-openapi-validator';
import { Workflow, type INode, type INodeTypes } from 'n8n-workflow';
import { parse } from 'yaml';
import { requestPath, PATHS } from '../../nodes/Pay/service/contract';
import { Pay } from '../../nodes/Pay/Pay.node';
import { headingsOf, sectionOf } from '../markdown';
import { REGISTERED } from '../serviceOperations';

const ROOT = join(__dirname, '..', '..');

test('openapi.yaml has no fault by the OpenAPI standard', async () => {
	const text = readFileSync(join(ROOT, 'sandbox/openapi.yaml'), 'utf8');
	const apiSpec = parse(text) as Parameters<typeof middleware>[0]['apiSpec'];
	const [first] = middleware({ apiSpec, validateApiSpec: true }) as [RequestHandler];
	const error = await new Promise<unknown>((done) => {
		void first({ app: express() } as unknown as Request, {} as Response, done);
	});
	expect(error).toBeUndefined();
});

/** A section of sandbox/contract.md by its number. */
function section(number: string): string {
	const file = 'sandbox/contract.md';
	const found = headingsOf(file).find(({ title }) => title.startsWith(`${number} `));
	return found === undefined ? '' : sectionOf(file, `### ${found.title}`);
}

/** The members that a section lists: of each its type, whether it must be there, and what is inside of it. */
function membersIn(text: string): Record<string, string> {
	const members: Record<string, string> = {};
	for (const [, name, facts, rest = ''] of text.matchAll(/^- `(\w+)`, (.+?): (.+)$/gm)) {
		const [, inside = ''] = rest.split(' with ');
		members[name!] = [facts, ...[...inside.matchAll(/`(\w+)`/g)].map(([, each]) => each)].join(' ');
	}
	return members;
}

/** The same of an operation, as its meanings and an example of its body say. */
function documented({ operation, description, fullForms }: (typeof REGISTERED)[number]) {
	const members: Record<string, string> = {};
	for (const path of Object.keys(operation.meanings)) {
		const [name, inside] = path.split('.') as [string, string | undefined];
		if (inside === undefined) {
			const isRequired = description.some((field) => field.name === name && field.required);
			const facts = isRequired && name !== 'postbackUrl' ? ', required' : '';
			members[name] = `a ${typeof fullForms[0].sent[name]}${facts}`;
			continue;
		}
		const member = name.replace('[]', '');
		members[member] ??= member === name ? 'an object' : 'a list of objects';
		members[member] += ` ${inside}`;
	}
	return members;
}

test('a path is that of one operation, and no other may be pasted', () => {
	const paths = REGISTERED.map(({ operation }) => operation.path);
	expect(paths.sort()).toStrictEqual([...PATHS].sort());
});

describe.each(REGISTERED.map((each) => [each.operation.kind, each] as const))(
	'%s',
	(_kind, each) => {
		const { operation, sections } = each;

		test("sandbox/contract.md, which is written from the service's document, says its members and path", () => {
			expect(membersIn(section(sections.members))).toStrictEqual(documented(each));
			expect(section(sections.path)).toContain(`${requestPath(operation, 'pay')}\``);
		});

		test('sandbox/contract.md says how many go out at a time', () => {
			const { batchSize, words } = operation;
			const noun = batchSize === 1 ? words.noun : words.plural;
			expect(sectionOf('sandbox/contract.md', '## 8. Limits')).toContain(`${batchSize} ${noun}`);
		});
	},
);

const ANA = { key: 'ana@example.com' };
const OF_ITEM = { key: '={{ $json.key }}' };
test.each([
	['payment', { amount: '12.50', creditParty: ANA }, 'Payment of 12.50 to ana@example.com'],
	['payment', { amount: '12.50', creditParty: OF_ITEM }, 'Payment of 12.50'],
	['payment', { amount: '={{ $json.amount }}' }, 'Payment'],
	// The key was typed for a payment, before the charge was chosen.
	['qrCode', { amount: '12.50', creditParty: ANA }, 'QR code of 12.50'],
	['qrCode', { amount: '={{ $json.amount }}' }, 'QR code'],
	['postback', { amount: '12.50' }, 'Wait for postback'],
	['refund', {}, ''],
])('under the node of a %s with %j the canvas says "%s"', (resource, typed, shown) => {
	const pay = new Pay();
	const node: INode = {
		id: '1',
		name: 'Pay',
		type: 'pay',
		typeVersion: 1,
		position: [0, 0],
		parameters: { resource, ...typed },
	};
	const nodeTypes = { getByNameAndVersion: () => pay } as unknown as INodeTypes;
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const { subtitle } = pay.description;
	expect(workflow.expression.getSimpleParameterValue(node, subtitle, 'internal', {})).toBe(shown);
});
