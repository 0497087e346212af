import { example } from '../../dev/demo';
import { Sandbox } from '../../sandbox/service';
import { pathOf } from '../../nodes/Pay/service/contract';
import { FULL_FORMS, READ_REQUEST, REGISTERED, type Kind } from '../serviceOperations';
import { send, startReceiver, type Receiver } from './service';

/** What the example's code gives for a request. */
interface Played {
	status: number;
	answer: Record<string, unknown>;
	postbacks: Array<{ body: Record<string, unknown> }>;
}

let sandbox: Sandbox;
let receiver: Receiver;
beforeAll(async () => {
	sandbox = await Sandbox.start({ amountsAct: true, settlePaymentsAfter: 20 });
	receiver = await startReceiver();
});
afterAll(async () => {
	receiver.close();
	await sandbox.close();
});

const { jsCode } = example('practice-service').nodes.find(
	({ name }) => name === 'What the service does',
)!.parameters as { jsCode: string };

/** Runs the code of the practice service as n8n's Code node does. */
function practise(path: string, body: object, authorization: string): Played {
	const webhookUrl = `${receiver.url.replace('/postback', '')}/webhook/v2/pay/${path}`;
	const headers = authorization === '' ? {} : { authorization };
	const play = new Function('$json', '$execution', jsCode) as (...given: object[]) => Played;
	return play({ headers, body, webhookUrl }, { id: '17' });
}
/** Without what each service makes up by itself, an account and a checksum in the code too. */
function common({ id, errors, postback, qrCode, ...more }: Record<string, unknown>) {
	const code =
		qrCode && String(qrCode).replace(/(?<=^00020126)\d\d|(?<=qr)01.*(?=52040)|.{4}$/g, '');
	return { ...more, ...(code ? { code } : {}) };
}

/** The body of an operation's form, every field of it filled in. */
function fullBody(kind: Kind): object {
	return READ_REQUEST[kind]((name) => FULL_FORMS[kind][name]);
}

describe.each(REGISTERED.map(({ operation }) => [operation.kind as Kind, operation] as const))(
	'%s',
	(kind, operation) => {
		const path = pathOf(operation, 'pay');

		test('the sandbox carries it out, or says in JSON why not', async () => {
			const { headers } = await send(sandbox, path, fullBody(kind));
			expect(headers.get('Content-Type')).toMatch(/^application\/json/);
		});

		test('the practice service takes its body', () => {
			const { status } = practise(operation.path, fullBody(kind), 'Bearer practice');
			expect(status).not.toBe(422);
		});
	},
);

const FULL = { amount: 12.5, external_id: 'payout-1' };
test.each<{ what: string; path: string; body: object; token?: string }>([
	{
		what: 'a payment',
		path: 'payment',
		body: FULL,
	},
	{
		what: 'a charge',
		path: 'qrcode',
		body: FULL,
	},
	{
		what: 'a payment that fails',
		path: 'payment',
		body: { ...FULL, amount: 1.02 },
	},
	{
		what: 'a payment that is reported twice',
		path: 'payment',
		body: { ...FULL, amount: 1.03 },
	},
	{
		what: 'a payment that is never reported',
		path: 'payment',
		body: { ...FULL, amount: 1.06 },
	},
	{
		what: 'one that is rejected',
		path: 'payment',
		body: { ...FULL, amount: 4.22 },
	},
	{
		what: 'one of unknown fate',
		path: 'qrcode',
		body: { ...FULL, amount: 5.03 },
	},
	{
		what: 'the credential’s test',
		path: 'qrcode',
		body: {},
	},
	{
		what: 'no external_id',
		path: 'payment',
		body: { amount: 1 },
	},
	{
		what: 'an amount of text',
		path: 'payment',
		body: { ...FULL, amount: '1' },
	},
	{
		what: 'an external_id that is a number',
		path: 'payment',
		body: { ...FULL, external_id: 1 },
	},
	{
		what: 'an amount of 0',
		path: 'payment',
		body: { ...FULL, amount: 0 },
	},
	{
		what: 'no token',
		path: 'payment',
		body: FULL,
		token: '',
	},
	{
		what: 'a header without its token',
		path: 'payment',
		body: FULL,
		token: 'Bearer',
	},
	{
		what: 'another scheme',
		path: 'payment',
		body: FULL,
		token: 'Basic cHJhY3RpY2U6',
	},
	{
		what: 'a scheme in small letters',
		path: 'payment',
		body: FULL,
		token: 'bearer practice',
	},
])(
	'the sandbox and the practice service say the same of $what',
	async ({ path, body, token = 'Bearer practice' }) => {
		const [before, known] = [receiver.came.length, sandbox.transactions.length];
		const postbackUrl = receiver.url.replace('/postback', '/webhook/1/postback');
		const played = practise(path, { ...body, postbackUrl }, token);
		const headers: Record<string, string> = { Authorization: token };
		const response = await send(sandbox, `/v2/pay/${path}`, { ...body, postbackUrl }, headers);
		expect([played.status, common(played.answer)]).toStrictEqual([
			response.status,
			common(response.body),
		]);
		const made = sandbox.transactions[known];
		// Here a customer pays by a click, there by itself.
		if (made?.kind === 'qrCode') await sandbox.settle(made.id, 'paid');
		await receiver.count(before + played.postbacks.length);
		const reported = (made?.postbacks ?? []).map((postback) => JSON.parse(postback.body) as object);
		expect(played.postbacks.map((postback) => common(postback.body))).toStrictEqual(
			reported.map((postback) => common({ ...postback })),
		);
	},
);
