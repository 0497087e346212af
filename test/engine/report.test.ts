import type { IDataObject, NodeApiError } from 'n8n-workflow';
import { batches, errorOf, forget, outputOf, RETRY } from './engine';
import { lost, ok, send, Service, status, type Answer } from './service';

/* What a run says of its items: as items where it continues, and in the error that stops it. */

beforeEach(forget);

/** A service that answers each External ID in its own way, and others with "yes". */
function serviceOf(answers: Record<string, Answer>): Service {
	const service = new Service();
	service.answer = async (external_id) => await (answers[external_id] ?? ok)();
	return service;
}

/** A response with a status and a body. */
const saying =
	(statusCode: number, body: unknown): Answer =>
	async () => {
		const request = { path: '/', socket: { encrypted: true } };
		const response = { status: statusCode, data: JSON.stringify(body) };
		throw Object.assign(new Error(), { request, response });
	};

/** The only item that a run of one payment gives. */
async function itemAfter(answer: Answer, more: Parameters<typeof send>[2] = {}) {
	const run = await send(serviceOf({ a: answer }), ['a'], more);
	return outputOf(run, 'Pay')[0]!;
}
const errorIn = ({ json }: { json: IDataObject }) => json.error as IDataObject;

test('an accepted item has its six members and no error at its top, whatever the service says', async () => {
	const said: Answer = async () => ({
		statusCode: 201,
		body: '{"error":"a member of the answer"}',
	});
	expect(await itemAfter(said)).toStrictEqual({
		json: {
			external_id: 'a',
			amount: 1,
			kind: 'payment',
			outcome: 'accepted',
			statusCode: 201,
			response: { error: 'a member of the answer' },
		},
		pairedItem: { item: 0 },
	});
});

test('in the regular output a failed item has the members of an accepted one and error, nothing empty', async () => {
	expect(await itemAfter(saying(422, { why: 'r' }))).toStrictEqual({
		json: {
			external_id: 'a',
			amount: 1,
			kind: 'payment',
			outcome: 'rejected',
			statusCode: 422,
			response: { why: 'r' },
			error: { message: expect.any(String), description: expect.any(String) },
		},
		pairedItem: { item: 0 },
	});
	const refused = await itemAfter(ok, { parameters: { amount: '={{ "" }}' } });
	expect(refused.json).toStrictEqual({
		external_id: 'a',
		kind: 'payment',
		outcome: 'notSent',
		error: { message: expect.any(String), description: expect.any(String), field: 'amount' },
	});
});

test.each<{ how: string; answer: Answer; tokenRejected?: true }>([
	{ how: 'a 401', answer: status(401), tokenRejected: true },
	{ how: 'a 403', answer: status(403), tokenRejected: true },
	{ how: 'a 422', answer: status(422) },
	{
		how: 'a 403 with one of the Rejected Values, which promises that nothing was carried out',
		answer: saying(403, { code: 'no' }),
	},
])('after $how an item says tokenRejected: $tokenRejected', async ({ answer, tokenRejected }) => {
	const words = { resultField: 'code', acceptedValues: 'ok', rejectedValues: 'no' };
	const credential = { describeService: true, ...words };
	const { json } = await itemAfter(answer, { credential });
	expect([json.outcome, json.tokenRejected]).toStrictEqual(['rejected', tokenRejected]);
});

test('a payment that was rejected with an address too long hears how long it was', async () => {
	const postbackUrl = 'https://n8n.example.com/webhook/7/postback';
	const { description } = errorIn(
		await itemAfter(saying(422, { postbackUrl: 'too long' }), {
			parameters: { postback: 'url', postbackUrl },
		}),
	);
	expect(description).toContain(`${postbackUrl.length} characters`);
});

describe('the error that stops the node', () => {
	/** What stops a run of these payments, all in one batch. */
	async function stop(answers: Record<string, Answer>, ids = Object.keys(answers)) {
		const service = serviceOf(answers);
		const run = await send(service, ids, { settings: {}, options: batches(10) });
		return errorOf(run) as NodeApiError;
	}

	test('of one item says no more than that, and nothing of n8n', async () => {
		const error = await stop({ a: lost });
		forget();
		const item = errorIn(await itemAfter(lost));
		const namesItself = (text: unknown) => String(text).includes('"a"');
		expect([error.message, error.description].some(namesItself)).toBe(true);
		expect([error.message, error.description]).toStrictEqual([item.message, item.description]);
		expect(error.name).toBe('NodeApiError');
		expect(error.stack).toBe(`NodeApiError: ${error.message}`);
		expect([error.messages, error.httpCode]).toStrictEqual([[], null]);
		expect(error.context).toMatchObject({
			data: { external_id: 'a', kind: 'payment', outcome: 'unknown' },
		});
	});

	test('of several items names its own once: n8n adds "[item 1]" where it is given a place', async () => {
		for (const error of [await stop({ a: ok, b: lost }), await stop({ c: ok, d: status(422) })]) {
			expect(error.context?.itemIndex).toBeUndefined();
			expect(error.description).toMatch(/^(?!.*line 2.*line 2).*line 2 of the list/s);
		}
	});

	test('at a duplicate holds what was not reached, and says how to send the rest', async () => {
		const service = serviceOf({});
		await send(service, ['known']);
		const run = await send(service, ['known', 'b'], { settings: {} });
		expect(errorOf(run)?.context?.externalIds).toMatchObject({
			duplicate: ['known'],
			notReached: ['b'],
		});
		expect(errorOf(run)?.description).toContain('set On Error to Continue');
		expect((await stop({ a: lost })).description).not.toContain('set On Error to Continue');
	});

	test.each<[string, Record<string, Answer>, string]>([
		['the first that failed', { accepted: ok, a: status(422), b: status(400) }, 'a'],
		['an unknown one before others', { accepted: ok, a: status(422), b: lost }, 'b'],
	])('of several that were in flight is that of %s', async (_what, answers, external_id) => {
		expect((await stop(answers)).context).toMatchObject({ data: { external_id } });
	});

	test('of an answer holds its status, and not the words that n8n has for that', async () => {
		const error = await stop({ a: status(503) });
		expect([error.name, error.httpCode]).toStrictEqual(['NodeApiError', '503']);
		expect(`${error.message} ${String(error.description)}`).not.toMatch(/try again later/i);
	});

	test('of an item that was refused is an operation error with the field', async () => {
		const service = new Service();
		const run = await send(service, ['a'], {
			settings: {},
			parameters: { external_id: '={{ "ECONNREFUSED\\t" }}x' },
		});
		const error = errorOf(run)!;
		expect(error.stack).toBe(`NodeOperationError: ${error.message}`);
		// A value that holds a network code does not bring up n8n's advice to retry.
		expect(error.messages).toStrictEqual([]);
		expect(error.context).toMatchObject({ data: { field: 'external_id' } });
	});
});

test('a payment that is unknown since an earlier try says which, and keeps its response', async () => {
	const service = serviceOf({ a: saying(504, 'late') });
	const run = await send(service, ['a'], {
		settings: { ...RETRY, onError: 'continueRegularOutput' },
	});
	expect(service.requests).toHaveLength(1);
	expect(outputOf(run, 'Pay')[0]!.json).toMatchObject({
		outcome: 'unknown',
		statusCode: 504,
		response: 'late',
	});
});
