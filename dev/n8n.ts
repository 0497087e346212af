import { execFileSync, type ChildProcess } from 'node:child_process';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { closeSync, cpSync, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parse as parseFlatted } from 'flatted';
import { endChild, runChild, startChild, temporaryFolder } from './children';
import { discard, installN8n, installPackage, NODE_24, type Installed } from './install';
import { inContainer, pullImage, type Image } from './image';
import { isImage, majorOf, type N8nVersion } from './versions';

/** The owner that is set up in every n8n started here; it guards nothing but throw-away data. */
export const OWNER = {
	email: 'owner@example.com',
	password: 'Sandbox-1234',
	firstName: 'Sandbox',
	lastName: 'Owner',
};

export interface Workflow {
	name: string;
	nodes: Array<Record<string, unknown> & { name: string; type: string }>;
	connections: Record<string, unknown>;
	settings?: Record<string, unknown>;
}

export interface Execution {
	id: string;
	status: string;
	mode: string;
	data: {
		resultData: {
			error?: { message: string; description?: string };
			runData: Record<
				string,
				Array<{
					data?: { main?: Array<Array<{ json: Record<string, unknown> }> | null> };
					error?: { message: string; description?: string };
					hints?: Array<{ message: string }>;
					executionTime: number;
				}>
			>;
		};
	};
}

const givenPorts = new Set<number>();

/**
 * A TCP port that was free a moment ago and is given once only, below those that the system gives
 * out by itself: a server may take its time to listen there. Processes that run beside each other take
 * from parts of their own.
 */
export async function freePort(): Promise<number> {
	const first = 10_000 + (process.pid % 22) * 1_000;
	const port = randomInt(first, first + 1_000);
	if (givenPorts.has(port)) return await freePort();
	givenPorts.add(port);
	const server = createServer();
	const isFree = await new Promise<boolean>((resolve) => {
		server.once('error', () => resolve(false));
		server.listen(port, '127.0.0.1', () => resolve(true));
	});
	if (!isFree) return await freePort();
	await new Promise((resolve) => server.close(resolve));
	return port;
}

export const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** Processor time that a process and those it started have used, in ms (Linux). */
export function processorTime(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	// In hundredths of a second, behind the program's name: its own, and that of children that ended.
	const ticks = stat
		.slice(stat.lastIndexOf(')') + 2)
		.split(' ')
		.slice(11, 15)
		.map(Number);
	const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
	return children
		.filter((child) => child !== '')
		.reduce(
			(sum, child) => sum + processorTime(Number(child)),
			10 * ticks.reduce((sum, each) => sum + each, 0),
		);
}

/**
 * What n8n answers before it does anything: while its database does not answer, or another process
 * holds it (503 or 500), and while n8n 2 still unpublishes the workflow to be deleted (409).
 */
const NOT_READY = /Database is not ready!|SQLITE_BUSY|Workflow is still being unpublished/;

/** An n8n has ended by itself: there is nothing to wait for any more. */
class EndedError extends Error {}

/**
 * Tries again until the work gives something, or says what it waited for. It asks less often the
 * longer it has waited, never a tenth of that too late: n8n has other work than to answer.
 */
export async function until<T>(
	what: string,
	work: () => Promise<T | undefined | false>,
	seconds = 300,
): Promise<T> {
	const begun = Date.now();
	let lastError: unknown;
	while (Date.now() < begun + seconds * 1000) {
		try {
			const found = await work();
			if (found !== undefined && found !== false) return found;
		} catch (error) {
			if (error instanceof EndedError) throw error;
			lastError = error;
		}
		await pause(Math.min(Math.max(100, (Date.now() - begun) / 10), 1_000));
	}
	throw new Error(
		`Waited ${seconds} s in vain for ${what}${lastError ? `: ${String(lastError)}` : ''}`,
	);
}

/**
 * What each process of n8n answers, as JSON, once it does its work. A webhook process calls itself
 * healthy 1 to 4 s before it knows a webhook, and answers 404 as HTML until then.
 */
const READY = {
	start: { path: '/rest/login', status: 401 },
	worker: { path: '/healthz/readiness', status: 200 },
	webhook: { path: '/webhook/none', status: 404 },
};

/** The encryption key of a data folder; a new one where there is none, or n8n has not written one down yet. */
export function keyIn(userFolder?: string): string {
	const settings = userFolder && join(userFolder, '.n8n', 'config');
	if (!settings || !existsSync(settings)) return randomBytes(16).toString('hex');
	return (JSON.parse(readFileSync(settings, 'utf8')) as { encryptionKey: string }).encryptionKey;
}

export interface N8nOptions {
	version: N8nVersion;
	/** The packed package; none for an n8n without it. */
	tarball?: string;
	/** Which process of n8n; `start` when absent. */
	command?: keyof typeof READY;
	port?: number;
	env?: Record<string, string>;
	/** Kept by the caller; without it a temporary folder is made and thrown away. */
	userFolder?: string;
	/** What a temporary folder begins as, instead of empty and with the tarball installed. */
	home?: string;
}

/** What another process needs to drive an n8n that runs already. */
export interface Running {
	version: N8nVersion;
	userFolder: string;
	port: number;
	pid: number;
	/** n8n ties the owner's session to the browser that began it. */
	cookie: string;
	browserId: string;
}

/** A real n8n in a process of its own, driven as the editor drives it. */
export class N8n {
	private child?: ChildProcess;
	/** Of an n8n that another process started, and ends. */
	private attachedTo?: Running;
	/** Where its log begins for whoever attached to it, in bytes. */
	private logStart = 0;
	/** Why the process is not there, unless it was ended here. */
	private ended?: EndedError;
	private cookie = '';
	private saving: Promise<unknown> = Promise.resolve();
	private browserId: string = randomUUID();

	private constructor(
		private readonly options: N8nOptions,
		private readonly program: Installed | Image,
		readonly userFolder: string,
		readonly port: number,
		private readonly env: Record<string, string>,
	) {}

	/**
	 * Drives an n8n that another process started. Its log begins here, and it is left running: it cannot be
	 * ended, frozen or started again.
	 */
	static async attach(running: Running): Promise<N8n> {
		const { version, userFolder, port } = running;
		if (isImage(version)) throw new Error('Nothing attaches to a container');
		const n8n = new N8n({ version, userFolder }, await installN8n(version), userFolder, port, {});
		n8n.attachedTo = running;
		n8n.cookie = running.cookie;
		n8n.browserId = running.browserId;
		n8n.logStart = statSync(n8n.logFile).size;
		return n8n;
	}

	/** For another process to attach to it. */
	get running(): Running {
		return {
			version: this.options.version,
			userFolder: this.userFolder,
			port: this.port,
			pid: this.pid,
			cookie: this.cookie,
			browserId: this.browserId,
		};
	}

	/** Installs what is missing, starts n8n and, for a main process, signs in as its owner. */
	static async start(options: N8nOptions): Promise<N8n> {
		const { version } = options;
		const program = isImage(version) ? await pullImage(version) : await installN8n(version);
		const userFolder = options.userFolder ?? temporaryFolder('n8n');
		if (options.home) cpSync(options.home, userFolder, { recursive: true });
		else if (options.tarball) await installPackage(options.tarball, userFolder);
		const port = options.port ?? (await freePort());
		const n8n = new N8n(options, program, userFolder, port, {
			N8N_USER_FOLDER: userFolder,
			N8N_PORT: String(port),
			N8N_LISTEN_ADDRESS: '127.0.0.1',
			// In the addresses of waits: on many machines localhost is ::1 first, where nothing listens.
			N8N_HOST: '127.0.0.1',
			N8N_ENCRYPTION_KEY: keyIn(userFolder),
			N8N_RUNNERS_BROKER_PORT: String(await freePort()),
			N8N_SECURE_COOKIE: 'false',
			N8N_DIAGNOSTICS_ENABLED: 'false',
			N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
			N8N_TEMPLATES_ENABLED: 'false',
			N8N_PERSONALIZATION_ENABLED: 'false',
			N8N_HIRING_BANNER_ENABLED: 'false',
			N8N_PUBLIC_API_DISABLED: 'true',
			// Where a ping of its database takes 5 s, n8n responds 503 to all: a busy machine is no outage.
			...(majorOf(options.version) === 1
				? { DB_PING_INTERVAL_SECONDS: '3600' }
				: { DB_PING_TIMEOUT_MS: '60000' }),
			// Only a worker reads these: it has no other address to ask whether it is there.
			QUEUE_HEALTH_CHECK_ACTIVE: 'true',
			QUEUE_HEALTH_CHECK_PORT: String(port),
			...options.env,
		});
		await n8n.launch();
		return n8n;
	}

	get url(): string {
		return `http://127.0.0.1:${this.port}`;
	}

	/** The cookie of the owner's session. */
	get session(): string {
		return this.cookie;
	}

	get logFile(): string {
		return join(this.userFolder, 'n8n.log');
	}

	get log(): string {
		return readFileSync(this.logFile).toString('utf8', this.logStart);
	}

	private get pid(): number {
		return this.child?.pid ?? this.attachedTo?.pid ?? NaN;
	}

	/** @throws where another process would lose its n8n */
	private mustBeOwn() {
		if (this.attachedTo === undefined) return;
		throw new Error('Other tests use this n8n too: start one of your own with startN8n()');
	}

	/** Stops the process where it is, as a frozen machine does, until {@link thaw}. */
	freeze() {
		this.mustBeOwn();
		this.child?.kill('SIGSTOP');
	}

	thaw() {
		this.child?.kill('SIGCONT');
	}

	/** What the process has in memory, in megabytes, now or at its peak (Linux). */
	memory(what: 'now' | 'peak' = 'now'): number {
		const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
		const line = what === 'now' ? /VmRSS:\s+(\d+)/ : /VmHWM:\s+(\d+)/;
		return Math.round(Number(line.exec(status)?.[1]) / 1024);
	}

	/** Processor time used so far, in ms (Linux). */
	get processorTime(): number {
		return processorTime(this.pid);
	}

	/** Starts the process again in the same data folder. */
	async launch(): Promise<void> {
		this.mustBeOwn();
		const taken = await fetch(this.url).then(
			() => true,
			() => false,
		);
		if (taken) throw new Error(`Something else answers on port ${this.port}`);
		const command = this.options.command ?? 'start';
		const [program = '', ...args] = this.commandLine(command);
		process.stderr.write(`Starting n8n (${this.options.version}) …\n`);
		// A file, not a pipe: into one that nobody reads any more, n8n would write for ever.
		const log = openSync(this.logFile, 'a');
		const logged = this.log.length;
		const child = startChild(program, args, {
			cwd: this.userFolder,
			env: this.environment,
			// A container ends with it.
			stdio: ['engine' in this.program ? 'pipe' : 'ignore', log, log],
		});
		closeSync(log);
		this.child = child;
		this.ended = undefined;
		child.once('exit', (code) => {
			if (this.child !== child) return;
			this.ended = new EndedError(`n8n ended with code ${code}:\n${this.log.slice(-2000)}`);
		});
		const probe = READY[command];
		try {
			await until(
				`n8n to start; its log is ${this.logFile}`,
				async () => {
					if (this.ended !== undefined) throw this.ended;
					// n8n 1 takes requests before it looks for executions that were left: one that begins
					// in between is found as such, and is run twice.
					const isStarting = !this.log.slice(logged).includes('Editor is now accessible');
					if (command === 'start' && isStarting) return false;
					const answer = await fetch(this.url + probe.path);
					const isJson = answer.headers.get('content-type')?.includes('json');
					return isJson && answer.status === probe.status;
				},
				500,
			);
		} catch (error) {
			// Nobody has it in hand who could end it.
			await this.kill();
			throw error;
		}
		if (command === 'start') await this.signIn();
	}

	private commandLine(...args: string[]): string[] {
		const { program } = this;
		if ('engine' in program) return inContainer(program, args, this.userFolder, this.environment);
		return [program.node, program.bin, ...args];
	}

	private get environment() {
		return { PATH: process.env.PATH, HOME: this.userFolder, ...this.env };
	}

	/** Runs a command of n8n on its data; the process must not run. */
	async command(...args: string[]): Promise<string> {
		this.mustBeOwn();
		if ('engine' in this.program) throw new Error('Commands are for an installed n8n');
		const { bin, node } = this.program;
		return await runChild(node, [bin, ...args], {
			cwd: this.userFolder,
			env: this.environment,
		});
	}

	private async signIn(): Promise<void> {
		const { email, password } = OWNER;
		const login = { email, emailOrLdapLoginId: email, password };
		await this.rest('POST', '/login', login).catch(async (error: unknown) => {
			if (!/: 401 /.test(String(error))) throw error;
			// A new n8n has no owner yet.
			await this.rest('POST', '/owner/setup', OWNER);
		});
	}

	/** Calls n8n's own REST interface, which the editor uses. A stream of events comes as its text. */
	async rest<T = { data: Record<string, unknown> & { id: string } }>(
		method: string,
		path: string,
		body?: unknown,
	): Promise<T> {
		const ask = async () => {
			const answer = await fetch(`${this.url}/rest${path}`, {
				method,
				headers: {
					'Content-Type': 'application/json',
					Cookie: this.cookie,
					'browser-id': this.browserId,
					'push-ref': this.browserId,
					// A kept connection that a busy n8n has just closed would fail the next call.
					Connection: 'close',
				},
				body: body === undefined ? undefined : JSON.stringify(body),
			});
			return { answer, text: await answer.text() };
		};
		if (this.ended !== undefined) throw this.ended;
		if (this.attachedTo && !existsSync(`/proc/${this.pid}`)) {
			throw new EndedError(`The n8n of all tests has ended:\n${this.log.slice(-2000)}`);
		}
		let { answer, text } = await ask();
		// Busy with its database for over five seconds, n8n says so before it looks at the request, and
		// what SQLite refuses was not written. Nothing else is asked again: it may have been carried out.
		for (let tries = 0; tries < 60 && !answer.ok && NOT_READY.test(text); tries++) {
			await pause(1_000);
			({ answer, text } = await ask());
		}
		const cookie = answer.headers.getSetCookie().find((set) => set.startsWith('n8n-auth='));
		if (cookie) this.cookie = cookie.split(';')[0] ?? '';
		if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
		const type = answer.headers.get('content-type') ?? '';
		if (type.startsWith('text/event-stream')) return text as T;
		return (text === '' ? {} : JSON.parse(text)) as T;
	}

	async createCredential(
		data: Record<string, unknown>,
		type = 'payApi',
		name = 'Pay API',
	): Promise<{ id: string; name: string }> {
		const { data: made } = await this.rest('POST', '/credentials', { name, type, data });
		return { id: made.id, name };
	}

	/** Enters all fields of a Pay API credential anew. */
	async changeCredential(
		{ id, name }: { id: string; name: string },
		data: Record<string, unknown>,
	): Promise<void> {
		await this.rest('PATCH', `/credentials/${id}`, { name, type: 'payApi', data });
	}

	/**
	 * Saves one thing after another: n8n 1 gives all its SQLite transactions one connection, and
	 * six workflows saved at once left it unable to save anything until it was restarted. Where what n8n
	 * writes by itself ended the transaction, it is saved again: a second copy of a workflow does no harm
	 * while nobody publishes it.
	 */
	private async save<T>(work: () => Promise<T>): Promise<T> {
		const mine = this.saving.then(work).catch(async (error: unknown) => {
			if (!String(error).includes('Transaction is not started yet')) throw error;
			return await work();
		});
		this.saving = mine.catch(() => undefined);
		return await mine;
	}

	/** Saves a workflow with the given credential in every node that can use it. */
	async importWorkflow(
		workflow: Workflow,
		credentials: Record<string, { id: string; name: string }> = {},
	): Promise<string> {
		const nodes = workflow.nodes.map((node) => ({
			id: randomUUID(),
			...(/trigger|webhook/i.test(node.type) ? { webhookId: randomUUID() } : {}),
			...(node.type.startsWith('n8n-nodes-pay.') ? { credentials } : {}),
			...node,
		}));
		const body = { settings: { executionOrder: 'v1' }, ...workflow, nodes, active: false };
		const { data } = await this.save(async () => await this.rest('POST', '/workflows', body));
		return data.id;
	}

	async workflow(id: string): Promise<Workflow & { versionId: string; active: boolean }> {
		const { data } = await this.rest<{ data: Workflow & { versionId: string; active: boolean } }>(
			'GET',
			`/workflows/${id}`,
		);
		return data;
	}

	/** Asks for a workflow to be published. */
	async publish(id: string): Promise<void> {
		const { versionId } = await this.workflow(id);
		await this.save(async () => {
			if (majorOf(this.options.version) === 2) {
				await this.rest('POST', `/workflows/${id}/activate`, { versionId });
			} else {
				await this.rest('PATCH', `/workflows/${id}`, { active: true, versionId });
			}
		});
	}

	/** Publishes a workflow; its webhooks answer when this returns. */
	async activate(id: string): Promise<void> {
		await this.publish(id);
		await this.answering(id);
	}

	/** Waits for the webhooks of a workflow: n8n 2 registers them after it has answered, method by method. */
	async answering(id: string): Promise<void> {
		const { nodes } = await this.workflow(id);
		for (const node of nodes) {
			const path = webhookPath(node);
			if (path === undefined) continue;
			const methods = node.type === 'n8n-nodes-pay.payTrigger' ? 5 : 1;
			await until(`the webhook of ${node.name}`, async () => {
				const answer = await fetch(this.url + path, {
					method: 'OPTIONS',
					headers: { Origin: this.url },
				});
				const allowed = answer.headers.get('access-control-allow-methods') ?? '';
				return allowed.split(',').filter((method) => method.trim() !== 'OPTIONS').length >= methods;
			});
		}
	}

	/** Runs a saved workflow as the editor's button (or its chat) does; gives the execution's id. */
	async run(workflowId: string, triggerName: string, triggerItem?: object): Promise<string> {
		const workflowData = await this.workflow(workflowId);
		const data = triggerItem && {
			startTime: Date.now(),
			executionTime: 0,
			executionIndex: 0,
			executionStatus: 'success',
			source: [],
			data: { main: [[{ json: triggerItem }]] },
		};
		const { data: run } = await this.rest<{ data: { executionId: string } }>(
			'POST',
			`/workflows/${workflowId}/run`,
			{ workflowData, triggerToStartFrom: { name: triggerName, data }, startNodes: [] },
		);
		return run.executionId;
	}

	/** Waits until an execution has ended (or waits for a webhook) and gives it. */
	async finished(executionId: string, seconds = 300): Promise<Execution> {
		return await until(
			`execution ${executionId}`,
			async () => {
				const execution = await this.execution(executionId);
				const { runData, error } = execution.data.resultData;
				// n8n 1 writes the status first and the data after it.
				const written = error !== undefined || Object.keys(runData).length > 0;
				return !['new', 'running'].includes(execution.status) && written && execution;
			},
			seconds,
		);
	}

	async execution(executionId: string): Promise<Execution> {
		const { data } = await this.rest<{ data: Execution & { data: string } }>(
			'GET',
			`/executions/${executionId}`,
		);
		return { ...data, data: parseFlatted(data.data) as Execution['data'] };
	}

	/** The ids of a workflow's executions, newest first. */
	async executionIds(workflowId: string, limit = 100): Promise<string[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const { data } = await this.rest<{ data: { results: Array<{ id: string }> } }>(
			'GET',
			`/executions?filter=${filter}&limit=${limit}`,
		);
		// n8n asks for those under way and those that have ended one after the other: one that ends in
		// between is in both.
		return [...new Set(data.results.map(({ id }) => id))];
	}

	/** What the database holds of each execution of a workflow, as text: past any paging or cache. */
	storedExecutions(workflowId: string): string[] {
		const script = `
			const { DatabaseSync } = require('node:sqlite');
			const [file, workflowId] = process.argv.slice(1);
			const rows = new DatabaseSync(file, { readOnly: true, timeout: 30000 }).prepare(
				'SELECT data FROM execution_entity JOIN execution_data ON executionId = id WHERE execution_entity.workflowId = ?',
			);
			console.log(JSON.stringify(rows.all(workflowId).map(({ data }) => data)));`;
		const file = join(this.userFolder, '.n8n', 'database.sqlite');
		const printed = execFileSync(NODE_24, ['--no-warnings', '-e', script, file, workflowId], {
			encoding: 'utf8',
			maxBuffer: 2 ** 30,
		});
		return JSON.parse(printed) as string[];
	}

	private async end(signal: NodeJS.Signals): Promise<void> {
		const { child } = this;
		if (child !== undefined && this.ended === undefined) {
			const seconds = Math.round(this.processorTime / 1000);
			const { version, command = 'start' } = this.options;
			process.stderr.write(`n8n (${version}, ${command}) took ${seconds} s of processor time\n`);
		}
		this.child = undefined;
		const patience = setTimeout(() => child?.kill('SIGKILL'), 20_000);
		await endChild(child, signal).finally(() => clearTimeout(patience));
	}

	/** Ends the process at once, as a crash does. */
	async kill(): Promise<void> {
		this.mustBeOwn();
		await this.end('SIGKILL');
	}

	/**
	 * Copies the data folder as a crash at this moment would leave it, which n8n and its database begin from
	 * as they do after one.
	 */
	copyTo(folder: string) {
		this.freeze();
		cpSync(this.userFolder, folder, { recursive: true });
		this.thaw();
		rmSync(join(folder, 'n8n.log'));
		// n8n would take it for a crash, and pause for ten seconds.
		rmSync(join(folder, '.n8n', 'crash.journal'), { force: true });
	}

	/** Ends the process and throws its data away, unless the caller owns the folder; leaves what it attached to. */
	async stop(): Promise<void> {
		if (this.attachedTo) return;
		if (this.options.userFolder !== undefined) return await this.end('SIGTERM');
		// Data that is thrown away needs no orderly end, which takes n8n seconds.
		await this.kill();
		discard(this.userFolder);
	}
}

/** Where a node's webhook answers, below n8n's address, once the workflow is published. */
export function webhookPath(node: Record<string, unknown> & { type: string }): string | undefined {
	const { webhookId } = node;
	if (/\.(pay|bare)Trigger$/.test(node.type)) return `/webhook/${String(webhookId)}/postback`;
	if (node.type === 'n8n-nodes-base.webhook') {
		return `/webhook/${String((node.parameters as { path: string }).path)}`;
	}
	return undefined;
}

/** The items that a node gave, of one run and output. */
export function itemsOf(execution: Execution, node: string, run = 0, output = 0) {
	const items = execution.data.resultData.runData[node]?.[run]?.data?.main?.[output] ?? [];
	return items.map(({ json }) => json);
}
