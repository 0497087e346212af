import { createHmac } from 'node:crypto';
import {
	NodeOperationError,
	Workflow,
	type IDataObject,
	type IHookFunctions,
	type INodeParameters,
	type INodeTypes,
} from 'n8n-workflow';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { webhookNode } from '../engine/webhook';

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
test.each<[string, IDataObject, string[], Array<string | undefined>]>([
	['replaced', { postbackSecret: NEW }, [NEW], [OLD]],
	['replaced, and taken still', STILL, [OLD, NEW], [ONE]],
	['removed', {}, [], [OLD, undefined]],
])('a secret that is %s: that counts from then on', async (_what, now, taken, refused) => {
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

describe('the credential of a postback', () => {
	const EXPRESSION = '={{ $vars.secret }}';
	test.each<[string, IDataObject, IDataObject, number]>([
		['once where no field is an expression', { baseUrl: 'a' }, {}, 1],
		['each time with one in any field', { baseUrl: '={{ 1 }}' }, { baseUrl: '1' }, 3],
		['each time with one as the secret', { postbackSecret: EXPRESSION }, {}, 3],
		['each time where n8n puts in another', { postbackSecret: '' }, {}, 3],
		['each time where n8n adds a secret', {}, { previousPostbackSecret: NEW }, 3],
		['each time where n8n leaves a field out', { accessToken: 'a' }, { accessToken: undefined }, 3],
	])('n8n resolves the credential %s', async (_when, unresolved, resolved, times) => {
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
	const gone = () => {
		throw new Error('no such credential');
	};
	let logged: string[] = [];
	/** What publishing comes to, with a credential and parameters as n8n hands them over. */
	async function published(
		credential: () => IDataObject,
		parameters: IDataObject | (() => never) = {},
	) {
		logged = [];
		const { options: more, typed } = parameters as { options?: object; typed?: string };
		const options = { binaryData: true, ...more };
		const given = { authentication: 'signedUrl', startWhen: 'any', ...parameters, options };
		const context = {
			getNode: () => ({
				name: 'Pay Trigger',
				type: 'payTrigger',
				parameters: { options, authentication: typed },
			}),
			getActivationMode: () => 'activate',
			getNodeWebhookUrl: () => 'https://n8n.example.com/webhook/1/postback',
			logger: { warn: (line: string) => void logged.push(line) },
			getNodeParameter: (name: keyof typeof given) =>
				name === 'startWhen' && typeof parameters === 'function' ? parameters() : given[name],
			getCredentials: async () => credential(),
		} as unknown as IHookFunctions;
		expect(await checkExists.call(context)).toBe(false);
		expect(await remove.call(context)).toBe(true);
		return await create.call(context);
	}
	/** As an expression that fails. */
	const unreadable = () => {
		throw new Error('no such node');
	};
	const matching = (matchField: unknown, matchValues: unknown) =>
		({ startWhen: 'match', matchField, matchValues }) as IDataObject;
	const described = (words: IDataObject) => () => ({
		postbackSecret: ONE,
		describeService: true,
		statusField: 'status',
		...words,
	});
	const secret =
		(postbackSecret: unknown, more = {}) =>
		() =>
			({ postbackSecret, ...more }) as IDataObject;
	const signed = secret(ONE);
	const BOTH = { startWhen: 'paidOrFailed' };

	test.each<[string, () => IDataObject, Parameters<typeof published>[1]]>([
		['with a secret', signed, {}],
		['without authentication, whatever is in the credential', gone, { authentication: 'none' }],
		['with a condition', signed, matching('status', ['paid'])],
		['at Paid, with words for it', described({ paidValues: 'ok' }), { startWhen: 'paid' }],
		['at both, with words', described({ paidValues: 'ok', failedValues: 'no' }), BOTH],
	])('succeeds %s', async (_how, credential, parameters) => {
		expect(await published(credential, parameters)).toBe(true);
	});

	test.each([
		[undefined, 1],
		[true, 0],
	])(
		'succeeds with binaryData: %s in the options, and logs %d line about it',
		async (binaryData, lines) => {
			expect(await published(signed, { options: { binaryData } })).toBe(true);
			expect(logged).toHaveLength(lines);
			for (const line of logged) expect(line).toMatch(/"binaryData": true.* ISO-8859-1/);
		},
	);

	const UNTIL = ' Until this workflow is published,';
	const SHORT = /^The Postback Secret of .* at least 16 characters\. \S/;
	const NO_SECRET = /^Postbacks could not be verified: .*Postback Secret/;
	const PREVIOUS = /^The Previous Postback Secret of .* at least 16 characters\. \S/;
	const VALUELESS = /^Field \(matchField\) and its values must both be there.*\. \S/;
	const COMMA =
		/^Field \(matchField\) .*"paid, approved", which holds a comma. Enter each value by/;
	const CHOICE = /^Start \(startWhen\) must be one of any, paid, .* is "Paid"\. Choose one/;
	const NONE: IDataObject = { authentication: 'none' };
	const BY_SERVICE = { authentication: 'signature' };
	const CHOSEN =
		/^Authentication is an expression, so a request could choose it\. Choose it from the list, w/;
	const NO_WAY =
		/^Authentication must be one of none, signature, signedUrl, but is "signed"\. Choose one/;
	const HAS_NONE =
		/^No credential says .*Set Authentication to Signed URL or Service's Signature: without it /;
	const UNPAID =
		/^No credential says .* mean "paid"\. Open the credential of this trigger.*Describe the Service, and enter Status Field and Paid Values\.$/;
	const HALF = /mean "paid" and "failed"\. .* Paid Values and Failed Values\.$/;
	const MOVED =
		/^The options hold "startWhen", which has moved\. Enter it as the field Start, above/;
	const AMONG_OPTIONS = {
		options: { startWhen: { match: { field: 'status', values: ['paid'] } } },
	};
	const TWICE = /^The Failed Values of .* have "ok", and the Paid Values have it too\. \S/;
	test.each<[string, () => IDataObject, RegExp, Parameters<typeof published>[1]?]>([
		['without a secret', () => ({}), NO_SECRET],
		['with an empty one', secret(''), NO_SECRET],
		['with a number', secret(5), SHORT],
		['with a short one', secret('fifteen letters'), SHORT],
		['with one that is not text', secret({}), /must be text, but is an obj/],
		['with a short one before it', secret(ONE, { previousPostbackSecret: 'abc' }), PREVIOUS],
		['with the previous one alone', () => ({ previousPostbackSecret: ONE }), NO_SECRET],
		['with a credential that is gone', gone, /^Postbacks could .*\(no such credential\)$/],
		['with a condition without values', signed, VALUELESS, matching('status', [])],
		['with several values as one', signed, COMMA, matching('status', ['paid, approved'])],
		['with no field, unsigned', () => ({}), /^Field \(matchF/, { ...NONE, ...matching('', ['a']) }],
		['with a condition that n8n cannot read', signed, /^no such node$/, unreadable],
		['with a condition that there is not', signed, CHOICE, { startWhen: 'Paid' }],
		['at Paid, without words for it', signed, UNPAID, { startWhen: 'paid' }],
		['at both, with words for paid alone', described({ paidValues: 'ok' }), HALF, BOTH],
		['with a word that is both', described({ paidValues: 'ok', failedValues: 'OK' }), TWICE],
		['with its condition among the options, as once', signed, MOVED, AMONG_OPTIONS],
		['with a credential that is gone, signed by the service', gone, /^no such creden/, BY_SERVICE],
		['with an expression that chooses how', signed, CHOSEN, { typed: '={{ "none" }}' }],
		['with an authentication that there is not', signed, NO_WAY, { authentication: 'signed' }],
		['at Paid, unsigned: it has no credential', gone, HAS_NONE, { ...NONE, startWhen: 'paid' }],
	])(
		'is refused %s, and the message says what to do',
		async (_how, credential, why, parameters = {}) => {
			const refusal = await published(credential, parameters).catch((error: unknown) => error);
			expect(refusal).toBeInstanceOf(NodeOperationError);
			const [words = '', until] = (refusal as Error).message.split(UNTIL);
			expect(until).toBe(' no postback to https://n8n.example.com/webhook/1/postback is taken');
			// A sentence that had no full stop got one here.
			expect([words, words.slice(0, -1)]).toContainEqual(expect.stringMatching(why));
		},
	);
});

const MATCH = { responseBody: 'OK', startWhen: true };
test.each<[string, IDataObject, unknown, string, boolean]>([
	['nothing set', {}, { status: 'paid' }, '', true],
	['a text to answer with', { responseBody: 'OK' }, { status: 'paid' }, 'OK', true],
	['null for a text', { responseBody: null }, { status: 'paid' }, '', true],
	['a condition that it meets', MATCH, { status: 'paid' }, 'OK', true],
	['one that it does not meet', MATCH, { status: 'no' }, 'OK', false],
])(
	'an unsigned trigger with %s',
	async (_what, { startWhen, ...options }, body, answer, starts) => {
		const match = { startWhen: 'match', matchField: 'status', matchValues: ['paid'] };
		const node = webhookNode({
			credential: () => {
				throw new Error('nobody asks for it');
			},
			parameters: { authentication: 'none', options, ...(startWhen ? match : {}) } as never,
		});
		const { result } = await node.post('https://a.example/', body);
		expect(result.webhookResponse).toBe(answer);
		const items = result.workflowData?.flat().map(({ json }) => json);
		expect(items).toStrictEqual(
			starts ? [expect.objectContaining({ reference: null, body })] : undefined,
		);
	},
);

test.each([
	['any', 'PAID', 'paid', true],
	['any', 'no', 'failed', true],
	['any', 'pending', 'other', true],
	['paid', 'Settled', 'paid', true],
	['paid', 'no', '', false],
	['paidOrFailed', 'no', 'failed', true],
	['paidOrFailed', 'pending', '', false],
])('with words in the credential, at %s, "%s" gives %p', async (startWhen, word, state, starts) => {
	const credential = {
		postbackSecret: ONE,
		describeService: true,
		statusField: 'data.status',
		paidValues: 'paid\r\nsettled',
		failedValues: 'no',
	};
	const node = webhookNode({ credential: () => credential, parameters: { startWhen } });
	const url = signUrl('https://a.example/', { external_id: 'a', kind: 'payment' }, ONE);
	const { result } = await node.post(url, { data: { status: word } });
	const states = result.workflowData?.flat().map(({ json }) => json.state);
	expect(states).toStrictEqual(starts ? [state] : undefined);
});

test.each([
	['body.data.status', true],
	['postback.body.data.status', true],
	['Data.Status', true],
	['query.state', true],
	['query.status', false],
])('the field may be typed as it is seen: %s', async (matchField, starts) => {
	const match = { startWhen: 'match', matchField, matchValues: ['paid'] };
	const node = webhookNode({ parameters: { authentication: 'none', ...match } });
	const url = 'https://a.example/?state=Paid';
	const { result } = await node.post(url, { data: { status: 'PAID' } });
	expect(result.workflowData !== undefined).toBe(starts);
});

describe('a postback with a genuine proof and signature of the service that is about another charge', () => {
	const SIGNING = 'the secret of the service';
	const credential = {
		postbackSecret: ONE,
		verifySignature: true,
		signatureHeader: 'X-Signature',
		signatureSecret: SIGNING,
		describeService: true,
		statusField: 'status',
		paidValues: 'paid',
		failedValues: 'failed',
		idField: 'order',
		amountField: 'value',
	};
	const match = {
		startWhen: 'match',
		matchField: 'status',
		matchValues: ['paid', 'failed', 'pending'],
	};
	const charge = { external_id: 'order-7', kind: 'qrCode', amount: 500 };
	const url = signUrl('https://n8n.example.com/webhook/x/postback', charge, ONE);

	/** Posts what the service signed; gives the state of the item that starts the workflow, or the response. */
	async function post(condition: IDataObject, body: IDataObject) {
		const node = webhookNode({
			parameters: condition as INodeParameters,
			credential: () => credential,
		});
		const rawBody = Buffer.from(JSON.stringify(body));
		const { result } = await node.call({
			method: 'POST',
			query: Object.fromEntries(new URL(url).searchParams),
			headers: { 'x-signature': createHmac('sha256', SIGNING).update(rawBody).digest('hex') },
			rawBody,
		});
		return result.workflowData?.[0]?.[0]?.json.state ?? result.webhookResponse;
	}

	const OTHER_ID =
		'The workflow does not go on with it: the field "order" names another charge or payment';
	const OTHER_AMOUNT =
		'The workflow does not go on with it: the field "value" has another amount than the charge or payment';
	const PAID = { startWhen: 'paid' };
	test.each<[string, IDataObject, IDataObject, string]>([
		['When Paid', PAID, { status: 'paid', order: 'order-2', value: 1 }, OTHER_ID],
		['When Paid, its own', PAID, { status: 'paid', order: 'order-7', value: 500 }, 'paid'],
		['When Paid, part of it', PAID, { status: 'paid', order: 'order-7', value: 1 }, OTHER_AMOUNT],
		['a field', match, { status: 'paid', order: 'order-2', value: 1 }, OTHER_ID],
		['a field, its own', match, { status: 'paid', order: 'order-7', value: 500 }, 'paid'],
		['a field, part of it', match, { status: 'paid', order: 'order-7', value: 1 }, OTHER_AMOUNT],
		['a field that says failed', match, { status: 'failed', order: 'order-7' }, 'failed'],
		['a field that says pending', match, { status: 'pending', order: 'order-7' }, 'other'],
		['a field, "failed" of another', match, { status: 'failed', order: 'order-2' }, OTHER_ID],
	])('%s', async (_condition, condition, body, expected) => {
		expect(await post(condition, body)).toBe(expected);
	});
});

describe('how n8n answers', () => {
	const trigger = new PayTrigger();
	const [webhook] = trigger.description.webhooks!;
	const chosen: INodeParameters[] = [
		{},
		{ respond: 'onReceived', responseBody: 'OK' },
		{ respond: 'lastNode' },
		{ respond: 'lastNode', responseCode: 202 },
		{ responseCode: 204 },
	];

	test.each(chosen)('as the options say: %j', (options) => {
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

test('a trigger that was published with its condition among the options starts nothing', async () => {
	const startWhen = { match: { field: 'status', values: ['paid'] } };
	const node = webhookNode({
		parameters: { authentication: 'none', options: { startWhen } } as INodeParameters,
	});
	const called = await node.post('https://a.example/', { status: 'pending' });
	expect([called.status, called.result]).toStrictEqual([500, { noWebhookResponse: true }]);
	expect(called.log).toStrictEqual([
		'Pay refused a postback (500): The postback could not be taken (InputError: The options hold "startWhen", which has moved)',
	]);
});

describe("the service's own signature", () => {
	const SERVICE = 'the secret of the service';
	const RULE = {
		postbackSecret: ONE,
		verifySignature: true,
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
	test.each<[string, string, string, string, unknown]>([
		['a signed URL and the signature', 'signedUrl', proven, mac(SERVICE), reference],
		['a signed URL alone', 'signedUrl', proven, '', 401],
		['a signed URL and a forged signature', 'signedUrl', proven, mac(OTHER), 401],
		['the signature without a signed URL', 'signedUrl', BARE, mac(SERVICE), 401],
		['the signature alone, where that is enough', 'signature', BARE, mac(SERVICE), null],
		['both, where the signature is enough', 'signature', proven, mac(SERVICE), reference],
		['a forged one, where the signature is enough', 'signature', proven, mac(OTHER), 401],
		['nothing, where nothing is asked for', 'none', BARE, '', null],
	])('%s', async (_what, authentication, url, signature, expected) => {
		expect(await post(authentication, url, signature)).toStrictEqual(expected);
	});

	test.each([{ amountField: 'value' }, { idField: 'order' }])(
		'a credential that was given a field to compare later: 500, so the service sends again: %j',
		async (compared) => {
			const described = {
				...RULE,
				describeService: true,
				statusField: 'status',
				paidValues: 'paid',
				...compared,
			};
			expect(await post('signature', BARE, mac(SERVICE), described)).toBe(500);
		},
	);

	test('a trigger whose Authentication is an expression takes nothing: its sender could choose', async () => {
		expect(await post('={{ "none" }}', BARE, '')).toBe(500);
	});

	test('a trigger that asks for it takes nothing once its credential says no more how', async () => {
		const credential = { ...RULE, verifySignature: false };
		expect(await post('signature', BARE, mac(SERVICE), credential)).toBe(401);
	});
});
