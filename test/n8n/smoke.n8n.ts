import { randomUUID } from 'node:crypto';
import { itemsOf, type N8n } from '../../dev/n8n';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { ended, startWaiting } from './chargeAndWait';
import { deliver } from './deliveries';
import {
	allFinished,
	credentialFor,
	newIds,
	outcomesOf,
	payEach,
	publish,
	publishTrigger,
	SECRET,
	startN8n,
	type Credential,
} from './nodes';

/* What the gate asks of n8n 1, where the night runs all: that each node and operation works, and once. */
describe('n8n 1', () => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	beforeAll(async () => {
		sandbox = await Sandbox.start();
		n8n = await startN8n('n8n1');
		payApi = await credentialFor(sandbox, n8n);
	});
	afterAll(async () => {
		await n8n?.stop();
		await sandbox?.close();
	});
	beforeEach(() => {
		sandbox.received.length = 0;
		sandbox.faultFor = undefined;
	});

	const CONTINUES = { onError: 'continueRegularOutput' };
	const sentIds = () => sandbox.bodies('payment').map(({ external_id }) => external_id);

	test('a list is paid, and a second execution refuses all of it', async () => {
		const { run } = await publish(n8n, payEach({}, CONTINUES), payApi);
		const ids = newIds(3);
		const items = ids.map((id) => ({ id }));
		expect(outcomesOf(await run(...items))).toStrictEqual(['accepted', 'accepted', 'accepted']);
		expect(outcomesOf(await run(...items))).toStrictEqual(['duplicate', 'duplicate', 'duplicate']);
		expect(sentIds()).toStrictEqual(ids);
	});

	test('a payment whose response is lost is not sent again by Retry On Fail', async () => {
		const { run } = await publish(n8n, payEach({}, { retryOnFail: true, maxTries: 3 }), payApi);
		const [id] = newIds(1);
		sandbox.faultFor = () => ({ kind: 'reset-after-body' });
		expect((await run({ id })).status).toBe('error');
		expect(sentIds()).toStrictEqual([id]);
	});

	test('a wait is resumed by the postback of its charge, and by nothing else', async () => {
		const waiting = await startWaiting(n8n, sandbox, payApi);
		expect(await deliver(waiting.bare)).toBe(401);
		expect((await n8n.execution(waiting.executionId)).status).toBe('waiting');
		expect(await deliver(waiting.url)).toBe(200);
		const [item] = itemsOf(await ended(n8n, waiting.executionId), 'After');
		expect(item).toMatchObject({ postback: { reference: waiting.about } });
	});

	test('a trigger starts at a postback with a proof, and at no other', async () => {
		const { id, url } = await publishTrigger(n8n, payApi);
		const about = { external_id: randomUUID(), kind: 'payment', amount: 1 } as const;
		expect(await deliver(url)).toBe(401);
		expect(await deliver(signUrl(url, about, SECRET))).toBe(200);
		const executions = await allFinished(n8n, id, 1);
		expect(executions).toHaveLength(1);
		expect(itemsOf(executions[0]!, 'After')).toMatchObject([{ reference: about }]);
	});
});
