import { randomUUID } from 'node:crypto';
import type { N8n } from '../../dev/n8n';
import { RECIPIENT } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { startModel } from './model';
import { NEWEST, withN8n, type Credential } from './nodes';

/** n8n 2.41's own Agents, which are no workflows: they run a node by itself. n8n 1 has none. */
describe.each(NEWEST)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));
	beforeEach(() => {
		sandbox.received.length = 0;
	});

	/** Makes an Agent with one tool, asks it once, and gives what the tool told its model. */
	async function ask(nodeParameters: object, said: object): Promise<string[]> {
		const model = await startModel(/Pay/, said);
		const deepSeekApi = { apiKey: 'none', url: model.url };
		const credential = await n8n.createCredential(deepSeekApi, 'deepSeekApi', 'Model');
		const project = (await n8n.rest('GET', '/projects/personal')).data.id;
		const agents = `/projects/${project}/agents/v2`;
		const name = `Agent ${randomUUID()}`;
		const { id } = (await n8n.rest('POST', agents, { name })).data;
		const { configHash } = (await n8n.rest('GET', `${agents}/${id}/config`)).data;
		const tool = {
			type: 'node',
			name: 'Pay',
			description: 'Pays an invoice, or makes a QR code',
			node: {
				nodeType: 'n8n-nodes-pay.pay',
				nodeTypeVersion: 1,
				nodeParameters,
				credentials: { payApi },
			},
		};
		const config = {
			name,
			model: 'deepseek/stand-in',
			credential: credential.id,
			instructions: 'Do what you are asked.',
			tools: [tool],
		};
		await n8n.rest('PUT', `${agents}/${id}/config`, { config, baseConfigHash: configHash ?? null });
		await n8n.rest<string>('POST', `${agents}/${id}/chat`, { message: 'Do it' });
		model.close();
		return model.heard;
	}

	const created = { operation: 'create', postback: 'none' };

	test('a QR code is created, with what the model says', async () => {
		const order = randomUUID();
		const heard = await ask(
			{
				...created,
				resource: 'qrCode',
				amount: "={{ $fromAI('amount', 'x', 'string') }}",
				external_id: "={{ $fromAI('order', 'x', 'string') }}",
			},
			{ amount: '12.50', order },
		);
		expect(sandbox.bodies('qrcode')).toMatchObject([{ external_id: order, amount: 12.5 }]);
		expect(heard.join()).toContain('accepted');
	});

	test.each([false, true])('a payment is refused, allowed or not (%s)', async (allowAiPayments) => {
		const heard = await ask(
			{
				...created,
				...RECIPIENT,
				resource: 'payment',
				amount: '12.50',
				external_id: randomUUID(),
				options: { allowAiPayments },
			},
			{},
		);
		expect(sandbox.received).toStrictEqual([]);
		expect(heard.join()).toContain('Let the Agent call a workflow');
		expect(heard.join()).not.toContain('Allow Payments');
	});
});
