import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { randomProof, signUrl, withRandomProof } from '../../nodes/Pay/postback/proof';
import { webhookNode } from '../engine/webhook';

const SECRET = 'thirty random characters of one';
const CHARGE = { external_id: 'a', kind: 'qrCode', amount: 10 };
/** A list of charges, of which the last one is "a" and paid. */
function pix(length: number): IDataObject[] {
	const entries = Array.from({ length }, (_, at) => ({ txid: String(at), status: 'pending' }));
	return [...entries.slice(1), { txid: 'a', status: 'paid' }];
}

const DESCRIBED = {
	describeService: true,
	statusField: 'pix[].status',
	paidValues: 'paid',
	failedValues: 'failed',
	idField: 'pix[].txid',
};

/** A trigger whose addresses a Pay node signs. */
function signedTrigger(credential: IDataObject, parameters: IDataObject) {
	const node = webhookNode({
		credential: () => ({ postbackSecret: SECRET, ...credential }),
		parameters: parameters as never,
	});
	const url = signUrl('https://n8n.example.com/webhook/x/postback', CHARGE, SECRET);
	return async (body: IDataObject) => await node.post(url, body);
}

/** A wait for the charge, with the words of its account. */
function waitForPaid() {
	const { url, hash } = withRandomProof('https://a.example/', randomProof());
	const status = {
		field: ['pix[].status'],
		paid: ['paid'],
		failed: ['failed'],
		idField: ['pix[].txid'],
	};
	const match = { states: ['paid'] };
	const node = webhookNode({
		item: { json: { external_id: 'a' } },
		awaited: {
			proofs: [{ hash, reference: CHARGE, match, status }],
			given: [hash],
			id: randomUUID(),
		},
	});
	return async (body: IDataObject) => await node.post(url, body);
}

const MATCH = { startWhen: 'match', matchField: 'lines[].sku', matchValues: ['paid'] };

test.each<{ what: string; post: () => ReturnType<typeof signedTrigger>; list: string }>([
	{
		what: 'a trigger with a signed URL, by its words for the state',
		post: () => signedTrigger(DESCRIBED, { startWhen: 'paid' }),
		list: 'pix',
	},
	{
		what: 'a trigger with a signed URL, by its list of refunds',
		post: () => signedTrigger({ ...DESCRIBED, refundField: 'refunds[].status' }, {}),
		list: 'refunds',
	},
	{
		what: 'a trigger with a signed URL, by a field of its own',
		post: () => signedTrigger({ ...DESCRIBED, idField: 'pix[].txid\nlines[].txid' }, MATCH),
		list: 'lines',
	},
	{ what: 'a wait', post: waitForPaid, list: 'pix' },
])('of a list of more than 1,000 entries nothing is judged: $what', async ({ post, list }) => {
	const entries = (length: number) => pix(length).map((entry) => ({ ...entry, sku: entry.status }));
	const paid = { pix: [{ txid: 'a', status: 'paid' }] };
	const more = await post()({ ...paid, [list]: entries(1001) });
	expect([more.status, more.body]).toStrictEqual([
		413,
		{ message: 'The list has too many entries' },
	]);
	expect(more.log[0]).toContain('Pay refused a postback (413): The list has too many entries');
	expect(more.result).toStrictEqual({ noWebhookResponse: true });
	const length = list === 'pix' ? 1000 : 999;
	const most = await post()({ ...paid, [list]: entries(length) });
	expect(most.result.workflowData).toHaveLength(1);
});
