import type { IDataObject } from 'n8n-workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { webhookNode } from '../engine/webhook';

/** A trigger of its own in each test: what one remembers is of no use to another. */
let count = 0;

/** A trigger with a credential that can be changed, and how often it was read. */
function triggerWith(credential: IDataObject) {
	const reads = { count: 0 };
	const node = webhookNode({
		workflowId: `workflow-${count++}`,
		credential: () => {
			reads.count++;
			return { ...credential };
		},
	});
	const receive = async (secret: string | undefined) => {
		const reference = { external_id: 'a', kind: 'payment', amount: 1 } as const;
		const bare = 'https://n8n.example.com/webhook/x/postback';
		const url = new URL(secret === undefined ? bare : signUrl(bare, reference, secret));
		const { result, status } = await node.call({
			method: 'POST',
			query: Object.fromEntries(url.searchParams),
			headers: {},
			rawBody: Buffer.from('{}'),
		});
		return result.workflowData === undefined ? status : 200;
	};
	return { receive, reads };
}

describe('the secrets that the trigger keeps for ten seconds', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	test('are read once for many genuine postbacks, and again later', async () => {
		const { receive, reads } = triggerWith({ postbackSecret: 'one' });
		for (let each = 0; each < 5; each++) expect(await receive('one')).toBe(200);
		expect(reads.count).toBe(1);
		jest.advanceTimersByTime(10_000);
		expect(await receive('one')).toBe(200);
		expect(reads.count).toBe(2);
	});

	test('a new one is taken at once, and the old one refused from then on', async () => {
		const credential: IDataObject = { postbackSecret: 'old' };
		const { receive } = triggerWith(credential);
		expect(await receive('old')).toBe(200);
		credential.postbackSecret = 'new';
		expect(await receive('new')).toBe(200);
		expect(await receive('old')).toBe(401);
	});

	test('the previous one is taken as long as it is entered', async () => {
		const credential: IDataObject = { postbackSecret: 'new', previousPostbackSecret: 'old' };
		const { receive } = triggerWith(credential);
		expect(await receive('old')).toBe(200);
		expect(await receive('new')).toBe(200);
		delete credential.previousPostbackSecret;
		jest.advanceTimersByTime(10_000);
		expect(await receive('old')).toBe(401);
	});

	test.each([0, -3_600_000])(
		'a removed one is taken for ten seconds at most, the wall clock set by %d ms',
		async (change) => {
			const credential: IDataObject = { postbackSecret: 'old' };
			const { receive } = triggerWith(credential);
			expect(await receive('old')).toBe(200);
			delete credential.postbackSecret;
			jest.setSystemTime(Date.now() + change);
			jest.advanceTimersByTime(10_000);
			expect(await receive('old')).toBe(401);
			expect(await receive(undefined)).toBe(401);
		},
	);

	test('are never taken from another workflow', async () => {
		expect(await triggerWith({ postbackSecret: 'one' }).receive('one')).toBe(200);
		expect(await triggerWith({}).receive('one')).toBe(401);
	});

	test('of a thousand and one triggers, the first is read again', async () => {
		const first = triggerWith({ postbackSecret: 'one' });
		await first.receive('one');
		for (let other = 0; other < 999; other++) {
			await triggerWith({ postbackSecret: 'one' }).receive('one');
		}
		await first.receive('one');
		expect(first.reads.count).toBe(1);
		await triggerWith({ postbackSecret: 'one' }).receive('one');
		await first.receive('one');
		expect(first.reads.count).toBe(2);
	});
});
