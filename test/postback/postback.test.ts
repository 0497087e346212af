import triggerPreview from '../../nodes/Pay/__schema__/v1.0.0.json';
import waitPreview from '../../nodes/Pay/__schema__/v1.0.0/postback/wait.json';
import { parsePostback, type PostbackContext, toJson } from '../../nodes/Pay/postback/postback';
import { type Reference, signUrl } from '../../nodes/Pay/postback/proof';

const ABOUT: Reference = { external_id: 'a', kind: 'payment', amount: 1 };
const SIGNED = signUrl('https://n8n.example.com/webhook/x/postback', ABOUT, 'a secret');
const PROOF = new URL(SIGNED).searchParams.get('pay_proof')!;
const MAC = PROOF.split('.')[1]!;
const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=BOUNDARY';

/** What is given of a request of the service. */
interface Sent {
	method?: string;
	query?: Record<string, unknown>;
	headers?: Record<string, unknown>;
	type?: string;
	body?: string;
}

/** The postback that such a request is. */
async function postbackOf(sent: Sent, known: Partial<PostbackContext> = {}) {
	const { method = 'POST', query = {}, headers = {}, type, body = '' } = sent;
	const all = type === undefined ? headers : { ...headers, 'content-type': type };
	const request = { method, query, headers: all };
	return await parsePostback(request, Buffer.from(body), { isSignedByService: false, ...known });
}

// How bodies are read: body/parse.test.ts. How secrets are found in a text: proof.test.ts.
test('blanks around the type of a body count for nothing, and its signature decides what it is', async () => {
	expect((await postbackOf({ type: ' ', body: '5' })).body).toBe(5);
	expect((await postbackOf({ type: ' application/json ', body: '5' })).body).toBe(5);
	const sent = { type: FORM, body: 'note: hi&state=paid' };
	expect((await postbackOf(sent)).body).toHaveProperty('state', 'paid');
	expect((await postbackOf(sent, { isSignedByService: true })).body).toBe(sent.body);
});

test('a body that repeats nothing stays byte for byte, with or without a proof', async () => {
	for (const query of [{}, { pay_proof: PROOF }]) {
		const text = '{ "a" : "undefined" }';
		const postback = await postbackOf({ query, type: 'application/json', body: text });
		expect(postback.rawBody).toBe(text);
		expect(postback.body).toStrictEqual({ a: 'undefined' });
	}
});

describe('what would let a reader of the execution call again is left out', () => {
	const TOKEN = 'f'.repeat(64);
	const query = { pay_proof: PROOF, signature: TOKEN, url: SIGNED, status: 'paid' };
	const { pathname, search } = new URL(SIGNED);
	const headers = {
		'x-original-url': `${pathname}${search}&signature=${TOKEN}`,
		referer: `${SIGNED}?status=paid`,
		'x-bare': MAC,
	};

	test.each([
		{
			what: 'JSON',
			type: 'application/json',
			body: JSON.stringify({ postbackUrl: SIGNED, [SIGNED]: [SIGNED] }),
		},
		{ what: 'a form', type: FORM, body: `url=${encodeURIComponent(SIGNED)}` },
		{ what: 'a text', type: 'text/plain', body: SIGNED },
		{
			what: 'a multipart form',
			type: MULTIPART,
			body: `--BOUNDARY\r\nContent-Disposition: form-data; name="url"\r\n\r\n${SIGNED}\r\n--BOUNDARY--`,
		},
	])('of query, headers, and a body of $what that repeats the URL', async ({ type, body }) => {
		const sent = { query, headers, type, body };
		const postback = await postbackOf(sent, { resumeToken: TOKEN });
		const { eventContent: _hashed, ...kept } = postback;
		expect(JSON.stringify(kept)).not.toContain(MAC);
		expect(JSON.stringify(kept)).not.toContain(TOKEN);
		const hidden = expect.stringContaining('***');
		expect(kept.query).toStrictEqual({ url: hidden, status: 'paid' });
		expect(kept.headers).toMatchObject({
			'x-original-url': hidden,
			referer: hidden,
			'x-bare': '***',
		});
		expect(JSON.stringify(kept.body)).toContain('***');
	});

	test("and so is a proof of another charge's URL, in a body that is else as it was", async () => {
		const other = signUrl('https://a.example/x', { ...ABOUT, kind: 'qrCode' }, 'another secret');
		const sent = { type: 'text/plain', body: `${other} paid` };
		const { body, rawBody } = await postbackOf(sent);
		const [withoutMac] = other.split('pay_proof=');
		expect([body, rawBody]).toStrictEqual(Array(2).fill(`${withoutMac}pay_proof=*** paid`));
	});

	test("a service's own signature stays, and the sender's credentials go", async () => {
		const own = { authorization: 'x', cookie: 'y', 'proxy-authorization': 'z', host: 'h' };
		const postback = await postbackOf({ headers: own, query: { signature: 'of the service' } });
		expect(postback.headers).toStrictEqual({ host: 'h' });
		expect(postback.query).toStrictEqual({ signature: 'of the service' });
	});

	test('a fixed secret that a service sends is not shown, whatever it is called', async () => {
		const secrets = {
			'asaas-access-token': 'one',
			'x-api-key': 'two',
			'x-gitlab-token': 'three',
			'x-signature': 'shown',
		};
		const postback = await postbackOf({ headers: secrets, query: { hmac: 'four', key: 'a' } });
		expect(postback.headers).toStrictEqual({
			'asaas-access-token': '***',
			'x-api-key': '***',
			'x-gitlab-token': '***',
			'x-signature': 'shown',
		});
		expect(postback.query).toStrictEqual({ hmac: '***', key: 'a' });
	});

	test('the header that says who sent it is in no item, however short its secret is', async () => {
		const { headers: shown, body } = await postbackOf(
			{
				headers: { 'x-hook': 'abc', 'x-echo': 'abc', 'x-long': 'a secret of the service' },
				body: '{"echo":"a secret of the service","word":"abc"}',
			},
			{ provingHeaders: ['x-hook'], secrets: ['abc', 'a secret of the service'] },
		);
		expect(shown).toStrictEqual({ 'x-hook': '***', 'x-echo': 'abc', 'x-long': '***' });
		expect(body).toStrictEqual({ echo: '***', word: 'abc' });
	});

	test('headers that are lists stay lists', async () => {
		const { headers: shown } = await postbackOf({ headers: { 'set-cookie': ['a', 'b'] } });
		expect(shown).toStrictEqual({ 'set-cookie': ['a', 'b'] });
	});
});

describe('the eventId', () => {
	const QUERY = { pay_proof: PROOF, x: '1', y: '2' };
	const idOf = async (
		sent: Sent,
		reference: Reference | null = ABOUT,
		known: Partial<PostbackContext> = {},
	) => {
		const postback = await postbackOf({ query: QUERY, body: '{"a":1}', ...sent }, known);
		return toJson(postback, { reference }).eventId;
	};

	test.each<{ what: string; sent: Sent }>([
		{ what: 'header', sent: { headers: { 'x-try': '2' } } },
		{ what: 'proof', sent: { query: { ...QUERY, pay_proof: 'another.proof' } } },
		{ what: 'order of the query', sent: { query: { y: '2', x: '1' } } },
	])('is the same with another $what', async ({ sent }) => {
		expect(await idOf(sent)).toBe(await idOf({}));
	});

	test.each<{ what: string; sent: Sent; about?: Reference | null }>([
		{ what: 'method', sent: { method: 'PUT' } },
		{ what: 'body', sent: { body: '{"a":2}' } },
		{ what: 'value in the query', sent: { query: { ...QUERY, x: '2' } } },
		{
			what: 'value behind the proof',
			sent: { query: { ...QUERY, pay_proof: `${PROOF}?status=paid` } },
		},
		{ what: 'charge', sent: {}, about: { ...ABOUT, external_id: 'b' } },
		{ what: 'charge, of which it proves none', sent: {}, about: null },
	])('is another with another $what', async ({ sent, about }) => {
		expect(await idOf(sent, about)).not.toBe(await idOf({}));
	});

	test('of what the service signed is that of its body, for anybody can repeat it with another query', async () => {
		const idOfSigned = async (sent: Sent) => await idOf(sent, null, { isSignedByService: true });
		const id = await idOfSigned({});
		expect(await idOfSigned({ method: 'PUT', query: { z: '3' } })).toBe(id);
		expect(await idOfSigned({ body: '{"a":2}' })).not.toBe(id);
	});

	test('is another with another field of a form, whatever its files are', async () => {
		const form = (value: string, content: string) =>
			[
				'--BOUNDARY\r\nContent-Disposition: form-data; name="status"\r\n\r\n',
				value,
				'\r\n--BOUNDARY\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n',
				content,
				'\r\n--BOUNDARY--',
			].join('');
		const idOfForm = async (value: string, content: string) =>
			await idOf({ type: MULTIPART, body: form(value, content) });
		expect(await idOfForm('paid', 'y')).toBe(await idOfForm('paid', 'x'));
		expect(await idOfForm('failed', 'x')).not.toBe(await idOfForm('paid', 'x'));
	});
});

test('the item has its fields in the order in which a person looks for them', async () => {
	const postback = await postbackOf({});
	const fields = (about: object) => Object.keys(toJson(postback, { reference: null, ...about }));
	const rest = ['body', 'eventId', 'receivedAt', 'method', 'query', 'headers', 'rawBody'];
	expect(fields({})).toStrictEqual(['reference', ...rest]);
	expect(fields({ verdict: { state: 'paid' } })).toStrictEqual(['reference', 'state', ...rest]);
	const failed = { verdict: { state: 'failed', reason: 'the field "a" is missing' } };
	expect(fields(failed)).toStrictEqual(['reference', 'state', 'stateReason', ...rest]);
	// So does the editor's preview, of the trigger and of the wait.
	for (const preview of [triggerPreview, waitPreview.properties.postback]) {
		expect(Object.keys(preview.properties)).toStrictEqual(fields(failed));
	}
});
