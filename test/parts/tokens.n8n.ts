import './home';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { endChild, startChild } from '../../dev/children';
import { installN8n, installTools, NODE_24 } from '../../dev/install';
import { bearerToken } from '../../nodes/Pay/credential/accessToken';
import { readAccount } from '../../nodes/Pay/credential/connection';
import { testPayCredential } from '../../nodes/Pay/credential/credentialTest';
import { tokenPoster } from '../../nodes/Pay/service/client';
import { forget, outputOf, runWorkflow } from '../engine/engine';
import { VERSIONS } from '../n8n/nodes';
import { credentialRequest, requestHelper } from '../wire/requestHelper';

/** Characters that the two ways to send a secret encode differently, if at all. */
const SECRET = 's:e+c%r&e=t /"~';

interface Row {
	name: string;
	/** Beside those of a good credential. */
	data: Record<string, string>;
	/** What the credential's test says. */
	test: RegExp;
	/** Why a run gets no token; absent, where it gets one. */
	run?: RegExp;
}

const REFUSED = /the token endpoint rejected the client \(HTTP 40[01], invalid_client\)/;
const NONE = /there is no token endpoint at this address \(HTTP 40[45]\b/;
const MOVED = /the token endpoint redirects elsewhere \(HTTP 307\)/;
const ROWS: Row[] = [
	{ name: 'Basic', data: {}, test: /^OK/ },
	{ name: 'the body', data: { clientId: 'post', clientAuthentication: 'body' }, test: /^OK/ },
	{ name: 'no scope', data: { clientId: 'none', scope: '' }, test: /^OK/ },
	{ name: 'a wrong secret', data: { clientSecret: 'x' }, test: REFUSED, run: REFUSED },
	{
		name: 'a wrong secret in the body',
		data: { clientId: 'post', clientAuthentication: 'body', clientSecret: 'x' },
		test: REFUSED,
		run: REFUSED,
	},
	{ name: 'an unknown client', data: { clientId: 'nobody' }, test: REFUSED, run: REFUSED },
	// It takes one way for the other.
	{ name: 'the body instead of Basic', data: { clientAuthentication: 'body' }, test: /^OK/ },
	{ name: 'Basic instead of the body', data: { clientId: 'post' }, test: /^OK/ },
	{
		name: 'a scope that another client may have',
		data: { clientId: 'reader' },
		test: /the token endpoint rejected the scope \(HTTP 400, invalid_scope\)/,
		run: /the token endpoint rejected the scope/,
	},
	{
		name: 'a scope that nobody knows, beside a known one',
		data: { scope: 'pay.read pay.admin' },
		test: /^Error: The token endpoint did not grant pay\.admin: /,
	},
	{ name: 'a wrong path', data: { tokenUrl: '/oauth/token' }, test: NONE, run: NONE },
	{ name: 'the bare address', data: { tokenUrl: '' }, test: NONE, run: NONE },
	{
		name: 'the address for people',
		data: { tokenUrl: '/auth' },
		test: /^Error: /,
		run: /token endpoint/,
	},
	{
		name: 'the discovery document',
		data: { tokenUrl: '/.well-known/openid-configuration' },
		test: NONE,
		run: NONE,
	},
	{ name: 'a redirect', data: { tokenUrl: '/moved' }, test: MOVED, run: MOVED },
	{
		name: 'https: at the port of http:',
		data: { tokenUrl: 'https:' },
		test: /the token endpoint cannot be reached: the address does not speak https/,
		run: /the token endpoint cannot be reached: the address does not speak https/,
	},
];

let server: ChildProcess;
let at: { issuer: string; service: string };

beforeAll(async () => {
	const modules = await installTools('oidc-provider', ['oidc-provider@9.13.3']);
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
		clientId: 'basic:+%&',
		clientSecret: SECRET,
		scope: 'pay.read pay.write',
		clientAuthentication: 'header',
		tokenUrl:
			tokenUrl === 'https:'
				? at.issuer.replace('http:', 'https:') + '/token'
				: at.issuer + tokenUrl,
		...more,
	};
}

describe.each(VERSIONS)('tokens of oidc-provider, n8n %s', (version) => {
	let modules: string;
	beforeAll(async () => {
		modules = join((await installN8n(version)).folder, 'node_modules');
	});

	test.each(ROWS)("$name: the credential's test", async ({ data, test }) => {
		const context = { helpers: { request: credentialRequest(modules) } } as never;
		const { status, message } = await testPayCredential.call(context, {
			data: credential(data),
		} as never);
		expect(`${status}: ${message}`).toMatch(test);
	});

	test.each(ROWS)('$name: a run', async ({ data, run }) => {
		const httpRequest = requestHelper(modules);
		const post = tokenPoster(httpRequest, 20_000);
		// Each row and version is a client of its own to the memory of tokens: another address.
		const account = readAccount({ ...credential(data), baseUrl: at.service });
		const got = bearerToken(account, post, { timeout: 20_000 });
		if (run === undefined) expect((await got).accessToken).toMatch(/./);
		else await expect(got).rejects.toThrow(run);
	});
});

test.each<[string, Record<string, string>]>([
	['Basic', {}],
	['the body', { clientId: 'post', clientAuthentication: 'body' }],
])(
	'60 payments outlast tokens of 5 s, sent by %s: each is accepted and booked once',
	async (way, data) => {
		const books = async () =>
			(await (await fetch(`${at.service}/books`)).json()) as {
				booked: string[];
				refused: number;
				tokens: number;
			};
		const before = await books();
		const items = Array.from({ length: 60 }, (_each, index) => ({
			id: `${way}-${index}`,
		}));
		const run = await runWorkflow({
			items,
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
		const outcomes = outputOf(run, 'Pay').map(({ json }) => json.outcome);
		expect(outcomes).toStrictEqual(items.map(() => 'accepted'));
		const after = await books();
		const mine = after.booked.slice(before.booked.length);
		expect(mine.sort()).toStrictEqual(items.map(({ id }) => id).sort());
		expect(after.refused).toBe(before.refused);
		expect(after.tokens - before.tokens).toBeGreaterThanOrEqual(2);
		forget();
	},
);
