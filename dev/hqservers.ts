import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discard, type N8nVersion } from './install';
import { freePort, N8n, until } from './n8n';

/** Where Debian keeps the server's programs, which are not on the path. */
function postgresFolder(): string {
	const versions = '/usr/lib/postgresql';
	const newest = existsSync(versions) ? readdirSync(versions).sort().at(-1) : undefined;
	if (newest === undefined) {
		throw new Error("Queue mode needs PostgreSQL: install Debian's package postgresql");
	}
	return join(versions, newest, 'bin');
}

/** PostgreSQL refuses to run as root; Debian's package brings a user for it. */
function postgresUser(): { uid?: number; gid?: number } {
	if (process.getuid?.() !== 0) return {};
	const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
	return { uid: id('-u'), gid: id('-g') };
}

/** A server program in a folder of its own; both go when it is closed. */
class Server {
	private constructor(
		private readonly child: ChildProcess,
		private readonly folder: string,
		readonly port: number,
	) {}

	static async start(
		command: string,
		args: (port: number, folder: string) => string[],
		user: { uid?: number; gid?: number } = {},
		prepare: (folder: string) => void = () => {},
	): Promise<Server> {
		const folder = mkdtempSync(join(tmpdir(), 'pay-server-'));
		if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
		prepare(folder);
		const port = await freePort();
		const child = spawn(command, args(port, folder), { cwd: folder, stdio: 'ignore', ...user });
		let failure: Error | undefined;
		child.on('error', (error) => (failure = error));
		const endWithUs = () => child.kill('SIGKILL');
		process.once('exit', endWithUs);
		child.once('exit', () => process.off('exit', endWithUs));
		await until(
			`${command} to answer`,
			async () => {
				if (failure !== undefined) return true;
				return await new Promise<boolean>((resolve) => {
					const socket = connect(port, '127.0.0.1', () => resolve(true));
					socket.on('error', () => resolve(false));
					socket.on('connect', () => socket.destroy());
				});
			},
			30,
		);
		if (failure !== undefined) {
			throw new Error(`Queue mode needs ${command}, from Debian's packages: ${failure.message}`);
		}
		return new Server(child, folder, port);
	}

	async close(): Promise<void> {
		const { child } = this;
		if (child.exitCode === null && child.signalCode === null) {
			const ended = new Promise((resolve) => child.once('exit', resolve));
			// What they hold is thrown away, so they need no time to save it.
			child.kill('SIGKILL');
			await ended;
		}
		discard(this.folder);
	}
}

export async function startRedis(): Promise<Server> {
	return await Server.start('redis-server', (port, folder) => [
		...['--port', String(port), '--bind', '127.0.0.1'],
		...['--dir', folder, '--save', '', '--appendonly', 'no'],
	]);
}

export async function startPostgres(): Promise<Server> {
	const bin = postgresFolder();
	const user = postgresUser();
	return await Server.start(
		join(bin, 'postgres'),
		(port, folder) => [
			...['-D', join(folder, 'data'), '-p', String(port), '-h', '127.0.0.1'],
			...['-c', 'unix_socket_directories=', '-c', 'fsync=off', '-c', 'max_connections=200'],
		],
		user,
		(folder) => {
			const flags = ['-U', 'n8n', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
			execFileSync(join(bin, 'initdb'), ['-D', join(folder, 'data'), ...flags], {
				cwd: folder,
				stdio: 'ignore',
				...user,
			});
		},
	);
}

export interface QueueOptions {
	version: N8nVersion;
	tarball?: string;
	workers?: number;
	env?: Record<string, string>;
}

/**
 * n8n in queue mode, as `dev/compose.yaml` describes it: PostgreSQL, Redis, a main process, a
 * webhook process and workers, each with a data folder and an installed package of its own.
 */
export class QueueMode {
	readonly workers: N8n[] = [];
	main!: N8n;
	webhook!: N8n;

	private constructor(
		private readonly options: QueueOptions,
		private readonly servers: Server[],
		private readonly env: Record<string, string>,
	) {}

	static async start(options: QueueOptions): Promise<QueueMode> {
		const postgres = await startPostgres();
		const redis = await startRedis();
		const webhookPort = await freePort();
		const queue = new QueueMode(options, [postgres, redis], {
			EXECUTIONS_MODE: 'queue',
			OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(redis.port),
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(postgres.port),
			DB_POSTGRESDB_DATABASE: 'postgres',
			DB_POSTGRESDB_USER: 'n8n',
			N8N_ENCRYPTION_KEY: randomUUID(),
			WEBHOOK_URL: `http://127.0.0.1:${webhookPort}/`,
			...options.env,
		});
		try {
			// The main process first: it makes the tables that the others expect.
			queue.main = await queue.process('start');
			const [webhook] = await Promise.all([
				queue.process('webhook', { port: webhookPort }),
				...Array.from({ length: options.workers ?? 2 }, async () => await queue.addWorker()),
			]);
			queue.webhook = webhook;
			return queue;
		} catch (error) {
			await queue.stop();
			throw error;
		}
	}

	private async process(command: string, more: { port?: number; bare?: boolean } = {}) {
		const { version, tarball } = this.options;
		const { port, bare } = more;
		return await N8n.start({
			version,
			command,
			port,
			tarball: bare ? undefined : tarball,
			env: this.env,
		});
	}

	/** Starts one more worker, with the package or without it. */
	async addWorker(bare = false): Promise<N8n> {
		const worker = await this.process('worker', { bare });
		this.workers.push(worker);
		return worker;
	}

	/** The worker that says in its log that it took an execution. */
	workerOf(executionId: string): N8n | undefined {
		const took = new RegExp(`execution ${executionId} `);
		return this.workers.find(({ log }) => took.test(log));
	}

	async stop(): Promise<void> {
		const processes = [...this.workers, this.webhook, this.main];
		await Promise.all(processes.map(async (each) => await each?.stop()));
		await Promise.all(this.servers.map(async (server) => await server.close()));
	}
}
