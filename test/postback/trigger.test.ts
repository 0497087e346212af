import { createHmac } from 'node:crypto';
import {
	NodeOperationError,
	Workflow,
	type IDataObject,
	type INodeParameters,
	type INodeTypes,
} from 'n8n-workflow';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { webhookNode } from '../engine/webhook';
import { hookContext } from '../contexts';

const [ONE, OLD, NEW] = ['one', 'old', 'new'].map(
	(which) => `the secret of the test: ${which}`,
) as [string, string, string];

/** A trigger with a credential that can be changed. */
function triggerWith(credential: IDataObject | ((unresolved: boolean) => IDataObject)) {
	const node = webhookNode({
		credential: typeof credential === 'function' ? credential : () => ({ ...credential }),
	});
	return async (secret: string | undefined) => {
		const reference = { external_id: 'a', kind: 'payment', amount: 1 } as const;
		const bare = 'https://n8n.example.com/webhook/x/postback';
		const url = secret === undefined ? bare : signUrl(bare, reference, secret);
		const { result, status } = await node.post(url);
		return result.workflowData === undefined ? status : 200;
	};
}

const STILL = { postbackSecret: NEW, previousPostbackSecret: OLD };
test.each<{ what: string; now: IDataObject; taken: string[]; refused: string[] }>([
	{ what: 'replaced', now: { postbackSecret: NEW }, taken: [NEW], refused: [OLD] },
	{ what: 'replaced, and taken still', now: STILL, taken: [OLD, NEW], refused: [ONE] },
])('a secret that is $what counts as such from then on', async ({ now, taken, refused }) => {
	const credential: IDataObject = { postbackSecret: OLD };
	const receive = triggerWith(credential);
	expect(await receive(OLD)).toBe(200);
	delete credential.postbackSecret;
	Object.assign(credential, now);
	for (const secret of taken) expect([secret, await receive(secret)]).toStrictEqual([secret, 200]);
	for (const secret of refused) expect(await receive(secret)).toBe(401);
	delete credential.previousPostbackSecret;
	expect(await receive(OLD)).toBe(401);
});

test('where a secret is removed, nothing starts, and 500 makes the service send again', async () => {
	const credential: IDataObject = { postbackSecret: OLD };
	const receive = triggerWith(credential);
	expect(await receive(OLD)).toBe(200);
	delete credential.postbackSecret;
	expect(await receive(OLD)).toBe(500);
	expect(await receive(undefined)).toBe(500);
});

test('of a trigger that cannot check a postback the log says why', async () => {
	const node = webhookNode({ credential: () => ({}) });
	const { log } = await node.post('https://n8n.example.com/webhook/x/postback');
	expect(log).toStrictEqual([
		expect.stringMatching(/^Pay refused a postback \(500\): .*Postback Secret/),
	]);
});

test.each([
	{ about: undefined, started: ['qrCode', 'payment'] },
	{ about: 'both', started: ['qrCode', 'payment'] },
	{ about: 'qrCode', started: ['qrCode'] },
	{ about: 'payment', started: ['payment'] },
])('with About set to $about, postbacks about $started start it', async ({ about, started }) => {
	const credential = () => ({ postbackSecret: ONE });
	const node = webhookNode({ credential, parameters: about === undefined ? {} : { about } });
	for (const kind of ['qrCode', 'payment']) {
		const reference = { external_id: 'a', kind, amount: 1 };
		const url = signUrl('https://n8n.example.com/webhook/x/postback', reference, ONE);
		const { result, status, log } = await node.post(url, { status: 'paid' });
		if (started.includes(kind)) {
			expect(result.workflowData?.[0]?.[0]?.json).toMatchObject({ reference });
			expect(log).toStrictEqual([]);
			continue;
		}
		// The service does not send it again.
		const why = `it is about another kind, and the trigger has About set to ${about === 'qrCode' ? 'QR Codes' : 'Payments'}`;
		expect(status).toBeUndefined();
		expect(result).toStrictEqual({
			webhookResponse: `This postback does not start the workflow: ${why}`,
		});
		expect(log).toStrictEqual([expect.stringContaining(`does not continue with it: ${why}`)]);
	}
});

test('nothing starts where About is an expression, which a request could choose, or is not in the list', async () => {
	for (const about of ['={{ "both" }}', 'refund']) {
		const credential = () => ({ postbackSecret: ONE });
		const node = webhookNode({ credential, parameters: { about } });
		const reference = { external_id: 'a', kind: 'payment', amount: 1 };
		const url = signUrl('https://n8n.example.com/webhook/x/postback', reference, ONE);
		const { status, result } = await node.post(url);
		expect([status, result]).toStrictEqual([500, { noWebhookResponse: true }]);
	}
});

// n8n takes the "=" of an expression away where the form allows none, but for a $fromAI() and the texts of a list.
test.each<{ what: string; parameters: INodeParameters }>([
	{ what: 'Authentication', parameters: { authentication: '={{ $fromAI("none") }}' } },
	{ what: 'Start', parameters: { startWhen: '={{ $fromAI("any") }}' } },
	{ what: 'Field', parameters: { matchField: '={{ $fromAI("status") }}' } },
	{ what: 'one of the Values', parameters: { matchValues: ['paid', '={{ $json.query.status }}'] } },
])('nothing starts where $what is an expression, which a request could choose', async (row) => {
	const match = { startWhen: 'match', matchField: 'status', matchValues: ['paid'] };
	const parameters = { authentication: 'none', ...match, ...row.parameters };
	const node = webhookNode({ parameters });
	const { result, status, log } = await node.post('https://a.example/?status=new', {
		status: 'new',
	});
	expect([status, result]).toStrictEqual([500, { noWebhookResponse: true }]);
	expect(log).toStrictEqual([
		expect.stringContaining('is an expression, so whoever sends a request could choose it'),
	]);
});

test('nothing starts at an Authentication that the list does not have', async () => {
	const node = webhookNode({ parameters: { authentication: 'off' } });
	const { result, status } = await node.post('https://a.example/', { status: 'paid' });
	expect([status, result]).toStrictEqual([500, { noWebhookResponse: true }]);
});

test('nothing starts where a condition is among the options, which is not read there', async () => {
	const startWhen = { match: { field: 'status', values: ['paid'] } };
	const node = webhookNode({
		parameters: { authentication: 'none', options: { startWhen } } as INodeParameters,
	});
	const { result, status } = await node.post('https://a.example/', { status: 'pending' });
	expect([status, result]).toStrictEqual([500, { noWebhookResponse: true }]);
});

describe('the credential of a postback', () => {
	const EXPRESSION = '={{ $vars.secret }}';
	test.each<{ when: string; unresolved: IDataObject; resolved: IDataObject; times: number }>([
		{
			when: 'once where no field is an expression',
			unresolved: { baseUrl: 'a' },
			resolved: {},
			times: 1,
		},
		{
			when: 'each time with one in any field',
			unresolved: { baseUrl: '={{ 1 }}' },
			resolved: { baseUrl: '1' },
			times: 3,
		},
		{
			when: 'each time with one as the secret',
			unresolved: { postbackSecret: EXPRESSION },
			resolved: {},
			times: 3,
		},
		{
			when: 'each time where n8n puts in another',
			unresolved: { postbackSecret: '' },
			resolved: {},
			times: 3,
		},
		{
			when: 'each time where n8n adds a secret',
			unresolved: {},
			resolved: { previousPostbackSecret: NEW },
			times: 3,
		},
		{
			when: 'each time where n8n leaves a field out',
			unresolved: { accessToken: 'a' },
			resolved: { accessToken: undefined },
			times: 3,
		},
	])('n8n resolves the credential $when', async ({ unresolved, resolved, times }) => {
		const read: string[] = [];
		const receive = triggerWith((isUnresolved) => {
			read.push(isUnresolved ? 'unresolved' : 'resolved');
			const all = { postbackSecret: OLD, ...unresolved };
			return isUnresolved ? all : { ...all, postbackSecret: OLD, ...resolved };
		});
		for (const _ of [1, 2, 3]) expect(await receive(OLD)).toBe(200);
		expect(read.filter((which) => which === 'resolved')).toHaveLength(times);
		// So one that is removed, or deleted with its credential, is missed at once.
		expect(read.filter((which) => which === 'unresolved')).toHaveLength(3);
	});

	test('one that was changed and changed back is resolved again: nothing of the first is kept', async () => {
		const [plain, other] = [{ baseUrl: 'a' }, { baseUrl: '={{ 1 }}' }];
		let fields: IDataObject = plain;
		let resolved = 0;
		const receive = triggerWith((isUnresolved) => {
			if (!isUnresolved) resolved++;
			return { postbackSecret: OLD, ...fields };
		});
		for (const each of [plain, other, plain, plain]) {
			fields = each;
			expect(await receive(OLD)).toBe(200);
		}
		expect(resolved).toBe(3);
	});

	test('one of a credential that n8n does not give any more is refused, though it was taken before', async () => {
		let isThere = true;
		const receive = triggerWith(() => {
			if (!isThere) throw new Error('no such credential');
			return { postbackSecret: OLD };
		});
		expect(await receive(OLD)).toBe(200);
		isThere = false;
		expect(await receive(OLD)).toBe(500);
	});
});

describe('publishing it', () => {
	const { webhookMethods } = new PayTrigger();
	const { checkExists, create, delete: remove } = webhookMethods.default;
	let logged: string[] = [];
	/** What publishing comes to, with a credential and parameters as n8n hands them over. */
	async function published(
		credential: () => IDataObject,
		parameters: IDataObject | (() => never) = {},
		selected?: string,
	) {
		logged = [];
		const { options: more, typed, given } = parameters as Record<string, object | undefined>;
		const options = { binaryData: true, ...more };
		const allParameters = {
			authentication: 'signedUrl',
			about: 'both',
			startWhen: 'any',
			...parameters,
			// What their expressions give.
			options: { ...options, ...given },
		};
		const context = hookContext({
			getNode: () => ({
				name: 'Pay Trigger',
				type: 'payTrigger',
				parameters: { options, authentication: typed ?? allParameters.authentication },
				credentials: selected && { payApi: { id: '7', name: selected } },
			}),
			getNodeWebhookUrl: () => 'https://n8n.example.com/webhook/1/postback',
			logger: { warn: (line: string) => void logged.push(line) },
			getNodeParameter: (name: keyof typeof allParameters) =>
				name === 'startWhen' && typeof parameters === 'function'
					? parameters()
					: allParameters[name],
			getCredentials: async () => credential(),
		});
		expect(await checkExists.call(context)).toBe(false);
		expect(await remove.call(context)).toBe(true);
		return await create.call(context);
	}
	const gone = () => {
		throw new Error('no such credential');
	};
	const signed = () => ({ postbackSecret: ONE });
	const described = () => ({
		...signed(),
		describeService: true,
		statusField: 'status',
		paidValues: 'ok',
	});
	const NO_VALUES = { startWhen: 'match', matchField: 'status', matchValues: [] };

	test.each<{ how: string; credential: () => IDataObject; parameters: IDataObject }>([
		{ how: 'with a secret', credential: signed, parameters: {} },
		{
			how: 'without authentication, whatever is in the credential',
			credential: gone,
			parameters: { authentication: 'none' },
		},
		{
			how: 'with a condition',
			credential: signed,
			parameters: { startWhen: 'match', matchField: 'status', matchValues: ['paid'] },
		},
		{ how: 'at Paid, with words for it', credential: described, parameters: { startWhen: 'paid' } },
	])('succeeds $how', async ({ credential, parameters }) => {
		expect(await published(credential, parameters)).toBe(true);
		expect(logged).toStrictEqual([]);
	});

	test('of a node that leaves reading a body to n8n succeeds, and the log says what that costs', async () => {
		expect(await published(signed, { options: { binaryData: undefined } })).toBe(true);
		expect(logged).toStrictEqual([
			'Pay Trigger: the JSON of this node has "options" without "binaryData": true, so n8n reads postbacks before the node does, and responds with 422 to charsets such as ISO-8859-1. To accept those too, add it there, or delete the node and add it again {"workflow":"Orders","workflowId":"w","node":"Pay Trigger"}',
		]);
	});

	// What is wrong with a field is said by its reader; here it is what nobody else says.
	test.each<{
		how: string;
		credential?: () => IDataObject;
		parameters?: IDataObject;
		selected?: string;
		message: string;
	}>([
		{
			how: 'without a secret',
			credential: () => ({}),
			selected: 'Pay of the shop',
			message:
				'Postbacks could not be verified. Enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same ones as in the credential of the Pay nodes. This trigger uses the credential "Pay of the shop". Until this workflow is published, no postback to https://n8n.example.com/webhook/1/postback is accepted.',
		},
		{
			how: 'with a credential that is gone',
			credential: gone,
			message:
				'The Pay API credential of this trigger cannot be read (no such credential). Select another one, or replace the expressions in it with text, because a trigger has no item yet. Until this workflow is published, no postback to https://n8n.example.com/webhook/1/postback is accepted.',
		},
		{
			how: 'without the way in which the service shows itself',
			parameters: { authentication: 'sender' },
			message:
				'"Check the Sender" is set to None in the Pay API credential of this trigger. Choose there how the service shows that it sent a postback. Until this workflow is published, no postback to https://n8n.example.com/webhook/1/postback is accepted.',
		},
		{
			how: 'at Paid, unsigned: it has no credential',
			credential: gone,
			parameters: { authentication: 'none', startWhen: 'paid' },
			selected: 'Pay of the shop',
			message:
				'No credential says which words of the service mean "paid". Set Authentication to Signed URL or Sender, because otherwise this trigger has no credential. Turn on Describe the Service, and enter Status Field and Paid Values. Until this workflow is published, no postback to https://n8n.example.com/webhook/1/postback is accepted.',
		},
		{
			how: 'with a Challenge Field and no Status Field',
			parameters: { options: { challengeField: 'challenge' } },
			message:
				'Challenge Field (challengeField) needs the Status Field of the Pay API credential, because without it a postback could be mistaken for a challenge. In the credential of this trigger, under Describe the Service, enter the Status Field and the Paid Values. Until this workflow is published, no postback to https://n8n.example.com/webhook/1/postback is accepted.',
		},
		{
			how: 'with an expression as Respond',
			parameters: { options: { respond: '={{ "lastNode" }}' }, given: { respond: 'lastNode' } },
			message:
				'Respond is an expression. Choose it under Options, without an expression. Until this workflow is published, no postback to https://n8n.example.com/webhook/1/postback is accepted.',
		},
	])('is refused $how, and the message says what to do', async (row) => {
		const { credential = signed, parameters, selected, message } = row;
		const refusal = await published(credential, parameters, selected).catch((error) => error);
		expect(refusal).toBeInstanceOf(NodeOperationError);
		expect((refusal as Error).message).toBe(message);
	});

	test.each<{
		how: string;
		credential?: () => IDataObject;
		parameters?: Parameters<typeof published>[1];
		names: string;
	}>([
		{
			how: 'an expression as Authentication, whatever it gives',
			parameters: { typed: '={{ "signedUrl" }}' },
			names: 'Authentication',
		},
		{
			how: 'a short secret',
			credential: () => ({ postbackSecret: 'fifteen letters' }),
			names: 'Postback Secret',
		},
		{
			how: 'the previous secret alone',
			credential: () => ({ previousPostbackSecret: ONE }),
			names: 'Postback Secret',
		},
		{
			how: 'a header of the sender that is none',
			credential: () => ({
				...signed(),
				senderCheck: 'signature',
				signatureSecret: 'x',
				signatureHeader: ':',
			}),
			names: 'Signature Header',
		},
		{
			how: 'a word that means paid and failed',
			credential: () => ({ ...described(), failedValues: 'OK' }),
			names: 'Failed Values',
		},
		{
			how: 'a required value of an expression that gives nothing',
			credential: () => ({ ...described(), requiredValues: null }),
			names: 'Required Values',
		},
		{
			how: 'a required value that the service does not sign',
			credential: () => ({
				...described(),
				requiredValues: 'headers.x-mode = live',
				senderCheck: 'signature',
				signatureHeader: 'X-Signature',
				signatureSecret: 'x',
			}),
			names: 'Required Values',
		},
		{ how: 'a condition without values', parameters: NO_VALUES, names: 'matchField' },
		{
			how: 'a condition without values, unsigned',
			parameters: { authentication: 'none', ...NO_VALUES },
			names: 'matchField',
		},
		{
			how: 'a condition that n8n cannot read',
			parameters: () => {
				throw new Error('no such node');
			},
			names: 'no such node',
		},
		{
			how: 'a condition among the options',
			parameters: { options: { startWhen: { match: { field: 'status', values: ['paid'] } } } },
			names: 'options.startWhen',
		},
		{
			how: 'both ends as the condition, and words for paid alone',
			credential: described,
			parameters: { startWhen: 'paidOrFailed' },
			names: 'Failed Values',
		},
		{
			how: 'an expression as Response Body',
			parameters: { options: { responseBody: '={{ $json.id }}' } },
			names: 'responseBody',
		},
		{
			how: 'an expression as Challenge Field',
			parameters: { options: { challengeField: '={{ $json.id }}' } },
			names: 'challengeField',
		},
		{
			how: 'an expression as Response Code',
			parameters: { options: { responseCode: '={{ 202 }}' }, given: { responseCode: 202 } },
			names: 'responseCode',
		},
		{
			how: 'an expression as Skip Repeats',
			parameters: {
				options: { skipRepeats: '={{ !$json.query.again }}' },
				given: { skipRepeats: true },
			},
			names: 'skipRepeats',
		},
	])('is refused with $how, and the message names it', async (row) => {
		const { credential = signed, parameters, names } = row;
		const refusal = await published(credential, parameters).catch((error) => error);
		expect(refusal).toBeInstanceOf(NodeOperationError);
		expect((refusal as Error).message).toContain(names);
	});
});

describe('an unsigned trigger', () => {
	const gone = () => {
		throw new Error('nobody asks for it');
	};
	const match = { startWhen: 'match', matchField: 'status', matchValues: ['paid'] };

	test.each<{ what: string; options: IDataObject; response: string }>([
		{ what: 'nothing chosen', options: {}, response: '' },
		{ what: 'a text', options: { responseBody: 'OK' }, response: 'OK' },
		{ what: 'null for a text', options: { responseBody: null }, response: '' },
	])('starts with the postback, and responds with $what', async ({ options, response }) => {
		const parameters = { authentication: 'none', options } as INodeParameters;
		const { result } = await webhookNode({ credential: gone, parameters }).post(
			'https://a.example/',
			{ status: 'paid' },
		);
		expect(result.webhookResponse).toBe(response);
		const items = result.workflowData?.flat().map(({ json }) => json);
		expect(items).toMatchObject([{ reference: null, body: { status: 'paid' } }]);
	});

	test('responds as a person chose to what does not meet its condition, too, and starts nothing', async () => {
		const options = { responseBody: 'OK' };
		const parameters = { authentication: 'none', options, ...match } as INodeParameters;
		const node = webhookNode({ credential: gone, parameters });
		const { result } = await node.post('https://a.example/', { status: 'no' });
		expect(result).toStrictEqual({ webhookResponse: 'OK' });
		const met = await node.post('https://a.example/', { status: 'paid' });
		expect(met.result.workflowData).toHaveLength(1);
	});
});

test.each([
	{ text: '{ "ok": 1.0,  "id": 12345678901234567890 }', type: 'application/json' },
	{ text: ' [] ', type: 'application/json' },
	{ text: 'OK', type: undefined },
	{ text: '1', type: undefined },
	{ text: 'null', type: undefined },
	{ text: '{ok}', type: undefined },
])('$text as the response goes out as it is written, as $type', async ({ text, type }) => {
	const options = { responseBody: text };
	const node = webhookNode({ parameters: { authentication: 'none', options } });
	const { result, headers } = await node.post('https://a.example/', { status: 'paid' });
	expect(result.webhookResponse).toBe(text);
	expect(headers['content-type']).toBe(type);
});

describe('n8n', () => {
	const trigger = new PayTrigger();
	const [webhook] = trigger.description.webhooks!;
	const chosen: INodeParameters[] = [
		{},
		{ respond: 'onReceived', responseBody: 'OK' },
		{ respond: 'lastNode' },
		{ respond: 'lastNode', responseCode: 202 },
		{ responseCode: 204 },
	];

	test.each(chosen)('answers as the options say: %j', (options) => {
		const node = {
			id: 'node',
			name: 'Pay Trigger',
			type: 'payTrigger',
			typeVersion: 1,
			position: [0, 0] as [number, number],
			parameters: { options },
		};
		const nodeTypes = { getByNameAndVersion: () => trigger } as unknown as INodeTypes;
		const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
		const own = workflow.getNode('Pay Trigger')!;
		const answer = ['responseMode', 'responseCode', 'responseData'].map((field) =>
			workflow.expression.getSimpleParameterValue(own, webhook![field], 'internal', {}),
		);
		expect(answer).toStrictEqual([
			options.respond ?? 'onReceived',
			options.responseCode ?? 200,
			options.respond === 'lastNode' ? 'noData' : '',
		]);
	});
});

describe("the service's own signature", () => {
	const SERVICE = 'the secret of the service';
	const RULE = {
		postbackSecret: ONE,
		senderCheck: 'signature',
		signatureHeader: 'X-Signature',
		signatureSecret: SERVICE,
	};
	const BODY = '{"status":"PAID"}';
	const mac = (secret: string) => createHmac('sha256', secret).update(BODY).digest('hex');
	const reference = { external_id: 'a', kind: 'payment', amount: 1 };
	const proven = signUrl('https://n8n.example.com/webhook/x/postback', reference, ONE);

	/** Posts "PAID"; gives the status, and the reference of the item that starts the workflow. */
	async function post(authentication: string, url: string, signature: string, credential = RULE) {
		const node = webhookNode({ parameters: { authentication }, credential: () => credential });
		const { result, status, log } = await node.call({
			method: 'POST',
			query: Object.fromEntries(new URL(url).searchParams),
			headers: { 'x-signature': signature },
			rawBody: Buffer.from(BODY),
		});
		expect(JSON.stringify(log)).not.toContain(SERVICE);
		const item = result.workflowData?.[0]?.[0];
		return item === undefined ? status : item.json.reference;
	}

	const BARE = 'https://n8n.example.com/webhook/x/postback';
	const OTHER = 'another secret';
	test.each<{
		what: string;
		authentication: string;
		url: string;
		signature: string;
		expected: unknown;
	}>([
		{
			what: 'a signed URL and the signature',
			authentication: 'signedUrl',
			url: proven,
			signature: mac(SERVICE),
			expected: reference,
		},
		{
			what: 'a signed URL alone',
			authentication: 'signedUrl',
			url: proven,
			signature: '',
			expected: 401,
		},
		{
			what: 'a signed URL and a forged signature',
			authentication: 'signedUrl',
			url: proven,
			signature: mac(OTHER),
			expected: 401,
		},
		{
			what: 'the signature without a signed URL',
			authentication: 'signedUrl',
			url: BARE,
			signature: mac(SERVICE),
			expected: 401,
		},
		{
			what: 'the signature alone, where that is enough',
			authentication: 'sender',
			url: BARE,
			signature: mac(SERVICE),
			expected: null,
		},
		{
			what: 'both, where the signature is enough',
			authentication: 'sender',
			url: proven,
			signature: mac(SERVICE),
			expected: reference,
		},
		{
			what: 'a forged one, where the signature is enough',
			authentication: 'sender',
			url: proven,
			signature: mac(OTHER),
			expected: 401,
		},
		{
			what: 'nothing, where nothing is asked for',
			authentication: 'none',
			url: BARE,
			signature: '',
			expected: null,
		},
	])('a postback with $what gives $expected', async (row) => {
		const { authentication, url, signature, expected } = row;
		expect(await post(authentication, url, signature)).toStrictEqual(expected);
	});

	describe('alone, with what a postback claims', () => {
		const DESCRIBED = {
			...RULE,
			describeService: true,
			statusField: 'pix[].status\nstatus',
			paidValues: 'paid',
			failedValues: 'failed',
			amountField: 'pix[].cents\ncents',
			amountUnit: 'hundredths',
			idField: 'pix[].txid\ntxid',
		};

		/** Posts what the service signed to a bare URL; gives the items, or the response, and the log. */
		async function claim(body: object, startWhen = 'any') {
			const node = webhookNode({
				parameters: { authentication: 'sender', startWhen },
				credential: () => DESCRIBED,
			});
			const rawBody = Buffer.from(JSON.stringify(body));
			const { result, log, status } = await node.call({
				method: 'POST',
				query: {},
				headers: { 'x-signature': createHmac('sha256', SERVICE).update(rawBody).digest('hex') },
				rawBody,
			});
			const items = result.workflowData?.[0]?.map(({ json }) => json);
			return { items, response: result.webhookResponse as unknown, status, log };
		}

		test('each entry of a list starts the workflow by an item of its own', async () => {
			const pix = [
				{ txid: 'a', status: 'paid', cents: 1250 },
				{ txid: 'b', status: 'failed', cents: '435' },
				{ txid: 'c', status: 'paid', cents: '1,250' },
			];
			const { items, log } = await claim({ pix });
			expect(items).toMatchObject([
				{ reference: null, claimed: { external_id: 'a', amount: 12.5 }, state: 'paid' },
				{ reference: null, claimed: { external_id: 'b', amount: 4.35 }, state: 'failed' },
			]);
			expect(new Set(items?.map(({ eventId }) => eventId)).size).toBe(2);
			expect(log.join()).toContain(
				'the field "pix[].cents" is not an amount, or can be read in two ways',
			);
			const paid = await claim({ pix }, 'paid');
			expect(paid.items).toMatchObject([{ claimed: { external_id: 'a' } }]);
		});

		test('one of which nothing can be told starts nothing, and its sender reads why', async () => {
			const body = { status: 'paid', txid: 'a', cents: '1,250' };
			const { items, response, status, log } = await claim(body);
			expect([items, status]).toStrictEqual([undefined, undefined]);
			expect(response).toBe(
				'This postback does not start the workflow: the field "cents" is not an amount, or can be read in two ways',
			);
			expect(log).toHaveLength(1);
			expect(log[0]).not.toContain('1,250');
		});
	});

	test.each([
		{ mode: 'webhook', path: '/webhook/webhook-1/postback' },
		{ mode: 'manual', path: '/webhook-test/webhook-1/postback' },
	] as const)('a signed path is that of the URL as it was given out: $path', async (row) => {
		const template = { signedContent: 'template', signedTemplate: '{path}\n{body}' };
		const node = webhookNode({
			mode: row.mode,
			parameters: { authentication: 'sender' },
			credential: () => ({ ...RULE, ...template }),
		});
		const signature = (path: string) =>
			createHmac('sha256', SERVICE).update(`${path}\n${BODY}`).digest('hex');
		const statusOf = async (path: string) => {
			const headers = { 'x-signature': signature(path) };
			const rawBody = Buffer.from(BODY);
			const { result, status } = await node.call({ method: 'POST', query: {}, headers, rawBody });
			return result.workflowData === undefined ? status : 'started';
		};
		expect(await statusOf(row.path)).toBe('started');
		expect(await statusOf('/webhook/another/postback')).toBe(401);
	});

	test('a credential that no longer says how the service signs gives 500, so that the service sends again', async () => {
		const credential = { ...RULE, senderCheck: 'none' };
		expect(await post('sender', BARE, mac(SERVICE), credential)).toBe(500);
		expect(await post('sender', BARE, mac(OTHER), credential)).toBe(500);
	});
});
