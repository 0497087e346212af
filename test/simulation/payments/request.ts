import type { IHttpRequestOptions } from 'n8n-workflow';
import { judgeSend } from './rules';
import { inWords, newSend, type NodeRun, type RequestParts, type Send } from './send';
import { bodyOf, outcomeOf, tokenOf, type Answer, type ResponseFate } from './service';
import type { World } from './world';

const never = new Promise<never>(() => undefined);

/**
 * Sends a request into the world; settles as n8n's request helper does, which hands a status over
 * as an error where it is told to, and forgets time-out and signal once an answer's head is there.
 */
export async function request(
	world: World,
	run: NodeRun,
	options: IHttpRequestOptions,
): Promise<unknown> {
	if (options.url.endsWith('/token')) return await requestToken(world, run, options.url);
	const signal = options.abortSignal as AbortSignal | undefined;
	const honoured = world.settings.honoursAbort ? signal : undefined;
	if (honoured?.aborted) throw cancelled(undefined);
	const send = leave(world, run, readRequest(options));
	const delivery = new Delivery(world, send, options);
	honoured?.addEventListener('abort', () => delivery.giveUp(cancelled(send.arrived)));
	if (options.timeout) {
		world.clock.after(options.timeout, () => delivery.giveUp(timedOut(send.arrived)));
	}
	void delivery.meet(world.nextFate());
	return await delivery.response;
}

/** A token endpoint: each token that it gives has a number. */
async function requestToken(world: World, run: NodeRun, url: string): Promise<unknown> {
	const { fate, number } = world.nextToken();
	world.note(`${run.execution.name} asks for a token: ${JSON.stringify(fate)}`);
	await world.clock.step('token', run.process);
	if (fate.does === 'stall') return await never;
	if (fate.does === 'fail') return { statusCode: 503, headers: {}, body: '{}' };
	const account = Number(/bank-(\d)/.exec(url)?.[1]);
	const body = { access_token: `${tokenOf(account)}-${number}`, expires_in: fate.life };
	return { statusCode: 200, headers: {}, body: JSON.stringify(body) };
}

function readRequest({ url, headers, body }: IHttpRequestOptions): RequestParts {
	const members: unknown = typeof body === 'string' ? JSON.parse(body) : body;
	return {
		url,
		token: String(headers?.Authorization).replace('Bearer ', ''),
		body: members as RequestParts['body'],
	};
}

/** A request leaves the node, and is judged before it counts among those that left. */
function leave(world: World, run: NodeRun, parts: RequestParts): Send {
	const send = newSend(run, parts, world.clock.now);
	if (send === undefined) {
		const id = String(parts.body.external_id);
		world.violate('typed', `"${id}" was sent, which no item asked for`);
		throw new Error('No item asked for it');
	}
	world.note(`sends ${inWords(send)}, amount ${String(parts.body.amount)}`);
	judgeSend(world, send);
	world.addSend(send);
	return send;
}

/** A failure as n8n's request helper throws it; `wasWritten` where there was a request. */
function transportError(
	code: string,
	wasWritten: boolean | undefined,
	{ name = 'AxiosError', syscall }: { name?: string; syscall?: string } = {},
): Error {
	const request =
		wasWritten === undefined ? undefined : { writableFinished: wasWritten, socket: null };
	return Object.assign(new Error(code), { name, code, syscall, request });
}

function cancelled(wasWritten: boolean | undefined): Error {
	return transportError('ERR_CANCELED', wasWritten, { name: 'CanceledError' });
}

function timedOut(wasWritten: boolean): Error {
	return transportError('ECONNABORTED', wasWritten);
}

/** A request on its way, and its response on the way back. The first end that comes about counts. */
class Delivery {
	readonly response: Promise<unknown>;
	private resolve!: (response: unknown) => void;
	private reject!: (error: Error) => void;
	private hasEnded = false;
	/** Whether the node gave it up before it arrived. */
	private isWithdrawn = false;

	constructor(
		private readonly world: World,
		private readonly send: Send,
		private readonly options: IHttpRequestOptions,
	) {
		this.response = new Promise((resolve, reject) => {
			this.resolve = resolve;
			this.reject = reject;
		});
	}

	/** The node's time-out has passed, or its execution was cancelled. */
	giveUp(error: Error): void {
		this.isWithdrawn = !this.send.arrived;
		this.fail(error, 'unknown');
	}

	/** Goes the way that the scenario has for it. */
	async meet(fate: ResponseFate): Promise<void> {
		const { clock } = this.world;
		await clock.step('connects');
		if (this.isWithdrawn) return;
		if (fate.does === 'notReached') {
			const { code, syscall } = fate;
			return this.fail(transportError(code, false, { syscall }), 'notSent');
		}
		if (fate.does === 'cutRequest') {
			return this.fail(transportError('ECONNRESET', false), 'notSent');
		}
		if (fate.does === 'proxyAnswers') {
			return this.respond({
				status: fate.status,
				echoes: false,
				confirms: true,
				isEndless: false,
				isFromProxy: true,
			});
		}
		this.world.arrive(this.send, fate);
		if (fate.does === 'stall') return;
		if (fate.does === 'breakOff') {
			return this.fail(transportError(fate.code, true, { syscall: 'read' }), 'unknown');
		}
		if (fate.does === 'drip') {
			return this.respond({
				status: fate.status,
				echoes: false,
				confirms: true,
				isEndless: true,
				isFromProxy: false,
			});
		}
		if (fate.after !== undefined) await clock.sleep(fate.after);
		this.respond({
			status: fate.status,
			echoes: fate.echo === true,
			confirms: fate.open === undefined,
			isEndless: false,
			isFromProxy: false,
		});
	}

	private fail(error: Error, outcome: 'unknown' | 'notSent'): void {
		this.end(() => {
			this.world.endSend(this.send, outcome);
			this.reject(error);
		});
	}

	/** Hands over an answer's head, and its body where that ends. */
	private respond(answer: Answer): void {
		const isStream = this.options.encoding === 'stream';
		if (answer.isEndless && !isStream) {
			this.hasEnded = true;
			return;
		}
		const request = new WrittenRequest(answer);
		const text = bodyOf(answer, this.options.headers);
		const data = isStream ? new BodyStream(this, answer, request, text) : text;
		this.end(() => {
			if (!isStream) this.hear(answer);
			const isErrorWanted = typeof this.options.ignoreHttpStatusErrors === 'object';
			if (isErrorWanted && this.world.settings.statusErrors) {
				const error = transportError('ERR_BAD_REQUEST', undefined);
				const response = { status: answer.status, data };
				this.reject(Object.assign(error, { request, response }));
				return;
			}
			this.resolve({ statusCode: answer.status, headers: {}, body: data });
		});
	}

	private end(tellNode: () => void): void {
		if (this.hasEnded) return;
		this.hasEnded = true;
		void this.world.clock.step('hears', this.send.run.process).then(tellNode);
	}

	/** The node reads an answer's body. */
	async read(answer: Answer): Promise<void> {
		await this.world.clock.step('reads', this.send.run.process);
		this.hear(answer);
	}

	private hear(answer: Answer): void {
		this.send.status = answer.status;
		this.world.endSend(this.send, this.meaningOf(answer));
	}

	private meaningOf({ status, confirms, isFromProxy }: Answer): NonNullable<Send['outcome']> {
		if (isFromProxy) return 'notSent';
		const { kind, run } = this.send;
		const outcome = outcomeOf(status, kind);
		if (outcome !== 'accepted' || !run.options.confirmed) return outcome;
		return confirms && status !== 204 ? 'accepted' : 'unknown';
	}
}

/** What an answer has of its request: it was written, to an encrypted socket unless a proxy answers. */
class WrittenRequest {
	readonly writableFinished = true;
	readonly path = '/';
	readonly socket: { encrypted: boolean };

	constructor({ isFromProxy }: Answer) {
		this.socket = { encrypted: !isFromProxy };
	}

	destroy() {
		return undefined;
	}
}

/** An answer's body as it comes from the connection; one that never ends breaks when destroyed. */
class BodyStream {
	private isDestroyed = false;
	private release = () => undefined as void;

	constructor(
		private readonly delivery: Delivery,
		private readonly answer: Answer,
		readonly req: WrittenRequest,
		private readonly text: string,
	) {}

	destroy() {
		this.isDestroyed = true;
		this.release();
	}

	async *[Symbol.asyncIterator]() {
		if (this.answer.isEndless) {
			await new Promise<void>((resolve) => (this.release = resolve));
		}
		if (!this.isDestroyed) await this.delivery.read(this.answer);
		if (this.isDestroyed) throw transportError('ERR_STREAM_PREMATURE_CLOSE', undefined);
		yield Buffer.from(this.text);
	}
}
