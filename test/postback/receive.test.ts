import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import type { INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { parsePostback } from '../../nodes/Pay/postback/postback';
import { answered, readPostback, refusePostback, toItem } from '../../nodes/Pay/postback/receive';

const FORM = 'multipart/form-data; boundary=B';

/** n8n's side of a call, as far as it is read here; the engine's own stands in requests.test.ts. */
function called(setting: {
	headers?: Record<string, string>;
	request?: object;
	body?: unknown;
	headersSent?: boolean;
}) {
	const { headers = {}, request = {}, body = {}, headersSent = false } = setting;
	const written: unknown[] = [];
	const logged: unknown[] = [];
	const copied: unknown[] = [];
	const response = {
		headersSent,
		status: (code: number) => {
			written.push(code);
			return { json: (content: unknown) => written.push(content) };
		},
	};
	const context = {
		getWorkflow: () => ({ id: 'w' }),
		getNode: () => ({ name: 'Trigger' }),
		logger: { warn: (...all: unknown[]) => void logged.push(all) },
		getResponseObject: () => response,
		getRequestObject: () => request,
		getHeaderData: () => headers,
		getQueryData: () => ({ a: '1' }),
		getBodyData: () => body,
		nodeHelpers: {
			copyBinaryFile: async (...all: string[]) => {
				copied.push(all);
				const [path] = all;
				return path?.startsWith('/stored/')
					? { id: path, data: 'filesystem', mimeType: 'x' }
					: { data: Buffer.from(path ?? '').toString('base64'), mimeType: 'x' };
			},
		},
		helpers: { getBinaryStream: async (id: string) => Readable.from([Buffer.from(`of ${id}`)]) },
	} as unknown as IWebhookFunctions;
	return { context, written, logged, copied };
}

describe('a postback that is refused', () => {
	test('is answered, logged without anything of the request, and moves nothing', () => {
		const { context, written, logged } = called({});
		expect(refusePostback(context, 401, 'No proof')).toStrictEqual({ noWebhookResponse: true });
		expect(written).toStrictEqual([401, { message: 'No proof' }]);
		const facts = { workflowId: 'w', node: 'Trigger' };
		expect(logged).toStrictEqual([['Pay refused a postback (401): No proof', facts]]);
	});

	test('is not answered a second time', () => {
		const { context, written, logged } = called({ headersSent: true });
		expect(refusePostback(context, 500, 'x', new TypeError('why'))).toStrictEqual({
			noWebhookResponse: true,
		});
		expect(written).toStrictEqual([]);
		expect(logged).toStrictEqual([
			['Pay refused a postback (500): x (TypeError: why)', expect.any(Object)],
		]);
	});
});

describe('work that fails', () => {
	const failing = async (error: unknown) => {
		const { context, written } = called({});
		const result = await answered(context, async () => await Promise.reject(error as Error));
		expect(result).toStrictEqual({ noWebhookResponse: true });
		return written[0];
	};

	test.each<[string, unknown, number]>([
		["n8n's own status", { httpStatusCode: 413 }, 413],
		["the body parser's status", { statusCode: 400 }, 400],
		['the last status of a refusal', { statusCode: 499 }, 499],
		['a status that is no refusal', { statusCode: 399 }, 500],
		['a status of a failure', { httpStatusCode: 500, statusCode: 400 }, 500],
		['a status that is a text', { statusCode: '404' }, 500],
		['no status', new Error('x'), 500],
		['nothing', undefined, 500],
		['null', null, 500],
	])('with %s is answered with a status of its own', async (_what, error, status) => {
		expect(await failing(error)).toBe(status);
	});

	test('ends without an answer where not even that can be given', async () => {
		const broken = {} as IWebhookFunctions;
		const work = async () => await Promise.reject(new Error('x'));
		expect(await answered(broken, work)).toStrictEqual({ noWebhookResponse: true });
	});

	test('while work that does not fail gives what it gives (the control)', async () => {
		const work = async () => await Promise.resolve({ webhookResponse: 'OK' });
		expect(await answered(called({}).context, work)).toStrictEqual({ webhookResponse: 'OK' });
	});
});

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
		const postback = await readPostback(context);
		expect(postback).toMatchObject({ method: 'PUT', body: { a: 1 }, query: { a: '1' } });
		await readPostback(context);
		expect(request.reads).toBe(1);
	});

	test('without a body is an empty text', async () => {
		const { context } = called({ request: { method: 'GET', readRawBody: async () => undefined } });
		expect(await readPostback(context)).toMatchObject({ method: 'GET', body: '', rawBody: '' });
	});

	test('of a form is not read again, which throws', async () => {
		const readRawBody = async () => await Promise.reject(new Error('stream is not readable'));
		const setting = { headers: { 'content-type': FORM }, body: { data: { a: '1' } } };
		const whole = called({ ...setting, request: { method: 'POST', readRawBody, complete: true } });
		expect(await readPostback(whole.context)).toMatchObject({ body: { a: '1' } });
		const cut = { method: 'POST', readRawBody, complete: false, destroyed: true };
		await expect(readPostback(called({ ...setting, request: cut }).context)).rejects.toThrow(
			/cut before the end of the form/,
		);
	});

	test.each([
		['its end comes a moment later', 'end', true],
		['its connection is closed with the end', 'close', true],
		['its connection is closed without it', 'close', false],
		['its connection breaks', 'error', false],
	])('of a form is judged when %s', async (_what, event, complete) => {
		const end = Object.assign(new EventEmitter(), {
			...{ method: 'POST', complete: false, resume: jest.fn() },
		});
		const setting = { headers: { 'content-type': FORM }, body: { data: { a: '1' } } };
		const judged = readPostback(called({ ...setting, request: end }).context).catch(String);
		await new Promise(setImmediate);
		expect(end.resume).toHaveBeenCalledTimes(1);
		end.complete = complete;
		end.emit(event, new Error('reset'));
		const expected = complete ? { body: { a: '1' } } : expect.stringMatching(/connection was cut/);
		expect(await judged).toEqual(
			complete ? expect.objectContaining(expected as object) : (expected as unknown),
		);
	});

	test('of a form whose end never comes is refused after ten seconds', async () => {
		jest.useFakeTimers();
		try {
			const end = Object.assign(new EventEmitter(), { method: 'POST', complete: false });
			const setting = { headers: { 'content-type': FORM }, body: { data: { a: '1' } } };
			const judged = readPostback(called({ ...setting, request: end }).context).catch(String);
			await jest.advanceTimersByTimeAsync(9_999);
			expect(jest.getTimerCount()).toBe(1);
			await jest.advanceTimersByTimeAsync(1);
			expect(await judged).toMatch(/connection was cut/);
		} finally {
			jest.useRealTimers();
		}
	});

	test.each([
		['bytes came', { 'content-length': '57' }, {}, true],
		['bytes came in pieces', { 'transfer-encoding': 'chunked' }, {}, true],
		['bytes came, and a file', { 'content-length': '57' }, { files: { a: {} } }, false],
		['bytes came, and a field', { 'content-length': '57' }, { data: { a: '' } }, false],
		['none came', { 'content-length': '0' }, {}, false],
		['none was said to come', {}, {}, false],
	])('of a form that n8n read to nothing is refused where %s', async (_w, headers, body, no) => {
		const { context } = called({
			headers: { 'content-type': FORM, ...headers } as Record<string, string>,
			request: { method: 'POST', complete: true },
			body: { data: {}, files: {}, ...body },
		});
		const read = readPostback(context);
		if (no) await expect(read).rejects.toThrow(/form could not be read/);
		else expect(await read).toHaveProperty('body');
	});

	test('of another kind may be said to be incomplete: its body has been read', async () => {
		const request = { method: 'POST', rawBody: Buffer.from('x'), complete: false };
		expect(await readPostback(called({ request }).context)).toMatchObject({ body: 'x' });
	});
});

describe('the item of a postback', () => {
	const postback = (headers = {}, parsedBody: unknown = { data: {} }) =>
		parsePostback({ method: 'POST', query: {}, headers }, Buffer.from('{}'), parsedBody);
	const headers = { 'content-type': FORM };
	const file = (filepath: string, more = {}) => ({ filepath, mimetype: 'image/png', ...more });

	test('without files and without an item that waits is the postback', async () => {
		const item = await toItem(called({}).context, postback(), null);
		expect(Object.keys(item)).toStrictEqual(['json']);
		expect(item.json).toMatchObject({ reference: null, body: {}, method: 'POST' });
		expect(Date.now() - Date.parse(String(item.json.receivedAt))).toBeLessThan(60_000);
	});

	test('of a form has its files, by field, numbered where a field has more', async () => {
		const files = {
			receipt: file('/tmp/1', { originalFilename: 'r.png', newFilename: 'n' }),
			pages: [file('/tmp/2', { newFilename: 'n.png' }), file('/stored/3', { mimetype: null })],
		};
		const { context, copied } = called({ headers, body: { data: {}, files } });
		const { binary } = await toItem(context, postback(headers), null);
		expect(Object.keys(binary ?? {})).toStrictEqual(['receipt', 'pages0', 'pages1']);
		expect(copied).toStrictEqual([
			['/tmp/1', 'r.png', 'image/png'],
			['/tmp/2', 'n.png', 'image/png'],
			['/stored/3', 'pages', undefined],
		]);
	});

	test('of a form loses no file to another of the same name', async () => {
		const files = { f: [file('/tmp/1'), file('/tmp/2')], f0: file('/tmp/3'), f_2: file('/tmp/4') };
		const input = { json: {}, binary: { f1: { data: 'eA==', mimeType: 'x' } } };
		const { context } = called({ headers, body: { data: {}, files } });
		const { binary } = await toItem(context, postback(headers), null, input);
		const kept = Object.entries(binary!).map(([name, { data }]) => [
			name,
			Buffer.from(data, 'base64').toString(),
		]);
		expect(Object.fromEntries(kept)).toStrictEqual({
			...{ f1: 'x', f0: '/tmp/1', postback_f1: '/tmp/2', f0_2: '/tmp/3', f_2: '/tmp/4' },
		});
	});

	test('has another eventId where a file of it is another, wherever n8n keeps files', async () => {
		const idWith = async (path: string) => {
			const { context } = called({ headers, body: { data: {}, files: { a: file(path) } } });
			return (await toItem(context, postback(headers), null)).json.eventId;
		};
		const ids = await Promise.all(['/tmp/1', '/tmp/2', '/stored/1', '/stored/2'].map(idWith));
		expect(new Set(ids).size).toBe(4);
		expect(await idWith('/tmp/1')).toBe(ids[0]);
		const hash = (text: string) => createHash('sha256').update(text).digest('hex');
		const expected = (content: string) =>
			hash(`${JSON.stringify(['POST', null, [], [['a', hash(content)]]])}\n{}`);
		expect([ids[0], ids[2]]).toStrictEqual([expected('/tmp/1'), expected('of /stored/1')]);
	});

	test('is added to the item that waits, whose files keep their names', async () => {
		const input: INodeExecutionData = {
			json: { order: 7 },
			binary: { receipt: { data: 'aGk=', mimeType: 'text/plain' } },
		};
		const files = { receipt: file('/tmp/1'), other: file('/tmp/2') };
		const { context } = called({ headers, body: { data: {}, files } });
		const item = await toItem(context, postback(headers), null, input);
		expect(item.json).toMatchObject({ order: 7, postback: { method: 'POST' } });
		expect(item.pairedItem).toStrictEqual({ item: 0 });
		expect(Object.keys(item.binary ?? {})).toStrictEqual(['receipt', 'postback_receipt', 'other']);
		expect(item.binary?.receipt).toBe(input.binary?.receipt);
	});

	test('of anything but a form has no files, whatever n8n parsed', async () => {
		const { context, copied } = called({ body: { files: { a: file('/tmp/1') } } });
		expect(await toItem(context, postback(), null)).not.toHaveProperty('binary');
		expect(copied).toStrictEqual([]);
	});

	test('of a form without files has none', async () => {
		const { context } = called({ headers, body: { data: {} } });
		expect(await toItem(context, postback(headers), null)).not.toHaveProperty('binary');
	});
});
