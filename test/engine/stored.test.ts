import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type IDataObject, type INodeType, type IRun } from 'n8n-workflow';
import { Pay as PayNow } from '../../nodes/Pay/Pay.node';
import { unpack } from '../../lab/versions/unpack';
import {
	arrived,
	CONTINUE,
	errorOf,
	FIELDS,
	itemsFor,
	outcomes,
	outputOf,
	pay,
	payNode,
	runWorkflow,
	sandbox,
	sourceNode,
	to,
	withSandbox,
} from './engine';
import { webhookNode } from './webhook';

/*
 * What n8n keeps of a release is read by the code at hand: an older package writes it, and this one goes on
 * with it. Nobody stores a workflow again because the package was upgraded. Each tarball in test/stored is a
 * release. Before the first one the code at hand is read by a second copy of itself, in another process's place.
 */

const FOLDER = join(__dirname, '..', 'stored');
const CACHE = join(__dirname, '..', '..', '.cache', 'releases');
const TARBALLS = readdirSync(FOLDER).filter((file) => file.endsWith('.tgz'));

/** The Pay node of a release, with a memory of its own. */
function payOf(folder: string): INodeType {
	const loaded: INodeType[] = [];
	jest.isolateModules(() => {
		const { Pay } = jest.requireActual<{ Pay: new () => INodeType }>(folder);
		loaded.push(new Pay());
	});
	return loaded[0]!;
}

const RELEASES = TARBALLS.map((file) => {
	const release = file.replace('.tgz', '');
	// Below this folder, so that the release finds the n8n-workflow of these tests.
	const folder = join(CACHE, release);
	return {
		release,
		load: () => payOf(join(unpack(join(FOLDER, file), '0.0.1', folder), 'dist/nodes/Pay/Pay.node')),
	};
});
RELEASES.push({ release: 'the code at hand', load: () => payOf('../../nodes/Pay/Pay.node') });

withSandbox();

/** As n8n stores an execution, and reads it again. */
const throughDatabase = (run: IRun) => JSON.parse(JSON.stringify(run)) as IRun;

describe.each(RELEASES)('of $release', ({ load }) => {
	const earlier = load();

	/** Has the earlier node run some items, meeting these faults; gives what n8n stores. */
	async function runEarlier(parameters: IDataObject, items: IDataObject[]): Promise<IRun> {
		sandbox.faultFor = ({ body }) => {
			if (body.includes('"unknown"')) return { kind: 'status', status: 503 };
			if (body.includes('"rejected"')) return { kind: 'status', status: 422 };
			return undefined;
		};
		const settings = { onError: 'stopWorkflow' } as const;
		const run = await pay(items, { parameters, settings, pay: earlier });
		sandbox.faultFor = undefined;
		sandbox.received.length = 0;
		return throughDatabase(run);
	}

	test.each<{ kind: string; parameters: IDataObject; sends: string[]; becomes: string[] }>([
		{
			kind: 'payments',
			parameters: { options: { batching: { batch: { batchSize: 3 } } } },
			sends: ['rejected'],
			becomes: ['accepted', 'unknown', 'accepted'],
		},
		{
			kind: 'QR codes',
			parameters: { resource: 'qrCode' },
			sends: ['unknown', 'rejected'],
			becomes: ['accepted', 'accepted', 'accepted'],
		},
	])('an execution with $kind that is run again sends only what it may', async (row) => {
		const items = itemsFor('accepted', 'unknown', 'rejected');
		const previous = await runEarlier(row.parameters, items);
		expect(errorOf(previous)).toBeDefined();
		const { parameters } = row;
		const again = await pay(items, { parameters, previous, settings: CONTINUE });
		expect(outcomes(again)).toStrictEqual(row.becomes);
		const sent = sandbox.received.map(({ body }) => (JSON.parse(body) as IDataObject).external_id);
		expect(sent.sort()).toStrictEqual(row.sends.sort());
	});

	test('a payment that was recorded is not sent again, and one that was not goes out', async () => {
		await runEarlier({}, itemsFor('accepted'));
		const execution = await pay(itemsFor('accepted', 'new'), { settings: CONTINUE });
		expect(outcomes(execution)).toStrictEqual(['duplicate', 'accepted']);
		expect(arrived()).toStrictEqual(['new']);
	});

	test('a trigger takes the signed URL that it gave out', async () => {
		const credential = {
			postbackUrl: 'https://n8n.example.com/webhook/a/postback',
			postbackSecret: 'thirty characters of the test',
		};
		await pay(itemsFor('order-1'), {
			credential,
			parameters: { resource: 'qrCode' },
			pay: earlier,
		});
		const url = String(sandbox.bodies('qrcode')[0]!.postbackUrl);
		const { result } = await webhookNode({ credential: () => credential }).post(url);
		expect(result.workflowData?.[0]?.[0]?.json).toMatchObject({
			reference: { kind: 'qrCode', amount: 1, external_id: 'order-1' },
		});
	});

	test('a wait that began takes its postback, and goes on with "paid" alone', async () => {
		const credential = {
			baseUrl: sandbox.url,
			describeService: true,
			statusField: 'status',
			paidValues: 'paid',
		};
		const charge = payNode('Charge', { resource: 'qrCode', ...FIELDS, postback: 'resume' });
		const wait = payNode('Wait', {
			resource: 'postback',
			operation: 'wait',
			external_id: '={{ $json.external_id }}',
			resumeWhen: 'paid',
		});
		const waiting = await runWorkflow({
			parameters: {},
			credential,
			pay: earlier,
			executionId: '42',
			workflow: {
				nodes: [sourceNode('Source', itemsFor('order-1')), charge, wait],
				connections: { Source: to(['Charge']), Charge: to(['Wait']) },
			},
		});
		expect(waiting.waitTill).toBeInstanceOf(Date);
		const { executionData } = throughDatabase(waiting).data;
		const { awaited } = executionData!.contextData['node:Wait'] as { awaited: IDataObject };
		const [item] = outputOf(waiting, 'Charge');
		const url = String(sandbox.bodies('qrcode')[0]!.postbackUrl);
		const node = webhookNode({ item, awaited, credential: () => credential });
		const pending = await node.post(url, { status: 'pending' });
		expect(pending.result.workflowData).toBeUndefined();
		const paid = await node.post(url, { status: 'paid' });
		expect(paid.result.workflowData?.[0]?.[0]?.json).toMatchObject({
			postback: { reference: { external_id: 'order-1' }, state: 'paid' },
		});
	});

	test('what a workflow leaves out has the default that it had', () => {
		const { properties } = new PayNow().description;
		const missing = earlier.description.properties.filter(({ type, name, default: value }) => {
			if (type === 'hidden' || type === 'notice') return false;
			const now = properties.filter((property) => property.name === name);
			return !now.some((property) => JSON.stringify(property.default) === JSON.stringify(value));
		});
		expect(missing).toStrictEqual([]);
	});
});
