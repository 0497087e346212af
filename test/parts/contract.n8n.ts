import './home';
import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import express, { type ErrorRequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';
import type { IDataObject } from 'n8n-workflow';
import { parse, stringify } from 'yaml';
import { startChild, temporaryFolder } from '../../dev/children';
import { installTools, NODE_24 } from '../../dev/install';
import { freePort, until } from '../../dev/n8n';
import { forget, outputOf, runWorkflow } from '../engine/engine';
import { FULL_FORMS } from '../fullForms';
import { KINDS, OPERATIONS } from '../serviceOperations';

const PRISM = '@stoplight/prism-cli@5.16.0';
const LINTERS = ['@redocly/cli@2.77.0', '@stoplight/spectral-cli@6.16.3'];
const CONTRACT = join(__dirname, '..', '..', 'sandbox', 'openapi.yaml');
const folder = temporaryFolder('contract');

/** The contract, in which each object may hold the documented members only. */
function strictContract(): string {
	const close = (value: unknown): unknown => {
		if (typeof value !== 'object' || value === null) return value;
		if (Array.isArray(value)) return value.map(close);
		const members = Object.entries(value).map(([name, member]) => [name, close(member)]);
		const closed = Object.fromEntries(members) as IDataObject;
		return 'properties' in closed ? { ...closed, additionalProperties: false } : closed;
	};
	const contract = close(parse(readFileSync(CONTRACT, 'utf8'))) as {
		paths: Record<string, { post: { responses: Record<string, unknown> } }>;
	};
	for (const { post } of Object.values(contract.paths)) {
		const schema = { type: 'object' };
		post.responses = {
			200: { description: 'Not shown', content: { 'application/json': { schema } } },
			default: { description: 'Not shown' },
		};
	}
	const file = join(folder, 'strict.yaml');
	writeFileSync(file, stringify(contract));
	return file;
}

const urls: Record<string, string> = {};
let prism: ChildProcess;
let validator: Server;

beforeAll(async () => {
	const contract = strictContract();
	const modules = await installTools('Prism', [PRISM]);
	const port = await freePort();
	const bin = join(modules, '@stoplight', 'prism-cli', 'dist', 'index.js');
	prism = startChild(
		NODE_24,
		[bin, 'mock', '--errors', '-h', '127.0.0.1', '-p', `${port}`, contract],
		{
			stdio: 'ignore',
		},
	);
	urls.Prism = `http://127.0.0.1:${port}`;
	await until('Prism', async () => (await fetch(urls.Prism!)).status === 404, 60);
	const app = express();
	app.use(express.json());
	const validateSecurity = { handlers: { accessToken: () => true } };
	app.use(middleware({ apiSpec: contract, validateRequests: true, validateSecurity }));
	app.post(/.*/, (_request, answer) => void answer.status(201).json({ ok: true }));
	const refuse: ErrorRequestHandler = (
		error: { status?: number; message: string },
		_q,
		answer,
		_n,
	) => void answer.status(error.status ?? 500).json({ message: error.message });
	app.use(refuse);
	validator = createServer(app).listen(0, '127.0.0.1');
	await once(validator, 'listening');
	urls['express-openapi-validator'] =
		`http://127.0.0.1:${(validator.address() as AddressInfo).port}`;
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
	if ('amount' in OPERATIONS[kind].members) form.amount = '={{ $json.amount }}';
	FORMS[`a ${OPERATIONS[kind].words.noun} with every field`] = form;
}
/** Numbers and identifiers as they come: typed, computed, and as text. */
const ITEMS = [
	{ amount: 10.5, id: 'order-1' },
	{ amount: '0.01', id: '00012345' },
	{ amount: 999999999999.99, id: 77 },
];

describe.each(['Prism', 'express-openapi-validator'])(
	'%s, on the contract made strict',
	(judge) => {
		afterEach(forget);

		test.each(Object.keys(FORMS))('takes %s', async (name) => {
			const credential = {
				baseUrl: urls[judge]!,
				accessToken: 'token',
				postbackSecret: 'a long secret of the test',
			};
			const run = await runWorkflow({ items: ITEMS, parameters: FORMS[name]!, credential });
			const outcomes = outputOf(run, 'Pay').map(({ json }) => `${json.outcome}`);
			expect(run.data.resultData.error).toBeUndefined();
			expect(outcomes).toStrictEqual(ITEMS.map(() => 'accepted'));
		});

		test('refuses a member that is not in the document, so it does judge', async () => {
			const run = await runWorkflow({
				items: [ITEMS[0]!],
				parameters: {
					...FORMS['a payment with every field'],
					options: { additionalMembers: '{ "creditParty": { "owner": "x" } }' },
				},
				credential: { baseUrl: urls[judge]!, accessToken: 'token' },
				settings: { onError: 'continueRegularOutput' },
			});
			expect(outputOf(run, 'Pay')[0]!.json).toMatchObject({ error: { outcome: 'rejected' } });
		});
	},
);

test('Redocly and Spectral find nothing to say of the contract', async () => {
	const modules = await installTools('linters of OpenAPI', LINTERS, { scripts: false });
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
	expect(other.stdout.trim()).toMatch(/^\[\]/);
});
