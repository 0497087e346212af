import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
	createServer,
	type IncomingHttpHeaders,
	type IncomingMessage,
	type Server,
	type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express, { type NextFunction, type Request, type Response } from 'express';
import { middleware as openApi } from 'express-openapi-validator';
import { parse } from 'yaml';
import type { ServiceOperation } from '../nodes/Pay/service/contract';
import { parseFault, playFault, wordsOf, type Fault } from './faults';
import { guard } from './guard';
import { Journal, type Exchange } from './journal';
import { pageRoutes } from './page';
import { pictureOf, type Picture } from './pictures';
import { postbackBodyOf, qrCodeOf, rehearsalOf, responseBodyOf, sequelOf } from './play';
import {
	passesChallenge,
	pause,
	POSTBACK_FORMS,
	sendUntilTaken,
	type Postback,
	type PostbackBody,
	type PostbackTry,
} from './postbacks';
import type { Ending, Rehearsal } from './rehearsals';
import { Sender, type SenderOptions } from './senders';
import { Tokens, type ClientCredentials, type TokenResponse } from './tokens';
import type { Status, Transaction } from './transaction';

/** A request of an operation, as it came, whatever became of it. */
interface Received {
	path: string;
	headers: IncomingHttpHeaders;
	/** The body's text; empty when the connection was cut before it was read. */
	body: string;
}

/** What the sandbox uses of an operation in openapi.yaml. */
interface ContractOperation {
	operationId: string;
	/** What people call it. */
	tags: [string];
	requestBody: {
		content: { 'application/json': { schema: { properties: Record<string, unknown> } } };
	};
}

/** What the sandbox knows of an operation. */
type ContractFacts = Pick<Transaction, 'kind' | 'noun' | 'isReported'> & { path: string };

/** What the sandbox uses of a body that the contract allowed; the page shows all of it. */
interface RequestBody {
	amount?: number;
	external_id: string;
	postbackUrl?: string;
}

/** What the service's document leaves open is off by default, and an illustration when it is on. */
export interface SandboxOptions extends SenderOptions {
	/** 0 takes a free port. */
	port?: number;
	/** Milliseconds until a payment is reported as paid; never, when undefined. */
	settlePaymentsAfter?: number;
	/** Whether the amounts of rehearsals.ts do what the page says of them. */
	amountsAct?: boolean;
	/** Milliseconds that each silence takes: before a slow response, and before a sequel. As the page says, when absent. */
	silence?: number;
	/** The scheme's name in both paths; `pay`, when absent. */
	schemeName?: string;
	/** Only tokens from the endpoint `/oauth/token` are taken, and only while they live. */
	clientCredentials?: ClientCredentials;
	/** Requests from other IP addresses are rejected with 403. */
	allowedAddresses?: string[];
	/** Responses have a `success`, and a body that breaks the contract gets a 200 with `false`. */
	saysSuccess?: boolean;
	/** The form of postbacks: nested one level deep, a list, or whatever the function makes of one. */
	postbackBody?: keyof typeof POSTBACK_FORMS | ((body: PostbackBody) => unknown);
	/** The amounts of postbacks are hundredths: 1250 is 12.50. */
	reportsHundredths?: boolean;
	/** Milliseconds after which what was paid goes back: "paid" comes again, beside a refund. */
	refundAfter?: number;
	/** Where all postbacks go, as if it was entered in a dashboard; where each request says, when absent. */
	notificationUrl?: string;
	/** That address gets postbacks only once it gave back a text, `?challenge=…`. */
	asksChallenge?: boolean;
	/** The only body of a response that counts; else a postback is sent again. */
	expectedResponse?: string;
	/** Responses have a picture of the code in place of its text. */
	qrCodeAs?: Picture;
}

/** What the stages of one request leave to each other in `response.locals`. */
interface Locals {
	/** Ordered by the base URL. */
	faultOfUrl?: Fault;
	/** The request as the tests see it. */
	received: Received;
	/** The request as the page shows it. */
	exchange: Exchange;
}

function localsOf(response: ServerResponse): Locals {
	return (response as Response).locals as Locals;
}

/** What the contract's middleware, which all sandboxes share, asks the application of one. */
interface ApplicationLocals {
	/** Whether a request carries a token that is accepted. */
	takesToken: (request: Request) => boolean;
}

const CONTRACT = join(__dirname, 'openapi.yaml');

/** The operations of the contract. */
const OPERATIONS = Object.entries(
	(parse(readFileSync(CONTRACT, 'utf8')) as { paths: Record<string, { post: ContractOperation }> })
		.paths,
).map(([path, { post }]): ContractFacts => {
	const { properties } = post.requestBody.content['application/json'].schema;
	return {
		path,
		kind: post.operationId,
		noun: post.tags[0],
		isReported: Object.hasOwn(properties, 'postbackUrl'),
	};
});

/** Rejects what openapi.yaml does not allow. */
function contractMiddleware() {
	return openApi({
		apiSpec: CONTRACT,
		// A test does, once: it would take most of the time of a start.
		validateApiSpec: false,
		validateResponses: false,
		validateSecurity: {
			handlers: {
				accessToken: (request: Request) =>
					(request.app.locals as ApplicationLocals).takesToken(request),
			},
		},
	});
}

/** One for all sandboxes of a process: its schemas are compiled only once. */
let contract: ReturnType<typeof contractMiddleware> | undefined;

/**
 * The service's contract as a server: it takes what openapi.yaml allows and rejects the rest. What
 * the document does not show (responses, statuses, postbacks) is made up here as an illustration.
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
	/** What the page ordered for the next request that the contract allows. */
	orderedRehearsal?: Rehearsal;

	readonly journal = new Journal(() => this.changed());
	readonly tokens?: Tokens;
	readonly sender: Sender;
	private readonly server: Server;
	/** Whether the notification URL has passed its challenge. */
	private isAddressTaken = false;
	private readonly watchers = new Set<() => void>();
	private readonly closing = new AbortController();
	/** How often each external_id came, per kind. */
	private readonly occurrences = new Map<string, number>();

	private constructor(readonly options: SandboxOptions) {
		const { clientCredentials } = options;
		if (clientCredentials !== undefined) this.tokens = new Tokens(clientCredentials);
		this.sender = new Sender(options);
		this.server = createServer(this.application());
		// Responses that never come are ordered by tests, which then close the sandbox.
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

	/** The bodies that arrived for one operation, parsed, oldest first; without what is no JSON. */
	bodies(operation: ServiceOperation['path']): Array<Record<string, unknown>> {
		const pathOfOperation = `/v2/${encodeURIComponent(this.schemeName)}/${operation}`;
		const bodies: Array<Record<string, unknown>> = [];
		for (const { path, body } of this.received) {
			if (path !== pathOfOperation) continue;
			try {
				bodies.push(JSON.parse(body) as Record<string, unknown>);
			} catch {
				// Cut off, or malformed on purpose.
			}
		}
		return bodies;
	}

	/** Ends all access tokens that were given out. */
	revokeTokens(): void {
		this.tokens?.revokeAll();
		this.changed();
	}

	/** Orders what becomes of the next request; nothing special, when undefined. */
	order(rehearsal: Rehearsal | undefined): void {
		this.orderedRehearsal = rehearsal;
		this.changed();
	}

	/** Reports a status to the transaction's postback URL, again if it was reported before. */
	async settle(id: string, status: Status): Promise<void> {
		const transaction = this.transactions.find((known) => known.id === id);
		if (transaction === undefined) throw new Error(`There is no transaction ${id}`);
		await this.sendPostback(transaction, this.changeStatus(transaction, status));
	}

	/** Calls back after every change of what the page shows, until the returned function is called. */
	watch(changed: () => void): () => void {
		this.watchers.add(changed);
		return () => this.watchers.delete(changed);
	}

	/**
	 * Gives a transaction a status.
	 * @param paid what was paid, where it is another amount
	 * @returns the body of the postback that reports it
	 * @throws what `postbackBody` throws; the status is then as before
	 */
	changeStatus(transaction: Transaction, status: Status, paid = transaction.amount): string {
		const inHundredths = this.options.reportsHundredths && paid !== undefined;
		const shown = inHundredths ? Math.round(paid * 100) : paid;
		const flat = postbackBodyOf(transaction, status, shown);
		const body = JSON.stringify(this.inItsForm(flat));
		transaction.status = status;
		transaction.changes.push({ at: new Date().toISOString(), status });
		this.changed();
		if (status === 'paid') void this.refund(transaction, flat);
		return body;
	}

	/** Reports later, where the sandbox was started so, that what was paid went back. Never rejects. */
	private async refund(transaction: Transaction, paid: PostbackBody): Promise<void> {
		const { refundAfter } = this.options;
		if (refundAfter === undefined) return;
		if (!(await pause(refundAfter, this.closing.signal))) return;
		const refunded = { ...paid, refund: { amount: paid.amount } };
		await this.sendPostback(transaction, JSON.stringify(this.inItsForm(refunded)));
	}

	/** Sends a postback to the transaction's postback URL, if it has one. Never rejects. */
	async sendPostback(
		transaction: Transaction,
		body: string,
		note?: Postback['note'],
	): Promise<void> {
		const { postbackUrl, postbacks } = transaction;
		if (postbackUrl === undefined) return;
		const postback: Postback = { at: new Date().toISOString(), body, note, tries: [] };
		postbacks.push(postback);
		this.changed();
		const addTry = (postbackTry: PostbackTry) => {
			postback.tries.push(postbackTry);
			this.changed();
		};
		const { signal } = this.closing;
		if (this.options.asksChallenge && !this.isAddressTaken) {
			this.isAddressTaken = await passesChallenge(postbackUrl, signal);
			if (!this.isAddressTaken) {
				addTry({ at: new Date().toISOString(), response: 'The challenge did not come back' });
				return;
			}
		}
		const headers = { 'Content-Type': 'application/json', ...this.sender.headersFor(body) };
		const { expectedResponse } = this.options;
		await sendUntilTaken(postbackUrl, body, headers, signal, addTry, expectedResponse);
	}

	private changed(): void {
		for (const watcher of this.watchers) watcher();
	}

	private inItsForm(flat: PostbackBody): unknown {
		const { postbackBody } = this.options;
		if (postbackBody === undefined) return flat;
		const inForm = typeof postbackBody === 'function' ? postbackBody : POSTBACK_FORMS[postbackBody];
		return inForm(flat);
	}

	/** The stages of a request, in this order. */
	private application() {
		const app = express();
		app.disable('x-powered-by');
		const locals: ApplicationLocals = { takesToken: this.takesToken };
		Object.assign(app.locals, locals);

		// Before all else: another web page may not even read what the page shows.
		app.use(guard((request, response) => this.journal.begin(request, response)));
		// The person's page and its buttons are no requests to the service, so nothing below sees them.
		app.use(pageRoutes(this));

		app.use('/fault/:name', this.readFaultOfUrl);
		// The fault's part of the path is cut off, so that the contract sees its own paths.
		app.use(this.cutOffFault);

		// The token endpoint has a contract of its own. It is not there unless it is asked for.
		const { tokens } = this;
		if (tokens !== undefined) {
			app.post(
				['/oauth/token', '/oauth/revoke'],
				this.recordTokenRequest,
				express.text({ type: () => true, verify: this.recordBody }),
				(request, response) => this.respondWithToken(tokens, request, response),
			);
		}

		// Every request is written down, whatever becomes of it, and its body as soon as it is read.
		app.use(this.recordRequest);
		app.use(express.json({ verify: this.recordBody }));
		// Tests and the base URL order faults for any request, so before anything rejects it.
		app.use(this.playOrderedFault);

		app.use(this.checkAddress);
		// After the address, since a service says nothing about its paths to others. Before the
		// contract, which knows only the scheme `pay`.
		app.use(this.checkScheme);
		app.use((contract ??= contractMiddleware()));
		// A rehearsal of the page or of an amount is for a request that came this far.
		for (const operation of OPERATIONS) {
			app.post(operation.path, (request, response) => this.carryOut(operation, request, response));
		}
		app.use(this.explainRejection);
		return app;
	}

	private readonly takesToken = ({ headers }: Request): boolean => {
		const [, token] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
		if (token === undefined) return false;
		return this.tokens === undefined || this.tokens.isActive(token);
	};

	private readonly readFaultOfUrl = (
		request: Request<{ name: string }>,
		response: Response,
		next: NextFunction,
	): void => {
		const fault = parseFault(request.params.name);
		if (fault === undefined) throw new Error('No such fault');
		localsOf(response).faultOfUrl = fault;
		next();
	};

	private readonly cutOffFault = (request: Request, _response: Response, next: NextFunction) => {
		rewrite(request, request.url.replace(/^\/fault\/[^/]+/, ''));
		next();
	};

	private readonly recordRequest = (request: Request, response: Response, next: NextFunction) => {
		this.record(request, response, this.received);
		const { faultOfUrl } = localsOf(response);
		if (faultOfUrl?.kind === 'reset-before-body') {
			return this.play(faultOfUrl, request, response, next);
		}
		next();
	};

	private readonly recordTokenRequest = (
		request: Request,
		response: Response,
		next: NextFunction,
	) => {
		this.record(request, response, this.tokenRequests);
		next();
	};

	private record(request: Request, response: Response, list: Received[]): void {
		const locals = localsOf(response);
		locals.received = { path: request.path, headers: request.headers, body: '' };
		list.push(locals.received);
		locals.exchange = this.journal.begin(request, response);
	}

	/** Called by Express with the bytes of a body, before it parses them. */
	private readonly recordBody = (
		_request: IncomingMessage,
		response: ServerResponse,
		bytes: Buffer,
	): void => {
		const { received, exchange } = localsOf(response);
		received.body = bytes.toString();
		this.journal.bodyCame(exchange, received.body);
	};

	private respondWithToken(tokens: Tokens, request: Request, response: Response): void {
		const { path, headers } = request;
		const { received, faultOfUrl } = localsOf(response);
		const respond = () => {
			const token: TokenResponse = path.endsWith('/revoke')
				? tokens.revoke(headers, received.body)
				: tokens.give(headers, received.body);
			response.status(token.status).set(token.headers).json(token.body);
		};
		const fault = faultOfUrl ?? this.tokenFaultFor?.(received);
		if (fault === undefined) return respond();
		this.play(fault, request, response, respond);
	}

	private readonly playOrderedFault = (
		request: Request,
		response: Response,
		next: NextFunction,
	) => {
		const { faultOfUrl, received } = localsOf(response);
		const fault = faultOfUrl ?? this.faultFor?.(received);
		if (fault === undefined) return next();
		this.play(fault, request, response, next);
	};

	private readonly checkAddress = (request: Request, response: Response, next: NextFunction) => {
		const { allowedAddresses } = this.options;
		const address = request.socket.remoteAddress ?? '';
		if (allowedAddresses !== undefined && !allowedAddresses.includes(address)) {
			return response.status(403).json({ message: `${address} is not an allowed address` });
		}
		next();
	};

	private readonly checkScheme = (request: Request, response: Response, next: NextFunction) => {
		const { schemeName } = this.options;
		if (schemeName === undefined) return next();
		const prefix = `/v2/${encodeURIComponent(schemeName)}/`;
		if (!request.url.startsWith(prefix)) return response.status(404).json({ message: 'not found' });
		rewrite(request, `/v2/pay/${request.url.slice(prefix.length)}`);
		next();
	};

	/** @param respond what comes after a fault that only delays */
	private play(fault: Fault, request: Request, response: Response, respond: NextFunction): void {
		const words = wordsOf(fault);
		if (words !== undefined) this.journal.responded(localsOf(response).exchange, words);
		playFault(fault, request, response, respond);
	}

	/** Carries out a request that the contract allows, and responds. */
	private async carryOut(operation: ContractFacts, request: Request, response: Response) {
		const body = request.body as RequestBody;
		const rehearsal = this.takeOrder() ?? this.rehearsalOf(body.amount);
		if (rehearsal?.effect.kind === 'notCarriedOut') {
			return this.play(rehearsal.effect.fault, request, response, () => {});
		}
		const transaction = this.remember(operation, body, localsOf(response).exchange);
		const ending = this.endingOf(transaction);
		if (ending.reported === 'beforeResponse') await this.report(transaction, ending);
		await this.respond(transaction, rehearsal, request, response);
		if (ending.reported === 'beforeResponse' || ending.reported === 'never') return;
		if (!(await pause(ending.reported.afterMs, this.closing.signal))) return;
		await this.report(transaction, ending);
	}

	/** What the page ordered; the request after this one is a usual one again. */
	private takeOrder(): Rehearsal | undefined {
		const rehearsal = this.orderedRehearsal;
		if (rehearsal !== undefined) this.order(undefined);
		return rehearsal;
	}

	private rehearsalOf(amount: number | undefined): Rehearsal | undefined {
		if (!this.options.amountsAct) return undefined;
		return rehearsalOf(amount);
	}

	private endingOf({ isReported, qrCode, amount }: Transaction): Ending {
		const { amountsAct, settlePaymentsAfter } = this.options;
		const sequel = sequelOf(amount);
		if (amountsAct && sequel !== undefined) return this.withSilence(sequel.ending);
		// What has a code waits for somebody who pays it.
		const settles = isReported && qrCode === undefined;
		if (!settles || settlePaymentsAfter === undefined) return { reported: 'never' };
		return { reported: { afterMs: settlePaymentsAfter }, status: 'paid', times: 1 };
	}

	private withSilence(ending: Ending): Ending {
		const { silence } = this.options;
		if (silence === undefined || ending.reported === 'never') return ending;
		if (ending.reported === 'beforeResponse') return ending;
		return { ...ending, reported: { afterMs: silence } };
	}

	private async report(
		transaction: Transaction,
		{ status, paid, times }: Exclude<Ending, { reported: 'never' }>,
	): Promise<void> {
		const body = this.changeStatus(transaction, status, paid);
		const postbacks = [this.sendPostback(transaction, body)];
		while (postbacks.length < times) {
			postbacks.push(this.sendPostback(transaction, body, 'twice'));
		}
		await Promise.all(postbacks);
	}

	private async respond(
		transaction: Transaction,
		rehearsal: Rehearsal | undefined,
		request: Request,
		response: Response,
	): Promise<void> {
		const { id, status, qrCode } = transaction;
		const success = this.options.saysSuccess ? { success: true } : {};
		const code = await this.shownCode(id, qrCode);
		const body = { ...success, ...responseBodyOf(transaction, status, code, rehearsal) };
		const effect = rehearsal?.effect;
		const respond = () => response.status(201).json(body);
		if (effect?.kind !== 'carriedOut') return void respond();
		const { silence } = this.options;
		const isSlow = effect.fault.kind === 'delay' && silence !== undefined;
		const fault: Fault = isSlow ? { kind: 'delay', ms: silence } : effect.fault;
		this.play(fault, request, response, respond);
	}

	/** A code as responses have it. */
	private async shownCode(id: string, qrCode: string | undefined): Promise<string | undefined> {
		const { qrCodeAs } = this.options;
		if (qrCode === undefined || qrCodeAs === undefined) return qrCode;
		return await pictureOf(qrCode, qrCodeAs, `${this.url}/transactions/${id}/qr.svg`);
	}

	private remember(
		{ kind, noun, isReported }: ContractFacts,
		{ amount, external_id, postbackUrl }: RequestBody,
		exchange: Exchange,
	): Transaction {
		const id = randomUUID();
		const occurrence = (this.occurrences.get(`${kind} ${external_id}`) ?? 0) + 1;
		this.occurrences.set(`${kind} ${external_id}`, occurrence);
		const transaction: Transaction = {
			id,
			kind,
			noun,
			isReported,
			external_id,
			amount,
			status: 'waiting',
			changes: [],
			postbackUrl: isReported ? (this.options.notificationUrl ?? postbackUrl) : undefined,
			qrCode: qrCodeOf({ kind, id, external_id, amount }),
			postbacks: [],
			exchange,
			occurrence,
		};
		exchange.transaction = id;
		this.transactions.push(transaction);
		return transaction;
	}

	private readonly explainRejection = (
		error: Error & { status?: number; errors?: unknown },
		_request: Request,
		response: Response,
		next: NextFunction,
	) => {
		if (response.headersSent) return next(error);
		const { message, errors } = error;
		// A body that breaks the contract, however it does, gets the same response.
		const breaksContract = error.status === 400 || error.status === 415;
		if (breaksContract && this.options.saysSuccess) {
			return response.status(200).json({ success: false, message, errors });
		}
		const status = breaksContract ? 422 : (error.status ?? 500);
		response.status(status).json({ message, errors });
	};
}

function rewrite(request: Request, url: string): void {
	request.url = url;
	request.originalUrl = url;
}
