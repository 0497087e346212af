import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';
import { itemsOf, until, webhookPath, type N8n } from '../../dev/n8n';
import { chain, noOp, pay, payTrigger, start, call } from '../../dev/workflow';
import { signUrl, type Reference } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import { deliver, multipart, SPELLINGS, type Spelling } from './deliveries';
import { sendRaw } from './hostileRequests';
import { allFinished, SECRET, VERSIONS, withN8n, type Credential } from './nodes';

const ABOUT: Reference = { external_id: 'order-1042', kind: 'qrCode', amount: 49.9 };

/** `data.status` is `paid`, as each of the spellings says it. */
const TOLD = /"data(\.|":\{("n":"é",)?")status":"paid"/;

/** The spellings that n8n refuses where it reads the body before the node; docs/workflow-json.md says so. */
const READ_BY_NO_N8N = / in (ISO-8859-1|windows-1252|us-ascii)$| coding (GZIP|x-gzip)$/;
const NOT_BY_N8N_1 = 'JSON with a byte order mark';

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;

	const credentialWith = (more: object) => ({
		baseUrl: sandbox.url,
		accessToken: 'token',
		postbackSecret: SECRET,
		...more,
	});
	const changeCredential = async (credential: { id: string; name: string }, more: object) =>
		await n8n.changeCredential(credential, credentialWith(more));

	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));

	async function publish(parameters: object = {}, credential = payApi) {
		const entry = payTrigger(parameters);
		const id = await n8n.importWorkflow(chain('Trigger', [entry, noOp('After')]), {
			payApi: credential,
		});
		await n8n.activate(id);
		const bare = n8n.url + webhookPath(entry);
		return { id, bare, url: signUrl(bare, ABOUT, SECRET) };
	}
	/** The items and binary data of the newest of so many executions. */
	async function taken(id: string, count: number) {
		const [newest] = await allFinished(n8n, id, count);
		const [item] = newest!.data.resultData.runData.After![0]!.data!.main![0]!;
		return item as { json: Record<string, unknown>; binary?: Record<string, object> };
	}
	/** Fails to publish, in these words to the person: n8n 2 answers first and logs the reason. */
	async function expectRefusal(words: RegExp, parameters: object, credential = payApi) {
		const entry = payTrigger(parameters);
		const id = await n8n.importWorkflow(chain('Refused', [entry]), { payApi: credential });
		const logged = n8n.log.length;
		const told = await n8n.publish(id).then(
			() => '',
			(error: Error) => error.message,
		);
		if (version === 'n8n1') expect(told).toMatch(words);
		else await until('the refusal', async () => words.test(n8n.log.slice(logged)));
		expect(await deliver(n8n.url + webhookPath(entry))).toBe(404);
	}

	test('what is told is seen, however it is told', async () => {
		const { id, url } = await publish();
		let count = 0;
		for (const [name, spelling] of Object.entries(SPELLINGS)) {
			expect([name, await deliver(url, spelling)]).toStrictEqual([name, 200]);
			const { json } = await taken(id, ++count);
			const told = JSON.stringify([json.body, json.query]);
			expect([name, told]).toStrictEqual([name, expect.stringMatching(TOLD)]);
			expect(json.reference).toStrictEqual(ABOUT);
		}
	});

	test('a multipart form: fields, files, and one eventId however often it comes', async () => {
		const { id, url } = await publish();
		const parts = [
			{ name: 'status', value: 'paid' },
			{ name: 'slip', value: 'hello', filename: '../slip.txt' },
		];
		expect(await deliver(url, multipart(parts))).toBe(200);
		const first = await taken(id, 1);
		expect(first.json.body).toStrictEqual({ status: 'paid' });
		expect(first.binary).toMatchObject({ slip: { mimeType: 'text/plain', fileName: 'slip.txt' } });
		expect(await deliver(url, multipart(parts, 'ANOTHER'))).toBe(200);
		expect((await taken(id, 2)).json.eventId).toBe(first.json.eventId);
		parts[1]!.value = 'hullo';
		expect(await deliver(url, multipart(parts))).toBe(200);
		expect((await taken(id, 3)).json.eventId).not.toBe(first.json.eventId);
	});

	test('XML bodies that come at one moment stay with their own proofs', async () => {
		const { id, bare } = await publish();
		const ids = Array.from({ length: 12 }, (_, index) => `xml-${index}`);
		const answers = await Promise.all(
			ids.map(async (external_id) => {
				const url = signUrl(bare, { ...ABOUT, external_id }, SECRET);
				const body = `<pay><id>${external_id}</id></pay>`;
				return await deliver(url, { headers: { 'Content-Type': 'application/xml' }, body });
			}),
		);
		const accepted = answers.filter((status) => status === 200).length;
		expect(accepted).toBeGreaterThan(1);
		const executions = await allFinished(n8n, id, accepted);
		for (const execution of executions) {
			const { reference, body } = itemsOf(execution, 'After')[0] as {
				reference: Reference;
				body: object;
			};
			expect(body).toStrictEqual({ pay: { id: reference.external_id } });
		}
	});

	test.each(['signedUrl', 'none'])(
		'what it does not start at is answered like the rest, and kept nowhere: %s',
		async (authentication) => {
			const options = { responseCode: 202, responseBody: 'thanks' };
			const match = { startWhen: 'match', matchField: 'data.status', matchValues: ['paid'] };
			const { id, url, bare } = await publish({ authentication, options, ...match });
			const post = async (address: string, status: string) => {
				const answer = await fetch(address, {
					method: 'POST',
					headers: { 'Content-Type': 'application/json' },
					body: JSON.stringify({ data: { status } }),
				});
				return [answer.status, await answer.text()];
			};
			expect(await post(url, 'pending')).toStrictEqual([202, 'thanks']);
			await until('the log', async () =>
				/the field \\?"data.status\\?" has another value/.test(n8n.log),
			);
			expect(n8n.log).not.toContain('pending');
			if (authentication === 'signedUrl') expect((await post(bare, 'paid'))[0]).toBe(401);
			expect(await post(url, 'PAID')).toStrictEqual([202, 'thanks']);
			expect(await taken(id, 1)).toMatchObject({ json: { body: { data: { status: 'PAID' } } } });
			expect(await n8n.executionIds(id)).toHaveLength(1);
			const stored = n8n.storedExecutions(id).join('');
			expect(stored).toContain('PAID');
			expect(stored).not.toContain('pending');
		},
	);

	test('signed before the secret was replaced, it is taken while the previous one is entered', async () => {
		const credential = await n8n.createCredential(credentialWith({}));
		const { id, url } = await publish({}, credential);
		const replaced = { postbackSecret: 'the new secret of the test' };
		await changeCredential(credential, replaced);
		expect(await deliver(url)).toBe(401);
		await changeCredential(credential, { ...replaced, previousPostbackSecret: SECRET });
		expect(await deliver(url)).toBe(200);
		expect((await taken(id, 1)).json.reference).toStrictEqual(ABOUT);
	});

	test('a deleted credential: every call is answered, and none starts an execution', async () => {
		const credential = await n8n.createCredential(credentialWith({}));
		const { id, url, bare } = await publish({}, credential);
		await n8n.rest('DELETE', `/credentials/${credential.id}`);
		expect(await deliver(bare)).toBe(500);
		expect(await deliver(url)).toBe(500);
		// What a later call to another trigger starts is there by then; so would be what these started.
		const other = await publish();
		expect(await deliver(other.url)).toBe(200);
		await taken(other.id, 1);
		expect(await n8n.executionIds(id)).toStrictEqual([]);
	});

	test.each([
		['nothing, unless set', {}, ''],
		['"noData" like any other text', { responseBody: 'noData' }, 'noData'],
		['JSON as it is written', { responseBody: '{"ok":true}' }, '{"ok":true}'],
		['nothing when the last node has finished', { respond: 'lastNode', responseBody: 'x' }, ''],
	])('answers %s', async (_name, options, body) => {
		const { id, url } = await publish({ options });
		const answer = await fetch(url, { method: 'POST', body: '{}' });
		expect([answer.status, await answer.text()]).toStrictEqual([200, body]);
		await allFinished(n8n, id, 1);
	});

	test('what cannot verify is not published, nor listens, and the message itself says what to do', async () => {
		const made = async (more: object) => await n8n.createCredential(credentialWith(more));
		const [none, weak, dependent] = [
			await made({ postbackSecret: '' }),
			await made({ postbackSecret: 'abc' }),
			await made({ postbackSecret: '={{ $json.secret }}' }),
		];
		const enter = /enter 30 random characters as Postback Secret/;
		const unmatched = {
			startWhen: 'match',
			matchField: 'status',
			matchValues: ['paid, settled'],
		};
		// n8n 2 looks at each some 15 s after it has answered.
		await Promise.all([
			expectRefusal(enter, {}, none),
			expectRefusal(/The Postback Secret of .* at least 16 characters/, {}, weak),
			expectRefusal(/Field .* which holds a comma/, unmatched),
			expectRefusal(/No credential says .* mean \\?"paid/, { startWhen: 'paid' }),
			expectRefusal(/Set Authentication to Signed URL or Service's Signature/, {
				startWhen: 'paid',
				authentication: 'none',
			}),
		]);
		for (const credential of [none, dependent]) {
			const id = await n8n.importWorkflow(chain('Listening', [payTrigger()]), {
				payApi: credential,
			});
			const listening = {
				workflowData: await n8n.workflow(id),
				triggerToStartFrom: { name: 'Pay Trigger' },
				startNodes: [],
			};
			await expect(n8n.rest('POST', `/workflows/${id}/run`, listening)).rejects.toThrow(enter);
		}
	});

	test('the longest external_id that is sent has its postback taken; a longer one is not sent', async () => {
		const { id, bare } = await publish();
		const first = start();
		const charge = pay(
			'Charge',
			{
				resource: 'qrCode',
				amount: 1,
				external_id: '={{ "e".repeat($json.body.length) }}',
				postback: 'url',
				postbackUrl: bare,
			},
			{ onError: 'continueRegularOutput' },
		);
		const charges = await n8n.importWorkflow(chain('Long', [first, charge]), { payApi });
		await n8n.activate(charges);
		const before = sandbox.bodies('qrcode').length;
		let [fits, tooMany] = [1, 8000];
		while (tooMany - fits > 1) {
			const middle = Math.floor((fits + tooMany) / 2);
			try {
				signUrl(bare, { ...ABOUT, amount: 1, external_id: 'e'.repeat(middle) }, SECRET);
				fits = middle;
			} catch {
				tooMany = middle;
			}
		}
		for (const [index, length] of [6200, tooMany, fits].entries()) {
			await call(n8n, first.webhookId, { length });
			const [execution] = await allFinished(n8n, charges, index + 1);
			const [item] = itemsOf(execution!, 'Charge');
			if (length === fits) break;
			expect(JSON.stringify(item)).toMatch(/external_id is too long/);
			expect(sandbox.bodies('qrcode')).toHaveLength(before);
		}
		const { postbackUrl } = sandbox.bodies('qrcode').at(-1)!;
		expect(await deliver(String(postbackUrl))).toBe(200);
		const { reference } = (await taken(id, 1)).json as { reference: Reference };
		expect(reference.external_id).toHaveLength(fits);
	});

	test('the proof is in no execution and no log, whatever repeats it; nor is that of another charge', async () => {
		const { id, url, bare } = await publish();
		const other = signUrl(bare, { ...ABOUT, external_id: 'another' }, SECRET);
		const { pathname, search } = new URL(url);
		const mac = url.split('.').at(-1)!;
		const path = pathname + search;
		const status = await deliver(url, {
			headers: {
				'Content-Type': 'application/json',
				'X-Original-URL': path,
				'X-Forwarded-Uri': path,
				'X-Envoy-Original-Path': path,
				Referer: url,
			},
			body: JSON.stringify({ postbackUrl: url, list: [other], pay_proof: other.split('=')[1] }),
		});
		expect(status).toBe(200);
		const { json } = await taken(id, 1);
		expect(json.headers).toMatchObject({ referer: expect.stringContaining('***') });
		expect(json.body).toStrictEqual({
			postbackUrl: expect.stringContaining('***'),
			list: [expect.stringContaining('***')],
			pay_proof: expect.stringContaining('***'),
		});
		const stored = n8n.storedExecutions(id).join('');
		// The same search finds what came with it.
		expect(stored).toContain(ABOUT.external_id);
		expect(stored).not.toContain(mac);
		expect(stored).not.toContain(other.split('.').at(-1));
		expect(n8n.log).not.toContain(mac);
	});

	test('what cannot be read is not acknowledged, so its sender may come again', async () => {
		const { id, url } = await publish();
		const zipped = (encoding: string, body: Buffer) => ({
			headers: { 'Content-Type': 'application/json', 'Content-Encoding': encoding },
			body,
		});
		const form = multipart([{ name: 'status', value: 'paid' }]);
		const wrong = (from: string | RegExp, to: string) => ({
			...form,
			body: String(form.body).replaceAll(from, to),
		});
		const refused: Array<[string, Spelling, number]> = [
			['br', zipped('br', brotliCompressSync('{}')), 415],
			['raw deflate', zipped('deflate', deflateRawSync('{}')), 500],
			['16 MB', { body: Buffer.alloc(17_000_000, 'x') }, 413],
			['16 MB, zipped', zipped('gzip', gzipSync(Buffer.alloc(17_000_000, 'x'))), 413],
			['a form of another boundary', wrong('BOUND', 'OTHER'), 400],
			['a form without an end', wrong(/--\r\n$/g, ''), 400],
			['HEAD', { method: 'HEAD' }, 404],
		];
		for (const [name, spelling, status] of refused) {
			expect([name, await deliver(url, spelling)]).toStrictEqual([name, status]);
		}
		const gzip = { ...form.headers, 'Content-Encoding': 'gzip' };
		expect(await deliver(url, { headers: gzip, body: gzipSync(form.body) })).toBe(200);
		expect(await allFinished(n8n, id, 1)).toHaveLength(1);
	});

	test.each<[string, object]>([
		['{}', {}],
		['{"respond": "onReceived"}', { respond: 'onReceived' }],
	])(
		'with the options %s, as other tools write them, it takes whatever n8n reads, and refuses the rest as n8n does',
		async (_, options) => {
			const entry = { ...payTrigger(), parameters: { options } };
			const logged = n8n.log.length;
			const workflow = chain('Typed', [entry, noOp('After')]);
			const id = await n8n.importWorkflow(workflow, { payApi });
			await n8n.activate(id);
			expect(n8n.log.slice(logged)).toContain('"options" without "binaryData": true');
			const url = signUrl(n8n.url + webhookPath(entry), ABOUT, SECRET);
			expect(await deliver(n8n.url + webhookPath(entry))).toBe(401);
			const refused: string[] = [];
			let count = 0;
			for (const [name, spelling] of Object.entries(SPELLINGS)) {
				if ((await deliver(url, spelling)) !== 200) {
					refused.push(name);
					continue;
				}
				const { json } = await taken(id, ++count);
				const told = JSON.stringify([json.body, json.query]);
				expect([name, told]).toStrictEqual([name, expect.stringMatching(TOLD)]);
				expect(json.reference).toStrictEqual(ABOUT);
			}
			const unread = Object.keys(SPELLINGS).filter(
				(name) => READ_BY_NO_N8N.test(name) || (version === 'n8n1' && name === NOT_BY_N8N_1),
			);
			expect(refused).toStrictEqual(unread);
		},
	);

	test('a form with files that n8n has read before the node has its fields, files, and one eventId', async () => {
		const entry = { ...payTrigger(), parameters: { options: {} } };
		const id = await n8n.importWorkflow(chain('Typed', [entry, noOp('After')]), { payApi });
		await n8n.activate(id);
		const url = signUrl(n8n.url + webhookPath(entry), ABOUT, SECRET);
		const form = (value: string) =>
			multipart([
				{ name: 'data[status]', value: 'paid' },
				{ name: 'slip', value, filename: '../slip.txt' },
			]);
		const ids: unknown[] = [];
		for (const value of ['hello', 'hello', 'other']) {
			expect(await deliver(url, form(value))).toBe(200);
			const { json, binary } = await taken(id, ids.push(undefined));
			ids[ids.length - 1] = json.eventId;
			expect(json.body).toStrictEqual({ data: { status: 'paid' } });
			expect(binary).toMatchObject({ slip: { mimeType: 'text/plain' } });
		}
		expect(ids[1]).toBe(ids[0]);
		expect(ids[2]).not.toBe(ids[0]);
	});

	test('a genuine one that is cut off starts nothing, and is taken when it comes again', async () => {
		const { id, url } = await publish();
		const { pathname, search, host } = new URL(url);
		const form = multipart([
			{ name: 'status', value: 'paid' },
			{ name: 'amount', value: '1' },
		]);
		const kinds: Array<[type: string, body: string]> = [
			[form.headers['Content-Type']!, String(form.body)],
			['application/json', '{"status":"paid","amount":1}'],
			['multipart/mixed; boundary=B', '--B\r\n\r\npaid\r\n--B--\r\n'],
		];
		for (const [type, body] of kinds) {
			const head = [
				`POST ${pathname}${search} HTTP/1.1`,
				`Host: ${host}`,
				`Content-Type: ${type}`,
				`Content-Length: ${body.length}`,
			];
			const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -8)}`);
			expect(await sendRaw(url, { bytes, cut: true })).toBe(0);
		}
		expect(await deliver(url, form)).toBe(200);
		const { json } = await taken(id, 1);
		expect(json.body).toStrictEqual({ status: 'paid', amount: '1' });
		expect(await n8n.executionIds(id)).toHaveLength(1);
	});

	/** A multipart form as it goes over the wire, all but its last bytes, and those. */
	function wired(url: string, body: string, last: number, chunked: boolean) {
		const { pathname, search, host } = new URL(url);
		const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
		const head = `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=XXBOUNDARYXX\r\n${length}\r\n\r\n`;
		const coded = chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
		const at = coded.length - last;
		return { bytes: Buffer.from(head + coded.slice(0, at)), late: Buffer.from(coded.slice(at)) };
	}

	test('a form whose last bytes come late is taken, whole; one that is cut there starts nothing', async () => {
		const { id, url } = await publish();
		const { body } = multipart([{ name: 'status', value: 'paid' }]);
		const spellings: Array<[name: string, body: string, last: number, chunked: boolean]> = [
			['its last line break', String(body), 2, false],
			['its last boundary', String(body), 8, false],
			['its last chunk', String(body), 5, true],
			['what is behind the last boundary', `${String(body)}${'x'.repeat(20)}`, 20, false],
		];
		const forms = [20, 150, 1000].flatMap((delay) =>
			spellings.map((spelling) => [delay, ...spelling] as const),
		);
		const answers = await Promise.all(
			forms.map(async ([delay, name, text, last, chunked]) => {
				const request = wired(url, text, last, chunked);
				const cut = { ...request, late: Buffer.alloc(0), cut: true };
				const whole = { ...request, cut: false };
				const statuses = [await sendRaw(url, cut, delay), await sendRaw(url, whole, delay)];
				return [name, delay, ...statuses];
			}),
		);
		expect(answers).toStrictEqual(forms.map(([delay, name]) => [name, delay, 0, 200]));
		const executions = await allFinished(n8n, id, forms.length);
		expect(
			executions.map((execution) => itemsOf(execution, 'After').map((item) => item.body)),
		).toStrictEqual(Array(forms.length).fill([{ status: 'paid' }]));
	});

	test('each method is taken', async () => {
		const { id, url } = await publish();
		const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
		for (const [index, method] of methods.entries()) {
			expect([method, await deliver(url, { method })]).toStrictEqual([method, 200]);
			expect((await taken(id, index + 1)).json.method).toBe(method);
		}
	});
});
