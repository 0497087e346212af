import { parseArgs } from 'node:util';
import { PICTURES } from './pictures';
import { SIGNED_TEMPLATE } from './senders';
import { Sandbox, type SandboxOptions } from './service';

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
  --qr-code-as WHAT      responses have a picture of the code: svg, png, or its address
  --postback-as FORM     postbacks are nested, { event, data: { … } }, or a list, { event, entries: [ … ] }
  --hundredths           the amounts of postbacks are hundredths: 1250 is 12.50
  --refund-after MS      so long after "paid" it comes again, beside "refund": the money went back
  --sign SECRET          postbacks have X-Signature: sha256= and the HMAC-SHA256 of the body
  --sign-rsa             X-Signature is RSA-SHA256; the public key is shown at the start
  --sign-template        signed is ${SIGNED_TEMPLATE}, with X-Timestamp
  --secret-header TEXT   postbacks have this header, "Name: value"
  --notify URL           all postbacks go there, as if entered in a dashboard
  --challenge            that address gets them once it gave back ?challenge=…
  --expect TEXT          postbacks are sent again until this is the response's body
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

const WAYS = ['header', 'body', 'json', 'headerJson'] as const;
const FORMS = ['nested', 'list'] as const;

/** A text of some; undefined where the option is not there. */
function oneOf<Choice extends string>(
	name: string,
	choices: readonly Choice[],
	text: string | undefined,
): Choice | undefined {
	const choice = choices.find((each) => each === text);
	if (text === undefined || choice !== undefined) return choice;
	throw new Error(`--${name} is one of ${choices.join(', ')}, not "${text}"`);
}

function header(text: string | undefined): SandboxOptions['secretHeader'] {
	if (text === undefined) return undefined;
	const [, name, value] = /^([\w-]+): *(\S.*)$/.exec(text) ?? [];
	if (name !== undefined && value !== undefined) return { name, value };
	throw new Error(`--secret-header needs "Name: value", not "${text}"`);
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
			'qr-code-as': { type: 'string' },
			'postback-as': { type: 'string' },
			hundredths: { type: 'boolean' },
			'refund-after': { type: 'string' },
			'sign-rsa': { type: 'boolean' },
			'sign-template': { type: 'boolean' },
			'secret-header': { type: 'string' },
			notify: { type: 'string' },
			challenge: { type: 'boolean' },
			expect: { type: 'string' },
		},
	});
	if (values.help) return undefined;
	const way = oneOf('client-auth', WAYS, values['client-auth']);
	const refundAfter = values['refund-after'];
	if (values.challenge && values.notify === undefined) {
		throw new Error('--challenge needs --notify');
	}
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
		qrCodeAs: oneOf('qr-code-as', PICTURES, values['qr-code-as']),
		postbackBody: oneOf('postback-as', FORMS, values['postback-as']),
		reportsHundredths: values.hundredths,
		refundAfter: refundAfter === undefined ? undefined : wholeNumber('refund-after', refundAfter),
		signatureSecret: values.sign,
		signsWithRsa: values['sign-rsa'],
		signsTemplate: values['sign-template'],
		secretHeader: header(values['secret-header']),
		notificationUrl: values.notify,
		asksChallenge: values.challenge,
		expectedResponse: values.expect,
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
	const { publicKey } = sandbox.sender;
	if (publicKey !== undefined) console.log(`Signature Public Key:\n${publicKey}`);
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
