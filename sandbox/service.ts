import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express, { type NextFunction, type Request, type Response } from 'express';
import { middleware as openApi } from 'express-openapi-validator';
import { brCode } from './brCode';
import { parseFault, playFault, wordsOf, type Fault } from './faults';
import { guard } from './guard';
import { Journal, type Exchange } from './journal';
import { pageRoutes } from './page';
import { deliver, nested, pause, type Notification, type Postback } from './postbacks';
import { REHEARSALS, SEQUELS, type Rehearsal, type Sequel } from './rehearsals';
import { Tokens, type ClientCredentials, type TokenAnswer } from './tokens';
import type { Status, Transaction } from './transaction';

/** A request of one of the two operations, as it came, whatever became of it. */
interface Received {
	path: string;
	headers: IncomingHttpHeaders;
	/** The body's text; empty when the connection was cut before it was read. */
	body: string;
}

/** What the service's document leaves open is off by default, and an illustration when it is on. */
export interface SandboxOptions {
	/** 0 takes a free port. */
	port?: number;
	/** Milliseconds until a payment is reported as paid; never, when undefined. */
	settlePaymentsAfter?: number;
	/** Whether the amounts of rehearsals.ts do what the page says of them. */
	amountsAct?: boolean;
	/** The scheme's name in both paths; `pay`, when absent. */
	schemeName?: string;
	/** Only tokens from the endpoint `/oauth/token` are taken, and only while they live. */
	clientCredentials?: ClientCredentials;
	/** Requests from other IP addresses are refused with 403. */
	allowedAddresses?: string[];
	/** Answers have a `success`, and a body that breaks the contract gets a 200 with `false`. */
	saysSuccess?: boolean;
	/** The form of notifications: nested one level deep, or whatever the function makes of one. */
	postbackBody?: 'nested' | ((notification: Notification) => unknown);
	/** Notifications are signed with it: `X-Signature: sha256=` and the HMAC-SHA256 of the body. */
	signatureSecret?: string;
}

/** Refuses what openapi.yaml does not allow; the app says which tokens it takes. */
function checkContract() {
	return openApi({
		apiSpec: join(__dirname, 'openapi.yaml'),
		// A test does, once: it would take most of the time of a start.
		validateApiSpec: false,
		validateResponses: false,
		validateSecurity: {
			handlers: {
				accessToken: (request: Request) =>
					(request.app.locals as Pick<Sandbox, 'takesToken'>).takesToken(request),
			},
		},
	});
}

/** One for all sandboxes of a process: its schemas are compiled only once. */
let contract: ReturnType<typeof checkContract> | undefined;

/**
 * The service's contract as a server: it takes what openapi.yaml allows and refuses the rest. What
 * the document does not show (answers, statuses, notifications) is made up here as an illustration.
 */
export class Sandbox {
	readonly received: Received[] = [];
	readonly transactions: Transaction[] = [];
	/** Requests for a token or to revoke one, as they came. */
	readonly tokenRequests: Received[] = [];
	/** Orders a fault for a request; the base URL `…/fault/<name>` orders one too. */
	faultFor?: (request: Received) => Fault | undefined;
	/** The same for requests to the token endpoint. */
	tokenFaultFor?: (request: Received) => Fault | undefined;
	/** What the page ordered for the next request. */
	next?: Rehearsal;

	readonly journal = new Journal(() => this.changed());
	readonly tokens?: Tokens;
	private readonly server: Server;
	private readonly watchers = new Set<() => void>();
	private readonly closing = new AbortController();
	/** How often each external_id came, per kind. */
	private readonly occurrences = new Map<string, number>();

	private constructor(readonly options: SandboxOptions) {
		const { clientCredentials } = options;
		this.tokens = clientCredentials && new Tokens(clientCredentials);
		this.server = createServer(this.application());
		// Answers that never come are ordered by tests, which then close the sandbox.
		this.server.requestTimeout = 0;
		// A caller that is busy for seconds must not meet a connection that has just been closed.
		this.server.keepAliveTimeout = 120_000;
	}

	/** Starts a sandbox on this machine only. */
	static async start(options: SandboxOptions = {}): Promise<Sandbox> {
		const sandbox = new Sandbox(options);
		sandbox.server.listen(options.port ?? 0, '127.0.0.1');
		await once(sandbox.server, 'listening');
		return sandbox;
	}

	get url(): string {
		return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
	}

	get tokenUrl(): string {
		return `${this.url}/oauth/token`;
	}

	private get schemeName(): string {
		return this.options.schemeName ?? 'pay';
	}

	async close(): Promise<void> {
		this.closing.abort();
		this.server.closeAllConnections();
		this.server.close();
		await once(this.server, 'close');
	}

	/** The bodies that arrived for one operation, parsed, oldest first. */
	bodies(operation: 'qrcode' | 'payment'): Array<Record<string, unknown>> {
		const ends = `/v2/${encodeURIComponent(this.schemeName)}/${operation}`;
		return this.received
			.filter(({ path, body }) => path === ends && body !== '')
			.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
	}

	/** Ends all access tokens that were given out. */
	revokeTokens(): void {
		this.tokens?.revokeAll();
		this.changed();
	}

	/** Orders what becomes of the next request; nothing special, when undefined. */
	order(rehearsal: Rehearsal | undefined): void {
		this.next = rehearsal;
		this.changed();
	}

	/** Reports a status to the transaction's postback URL, again if it was reported before. */
	async settle(id: string, status: Status): Promise<void> {
		const transaction = this.transactions.find((known) => known.id === id);
		if (transaction === undefined) throw new Error(`There is no transaction ${id}`);
		await this.notify(transaction, this.change(transaction, status));
	}

	/** Calls back after every change of what the page shows, until the returned function is called. */
	watch(changed: () => void): () => void {
		this.watchers.add(changed);
		return () => this.watchers.delete(changed);
	}

	/**
	 * Sends a notification to the transaction's postback URL, if it has one.
	 * @param wait milliseconds until it is sent
	 */
	async notify(
		transaction: Transaction,
		body: string,
		note?: Postback['note'],
		wait = 0,
	): Promise<void> {
		const { postbackUrl, postbacks } = transaction;
		if (postbackUrl === undefined) return;
		const now = Date.now();
		const postback: Postback = { at: new Date(now).toISOString(), body, note, deliveries: [] };
		if (wait > 0) postback.due = new Date(now + wait).toISOString();
		postbacks.push(postback);
		this.changed();
		if (wait > 0 && !(await pause(wait, this.closing.signal))) return;
		const { signatureSecret } = this.options;
		const headers: Record<string, string> =
			signatureSecret === undefined ? {} : { 'X-Signature': signatureOf(body, signatureSecret) };
		await deliver(postbackUrl, body, headers, this.closing.signal, (delivery) => {
			postback.deliveries.push(delivery);
			this.changed();
		});
	}

	private changed(): void {
		for (const watcher of this.watchers) watcher();
	}

	/** Gives a transaction a status, and the notification of it. */
	private change(transaction: Transaction, status: Status, paid?: number): string {
		transaction.status = status;
		transaction.changes.push({ at: new Date().toISOString(), status });
		this.changed();
		const { id, kind, external_id } = transaction;
		const amount = paid ?? transaction.amount;
		const flat: Notification = { event: `${kind}.${status}`, id, external_id, amount, status };
		const { postbackBody } = this.options;
		const form = postbackBody === 'nested' ? nested : postbackBody;
		return JSON.stringify(form ? form(flat) : flat);
	}

	private application() {
		const app = express();
		app.disable('x-powered-by');
		app.use(guard((request, response) => this.journal.begin(request, response)));
		app.use(pageRoutes(this));

		app.use('/fault/:name', (request, response, next) => {
			const fault = parseFault(request.params.name ?? '');
			response.locals.fault = fault;
			next(fault === undefined ? new Error('No such fault') : undefined);
		});
		// The fault's part of the path is cut off, so that the contract sees its own paths.
		app.use((request, _response, next) => {
			rewrite(request, request.url.replace(/^\/fault\/[^/]+/, ''));
			next();
		});
		app.post(['/oauth/token', '/oauth/revoke'], this.takeTokenRequest);
		app.use(this.takeRequest);
		app.use(this.checkCaller);
		app.locals.takesToken = this.takesToken;
		app.use((contract ??= checkContract()));
		app.post('/v2/pay/qrcode', (request, response) => this.carryOut('qrCode', request, response));
		app.post('/v2/pay/payment', (request, response) => this.carryOut('payment', request, response));
		app.use(this.explainRefusal);
		return app;
	}

	/** Whether a request carries a token that is accepted. */
	readonly takesToken = ({ headers }: Request): boolean => {
		const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
		return token !== undefined && (this.tokens?.isActive(token) ?? true);
	};

	/** Writes every request down, reads its body, and plays an ordered fault. */
	private readonly takeRequest = (request: Request, response: Response, next: NextFunction) => {
		const received: Received = { path: request.path, headers: request.headers, body: '' };
		this.received.push(received);
		const exchange = this.journal.begin(request, response);
		response.locals.exchange = exchange;
		const orderedByUrl = response.locals.fault as Fault | undefined;
		const play = (fault: Fault) => this.play(fault, request, response, next);
		if (orderedByUrl?.kind === 'reset-before-body') return play(orderedByUrl);
		express.json({
			verify: (_request, _response, bytes) => {
				received.body = bytes.toString();
				this.journal.bodyCame(exchange, received.body);
			},
		})(request, response, (error?: unknown) => {
			if (error) return next(error);
			const fault = orderedByUrl ?? this.faultFor?.(received);
			if (fault) return play(fault);
			// A browser that asks for something by itself is not the request that a person means.
			const ordered = request.method === 'POST' ? this.next : undefined;
			if (ordered) this.order(undefined);
			if (ordered?.fault && !ordered.carriedOut) return play(ordered.fault);
			response.locals.rehearsal = ordered;
			next();
		});
	};

	private readonly takeTokenRequest = (
		request: Request,
		response: Response,
		next: NextFunction,
	) => {
		const { tokens } = this;
		if (tokens === undefined) return next();
		const { path, headers } = request;
		const received: Received = { path, headers, body: '' };
		this.tokenRequests.push(received);
		const exchange = this.journal.begin(request, response);
		response.locals.exchange = exchange;
		express.text({ type: () => true })(request, response, (error?: unknown) => {
			if (error) return next(error);
			// Without a body, Express leaves it undefined.
			received.body = typeof request.body === 'string' ? request.body : '';
			this.journal.bodyCame(exchange, received.body);
			const give = () => {
				const answer: TokenAnswer = path.endsWith('/revoke')
					? tokens.revoke(headers, received.body)
					: tokens.give(headers, received.body);
				response.status(answer.status).set(answer.headers).json(answer.body);
			};
			const fault = (response.locals.fault as Fault | undefined) ?? this.tokenFaultFor?.(received);
			if (fault) this.play(fault, request, response, give);
			else give();
		});
	};

	/** Looks at where a request comes from and at the scheme's name, which the contract calls `pay`. */
	private readonly checkCaller = (request: Request, response: Response, next: NextFunction) => {
		const { allowedAddresses, schemeName } = this.options;
		const address = request.socket.remoteAddress ?? '';
		if (allowedAddresses !== undefined && !allowedAddresses.includes(address)) {
			return response.status(403).json({ message: `${address} is not an allowed address` });
		}
		if (schemeName === undefined) return next();
		const prefix = `/v2/${encodeURIComponent(schemeName)}/`;
		if (!request.url.startsWith(prefix)) return response.status(404).json({ message: 'not found' });
		rewrite(request, `/v2/pay/${request.url.slice(prefix.length)}`);
		next();
	};

	private play(fault: Fault, request: Request, response: Response, next: NextFunction): void {
		const words = wordsOf(fault);
		if (words !== undefined) this.journal.answered(response.locals.exchange as Exchange, words);
		playFault(fault, request, response, next);
	}

	/** Makes a charge or payment of a request that the contract allows, and answers. */
	private async carryOut(kind: Transaction['kind'], request: Request, response: Response) {
		const { amountsAct, saysSuccess } = this.options;
		const body = request.body as { amount: number };
		const byAmount = <T extends { amount: number }>(list: readonly T[]) =>
			amountsAct ? list.find(({ amount }) => amount === body.amount) : undefined;
		const rehearsal = (response.locals.rehearsal as Rehearsal | undefined) ?? byAmount(REHEARSALS);
		if (rehearsal?.fault && !rehearsal.carriedOut) {
			return this.play(rehearsal.fault, request, response, () => {});
		}
		const exchange = response.locals.exchange as Exchange;
		const transaction = this.remember(kind, request.body, exchange);
		const sequel: Omit<Sequel, 'amount' | 'says'> | undefined =
			byAmount(SEQUELS) ?? this.usualSequel(kind);
		if (sequel?.status !== undefined && sequel.after === 0) {
			await this.notify(transaction, this.change(transaction, sequel.status));
		}
		const { id, external_id, amount, status, qrCode } = transaction;
		const answer = () =>
			response.status(201).json({
				...(saysSuccess && { success: true }),
				id,
				external_id,
				amount,
				status,
				qrCode,
				...rehearsal?.instead?.(transaction),
			});
		if (rehearsal?.fault) this.play(rehearsal.fault, request, response, answer);
		else answer();
		if (sequel?.status !== undefined && sequel.after > 0) {
			if (!(await pause(sequel.after, this.closing.signal))) return;
			const notification = this.change(transaction, sequel.status, sequel.paid);
			await Promise.all(
				Array.from({ length: sequel.times }, async (_none, index) => {
					await this.notify(transaction, notification, index > 0 ? 'twice' : undefined);
				}),
			);
		}
	}

	private usualSequel(kind: Transaction['kind']): Omit<Sequel, 'amount' | 'says'> | undefined {
		const { settlePaymentsAfter: after } = this.options;
		if (kind !== 'payment' || after === undefined) return undefined;
		return { status: 'paid', after: Math.max(after, 1), times: 1 };
	}

	private remember(
		kind: Transaction['kind'],
		body: Record<string, unknown>,
		exchange: Exchange,
	): Transaction {
		const id = randomUUID();
		const amount = body.amount as number;
		const external_id = body.external_id as string;
		const occurrence = (this.occurrences.get(`${kind} ${external_id}`) ?? 0) + 1;
		this.occurrences.set(`${kind} ${external_id}`, occurrence);
		const transaction: Transaction = {
			id,
			kind,
			external_id,
			amount,
			payerQuestion: body.payerQuestion as string | undefined,
			status: 'waiting',
			changes: [],
			postbackUrl: body.postbackUrl as string | undefined,
			qrCode: kind === 'qrCode' ? brCode(id, amount) : undefined,
			postbacks: [],
			get deliveries() {
				return this.postbacks.flatMap(({ deliveries }) => deliveries);
			},
			exchange,
			occurrence,
		};
		exchange.transaction = id;
		this.transactions.push(transaction);
		return transaction;
	}

	private readonly explainRefusal = (
		error: Error & { status?: number; errors?: unknown },
		_request: Request,
		response: Response,
		next: NextFunction,
	) => {
		if (response.headersSent) return next(error);
		const { message, errors } = error;
		// A body that breaks the contract, however it does, is answered alike.
		const broken = error.status === 400 || error.status === 415;
		if (broken && this.options.saysSuccess) {
			return response.status(200).json({ success: false, message, errors });
		}
		response.status(broken ? 422 : (error.status ?? 500)).json({ message, errors });
	};
}

const signatureOf = (body: string, secret: string) =>
	`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

function rewrite(request: Request, url: string): void {
	request.url = url;
	request.originalUrl = url;
}
