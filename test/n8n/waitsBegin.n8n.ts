import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { itemsOf, until, type N8n } from '../../dev/n8n';
import { chain, noOp, node, splitItems, start, type Node } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { RESUME_SEGMENT } from '../../nodes/Pay/postback/target';
import type { Sandbox } from '../../sandbox/service';
import { begin, chargeAndWait, ended, firstExecution, startWaiting, waits } from './chargeAndWait';
import { deliver } from './deliveries';
import { startModel } from './model';
import { beforeNightly, nightly } from './nightly';
import { allFinished, errorFactsOf, SECRET, VERSIONS, withN8n, type Credential } from './nodes';
import {
	agent,
	callOf,
	chatModel,
	link,
	loopOverItems,
	set,
	toAgent,
	whenCalled,
} from './otherNodes';

/*
 * A wait begins where its postback can end it, and nothing but its postback says "paid".
 */

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));

	/** Where the postbacks of an external_id's charges go, in their order. */
	function postbackUrls(external_id: string): string[] {
		const charges = sandbox.bodies('qrcode').filter((body) => body.external_id === external_id);
		return charges.map(({ postbackUrl }) => String(postbackUrl));
	}

	/** The same once there are so many charges. */
	async function untilCharged(external_id: string, count: number): Promise<string[]> {
		return await until(`${count} charges`, async () => {
			const urls = postbackUrls(external_id);
			return urls.length === count && urls;
		});
	}

	/** Delivers the postback of an external_id's newest charge; gives the status that it is answered with. */
	async function deliverFor(external_id: string): Promise<number> {
		return await deliver(postbackUrls(external_id).at(-1)!);
	}

	async function untilTaken(url: string) {
		await until('the postback to be taken', async () => (await deliver(url)) === 200);
	}

	/** Publishes a sub-workflow of these nodes; gives its id. */
	async function publishSubWorkflow(...nodes: Node[]) {
		const id = await n8n.importWorkflow(chain('Called', [whenCalled(), ...nodes]), { payApi });
		await n8n.publish(id);
		return id;
	}

	/** Passes on the first item alone. */
	const firstItem = () => node('One', 'n8n-nodes-base.limit', {});

	async function expectRefusedAsEndless(executionId: string) {
		expect(errorFactsOf(await n8n.finished(executionId))).toMatchObject({ field: 'external_id' });
	}

	/** Loop Over Items around the charge and its wait; ends with "After". */
	async function beginLoop(items: object[], waitParameters: object = {}): Promise<string> {
		const [charge, wait] = chargeAndWait(waitParameters, {}, { amount: '={{ $json.amount }}' });
		const each = loopOverItems('Each', { options: { reset: false } });
		const row = set('Row', '={{ { state: "open" } }}', { includeOtherFields: true });
		const nodes = [start(), splitItems(), each, charge, row, wait];
		const workflow = chain('Loop', nodes, {
			Each: { main: [[link('After')], [link('Charge')]] },
			Wait: { main: [[link('Each')]] },
		});
		workflow.nodes.push(noOp('After'));
		return (await begin(n8n, workflow, payApi, { items })).executionId;
	}

	/** n8n looks about once a minute whose limit has passed, so these begin first and are looked at last. */
	const limited = { order: '', second: '', loop: '' };
	const unreportedId = randomUUID();
	const LIMIT = { limitWaitTime: true, resumeAmount: 2, resumeUnit: 'seconds' };

	beforeNightly(async () => {
		// The customer's order is merged with the charge, and holds a "postback" of his own.
		const order = set('Order', '={{ $json.body }}');
		const [charge, wait] = chargeAndWait({
			...LIMIT,
			resumeWhen: 'match',
			matchField: 'data.status',
			matchValues: ['paid'],
		});
		const merge = node(
			'Merge',
			'n8n-nodes-base.merge',
			{ mode: 'combine', combineBy: 'combineByPosition', options: {} },
			{ typeVersion: 3 },
		);
		const workflow = {
			name: 'Order',
			nodes: [start(), order, charge, merge, wait, noOp('After')],
			connections: {
				Start: { main: [[link('Order')]] },
				Order: { main: [[link('Charge'), link('Merge')]] },
				Charge: { main: [[link('Merge', 1)]] },
				Merge: { main: [[link('Wait')]] },
				Wait: { main: [[link('After')]] },
			},
		};
		const paid = { body: { data: { status: 'paid' } } };
		const body = { id: randomUUID(), item: 'phone', postback: paid };
		limited.order = (await begin(n8n, workflow, payApi, body)).executionId;

		// Two waits in a row: the first is ended by its postback, the second by its limit.
		const second = { ...chargeAndWait(LIMIT)[1], name: 'Second' };
		const after = [second, noOp('After')];
		const waiting = await startWaiting(n8n, sandbox, payApi, { after });
		limited.second = waiting.executionId;
		expect(await deliver(waiting.url)).toBe(200);

		// Two charges of one external_id in a loop: the first one's wait is ended by its limit.
		limited.loop = await beginLoop(
			[
				{ id: unreportedId, amount: 1 },
				{ id: unreportedId, amount: 2 },
			],
			{ limitWaitTime: '={{ $runIndex === 0 }}', resumeAmount: 0 },
		);
	});

	const ownWait = () =>
		node(
			'Pause',
			'n8n-nodes-base.wait',
			{ resume: 'webhook', httpMethod: 'POST' },
			{ typeVersion: 1.1, webhookId: randomUUID() },
		);
	const formPage = () =>
		node(
			'Pause',
			'n8n-nodes-base.form',
			{ formFields: { values: [{ fieldLabel: 'name' }] }, options: {} },
			{ typeVersion: 1, webhookId: randomUUID() },
		);
	test.each([
		{ what: "n8n's Wait", pause: ownWait, form: false },
		{ what: 'a Form page', pause: formPage, form: true },
	])(
		'a postback that comes while $what pauses the execution is lost; charge and wait say so',
		async ({ pause, form }) => {
			const { url, bare, executionId } = await startWaiting(n8n, sandbox, payApi, {
				before: [pause()],
				form,
				// What comes in is the call or the page that ended the pause.
				wait: { external_id: "={{ $('Charge').item.json.external_id }}" },
			});
			// Where a page waits, n8n 2 redirects this to it. A body of bytes could not follow.
			const lost = await fetch(url, { method: 'POST', body: '{}' });
			expect(lost.status).toBe(404);
			const resume = new URL(bare);
			resume.pathname = resume.pathname.replace(`/${RESUME_SEGMENT}`, '');
			let filledIn: FormData | undefined;
			if (form) {
				resume.pathname = resume.pathname.replace('webhook-waiting', 'form-waiting');
				filledIn = new FormData();
				filledIn.append('field-0', 'Ana');
			}
			// n8n answers a page when the workflow has ended.
			const going = fetch(resume, { method: 'POST', body: filledIn });
			const runData = await until('the wait', async () => {
				const { status, data } = await n8n.execution(executionId);
				return status === 'waiting' && 'Wait' in data.resultData.runData && data.resultData.runData;
			});
			const hintsOf = (name: string) => runData[name]?.[0]?.hints?.map(({ message }) => message);
			expect(hintsOf('Charge')).toStrictEqual([
				expect.stringContaining('"Pause" can pause this execution before "Wait" begins'),
			]);
			expect(hintsOf('Wait')).toStrictEqual([
				expect.stringContaining('"Pause" may have paused this execution between "Charge" and this'),
			]);
			// Sent again, it ends the wait.
			expect(await deliver(url)).toBe(200);
			await ended(n8n, executionId);
			await going;
		},
	);

	describe('no "postback"', () => {
		test('of a customer says "paid" where a wait is retried over REST, which runs what is behind it', async () => {
			const waiting = await startWaiting(n8n, sandbox, payApi, {
				before: [
					set('Order', '={{ { postback: { body: "paid" } } }}', { includeOtherFields: true }),
				],
			});
			const { executionId, workflowId, about } = waiting;
			await n8n.rest('POST', `/executions/${executionId}/retry`, { loadWorkflow: false });
			const executions = await allFinished(n8n, workflowId, 2);
			const retried = executions.find(({ id }) => id !== executionId)!;
			const [after] = itemsOf(retried, 'After');
			expect(after).toMatchObject({ external_id: about.external_id });
			expect(after).not.toHaveProperty('postback');
		});

		test('of another execution resumes one for the same external_id', async () => {
			const charge = { external_id: randomUUID() };
			const first = await startWaiting(n8n, sandbox, payApi, { charge });
			const second = await startWaiting(n8n, sandbox, payApi, { charge });
			const foreign = new URL(second.url);
			foreign.searchParams.set('pay_proof', new URL(first.url).searchParams.get('pay_proof')!);
			expect(await deliver(foreign.href)).toBe(401);
			// As a proof for a trigger is made.
			expect(await deliver(signUrl(second.bare, second.about, SECRET))).toBe(401);
			expect((await n8n.execution(second.executionId)).status).toBe('waiting');
			expect(await deliver(second.url)).toBe(200);
			await ended(n8n, second.executionId);
			expect(await deliver(first.url)).toBe(200);
			await ended(n8n, first.executionId);
		});

		(version === 'n8n2' ? test : test.skip)(
			"of whoever fills in a form resumes a wait: n8n's token, which he is given, proves nothing",
			async () => {
				const page = node(
					'Thanks',
					'n8n-nodes-base.form',
					{ operation: 'completion', completionTitle: 'Thanks' },
					{ typeVersion: 1, webhookId: randomUUID() },
				);
				const waiting = await startWaiting(n8n, sandbox, payApi, {
					form: true,
					after: [noOp('After'), page],
				});
				const [, id, token] = /form-waiting\/(\d+)\?signature=([\w-]+)/.exec(waiting.page)!;
				const waitUrl = `${n8n.url}/webhook-waiting/${id}`;
				expect(await deliver(`${waitUrl}?signature=${token}`)).toBe(404);
				expect(await deliver(`${waitUrl}/${RESUME_SEGMENT}?signature=${token}`)).toBe(401);
				expect((await n8n.execution(waiting.executionId)).status).toBe('waiting');
				expect(await deliver(waiting.url)).toBe(200);
				// Then it waits for him to look at the next page.
				await until('what is behind the wait', async () => {
					const { data } = await n8n.execution(waiting.executionId);
					return 'After' in data.resultData.runData;
				});
			},
		);
	});

	// n8n's own client of web sockets, for Node 20 has none.
	interface Socket extends EventTarget {
		send: (text: string) => void;
		terminate: () => void;
		on: (event: string, listener: () => void) => void;
	}
	const required = createRequire(join(__dirname, '../../dev/n8n1/package.json'));
	const WebSocket = required('./node_modules/ws') as new (
		url: string,
	) => Socket & NodeJS.EventEmitter;

	test('a chat message of anyone who counts executions ends no wait', async () => {
		const { executionId, url } = await startWaiting(n8n, sandbox, payApi);
		const token = new URL(url).searchParams.get('signature') ?? '';
		const address = `${n8n.url.replace('http', 'ws')}/chat?sessionId=x&executionId=${executionId}&isPublic=true&token=${token}`;
		const socket = new WebSocket(address);
		await once(socket, 'message');
		const said = { sessionId: 'x', action: 'sendMessage', chatInput: 'paid' };
		socket.send(JSON.stringify(said));
		// n8n, or the node, has said in the log why it does not go on.
		const refusal = version === 'n8n2' ? 'Refused chat resume' : 'cannot resume a Pay node';
		await until('the refusal', async () => n8n.log.includes(refusal));
		socket.terminate();
		expect((await n8n.execution(executionId)).status).toBe('waiting');
		expect(await deliver(url)).toBe(200);
		expect(itemsOf(await ended(n8n, executionId), 'After')[0]).toHaveProperty('postback');
	});

	// n8n 1 ends it, without a postback: docs/n8n-1.md says so.
	(version === 'n8n2' ? test : test.skip)(
		'the end of a sub-workflow that nobody waits for any more ends no wait',
		async () => {
			const child = await publishSubWorkflow(...chargeAndWait());
			const own = randomUUID();
			const first = randomUUID();
			const second = randomUUID();
			const [last, wait] = chargeAndWait({}, {}, { external_id: own });
			const each = callOf('Call', child, { mode: 'each' });
			const nodes = [start(), splitItems(), each, firstItem(), last, wait, noOp('After')];
			const items = [{ id: first }, { id: second }];
			const { executionId } = await begin(n8n, chain('Parent', nodes), payApi, { items });
			await until('both children', async () => (await n8n.executionIds(child)).length === 2);
			for (const id of await n8n.executionIds(child)) await waits(n8n, id);
			await until('the first', async () => (await deliverFor(first)) === 200);
			await untilCharged(own, 1);
			await waits(n8n, executionId);
			expect(await deliverFor(second)).toBe(200);
			for (const id of await n8n.executionIds(child)) await ended(n8n, id, 'Wait');
			// What a child's end does to its parent is done a moment later: here to one that waits for its child.
			const third = randomUUID();
			const control = chain('Control', [start(), splitItems(), callOf('Call', child), noOp('End')]);
			const other = await begin(n8n, control, payApi, { items: [{ id: third }] });
			await until('its child', async () => (await deliverFor(third)) === 200);
			await ended(n8n, other.executionId, 'End');
			expect((await n8n.execution(executionId)).status).toBe('waiting');
			expect(await deliverFor(own)).toBe(200);
			const [after] = itemsOf(await ended(n8n, executionId), 'After');
			expect(after).toMatchObject({ postback: { reference: { external_id: own } } });
		},
	);

	describe('a wait is ended by its own postback', () => {
		test('where the resume URL came from an expression', async () => {
			const charge = { postback: 'url', postbackUrl: '={{ $execution.resumeUrl }}' };
			const { executionId, url } = await startWaiting(n8n, sandbox, payApi, { charge });
			expect(await deliver(url)).toBe(200);
			await ended(n8n, executionId);
		});

		test('in one branch after the other', async () => {
			const branch = [...chargeAndWait(), noOp('After')];
			const [charge, wait] = chargeAndWait({}, {}, { external_id: '={{ $json.id }}-2' });
			const workflow = chain('Branches', [start(), splitItems(), ...branch]);
			workflow.nodes.push({ ...charge, name: 'Charge 2' }, { ...wait, name: 'Wait 2' });
			workflow.nodes.push(noOp('After 2'));
			Object.assign(workflow.connections, {
				Items: { main: [[link('Charge'), link('Charge 2')]] },
				'Charge 2': { main: [[link('Wait 2')]] },
				'Wait 2': { main: [[link('After 2')]] },
			});
			const id = randomUUID();
			const { executionId } = await begin(n8n, workflow, payApi, { items: [{ id }] });
			// Which branch comes first is n8n's choice; the other one's charge is made behind it.
			const open = new Set([id, `${id}-2`]);
			await until('both postbacks', async () => {
				for (const each of open) {
					const [url] = postbackUrls(each);
					if (url !== undefined && (await deliver(url)) === 200) open.delete(each);
				}
				return open.size === 0;
			});
			await ended(n8n, executionId, 'After');
			await ended(n8n, executionId, 'After 2');
		});
	});

	describe('in a loop, a wait is ended by the postback of its own charge', () => {
		test('that its External ID names by $runIndex; not by what another one repeats', async () => {
			const firstId = randomUUID();
			const secondId = randomUUID();
			const executionId = await beginLoop(
				[
					{ id: firstId, amount: 1 },
					{ id: secondId, amount: 1 },
				],
				{ external_id: "={{ $('Charge').first(0, $runIndex).json.external_id }}" },
			);
			const [first = ''] = await untilCharged(firstId, 1);
			await untilTaken(first);
			const [second = ''] = await untilCharged(secondId, 1);
			await waits(n8n, executionId);
			expect(await deliver(first)).toBe(409);
			await untilTaken(second);
			await ended(n8n, executionId);
		});

		test('also where two charges have one external_id', async () => {
			const id = randomUUID();
			const executionId = await beginLoop([
				{ id, amount: 1 },
				{ id, amount: 2 },
			]);
			const [first = ''] = await untilCharged(id, 1);
			await untilTaken(first);
			const [, second = ''] = await untilCharged(id, 2);
			await waits(n8n, executionId);
			expect(await deliver(first)).toBe(409);
			await untilTaken(second);
			expect(itemsOf(await ended(n8n, executionId), 'After')).toMatchObject([
				{ postback: { reference: { external_id: id, amount: 1 } } },
				{ postback: { reference: { external_id: id, amount: 2 } } },
			]);
		});

		test('which ends two waits, one behind the other, whatever their names', async () => {
			// Names that expressions stumble over, each in its own way.
			const waiting = await startWaiting(n8n, sandbox, payApi, {
				settings: { name: 'isProxy' },
				after: [
					{ ...chargeAndWait()[1], name: 'Second "{{ }}" .constructor\u2028' },
					noOp('After'),
				],
			});
			await untilTaken(waiting.url);
			await until('the second wait', async () => {
				const { status, data } = await n8n.execution(waiting.executionId);
				return status === 'waiting' && 'isProxy' in data.resultData.runData;
			});
			await untilTaken(waiting.url);
			await ended(n8n, waiting.executionId);
		});
	});

	describe('a wait that could never end is refused at once', () => {
		/** Calls a sub-workflow, and does not wait for its end. */
		const callTo = (subWorkflow: string) =>
			callOf('Call', subWorkflow, { options: { waitForSubWorkflow: false } });

		test('in a sub-workflow, where the charge is in the parent', async () => {
			const [charge, wait] = chargeAndWait();
			const child = await publishSubWorkflow(wait, noOp('After'));
			const parent = chain('Parent', [start(), splitItems(), charge, callTo(child)]);
			await begin(n8n, parent, payApi, { items: [{ id: randomUUID() }] });
			await expectRefusedAsEndless(await firstExecution(n8n, child));
		});

		test('and not in a sub-workflow that has both', async () => {
			const child = await publishSubWorkflow(...chargeAndWait(), noOp('After'));
			const id = randomUUID();
			const parent = chain('Parent', [start(), splitItems(), callTo(child)]);
			await begin(n8n, parent, payApi, { items: [{ id }] });
			const executionId = await firstExecution(n8n, child);
			await waits(n8n, executionId);
			expect(await deliverFor(id)).toBe(200);
			await ended(n8n, executionId);
		});

		test('where charge and wait were each run by "Execute step"', async () => {
			const id = randomUUID();
			const entry = node('Manual', 'n8n-nodes-base.manualTrigger');
			const order = set('Order', `={{ { id: "${id}" } }}`);
			const nodes = [entry, order, ...chargeAndWait()];
			const workflow = { ...chain('Steps', nodes), pinData: {} };
			const workflowId = await n8n.importWorkflow(workflow, { payApi });
			const workflowData = await n8n.workflow(workflowId);
			const runStep = async (nodeName: string, from: object) => {
				const { data } = await n8n.rest<{ data: { executionId: string } }>(
					'POST',
					`/workflows/${workflowId}/run`,
					{ workflowData, destinationNode: { nodeName, mode: 'inclusive' }, ...from },
				);
				return await n8n.finished(data.executionId);
			};
			const charged = await runStep('Charge', {
				triggerToStartFrom: { name: 'Manual' },
				startNodes: [],
			});
			expect(itemsOf(charged, 'Charge')).toMatchObject([{ outcome: 'accepted' }]);
			const waited = await runStep('Wait', {
				runData: charged.data.resultData.runData,
				dirtyNodeNames: [],
				startNodes: [{ name: 'Wait', sourceData: { previousNode: 'Charge' } }],
			});
			expect(postbackUrls(id)).toHaveLength(1);
			expect(errorFactsOf(waited)).toMatchObject({ field: 'external_id' });
		});

		describe('as the tool of an AI agent', () => {
			/** Runs an agent of a version whose model calls the wait for the charge of an external_id. */
			async function runAgent(version: number, id: string) {
				const model = await startModel(/Wait/, {});
				const [charge, wait] = chargeAndWait({ external_id: id }, {}, { external_id: id });
				const entry = node('Manual', 'n8n-nodes-base.manualTrigger');
				const nodes = [entry, charge, agent('Wait', version), noOp('After')];
				const workflow = chain('Agent', nodes, {
					Wait: toAgent('ai_tool'),
					Model: toAgent('ai_languageModel'),
				});
				const tool = { ...wait, type: 'n8n-nodes-pay.payTool' };
				workflow.nodes.push(tool, await chatModel(n8n, model.url));
				const workflowId = await n8n.importWorkflow(workflow, { payApi });
				return { model, executionId: await n8n.run(workflowId, 'Manual') };
			}

			test('of version 2, which is told so', async () => {
				const { model, executionId } = await runAgent(2, randomUUID());
				await ended(n8n, executionId);
				model.close();
				expect(model.heard.join()).toContain('cannot wait');
			});

			test('and not of version 3: its postback ends it, and is told to the model', async () => {
				const id = randomUUID();
				const { model, executionId } = await runAgent(3, id);
				await waits(n8n, executionId);
				expect(await deliverFor(id)).toBe(200);
				await ended(n8n, executionId);
				model.close();
				expect(model.heard.join()).toContain('"postback":');
			});
		});

		test("and not after the editor's Retry of a charge that was rejected: its postback ends it", async () => {
			const external_id = randomUUID();
			const [charge, wait] = chargeAndWait();
			const nodes = [start(), splitItems(), charge, wait, noOp('After')];
			sandbox.faultFor = () => ({ kind: 'status', status: 400, body: '{}' });
			const { id, executionId } = await begin(n8n, chain('Retry', nodes), payApi, {
				items: [{ id: external_id }],
			});
			expect((await n8n.finished(executionId)).status).toBe('error');
			sandbox.faultFor = undefined;
			await n8n.rest('POST', `/executions/${executionId}/retry`, { loadWorkflow: false });
			const retryId = await until('the retry', async () => {
				const [newest, ...others] = await n8n.executionIds(id);
				return others.length > 0 && newest;
			});
			await waits(n8n, retryId);
			expect(await deliverFor(external_id)).toBe(200);
			await ended(n8n, retryId);
		});
	});

	nightly.describe('at the time limit, no "postback"', () => {
		test('of a customer says "paid"; what the nodes before gave is shown as it was', async () => {
			const execution = await ended(n8n, limited.order, 'After', 150);
			const [after] = itemsOf(execution, 'After');
			expect(after).toMatchObject({ item: 'phone', outcome: 'accepted' });
			expect(after).not.toHaveProperty('postback');
			expect(itemsOf(execution, 'Wait')[0]).not.toHaveProperty('postback');
			const shown = { postback: { body: { data: { status: 'paid' } } } };
			expect(itemsOf(execution, 'Merge')[0]).toMatchObject(shown);
			expect(itemsOf(execution, 'Order')[0]).toMatchObject(shown);
		});

		test('of the first wait goes out of the second', async () => {
			const execution = await ended(n8n, limited.second, 'After', 150);
			expect(itemsOf(execution, 'Wait')[0]).toHaveProperty('postback');
			expect(itemsOf(execution, 'After')[0]).not.toHaveProperty('postback');
		});
	});

	nightly.test(
		'in a loop, a wait is ended also by the postback of an earlier charge that was not reported before its limit: somebody may pay that still',
		async () => {
			const [first = ''] = await untilCharged(unreportedId, 2);
			await waits(n8n, limited.loop);
			await untilTaken(first);
			const [unreported, reported] = itemsOf(await ended(n8n, limited.loop), 'After');
			expect(unreported).not.toHaveProperty('postback');
			expect(reported).toMatchObject({
				postback: { reference: { external_id: unreportedId, amount: 1 } },
			});
		},
	);
});
