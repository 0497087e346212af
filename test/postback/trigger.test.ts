import type { IWebhookFunctions } from 'n8n-workflow';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import { signUrl } from '../../nodes/Pay/postback/proof';

/** A trigger of its own in each test: what one remembers is of no use to another. */
let count = 0;

/** The part of n8n's context that a postback uses, with a credential that can be changed. */
function triggerWith(credential: { postbackSecret?: string }) {
	const workflow = { id: `workflow-${count++}` };
	const reads = { count: 0 };
	const trigger = new PayTrigger();
	const receive = async (secret: string | undefined) => {
		const reference = { external_id: 'a', kind: 'payment', amount: 1 } as const;
		const bare = 'https://n8n.example.com/webhook/x/postback';
		const url = new URL(secret === undefined ? bare : signUrl(bare, reference, secret));
		let answered: number | undefined;
		const response = {
			status(code: number) {
				answered = code;
				return response;
			},
			json: () => response,
		};
		const context = {
			getNode: () => ({ name: 'Pay Trigger', credentials: { payApi: { id: '1' } } }),
			getWorkflow: () => workflow,
			getNodeParameter: () => 'signedUrl',
			getCredentials: async () => {
				reads.count++;
				return { ...credential };
			},
			getQueryData: () => Object.fromEntries(url.searchParams),
			getHeaderData: () => ({}),
			getBodyData: () => ({}),
			getRequestObject: () => ({ method: 'POST', rawBody: Buffer.from('{}') }),
			getResponseObject: () => response,
			logger: { warn: () => undefined },
		};
		const { workflowData } = await trigger.webhook.call(context as unknown as IWebhookFunctions);
		return workflowData === undefined ? answered : 200;
	};
	return { receive, reads };
}

describe('the secret that the trigger keeps for ten seconds', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	test('is read once for many genuine postbacks, and again later', async () => {
		const { receive, reads } = triggerWith({ postbackSecret: 'one' });
		for (let each = 0; each < 5; each++) expect(await receive('one')).toBe(200);
		expect(reads.count).toBe(1);
		jest.advanceTimersByTime(10_000);
		expect(await receive('one')).toBe(200);
		expect(reads.count).toBe(2);
	});

	test('a new one is taken at once, and the old one refused from then on', async () => {
		const credential = { postbackSecret: 'old' };
		const { receive } = triggerWith(credential);
		expect(await receive('old')).toBe(200);
		credential.postbackSecret = 'new';
		expect(await receive('new')).toBe(200);
		expect(await receive('old')).toBe(401);
	});

	test('a removed one is taken for ten seconds at most', async () => {
		const credential: { postbackSecret?: string } = { postbackSecret: 'old' };
		const { receive } = triggerWith(credential);
		expect(await receive('old')).toBe(200);
		delete credential.postbackSecret;
		jest.advanceTimersByTime(10_000);
		expect(await receive('old')).toBe(401);
		expect(await receive(undefined)).toBe(401);
	});

	test('is never taken from another workflow', async () => {
		expect(await triggerWith({ postbackSecret: 'one' }).receive('one')).toBe(200);
		expect(await triggerWith({}).receive('one')).toBe(401);
	});
});
