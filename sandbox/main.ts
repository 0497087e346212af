import { parseArgs } from 'node:util';
import { Sandbox, type SandboxOptions } from './service';
import type { ClientCredentials } from './tokens';

export const HELP = `The sandbox: a stand-in for the service, on this machine only.

  npm run sandbox -- [options]

  --port NUMBER          port (SANDBOX_PORT; 8787)
  --settle-after MS|off  a payment is reported as paid after so many milliseconds, or never (1000)
  --help                 this text

What the service's document leaves open, off unless named; each an illustration:

  --scheme NAME          the scheme's name in both paths, instead of pay
  --oauth                tokens come from /oauth/token (OAuth 2.0 client credentials)
  --client-id TEXT       (sandbox-client)
  --client-secret TEXT   (SANDBOX_CLIENT_SECRET; sandbox-secret)
  --client-auth WAY      header, body, json or headerJson alone; header and body are taken without it
  --token-life SECONDS   (3600)
  --wrap-token           tokens come as { data: { accessToken: … } }
  --one-token            a new token ends the one before it
  --scope TEXT           the only scope that is given
  --allow ADDRESS        rejects requests from other IP addresses with 403; may be repeated
  --success-field        responses have "success"; a body that breaks the contract gets false in a 200
  --nested-postback      postbacks are { event, data: { … } }
  --sign SECRET          postbacks have X-Signature: sha256= and the HMAC-SHA256 of the body
`;

/** @param orElse the word that may stand in place of the number, for the error */
function wholeNumber(name: string, text: string, orElse = ''): number {
	if (!/^\d+$/.test(text)) {
		throw new Error(`--${name} needs a whole number${orElse}, not "${text}"`);
	}
	return Number(text);
}

function settleAfter(text: string): number | undefined {
	return text === 'off' ? undefined : wholeNumber('settle-after', text, ' or off');
}

function clientAuthentication(text: string | undefined): ClientCredentials['clientAuthentication'] {
	const ways = ['header', 'body', 'json', 'headerJson'] as const;
	const way = ways.find((each) => each === text);
	if (text === undefined || way !== undefined) return way;
	throw new Error(`--client-auth is header, body, json or headerJson, not "${text}"`);
}

/** Reads the options of the command line; undefined when only the help was asked for. */
export function readOptions(
	args: string[],
	env: Record<string, string | undefined>,
): SandboxOptions | undefined {
	const { values } = parseArgs({
		args,
		options: {
			port: { type: 'string', default: env.SANDBOX_PORT ?? '8787' },
			'settle-after': { type: 'string', default: '1000' },
			help: { type: 'boolean' },
			scheme: { type: 'string' },
			oauth: { type: 'boolean' },
			'client-id': { type: 'string', default: 'sandbox-client' },
			'client-secret': { type: 'string', default: env.SANDBOX_CLIENT_SECRET ?? 'sandbox-secret' },
			'client-auth': { type: 'string' },
			'token-life': { type: 'string', default: '3600' },
			'one-token': { type: 'boolean' },
			'wrap-token': { type: 'boolean' },
			sign: { type: 'string' },
			scope: { type: 'string' },
			allow: { type: 'string', multiple: true },
			'success-field': { type: 'boolean' },
			'nested-postback': { type: 'boolean' },
		},
	});
	if (values.help) return undefined;
	const way = clientAuthentication(values['client-auth']);
	return {
		port: wholeNumber('port', values.port),
		settlePaymentsAfter: settleAfter(values['settle-after']),
		amountsAct: true,
		schemeName: values.scheme,
		clientCredentials: values.oauth
			? {
					clientId: values['client-id'],
					clientSecret: values['client-secret'],
					clientAuthentication: way,
					tokenLife: wholeNumber('token-life', values['token-life']),
					oneActiveToken: values['one-token'],
					wrapsTokens: values['wrap-token'],
					scope: values.scope,
				}
			: undefined,
		allowedAddresses: values.allow,
		saysSuccess: values['success-field'],
		postbackBody: values['nested-postback'] ? 'nested' : undefined,
		signatureSecret: values.sign,
	};
}

async function main() {
	const options = readOptions(process.argv.slice(2), process.env);
	if (options === undefined) {
		console.log(HELP);
		return;
	}
	const sandbox = await Sandbox.start(options);
	const token = options.clientCredentials ? `tokens from ${sandbox.tokenUrl}` : 'any access token';
	console.log(`Sandbox service: ${sandbox.url} (${token}; its responses are illustrations)`);
	console.log(
		`Open it in a browser, or order a fault by the base URL: ${sandbox.url}/fault/status-500`,
	);
}

if (require.main === module) {
	main().catch((error: unknown) => {
		console.error(error instanceof Error ? error.message : error);
		process.exitCode = 1;
	});
}
