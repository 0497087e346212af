import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { brCode } from '../../sandbox/brCode';
import type { RequestOperation } from '../../nodes/Pay/run/read';
import { runRequests } from '../../nodes/Pay/run/run';
import { otherAmountInCode } from '../../nodes/Pay/run/words';
import { verify } from '../../nodes/Pay/postback/proof';
import { qrPng } from '../../nodes/Pay/qr/image';
import {
	CASES,
	MAX_TRIES,
	SETTINGS,
	startFaults,
	type FaultCase,
	type Faults,
} from '../faultCases';
import { FULL_FORMS, KINDS, READ_REQUEST } from '../serviceOperations';
import { executeContext } from '../contexts';
import {
	CHARGE,
	CONTINUE,
	errorOf,
	hintsOf,
	isRecorded,
	outputOf,
	pay,
	resultsOf,
	RETRY,
	runWorkflow,
	sandbox,
	withSandbox,
} from './engine';

withSandbox();

const PREVIEWS = join(__dirname, '../../nodes/Pay/__schema__/v1.0.0');
const SECRET = 'the postback secret of the test';
const POSTBACK_URL = 'https://n8n.example.com/webhook/1/postback';

/** Makes a QR code of one item, or what `resource` says. */
const run = async (parameters: IDataObject, credential: IDataObject = {}, settings = {}) =>
	await pay([{ id: 'order-1', amount: 10.5 }], {
		parameters: { ...CHARGE, ...parameters },
		credential,
		settings,
	});
/** The service answers every request with this. */
const respond = (status: number, body: string, contentType = 'application/json') =>
	(sandbox.faultFor = () => ({ kind: 'status', status, body, contentType }));

describe('what goes over the wire', () => {
	test('a full QR code request is the body of section 2.1', async () => {
		const done = await run(
			{
				payerQuestion: 'Order 1',
				payer: { name: 'A', document: '123', email: 'a@example.com' },
				specifySplit: 'fields',
				split: { recipient: [{ username: 'b', percentageSplit: '12.5' }] },
			},
			{ postbackUrl: POSTBACK_URL },
		);
		expect(errorOf(done)).toBeUndefined();
		expect(sandbox.received).toHaveLength(1);
		expect(sandbox.received[0]?.body).toBe(
			JSON.stringify({
				amount: 10.5,
				external_id: 'order-1',
				payerQuestion: 'Order 1',
				payer: { name: 'A', document: '123', email: 'a@example.com' },
				split: [{ username: 'b', percentageSplit: 12.5 }],
				postbackUrl: POSTBACK_URL,
			}),
		);
		expect(sandbox.received[0]?.headers).toMatchObject({
			authorization: 'Bearer token-of-the-test',
			'content-type': 'application/json',
		});
		const [item] = outputOf(done, 'Pay');
		expect(item).toMatchObject({
			json: { external_id: 'order-1', amount: 10.5, kind: 'qrCode', outcome: 'accepted' },
			pairedItem: { item: 0 },
		});
	});

	test.each(KINDS)(
		'the editor shows of a %s before the first run what its item has',
		async (kind) => {
			const { resource, operation } = FULL_FORMS[kind] as Record<string, string>;
			const file = join(PREVIEWS, resource!, `${operation}.json`);
			const preview = JSON.parse(readFileSync(file, 'utf8')) as { properties: IDataObject };
			const { error, ...accepted } = preview.properties;
			const [item] = outputOf(await run(FULL_FORMS[kind]), 'Pay');
			expect(Object.keys(item!.json)).toStrictEqual(Object.keys(accepted));
			// A failed one has "error" besides.
			const [failed] = outputOf(
				await run({ ...FULL_FORMS[kind], amount: 'x' }, {}, CONTINUE),
				'Pay',
			);
			const { properties } = error as { properties: IDataObject };
			expect(Object.keys(failed!.json.error as object)).toStrictEqual(Object.keys(properties));
		},
	);

	test.each(KINDS)('every member that the form of a %s has is in its body', async (kind) => {
		const form = FULL_FORMS[kind];
		await run(form);
		const body = JSON.parse(sandbox.received[0]!.body) as object;
		const typed = READ_REQUEST[kind]((name) => form[name]);
		// What an operation without a postback has is not in its body.
		const { postbackUrl } = form;
		const sent = { ...typed, ...(postbackUrl === undefined ? {} : { postbackUrl }) };
		expect(body).toStrictEqual(sent);
	});

	test('a minimal request holds the two required fields only', async () => {
		await run({ payerQuestion: '', payer: { name: '' }, split: {} });
		expect(sandbox.bodies('qrcode')).toStrictEqual([{ amount: 10.5, external_id: 'order-1' }]);
	});

	test.each([
		{ kind: 'qrCode', path: 'qrcode' },
		{ kind: 'payment', path: 'payment' },
	] as const)(
		'with a secret every postback URL of a $kind goes out signed, and proves what it is about',
		async ({ kind, path }) => {
			for (const postback of ['credential', 'resume', 'url']) {
				await run(
					{ resource: kind, external_id: postback, postback, postbackUrl: POSTBACK_URL },
					{ postbackUrl: POSTBACK_URL, postbackSecret: SECRET },
				);
			}
			const proven = sandbox
				.bodies(path)
				.map(({ postbackUrl }) => new URL(String(postbackUrl)).searchParams)
				.map((query) => verify(Object.fromEntries(query), [SECRET]));
			// The proof of a resume URL is a random one, which no secret makes.
			expect(proven).toStrictEqual([
				{ external_id: 'credential', kind, amount: 10.5 },
				null,
				{ external_id: 'url', kind, amount: 10.5 },
			]);
		},
	);
});

// What each sign refuses: test/fields/amount.test.ts and test/fields/split.test.ts.
describe('Decimal Sign', () => {
	const shared = (percentageSplit: string) => ({
		postback: 'none',
		specifySplit: 'fields',
		split: { recipient: [{ username: 'b', percentageSplit }] },
	});

	test('as comma takes an amount and a share that are written so, and sends the numbers they are', async () => {
		await run({ ...shared('12,5'), amount: '1.234,56', options: { decimalSign: 'comma' } });
		expect(sandbox.bodies('qrcode')).toMatchObject([
			{ amount: 1234.56, split: [{ username: 'b', percentageSplit: 12.5 }] },
		]);
	});
});

describe('a payment without a key', () => {
	const keyless = { resource: 'payment', postback: 'none' };

	test.each([
		{ what: 'no recipient at all', creditParty: {} },
		{ what: 'a name alone', creditParty: { key: '', name: 'Ana' } },
	])('is not sent: $what', async ({ creditParty }) => {
		const done = await run({ ...keyless, creditParty });
		expect(errorOf(done)?.context?.data).toMatchObject({ field: 'creditParty.key' });
		expect(sandbox.bodies('payment')).toStrictEqual([]);
	});

	test('is not sent where Additional Members say who gets it, unless the option says so too', async () => {
		const additionalMembers = '{ "bankAccount": "123-4" }';
		await run({ ...keyless, creditParty: {}, options: { additionalMembers } });
		expect(sandbox.bodies('payment')).toStrictEqual([]);
		const options = { additionalMembers, allowNoKey: true };
		const allowed = await run({ ...keyless, creditParty: {}, options });
		expect(resultsOf(allowed)[0]?.outcome).toBe('accepted');
		expect(sandbox.bodies('payment')).toMatchObject([{ bankAccount: '123-4' }]);
	});

	test.each(['true', 1, 'yes'])('is not sent where the option holds %p', async (allowNoKey) => {
		await run({ ...keyless, creditParty: {}, options: { allowNoKey } });
		expect(sandbox.bodies('payment')).toStrictEqual([]);
	});

	test('with the option, a key that an expression gives empty is refused all the same', async () => {
		const creditParty = { key: '={{ "" }}' };
		await run({ ...keyless, creditParty, options: { allowNoKey: true } });
		expect(sandbox.bodies('payment')).toStrictEqual([]);
	});
});

// In words: test/run/notes.test.ts.
describe('a "yes" about something else', () => {
	const charge = { postback: 'none', external_id: 'order-7', amount: '41' };

	test('a code that asks its payer for another amount: the item says how much, and there is a hint', async () => {
		const qrCode = brCode('order-7', 0.41);
		respond(201, JSON.stringify({ qrCode }));
		const done = await run(charge);
		expect(outputOf(done, 'Pay')[0]?.json).toMatchObject({
			outcome: 'accepted',
			amount: 41,
			qrCode,
			qrCodeAmount: 0.41,
		});
		expect(hintsOf(done)).toStrictEqual([otherAmountInCode('order-7', 0.41, 41)]);
	});

	test('in a run that stops, and in its retry, what was accepted is told too', async () => {
		let asked = 0;
		sandbox.faultFor = ({ body }) => {
			if (body.includes('second') && asked++ === 0) {
				return { kind: 'status', status: 422, body: '{}' };
			}
			return { kind: 'status', status: 201, body: '{"amount":4100}' };
		};
		const items = (end: string) => [
			{ id: `first${end}`, amount: 41 },
			{ id: `second${end}`, amount: 41 },
		];
		const stopped = await pay(items('-1'), {});
		expect(errorOf(stopped)?.description).toContain('accepted "first-1" and names the amount 4100');
		asked = 0;
		const retried = await pay(items('-2'), { settings: RETRY });
		expect(hintsOf(retried).join()).toContain('accepted "first-2" and names the amount 4100');
	});

	test('a response that repeats another amount and identifier than its request: a hint for each', async () => {
		respond(201, JSON.stringify({ data: { amount: 4100, external_id: 'another' } }));
		const done = await run({ ...charge, resource: 'payment', creditParty: { key: 'k' } });
		expect(resultsOf(done)[0]?.outcome).toBe('accepted');
		expect(hintsOf(done)).toHaveLength(2);
	});
});

describe('the QR image', () => {
	const image = { qrCodeImage: true, binaryPropertyName: 'qr', postback: 'none' };

	test('stands in the binary field, named after the external_id', async () => {
		const binaryPropertyName = ' qr ';
		const done = await run({ ...image, external_id: 'order/7', binaryPropertyName });
		expect(outputOf(done, 'Pay')[0]?.binary?.qr).toMatchObject({
			mimeType: 'image/png',
			fileName: 'order_7.png',
		});
		expect(hintsOf(done)).toStrictEqual([]);
	});

	test('that the service made itself is the image, and no text to copy', async () => {
		const png = (await qrPng('of the service')).toString('base64');
		respond(201, JSON.stringify({ data: { image: png } }));
		const done = await run(image, { describeService: true, qrCodePath: ' data.image ' });
		const [item] = outputOf(done, 'Pay');
		expect(item?.binary?.qr?.data).toBe(png);
		expect(item?.json).not.toHaveProperty('qrCode');
		expect(hintsOf(done)).toStrictEqual([]);
	});

	test('an SVG of the service is a file of its own type, byte for byte, and no text to copy', async () => {
		const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
		respond(201, JSON.stringify({ data: { image: svg } }));
		const done = await run({ ...image, external_id: 'order/7' });
		const [item] = outputOf(done, 'Pay');
		expect(item?.binary?.qr).toMatchObject({
			mimeType: 'image/svg+xml',
			fileName: 'order_7.svg',
			fileExtension: 'svg',
			data: Buffer.from(svg).toString('base64'),
		});
		expect(item?.json).not.toHaveProperty('qrCode');
		expect(hintsOf(done)).toStrictEqual([]);
	});

	// What is recognized, and what a hint says: test/qr/payload.test.ts.
	test.each([
		{ what: 'nothing to draw', body: '{"id":"1"}', qrCodePath: '' },
		{
			what: 'a payload too long',
			body: JSON.stringify({ id: 'z'.repeat(5000) }),
			qrCodePath: 'id',
		},
	])('of $what: the charge stays accepted, and there is a hint', async ({ body, qrCodePath }) => {
		respond(201, body);
		const done = await run(image, { describeService: true, qrCodePath });
		const [item] = outputOf(done, 'Pay');
		expect(item?.json).toMatchObject({ outcome: 'accepted' });
		expect(item?.binary).toBeUndefined();
		expect(hintsOf(done)).toHaveLength(1);
	});

	test('where no image is asked for and no code is there, the item lacks qrCode, and there is a hint', async () => {
		respond(201, '{"id":"1"}');
		const done = await run({ ...image, qrCodeImage: false });
		expect(outputOf(done, 'Pay')[0]?.json).not.toHaveProperty('qrCode');
		expect(hintsOf(done)).toHaveLength(1);
	});

	test.each(['true', null, 1])('where the switch is %p, nothing is sent', async (qrCodeImage) => {
		const done = await run({ ...image, qrCodeImage });
		expect(errorOf(done)?.context?.data).toMatchObject({ field: 'qrCodeImage' });
		expect(sandbox.received).toStrictEqual([]);
	});

	test('where no image is asked for and the path leads to a text, that is qrCode, and no hint is shown', async () => {
		respond(201, '{"id":"1"}');
		const done = await run(
			{ ...image, qrCodeImage: false },
			{ describeService: true, qrCodePath: 'id' },
		);
		const [item] = outputOf(done, 'Pay');
		expect(item?.json).toMatchObject({ qrCode: '1' });
		expect(item?.binary).toBeUndefined();
		expect(hintsOf(done)).toStrictEqual([]);
	});
});

test('without a credential nothing is sent', async () => {
	const done = await run({}, {}, { credentials: undefined });
	expect(errorOf(done)?.message).toBe('Node does not have any credentials set');
	expect(sandbox.received).toStrictEqual([]);
});

test('no items come in: none go out, and nothing else of n8n is asked for', async () => {
	const context = executeContext({ getInputData: () => [] });
	const operation = {} as RequestOperation;
	expect(await runRequests(context, operation)).toStrictEqual([[]]);
});

describe('the fault matrix', () => {
	let faults: Faults;
	beforeAll(async () => {
		faults = await startFaults();
	});
	afterAll(async () => {
		await faults.close();
	});

	/** Runs one payment of a case with one of the settings, and asserts all that must be said of it. */
	async function runCase(each: FaultCase, settings: (typeof SETTINGS)[number]): Promise<void> {
		const { retryOnFail, onError } = settings;
		const external_id = `${each.name}|${randomUUID()}`;
		const run = await runWorkflow({
			credential: { baseUrl: faults.baseUrl(each) },
			parameters: { amount: 1, external_id },
			settings: { retryOnFail, onError, maxTries: MAX_TRIES, waitBetweenTries: 20 },
		});
		const where = `${onError}, retry ${retryOnFail}`;
		// No redirect was followed, and the token that is looked for below is the one that was sent.
		expect(faults.elsewhere.received).toStrictEqual([]);
		for (const token of faults.tokensOf(external_id))
			expect(token).toBe('Bearer token-of-the-test');
		const stays = each.outcome === 'accepted' || each.outcome === 'unknown';
		expect([where, faults.arrivals(external_id), isRecorded(external_id)]).toStrictEqual([
			where,
			retryOnFail ? each.withRetry : each.arrivals,
			stays,
		]);

		const facts = { external_id, kind: 'payment', outcome: each.outcome };
		const [success] = outputOf(run, 'Pay');
		if (each.outcome === 'accepted') {
			expect(success?.json).toMatchObject({ ...facts, amount: 1, statusCode: each.statusCode });
			return;
		}
		if (onError === 'stopWorkflow') {
			expect(errorOf(run)?.context).toMatchObject({ data: facts });
			expect(errorOf(run)?.name).toBe('NodeApiError');
		} else {
			const error = { message: expect.any(String), description: expect.any(String) };
			const [failed] = outputOf(run, 'Pay', 0, onError === 'continueErrorOutput' ? 1 : 0);
			expect(failed?.json).toMatchObject(
				onError === 'continueErrorOutput'
					? { error: { ...facts, ...error, amount: 1 } }
					: { ...facts, amount: 1, error },
			);
		}
		const everythingSaid = JSON.stringify([errorOf(run) ?? null, run.data.resultData.runData.Pay]);
		expect(everythingSaid).not.toContain('token-of-the-test');
		expect(everythingSaid).not.toMatch(/retry on fail|try again later|retry the request/i);
	}

	test.concurrent.each(CASES)(
		'$name is $outcome, and sent again only where nothing was carried out, with each On Error and Retry On Fail',
		async (each) => {
			await Promise.all(SETTINGS.map(async (settings) => await runCase(each, settings)));
		},
	);
});
