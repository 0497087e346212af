import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router, type Response } from 'express';
import { renderSVG } from 'uqr';
import {
	fieldsOf,
	headersWithoutSecret,
	jsonWithoutSecrets,
	secretsOf,
	shortened,
	type Exchange,
	type Journal,
} from './journal';
import type { Postback } from './postbacks';
import { REHEARSALS, SEQUELS, type Rehearsal } from './rehearsals';
import type { ClientCredentials, Tokens } from './tokens';
import type { Status, Transaction } from './transaction';

/** How many transactions the page shows. */
const TRANSACTIONS_SHOWN = 50;
/** Changes within this time reach the page at once, in milliseconds. */
const TOGETHER = 50;

/** What the pages show of a sandbox, and what their buttons do to it. */
interface ShownSandbox {
	readonly url: string;
	readonly tokenUrl: string;
	readonly options: {
		amountsAct?: boolean;
		schemeName?: string;
		clientCredentials?: ClientCredentials;
	};
	readonly transactions: Transaction[];
	readonly journal: Journal;
	readonly tokens?: Tokens;
	readonly orderedRehearsal?: Rehearsal;
	/** @returns what ends the watching */
	watch(watcher: () => void): () => void;
	/** @returns the body of the postback that reports it */
	changeStatus(transaction: Transaction, status: Status): string;
	/** Never rejects: the pages do not wait until it has ended. */
	sendPostback(transaction: Transaction, body: string, note?: Postback['note']): Promise<void>;
	order(rehearsal: Rehearsal | undefined): void;
	revokeTokens(): void;
}

type Fields = ReturnType<typeof fieldsOf>;

/** The fields of each body, kept: otherwise an open page would parse all bodies again at every change. */
const parsed = new WeakMap<Exchange, { body: string; fields: Fields }>();

function fieldsOfExchange(exchange: Exchange): Fields {
	const { body } = exchange;
	const kept = parsed.get(exchange);
	if (kept?.body === body) return kept.fields;
	const fields = fieldsOf(body);
	parsed.set(exchange, { body, fields });
	return fields;
}

function exchangeView(exchange: Exchange) {
	const { number, at, method, path, body, response, transaction } = exchange;
	return {
		number,
		at,
		method,
		path,
		headers: headersWithoutSecret(exchange),
		body,
		fields: fieldsOfExchange(exchange),
		response,
		transaction,
	};
}

function transactionView(transaction: Transaction) {
	return {
		id: transaction.id,
		noun: transaction.noun,
		isReported: transaction.isReported,
		external_id: transaction.external_id,
		amount: transaction.amount,
		status: transaction.status,
		changes: transaction.changes,
		postbackUrl: transaction.postbackUrl,
		qrCode: transaction.qrCode,
		postbacks: transaction.postbacks,
		exchange: exchangeView(transaction.exchange),
		occurrence: transaction.occurrence,
	};
}

/** JSON for the page: whatever it holds, the secrets that the sandbox knows of are not in it. */
function jsonForPage(sandbox: ShownSandbox, value: unknown): string {
	const { transactions, journal, tokens, options } = sandbox;
	const shown = transactions.slice(-TRANSACTIONS_SHOWN).map(({ exchange }) => exchange);
	const secrets = secretsOf(journal.exchanges.concat(shown));
	if (tokens !== undefined) secrets.push(...tokens.given);
	if (options.clientCredentials !== undefined) secrets.push(options.clientCredentials.clientSecret);
	return jsonWithoutSecrets(value, secrets);
}

/** How to get a token; undefined where any token is taken. */
function tokensView({ tokens, tokenUrl, options }: ShownSandbox) {
	const { clientCredentials } = options;
	if (tokens === undefined || clientCredentials === undefined) return undefined;
	return {
		url: tokenUrl,
		clientId: clientCredentials.clientId,
		clientSecret: shortened(clientCredentials.clientSecret),
		life: clientCredentials.tokenLife ?? 3600,
		oneActive: clientCredentials.oneActiveToken === true,
		active: tokens.active,
	};
}

/** What the page shows, newest first. */
function stateOf(sandbox: ShownSandbox): string {
	const { transactions, journal, options, orderedRehearsal } = sandbox;
	return jsonForPage(sandbox, {
		baseUrl: sandbox.url,
		schemeName: options.schemeName ?? 'pay',
		tokens: tokensView(sandbox),
		orderedRehearsal: orderedRehearsal?.name ?? 'normal',
		transactions: transactions.slice(-TRANSACTIONS_SHOWN).reverse().map(transactionView),
		exchanges: [...journal.exchanges].reverse().map(exchangeView),
	});
}

/** What the page's script is given once: the lists that it does not have of its own. */
function listsOf({ options }: ShownSandbox) {
	return {
		rehearsals: REHEARSALS.map(({ name, label, description, amount }) => ({
			name,
			label,
			description,
			amount,
		})),
		sequels: SEQUELS.map(({ amount, description }) => ({ amount, description })),
		amountsAct: options.amountsAct === true,
	};
}

interface Html {
	text: string;
	policy: string;
}

/**
 * Reads a page and makes a Content Security Policy that lets only its own script and style in:
 * should a request's text ever become markup, it still could not run.
 */
function readPage(name: string): Html {
	const text = readFileSync(join(__dirname, name), 'utf8');
	const hashes = (tag: string) =>
		[...text.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))]
			.map(([, inner = '']) => `'sha256-${createHash('sha256').update(inner).digest('base64')}'`)
			.join(' ');
	const policy = [
		"default-src 'none'",
		`script-src ${hashes('script')}`,
		`style-src ${hashes('style')}`,
		"img-src 'self' data:",
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	].join('; ');
	return { text, policy };
}

function show(response: Response, { text, policy }: Html): void {
	response.set('Content-Security-Policy', policy).type('html').send(text);
}

/** The page for the person, the page for the payer, and what both call. */
export function pageRoutes(sandbox: ShownSandbox): Router {
	const router = Router();
	const page = readPage('page.html');
	const payer = readPage('payer.html');
	const find = (id: string) => sandbox.transactions.find((known) => known.id === id);

	router.use((_request, response, next) => {
		response.set({
			'Cache-Control': 'no-store',
			'Cross-Origin-Resource-Policy': 'same-origin',
			'Referrer-Policy': 'no-referrer',
			'X-Content-Type-Options': 'nosniff',
		});
		next();
	});
	router.get('/', (_request, response) => show(response, page));
	router.get('/pay/:id', (_request, response) => show(response, payer));
	router.get('/state', (_request, response) => {
		response.type('json').send(stateOf(sandbox));
	});
	router.get('/lists', (_request, response) => {
		response.json(listsOf(sandbox));
	});
	router.get('/events', (request, response) => {
		response.writeHead(200, { 'Content-Type': 'text/event-stream' });
		let soon: NodeJS.Timeout | undefined;
		const send = () => {
			soon = undefined;
			// The data is one line: JSON has no line breaks of its own.
			response.write(`data: ${stateOf(sandbox)}\n\n`);
		};
		send();
		const unwatch = sandbox.watch(() => (soon ??= setTimeout(send, TOGETHER)));
		request.on('close', () => {
			unwatch();
			clearTimeout(soon);
		});
	});
	router.get('/transactions/:id', (request, response, next) => {
		const transaction = find(request.params.id);
		if (transaction === undefined) return next();
		response.type('json').send(jsonForPage(sandbox, transactionView(transaction)));
	});
	router.get('/transactions/:id/qr.svg', (request, response, next) => {
		const qrCode = find(request.params.id)?.qrCode;
		if (qrCode === undefined) return next();
		response.type('svg').send(renderSVG(qrCode, { ecc: 'M', border: 4, pixelSize: 4 }));
	});
	router.post('/transactions/:id/:act', (request, response, next) => {
		const { id, act } = request.params;
		const transaction = find(id);
		if (!transaction?.isReported || (act !== 'pay' && act !== 'fail')) return next();
		// What throws here throws before the response, and Express makes a 500 of it.
		const body = sandbox.changeStatus(transaction, act === 'pay' ? 'paid' : 'failed');
		void sandbox.sendPostback(transaction, body);
		response.status(202).end();
	});
	router.post('/transactions/:id/postbacks/:index/:how', (request, response, next) => {
		const transaction = find(request.params.id);
		const postback = transaction?.postbacks[Number(request.params.index)];
		if (transaction === undefined || postback === undefined) return next();
		const { body } = postback;
		switch (request.params.how) {
			case 'again':
				void sandbox.sendPostback(transaction, body, 'again');
				break;
			case 'twice':
				void sandbox.sendPostback(transaction, body, 'twice');
				void sandbox.sendPostback(transaction, body, 'twice');
				break;
			default:
				return next();
		}
		response.status(202).end();
	});
	router.post('/next/:name', (request, response, next) => {
		const { name } = request.params;
		const rehearsal = REHEARSALS.find((known) => known.name === name);
		if (rehearsal === undefined && name !== 'normal') return next();
		sandbox.order(rehearsal);
		response.status(202).end();
	});
	router.post('/tokens/revoke', (_request, response) => {
		sandbox.revokeTokens();
		response.status(202).end();
	});
	return router;
}
