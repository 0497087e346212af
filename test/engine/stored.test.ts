import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
	createRunExecutionData,
	NodeHelpers,
	type IDataObject,
	type IExecuteFunctions,
	type IHttpRequestOptions,
	type INodeParameters,
	type INodeProperties,
	type IRun,
} from 'n8n-workflow';
import { PayApi } from '../../credentials/PayApi.credentials';
import { Pay } from '../../nodes/Pay/Pay.node';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import {
	CONTINUE,
	errorOf,
	outcomes,
	payNode,
	runWorkflow,
	sandbox,
	sourceNode,
	store,
	to,
	withSandbox,
	workflowId,
	resultsOf,
} from './engine';
import { webhookNode } from './webhook';

/*
 * What n8n keeps of each release, as text that is never rewritten, read with the code at hand: nobody
 * stores a workflow again because the package was upgraded.
 */

/** The flow context of an execution, by n8n's name for it. */
type Context = Record<'flow', IDataObject>;

interface Stored {
	credential: { baseUrl: string; postbackUrl: string; postbackSecret: string };
	/** By class: what is stored where all is left out that has its default, and what is read then. */
	defaults: Record<string, Array<{ stored: INodeParameters; read: INodeParameters }>>;
	/** Parameters of a Pay node as stored, and the request that they make. */
	workflows: Record<string, { parameters: INodeParameters; path: string; body: string }>;
	/** An execution that is run again, by kind: what of its items is sent, and what each comes to. */
	ledger: Record<
		string,
		{
			context: Context;
			parameters: INodeParameters;
			items: string[];
			sends: string[];
			outcomes: string[];
		}
	>;
	/** What was handed to n8n's duplicate store for a payment "paid". */
	remembered: Record<'scope' | 'options' | 'values', never>;
	/** Signed URLs, and some with a longer list, as a later release may sign it. */
	postbacks: {
		reference: IDataObject;
		trigger: Record<string, string>;
		wait: { context: Context; awaited: IDataObject; urls: Record<string, string> };
	};
}

const FOLDER = join(__dirname, '..', 'stored');
const FILES = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
const RELEASES = FILES.map((file): [string, Stored] => [
	file.replace('.json', ''),
	JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Stored,
]);

withSandbox();

describe.each(RELEASES)('of %s', (_release, stored) => {
	const { credential, defaults, workflows, ledger, remembered, postbacks } = stored;

	/** Sends what goes to the stored address to the sandbox: fingerprints hold that address. */
	const context = ({ helpers }: IExecuteFunctions) => ({
		helpers: {
			...helpers,
			httpRequest: async (request: IHttpRequestOptions) =>
				(await helpers.httpRequest({
					...request,
					url: request.url.replace(credential.baseUrl, sandbox.url),
				})) as unknown,
		},
	});

	/** Runs a Pay node with parameters as they are stored, in an execution that may have begun. */
	async function run(
		parameters: INodeParameters,
		items: IDataObject[],
		contextData = {},
		executionId?: string,
	) {
		const source = sourceNode('Source', items);
		const pay = { ...payNode('Pay', {}, CONTINUE), parameters };
		const data = createRunExecutionData({
			executionData: {
				contextData: structuredClone(contextData),
				nodeExecutionStack: [{ node: source, data: { main: [[{ json: {} }]] }, source: null }],
			},
		});
		return await runWorkflow({
			executionId,
			parameters: {},
			credential,
			context,
			previous: { data } as IRun,
			workflow: { nodes: [source, pay], connections: { Source: to(['Pay']) } },
		});
	}

	const sent = () =>
		sandbox.received.map(({ body }) => (JSON.parse(body) as IDataObject).external_id);

	// A hidden field hands a collection on as it was typed: its readers know the defaults inside.
	const shown = ({ description }: Pay | PayTrigger) =>
		description.properties.filter(({ type }) => type !== 'hidden');
	const forms: Record<string, INodeProperties[]> = {
		Pay: shown(new Pay()),
		PayTrigger: shown(new PayTrigger()),
		PayApi: new PayApi().properties,
	};
	test.each(
		Object.entries(defaults).flatMap(([name, rows]) =>
			rows.map((row) => ({ name, ...row, what: JSON.stringify(row.stored) })),
		),
	)('$name: what is left out of $what has the default that it had', (row) => {
		const node = { typeVersion: 1 } as never;
		const form = { properties: forms[row.name] } as never;
		// Fields that the credential's switches hide keep their defaults too.
		const withHidden = row.name === 'PayApi';
		const all = NodeHelpers.getNodeParameters(
			forms[row.name]!,
			row.stored,
			true,
			withHidden,
			node,
			form,
		);
		expect(all).toMatchObject(row.read);
	});

	const { 'a payment, nothing but what is required': keyless, ...others } = workflows;

	test('a payment without a Key, which 0.1.0 sent, is refused', async () => {
		const execution = await run(keyless!.parameters, [{ id: 'order-1', amount: 49.9 }]);
		expect(resultsOf(execution)).toMatchObject([{ outcome: 'notSent', field: 'creditParty.key' }]);
		expect(sandbox.received).toStrictEqual([]);
	});

	test.each(Object.entries(others))('%s sends what it sent', async (_name, workflow) => {
		const execution = await run(workflow.parameters, [{ id: 'order-1', amount: 49.9 }]);
		expect(outcomes(execution)).toStrictEqual(['accepted']);
		expect(sandbox.received.map(({ path, body }) => ({ path, body }))).toStrictEqual([
			{ path: workflow.path, body: workflow.body },
		]);
	});

	test.each(Object.entries(ledger))(
		'an execution that is run again (%s) sends only what it may',
		async (_kind, { context: begun, parameters, items, sends, outcomes: expected }) => {
			const execution = await run(
				parameters,
				items.map((id) => ({ id })),
				begun,
			);
			expect(outcomes(execution)).toStrictEqual(expected);
			expect(sent()).toStrictEqual(sends);
		},
	);

	test('a payment that is remembered is not sent again, and one that is not goes out', async () => {
		const at = { workflow: { id: workflowId() }, node: payNode('Pay', {}) };
		const { scope, options, values } = remembered;
		await store.checkProcessedAndRecord(values, scope, at as never, options);
		const { parameters } = ledger.payment!;
		const execution = await run(parameters, [{ id: 'paid' }, { id: 'new' }]);
		expect(outcomes(execution)).toStrictEqual(['duplicate', 'accepted']);
		expect(sent()).toStrictEqual(['new']);
	});

	const deliver = async (url: string, more: Parameters<typeof webhookNode>[0] = {}) =>
		await webhookNode({ ...more, credential: () => credential }).post(url);

	test.each(Object.entries(postbacks.trigger))('a trigger takes %s', async (_name, url) => {
		const { result } = await deliver(url);
		expect(result.workflowData?.[0]?.[0]?.json).toMatchObject({ reference: postbacks.reference });
	});

	test('an execution that asked for its postback begins to wait', async () => {
		const { external_id } = postbacks.reference;
		const parameters = { resource: 'postback', operation: 'wait' };
		const execution = await run(parameters, [{ external_id }], postbacks.wait.context, '42');
		expect(errorOf(execution)).toBeUndefined();
		expect(execution.waitTill).toBeInstanceOf(Date);
		expect((await run(parameters, [{ external_id }], {}, '42')).waitTill).toBeUndefined();
	});
});
