import { execFileSync, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { endChild, startChild, temporaryFolder } from '../../dev/children';
import { DatabaseProxy } from './databaseProxy';
import { discard, type N8nVersion } from '../../dev/install';
import { freePort, keyIn, N8n, processorTime, until, type N8nOptions } from '../../dev/n8n';

/** Where Debian keeps the server's programs, which are not on the path; or `PAY_POSTGRES`. */
function postgresFolder(): string {
	const chosen = process.env.PAY_POSTGRES;
	if (chosen !== undefined) return chosen;
	const versions = '/usr/lib/postgresql';
	const newest = existsSync(versions) ? readdirSync(versions).sort().at(-1) : undefined;
	if (newest === undefined) {
		throw new Error("Queue mode needs PostgreSQL: install Debian's package postgresql");
	}
	return join(versions, newest, 'bin');
}

/** Some servers refuse to run as root; Debian's package brings a user for them. */
export function userOf(name: string): { uid?: number; gid?: number } {
	if (process.getuid?.() !== 0) return {};
	const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
	return { uid: id('-u'), gid: id('-g') };
}

async function isListening(port: number): Promise<boolean> {
	return await new Promise((resolve) => {
		const socket = connect(port, '127.0.0.1');
		socket.on('error', () => resolve(false));
		socket.on('connect', () => {
			socket.destroy();
			resolve(true);
		});
	});
}

/** A server program in a folder of its own; both go when it is closed. */
export class Server {
	private child?: ChildProcess;

	private constructor(
		private readonly command: string,
		private readonly args: string[],
		private readonly user: { uid?: number; gid?: number },
		readonly folder: string,
		readonly port: number,
		private readonly readyLine: string,
	) {}

	/** @param readyLine what it prints once it can be used, if it takes connections before that */
	static async start(
		command: string,
		args: (port: number, folder: string) => string[],
		user: { uid?: number; gid?: number } = {},
		prepare: (folder: string) => void = () => {},
		readyLine = '',
	): Promise<Server> {
		const folder = temporaryFolder('server');
		if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
		prepare(folder);
		const port = await freePort();
		const server = new Server(command, args(port, folder), user, folder, port, readyLine);
		try {
			await server.launch();
		} catch (error) {
			await server.close();
			throw error;
		}
		return server;
	}

	private async launch(): Promise<void> {
		const { command, args, user, folder, port } = this;
		const child = startChild(command, args, {
			cwd: folder,
			stdio: ['ignore', 'ignore', 'pipe'],
			...user,
		});
		this.child = child;
		let failure: string | undefined;
		let printed = '';
		child.stderr?.on('data', (chunk: Buffer) => {
			printed = (printed + chunk.toString()).slice(-2000);
		});
		child.on('error', ({ message }) => {
			failure = `install Debian's package of it (.ci/weekly lists them). ${message}`;
		});
		child.once('exit', () => {
			failure ??= `it ended. ${printed}`;
		});
		await until(
			`${command} to answer`,
			async () => {
				if (failure !== undefined) return true;
				return printed.includes(this.readyLine) && (await isListening(port));
			},
			30,
		);
		if (failure !== undefined) throw new Error(`${command} cannot be started: ${failure}`);
	}

	get processorTime(): number {
		return processorTime(this.child?.pid ?? NaN);
	}

	/** Ends it as a crash does, and starts it again at the same address. */
	async restart(signal?: NodeJS.Signals): Promise<void> {
		await endChild(this.child, signal);
		await this.launch();
	}

	async close(): Promise<void> {
		// What it holds is thrown away, so it needs no time to save it.
		await endChild(this.child);
		discard(this.folder);
	}
}

async function startRedis(): Promise<Server> {
	return await Server.start('redis-server', (port, folder) => [
		'--port',
		String(port),
		'--bind',
		'127.0.0.1',
		'--dir',
		folder,
		'--save',
		'',
		'--appendonly',
		'no',
	]);
}

/** A PostgreSQL of its own, which lets everyone on this machine in. */
async function startPostgres(): Promise<Server> {
	const bin = postgresFolder();
	const user = userOf('postgres');
	return await Server.start(
		join(bin, 'postgres'),
		(port, folder) => [
			'-D',
			join(folder, 'data'),
			'-p',
			String(port),
			'-h',
			'127.0.0.1',
			'-c',
			'unix_socket_directories=',
			'-c',
			'fsync=off',
			'-c',
			'max_connections=200',
			'-c',
			'lc_messages=C',
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
		'database system is ready to accept connections',
	);
}

const psqlArgs = (port: number, database: string) => [
	'-h',
	'127.0.0.1',
	'-p',
	String(port),
	'-U',
	'n8n',
	'-d',
	database,
];

/** Asks a PostgreSQL; gives the rows, their columns separated by |. */
export function psql(port: number, database: string, query: string): string[] {
	const printed = execFileSync('psql', [...psqlArgs(port, database), '-At', '-c', query], {
		encoding: 'utf8',
		maxBuffer: 2 ** 28,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	return printed.split('\n').filter((row) => row !== '');
}

export interface QueueOptions {
	version: N8nVersion;
	tarball?: string;
	/** What the data folder of each process begins as, as in {@link N8nOptions}. */
	home?: string;
	workers?: number;
	env?: Record<string, string>;
}

interface ProcessOptions {
	/** Without the package. */
	bare?: boolean;
	/** Settings of this process alone. */
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
	/** Between each process and PostgreSQL. */
	private readonly databases = new Map<N8n, DatabaseProxy>();

	private constructor(
		private readonly options: QueueOptions,
		private readonly postgres: Server,
		private readonly redis: Server,
		private readonly env: Record<string, string>,
	) {}

	static async start(options: QueueOptions): Promise<QueueMode> {
		const postgres = await startPostgres();
		const redis = await startRedis();
		const webhookPort = await freePort();
		const queue = new QueueMode(options, postgres, redis, {
			EXECUTIONS_MODE: 'queue',
			OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(redis.port),
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_DATABASE: 'postgres',
			DB_POSTGRESDB_USER: 'n8n',
			N8N_ENCRYPTION_KEY: keyIn(options.home),
			WEBHOOK_URL: `http://127.0.0.1:${webhookPort}/`,
			...options.env,
		});
		try {
			// The main process first: it makes the tables that the others expect.
			queue.main = await queue.process('start');
			const webhook = queue.process('webhook', { port: webhookPort });
			const workers = Array.from({ length: options.workers ?? 2 }, async () => {
				await queue.addWorker();
			});
			await Promise.all([webhook, ...workers]);
			queue.webhook = await webhook;
			return queue;
		} catch (error) {
			await queue.stop();
			throw error;
		}
	}

	private async process(
		command: NonNullable<N8nOptions['command']>,
		more: ProcessOptions & { port?: number } = {},
	): Promise<N8n> {
		const { version, tarball, home } = this.options;
		const database = await DatabaseProxy.start(this.postgres.port);
		const n8n = await N8n.start({
			version,
			command,
			port: more.port,
			tarball: more.bare ? undefined : tarball,
			home: more.bare ? undefined : home,
			env: { ...this.env, ...more.env, DB_POSTGRESDB_PORT: String(database.port) },
		});
		this.databases.set(n8n, database);
		return n8n;
	}

	/** What stands between a process and PostgreSQL. */
	databaseOf(n8n: N8n): DatabaseProxy {
		const database = this.databases.get(n8n);
		if (database === undefined) throw new Error('This process is not of this queue');
		return database;
	}

	/** Where PostgreSQL itself answers, past the proxies. */
	get postgresAddress() {
		return { host: '127.0.0.1', port: this.postgres.port, database: 'postgres', user: 'n8n' };
	}

	/**
	 * Asks PostgreSQL itself; gives the rows, their columns separated by |.
	 * @param database n8n's own, when absent
	 */
	sql(query: string, database = this.postgresAddress.database): string[] {
		return psql(this.postgresAddress.port, database, query);
	}

	/**
	 * Carries a query out and leaves its transaction open, as a person does who looks at rows.
	 * @returns what ends it
	 */
	async openTransaction(query: string, database: string): Promise<() => Promise<void>> {
		const child = startChild('psql', [...psqlArgs(this.postgresAddress.port, database), '-Atq'], {
			stdio: ['pipe', 'pipe', 'ignore'],
		});
		const ended = new Promise((resolve) => child.once('exit', resolve));
		child.stdin!.write(`BEGIN; ${query}; SELECT 'open';\n`);
		await new Promise((resolve) => child.stdout!.once('data', resolve));
		return async () => {
			child.stdin!.end('COMMIT;\n');
			await ended;
		};
	}

	/** Processor time that each has used so far, in ms (Linux). */
	get processorTimes(): Record<string, number> {
		return {
			main: this.main.processorTime,
			webhook: this.webhook.processorTime,
			workers: this.workers.reduce((sum, worker) => sum + worker.processorTime, 0),
			PostgreSQL: this.postgres.processorTime,
			Redis: this.redis.processorTime,
		};
	}

	/** Ends Redis as a crash does and starts it again, empty, at the same address. */
	async restartRedis(): Promise<void> {
		await this.redis.restart();
	}

	/** Ends PostgreSQL as a crash does, and starts it again with its data at the same address. */
	async restartPostgres(): Promise<void> {
		// Killed, it would leave processes behind that keep it from starting.
		await this.postgres.restart('SIGQUIT');
	}

	/** Starts one more worker. */
	async addWorker(more: ProcessOptions = {}): Promise<N8n> {
		const worker = await this.process('worker', more);
		this.workers.push(worker);
		return worker;
	}

	/** The workers that say in their log that they took an execution. */
	workersOf(executionId: string): N8n[] {
		return this.workers.filter(({ log }) => log.includes(`execution ${executionId} `));
	}

	/** The first of them. */
	workerOf(executionId: string): N8n | undefined {
		return this.workersOf(executionId)[0];
	}

	async stop(): Promise<void> {
		const processes = [...this.workers, this.webhook, this.main];
		await Promise.all(processes.map(async (each) => await each?.stop()));
		for (const database of this.databases.values()) await database.close();
		await Promise.all([this.redis.close(), this.postgres.close()]);
	}
}
