import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import { chain, node, noOp, pay, start, type Node } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { listen } from '../listen';
import { deliver, deliverLate, SPELLINGS } from './deliveries';
import { beforeNightly, nightly } from './nightly';
import {
	credentialFor,
	errorFactsOf,
	publish,
	SECRET,
	startN8n,
	VERSIONS,
	withN8n,
	type Credential,
} from './nodes';
import {
	chargeAndWait,
	ended,
	payoutAndSecondWait,
	payoutsBehind,
	startWaiting,
	waits,
	type Waiting,
} from './chargeAndWait';

// Under the second one, n8n empties a list that a node hands on as it came.
const ON_ERROR = ['stopWorkflow', 'continueErrorOutput'];

/** A time limit in seconds: n8n, which looks once a minute, sets its timer in that time. */
const LIMIT = 75;
const LIMITED = { limitWaitTime: true, resumeAmount: LIMIT, resumeUnit: 'seconds' };

/** Until so many seconds after a moment. */
async function secondsAfter(moment: number, seconds: number) {
	await until('the time', async () => Date.now() > moment + seconds * 1000, 2 * LIMIT);
}

/** Something that is waited for later: what fails before that is no unhandled rejection. */
function begin<Result>(work: () => Promise<Result>): Promise<Result> {
	const begun = work();
	begun.catch(() => undefined);
	return begun;
}

/** The second charge of a workflow, whose External ID is that of the first one and "-2". */
function secondChargeOf(sandbox: Sandbox, { about }: Waiting) {
	return sandbox
		.bodies('qrcode')
		.find(({ external_id }) => external_id === `${about.external_id}-2`);
}

/**
 * n8n 2 with room for one execution at a time. n8n's timer of a time limit loads the execution, and waits
 * for its place until the execution stands in its next wait. (n8n 1 runs what it loaded beside it.)
 */
interface Crowded {
	n8n: N8n;
	sandbox: Sandbox;
	waiting: Waiting;
	/** When its wait began. */
	since: number;
	/** How its postback is answered, which comes shortly before the limit. */
	status: Promise<number>;
}
let crowded: Crowded | undefined;

// Its limit passes while the other tests run.
beforeNightly(async () => {
	if (!VERSIONS.includes('n8n2')) return;
	const sandbox = await Sandbox.start();
	const n8n = await startN8n('n8n2', { env: { N8N_CONCURRENCY_PRODUCTION_LIMIT: '1' } });
	const waiting = await startWaiting(n8n, sandbox, await credentialFor(sandbox, n8n), {
		wait: LIMITED,
		after: payoutAndSecondWait(),
	});
	const since = Date.now();
	const status = begin(async () => {
		await secondsAfter(since, LIMIT - 8);
		return await deliver(waiting.url);
	});
	crowded = { n8n, sandbox, waiting, since, status };
});
afterAll(async () => {
	await crowded?.n8n.stop();
	await crowded?.sandbox.close();
});

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));

	/** Another workflow, which ends at once. */
	let other: Awaited<ReturnType<typeof publish>>;
	beforeAll(async () => {
		other = await publish(n8n, chain('Later', [start(), noOp('End')]));
	});

	/** What must not happen has no event of its own: a run of another workflow, begun now, has one. */
	async function stillWaits({ executionId }: Waiting) {
		await other.run();
		expect((await n8n.execution(executionId)).status).toBe('waiting');
	}

	async function waitsBehind(name: string, { executionId }: Waiting) {
		await until(`the wait behind ${name}`, async () => {
			const { status, data } = await n8n.execution(executionId);
			return status === 'waiting' && name in data.resultData.runData;
		});
	}

	/** The item behind a wait, once its execution has ended. */
	async function itemAfter({ executionId }: Waiting, seconds?: number) {
		const items = itemsOf(await ended(n8n, executionId, 'After', seconds), 'After');
		expect(items).toHaveLength(1);
		return items[0]!;
	}

	/** n8n looks about once a minute whose limit has passed, so these begin first and are looked at last. */
	const limited: Record<string, Waiting> = {};
	let overtaken: { waiting: Waiting; status: Promise<number> };
	let slow: { waiting: Waiting; status: Promise<number> };
	beforeNightly(async () => {
		const wait = { limitWaitTime: true, resumeAmount: 2, resumeUnit: 'seconds' };
		for (const onError of ON_ERROR) {
			limited[onError] = await startWaiting(n8n, sandbox, payApi, { wait, settings: { onError } });
		}
		const soonOver = await startWaiting(n8n, sandbox, payApi, { wait });
		// The request begins before the limit passes, and its body ends after it.
		overtaken = {
			waiting: soonOver,
			status: begin(async () => await deliverLate(soonOver.url, 4_000)),
		};
		const unlimited = await startWaiting(n8n, sandbox, payApi);
		slow = {
			waiting: unlimited,
			status: begin(async () => await deliverLate(unlimited.url, 12_000)),
		};
	});

	/** What pauses behind a first wait with a limit: a second charge, or a second wait for the first one. */
	interface Pausing {
		waiting: Waiting;
		/** When the first wait began. */
		since: number;
		/** The postback of the first wait, and Stop where the execution is stopped in its pause. */
		done: Promise<void>;
	}
	const paused: Partial<Record<'charge' | 'wait' | 'stoppedCharge' | 'stoppedWait', Pausing>> = {};
	beforeNightly(async () => {
		if (version !== 'n8n2') return;
		const external_id = '={{ $("Charge").first().json.external_id }}-2';
		const [charge, wait] = chargeAndWait({ external_id }, {}, { external_id });
		charge.name = 'Charge 2';
		wait.name = 'Wait 2';
		const [, waitAgain] = chargeAndWait();
		waitAgain.name = 'Wait again';
		const chargePauses = { wait: LIMITED, after: [charge, wait, noOp('After')] };
		const waitPauses = { wait: LIMITED, after: [waitAgain, noOp('After')] };
		paused.charge = await startPausing(chargePauses, deliverShortlyBeforeLimit);
		paused.wait = await startPausing(waitPauses, deliverShortlyBeforeLimit);
		const stopped = { ...charge, name: 'Stopped charge' };
		const stoppedWait = { ...waitAgain, name: 'Stopped wait' };
		const chargeStops = { wait: LIMITED, after: [stopped, wait, noOp('After')] };
		const waitStops = { wait: LIMITED, after: [stoppedWait, noOp('After')] };
		paused.stoppedCharge = await startPausing(chargeStops, deliverAndStopIn('Stopped charge'));
		paused.stoppedWait = await startPausing(waitStops, deliverAndStopIn('Stopped wait'));
	});

	async function startPausing(
		options: Parameters<typeof startWaiting>[3],
		work: (waiting: Waiting, since: number) => Promise<void>,
	): Promise<Pausing> {
		const waiting = await startWaiting(n8n, sandbox, payApi, options);
		const since = Date.now();
		return { waiting, since, done: begin(async () => await work(waiting, since)) };
	}

	/** In time on a slow machine, whatever other tests do meanwhile. */
	async function deliverShortlyBeforeLimit({ url }: Waiting, since: number) {
		// n8n, which looks once a minute, has set its timer by now.
		await secondsAfter(since, LIMIT - 9);
		expect(await deliver(url)).toBe(200);
	}

	/** Delivers shortly before the limit, and stops the execution once a node behind the wait has begun. */
	const deliverAndStopIn = (name: string) => async (waiting: Waiting, since: number) => {
		await deliverShortlyBeforeLimit(waiting, since);
		const begun = `Start executing node "${name}"`;
		await until(`"${name}" to begin`, async () => n8n.log.includes(begun));
		await n8n.rest('POST', `/executions/${waiting.executionId}/stop`);
	};

	test.each(ON_ERROR)(
		'On Error %s: unsigned and foreign calls leave it waiting, the genuine one resumes it with its item',
		async (onError) => {
			const waiting = await startWaiting(n8n, sandbox, payApi, { settings: { onError } });
			const { about, bare, url } = waiting;
			expect(await deliver(bare)).toBe(401);
			expect(await deliver(signUrl(bare, about, SECRET))).toBe(401);
			const foreign = { ...about, external_id: 'another' };
			expect(await deliver(signUrl(bare, foreign, SECRET))).toBe(401);
			await stillWaits(waiting);
			expect(await deliver(url)).toBe(200);
			expect(await itemAfter(waiting)).toMatchObject({
				external_id: about.external_id,
				outcome: 'accepted',
				postback: { reference: about, body: { data: { status: 'paid' } } },
			});
		},
	);

	/** Stands in for Telegram, to which n8n sends what a person is to approve. */
	const telegram = {
		sent: [] as string[],
		credential: { id: '', name: '' },
		close: () => {},
	};
	beforeAll(async () => {
		const { url, close } = await listen(async (request, answer) => {
			telegram.sent.push(await text(request));
			answer.setHeader('Content-Type', 'application/json').end('{"ok":true,"result":{}}');
		});
		telegram.close = close;
		telegram.credential = await n8n.createCredential(
			{ accessToken: 'none', baseUrl: url },
			'telegramApi',
			'Telegram',
		);
	});
	afterAll(() => telegram.close());

	/** A node of n8n that waits for a person. */
	const approval = (type: string, typeVersion: number, parameters: object): Node =>
		node('Approval', `n8n-nodes-base.${type}`, parameters, {
			typeVersion,
			webhookId: randomUUID(),
		});

	nightly.describe.each<{
		what: string;
		approvalNode: Node;
		/** What a person who approves does. */
		approve: (waiting: Waiting) => Promise<unknown>;
	}>([
		{
			what: 'Wait, webhook',
			approvalNode: approval('wait', 1.1, { resume: 'webhook', httpMethod: 'POST', options: {} }),
			approve: async ({ bare }) => await deliver(bare.replace('/pay-postback', '')),
		},
		{
			what: 'Send and Wait',
			approvalNode: approval('telegram', 1.2, {
				operation: 'sendAndWait',
				chatId: '1',
				message: 'Pay?',
			}),
			approve: async ({ executionId }) => {
				const link = new RegExp(`http[^"]*/${executionId}/[^"]*approved=true[^"]*`);
				const [url] = link.exec(telegram.sent.join())!;
				// n8n takes no click from what looks like a bot.
				const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };
				return await deliver(url, { method: 'GET', headers });
			},
		},
	])('$what in the same execution', ({ approvalNode, approve }) => {
		/** The node, with an account for what it sends. */
		const approvalHere = () => ({
			...approvalNode,
			credentials: { telegramApi: telegram.credential },
		});

		/** As the service repeats it. At a Send and Wait, n8n 1 asks for the signature of its link: 401. */
		async function postbackIsRefused({ url }: Waiting) {
			expect([401, 404, 409]).toContain(await deliver(url));
		}

		test('is no approval that a repeated "paid" gives: behind it nothing is paid', async () => {
			const payout = pay('Payout', {
				external_id: '=payout-{{ $("Charge").first().json.external_id }}',
				amount: 1,
				creditParty: { key: 'k' },
				postback: 'none',
			});
			const waiting = await startWaiting(n8n, sandbox, payApi, {
				after: [approvalHere(), payout, noOp('After')],
			});
			const payoutId = `payout-${waiting.about.external_id}`;
			const payouts = () =>
				sandbox.bodies('payment').filter(({ external_id }) => external_id === payoutId);
			expect(await deliver(waiting.url)).toBe(200);
			await waitsBehind('Wait', waiting);
			await postbackIsRefused(waiting);
			await stillWaits(waiting);
			expect(payouts()).toStrictEqual([]);
			await approve(waiting);
			await ended(n8n, waiting.executionId);
			expect(payouts()).toHaveLength(1);
		});

		test('takes no postback from the wait behind it', async () => {
			const waiting = await startWaiting(n8n, sandbox, payApi, {
				before: [approvalHere()],
				wait: { external_id: '={{ $("Charge").first().json.external_id }}' },
			});
			await postbackIsRefused(waiting);
			await stillWaits(waiting);
			await approve(waiting);
			await until('the postback to be taken', async () => (await deliver(waiting.url)) === 200);
			expect(await itemAfter(waiting)).toMatchObject({ postback: { reference: waiting.about } });
		});
	});

	// docs/n8n-1.md says what n8n 1 does.
	(version === 'n8n2' ? nightly.describe : describe.skip)(
		"a postback in the last seconds of a limit: n8n's timer for it does not end the wait behind",
		() => {
			beforeAll(async () => await Promise.all(Object.values(paused).map(({ done }) => done)));

			/** The execution, ended by a postback in its second wait. */
			async function endSecondWait({ executionId }: Waiting, url: string) {
				await waits(n8n, executionId);
				expect(await deliver(url)).toBe(200);
				return await ended(n8n, executionId);
			}

			test('a charge pauses until n8n has let it be, and says so', async () => {
				const { waiting, since } = paused.charge!;
				await secondsAfter(since, LIMIT + 7);
				const { postbackUrl } = await until('the charge', async () =>
					secondChargeOf(sandbox, waiting),
				);
				const execution = await endSecondWait(waiting, String(postbackUrl));
				expect(itemsOf(execution, 'After')).toMatchObject([
					{ postback: { reference: { external_id: `${waiting.about.external_id}-2` } } },
				]);
				const { hints = [] } = execution.data.resultData.runData['Charge 2']![0]!;
				expect(hints.filter(({ message }) => message.startsWith('Paused for'))).toHaveLength(1);
			});

			test('a wait pauses until n8n has let it be', async () => {
				const { waiting, since } = paused.wait!;
				await secondsAfter(since, LIMIT + 7);
				const execution = await endSecondWait(waiting, waiting.url);
				expect(itemsOf(execution, 'After')).toMatchObject([
					{ postback: { reference: { external_id: waiting.about.external_id } } },
				]);
			});

			test('a charge that is stopped in its pause is not sent', async () => {
				const { waiting, since } = paused.stoppedCharge!;
				await secondsAfter(since, LIMIT + 7);
				expect((await n8n.execution(waiting.executionId)).status).toBe('canceled');
				expect(secondChargeOf(sandbox, waiting)).toBeUndefined();
			});

			test('a wait that is stopped in its pause does not begin', async () => {
				const { waiting, since } = paused.stoppedWait!;
				await secondsAfter(since, LIMIT + 7);
				expect((await n8n.execution(waiting.executionId)).status).toBe('canceled');
			});
		},
	);

	test('the service gets what the wait says, before and when its postback ends it', async () => {
		const responseBody = '{ "status": "received",  "n": 1.0 }';
		const options = { responseBody, responseCode: 202 };
		const match = { resumeWhen: 'match', matchField: 'status', matchValues: ['paid'] };
		const wait = { ...match, options: { binaryData: true, ...options } };
		const waiting = await startWaiting(n8n, sandbox, payApi, { wait });
		for (const status of ['pending', 'paid']) {
			const response = await fetch(waiting.url, {
				method: 'POST',
				headers: { 'Content-Type': 'application/json' },
				body: JSON.stringify({ status }),
			});
			expect([response.status, await response.text()]).toStrictEqual([202, responseBody]);
			expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
		}
		expect(await itemAfter(waiting)).toMatchObject({ postback: { body: { status: 'paid' } } });
	});

	test('a genuine proof at a segment that nothing listens at resumes nothing', async () => {
		const waiting = await startWaiting(n8n, sandbox, payApi);
		expect(await deliver(waiting.url.replace('/pay-postback', '/postback'))).toBe(404);
		await stillWaits(waiting);
	});

	nightly.describe('a workflow that changes while it waits', () => {
		async function unpublish(workflowId: string) {
			if (version === 'n8n2') {
				await n8n.rest('POST', `/workflows/${workflowId}/deactivate`);
			} else {
				const { versionId } = await n8n.workflow(workflowId);
				await n8n.rest('PATCH', `/workflows/${workflowId}`, { active: false, versionId });
			}
		}

		/** Renames the wait, lets it wait for another word, and disconnects it; then publishes that. */
		async function edit(workflowId: string) {
			const { versionId, nodes, connections } = await n8n.workflow(workflowId);
			const wait = nodes.find(({ name }) => name === 'Wait')!;
			wait.name = 'Renamed';
			(wait.parameters as { resumeWhen: string }).resumeWhen = 'paid';
			delete connections.Wait;
			delete connections.Charge;
			await n8n.rest('PATCH', `/workflows/${workflowId}`, { nodes, connections, versionId });
			await n8n.activate(workflowId);
		}

		test.each([
			{ how: 'edited and renamed', change: edit },
			{ how: 'unpublished', change: unpublish },
		])('and is $how: its postback ends it as it began', async ({ change }) => {
			const waiting = await startWaiting(n8n, sandbox, payApi);
			await change(waiting.workflowId);
			expect(await deliver(waiting.bare)).toBe(401);
			expect(await deliver(waiting.url)).toBe(200);
			expect(await itemAfter(waiting)).toHaveProperty('postback');
		});

		test('and is deleted: nothing is there any more to take its postback', async () => {
			const { workflowId, url } = await startWaiting(n8n, sandbox, payApi);
			await unpublish(workflowId);
			await n8n.rest('POST', `/workflows/${workflowId}/archive`);
			await n8n.rest('DELETE', `/workflows/${workflowId}`);
			expect(await deliver(url)).toBe(404);
		});
	});

	// n8n leaves what it would refuse, parse or drop to the node; triggers.n8n.ts has all spellings.
	test.each(['JSON in ISO-8859-1', 'a multipart form'] as const)(
		'"paid" is seen in %s',
		async (name) => {
			const waiting = await startWaiting(n8n, sandbox, payApi, {
				wait: { resumeWhen: 'match', matchField: 'data.status', matchValues: ['paid'] },
			});
			const headers = { 'Content-Type': 'application/json' };
			const failed = { headers, body: '{"data":{"status":"no"}}' };
			expect(await deliver(waiting.url, failed)).toBe(200);
			await stillWaits(waiting);
			expect(await deliver(waiting.url, SPELLINGS[name])).toBe(200);
			await ended(n8n, waiting.executionId);
		},
	);

	describe('a postback that repeats its own address', () => {
		let waiting: Waiting;
		let postback: string;
		beforeAll(async () => {
			waiting = await startWaiting(n8n, sandbox, payApi);
			const path = waiting.url.slice(n8n.url.length);
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
			postback = JSON.stringify((await itemAfter(waiting)).postback);
		});

		test('is stored and logged without its proof', () => {
			const mac = new URL(waiting.url).searchParams.get('pay_proof')!;
			expect(postback).toContain('***');
			expect(postback).not.toContain(mac);
			expect(n8n.log).not.toContain(mac);
		});

		// n8n 1 has no such token.
		(version === 'n8n2' ? test : test.skip)('is stored without the token of n8n', () => {
			const token = new URL(waiting.url).searchParams.get('signature');
			// As the table of lengths in postback/proof.test.ts has it.
			expect(token).toHaveLength(64);
			expect(postback).not.toContain(token);
		});
	});

	// postback/resumeOnce.test.ts and the simulation have every order of two bodies.
	test.each([0, 1_000])(
		'a second postback whose body is %i ms late lets nothing run twice',
		async (ms) => {
			const waiting = await startWaiting(n8n, sandbox, payApi, { after: payoutAndSecondWait() });
			const late = deliverLate(waiting.url, ms);
			const prompt = deliver(waiting.url);
			const statuses = await Promise.all([late, prompt]);
			const refused = statuses.filter((status) => status !== 200);
			expect(refused).toHaveLength(1);
			// On a busy machine n8n 2 says 500 by itself to one whose execution it has just resumed.
			expect([409, 500]).toContain(refused[0]);
			await waits(n8n, waiting.executionId);
			const { postbackUrl } = await until('the second charge', async () =>
				secondChargeOf(sandbox, waiting),
			);
			expect(await deliver(String(postbackUrl))).toBe(200);
			await ended(n8n, waiting.executionId);
			expect(payoutsBehind(sandbox, waiting)).toHaveLength(1);
		},
	);

	nightly.test(
		'a body that takes ten seconds is given up, and the postback may come again',
		async () => {
			expect(await slow.status).toBe(408);
			expect(await deliver(slow.waiting.url)).toBe(200);
			await ended(n8n, slow.waiting.executionId);
		},
	);

	nightly.test(
		'a time limit that passes while a body is on its way ends the wait without a postback',
		async () => {
			expect(await overtaken.status).toBe(409);
			const item = await itemAfter(overtaken.waiting, 150);
			expect(item.external_id).toBe(overtaken.waiting.about.external_id);
			expect(item).not.toHaveProperty('postback');
		},
	);

	nightly.test.each(ON_ERROR)(
		'at the time limit the item goes on without a postback: On Error %s',
		async (onError) => {
			const item = await itemAfter(limited[onError]!, 150);
			const { external_id } = limited[onError]!.about;
			expect(item).toMatchObject({ external_id, outcome: 'accepted' });
			expect(item).not.toHaveProperty('postback');
		},
	);
});

(VERSIONS.includes('n8n2') ? nightly.describe : describe.skip)(
	'n8n 2 with room for one execution at a time, whose timer runs an execution a second time: behind a wait that ends shortly before its limit,',
	() => {
		// The first pass comes to its second wait 5 s after the limit, and n8n begins the second pass.
		beforeAll(async () => {
			expect(await crowded!.status).toBe(200);
			await secondsAfter(crowded!.since, LIMIT + 15);
		});

		test('a payment is made once', () => {
			expect(payoutsBehind(crowded!.sandbox, crowded!.waiting)).toHaveLength(1);
		});

		test('a charge is made once', () => {
			const id = `${crowded!.waiting.about.external_id}-2`;
			const charges = crowded!.sandbox.bodies('qrcode');
			expect(charges.filter(({ external_id }) => external_id === id)).toHaveLength(1);
		});

		test('the second pass ends with an error, and sends nothing', async () => {
			const execution = await crowded!.n8n.execution(crowded!.waiting.executionId);
			expect(execution.status).toBe('error');
			expect(errorFactsOf(execution)).toMatchObject({ outcome: 'duplicate' });
		});
	},
);
