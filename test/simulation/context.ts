import type { IHttpRequestOptions, INodeExecutionData } from 'n8n-workflow';
import type { DuplicateStore, Moment } from './duplicateStore';
import { answerText, CONFIRMING, saidBy, transportError } from './service';
import { tokenOf, type Send, type StoreFate, type Try, type TypedItem, type World } from './world';

/** What the node's context needs to know beyond the try itself. */
export interface Surroundings {
	contexts: Record<string, Record<string, unknown>>;
	runIndex: number;
	signal: AbortSignal;
	/** Extra parameters, over the defaults. */
	parameters: (item: TypedItem) => Record<string, unknown>;
	nodeType: string;
	continues: boolean;
}

const never = new Promise<never>(() => undefined);

function valueAt(values: Record<string, unknown>, path: string): unknown {
	let value: unknown = values;
	for (const part of path.split('.')) {
		if (typeof value !== 'object' || value === null) return undefined;
		value = (value as Record<string, unknown>)[part];
	}
	return value;
}

/** A call to the store from a process: each step is one, and any may meet a fault. */
function storeOf(world: World, by: Try) {
	const call = async (work: (store: DuplicateStore) => Promise<unknown>) => {
		world.asks(by);
		const fate = world.nextStoreFate();
		if (fate !== undefined) world.storeFailed = by.storeFailed = true;
		const store = world.store.seenBy(async (moment) => await meet(world, by, fate, moment));
		if (fate?.does === 'junk') {
			// As n8n answers where the row holds no list: nothing is recorded then.
			await meet(world, by, undefined, 'read');
			return { new: [], processed: [] };
		}
		return await work(store);
	};
	const contextData = { node: { id: by.node } as never, workflow: world.workflow };
	world.callers.set(contextData, by);
	return {
		checkProcessedAndRecord: async (...[items, scope, options]: StoreArguments) => {
			world.recording(items);
			return await call(
				async (store) => await store.checkProcessedAndRecord(items, scope, contextData, options),
			);
		},
		removeProcessed: async (...[items, scope, options]: StoreArguments) =>
			await call(async (store) => await store.removeProcessed(items, scope, contextData, options)),
		getProcessedDataCount: async (scope: StoreArguments[1], options: StoreArguments[2]) =>
			await world.store.getProcessedDataCount(scope, contextData, options),
	};
}

type Handed = Parameters<DuplicateStore['checkProcessedAndRecord']>;
type StoreArguments = [items: Handed[0], scope: Handed[1], options: Handed[3]];

async function meet(world: World, by: Try, fate: StoreFate | undefined, moment: Moment) {
	const { changeMs } = world.settings;
	if (moment === 'write' && changeMs > 0) await world.clock.sleep(changeMs, by.process);
	else await world.clock.step(moment, by.process);
	if (fate === undefined || fate.does === 'junk' || fate.at !== moment) return;
	world.note(`the store, for ${by.execution.name}, before ${moment}: ${JSON.stringify(fate)}`);
	if (fate.does === 'fail') throw new Error('connection terminated unexpectedly');
	world.slowStore = true;
	if (fate.does === 'hang') await never;
	else await world.clock.sleep(fate.ms, by.process);
}

/** An answer's body as it comes from the connection; one that never ends breaks when destroyed. */
function bodyStream(text: string, request: unknown, read: () => Promise<void>, endless: boolean) {
	let gone = false;
	let released = () => undefined as void;
	return {
		req: request,
		destroy: () => {
			gone = true;
			released();
		},
		async *[Symbol.asyncIterator]() {
			if (endless) await new Promise<void>((resolve) => (released = resolve));
			if (!gone) await read();
			if (gone) throw transportError('ERR_STREAM_PREMATURE_CLOSE');
			yield Buffer.from(text);
		},
	};
}

/** A token endpoint: each token that it gives has a number. */
async function requestToken(world: World, by: Try, url: string): Promise<unknown> {
	const { fate, number } = world.nextToken();
	world.note(`${by.execution.name} asks for a token: ${JSON.stringify(fate)}`);
	await world.clock.step('token', by.process);
	if (fate.does === 'stall') return await never;
	if (fate.does === 'fail') return { statusCode: 503, headers: {}, body: '{}' };
	const account = Number(/bank-(\d)/.exec(url)?.[1]);
	const members = { access_token: `${tokenOf(account)}-${number}`, expires_in: fate.life };
	return { statusCode: 200, headers: {}, body: JSON.stringify(members) };
}

type Meaning = NonNullable<Send['heard']>;

/**
 * Sends a request into the world; settles as n8n's request helper does, which hands a status over
 * as an error where it is told to, and forgets time-out and signal once an answer's head is there.
 */
async function request(world: World, by: Try, options: IHttpRequestOptions): Promise<unknown> {
	if (options.url.endsWith('/token')) return await requestToken(world, by, options.url);
	const { clock, settings } = world;
	const headers = options.headers as Record<string, string>;
	const given = options.abortSignal as AbortSignal | undefined;
	const signal = settings.honoursAbort ? given : undefined;
	if (signal?.aborted) throw transportError('ERR_CANCELED', { name: 'CanceledError' });
	const body = (
		typeof options.body === 'string' ? JSON.parse(options.body) : options.body
	) as Record<string, unknown>;
	const token = String(headers.Authorization).replace('Bearer ', '');
	const send = world.send(by, options.url, token, body);
	const fate = world.nextFate();

	return await new Promise((resolve, reject) => {
		let [over, withdrawn] = [false, false];
		const settle = (act: () => void) => {
			if (over) return;
			over = true;
			void clock.step('hears', by.process).then(act);
		};
		const fail = (error: Error, what: Meaning = 'unknown') =>
			settle(() => {
				world.heard(send, what);
				reject(error);
			});
		const giveUp = (code: string, name?: string) => () => {
			withdrawn = !send.arrived;
			fail(transportError(code, { name, writableFinished: send.arrived }));
		};
		signal?.addEventListener('abort', giveUp('ERR_CANCELED', 'CanceledError'));
		if (options.timeout) clock.after(options.timeout, giveUp('ECONNABORTED'));

		/** Hands over an answer's head, and its body where that ends. */
		const respond = (
			status: number,
			how: { echo?: true; open?: true; endless?: true; fromProxy?: true },
		) => {
			const { endless = false, fromProxy = false } = how;
			const confirms = how.open === undefined;
			const said = fromProxy ? 'notSent' : saidBy(status, send.kind);
			const isDoubted = by.options.confirmed && (!confirms || status === 204);
			const what = said === 'accepted' && isDoubted ? 'unknown' : said;
			const text = answerText(status, headers, { echo: how.echo, confirms });
			const sentBy = {
				writableFinished: true,
				path: '/',
				socket: { encrypted: !fromProxy },
				destroy: () => undefined,
			};
			const streamed = options.encoding === 'stream';
			const hear = () => {
				send.status = status;
				world.heard(send, what);
			};
			const read = async () => {
				await clock.step('reads', by.process);
				hear();
			};
			const data = streamed ? bodyStream(text, sentBy, read, endless) : text;
			if (endless && !streamed) return void (over = true);
			settle(() => {
				if (!streamed) hear();
				if (typeof options.ignoreHttpStatusErrors === 'object' && settings.statusErrors) {
					const error = transportError('ERR_BAD_REQUEST');
					return reject(Object.assign(error, { request: sentBy, response: { status, data } }));
				}
				resolve({ statusCode: status, headers: {}, body: data });
			});
		};

		const reach = async () => {
			await clock.step('connects');
			if (withdrawn) return;
			if (fate.does === 'notReached') {
				const { code, syscall } = fate;
				return fail(transportError(code, { syscall, writableFinished: false }), 'notSent');
			}
			if (fate.does === 'cutRequest') {
				return fail(transportError('ECONNRESET', { writableFinished: false }), 'notSent');
			}
			if (fate.does === 'proxyAnswers') return respond(fate.status, { fromProxy: true });
			world.arrive(send, fate);
			if (fate.does === 'stall') return;
			if (fate.does === 'drip') return respond(fate.status, { endless: true });
			if (fate.does === 'breakOff') {
				return fail(transportError(fate.code, { syscall: 'read', writableFinished: true }));
			}
			if (fate.after !== undefined) await clock.sleep(fate.after);
			respond(fate.status, { echo: fate.echo, open: fate.open });
		};
		void reach();
	});
}

/** What n8n hands to execute(), as far as it was measured on a running n8n. */
export function contextOf(world: World, by: Try, around: Surroundings) {
	const { items, process } = by;
	const parameters = items.map((item) => around.parameters(item));
	const log = (text: unknown, meta?: unknown) =>
		void by.logged.push(`${String(text)} ${JSON.stringify(meta ?? '')}`);
	return {
		getNode: () => ({
			id: by.node,
			name: `Pay ${by.node}`,
			type: around.nodeType,
			typeVersion: 1,
			position: [0, 0],
			// What a person typed: of an agent's tool, that it may pay.
			parameters: by.isTool ? { options: { allowAiPayments: true } } : {},
		}),
		getWorkflow: () => ({ ...world.workflow }),
		// Copies of the node go from one scenario to the next, and remember executions.
		getExecutionId: () => `${world.workflow.id}, ${by.execution.name}`,
		getInputData: (): INodeExecutionData[] =>
			items.map(({ id }, index) => ({ json: { id }, pairedItem: { item: index } })),
		getNodeParameter(name: string, index: number, fallback?: unknown) {
			const found = valueAt(parameters[index] ?? {}, name);
			const value = found === undefined ? fallback : found;
			if (value === undefined) throw new Error(`Could not get parameter "${name}"`);
			// What n8n hands out is never the stored parameter itself.
			return structuredClone(value);
		},
		async getCredentials(_type: string, index = 0) {
			const perItem = world.settings.accountPerItem;
			if (perItem && index >= items.length && world.settings.beyondLast === 'throws') {
				throw new Error("Can't get data for expression");
			}
			const item = perItem ? items[index] : items[0];
			const account = item?.account ?? 0;
			const baseUrl = `https://bank-${account}.example.com`;
			return {
				baseUrl,
				allowHttp: false,
				accessToken: tokenOf(account),
				authentication: world.settings.clientCredentials ? 'clientCredentials' : 'accessToken',
				tokenUrl: `${baseUrl}/token`,
				clientSecret: 'secret-of-the-client',
				// A process keeps tokens, and accounts that were taken, from one scenario to the next.
				schemeName: world.workflow.id,
				clientId: `${world.workflow.id} ${account}`,
				limitPayments: world.settings.limits !== undefined,
				highestPayment: '',
				highestSum: '',
				onlyRecipients: '',
				...world.settings.limits,
				describeService: true,
				resultField: by.options.confirmed ? 'status' : '',
				acceptedValues: by.options.confirmed ? CONFIRMING : '',
			};
		},
		evaluateExpression(expression: string) {
			if (expression.includes('$runIndex')) return around.runIndex;
			if (expression.includes('resumeUrl')) return 'https://n8n.example.com/webhook-waiting/1';
			return by.execution.name;
		},
		getContext: (type: string) =>
			(around.contexts[type === 'flow' ? 'flow' : `node:Pay ${by.node}`] ??= {}),
		getExecutionCancelSignal: () => around.signal,
		continueOnFail: () => around.continues,
		isToolExecution: () => by.isTool,
		addExecutionHints: () => undefined,
		customData: { set: () => undefined },
		logger: { debug: log, warn: log },
		helpers: {
			...storeOf(world, by),
			httpRequest: async (options: IHttpRequestOptions) => await request(world, by, options),
			prepareBinaryData: async () => {
				await world.clock.step('stores', process);
				return { mimeType: 'image/png', data: '' };
			},
		},
	};
}
