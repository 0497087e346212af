import { execFile, execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../dev/children';

/** What a payer is called in each postback. */
export const NAME = 'João & Söhne';
/** The postback as XML, which stays text. */
export const XML =
	'<?xml version="1.0" encoding="UTF-8"?><n><status>PAID</status><name>João &amp; Söhne</name></n>';
const CLIENTS = join(__dirname, 'clients');
const folder = temporaryFolder('clients');
const CA = join(folder, 'ca.pem');
const LATIN1 = join(folder, 'latin1.json');
const SLIP = join(folder, 'slip.txt');

const curl = (...flags: string[]) => ['curl', '--max-time', '60', '--cacert', CA, ...flags];
const CURL: Record<string, string[]> = {
	json: [
		'-H',
		'content-type: application/json',
		'-d',
		JSON.stringify({ status: 'PAID', name: NAME }),
	],
	form: ['--data-urlencode', 'status=PAID', '--data-urlencode', `name=${NAME}`],
	multipart: ['-F', 'status=PAID', '-F', `name=${NAME}`],
	latin1: ['-H', 'content-type: application/json; charset=ISO-8859-1', '-d', `@${LATIN1}`],
	xml: ['-H', 'content-type: application/xml', '-d', XML],
	nested: [
		'--data-urlencode',
		'status=PAID',
		'--data-urlencode',
		`payer[name]=${NAME}`,
		'-d',
		'payer[tags][]=a',
		'-d',
		'payer[tags][]=b',
	],
	files: ['-F', 'note "a"=x', '-F', `slip=@${SLIP};filename="João \\"1\\".txt";type=text/plain`],
};

/** How each client is started to send a postback of a kind to an address. */
export const SENDERS: Record<string, (kind: string, url: string) => string[]> = {
	'curl, HTTP/2': (kind, url) => curl('--http2', ...CURL[kind]!, url),
	'curl, HTTP/1.0': (kind, url) => curl('--http1.0', ...CURL[kind]!, url),
	'Python requests': () => ['/usr/bin/python3', join(CLIENTS, 'client.py')],
	PHP: () => ['php', join(CLIENTS, 'client.php')],
	Ruby: () => ['ruby', join(CLIENTS, 'client.rb')],
	Go: () => [join(folder, 'client')],
	Java: () => ['java', '-Dfile.encoding=UTF-8', '-cp', folder, 'Client'],
	Node: () => [process.execPath, join(CLIENTS, 'client.mjs')],
};

/** The arguments of curl for a postback of JSON. */
export const CURL_JSON = CURL.json!;

/** Makes ready what the clients need; they trust this certificate. */
export function prepareSenders(certificate: string): void {
	writeFileSync(CA, certificate);
	writeFileSync(SLIP, 'hello');
	writeFileSync(LATIN1, JSON.stringify({ status: 'PAID', name: NAME }), 'latin1');
	const env = { ...process.env, GO111MODULE: 'off', GOFLAGS: '', GOCACHE: join(folder, 'go') };
	const built = join(folder, 'client');
	execFileSync('go', ['build', '-o', built, join(CLIENTS, 'client.go')], { env });
	execFileSync('javac', ['-encoding', 'UTF-8', '-d', folder, join(CLIENTS, 'Client.java')]);
}

export const removeSenders = () => rmSync(folder, { recursive: true, force: true });

/** Sends one postback; gives the status that the client tells. */
export async function send(
	client: string,
	kind: string,
	url: string,
	name = NAME,
): Promise<number> {
	const [command = '', ...args] = SENDERS[client]!(kind, url);
	const told =
		command === 'curl' ? ['-sS', '-o', join(folder, 'answer'), '-w', '%{http_code}'] : [];
	const env = { PATH: process.env.PATH, URL: url, KIND: kind, NAME: name, XML, CA, SLIP };
	const more = { NODE_EXTRA_CA_CERTS: CA, LANG: 'C.UTF-8', PYTHONWARNINGS: 'ignore' };
	try {
		const { stdout } = await promisify(execFile)(command, [...told, ...args], {
			env: { ...env, ...more },
		});
		return Number(stdout.trim());
	} catch (error) {
		const { code, message, stdout, stderr } = error as Error & {
			code?: unknown;
			stdout?: string;
			stderr?: string;
		};
		if (code === 'ENOENT') {
			throw new Error(`${command} is missing: .ci/weekly lists Debian's packages of all clients`);
		}
		throw new Error(`${client}: ${message} ${stdout} ${stderr}`);
	}
}
