import './home';
import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import express, { type ErrorRequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';
import type { IDataObject } from 'n8n-workflow';
import { parse, stringify } from 'yaml';
import { startChild, temporaryFolder } from '../../dev/children';
import { PROGRAMS } from '../../dev/versions';
import { installTools, NODE_24 } from '../../dev/install';
import { freePort, until } from '../../dev/n8n';
import { forget, outputOf, runWorkflow } from '../../test/engine/engine';
import { FULL_FORMS, KINDS, OPERATIONS } from '../../test/serviceOperations';
import { listen, type Listening } from '../../test/listen';

const CONTRACT = join(__dirname, '..', '..', 'sandbox', 'openapi.yaml');
const folder = temporaryFolder('contract');

/** A schema in which each object may hold the members that it names, and no more. */
function closed(value: unknown): unknown {
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map(closed);
	const copy: IDataObject = {};
	for (const [name, member] of Object.entries(value)) copy[name] = closed(member) as IDataObject;
	if ('properties' in copy) copy.additionalProperties = false;
	return copy;
}

/** The contract made strict, as a file; what it does not show of responses may be anything. */
function strictContract(): string {
	const contract = closed(parse(readFileSync(CONTRACT, 'utf8'))) as {
		paths: Record<string, { post: { responses: Record<string, unknown> } }>;
	};
	for (const { post } of Object.values(contract.paths)) {
		const content = { 'application/json': { schema: { type: 'object' } } };
		post.responses = {
			200: { description: 'Not shown', content },
			default: { description: 'Not shown' },
		};
	}
	const file = join(folder, 'strict.yaml');
	writeFileSync(file, stringify(contract));
	return file;
}

/** The address of each judge. */
const urls = { Prism: '', 'express-openapi-validator': '' };
let prism: ChildProcess;
let validator: Listening | undefined;

/** Prism, which answers as the contract says and refuses what it does not. */
async function startPrism(contract: string): Promise<string> {
	const modules = await installTools('Prism', [PROGRAMS.prism]);
	const port = await freePort();
	const bin = join(modules, '@stoplight', 'prism-cli', 'dist', 'index.js');
	const args = ['mock', '--errors', '-h', '127.0.0.1', '-p', `${port}`, contract];
	prism = startChild(NODE_24, [bin, ...args], { stdio: 'ignore' });
	const url = `http://127.0.0.1:${port}`;
	await until('Prism', async () => (await fetch(url)).status === 404, 60);
	return url;
}

async function startValidator(contract: string): Promise<string> {
	const app = express();
	app.use(express.json());
	app.use(
		middleware({
			apiSpec: contract,
			validateRequests: true,
			validateSecurity: { handlers: { accessToken: () => true } },
		}),
	);
	app.post(/.*/, (_request, answer) => void answer.status(201).json({ ok: true }));
	const refuse: ErrorRequestHandler = (error, _request, answer, _next) => {
		const { status = 500, message } = error as { status?: number; message: string };
		answer.status(status).json({ message });
	};
	app.use(refuse);
	validator = await listen(app);
	return validator.url;
}

beforeAll(async () => {
	const contract = strictContract();
	urls.Prism = await startPrism(contract);
	urls['express-openapi-validator'] = await startValidator(contract);
});
afterAll(async () => {
	if (prism?.exitCode === null) {
		prism.kill();
		await once(prism, 'exit');
	}
	validator?.close();
	rmSync(folder, { recursive: true, force: true });
	rmSync(process.env.N8N_USER_FOLDER!, { recursive: true, force: true });
});

/** Forms whose values come from the items; an operation without an amount has no field for one. */
const FORMS: Record<string, IDataObject> = {
	'a QR code with the required fields': {
		resource: 'qrCode',
		amount: '={{ $json.amount }}',
		external_id: '={{ $json.id }}',
		postback: 'none',
	},
};
for (const kind of KINDS) {
	const form: IDataObject = { ...FULL_FORMS[kind], external_id: '={{ $json.id }}' };
	form.amount = '={{ $json.amount }}';
	FORMS[`a ${OPERATIONS[kind].words.noun} with every field`] = form;
}
/** Numbers and identifiers as they come: typed, computed, and as text. */
const ITEMS = [
	{ amount: 10.5, id: 'order-1' },
	{ amount: '0.01', id: '00012345' },
	{ amount: 999999999999.99, id: 77 },
];

describe.each(['Prism', 'express-openapi-validator'] as const)(
	'%s, on the contract made strict',
	(judge) => {
		afterEach(forget);

		test.each(Object.keys(FORMS))('takes %s', async (name) => {
			const run = await runWorkflow({
				items: ITEMS,
				parameters: FORMS[name]!,
				credential: {
					baseUrl: urls[judge],
					accessToken: 'token',
					postbackSecret: 'a long secret of the test',
				},
			});
			expect(run.data.resultData.error).toBeUndefined();
			const outcomes = outputOf(run, 'Pay').map(({ json }) => json.outcome);
			expect(outcomes).toStrictEqual(['accepted', 'accepted', 'accepted']);
		});

		test('refuses a member that is not in the document, so it does judge', async () => {
			const run = await runWorkflow({
				items: [ITEMS[0]!],
				parameters: {
					...FORMS['a payment with every field'],
					options: { additionalMembers: '{ "creditParty": { "owner": "x" } }' },
				},
				credential: { baseUrl: urls[judge], accessToken: 'token' },
				settings: { onError: 'continueRegularOutput' },
			});
			expect(outputOf(run, 'Pay')[0]!.json).toMatchObject({ outcome: 'rejected' });
		});
	},
);

test('Redocly and Spectral find nothing to say of the contract', async () => {
	const modules = await installTools('linters of OpenAPI', PROGRAMS.linters, { scripts: false });
	const rules = join(folder, '.spectral.yaml');
	writeFileSync(rules, 'extends: ["spectral:oas"]\n');
	const run = promisify(execFile);
	const options = { cwd: folder, env: { PATH: process.env.PATH, REDOCLY_TELEMETRY: 'off' } };
	const redocly = join(modules, '@redocly', 'cli', 'bin', 'cli.js');
	const spectral = join(modules, '@stoplight', 'spectral-cli', 'dist', 'index.js');
	const [one, other] = await Promise.all([
		run(NODE_24, [redocly, 'lint', '--format=json', CONTRACT], options),
		run(NODE_24, [spectral, 'lint', '-r', rules, '-f', 'json', CONTRACT], options),
	]);
	expect((JSON.parse(one.stdout) as { problems: object[] }).problems).toStrictEqual([]);
	expect(other.stdout.trim()).toBe("[]No results with a severity of 'error' found!");
});
