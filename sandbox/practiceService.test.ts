import { example } from '../dev/demo';
import { Sandbox } from './service';
import { requestPath } from '../nodes/Pay/service/contract';
import { FULL_FORMS, READ_REQUEST, REGISTERED, type Kind } from '../test/serviceOperations';
import { send } from './caller';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await Sandbox.start({ amountsAct: true, settlePaymentsAfter: 20 });
});
afterAll(async () => await sandbox.close());

const { jsCode } = example('practice-service').nodes.find(
	({ name }) => name === 'What the service does',
)!.parameters as { jsCode: string };

/** The status with which the practice service's code, run as n8n's Code node does, responds to a request. */
function statusOf(path: string, body: object): number {
	const webhookUrl = `https://n8n.example.com/webhook/v2/pay/${path}`;
	const play = new Function('$json', '$execution', jsCode) as (...given: object[]) => {
		status: number;
	};
	return play({ headers: { authorization: 'Bearer practice' }, body, webhookUrl }, { id: '17' })
		.status;
}

/** The body of an operation's form, every field of it filled in. */
function fullBody(kind: Kind): object {
	return READ_REQUEST[kind]((name) => FULL_FORMS[kind][name]);
}

describe.each(REGISTERED.map(({ operation }) => [operation.kind as Kind, operation] as const))(
	'%s',
	(kind, operation) => {
		const path = requestPath(operation, 'pay');

		test('the sandbox carries it out, or says in JSON why not', async () => {
			const { headers } = await send(sandbox, path, fullBody(kind));
			expect(headers.get('Content-Type')).toMatch(/^application\/json/);
		});

		test('the practice service takes its body', () => {
			expect(statusOf(operation.path, fullBody(kind))).not.toBe(422);
		});
	},
);
