import { createHmac } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { readChallengeField } from '../../nodes/Pay/postback/challenge';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { lineInLog, webhookNode, type Called, type HandedOver } from '../engine/webhook';
import { refusalOf } from '../refusal';

const SECRET = 'the secret of the challenges';
const URL_OF_TRIGGER = 'https://n8n.example.com/webhook/x/postback';
const WORDS = {
	describeService: true,
	statusField: 'data.status\npix[].status',
	paidValues: 'paid',
	idField: 'data.id',
	refundField: 'refund\npix[].refunds[].status',
	amountField: 'data.amount',
	requiredValues: 'livemode = true',
};
const CREDENTIAL: IDataObject = { postbackSecret: SECRET, ...WORDS };
const BY_HEADER: IDataObject = {
	...CREDENTIAL,
	senderCheck: 'secretHeader',
	secretHeaderName: 'X-Token',
	secretHeaderValue: 'the token of the service',
};
const BY_SIGNATURE: IDataObject = {
	...CREDENTIAL,
	senderCheck: 'signature',
	signatureHeader: 'X-Signature',
	signatureSecret: 'the key of the service',
};

interface Trigger {
	field?: string;
	authentication?: string;
	credential?: IDataObject;
	options?: IDataObject;
}

function triggerWith({ field = 'challenge', authentication = 'signedUrl', ...more }: Trigger) {
	const { credential = CREDENTIAL, options = {} } = more;
	return webhookNode({
		credential: () => ({ ...credential }),
		parameters: { authentication, options: { challengeField: field, ...options } },
	});
}

/** A request as a service sends it; n8n has not read its body. */
interface Sent {
	method?: string;
	query?: Record<string, unknown>;
	headers?: Record<string, string>;
	body?: string | Buffer;
}

/** A request, and whether anybody has read its body. */
function requestOf({ method = 'POST', query = {}, headers = {}, body = '' }: Sent) {
	const bytes = Buffer.from(body);
	const length: Record<string, string> =
		'transfer-encoding' in headers ? {} : { 'content-length': String(bytes.length) };
	const read: { count: number } = { count: 0 };
	const request: HandedOver = {
		method,
		query,
		headers: { ...length, ...headers },
		async readRawBody() {
			read.count++;
			return bytes;
		},
	};
	return { request, read };
}

const json = (value: unknown): Sent => ({
	headers: { 'content-type': 'application/json' },
	body: JSON.stringify(value),
});

function signedByService(value: unknown): Sent {
	const body = JSON.stringify(value);
	const signature = createHmac('sha256', 'the key of the service').update(body).digest('hex');
	return { headers: { 'content-type': 'application/json', 'x-signature': signature }, body };
}

/** A challenge as JSON, of so many bytes. */
const bodyOf = (bytes: number, challenge = 'abc') => JSON.stringify({ challenge }).padEnd(bytes);

async function call(trigger: Trigger, sent: Sent): Promise<Called> {
	return await triggerWith(trigger).call(requestOf(sent).request);
}

const STARTS_NOTHING = { noWebhookResponse: true };

describe('a challenge', () => {
	test.each<{ what: string; trigger?: Trigger; sent: Sent; text: string }>([
		{
			what: 'in the query',
			trigger: { field: 'hub.challenge' },
			sent: { method: 'GET', query: { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444' } },
			text: '1158201444',
		},
		{
			what: 'in the query, as the panel shows it, of a request whose body is empty text',
			trigger: { field: 'query.validationToken' },
			sent: {
				query: { validationToken: 'a-b_c.d=e:f+/g' },
				headers: { 'content-type': 'text/plain' },
			},
			text: 'a-b_c.d=e:f+/g',
		},
		{
			what: 'in a header',
			trigger: { field: 'headers.x-hook-secret' },
			sent: { headers: { 'x-hook-secret': 'abc' } },
			text: 'abc',
		},
		{
			what: 'in a JSON body',
			trigger: { field: 'body.event.challenge' },
			sent: json({ event: { challenge: 42 } }),
			text: '42',
		},
		{
			what: 'in a form',
			sent: {
				headers: { 'content-type': 'application/x-www-form-urlencoded' },
				body: 'type=url_verification&challenge=abc',
			},
			text: 'abc',
		},
		{
			what: 'of 500 characters, in a body of 8 KB',
			sent: { ...json({}), body: bodyOf(8192, 'a'.repeat(500)) },
			text: 'a'.repeat(500),
		},
		{
			what: 'from a sender who should send a secret header and did not',
			trigger: { authentication: 'sender', credential: BY_HEADER },
			sent: json({ challenge: 'abc' }),
			text: 'abc',
		},
		{
			what: 'of a ping, whose text is a yes',
			trigger: { field: 'body.test' },
			sent: json({ test: true }),
			text: 'true',
		},
		{
			what: 'from a sender who sends his secret header',
			trigger: { authentication: 'sender', credential: BY_HEADER },
			sent: {
				headers: { 'content-type': 'application/json', 'x-token': 'the token of the service' },
				body: '{"challenge":"abc"}',
			},
			text: 'abc',
		},
		{
			what: 'of a sender who has signed it',
			trigger: { authentication: 'sender', credential: BY_SIGNATURE },
			sent: signedByService({ challenge: 'abc' }),
			text: 'abc',
		},
		{
			what: 'without authentication, in the query',
			trigger: { authentication: 'none' },
			sent: { method: 'GET', query: { challenge: '1158201444' } },
			text: '1158201444',
		},
		{
			what: 'without authentication, in a header whose name says that it is a secret',
			trigger: { authentication: 'none', field: 'headers.x-hook-secret' },
			sent: { headers: { 'x-hook-secret': 'abc' } },
			text: 'abc',
		},
		{
			what: 'without authentication, in a body of any length that says "paid"',
			trigger: { authentication: 'none' },
			sent: {
				headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
				body: JSON.stringify({ challenge: 'abc', status: 'paid', more: ' '.repeat(10_000) }),
			},
			text: 'abc',
		},
		{
			what: 'where the sender signs, and has not signed',
			trigger: { authentication: 'sender', credential: BY_SIGNATURE },
			sent: json({ challenge: 'abc' }),
			text: 'abc',
		},
		{
			what: 'where the sender signs, and has signed with another key',
			trigger: { authentication: 'sender', credential: BY_SIGNATURE },
			sent: {
				headers: { 'content-type': 'application/json', 'x-signature': 'ab'.repeat(32) },
				body: '{"challenge":"abc"}',
			},
			text: 'abc',
		},
	])('$what is given back as plain text, and starts nothing', async ({ trigger, sent, text }) => {
		const called = await call(trigger ?? {}, sent);
		expect(called).toMatchObject({ result: STARTS_NOTHING, status: 200, text });
		expect(called.headers).toMatchObject({
			'content-type': 'text/plain; charset=utf-8',
			'x-content-type-options': 'nosniff',
		});
		expect(called.log).toStrictEqual([
			lineInLog('Pay responded to a challenge, which started nothing'),
		]);
	});

	test.each([
		{ what: 'holds a tag', challenge: '<script>' },
		{ what: 'has 501 letters', challenge: 'a'.repeat(501) },
		{ what: 'holds a space', challenge: 'a b' },
		{ what: 'ends its line', challenge: 'abc\n' },
		{ what: 'is a double quote', challenge: '"' },
		{ what: 'is percent-encoded', challenge: '%3C' },
		{ what: 'holds a letter that is not ASCII', challenge: 'é' },
		{ what: 'is empty', challenge: '' },
		{ what: 'holds a semicolon', challenge: 'a;b' },
		{ what: 'holds braces', challenge: '{}' },
		{ what: 'is a single quote', challenge: "'" },
		{ what: 'begins an entity', challenge: '&lt' },
	])('is refused with 400 when it $what', async ({ challenge }) => {
		for (const authentication of ['signedUrl', 'none']) {
			const called = await call({ authentication }, json({ challenge }));
			expect(called).toMatchObject({ result: STARTS_NOTHING, status: 400 });
			expect(called.text).toBeUndefined();
			expect(called.body).toStrictEqual({
				message:
					'The challenge contains characters other than letters, digits and -_.=:+/, or more than 500 of them',
			});
		}
	});

	test('without authentication, what has no single value there starts the workflow as ever', async () => {
		for (const challenge of [null, { a: 'b' }, undefined]) {
			const called = await call({ authentication: 'none' }, json({ challenge, other: 1 }));
			expect(called.result.workflowData?.flat()).toHaveLength(1);
		}
	});

	const JSON_TYPE = { 'content-type': 'application/json' };
	const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
	const IN_QUERY = { challenge: 'abc' };
	/** A form with a field, and a part "data" with these headers. */
	const multipart = (...partHeaders: string[]): Sent => ({
		query: IN_QUERY,
		headers: { 'content-type': 'multipart/form-data; boundary=x' },
		body: ['--x', FIELD, '', '1', '--x', ...partHeaders, '', '{"other":1}', '--x--', ''].join(
			'\r\n',
		),
	});
	const FIELD = 'Content-Disposition: form-data; name="note"';
	const PART = 'Content-Disposition: form-data; name="data"';

	// Each beside the same request without what makes it none: 401 is also for any unproven request.
	test.each<{ what: string; sent: Sent; without: Sent }>([
		...[
			{ what: 'there is a status', more: { data: { status: 'paid' } } },
			{ what: 'there is an empty status', more: { data: { status: '' } } },
			{ what: 'there is an identifier', more: { data: { id: 'order-1' } } },
			{ what: 'there is a refund', more: { refund: {} } },
			{ what: 'there is a mode', more: { livemode: false } },
			{ what: 'there is an amount', more: { data: { amount: 1 } } },
			{ what: 'a list has a status', more: { pix: [{ other: 1 }, { status: 'paid' }] } },
			{
				what: 'a list inside a list has a refund',
				more: { pix: [{ refunds: [] }, { refunds: [{ status: 'D' }] }] },
			},
			{ what: 'the status is in a text that holds JSON', more: { data: '{"status":"paid"}' } },
		].map(({ what, more }) => ({
			what,
			sent: json({ challenge: 'abc', ...more }),
			without: json({ challenge: 'abc', data: { other: 1 }, pix: [{ other: 1 }] }),
		})),
		{
			what: 'there is none',
			sent: json({ other: 'abc' }),
			without: json({ other: 'abc', challenge: 'abc' }),
		},
		{
			what: 'it is an object',
			sent: json({ challenge: { a: 'b' } }),
			without: json({ challenge: 'b' }),
		},
		{ what: 'it is null', sent: json({ challenge: null }), without: json({ challenge: 'null' }) },
		{
			what: 'the status is in the query of a form',
			sent: { query: { ...IN_QUERY, 'data[status]': 'paid' } },
			without: { query: { ...IN_QUERY, 'data[other]': 'paid' } },
		},
		{
			what: 'the body is a text in which nobody looks',
			sent: { query: IN_QUERY, body: '<pay><status>paid</status></pay>' },
			without: { query: IN_QUERY, body: '' },
		},
		{
			what: 'the body is broken JSON',
			sent: { query: IN_QUERY, headers: JSON_TYPE, body: '{"other":1' },
			without: { query: IN_QUERY, headers: JSON_TYPE, body: '{"other":1}' },
		},
		...['<pay><status>paid</status></pay>', '{"data":{"status":"paid"}'].map((body) => ({
			what: `the body is the text ${body}, and says that it is a form`,
			sent: { query: IN_QUERY, headers: FORM_TYPE, body },
			without: { query: IN_QUERY, headers: FORM_TYPE, body: 'other=1' },
		})),
		{
			what: 'the body is a list, and no field of the credential goes through it',
			sent: { query: IN_QUERY, headers: JSON_TYPE, body: '[{"other":1}]' },
			without: { query: IN_QUERY, headers: JSON_TYPE, body: '{"other":1}' },
		},
		{
			what: 'there is a file',
			sent: multipart(`${PART}; filename="paid.json"`, 'Content-Type: application/json'),
			without: multipart(PART),
		},
	])('is none where $what: that is refused, and sent again', async ({ sent, without }) => {
		expect(await call({}, sent)).toMatchObject({ result: STARTS_NOTHING, status: 401 });
		expect(await call({}, without)).toMatchObject({ result: STARTS_NOTHING, status: 200 });
	});

	test.each<{ what: string; sent: Sent }>([
		{ what: 'of 8193 bytes', sent: { body: bodyOf(8193) } },
		{ what: 'without a length', sent: { headers: { 'transfer-encoding': 'chunked' } } },
		{ what: 'that grows', sent: { headers: { 'content-encoding': 'gzip' } } },
		{ what: 'of a length that is none', sent: { headers: { 'content-length': 'x' } } },
	])('a body $what is not even read', async ({ sent }) => {
		const { request, read } = requestOf({ query: { challenge: 'abc' }, ...sent });
		const called = await triggerWith({}).call(request);
		expect(called).toMatchObject({ result: STARTS_NOTHING, status: 401 });
		expect(read.count).toBe(0);
	});

	test('a body of more than 8 KB that n8n has read is not looked at', async () => {
		const rawBody = Buffer.from(JSON.stringify({ challenge: 'abc', more: 'x'.repeat(8200) }));
		const headers = { 'content-type': 'application/json' };
		const called = await triggerWith({}).call({ method: 'POST', query: {}, headers, rawBody });
		expect(called.status).toBe(401);
	});

	test('a body that breaks off is refused like any other without a proof', async () => {
		const called = await triggerWith({}).call({
			method: 'POST',
			query: { challenge: 'abc' },
			headers: { 'content-length': '20' },
			readRawBody: async () => await Promise.reject(new Error('aborted')),
		});
		expect(called).toMatchObject({ result: STARTS_NOTHING, status: 401 });
		expect(called.headers).toMatchObject({ connection: 'close' });
	});

	test('without the option nothing of an unproven request is read or given back', async () => {
		const { request, read } = requestOf(json({ challenge: 'abc' }));
		const called = await triggerWith({ field: '' }).call(request);
		expect(called).toMatchObject({ result: STARTS_NOTHING, status: 401 });
		expect(read.count).toBe(0);
	});
});

describe('a genuine postback is never swallowed', () => {
	const reference = { external_id: 'order-1', kind: 'qrCode', amount: 5 };
	const query = Object.fromEntries(
		new URL(signUrl(URL_OF_TRIGGER, reference, SECRET)).searchParams,
	);
	const PAID = {
		challenge: 'abc',
		livemode: true,
		data: { status: 'paid', id: 'order-1', amount: 5 },
	};
	const starts = (called: Called) =>
		called.result.workflowData?.flat().map(({ json: item }) => item);

	test.each<{ what: string; trigger: Trigger; sent: Sent }>([
		{ what: 'its URL is proven', trigger: {}, sent: { ...json(PAID), query } },
		{
			what: 'its header is the sender’s',
			trigger: { authentication: 'sender', credential: BY_HEADER },
			sent: {
				...json(PAID),
				headers: { 'content-type': 'application/json', 'x-token': 'the token of the service' },
			},
		},
		{
			what: 'its sender has signed it',
			trigger: { authentication: 'sender', credential: BY_SIGNATURE },
			sent: signedByService(PAID),
		},
	])('"paid" with the field starts the workflow where $what', async ({ trigger, sent }) => {
		const called = await call(trigger, sent);
		expect(starts(called)).toStrictEqual([expect.objectContaining({ state: 'paid' })]);
		expect(called.result.webhookResponse).toBe('');
	});

	test('a text in which nobody looks, from a sender with his header, is logged, and the workflow does not continue', async () => {
		const sent = {
			query: { challenge: 'abc' },
			headers: { 'x-token': 'the token of the service' },
			body: '<pay><status>paid</status></pay>',
		};
		const called = await call({ authentication: 'sender', credential: BY_HEADER }, sent);
		expect(called.status).toBeUndefined();
		expect(starts(called)).toBeUndefined();
		expect(called.log.join()).toContain(
			'Pay received a postback, but the workflow does not continue with it',
		);
	});

	test('a proven request that says nothing about money both starts the workflow and gets the challenge back', async () => {
		const sent = { ...json({ challenge: 'abc' }), query };
		const called = await call({ options: { responseBody: 'OK' } }, sent);
		expect(starts(called)).toHaveLength(1);
		expect(called.result.webhookResponse).toBe('abc');
		expect(called.headers).toMatchObject({
			'content-type': 'text/plain; charset=utf-8',
			'x-content-type-options': 'nosniff',
		});
	});

	test('a genuine one whose text could be a script starts the workflow, and does not get it back', async () => {
		const sent = { ...json({ challenge: '<script>' }), query };
		const called = await call({ options: { responseBody: 'OK' } }, sent);
		expect(starts(called)).toHaveLength(1);
		expect(called.result.webhookResponse).toBe('OK');
	});

	test('of a proven URL whose sender is not the service, nothing is given back', async () => {
		const sent = { ...json({ challenge: 'abc' }), query };
		const called = await call({ credential: BY_HEADER }, sent);
		expect(called).toMatchObject({ result: STARTS_NOTHING, status: 401 });
	});
});

describe('the option', () => {
	test('needs the Status Field, by which a postback is told from a challenge', async () => {
		const called = await call(
			{ credential: { postbackSecret: SECRET } },
			json({ challenge: 'abc' }),
		);
		expect(called).toMatchObject({ result: STARTS_NOTHING, status: 500 });
		expect(called.log.join()).toContain('(challengeField)');
	});

	test('is no expression: a request could choose what it gets back', async () => {
		const typed = { challengeField: '={{ $json.query.field }}' };
		expect(refusalOf(() => readChallengeField(typed))?.message).toBe(
			'Challenge Field (challengeField) is an expression, and there is no item yet that it could read',
		);
		const called = await call({ field: typed.challengeField }, json({ challenge: 'abc' }));
		expect(called.status).toBe(500);
		expect(called.log.join()).toContain('Challenge Field (challengeField) is an expression');
	});
});
