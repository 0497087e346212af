import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { itemsOf, pause, until, type N8n } from '../../dev/n8n';
import { chain, node, noOp, pay, start, type Node } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { deliver, deliverLate, multipart, SPELLINGS } from './deliveries';
import {
	credentialFor,
	publish,
	SECRET,
	startN8n,
	VERSIONS,
	withN8n,
	type Credential,
} from './nodes';
import { set } from './otherNodes';
import {
	chargeAndWait,
	ended,
	payoutAndSecondWait,
	payoutsBehind,
	startWaiting,
	waits,
	type Waiting,
} from './chargeAndWait';

const PAID = '{"data":{"status":"paid"}}';
const other = (type: string, parameters: object, typeVersion = 1) =>
	node('Approval', `n8n-nodes-base.${type}`, parameters, { typeVersion, webhookId: randomUUID() });
const formOf = ({ bare }: Waiting) =>
	bare.replace('/pay-postback', '').replace('webhook-waiting', 'form-waiting');
/** A time limit in seconds: n8n, which looks once a minute, sets its timer in that time. */
const LIMIT = 75;
const LIMITED = { limitWaitTime: true, resumeAmount: LIMIT, resumeUnit: 'seconds' };
/** Until so many seconds after a moment. */
const after = async (since: number, seconds: number) =>
	await until('the time', async () => Date.now() > since + seconds * 1000, 2 * LIMIT);
const ON_ERROR = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'];

/**
 * n8n 2 with room for one execution at a time. n8n's timer of a time limit loads the execution, and waits
 * for its place until the execution stands in its next wait. (n8n 1 runs what it loaded beside it.)
 */
const crowded: { n8n?: N8n; sandbox?: Sandbox; waiting?: Waiting; since: number } = { since: 0 };
let crowdedPostback: Promise<number>;

// Its limit passes while the other tests run.
beforeAll(async () => {
	if (!VERSIONS.includes('n8n2')) return;
	const env = { N8N_CONCURRENCY_PRODUCTION_LIMIT: '1' };
	const sandbox = (crowded.sandbox = await Sandbox.start());
	const n8n = (crowded.n8n = await startN8n('n8n2', { env }));
	const waiting = await startWaiting(n8n, sandbox, await credentialFor(sandbox, n8n), {
		wait: LIMITED,
		after: payoutAndSecondWait(),
	});
	const since = Date.now();
	const deliverInTime = async () => {
		await after(since, LIMIT - 8);
		return await deliver(waiting.url);
	};
	crowdedPostback = deliverInTime();
	crowdedPostback.catch(() => undefined);
	crowded.waiting = waiting;
	crowded.since = since;
});
afterAll(async () => {
	await crowded.n8n?.stop();
	await crowded.sandbox?.close();
});

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));
	/** Stands in for Telegram, to which n8n sends what a person is to approve. */
	const telegram = {
		sent: [] as string[],
		server: createServer(),
		credential: { id: '', name: '' },
	};
	/** n8n looks about once a minute whose limit has passed, so these begin first and are looked at last. */
	const limited: Record<string, Waiting> = {};
	let overtaken: Waiting;
	let overtakenStatus: Promise<number>;

	let later: Awaited<ReturnType<typeof publish>>;
	/** What must not happen has no event of its own: a run of another workflow, begun now, has one. */
	const stillWaits = async ({ executionId }: Waiting) => {
		await later.run();
		expect((await n8n.execution(executionId)).status).toBe('waiting');
	};

	beforeAll(async () => {
		telegram.server.on('request', async (request: IncomingMessage, answer: ServerResponse) => {
			telegram.sent.push(await text(request));
			answer.setHeader('Content-Type', 'application/json').end('{"ok":true,"result":{}}');
		});
		await once(telegram.server.listen(0, '127.0.0.1'), 'listening');
		const baseUrl = `http://127.0.0.1:${(telegram.server.address() as AddressInfo).port}`;
		const bot = { accessToken: 'none', baseUrl };
		telegram.credential = await n8n.createCredential(bot, 'telegramApi', 'Telegram');
		later = await publish(n8n, chain('Later', [start(), noOp('End')]));
		const limit = { limitWaitTime: true, resumeAmount: 2, resumeUnit: 'seconds' };
		for (const onError of ON_ERROR) {
			limited[onError] = await startWaiting(n8n, sandbox, payApi, {
				wait: limit,
				settings: { onError },
			});
		}
		overtaken = await startWaiting(n8n, sandbox, payApi, { wait: limit });
		// The request begins before the limit passes, and its body ends after it.
		overtakenStatus = deliverLate(overtaken.url, 4_000);
		overtakenStatus.catch(() => undefined);
		if (version === 'n8n2') {
			for (const name of Object.keys(PAUSING)) pausing[name] = await startPausing(name);
		}
	});
	/** What pauses behind a first wait with a limit: of two charges and two waits. */
	const PAUSING: Record<string, 'Charge 2' | 'Wait 2'> = {
		'a charge': 'Charge 2',
		'a wait': 'Wait 2',
		'a charge that is stopped': 'Charge 2',
		'a wait that is stopped': 'Wait 2',
	};
	const pausing: Record<string, { waiting: Waiting; since: number; postback: Promise<void> }> = {};
	/** In time on a slow machine, whatever other tests do meanwhile. */
	async function postback(name: string, { url, executionId }: Waiting, since: number) {
		// n8n, which looks once a minute, has set its timer by now.
		await after(since, LIMIT - 9);
		expect(await deliver(url)).toBe(200);
		if (!name.endsWith('stopped')) return;
		await until('what is behind the wait', async () => {
			const { status, data } = await n8n.execution(executionId);
			return status === 'running' && 'Wait' in data.resultData.runData;
		});
		// The node has begun its pause by then.
		await pause(2_000);
		await n8n.rest('POST', `/executions/${executionId}/stop`);
	}
	async function startPausing(name: string) {
		const external_id = '={{ $("Charge").first().json.external_id }}-2';
		const [charge, wait] = chargeAndWait({ external_id }, {}, { external_id });
		charge.name = 'Charge 2';
		wait.name = 'Wait 2';
		const row = set('Row', '={{ $("Charge").first().json }}');
		const waiting = await startWaiting(n8n, sandbox, payApi, {
			wait: LIMITED,
			...(PAUSING[name] === 'Charge 2'
				? { after: [charge, wait, noOp('After')] }
				: { before: [charge, row], after: [wait, noOp('After')] }),
		});
		const since = Date.now();
		const promise = postback(name, waiting, since);
		promise.catch(() => undefined);
		return { waiting, since, postback: promise };
	}
	afterAll(() => telegram.server.close());

	test.each(ON_ERROR)(
		'On Error %s: unsigned and foreign calls leave it waiting, the genuine one resumes it with its item',
		async (onError) => {
			const waiting = await startWaiting(n8n, sandbox, payApi, { settings: { onError } });
			const { about, bare, url, executionId } = waiting;
			expect(await deliver(bare)).toBe(401);
			for (const signed of [about, { ...about, external_id: 'another' }]) {
				expect(await deliver(signUrl(bare, signed, SECRET))).toBe(401);
			}
			await stillWaits(waiting);
			expect(await deliver(url)).toBe(200);
			const items = itemsOf(await ended(n8n, executionId), 'After');
			expect(items).toHaveLength(1);
			expect(items[0]).toMatchObject({
				external_id: about.external_id,
				outcome: 'accepted',
				postback: { reference: about, body: { data: { status: 'paid' } } },
			});
		},
	);

	/** Other things of n8n that wait, each with what a person who approves does. */
	const OTHERS: Record<string, { node: Node; form?: boolean; approve: (own: Waiting) => string }> =
		{
			'Wait, webhook': {
				node: other('wait', { resume: 'webhook', httpMethod: 'POST', options: {} }, 1.1),
				approve: ({ bare }) => bare.replace('/pay-postback', ''),
			},
			'Wait, form': {
				node: other('wait', { resume: 'form', formTitle: 'Approve', options: {} }, 1.1),
				approve: formOf,
			},
			'a page of a form': {
				node: other('form', { formFields: { values: [{ fieldLabel: 'OK' }] }, options: {} }),
				form: true,
				approve: formOf,
			},
			'Send and Wait': {
				node: other('telegram', { operation: 'sendAndWait', chatId: '1', message: 'Pay?' }, 1.2),
				approve: ({ executionId }) =>
					telegram.sent.join().match(`http[^"]*/${executionId}/[^"]*approved=true[^"]*`)![0],
			},
		};

	describe.each(Object.entries(OTHERS))(
		'%s in the same execution',
		(_, { node: its, form, approve }) => {
			const own = () => ({ ...its, credentials: { telegramApi: telegram.credential } });
			/** Asks in a browser's name, and does not wait: a form's page may be answered by the next one. */
			const approved = (waiting: Waiting) => {
				// n8n takes no click from what looks like a bot.
				const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };
				const sending = its.type.endsWith('telegram') ? { method: 'GET', headers } : multipart([]);
				deliver(approve(waiting), sending).catch(() => undefined);
			};
			/**
			 * As the service repeats it; n8n 2 redirects what comes to a form's execution. At a Send and
			 * Wait, n8n 1 asks for the signature of its link: 401.
			 */
			const refused = async ({ url }: Waiting) => {
				const headers = { 'Content-Type': 'application/json', Connection: 'close' };
				const { status } = await fetch(url, { method: 'POST', headers, body: PAID });
				expect([401, 404, 409]).toContain(status);
			};
			const reached = async ({ executionId }: Waiting, name: string) =>
				await until(`the wait behind ${name}`, async () => {
					const { status, data } = await n8n.execution(executionId);
					return status === 'waiting' && name in data.resultData.runData;
				});

			test('is no approval that a repeated "paid" gives: behind it nothing is paid', async () => {
				const payout = pay('Payout', {
					external_id: '=payout-{{ $("Charge").first().json.external_id }}',
					amount: 1,
					creditParty: { key: 'k' },
					postback: 'none',
				});
				const waiting = await startWaiting(n8n, sandbox, payApi, {
					form,
					after: [own(), payout, noOp('After')],
				});
				expect(await deliver(waiting.url)).toBe(200);
				await reached(waiting, 'Wait');
				await refused(waiting);
				await stillWaits(waiting);
				const paid = () =>
					sandbox
						.bodies('payment')
						.filter(({ external_id }) => external_id === `payout-${waiting.about.external_id}`);
				expect(paid()).toStrictEqual([]);
				approved(waiting);
				await ended(n8n, waiting.executionId);
				expect(paid()).toHaveLength(1);
			});

			test('takes no postback from the wait behind it', async () => {
				const waiting = await startWaiting(n8n, sandbox, payApi, {
					form,
					before: [own()],
					wait: { external_id: '={{ $("Charge").first().json.external_id }}' },
				});
				await refused(waiting);
				await stillWaits(waiting);
				approved(waiting);
				await until('the postback to be taken', async () => (await deliver(waiting.url)) === 200);
				const [item] = itemsOf(await ended(n8n, waiting.executionId), 'After');
				expect(item).toMatchObject({ postback: { reference: waiting.about } });
			});
		},
	);

	// docs/waits.md says what n8n 1 does.
	(version === 'n8n2' ? describe : describe.skip)(
		"a postback in the last seconds of a limit: n8n's timer for it does not end the wait behind",
		() => {
			const second = ({ about }: Waiting) =>
				sandbox.bodies('qrcode').find((body) => body.external_id === `${about.external_id}-2`);
			beforeAll(async () => await Promise.all(Object.values(pausing).map((each) => each.postback)));

			test.each(['a charge', 'a wait'])('%s pauses until n8n has let it be', async (name) => {
				const { waiting, since } = pausing[name]!;
				const { executionId, about } = waiting;
				await after(since, LIMIT + 7);
				const { postbackUrl } = await until('the charge', async () => second(waiting));
				await waits(n8n, executionId);
				expect(await deliver(String(postbackUrl))).toBe(200);
				const execution = await ended(n8n, executionId);
				const [item] = itemsOf(execution, 'After');
				const reference = { ...about, external_id: `${about.external_id}-2` };
				expect(item?.postback).toMatchObject({ reference });
				const { hints = [] } = execution.data.resultData.runData['Charge 2']![0]!;
				const paused = hints.filter(({ message }) => message.startsWith('Paused for'));
				expect(paused).toHaveLength(name === 'a charge' ? 1 : 0);
			});

			test.each(['a charge', 'a wait'])('%s that is stopped does no more', async (name) => {
				const { waiting, since } = pausing[`${name} that is stopped`]!;
				await after(since, LIMIT + 7);
				expect((await n8n.execution(waiting.executionId)).status).toBe('canceled');
				expect(second(waiting) === undefined).toBe(name === 'a charge');
			});
		},
	);

	test.each([
		['the resume URL itself, as it was given out earlier', 200],
		['a segment that nothing listens at', 404],
	])('with a genuine proof at %s: %d', async (name, expected) => {
		const waiting = await startWaiting(n8n, sandbox, payApi);
		const segment = name.startsWith('the') ? '' : '/postback';
		const { url, executionId } = waiting;
		expect(await deliver(url.replace('/pay-postback', segment))).toBe(expected);
		if (expected !== 200) expect(await deliver(`${url}&status=paid`)).toBe(200);
		const [item] = itemsOf(await ended(n8n, executionId), 'After');
		expect(item).toHaveProperty('postback');
		if (expected !== 200) expect(item).toMatchObject({ postback: { query: { status: 'paid' } } });
	});

	test('an address that the service escaped once as HTML resumes it', async () => {
		const waiting = await startWaiting(n8n, sandbox, payApi);
		expect(await deliver(waiting.url.replaceAll('&', '&amp;'))).toBe(200);
		await ended(n8n, waiting.executionId);
	});

	test('a secret that is deleted with its credential while it waits: its own postback ends it, and no other', async () => {
		const data = { baseUrl: sandbox.url, accessToken: 'token', postbackSecret: SECRET };
		const credential = await n8n.createCredential(data);
		const waiting = await startWaiting(n8n, sandbox, credential);
		await n8n.rest('DELETE', `/credentials/${credential.id}`);
		expect(await deliver(waiting.bare)).toBe(401);
		for (const secret of [SECRET, '']) {
			expect(await deliver(signUrl(waiting.bare, waiting.about, secret))).toBe(401);
		}
		await stillWaits(waiting);
		expect(await deliver(waiting.url)).toBe(200);
		await ended(n8n, waiting.executionId);
	});

	test.each(['edited and renamed', 'unpublished', 'deleted'])(
		'a workflow that is %s while it waits: its postback ends it as it began; a deleted one is gone',
		async (how) => {
			const waiting = await startWaiting(n8n, sandbox, payApi);
			const { workflowId: id, executionId, url } = waiting;
			const { versionId, ...workflow } = await n8n.workflow(id);
			if (how.startsWith('edited')) {
				const text = JSON.stringify(workflow.nodes).replaceAll(
					'"resumeWhen":"any"',
					'"resumeWhen":"paid"',
				);
				const nodes = JSON.parse(text.replaceAll('"Wait"', '"Renamed"')) as Node[];
				const connections = { ...workflow.connections, Wait: undefined, Charge: undefined };
				await n8n.rest('PATCH', `/workflows/${id}`, { nodes, connections, versionId });
				await n8n.activate(id);
			} else if (version === 'n8n2') await n8n.rest('POST', `/workflows/${id}/deactivate`);
			else await n8n.rest('PATCH', `/workflows/${id}`, { active: false, versionId });
			if (how === 'deleted') {
				await n8n.rest('POST', `/workflows/${id}/archive`);
				await n8n.rest('DELETE', `/workflows/${id}`);
				expect(await deliver(url)).toBe(404);
				return;
			}
			expect(await deliver(waiting.bare)).toBe(401);
			expect(await deliver(url)).toBe(200);
			expect(itemsOf(await ended(n8n, executionId), 'After')[0]).toHaveProperty('postback');
		},
	);

	// triggers.n8n.ts has all spellings; n8n hands those of a wait over in the same way.
	test.each([
		'JSON of no type',
		'JSON in ISO-8859-1',
		'XML in windows-1252',
		'a form in us-ascii',
		'a multipart form',
		'a second query appended to the URL',
	])('"paid" is seen in %s', async (name) => {
		const waiting = await startWaiting(n8n, sandbox, payApi, {
			wait: { resumeWhen: 'match', matchField: 'data.status', matchValues: ['paid'] },
		});
		expect(
			await deliver(waiting.url, { ...SPELLINGS.JSON, body: '{"data":{"status":"no"}}' }),
		).toBe(200);
		await stillWaits(waiting);
		expect(await deliver(waiting.url, SPELLINGS[name])).toBe(200);
		await ended(n8n, waiting.executionId);
	});

	test('neither the proof nor the token of n8n is stored', async () => {
		const waiting = await startWaiting(n8n, sandbox, payApi);
		const url = new URL(waiting.url);
		const path = url.pathname + url.search;
		const mac = url.searchParams.get('pay_proof')!.split('.')[1]!;
		const token = url.searchParams.get('signature');
		const status = await deliver(waiting.url, {
			headers: {
				'Content-Type': 'application/json',
				'X-Original-URL': path,
				'X-Forwarded-Uri': path,
				'X-Envoy-Original-Path': path,
				Referer: waiting.url,
			},
			body: JSON.stringify({ postbackUrl: waiting.url }),
		});
		expect(status).toBe(200);
		const execution = await ended(n8n, waiting.executionId);
		const { postback } = itemsOf(execution, 'After')[0] as { postback: object };
		expect(JSON.stringify(postback)).toContain('***');
		expect(JSON.stringify(postback)).not.toContain(mac);
		if (version === 'n8n2') {
			// As the table of lengths in postback/proof.test.ts has it.
			expect(token).toHaveLength(64);
			expect(JSON.stringify(postback)).not.toContain(token);
		}
		expect(n8n.log).not.toContain(mac);
	});

	test.each([0, 20, 60, 150, 400, 1_000, 2_000])(
		'a second postback whose body is %i ms late lets nothing run twice',
		async (ms) => {
			const waiting = await startWaiting(n8n, sandbox, payApi, { after: payoutAndSecondWait() });
			const late = deliverLate(waiting.url, ms);
			const prompt = deliver(waiting.url);
			const statuses = await Promise.all([late, prompt]);
			expect(statuses.sort()).toStrictEqual([200, 409]);
			await waits(n8n, waiting.executionId);
			const url = await until('the second charge', async () =>
				sandbox
					.bodies('qrcode')
					.find(({ external_id }) => external_id === `${waiting.about.external_id}-2`),
			);
			expect(await deliver(String(url.postbackUrl))).toBe(200);
			await ended(n8n, waiting.executionId);
			expect(payoutsBehind(sandbox, waiting)).toHaveLength(1);
		},
	);

	test('a body that takes ten seconds is given up, and the postback may come again', async () => {
		const waiting = await startWaiting(n8n, sandbox, payApi);
		expect(await deliverLate(waiting.url, 12_000)).toBe(408);
		expect(await deliver(waiting.url)).toBe(200);
		await ended(n8n, waiting.executionId);
	});

	test('a time limit that passes while a body is on its way ends the wait without a postback', async () => {
		expect(await overtakenStatus).toBe(409);
		const [item] = itemsOf(await ended(n8n, overtaken.executionId, 'After', 150), 'After');
		expect(item).toMatchObject({ external_id: overtaken.about.external_id });
		expect(item).not.toHaveProperty('postback');
	});

	test.each(ON_ERROR)(
		'at the time limit the item goes on without a postback: %s',
		async (onError) => {
			const { executionId, about } = limited[onError]!;
			const items = itemsOf(await ended(n8n, executionId, 'After', 150), 'After');
			expect(items).toHaveLength(1);
			expect(items[0]).toMatchObject({ external_id: about.external_id, outcome: 'accepted' });
			expect(items[0]).not.toHaveProperty('postback');
		},
	);
});

(VERSIONS.includes('n8n2') ? describe : describe.skip)(
	'n8n 2 with room for one execution at a time',
	() => {
		test("a payment and a charge behind a wait that ends shortly before its limit are made once, whatever n8n's timer does", async () => {
			const { executionId, about } = crowded.waiting!;
			expect(await crowdedPostback).toBe(200);
			// The first pass comes to its second wait 5 s after the limit, and n8n begins the second pass.
			await after(crowded.since, LIMIT + 15);
			expect(payoutsBehind(crowded.sandbox!, crowded.waiting!)).toHaveLength(1);
			const charges = crowded
				.sandbox!.bodies('qrcode')
				.filter(({ external_id }) => external_id === `${about.external_id}-2`);
			expect(charges).toHaveLength(1);
			const { status, data } = await crowded.n8n!.execution(executionId);
			expect(status).toBe('error');
			expect(data.resultData.error).toMatchObject({
				message: 'n8n runs this execution a second time, so no payment is sent',
			});
		});
	},
);
