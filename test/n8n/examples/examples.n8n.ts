import { randomUUID } from 'node:crypto';
import express from 'express';
import { example } from '../../../dev/demo';
import {
	itemsOf,
	until,
	webhookPath,
	type Execution,
	type N8n,
	type Workflow,
} from '../../../dev/n8n';
import type { N8nVersion } from '../../../dev/versions';
import { type Reference, signUrl } from '../../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../../sandbox/service';
import { makeTable, type Column } from './table';
import { ended, waits } from '../chargeAndWait';
import { startModel } from '../model';
import { newIds, nodeOf, SECRET, VERSIONS, withN8n, type Credential } from '../nodes';
import { chatModel, toAgent } from '../otherNodes';
import { listen } from '../../listen';

let n8n: N8n;
let sandbox: Sandbox;
let credentials: { payApi: Credential };

/** The parameters of a node of a workflow. */
function parametersOf(workflow: Workflow, name: string): Record<string, unknown> {
	return nodeOf(workflow, name).parameters as Record<string, unknown>;
}

async function errorOf(executionId: string): Promise<{ message: string }> {
	return await until(
		`the error of execution ${executionId}`,
		async () => (await n8n.execution(executionId)).data.resultData.error,
	);
}

const APPROVER = { user: 'approver', password: 'a password' };
const basicAuth = (user: string, password: string) => ({
	Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const ALLOWED = basicAuth('approver', 'a password');

/** A payout that waits for a person's decision. */
interface Decision {
	workflowId: string;
	executionId: string;
	/** Where the person decides. */
	page: string;
}

/**
 * Runs "approval" until it waits.
 * @param limit parameters of its wait
 */
async function askForDecision(limit: object = {}): Promise<Decision> {
	const workflow = example('approval');
	const wait = nodeOf(workflow, 'Wait for the decision');
	// What a person does after the import, as the note says.
	wait.credentials = {
		httpBasicAuth: await n8n.createCredential(APPROVER, 'httpBasicAuth', 'Approver'),
	};
	Object.assign(wait.parameters as object, limit);
	return await askAgain(await n8n.importWorkflow(workflow, credentials));
}

async function askAgain(workflowId: string): Promise<Decision> {
	const executionId = await n8n.run(workflowId, 'Start');
	await waits(n8n, executionId);
	const [payout] = itemsOf(await n8n.execution(executionId), 'Payout');
	return { workflowId, executionId, page: payout?.page as string };
}

/** Submits a page's form as a browser does. */
async function decide(
	page: string,
	decision: string,
	headers: Record<string, string> = ALLOWED,
): Promise<number> {
	const body = new FormData();
	body.append('field-0', decision);
	return (await fetch(page, { method: 'POST', headers, body })).status;
}

function approval(version: N8nVersion) {
	const payments = () => sandbox.bodies('payment');
	const PAYOUT = {
		amount: 250,
		external_id: 'invoice-2061',
		creditParty: { key: 'partner@example.com' },
	};

	test('its page shows amount, recipient, Approve and Decline', async () => {
		const { page } = await askForDecision();
		const shown = await (await fetch(page, { headers: ALLOWED })).text();
		expect(shown).toContain('Pay 250 to partner@example.com?');
		expect(shown).toContain('invoice-2061');
		const options = [...shown.matchAll(/<option value='(\w+)'/g)].map(([, value]) => value);
		expect(options).toStrictEqual(['Approve', 'Decline']);
	});

	test('to open its page pays nothing, as link previews and virus scanners do', async () => {
		const { page, executionId } = await askForDecision();
		const headers = { ...ALLOWED, 'User-Agent': 'Slackbot-LinkExpanding' };
		for (const method of ['GET', 'HEAD', 'GET']) {
			await fetch(page, { method, headers });
			await fetch(page.replace('/form-waiting/', '/webhook-waiting/'), { method });
		}
		expect((await n8n.execution(executionId)).status).toBe('waiting');
		expect(payments()).toStrictEqual([]);
	});

	test('Approve pays exactly what was shown, once, also at a double click and in another run', async () => {
		const { page, executionId, workflowId } = await askForDecision();
		const [first, second] = await Promise.all([decide(page, 'Approve'), decide(page, 'Approve')]);
		expect([first, second]).toContain(200);
		// n8n 1 may resume twice; then the second payment is refused, and may be what is stored.
		const { data } = await until('the end', async () => {
			const execution = await n8n.execution(executionId);
			return ['success', 'error'].includes(execution.status) && execution;
		});
		expect(data.resultData.runData).not.toHaveProperty('Not paid');
		await until('the payment', async () => payments().length > 0);
		await decide(page, 'Approve');
		expect(payments()).toStrictEqual([expect.objectContaining(PAYOUT)]);

		const again = await askAgain(workflowId);
		await decide(again.page, 'Approve');
		expect((await errorOf(again.executionId)).message).toContain('not sent again');
		expect(payments()).toHaveLength(1);
	});

	test.each([
		{ how: 'without a password', headers: {} },
		{ how: 'with a wrong one', headers: basicAuth('approver', 'guess') },
	])('nobody sees its page or decides $how', async ({ headers }) => {
		const { page, executionId } = await askForDecision();
		expect((await fetch(page, { headers })).status).toBe(401);
		expect(await decide(page, 'Approve', headers)).toBe(401);
		expect((await n8n.execution(executionId)).status).toBe('waiting');
		expect(payments()).toStrictEqual([]);
	});

	test.each([
		{ when: 'Decline is chosen', decision: 'Decline' },
		{ when: 'nothing is chosen', decision: '' },
	])('nothing is paid when $when', async ({ decision }) => {
		const { page, executionId } = await askForDecision();
		await decide(page, decision);
		const execution = await ended(n8n, executionId, 'Not paid');
		expect(itemsOf(execution, 'Not paid')).toStrictEqual([{ payoutId: 'invoice-2061', decision }]);
		expect(payments()).toStrictEqual([]);
	});

	describe('what comes with the password but is no form pays nothing', () => {
		let asked: Decision;
		beforeEach(async () => {
			asked = await askForDecision();
			const answer = await fetch(asked.page, {
				method: 'POST',
				headers: { ...ALLOWED, 'Content-Type': 'application/json' },
				body: '{"Decision":"Approve","data":{"field-0":"Approve"}}',
			});
			expect(answer.status).toBeGreaterThanOrEqual(400);
		});

		(version === 'n8n2' ? test : test.skip)('and n8n 2 still waits for the form', async () => {
			await decide(asked.page, 'Decline');
			await ended(n8n, asked.executionId, 'Not paid');
			expect(payments()).toStrictEqual([]);
		});

		(version === 'n8n1' ? test : test.skip)(
			'and n8n 1 resumes the execution with an empty item, without what ran before',
			async () => {
				await errorOf(asked.executionId);
				const { data } = await n8n.execution(asked.executionId);
				expect(data.resultData.runData).not.toHaveProperty('Pay');
				expect(payments()).toStrictEqual([]);
			},
		);
	});
}

/** "postbacks-without-repeats", published with a data table of its own. */
class CreditedOrders {
	private constructor(
		private readonly workflowId: string,
		/** The address of its trigger, without a proof. */
		private readonly url: string,
		private readonly table: Awaited<ReturnType<typeof makeTable>>,
	) {}

	/** @param change of the workflow, as a person makes it */
	static async publish(
		columns: Column[],
		change: (workflow: Workflow) => void = () => undefined,
		payApi = credentials.payApi,
	): Promise<CreditedOrders> {
		const table = await makeTable(n8n, columns);
		const workflow = example('postbacks-without-repeats');
		table.chooseIn(workflow);
		change(workflow);
		const workflowId = await n8n.importWorkflow(workflow, { payApi });
		await n8n.activate(workflowId);
		const path = (await n8n.workflow(workflowId)).nodes.map(webhookPath).find(Boolean);
		return new CreditedOrders(workflowId, `${n8n.url}${path}`, table);
	}

	/** Delivers a signed postback; gives the status that it is answered with. */
	async deliver(reference: Reference, body: object, secret = SECRET): Promise<number> {
		const answer = await fetch(signUrl(this.url, reference, secret), {
			method: 'POST',
			headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify(body),
		});
		return answer.status;
	}

	/** Sends what a service sends to an address of its dashboard, with its secret. */
	async send(body: object): Promise<number> {
		const answer = await fetch(this.url, {
			method: 'POST',
			headers: { 'Content-Type': 'application/json', 'X-Secret': SECRET },
			body: JSON.stringify(body),
		});
		return answer.status;
	}

	/** The executions that the postbacks started: the trigger responds when each has ended. */
	async executions(): Promise<Execution[]> {
		const ids = await n8n.executionIds(this.workflowId);
		return await Promise.all(ids.map(async (id) => await n8n.finished(id)));
	}

	async addColumn(column: object) {
		await n8n.rest('POST', `${this.table.path}/columns`, column);
	}

	async rows() {
		return (await this.table.rows()).map(({ external_id, amount }) => ({ external_id, amount }));
	}

	/** The orders that came to a node, sorted; more often, if they came more often. */
	private async ordersAt(node: string): Promise<unknown[]> {
		const ids: unknown[] = [];
		for (const execution of await this.executions()) {
			for (const { external_id } of itemsOf(execution, node)) ids.push(external_id);
		}
		return ids.sort();
	}

	/** The orders whose goods were sent. */
	async sentOrders(): Promise<unknown[]> {
		return await this.ordersAt('Send the goods');
	}

	/** The orders of which a person is told. */
	async toldOrders(): Promise<unknown[]> {
		return await this.ordersAt('Tell a person');
	}
}

function postbacksWithoutRepeats() {
	const ID_COLUMN: Column = { name: 'external_id', type: 'string' };
	const AMOUNT_COLUMN: Column = { name: 'amount', type: 'number' };
	const COLUMNS = [ID_COLUMN, AMOUNT_COLUMN];
	const qrCodeOf = (external_id: string, amount = 49.9): Reference => ({
		external_id,
		kind: 'qrCode',
		amount,
	});

	test('an order is credited once, with the amount that was asked for, whatever a redelivered body says', async () => {
		const orders = await CreditedOrders.publish(COLUMNS);
		for (const body of [
			{ status: 'waiting' },
			{ status: 'paid', id: 1 },
			{ status: 'PAID', id: 1 },
			{ status: 'paid', id: 2, at: 'later', amount: 9999, external_id: 'order-2' },
			{ status: 'failed' },
		]) {
			expect(await orders.deliver(qrCodeOf('order-1'), body)).toBe(200);
		}
		expect(await orders.rows()).toStrictEqual([{ external_id: 'order-1', amount: 49.9 }]);
		expect(await orders.sentOrders()).toStrictEqual(['order-1']);
	});

	test('only a paid charge with a genuine proof credits its order', async () => {
		const orders = await CreditedOrders.publish(COLUMNS);
		const paid = { status: 'paid' };
		const payment: Reference = { external_id: 'order-3', kind: 'payment', amount: 49.9 };
		expect(await orders.deliver(payment, paid)).toBe(200);
		expect(await orders.deliver(qrCodeOf('order-4'), { status: 'failed' })).toBe(200);
		expect(await orders.deliver(qrCodeOf('order-5'), paid, 'another secret')).toBe(401);
		expect(await orders.deliver(qrCodeOf('order-6', 12), paid)).toBe(200);
		const statuses = (await orders.executions()).map(({ status }) => status);
		expect(statuses).toStrictEqual(['success', 'success', 'success']);
		expect(await orders.rows()).toStrictEqual([{ external_id: 'order-6', amount: 12 }]);
		expect(await orders.sentOrders()).toStrictEqual(['order-6']);
	});

	test("on Sender, an order is credited where the service claims the order's own total, and once where a list has it twice", async () => {
		const payApi = await n8n.createCredential({
			baseUrl: sandbox.url,
			accessToken: 'token',
			describeService: true,
			statusField: 'charges[].status',
			paidValues: 'paid',
			amountField: 'charges[].amount',
			idField: 'charges[].id',
			senderCheck: 'secretHeader',
			secretHeaderName: 'X-Secret',
			secretHeaderValue: SECRET,
		});
		const paid = (id: string, amount: number) => ({ id, amount, status: 'paid' });
		const charges = [
			paid('order-a', 49.9),
			paid('order-b', 1),
			paid('order-a', 49.9),
			{ ...paid('order-c', 49.9), status: 'open' },
		];
		const onSender = (total?: string) => (workflow: Workflow) => {
			Object.assign(nodeOf(workflow, 'Pay Trigger').parameters as object, {
				authentication: 'sender',
			});
			if (total === undefined) return;
			const { assignments } = parametersOf(workflow, 'The order').assignments as {
				assignments: Array<{ name: string; value: string }>;
			};
			assignments.find(({ name }) => name === 'total')!.value = total;
		};
		const asPasted = await CreditedOrders.publish(COLUMNS, onSender(), payApi);
		expect(await asPasted.send({ charges })).toBe(200);
		expect(await asPasted.rows()).toStrictEqual([]);
		expect(await asPasted.toldOrders()).toStrictEqual(['order-a', 'order-b']);
		// The shop knows that each of its orders costs 49.90.
		const orders = await CreditedOrders.publish(COLUMNS, onSender('={{ 49.9 }}'), payApi);
		expect(await orders.send({ charges })).toBe(200);
		expect(await orders.send({ charges })).toBe(200);
		expect(await orders.rows()).toStrictEqual([{ external_id: 'order-a', amount: 49.9 }]);
		expect(await orders.sentOrders()).toStrictEqual(['order-a']);
		// Claimed as paid, with another amount than the shop's. The second time it is a repeat.
		expect(await orders.toldOrders()).toStrictEqual(['order-b']);
	});

	test('an order whose row could not be written is credited by the next delivery', async () => {
		const orders = await CreditedOrders.publish([ID_COLUMN]);
		expect(await orders.deliver(qrCodeOf('order-8'), { status: 'paid' })).toBe(500);
		const [failed] = await orders.executions();
		expect(failed!.status).toBe('error');
		expect(await orders.rows()).toStrictEqual([]);
		expect(await orders.sentOrders()).toStrictEqual([]);
		await orders.addColumn(AMOUNT_COLUMN);
		expect(await orders.deliver(qrCodeOf('order-8'), { status: 'paid' })).toBe(200);
		await orders.executions();
		expect(await orders.rows()).toStrictEqual([{ external_id: 'order-8', amount: 49.9 }]);
		expect(await orders.sentOrders()).toStrictEqual(['order-8']);
	});

	test('of 20 pairs at once, the first that it ever gets, each order is credited and sent once', async () => {
		const orders = await CreditedOrders.publish(COLUMNS);
		const ids = newIds(20).sort();
		const statuses = await Promise.all(
			ids.flatMap((id) => {
				const paid = { status: 'paid', id };
				return [orders.deliver(qrCodeOf(id), paid), orders.deliver(qrCodeOf(id), paid)];
			}),
		);
		// A service sends again what got 409.
		const others = statuses.filter((status) => status !== 200);
		expect(others.filter((status) => status !== 409)).toStrictEqual([]);
		const again = ids.map(async (id) => await orders.deliver(qrCodeOf(id), { status: 'paid', id }));
		expect(await Promise.all(again)).toStrictEqual(ids.map(() => 200));
		const rows = (await orders.rows()).map(({ external_id }) => external_id);
		expect(rows.sort()).toStrictEqual(ids);
		expect(await orders.sentOrders()).toStrictEqual(ids);
	});
}

/** A service that sells tokens for a key, and what it was asked. */
async function startLogin() {
	const requests: string[] = [];
	const app = express();
	app.post('/login', (request, response) => {
		requests.push(`${request.method} ${request.headers['x-api-key']}`);
		response.json({ token: `token-${requests.length}`, validForSeconds: 60 });
	});
	const { url, close } = await listen(app);
	return { url: `${url}/login`, requests, close };
}

function shortLivedToken() {
	test('short-lived-token: each run gets one token, and all its payments go with it', async () => {
		const login = await startLogin();
		const workflow = example('short-lived-token');
		// What a person does after the import, as the notes say.
		const tokenNode = nodeOf(workflow, 'Get a token');
		Object.assign(tokenNode.parameters as object, { url: login.url });
		const key = { name: 'X-Api-Key', value: 'the key' };
		tokenNode.credentials = {
			httpHeaderAuth: await n8n.createCredential(key, 'httpHeaderAuth', 'Key'),
		};
		const note = parametersOf(workflow, 'Note before it is real').content as string;
		const [, expression] = /`({{ .* }})`/.exec(note)!;
		const payApi = await n8n.createCredential(
			{ baseUrl: sandbox.url, accessToken: `=${expression}` },
			'payApi',
			'Pay API with a short-lived token',
		);
		const id = await n8n.importWorkflow(workflow, { payApi });

		const first = await n8n.finished(await n8n.run(id, 'Start'));
		expect(first.status).toBe('success');
		const second = await n8n.finished(await n8n.run(id, 'Start'));
		expect(second.status).toBe('success');
		login.close();

		expect(login.requests).toStrictEqual(['POST the key', 'POST the key']);
		expect(sandbox.received.map(({ headers }) => headers.authorization)).toStrictEqual([
			'Bearer token-1',
			'Bearer token-1',
			'Bearer token-2',
			'Bearer token-2',
		]);
	});
}

/** What a person does after the import: connects a model to the agent. */
async function connectModel(workflow: Workflow, { url }: { url: string }) {
	workflow.nodes.push(await chatModel(n8n, url));
	workflow.connections.Model = toAgent('ai_languageModel');
}

function allowPayments(workflow: Workflow) {
	parametersOf(workflow, 'Create payment').options = { allowAiPayments: true };
}

/** A message to the agent, in a conversation of its own. */
const newMessage = () => ({
	chatInput: 'Do it',
	sessionId: randomUUID(),
	action: 'sendMessage',
});

/** "agent" as a person leaves it on n8n 1, which does not know the gate. */
function agentExampleWithoutGate(): Workflow {
	const GATE = 'Approve the payment';
	const { nodes, connections, ...rest } = example('agent');
	delete connections[GATE];
	delete connections['Create payment'];
	return { ...rest, nodes: nodes.filter(({ name }) => name !== GATE), connections };
}

function agentWithoutGate() {
	/** What a model may invent: the identifier is not the model's to choose. */
	const INVENTED = { amount: 5, external_id: 'invented', key: 'someone@example.com' };

	interface Chat {
		/** The version of the agent. */
		version: number;
		/** The tools that the model calls. */
		calls: RegExp;
		/** How often it calls one. */
		times?: number;
		mayPay?: boolean;
	}

	/** Lets an agent, changed as told, take one message, with a model that calls a tool. */
	async function chat(workflow: Workflow, { version, calls, times = 1, mayPay = false }: Chat) {
		const model = await startModel(calls, INVENTED, times);
		nodeOf(workflow, 'Agent').typeVersion = version;
		if (mayPay) allowPayments(workflow);
		await connectModel(workflow, model);
		const id = await n8n.importWorkflow(workflow, credentials);
		const message = newMessage();
		const execution = await n8n.finished(await n8n.run(id, 'Chat', message));
		model.close();
		expect(execution.status).toBe('success');
		return { executionId: execution.id, model, sessionId: message.sessionId };
	}

	/** The payment tool connected to the agent by a person, in place of the gate. */
	function withPaymentTool(): Workflow {
		const workflow = agentExampleWithoutGate();
		workflow.connections['Create payment'] = toAgent('ai_tool');
		return workflow;
	}

	describe.each([2, 3])('agent version %d', (version) => {
		test('the model sees the charge alone', async () => {
			const { model } = await chat(agentExampleWithoutGate(), { version, calls: /QR/ });
			expect(model.offered).toStrictEqual([{ name: 'Create_QR_code', parameters: ['amount'] }]);
		});

		test('the model sees the payment too where a person connects it, and no identifier to choose', async () => {
			const { model } = await chat(withPaymentTool(), { version, calls: /QR/ });
			const offered: Record<string, string[]> = {};
			for (const { name, parameters } of model.offered) offered[name] = parameters;
			expect(Object.keys(offered).sort()).toStrictEqual(['Create_QR_code', 'Create_payment']);
			expect(offered.Create_QR_code).toStrictEqual(['amount']);
			expect(offered.Create_payment).toStrictEqual(expect.arrayContaining(['amount', 'key']));
			expect(offered.Create_payment).not.toContain('external_id');
		});

		test('each QR code gets an identifier that is not the model’s', async () => {
			const { executionId, model } = await chat(agentExampleWithoutGate(), {
				version,
				calls: /QR/,
				times: 2,
			});
			const ids = sandbox.bodies('qrcode').map(({ external_id }) => external_id);
			const given = expect.stringMatching(new RegExp(`^charge-${executionId}-\\w{5,}$`));
			expect(ids).toStrictEqual([given, given]);
			expect(ids[0]).not.toBe(ids[1]);
			expect(model.heard.join()).toContain('accepted');
		});
	});
}

function agentOnN8n1() {
	test('agent, as it is pasted, does nothing on n8n 1: it does not know the gate', async () => {
		const id = await n8n.importWorkflow(example('agent'), credentials);
		await expect(n8n.run(id, 'Chat', newMessage())).rejects.toThrow('Unrecognized node type');
		expect(sandbox.received).toStrictEqual([]);
	});
}

function agentWithGate() {
	/** What the model asks for; the gate gets the tool's own fields, so no identifier. */
	const toolParameters = { amount: 5, key: 'someone@example.com', external_id: 'invented' };

	/** A payment that the agent asked a person for. */
	interface AskedPayment {
		executionId: string;
		sessionId: string;
		/** What the chat shows to click on. */
		approveUrl: string;
		declineUrl: string;
		model: Awaited<ReturnType<typeof startModel>>;
	}

	/** Lets the model ask for a payment. */
	async function askForPayment(
		{ payApi } = credentials,
		change: (workflow: Workflow) => void = allowPayments,
	): Promise<AskedPayment> {
		const model = await startModel(/payment/i, { toolParameters, hitlParameters: {} });
		const workflow = example('agent');
		change(workflow);
		await connectModel(workflow, model);
		const id = await n8n.importWorkflow(workflow, { payApi });
		const message = newMessage();
		const executionId = await n8n.run(id, 'Chat', message);
		await waits(n8n, executionId);
		const shown = JSON.stringify(await n8n.execution(executionId));
		// Quotes inside of a text have strokes before them.
		const asked =
			'Pay 5 to someone@example.com? Everything that the model chose: {"amount":5,"key":"someone@';
		expect(shown.replaceAll('\\', '')).toContain(asked);
		expect(sandbox.received).toStrictEqual([]);
		const urlOf = (choice: string) =>
			new RegExp(`"(http[^"]+webhook-waiting[^"]+approved=${choice}[^"]*)"`).exec(shown)![1]!;
		return {
			executionId,
			sessionId: message.sessionId,
			approveUrl: urlOf('true'),
			declineUrl: urlOf('false'),
			model,
		};
	}

	/** Clicks as a browser does; gives what the model heard then. */
	async function click(url: string, { executionId, model }: AskedPayment): Promise<string> {
		await fetch(url, { headers: { 'User-Agent': 'Mozilla/5.0 Firefox/140.0' } });
		await ended(n8n, executionId, 'Agent');
		model.close();
		return model.heard.join();
	}

	test('a payment waits until a person approves it, and is then what was shown', async () => {
		const asked = await askForPayment();
		expect(await click(asked.approveUrl, asked)).toContain('"outcome":"accepted"');
		expect(sandbox.bodies('payment')).toStrictEqual([
			{
				amount: 5,
				external_id: `payment-${asked.sessionId}`,
				creditParty: { key: 'someone@example.com' },
			},
		]);
	});

	test('a link preview and an unsigned click approve nothing', async () => {
		const { approveUrl, executionId, model } = await askForPayment();
		await fetch(approveUrl, { headers: { 'User-Agent': 'Slackbot-LinkExpanding 1.0' } });
		await fetch(approveUrl.replace(/&signature=.*/, ''));
		expect((await n8n.execution(executionId)).status).toBe('waiting');
		expect(sandbox.received).toStrictEqual([]);
		model.close();
	});

	test('a QR code needs no approval', async () => {
		const model = await startModel(/QR/, { amount: 5 });
		const workflow = example('agent');
		await connectModel(workflow, model);
		const id = await n8n.importWorkflow(workflow, credentials);
		const execution = await n8n.finished(await n8n.run(id, 'Chat', newMessage()));
		model.close();
		expect(execution.status).toBe('success');
		expect(sandbox.bodies('qrcode')).toMatchObject([{ amount: 5 }]);
	});

	test('what is declined is not paid, and the model is told', async () => {
		const asked = await askForPayment();
		expect(await click(asked.declineUrl, asked)).toContain('rejected the tool call');
		expect(sandbox.received).toStrictEqual([]);
	});
}

describe.each(VERSIONS)('n8n %s', (version) => {
	withN8n(
		version,
		(running) => {
			({ n8n, sandbox } = running);
			credentials = { payApi: running.payApi };
		},
		{ settlePaymentsAfter: 100 },
		// As the notes say where an example keeps a data table.
		version === 'n8n1' ? { DB_SQLITE_POOL_SIZE: '2' } : {},
	);
	beforeEach(() => {
		sandbox.received.length = 0;
		sandbox.faultFor = undefined;
	});

	// n8n looks about once a minute whose limit has passed: these begin first, and are looked at last.
	describe('with time limits that pass while the other tests run,', () => {
		let undecided: Decision;
		beforeAll(async () => {
			undecided = await askForDecision({ resumeAmount: 1, resumeUnit: 'seconds' });
		});

		describe('approval', () => approval(version));
		describe('postbacks-without-repeats', () => postbacksWithoutRepeats());
		shortLivedToken();
		describe('agent without its gate', agentWithoutGate);
		if (version === 'n8n1') agentOnN8n1();
		else describe('agent', agentWithGate);

		test('approval: nothing is paid when nobody decides in time', async () => {
			const execution = await ended(n8n, undecided.executionId, 'Not paid', 120);
			expect(itemsOf(execution, 'Not paid')).toMatchObject([{ decision: 'none' }]);
			expect(execution.data.resultData.runData).not.toHaveProperty('Pay');
		});
	});
});
