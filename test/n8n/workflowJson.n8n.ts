import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { itemsOf, until, webhookPath, type N8n } from '../../dev/n8n';
import {
	call,
	chain,
	noOp,
	pay,
	payTrigger,
	splitItems,
	start,
	type Node,
} from '../../dev/workflow';
import { type Reference, signUrl } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import { valuesAt } from '../../nodes/Pay/service/contract';
import { REGISTERED } from '../serviceOperations';
import { jsonBlocksOf, type JsonBlock, type JsonWorkflow } from '../jsonBlocks';
import { begin, ended, firstExecution, waits } from './chargeAndWait';
import { deliver } from './deliveries';
import {
	allFinished,
	credentialFor,
	errorFactsOf,
	publishTrigger,
	SECRET,
	startN8n,
	VERSIONS,
	withN8n,
	type Credential,
} from './nodes';
import { nightly } from './nightly';

const BLOCKS = jsonBlocksOf(
	readFileSync(join(__dirname, '..', '..', 'docs', 'workflow-json.md'), 'utf8'),
);

/** An item with all that the blocks take from one: an example of each value that any form has. */
function itemOf(id: string) {
	const item: Record<string, unknown> = {};
	for (const { operation, fullForms } of REGISTERED) {
		for (const path of Object.keys(operation.meanings)) {
			const name = path.split('.').at(-1)!;
			item[name] = valuesAt(fullForms[0]!.sent, path)[0];
		}
	}
	return { ...item, amount: '12.50', external_id: id, orderId: id, payoutId: id };
}
const PAID = {
	headers: { 'Content-Type': 'application/json' },
	body: '{"data":{"status":"paid"}}',
};

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));

	/** A node as the document has it, with a credential that is there. */
	const asNode = (block: object) =>
		({
			...block,
			id: randomUUID(),
			...('credentials' in block && { credentials: { payApi } }),
		}) as unknown as Node;
	const postbackUrlOf = async (external_id: string) =>
		await until('the charge', async () =>
			[...sandbox.bodies('qrcode')].find((body) => body.external_id === external_id),
		).then(({ postbackUrl }) => String(postbackUrl));

	describe('docs/workflow-json.md', () => {
		const nodes = BLOCKS.filter((block): block is JsonBlock => block.nodes === undefined);
		const sending = nodes.filter(
			({ type, parameters }) => !type.endsWith('Trigger') && parameters.operation !== 'wait',
		);
		test.each(sending)('$name is accepted: $parameters', async (block) => {
			const id = randomUUID();
			const { executionId } = await begin(
				n8n,
				chain('JSON', [start(), splitItems(), asNode(block)]),
				payApi,
				{ items: [itemOf(id)] },
			);
			const execution = await n8n.finished(executionId);
			expect(itemsOf(execution, block.name)).toMatchObject([
				{ external_id: id, amount: 12.5, outcome: 'accepted' },
			]);
		});

		const waiting = nodes.filter(({ parameters }) => parameters.operation === 'wait');
		test.each(waiting)('$name is ended by its postback: $parameters', async (block) => {
			const external_id = randomUUID();
			const charge = pay('Charge', {
				resource: 'qrCode',
				amount: 1,
				postback: 'resume',
				external_id: '={{ $json.orderId }}',
			});
			const all = [start(), splitItems(), charge, asNode(block), noOp('After')];
			const { executionId } = await begin(n8n, chain('JSON', all), payApi, {
				items: [itemOf(external_id)],
			});
			await waits(n8n, executionId);
			expect(await deliver(await postbackUrlOf(external_id), PAID)).toBe(200);
			const [item] = itemsOf(await ended(n8n, executionId), 'After');
			expect(item).toMatchObject({ postback: { reference: { external_id } } });
		});

		const triggers = nodes.filter(({ type }) => type.endsWith('Trigger'));
		test.each(triggers)('$name takes a postback: $parameters', async (block) => {
			const about: Reference = { external_id: randomUUID(), kind: 'payment', amount: 1 };
			const entry = { ...asNode(block), webhookId: randomUUID() };
			const { id, url } = await publishTrigger(n8n, payApi, entry);
			expect(await deliver(signUrl(url, about, SECRET), PAID)).toBe(200);
			const [execution] = await allFinished(n8n, id, 1);
			expect(itemsOf(execution!, 'After')).toMatchObject([{ reference: about }]);
		});

		const workflows = BLOCKS.filter((block): block is JsonWorkflow => block.nodes !== undefined);
		test.each(workflows)('$name', async (workflow) => {
			const orderId = randomUUID();
			const path = randomUUID();
			const nodes = workflow.nodes.map((each) =>
				each.type === 'n8n-nodes-base.webhook'
					? { ...asNode(each), webhookId: path, parameters: { ...each.parameters, path } }
					: asNode(each),
			);
			const id = await n8n.importWorkflow({ ...workflow, nodes }, {});
			await n8n.activate(id);
			await call(n8n, path, { orderId, amount: '49.90' });
			const executionId = await firstExecution(n8n, id);
			await waits(n8n, executionId);
			expect(await deliver(await postbackUrlOf(orderId), PAID)).toBe(200);
			await ended(n8n, executionId, 'Fulfill');
		});
	});

	test('an amount that an expression gives goes out as it is written, or not at all', async () => {
		const AWKWARD: Array<[given: unknown, sent: number | undefined]> = [
			['10.50', 10.5],
			['10,50', undefined],
			[' 10.50 ', 10.5],
			[10.5, 10.5],
			[0.1 + 0.2, undefined],
			['1.000,50', undefined],
			['1,000', undefined],
			['1e3', undefined],
			['', undefined],
			[null, undefined],
			[undefined, undefined],
			[true, undefined],
			[[1], undefined],
			[{}, undefined],
			[0, undefined],
			['-1', undefined],
		];
		const items = AWKWARD.map(([amount]) => ({ id: randomUUID(), amount }));
		const parameters = { amount: '={{ $json.amount }}', external_id: '={{ $json.id }}' };
		const each = pay('Pay', parameters, { onError: 'continueRegularOutput' });
		const { executionId } = await begin(n8n, chain('JSON', [start(), splitItems(), each]), payApi, {
			items,
		});
		await n8n.finished(executionId);
		const amountOf = (id: string) =>
			sandbox.bodies('payment').find(({ external_id }) => external_id === id)?.amount;
		const sent = items.map(({ id }, at) => [AWKWARD[at]![0], amountOf(id)]);
		expect(sent).toStrictEqual(AWKWARD);
	});

	/** Nodes as a language model writes them from a description: each works, or says what to change. */
	describe('as a language model writes it', () => {
		const charge = (parameters: object, more: object = {}) => ({
			...pay('Pay', {
				resource: 'qrCode',
				operation: 'create',
				amount: '49.90',
				external_id: '={{ $json.orderId }}',
				options: {},
				...parameters,
			}),
			...more,
		});
		const payment = (parameters: object) =>
			charge({ resource: 'payment', creditParty: { key: 'ana@example.com' }, ...parameters });
		const waitFor = (parameters: object) => ({
			...charge({ postback: 'resume' }),
			then: pay('Wait', { resource: 'postback', operation: 'wait', options: {}, ...parameters }),
		});
		type Variant = Node & { then?: Node };

		test.each<[string, () => Variant]>([
			['empty options', () => charge({})],
			['a number as amount', () => charge({ amount: 49.9 })],
			[
				'a decimal comma, with the option',
				() => charge({ amount: '49,90', options: { decimalSign: 'comma' } }),
			],
			['an amount from the item', () => payment({ amount: '={{ $json.amount }}' })],
			['empty collections', () => charge({ payer: {}, specifySplit: 'none', split: {} })],
			['no operation, which is the default one', () => charge({ operation: undefined })],
			['members that the form does not have', () => charge({ currency: 'BRL', notify: true })],
			[
				'a key type in capitals',
				() => payment({ creditParty: { key: 'a@b.c', keyType: 'EMAIL' } }),
			],
			['another type version', () => charge({}, { typeVersion: 1.1 })],
			['a retry', () => charge({}, { retryOnFail: true, maxTries: 3 })],
		])('%s: accepted', async (_, variant) => {
			const id = randomUUID();
			const nodes = [start(), splitItems(), variant()];
			const { executionId } = await begin(n8n, chain('JSON', nodes), payApi, {
				items: [itemOf(id)],
			});
			const execution = await n8n.finished(executionId);
			expect(execution.data.resultData.error?.message).toBeUndefined();
			expect(itemsOf(execution, 'Pay')).toMatchObject([{ external_id: id, outcome: 'accepted' }]);
		});

		// Every value that a field refuses: test/fields and test/engine/values.test.ts.
		test.each<{ what: string; variant: () => Variant; field: string }>([
			{
				what: 'a resource in small letters',
				variant: () => charge({ resource: 'qrcode' }),
				field: 'resource',
			},
			{
				what: 'a recipient one level too deep',
				variant: () => payment({ creditParty: { fields: { key: 'a' } } }),
				field: 'creditParty',
			},
			{
				what: 'a recipient in one expression',
				variant: () => payment({ creditParty: '={{ $json }}' }),
				field: 'creditParty',
			},
		])('$what: nothing is sent, and the error names the field', async ({ variant, field }) => {
			const id = randomUUID();
			const nodes = [start(), splitItems(), variant()];
			const { executionId } = await begin(n8n, chain('JSON', nodes), payApi, {
				items: [itemOf(id)],
			});
			expect(errorFactsOf(await n8n.finished(executionId))).toMatchObject({ field });
			const all = [...sandbox.bodies('qrcode'), ...sandbox.bodies('payment')];
			expect(all.filter(({ external_id }) => external_id === id)).toStrictEqual([]);
		});

		test.each(['amount', 'external_id'])('no %s: n8n itself does not let it run', async (name) => {
			const id = randomUUID();
			const nodes = [start(), splitItems(), charge({ [name]: undefined })];
			const before = sandbox.bodies('qrcode').length;
			const outcome = begin(n8n, chain('JSON', nodes), payApi, { items: [itemOf(id)] }).then(
				async ({ executionId }) => (await n8n.finished(executionId)).data.resultData.error?.message,
				(error: Error) => error.message,
			);
			const N8N_2 = new RegExp(`Missing or invalid required parameters: ${name}`);
			expect(await outcome).toMatch(version === 'n8n2' ? N8N_2 : /^The workflow has issues/);
			expect(sandbox.bodies('qrcode')).toHaveLength(before);
		});

		test('a wait with empty options takes the postback of its charge', async () => {
			const id = randomUUID();
			const { then, ...first } = waitFor({});
			const nodes = [start(), splitItems(), first as Node, then, noOp('After')];
			const { executionId } = await begin(n8n, chain('JSON', nodes), payApi, {
				items: [itemOf(id)],
			});
			await waits(n8n, executionId);
			expect(await deliver(await postbackUrlOf(id), PAID)).toBe(200);
			await ended(n8n, executionId);
		});

		test.each<[string, object]>([
			['no webhookId', { webhookId: undefined, name: 'Postbacks' }],
			['empty options', { parameters: { options: {} } }],
			[
				'values in one text',
				{ parameters: { startWhen: 'match', matchField: 'data.status', matchValues: 'paid' } },
			],
		])('a trigger with %s takes a postback', async (_, more) => {
			const entry = { ...payTrigger(), ...more };
			const id = await n8n.importWorkflow(chain('Trigger', [entry, noOp('After')]), { payApi });
			await n8n.publish(id);
			const about: Reference = { external_id: randomUUID(), kind: 'payment', amount: 1 };
			// n8n 2 gives a node an address of its own when it saves it, n8n 1 one of its name.
			const [saved] = (await n8n.workflow(id)).nodes;
			const path =
				saved!.webhookId === undefined ? `/webhook/${id}/postbacks/postback` : webhookPath(saved!);
			const signed = signUrl(n8n.url + path, about, SECRET);
			const taken = async () => (await deliver(signed, PAID)) === 200;
			expect(await until('its address', taken, 30)).toBe(true);
			const [execution] = await allFinished(n8n, id, 1);
			expect(itemsOf(execution!, 'After')).toMatchObject([{ reference: about }]);
		});

		nightly.test(
			'a trigger with empty options that the command line imports and publishes lives after a start',
			async () => {
				const own = await startN8n(version);
				const payApi = await credentialFor(sandbox, own);
				const entry = { ...payTrigger(), parameters: { options: {} }, credentials: { payApi } };
				const id = randomUUID().slice(0, 16);
				const file = join(own.userFolder, 'workflow.json');
				const workflow = chain('Imported', [entry, noOp('After')]);
				writeFileSync(file, JSON.stringify([{ id, active: false, settings: {}, ...workflow }]));
				await own.kill();
				await own.command('import:workflow', `--input=${file}`);
				if (version === 'n8n2') await own.command('publish:workflow', `--id=${id}`);
				else await own.command('update:workflow', `--id=${id}`, '--active=true');
				await own.launch();
				const about: Reference = { external_id: randomUUID(), kind: 'payment', amount: 1 };
				const signed = signUrl(own.url + webhookPath(entry)!, about, SECRET);
				const taken = async () => (await deliver(signed, PAID)) === 200;
				expect(await until('its address', taken, 60)).toBe(true);
				const [execution] = await allFinished(own, id, 1);
				expect(itemsOf(execution!, 'After')).toMatchObject([{ reference: about }]);
				await own.stop();
			},
		);
	});
});
