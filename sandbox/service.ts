import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express, { type NextFunction, type Request, type Response } from 'express';
import { middleware as openApi } from 'express-openapi-validator';
import { brCode } from './brCode';
import { parseFault, playFault, type Fault } from './faults';
import { deliver, type Delivery } from './postbacks';

/** A request of one of the two operations, as it came, whatever became of it. */
export interface Received {
	path: string;
	headers: IncomingHttpHeaders;
	/** The body's text; empty when the connection was cut before it was read. */
	body: string;
}

/** A charge or payment that the sandbox took, with what it told about it. */
export interface Transaction {
	id: string;
	kind: 'qrCode' | 'payment';
	external_id: string;
	amount: number;
	status: 'waiting' | 'paid' | 'failed';
	postbackUrl?: string;
	qrCode?: string;
	deliveries: Delivery[];
}

export interface SandboxOptions {
	/** 0 takes a free port. */
	port?: number;
	/** Milliseconds until a payment is reported as paid; never, when undefined. */
	settlePaymentsAfter?: number;
}

/**
 * The service's contract as a server: it takes what openapi.yaml allows and refuses the rest. What
 * the document does not show (answers, statuses, notifications) is made up here as an illustration.
 */
export class Sandbox {
	readonly received: Received[] = [];
	readonly transactions: Transaction[] = [];
	/** Orders a fault for a request; the base URL `…/fault/<name>` orders one too. */
	faultFor?: (request: Received) => Fault | undefined;

	private readonly server: Server;
	private readonly deliveries = new Set<Promise<void>>();

	private constructor(private readonly options: SandboxOptions) {
		this.server = createServer(this.application());
		// Answers that never come are ordered by tests, which then close the sandbox.
		this.server.requestTimeout = 0;
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

	async close(): Promise<void> {
		this.server.closeAllConnections();
		this.server.close();
		await once(this.server, 'close');
	}

	/** The bodies that arrived for one operation, parsed, oldest first. */
	bodies(operation: 'qrcode' | 'payment'): Array<Record<string, unknown>> {
		return this.received
			.filter(({ path, body }) => path === `/v2/pay/${operation}` && body !== '')
			.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
	}

	/** Reports a status to the transaction's postback URL, again if it was reported before. */
	async settle(id: string, status: Transaction['status']): Promise<void> {
		const transaction = this.transactions.find((known) => known.id === id);
		if (transaction === undefined) throw new Error(`There is no transaction ${id}`);
		transaction.status = status;
		await this.notify(transaction);
	}

	private async notify(transaction: Transaction): Promise<void> {
		const { id, kind, external_id, amount, status, postbackUrl } = transaction;
		if (postbackUrl === undefined) return;
		const illustration = { event: `${kind}.${status}`, id, external_id, amount, status };
		const delivery = deliver(postbackUrl, illustration, (done) =>
			transaction.deliveries.push(done),
		);
		this.deliveries.add(delivery);
		await delivery.finally(() => this.deliveries.delete(delivery));
	}

	private application() {
		const app = express();
		app.disable('x-powered-by');
		app.get('/', (_request, response) => response.sendFile(join(__dirname, 'page.html')));
		app.get('/transactions', (_request, response) => {
			response.json(this.transactions);
		});
		app.post('/transactions/:id/:act', (request, response, next) => {
			const { id, act } = request.params;
			const transaction = this.transactions.find((known) => known.id === id);
			if (transaction === undefined) return next();
			const status = act === 'pay' ? 'paid' : act === 'fail' ? 'failed' : transaction.status;
			void this.settle(id, status);
			response.json(transaction);
		});

		app.use('/fault/:name', (request, response, next) => {
			const fault = parseFault(request.params.name ?? '');
			response.locals.fault = fault;
			next(fault === undefined ? new Error('No such fault') : undefined);
		});
		// The fault's part of the path is cut off, so that the contract sees its own paths.
		app.use((request, _response, next) => {
			request.url = request.url.replace(/^\/fault\/[^/]+/, '');
			request.originalUrl = request.url;
			next();
		});
		app.use(this.takeRequest);
		app.use(
			openApi({
				apiSpec: join(__dirname, 'openapi.yaml'),
				validateResponses: false,
				validateSecurity: {
					handlers: {
						accessToken: (request) => /^Bearer \S+$/.test(request.headers.authorization ?? ''),
					},
				},
			}),
		);
		app.post('/v2/pay/qrcode', (request, response) => {
			response.status(201).json(this.charge(request.body));
		});
		app.post('/v2/pay/payment', (request, response) => {
			response.status(201).json(this.pay(request.body));
		});
		app.use(explainRefusal);
		return app;
	}

	/** Writes every request down, reads its body, and plays an ordered fault. */
	private readonly takeRequest = (request: Request, response: Response, next: NextFunction) => {
		const received: Received = { path: request.path, headers: request.headers, body: '' };
		this.received.push(received);
		const orderedByUrl = response.locals.fault as Fault | undefined;
		if (orderedByUrl?.kind === 'reset-before-body') {
			return playFault(orderedByUrl, request, response, next);
		}
		express.json({
			verify: (_request, _response, bytes) => {
				received.body = bytes.toString();
			},
		})(request, response, (error?: unknown) => {
			if (error) return next(error);
			const fault = orderedByUrl ?? this.faultFor?.(received);
			if (fault) playFault(fault, request, response, next);
			else next();
		});
	};

	private remember(kind: Transaction['kind'], body: Record<string, unknown>): Transaction {
		const transaction: Transaction = {
			id: randomUUID(),
			kind,
			external_id: body.external_id as string,
			amount: body.amount as number,
			status: 'waiting',
			postbackUrl: body.postbackUrl as string | undefined,
			deliveries: [],
		};
		this.transactions.push(transaction);
		return transaction;
	}

	private charge(body: Record<string, unknown>) {
		const charge = this.remember('qrCode', body);
		charge.qrCode = brCode(charge.id, charge.amount);
		const { id, external_id, amount, status, qrCode } = charge;
		return { id, external_id, amount, status, qrCode };
	}

	private pay(body: Record<string, unknown>) {
		const payment = this.remember('payment', body);
		const { settlePaymentsAfter } = this.options;
		if (settlePaymentsAfter !== undefined) {
			setTimeout(() => void this.settle(payment.id, 'paid'), settlePaymentsAfter).unref();
		}
		const { id, external_id, amount, status } = payment;
		return { id, external_id, amount, status };
	}
}

function explainRefusal(
	error: Error & { status?: number; errors?: unknown },
	_request: Request,
	response: Response,
	next: NextFunction,
) {
	if (response.headersSent) return next(error);
	// A body that breaks the contract, however it does, is answered alike.
	const status = error.status === 400 || error.status === 415 ? 422 : (error.status ?? 500);
	response.status(status).json({ message: error.message, errors: error.errors });
}
