import { randomUUID } from 'node:crypto';
import type { ExecutionError, IDataObject, INodeParameters, IRunExecutionData } from 'n8n-workflow';
import { randomProof, withRandomProof } from '../../nodes/Pay/postback/proof';
import { lineInLog, webhookNode } from '../engine/webhook';

/*
 * n8n hands a request the execution as it was when the request began. What it has stored by the end
 * of the request's body may be another.
 */

const about = { external_id: 'a', kind: 'qrCode', amount: 1 } as const;

/** An execution that waits for a charge's postback, which must say "paid". */
function waiting({
	awaited = {},
	...setting
}: { awaited?: IDataObject; statusOfN8n?: number; parameters?: INodeParameters } = {}) {
	const { url, hash } = withRandomProof('https://a.example/', randomProof());
	const match = { field: ['status'], values: ['paid'] };
	const node = webhookNode({
		...setting,
		item: { json: { external_id: 'a' } },
		awaited: {
			proofs: [{ hash, reference: about, match }],
			given: [hash],
			id: randomUUID(),
			...awaited,
		},
	});
	const query = Object.fromEntries(new URL(url).searchParams);
	/** A postback whose body comes when this is over. */
	const send = async (status: string, late: () => Promise<unknown> = async () => undefined) =>
		await node.call({
			method: 'POST',
			query,
			headers: { 'content-type': 'application/json' },
			readRawBody: async () => {
				await late();
				return Buffer.from(JSON.stringify({ status }));
			},
		});
	return { node, send };
}

const resumes = ({ result }: { result: { workflowData?: unknown } }) =>
	result.workflowData !== undefined;

test('a postback whose body comes when another one has resumed the wait resumes nothing, and may come again (409)', async () => {
	const { send } = waiting();
	const first: unknown[] = [];
	const late = await send('paid', async () => first.push(await send('paid')));
	expect(first).toHaveLength(1);
	expect(resumes(first[0] as Awaited<ReturnType<typeof send>>)).toBe(true);
	expect([late.status, resumes(late)]).toStrictEqual([409, false]);
	expect(late.log).toStrictEqual([
		lineInLog(
			'Pay refused a postback (409): The wait is over: another postback or its time limit let the execution continue',
		),
	]);
});

test('"pending" is told that the wait is over which this process resumed, whatever n8n 1 stored over it', async () => {
	const { send } = waiting();
	expect(resumes(await send('paid'))).toBe(true);
	expect((await send('pending')).status).toBe(409);
});

test('of ten postbacks at once one resumes the wait, and the others may come again (409)', async () => {
	const { send } = waiting();
	const all = await Promise.all(Array.from({ length: 10 }, async () => await send('paid')));
	expect(all.filter(resumes)).toHaveLength(1);
	expect(all.map(({ status }) => status).sort()).toStrictEqual([...Array(9).fill(409), undefined]);
});

/** What another process has made of the execution meanwhile. */
const MEANWHILE: Record<string, (stored: IRunExecutionData) => IRunExecutionData | undefined> = {
	'it goes on': (stored) => ({ ...stored, waitTill: undefined }),
	'it is gone': () => undefined,
	'it was stopped': (stored) => ({
		...stored,
		resultData: { ...stored.resultData, error: new Error('stopped') as ExecutionError },
	}),
	'it waits in another node': (stored) => ({
		...stored,
		resultData: { ...stored.resultData, lastNodeExecuted: 'Approval' },
	}),
	'it waits in this node again': (stored) => {
		const [node = ''] = Object.keys(stored.executionData!.contextData);
		const contextData = { [node]: { awaited: { id: 'the next wait' } } };
		return { ...stored, executionData: { ...stored.executionData!, contextData } };
	},
};

describe.each(Object.entries(MEANWHILE))(
	'an execution of which n8n has stored by the end of a body that %s',
	(_what, meanwhile) => {
		test.each(['paid', 'pending'])(
			'is not resumed by "%s", which may come again',
			async (status) => {
				const { node, send } = waiting();
				const late = async () => void (node.stored = meanwhile(node.stored!));
				const called = await send(status, async () => await late());
				expect([called.status, resumes(called)]).toStrictEqual([409, false]);
			},
		);
	},
);

test('an execution that still waits is resumed by a late body, and not by "pending" (the control)', async () => {
	const { send } = waiting();
	const later = async () => await new Promise((resolve) => setImmediate(resolve));
	const pending = await send('pending', later);
	expect(pending.result).toStrictEqual({
		webhookResponse: 'The execution is still waiting: the field "status" has another value',
	});
	expect(resumes(await send('paid', later))).toBe(true);
});

test('a wait responds as a person chose, to what does not end it too', async () => {
	const responseBody = '{ "status": "received" }';
	const { send } = waiting({ parameters: { options: { responseBody } } });
	const pending = await send('pending');
	expect(pending.result).toStrictEqual({ webhookResponse: responseBody });
	const paid = await send('paid');
	expect(paid.result).toMatchObject({ webhookResponse: responseBody });
	expect(resumes(paid)).toBe(true);
	for (const { headers } of [pending, paid]) {
		expect(headers['content-type']).toBe('application/json');
	}
});

test('a postback whose body ends after the time limit resumes nothing, and may come again (409)', async () => {
	const late = await waiting({ awaited: { until: Date.now() - 1 } }).send('paid');
	expect([late.status, resumes(late)]).toStrictEqual([409, false]);
	const inTime = await waiting({ awaited: { until: Date.now() + 60_000 } }).send('paid');
	expect(resumes(inTime)).toBe(true);
});

test.each([
	{ statusOfN8n: 500, may: true },
	{ statusOfN8n: 200, may: false },
])(
	'where n8n responds $statusOfN8n to the one that resumes, the next may: $may',
	async ({ statusOfN8n, may }) => {
		const { send } = waiting({ statusOfN8n });
		expect(resumes(await send('paid'))).toBe(true);
		expect(resumes(await send('paid'))).toBe(may);
	},
);

test("where n8n's database fails, the sender is told so, and nothing is resumed", async () => {
	const { node, send } = waiting();
	Object.defineProperty(node, 'stored', {
		get: () => {
			throw new Error('connection terminated unexpectedly');
		},
	});
	const called = await send('paid');
	expect([called.status, resumes(called)]).toStrictEqual([500, false]);
});
