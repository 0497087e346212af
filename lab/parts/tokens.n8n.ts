import './home';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { endChild, startChild } from '../../dev/children';
import { PROGRAMS } from '../../dev/versions';
import { installN8n, installTools, NODE_24 } from '../../dev/install';
import { bearerToken } from '../../nodes/Pay/account/token';
import { readAccount } from '../../nodes/Pay/account/account';
import { testPayCredential } from '../../nodes/Pay/account/credentialTest';
import { tokenPoster } from '../../nodes/Pay/service/client';
import { forget, outputOf, runWorkflow } from '../../test/engine/engine';
import { NEWEST } from '../../test/n8n/nodes';
import { credentialRequest, requestHelper } from '../../test/wire/requestHelper';

/** Characters that the two ways to send a secret encode differently, if at all. */
const SECRET = 's:e+c%r&e=t /"~';
/** Those of them that a service may decode in the header, while clients send them as they are. */
const IN_HEADER = SECRET.replace(/[+%]/g, '');

interface Row {
	name: string;
	/** Beside those of a good credential. */
	data: Record<string, string>;
	/** What the credential's test says; absent, where it passes. */
	test?: string;
	/** Why a run gets no token; absent, where it gets one. */
	run?: string;
}

const WRONG_CLIENT = 'HTTP 401, invalid_client';
const BY_BODY = { clientId: 'post', clientSecret: SECRET, clientAuthentication: 'body' };
const ROWS: Row[] = [
	{ name: 'Basic', data: {} },
	{ name: 'the body', data: BY_BODY },
	{
		name: 'Basic, with a secret that has + and %',
		data: { clientId: 'strict', clientSecret: SECRET },
		test: 'For a secret with + or %, try "Body" first.',
		run: 'HTTP 400, invalid_request',
	},
	{ name: 'the body, for that secret', data: { ...BY_BODY, clientId: 'strict' } },
	{ name: 'no scope', data: { clientId: 'none', scope: '' } },
	{ name: 'a wrong secret', data: { clientSecret: 'x' }, test: WRONG_CLIENT, run: WRONG_CLIENT },
	// It takes one way for the other.
	{ name: 'the body instead of Basic', data: { clientAuthentication: 'body' } },
	{
		name: 'a scope that another client may have',
		data: { clientId: 'reader' },
		test: 'HTTP 400, invalid_scope',
		run: 'HTTP 400, invalid_scope',
	},
	{
		name: 'a scope that nobody knows, beside a known one',
		data: { scope: 'pay.read pay.admin' },
		test: 'did not grant pay.admin',
	},
	{
		name: 'the address for people',
		data: { tokenUrl: '/auth' },
		test: 'token endpoint',
		run: 'token endpoint',
	},
	{ name: 'a redirect', data: { tokenUrl: '/moved' }, test: 'HTTP 307', run: 'HTTP 307' },
	{
		name: 'https: at the port of http:',
		data: { tokenUrl: 'https:' },
		test: 'does not use https',
		run: 'does not use https',
	},
];

let server: ChildProcess;
let at: { issuer: string; service: string };

beforeAll(async () => {
	const modules = await installTools('oidc-provider', [PROGRAMS.oidcProvider]);
	const main = join(modules, 'oidc-provider', 'lib', 'index.js');
	server = startChild(NODE_24, [join(__dirname, 'tokenServer.mjs'), main, SECRET], {
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	const [said] = (await once(server.stdout!, 'data')) as [Buffer];
	at = JSON.parse(said.toString()) as typeof at;
});
afterAll(async () => {
	await endChild(server);
	rmSync(process.env.N8N_USER_FOLDER!, { recursive: true, force: true });
});

/** A credential as n8n keeps it. */
function credential({ tokenUrl = '/token', ...more }: Record<string, string> = {}) {
	return {
		baseUrl: at.service,
		authentication: 'clientCredentials',
		clientId: 'basic',
		clientSecret: IN_HEADER,
		scope: 'pay.read pay.write',
		clientAuthentication: 'header',
		tokenUrl:
			tokenUrl === 'https:'
				? at.issuer.replace('http:', 'https:') + '/token'
				: at.issuer + tokenUrl,
		...more,
	};
}

describe.each(NEWEST)('tokens of oidc-provider, n8n %s', (version) => {
	let modules: string;
	beforeAll(async () => {
		modules = join((await installN8n(version)).folder, 'node_modules');
	});

	test.each(ROWS)("$name: the credential's test", async ({ data, test: words }) => {
		const context = { helpers: { request: credentialRequest(modules) } } as never;
		const given = { data: credential(data) } as never;
		const { status, message } = await testPayCredential.call(context, given);
		expect({ status, message }).toStrictEqual({
			status: words === undefined ? 'OK' : 'Error',
			message: expect.stringContaining(words ?? ''),
		});
	});

	/** Asks for a token as a run does. */
	async function tokenOfRun(data: Record<string, string>): Promise<string> {
		const post = tokenPoster(requestHelper(modules), 20_000);
		// Each row and version is a client of its own to the memory of tokens: another address.
		const account = readAccount({ ...credential(data), baseUrl: at.service });
		return (await bearerToken(account, post, { timeout: 20_000 })).accessToken;
	}

	test.each(ROWS.filter(({ run }) => run === undefined))(
		'$name: a run gets a token',
		async ({ data }) => {
			expect(await tokenOfRun(data)).not.toBe('');
		},
	);

	test.each(ROWS.filter(({ run }) => run !== undefined))(
		'$name: a run gets no token, and says why',
		async ({ data, run }) => {
			await expect(tokenOfRun(data)).rejects.toThrow(run);
		},
	);
});

interface Books {
	booked: string[];
	refused: number;
	tokens: number;
}
async function readBooks(): Promise<Books> {
	return (await (await fetch(`${at.service}/books`)).json()) as Books;
}

describe.each<{ way: string; data: Record<string, string> }>([
	{ way: 'Basic', data: {} },
	{ way: 'the body', data: BY_BODY },
])('60 payments that outlast tokens of 5 s, whose client is sent by $way', ({ way, data }) => {
	const ids = Array.from({ length: 60 }, (_none, index) => `${way}-${index}`);
	let before: Books;
	let after: Books;
	let outcomes: unknown[];
	beforeAll(async () => {
		before = await readBooks();
		const run = await runWorkflow({
			items: ids.map((id) => ({ id })),
			parameters: {
				resource: 'payment',
				amount: 1,
				external_id: '={{ $json.id }}',
				postback: 'none',
				options: { batching: { batch: { batchSize: 1, batchInterval: 100 } } },
			},
			credential: credential(data),
			settings: { onError: 'continueRegularOutput' },
		});
		outcomes = outputOf(run, 'Pay').map(({ json }) => json.outcome);
		after = await readBooks();
		forget();
	});

	test('are accepted', () => {
		expect(outcomes).toStrictEqual(ids.map(() => 'accepted'));
	});

	test('are booked once each', () => {
		const booked = after.booked.slice(before.booked.length);
		expect(booked.sort()).toStrictEqual([...ids].sort());
	});

	test('take two tokens or more, and none that has expired', () => {
		expect(after.tokens - before.tokens).toBeGreaterThanOrEqual(2);
		expect(after.refused).toBe(before.refused);
	});
});
