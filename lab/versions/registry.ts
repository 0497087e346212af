import { execFileSync, type ChildProcess } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { endChild, runChild, startChild, temporaryFolder } from '../../dev/children';
import { PROGRAMS } from '../../dev/versions';
import { installTools, NODE_24 } from '../../dev/install';
import { freePort, until } from '../../dev/n8n';
import { listen, type Listening } from '../../test/listen';

/** One of its parts names node-fetch by a tag, which not every mirror of npm has. */
const OVERRIDES = { 'node-fetch': '2.7.0' };

/** The host that npm asks where nobody told it another one; n8n's own default is the same. */
function npmsHost(): string {
	// Two files that are not there; npm refuses one for both.
	const flags = ['user', 'global'].map((whose) => `--${whose}config=${join(tmpdir(), whose)}`);
	const env = { PATH: process.env.PATH, HOME: tmpdir() };
	const options = { cwd: tmpdir(), env, encoding: 'utf8' } as const;
	return new URL(execFileSync('npm', ['config', 'get', 'registry', ...flags], options)).host;
}

const CONFIGURATION = `
storage: ./storage
auth: { htpasswd: { file: ./htpasswd } }
packages: { '**': { access: $all, publish: $all } }
log: { type: stdout, level: warn }
`;

/**
 * npm's registry, as an n8n here sees it: n8n takes another address only with a licence, so the
 * address stays, and npm's settings lead it through a proxy to a registry on this machine, which
 * holds what a test publishes. Nothing else can be reached through it.
 */
export class Registry {
	private readonly sockets = new Set<Socket>();

	private constructor(
		private readonly folder: string,
		private readonly port: number,
		private readonly verdaccio: ChildProcess,
		private readonly servers: Listening<Server>[],
	) {}

	static async start(): Promise<Registry> {
		const host = npmsHost();
		const modules = await installTools('verdaccio', [PROGRAMS.verdaccio], { overrides: OVERRIDES });
		const bin = join(modules, 'verdaccio', 'bin', 'verdaccio');
		const folder = temporaryFolder('registry');
		const port = await freePort();
		writeFileSync(join(folder, 'config.yaml'), CONFIGURATION);
		const options = ['--config', join(folder, 'config.yaml'), '--listen', `127.0.0.1:${port}`];
		const verdaccio = startChild(NODE_24, [bin, ...options], {
			env: { PATH: process.env.PATH, VERDACCIO_PUBLIC_URL: `https://${host}/` },
			stdio: 'ignore',
		});
		const names = [{ type: 2, value: host } as const];
		const pems = await generate([{ name: 'commonName', value: host }], {
			extensions: [{ name: 'subjectAltName', altNames: names }],
		});
		const forward = (incoming: IncomingMessage, answer: ServerResponse) => {
			const { method, headers } = incoming;
			// Through a proxy, some clients ask for the whole address.
			const asked = new URL(incoming.url!, `https://${host}`);
			if (asked.host !== host) return void answer.writeHead(403).end();
			const path = asked.pathname + asked.search;
			incoming.pipe(
				request({ host: '127.0.0.1', port, method, path, headers }, (given) => {
					answer.writeHead(given.statusCode!, given.headers);
					given.pipe(answer);
				}).on('error', () => answer.destroy()),
			);
		};
		const secure = createSecureServer({ key: pems.private, cert: pems.cert }, forward);
		const proxy = createServer(forward);
		const servers = [await listen<Server>(secure), await listen<Server>(proxy)];
		const registry = new Registry(folder, port, verdaccio, servers);
		proxy.on('connect', ({ url }: IncomingMessage, socket: Socket) => {
			if (url !== `${host}:443`) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
			const inside = connect(servers[0]!.port, '127.0.0.1');
			for (const each of [socket, inside]) {
				registry.sockets.add(each);
				each.on('error', () => each.destroy());
			}
			socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
			socket.pipe(inside).pipe(socket);
		});
		writeFileSync(registry.certificateFile, pems.cert);
		try {
			await until('the registry', async () => (await fetch(`${registry.url}/-/ping`)).ok);
		} catch (error) {
			await registry.close();
			throw error;
		}
		return registry;
	}

	private get url() {
		return `http://127.0.0.1:${this.port}`;
	}

	private get certificateFile() {
		return join(this.folder, 'certificate.pem');
	}

	private get proxy() {
		return this.servers[1]!.url;
	}

	/** The environment that leads an n8n here. */
	get env(): Record<string, string> {
		return { HTTPS_PROXY: this.proxy, NODE_EXTRA_CA_CERTS: this.certificateFile };
	}

	/** What leads npm here where n8n hands it no environment; for a folder's `.npmrc`. */
	get npmrc(): string {
		const cache = join(this.folder, 'cache');
		return `https-proxy=${this.proxy}\ncafile=${this.certificateFile}\ncache=${cache}\n`;
	}

	/** Publishes the package in a folder, as the newest. */
	async publish(folder: string): Promise<void> {
		// npm wants a token, the registry takes any.
		const token = `--//127.0.0.1:${this.port}/:_authToken=any`;
		const flags = ['--ignore-scripts', `--registry=${this.url}`, token];
		await runChild('npm', ['publish', folder, ...flags], { cwd: this.folder });
	}

	async close(): Promise<void> {
		for (const server of this.servers) server.close();
		for (const socket of this.sockets) socket.destroy();
		await endChild(this.verdaccio);
		rmSync(this.folder, { recursive: true, force: true });
	}
}
