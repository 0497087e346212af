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
import { lineInLog, webhookNode } from '../engine/webhook';

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
])('a secret that is $what: that counts from then on', async ({ now, taken, refused }) => {
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

test('a secret that is removed: nothing starts, and 500 makes the service send again', async () => {
	const credential: IDataObject = { postbackSecret: OLD };
	const receive = triggerWith(credential);
	expect(await receive(OLD)).toBe(200);
	delete credential.postbackSecret;
	expect(await receive(OLD)).toBe(500);
	expect(await receive(undefined)).toBe(500);
});

test('a secret that is removed: the log says so', async () => {
	const node = webhookNode({ credential: () => ({}) });
	const { log } = await node.post('https://n8n.example.com/webhook/x/postback');
	expect(log).toStrictEqual([
		lineInLog(
			'Pay refused a postback (500): The postback could not be taken (Error: Postbacks could not be verified: enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same as in that of the Pay nodes)',
		),
	]);
});

test('Authentication as an expression, which a request could choose: nothing starts', async () => {
	const node = webhookNode({ parameters: { authentication: '={{ "none" }}' } });
	const { result, status } = await node.post('https://n8n.example.com/webhook/x/postback');
	expect(result.workflowData).toBeUndefined();
	expect(status).toBe(500);
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
		selected?: string,
	) {
		logged = [];
		const { options: more, typed, given } = parameters as Record<string, object | undefined>;
		const options = { binaryData: true, ...more };
		const allParameters = {
			authentication: 'signedUrl',
			startWhen: 'any',
			...parameters,
			// What their expressions give.
			options: { ...options, ...given },
		};
		const context = {
			getNode: () => ({
				name: 'Pay Trigger',
				type: 'payTrigger',
				parameters: { options, authentication: typed ?? allParameters.authentication },
				credentials: selected && { payApi: { id: '7', name: selected } },
			}),
			getActivationMode: () => 'activate',
			getNodeWebhookUrl: () => 'https://n8n.example.com/webhook/1/postback',
			getWorkflow: () => ({ id: 'w', name: 'Orders' }),
			logger: { warn: (line: string) => void logged.push(line) },
			getNodeParameter: (name: keyof typeof allParameters) =>
				name === 'startWhen' && typeof parameters === 'function'
					? parameters()
					: allParameters[name],
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

	test.each<{
		how: string;
		credential: () => IDataObject;
		parameters: Parameters<typeof published>[1];
	}>([
		{ how: 'with a secret', credential: signed, parameters: {} },
		{
			how: 'without authentication, whatever is in the credential',
			credential: gone,
			parameters: { authentication: 'none' },
		},
		{ how: 'with a condition', credential: signed, parameters: matching('status', ['paid']) },
		{
			how: 'at Paid, with words for it',
			credential: described({ paidValues: 'ok' }),
			parameters: { startWhen: 'paid' },
		},
		{
			how: 'at both, with words',
			credential: described({ paidValues: 'ok', failedValues: 'no' }),
			parameters: BOTH,
		},
	])('succeeds $how', async ({ credential, parameters }) => {
		expect(await published(credential, parameters)).toBe(true);
	});

	test.each([
		{ binaryData: undefined, lines: 1 },
		{ binaryData: true, lines: 0 },
	])(
		'succeeds with binaryData: $binaryData in the options, and logs $lines line about it',
		async ({ binaryData, lines }) => {
			expect(await published(signed, { options: { binaryData } })).toBe(true);
			expect(logged).toHaveLength(lines);
			for (const line of logged)
				expect(line).toBe(
					'Pay Trigger: the JSON of this node has "options" without "binaryData": true, so n8n reads postbacks before the node, and responds with 422 to charsets such as ISO-8859-1. To take those too, add it there, or delete the node and add it again {"workflow":"Orders","workflowId":"w","node":"Pay Trigger"}',
				);
		},
	);

	test.each<{
		how: string;
		credential: () => IDataObject;
		parameters?: IDataObject;
		names: boolean;
	}>([
		{ how: 'without a secret', credential: () => ({}), names: true },
		{ how: 'with a short secret', credential: secret('fifteen letters'), names: true },
		{ how: 'with a credential that is gone', credential: gone, names: true },
		{
			how: 'without the way in which the service signs',
			credential: signed,
			parameters: { authentication: 'sender' },
			names: true,
		},
		{
			how: 'with a header that is none',
			credential: secret(ONE, {
				senderCheck: 'signature',
				signatureSecret: 'x',
				signatureHeader: ':',
			}),
			names: true,
		},
		{
			how: 'at Paid, without words for it',
			credential: signed,
			parameters: { startWhen: 'paid' },
			names: true,
		},
		{
			how: 'with a condition without values',
			credential: signed,
			parameters: matching('status', []),
			names: true,
		},
		{
			how: 'unsigned, with a condition without values',
			credential: gone,
			parameters: { authentication: 'none', ...matching('status', []) },
			names: false,
		},
	])('is refused $how; that it names the credential is $names', async (row) => {
		const { credential, parameters, names } = row;
		const refusal = await published(credential, parameters, 'Pay of the shop').catch(
			(error: unknown) => error,
		);
		const named = 'This trigger has the credential "Pay of the shop".';
		expect((refusal as Error).message.includes(named)).toBe(names);
	});

	const NONE: IDataObject = { authentication: 'none' };
	const AMONG_OPTIONS = {
		options: { startWhen: { match: { field: 'status', values: ['paid'] } } },
	};
	test.each<{
		how: string;
		credential: () => IDataObject;
		why: string;
		parameters?: Parameters<typeof published>[1];
	}>([
		{
			how: 'with an expression as Authentication, whatever it gives',
			credential: signed,
			why: 'Authentication is an expression, so a request could choose it. Choose it from the list, without an expression.',
			parameters: { typed: '={{ "signedUrl" }}' },
		},
		{
			how: 'without a secret',
			credential: () => ({}),
			why: 'Postbacks could not be verified: enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same as in that of the Pay nodes.',
		},
		{
			how: 'with an empty one',
			credential: secret(''),
			why: 'Postbacks could not be verified: enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same as in that of the Pay nodes.',
		},
		{
			how: 'with a number',
			credential: secret(5),
			why: 'The Postback Secret of the Pay API credential must have at least 16 characters. Whoever sees one signed URL can try out a short one. Enter 30 random characters from a password manager, the same in the credential of every Pay node and Pay Trigger that works with it.',
		},
		{
			how: 'with a short one',
			credential: secret('fifteen letters'),
			why: 'The Postback Secret of the Pay API credential must have at least 16 characters. Whoever sees one signed URL can try out a short one. Enter 30 random characters from a password manager, the same in the credential of every Pay node and Pay Trigger that works with it.',
		},
		{
			how: 'with one that is not text',
			credential: secret({}),
			why: 'Postback Secret (postbackSecret) must be text, but is an object. Use an expression that gives one text, for example {{ $json.name }}.',
		},
		{
			how: 'with a short one before it',
			credential: secret(ONE, { previousPostbackSecret: 'abc' }),
			why: 'The Previous Postback Secret of the Pay API credential must have at least 16 characters. Whoever sees one signed URL can try out a short one. Enter 30 random characters from a password manager, the same in the credential of every Pay node and Pay Trigger that works with it.',
		},
		{
			how: 'with the previous one alone',
			credential: () => ({ previousPostbackSecret: ONE }),
			why: 'Postbacks could not be verified: enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same as in that of the Pay nodes.',
		},
		{
			how: 'with a credential that is gone',
			credential: gone,
			why: 'The Pay API credential of this trigger cannot be read (no such credential). Select another one, or enter as text what is an expression in it: a trigger has no item yet.',
		},
		{
			how: 'with a condition without values',
			credential: signed,
			why: 'Field (matchField) and its values must both be there, as text. Enter both: the field to look at, and at least one of its values.',
			parameters: matching('status', []),
		},
		{
			how: 'with several values as one',
			credential: signed,
			why: 'Field (matchField) cannot have the value "paid, approved", which holds a comma. Enter each value by itself.',
			parameters: matching('status', ['paid, approved']),
		},
		{
			how: 'with no field, unsigned',
			credential: () => ({}),
			why: 'Field (matchField) and its values must both be there, as text. Enter both: the field to look at, and at least one of its values.',
			parameters: { ...NONE, ...matching('', ['a']) },
		},
		{
			how: 'with a condition that n8n cannot read',
			credential: signed,
			why: 'no such node.',
			parameters: unreadable,
		},
		{
			how: 'with a condition that there is not',
			credential: signed,
			why: 'Start (startWhen) must be one of any, paid, paidOrFailed, match, but is "Paid". Choose one from the list.',
			parameters: { startWhen: 'Paid' },
		},
		{
			how: 'at Paid, without words for it',
			credential: signed,
			why: 'No credential says which words of the service mean "paid". Open the credential of this trigger. Turn on Describe the Service, and enter Status Field and Paid Values.',
			parameters: { startWhen: 'paid' },
		},
		{
			how: 'at both, with words for paid alone',
			credential: described({ paidValues: 'ok' }),
			why: 'No credential says which words of the service mean "failed". Open the credential of this trigger. Under Describe the Service, enter Failed Values.',
			parameters: BOTH,
		},
		{
			how: 'with a word that is both, once in capitals',
			credential: described({ paidValues: 'ok', failedValues: 'OK' }),
			why: 'The Failed Values of the Pay API credential have "ok", and the Paid Values have it too. Remove it from one of them: upper and lower case do not count.',
		},
		{
			how: 'with an expression as Response Body',
			credential: secret(ONE),
			parameters: { options: { responseBody: '={{ $json.id }}' } },
			why: 'Response Body (responseBody) is an expression, and there is no item yet that it could read. Enter it under Options as text.',
		},
		{
			how: 'with an expression as Challenge Field',
			credential: secret(ONE),
			parameters: { options: { challengeField: '={{ $json.id }}' } },
			why: 'Challenge Field (challengeField) is an expression, and there is no item yet that it could read. Enter it under Options as text.',
		},
		{
			how: 'with an expression as Respond',
			credential: secret(ONE),
			parameters: { options: { respond: '={{ "lastNode" }}' }, given: { respond: 'lastNode' } },
			why: 'Respond is an expression. Choose it under Options, without an expression.',
		},
		{
			how: 'with an expression as Response Code',
			credential: secret(ONE),
			parameters: { options: { responseCode: '={{ 202 }}' }, given: { responseCode: 202 } },
			why: 'Response Code (responseCode) is an expression. Choose it under Options, without an expression.',
		},
		{
			how: 'with an expression as Skip Repeats',
			credential: secret(ONE),
			parameters: {
				options: { skipRepeats: '={{ !$json.query.again }}' },
				given: { skipRepeats: true },
			},
			why: 'Skip Repeats (skipRepeats) is an expression. Choose it under Options, without an expression.',
		},
		{
			how: 'with a Challenge Field and no Status Field',
			credential: secret(ONE),
			parameters: { options: { challengeField: 'challenge' } },
			why: 'Challenge Field (challengeField) needs the Status Field of the Pay API credential: without it a postback could be taken for a challenge. In the credential of this trigger, under Describe the Service, enter the Status Field and the Paid Values.',
		},
		{
			how: 'with its condition among the options',
			credential: signed,
			why: 'The node has "options.startWhen", which it does not read. Enter the condition as "startWhen" among its parameters, and remove "options.startWhen".',
			parameters: AMONG_OPTIONS,
		},
		{
			how: 'at Paid, unsigned: it has no credential',
			credential: gone,
			why: 'No credential says which words of the service mean "paid". Set Authentication to Signed URL or Sender: without it this trigger has no credential. Turn on Describe the Service, and enter Status Field and Paid Values.',
			parameters: { ...NONE, startWhen: 'paid' },
		},
	])(
		'is refused $how, and the message says what to do',
		async ({ credential, why, parameters = {} }) => {
			const refusal = await published(credential, parameters).catch((error: unknown) => error);
			expect(refusal).toBeInstanceOf(NodeOperationError);
			expect((refusal as Error).message).toBe(
				`${why} Until this workflow is published, no postback to https://n8n.example.com/webhook/1/postback is taken.`,
			);
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

test.each([
	{ startWhen: 'any', word: 'PAID', state: 'paid', starts: true },
	{ startWhen: 'any', word: 'no', state: 'failed', starts: true },
	{ startWhen: 'any', word: 'pending', state: 'other', starts: true },
	{ startWhen: 'paid', word: 'Settled', state: 'paid', starts: true },
	{ startWhen: 'paid', word: 'no', state: '', starts: false },
	{ startWhen: 'paidOrFailed', word: 'no', state: 'failed', starts: true },
	{ startWhen: 'paidOrFailed', word: 'pending', state: '', starts: false },
])(
	'with words in the credential, at $startWhen, "$word" gives $state',
	async ({ startWhen, word, state, starts }) => {
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
	},
);

test.each([
	{ matchField: 'body.data.status', starts: true },
	{ matchField: 'postback.body.data.status', starts: true },
	{ matchField: 'Data.Status', starts: true },
	{ matchField: 'query.state', starts: true },
	{ matchField: 'query.status', starts: false },
])('the field may be typed as it is seen: $matchField', async ({ matchField, starts }) => {
	const match = { startWhen: 'match', matchField, matchValues: ['paid'] };
	const node = webhookNode({ parameters: { authentication: 'none', ...match } });
	const url = 'https://a.example/?state=paid';
	const { result } = await node.post(url, { data: { status: 'paid' } });
	expect(result.workflowData !== undefined).toBe(starts);
});

describe('a postback with a genuine proof and signature of the service that is about another charge', () => {
	const SIGNING = 'the secret of the service';
	const credential = {
		postbackSecret: ONE,
		senderCheck: 'signature',
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

describe('a field of a list whose entries nothing tells apart', () => {
	const credential = {
		postbackSecret: ONE,
		describeService: true,
		statusField: 'pix[].status',
		paidValues: 'paid',
		amountField: 'pix[].amount',
	};
	const charge = { external_id: 'order-7', kind: 'qrCode', amount: 10 };
	const url = signUrl('https://n8n.example.com/webhook/x/postback', charge, ONE);
	const pending = { status: 'pending', amount: 10, sku: 1 };

	async function post(matchField: string, ...pix: object[]) {
		const parameters = { startWhen: 'match', matchField, matchValues: ['paid', '1'] };
		const node = webhookNode({ parameters, credential: () => credential });
		const { result } = await node.post(url, { pix, lines: [{ sku: 1 }, { sku: 2 }] });
		return result.workflowData?.[0]?.[0]?.json.state ?? result.webhookResponse;
	}

	test('"paid" with another amount is not what was paid, whatever stands beside it', async () => {
		expect(await post('pix[].status', pending, { status: 'paid', amount: 0.01 })).toBe(
			'The workflow does not go on with it: the field "pix[].amount" has another amount than the charge or payment',
		);
	});

	test.each([
		{
			what: '"paid" with its amount',
			field: 'pix[].status',
			entry: { status: 'paid', amount: 10 },
		},
		{ what: 'what is not paid', field: 'pix[].sku', entry: { status: 'paid', amount: 0.01 } },
		{ what: 'another list', field: 'lines[].sku', entry: { status: 'paid', amount: 0.01 } },
	])('$what goes on', async ({ field, entry }) => {
		expect(await post(field, pending, entry)).toBe('other');
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
		lineInLog(
			'Pay refused a postback (500): The postback could not be taken (InputError: The node has "options.startWhen", which it does not read)',
		),
	]);
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
	])('$what', async ({ authentication, url, signature, expected }) => {
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
			expect(log.join()).toContain('the field "pix[].cents" is no amount, or can be read as two');
			const paid = await claim({ pix }, 'paid');
			expect(paid.items).toMatchObject([{ claimed: { external_id: 'a' } }]);
		});

		test.each([
			{
				body: { status: 'paid', cents: 1250 },
				why: 'the fields "pix[].txid" and "txid" are missing',
			},
			{
				body: { status: 'paid', txid: 'a' },
				why: 'the fields "pix[].cents" and "cents" are missing',
			},
			{
				body: { status: 'paid', txid: 'a', cents: '1,250' },
				why: 'the field "cents" is no amount, or can be read as two',
			},
		])('$body starts nothing: $why', async ({ body, why }) => {
			const { items, response, status, log } = await claim(body);
			expect([items, status]).toStrictEqual([undefined, undefined]);
			expect(response).toBe(`The workflow does not go on with it: ${why}`);
			expect(log).toHaveLength(1);
			expect(log[0]).not.toContain('1,250');
		});

		test('a list of very many entries is refused', async () => {
			const pix = Array.from({ length: 1001 }, () => ({ txid: 'a', status: 'paid', cents: 1 }));
			expect((await claim({ pix })).status).toBe(413);
		});
	});

	test('no item shows it: with the body, who reads the execution could call again', async () => {
		const parameters = { authentication: 'sender' };
		const node = webhookNode({ parameters, credential: () => RULE });
		const headers = { 'x-signature': mac(SERVICE), 'x-other': 'shown' };
		const rawBody = Buffer.from(BODY);
		const { result } = await node.call({ method: 'POST', query: {}, headers, rawBody });
		const [item] = result.workflowData![0]!;
		expect(item!.json.headers).toStrictEqual({ 'x-signature': '***', 'x-other': 'shown' });
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

	test('a trigger whose Authentication is an expression takes nothing: its sender could choose', async () => {
		expect(await post('={{ "none" }}', BARE, '')).toBe(500);
	});

	test('a credential that no longer says how the service signs: 500, so the service sends again', async () => {
		const credential = { ...RULE, senderCheck: 'none' };
		expect(await post('sender', BARE, mac(SERVICE), credential)).toBe(500);
		expect(await post('sender', BARE, mac(OTHER), credential)).toBe(500);
	});
});
