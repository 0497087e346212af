import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { freePort } from '../../dev/n8n';
import { listen, type Listening } from '../../test/listen';
import { Server, userOf } from '../../test/n8n/queue';

/** What came to the service, as it came. */
export interface Came {
	at: 'A' | 'B';
	external_id: string;
	body: Record<string, unknown>;
	headers: Record<string, string | string[] | undefined>;
	httpVersion: string;
}

/**
 * The service: two processes of one bank, A and B, that share its books. The external_id says what
 * it does with a request. It carries out each; `half`, `slow`, `die` and `busy` spoil the answer to
 * the first with this id, `unique` refuses a second. With an Idempotency-Key a second is not booked.
 */
export class Bank {
	readonly books: string[] = [];
	readonly came: Came[] = [];
	private readonly servers: Listening[] = [];
	private readonly slowAnswers: NodeJS.Timeout[] = [];

	static async start(): Promise<Bank> {
		const bank = new Bank();
		for (const at of ['A', 'B'] as const) {
			const process = await listen(bank.serve(at));
			process.server.keepAliveTimeout = 60_000;
			bank.servers.push(process);
		}
		return bank;
	}

	private serve(at: Came['at']): RequestListener {
		return async (request, answer) => {
			const chunks: Buffer[] = [];
			for await (const chunk of request) chunks.push(chunk as Buffer);
			const body = JSON.parse(Buffer.concat(chunks).toString()) as Came['body'];
			const external_id = String(body.external_id ?? '');
			const { headers, httpVersion } = request;
			const say = (status: number, said: object) =>
				answer.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(said));
			if (external_id === '') return say(400, { error: 'amount and external_id are required' });
			const key = headers['idempotency-key'];
			const known = this.came.some((one) => one.external_id === external_id);
			this.came.push({ at, external_id, body, headers, httpVersion });
			if (known && external_id.includes('unique')) return say(409, { error: 'already used' });
			if (!known || key === undefined) this.books.push(external_id);
			if (external_id.includes('half')) {
				answer.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': 100 });
				answer.write('{"ok":');
				return setTimeout(() => request.socket.destroy(), 50);
			}
			if (!known && external_id.includes('slow')) {
				this.slowAnswers.push(setTimeout(() => say(201, { at }), 6_000));
				return undefined;
			}
			if (!known && external_id.includes('die')) return request.socket.destroy();
			if (!known && external_id.includes('busy')) return say(503, { error: 'busy' });
			const pad = external_id.includes('big') ? 'x'.repeat(50_000) : undefined;
			return say(201, { at, pad });
		};
	}

	get a() {
		return this.servers[0]!.port;
	}

	get b() {
		return this.servers[1]!.port;
	}

	booked(external_id: string): number {
		return this.books.filter((one) => one === external_id).length;
	}

	close() {
		for (const answer of this.slowAnswers) clearTimeout(answer);
		for (const process of this.servers) process.close();
	}
}

/** A key and its certificate, as PEM. */
export interface Pem {
	key: string;
	cert: string;
}

/** Ports by name, all free. */
export async function ports<Name extends string>(...names: Name[]): Promise<Record<Name, number>> {
	const found = {} as Record<Name, number>;
	for (const name of names) found[name] = await freePort();
	return found;
}

/** A port at which nobody listens. */
export const CLOSED = 9;

/** Debian's nginx with these servers in its configuration. */
export async function startNginx(pem: Pem, http: string): Promise<Server> {
	return await Server.start('nginx', (port, folder) => {
		const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
		writeFileSync(join(folder, 'key.pem'), pem.key);
		writeFileSync(join(folder, 'cert.pem'), pem.cert);
		const lines = [
			'daemon off;',
			'master_process off;',
			'pid nginx.pid;',
			'error_log error.log;',
			'events { worker_connections 512; }',
			'http {',
			'access_log access.log;',
			...temporary.map((name) => `${name}_temp_path ${join(folder, name)};`),
			'ssl_certificate cert.pem; ssl_certificate_key key.pem;',
			'proxy_http_version 1.1;',
			'proxy_set_header Connection "";',
			`server { listen 127.0.0.1:${port}; return 204; }`,
			http,
			'}',
		];
		writeFileSync(join(folder, 'nginx.conf'), lines.join('\n'));
		return ['-p', folder, '-c', 'nginx.conf', '-e', join(folder, 'error.log')];
	});
}

/** Debian's HAProxy with these frontends and backends. */
export async function startHaproxy(pem: Pem, rest: string): Promise<Server> {
	return await Server.start('haproxy', (port, folder) => {
		writeFileSync(join(folder, 'both.pem'), `${pem.cert}\n${pem.key}\n`);
		const lines = [
			// Else a port that is taken would be shared, and each server get some of the requests.
			'global',
			' noreuseport',
			' maxconn 200',
			'defaults',
			' mode http',
			' timeout connect 1s',
			' timeout client 10s',
			' timeout server 1s',
			' retries 3',
			'frontend up',
			` bind 127.0.0.1:${port}`,
			' http-request return status 204',
			rest,
			'',
		];
		writeFileSync(join(folder, 'haproxy.cfg'), lines.join('\n'));
		return ['-f', 'haproxy.cfg', '-db'];
	});
}

/** Debian's Squid; it trusts the certificate of the service. */
export async function startSquid(pem: Pem, rules = ''): Promise<Server> {
	return await Server.start(
		'squid',
		(port, folder) => {
			writeFileSync(join(folder, 'cert.pem'), pem.cert);
			const lines = [
				`http_port 127.0.0.1:${port}`,
				'pid_filename none',
				'pinger_enable off',
				'cache deny all',
				'cache_mem 8 MB',
				`access_log stdio:${folder}/access.log`,
				`cache_log ${folder}/cache.log`,
				`coredump_dir ${folder}`,
				`tls_outgoing_options cafile=${folder}/cert.pem`,
				'read_timeout 3 seconds',
				'dns_v4_first on',
				rules,
				'http_access allow all',
			];
			writeFileSync(join(folder, 'squid.conf'), lines.join('\n'));
			return ['-N', '-f', join(folder, 'squid.conf')];
		},
		userOf('proxy'),
	);
}
