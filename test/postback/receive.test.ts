import { EventEmitter } from 'node:events';
import type { INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { toPostbackItem } from '../../nodes/Pay/postback/match';
import { type Postback, readContent, readPostback } from '../../nodes/Pay/postback/postback';
import { logNotAwaited, refuseOnError, refusePostback } from '../../nodes/Pay/postback/respond';
import { judgedPostback, postbackOf } from './postbackOf';
import { webhookContext } from '../contexts';

/** A refusal as n8n logs it, as text and with its facts. */
function logLine(sentence: string, facts = {}) {
	const all = { workflow: 'Orders', workflowId: 'w', node: 'Trigger', ...facts };
	return [`${sentence} ${JSON.stringify(all)}`, all];
}

/** n8n's side of a call, as far as it is read here; the engine's own stands in requests.test.ts. */
function called(setting: {
	headers?: Record<string, string>;
	request?: object;
	headersSent?: boolean;
}) {
	const { headers = {}, request = {}, headersSent = false } = setting;
	const written: unknown[] = [];
	const logged: unknown[] = [];
	const response = {
		headersSent,
		setHeader: (...all: unknown[]) => written.push(all),
		status: (code: number) => {
			written.push(code);
			return { json: (content: unknown) => written.push(content) };
		},
	};
	const context = webhookContext({
		getNode: () => ({ name: 'Trigger' }),
		logger: { warn: (...all: unknown[]) => void logged.push(all) },
		getResponseObject: () => response,
		getRequestObject: () => request,
		getHeaderData: () => headers,
		getQueryData: () => ({ a: '1' }),
	});
	return { context, written, logged };
}

describe('a postback that is refused', () => {
	test('is answered, logged without anything of the request, and moves nothing', () => {
		const { context, written, logged } = called({});
		expect(refusePostback(context, 401, 'No proof')).toStrictEqual({ noWebhookResponse: true });
		expect(written).toStrictEqual([401, { message: 'No proof' }]);
		expect(logged).toStrictEqual([logLine('Pay refused a postback (401): No proof')]);
	});

	test('is not answered a second time', () => {
		const { context, written, logged } = called({ headersSent: true });
		expect(refusePostback(context, 500, 'x', new TypeError('why'))).toStrictEqual({
			noWebhookResponse: true,
		});
		expect(written).toStrictEqual([]);
		expect(logged).toStrictEqual([logLine('Pay refused a postback (500): x (TypeError: why)')]);
	});
});

describe('work that fails', () => {
	const failing = async (error: unknown) => {
		const { context, written } = called({});
		const result = await refuseOnError(context, async () => await Promise.reject(error as Error));
		expect(result).toStrictEqual({ noWebhookResponse: true });
		expect(written[0]).toStrictEqual(['Connection', 'close']);
		return written[1];
	};

	test.each<{ what: string; error: unknown; status: number }>([
		{ what: "n8n's own status", error: { httpStatusCode: 413 }, status: 413 },
		{ what: "the body parser's status", error: { statusCode: 400 }, status: 400 },
		{ what: 'the last status of a refusal', error: { statusCode: 499 }, status: 499 },
		{ what: 'a status that is no refusal', error: { statusCode: 399 }, status: 500 },
		{ what: 'a status of a failure', error: { httpStatusCode: 500, statusCode: 400 }, status: 500 },
		{ what: 'a status that is a text', error: { statusCode: '404' }, status: 500 },
		{ what: 'no status', error: new Error('x'), status: 500 },
		{ what: 'nothing', error: undefined, status: 500 },
		{ what: 'null', error: null, status: 500 },
	])('with $what is answered with a status of its own', async ({ error, status }) => {
		expect(await failing(error)).toBe(status);
	});

	test('ends without an answer where not even that can be given', async () => {
		const broken = {} as IWebhookFunctions;
		const work = async () => await Promise.reject(new Error('x'));
		expect(await refuseOnError(broken, work)).toStrictEqual({ noWebhookResponse: true });
	});

	test('while work that does not fail gives what it gives (the control)', async () => {
		const work = async () => await Promise.resolve({ webhookResponse: 'OK' });
		expect(await refuseOnError(called({}).context, work)).toStrictEqual({ webhookResponse: 'OK' });
	});
});

test('the log names the charge of a postback that its workflow does not go on with, and no value', () => {
	const { context, logged } = called({});
	const reference = { external_id: 'order-1', kind: 'qrCode', amount: 5 };
	const judged = judgedPostback(postbackOf({ status: 'secret' }), reference, undefined);
	logNotAwaited(context, 'the field "state" is missing', judged);
	const sentence =
		'Pay received a postback, but the workflow does not continue with it: the field "state" is missing. The postback has: status';
	expect(logged).toStrictEqual([logLine(sentence, { external_id: 'order-1' })]);
});

/** A postback of an account without words, whose URL proves nothing. */
const unjudged = (postback: Postback) => judgedPostback(postback, null, undefined);

/** Reads the body, then the postback. */
async function readRequest(context: IWebhookFunctions, bodyTime: number) {
	return await readPostback(context, await readContent(context, bodyTime), {
		isSignedByService: false,
	});
}

describe('the request of a postback', () => {
	test('is read by the node where n8n has left it, and only there', async () => {
		const request = {
			method: 'PUT',
			reads: 0,
			rawBody: undefined as Buffer | undefined,
			async readRawBody() {
				this.reads++;
				this.rawBody = Buffer.from('{"a":1}');
			},
		};
		const { context } = called({ request });
		const postback = await readRequest(context, 60_000);
		expect(postback).toMatchObject({ method: 'PUT', body: { a: 1 }, query: { a: '1' } });
		await readRequest(context, 60_000);
		expect(request.reads).toBe(1);
	});

	test('without a body is an empty text', async () => {
		const { context } = called({ request: { method: 'GET', readRawBody: async () => undefined } });
		expect(await readRequest(context, 60_000)).toMatchObject({
			method: 'GET',
			body: '',
			rawBody: '',
		});
	});

	test.each(['', 'identity', 'gzip', 'deflate'])('in the encoding "%s" is read', async (name) => {
		const request = { method: 'POST', rawBody: Buffer.from('x'), complete: true };
		const { context } = called({ request, headers: { 'content-encoding': name } });
		expect(await readRequest(context, 60_000)).toMatchObject({ body: 'x' });
	});

	test.each(['br', 'zstd', 'gzip, br'])('in the encoding "%s" is refused, unread', async (name) => {
		const readRawBody = jest.fn();
		const request = { method: 'POST', readRawBody };
		const { context } = called({ request, headers: { 'content-encoding': name } });
		await expect(readRequest(context, 60_000)).rejects.toMatchObject({ statusCode: 415 });
		expect(readRawBody).not.toHaveBeenCalled();
	});

	/** A request whose end has not come, and whose body n8n reads for ever. */
	const endless = () =>
		Object.assign(new EventEmitter(), {
			method: 'POST',
			complete: false,
			readRawBody: async () => await new Promise(() => {}),
		});

	test('is refused where the connection is cut, also while n8n unzips it, and nothing waits on', async () => {
		const timers = () =>
			process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
		const before = timers();
		const request = endless();
		const read = readRequest(called({ request }).context, 60_000);
		request.emit('close');
		await expect(read).rejects.toThrow('The body was cut off');
		expect(timers()).toBe(before);
	});

	test('whose end comes late is read', async () => {
		const request = Object.assign(endless(), {
			rawBody: undefined as Buffer | undefined,
			readRawBody: async () => {
				await new Promise((resolve) => request.once('end', resolve));
				request.rawBody = Buffer.from('late');
			},
		});
		const read = readRequest(called({ request }).context, 60_000);
		request.complete = true;
		request.emit('close');
		request.emit('end');
		expect(await read).toMatchObject({ body: 'late' });
	});

	test('whose end never comes is refused after a minute, with 408', async () => {
		const clock = new AbortController();
		const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(clock.signal);
		const read = readRequest(called({ request: endless() }).context, 60_000);
		expect(timeout.mock.calls).toStrictEqual([[60_000]]);
		clock.abort();
		await expect(read).rejects.toMatchObject({ statusCode: 408 });
		timeout.mockRestore();
	});
});

test('a form that n8n has parsed is taken by its fields', async () => {
	const slip = { filepath: '/tmp/1', originalFilename: 'slip.png', mimetype: 'image/png' };
	const { context } = called({
		request: { method: 'POST', body: { data: { order: '7' }, files: { slip } } },
	});
	const postback = await readRequest(context, 1_000);
	expect(postback).toMatchObject({ body: { order: '7' }, rawBody: '', hasFiles: true });
	expect(Object.keys(toPostbackItem(unjudged(postback)))).toStrictEqual(['json']);
});

test('a form that n8n has parsed with files alone is refused with 415', async () => {
	const { context } = called({
		request: { method: 'POST', body: { data: {}, files: { slip: {} } } },
	});
	await expect(readRequest(context, 1_000)).rejects.toMatchObject({ statusCode: 415 });
});

describe('the item of a postback', () => {
	test('without an item that waits is the postback', () => {
		const item = toPostbackItem(unjudged(postbackOf({})));
		expect(Object.keys(item)).toStrictEqual(['json']);
		expect(item.json).toMatchObject({ reference: null, body: {}, method: 'POST' });
		expect(Object.keys(item.json)).not.toContain('state');
		expect(Date.now() - Date.parse(String(item.json.receivedAt))).toBeLessThan(60_000);
	});

	test('has the state of its charge, and why that is not "paid"', () => {
		const words = { field: ['state'], paid: ['paid'], failed: [], amountField: ['amount'] };
		const charge = { external_id: 'a', kind: 'qrCode', amount: 49.9 };
		const postback = postbackOf({ state: 'paid', amount: 0.01 });
		const { json } = toPostbackItem(judgedPostback(postback, charge, words));
		expect(json).toMatchObject({ reference: charge, state: 'otherAmount' });
		expect(json.stateReason).toContain('"amount"');
	});

	test('is added to the item that waits, which keeps its files', () => {
		const input: INodeExecutionData = {
			json: { order: 7 },
			binary: { receipt: { data: 'aGk=', mimeType: 'text/plain' } },
		};
		const item = toPostbackItem(unjudged(postbackOf({})), input);
		expect(item.json).toMatchObject({ order: 7, postback: { method: 'POST' } });
		expect(item.pairedItem).toStrictEqual({ item: 0 });
		expect(item.binary).toStrictEqual(input.binary);
	});
});
