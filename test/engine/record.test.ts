import type { IDataObject, IExecuteFunctions, INode, IRun } from 'n8n-workflow';
import { acceptedBefore, recordedBefore } from '../../nodes/Pay/run/refusals';
import { OPERATIONS } from '../serviceOperations';
import {
	arrived,
	CONTINUE,
	errorOf,
	faultOnce,
	FIELDS,
	forget,
	itemsFor,
	outcomes,
	pay,
	payNode,
	resultsOf,
	sandbox,
	sourceNode,
	store,
	storeHooks,
	to,
	withSandbox,
	workflowId,
} from './engine';

withSandbox();

/** A workflow in which several Pay nodes stand one behind the other, each with items of its own. */
function nodesInTurn(...lists: Array<[name: string, ids: string[]]>) {
	const nodes: INode[] = [sourceNode('Source', [{}])];
	const connections: Record<string, ReturnType<typeof to>> = {};
	let last = 'Source';
	for (const [name, ids] of lists) {
		nodes.push(sourceNode(`For ${name}`, itemsFor(...ids)), payNode(name, FIELDS, CONTINUE));
		connections[last] = to([`For ${name}`]);
		connections[`For ${name}`] = to([name]);
		last = name;
	}
	return { workflow: { nodes, connections } };
}

describe("the record belongs to the workflow, whatever becomes of a node's id", () => {
	test('a list is not paid again by a node that was given another id', async () => {
		const list = itemsFor('a', 'b', 'c');
		await pay(list, { settings: { ...CONTINUE, id: 'as it was drawn' } });
		const again = await pay(list, { settings: { ...CONTINUE, id: 'after a deployment' } });
		expect(outcomes(again)).toStrictEqual(['duplicate', 'duplicate', 'duplicate']);
		expect(arrived()).toStrictEqual(['a', 'b', 'c']);
	});

	test('another workflow id is another record: the same list is paid again', async () => {
		const list = itemsFor('a');
		await pay(list);
		const before = workflowId();
		forget();
		expect(workflowId()).not.toBe(before);
		expect(outcomes(await pay(list))).toStrictEqual(['accepted']);
		expect(arrived()).toStrictEqual(['a', 'a']);
	});
});

describe('a list that is run again', () => {
	const { words } = OPERATIONS.payment;
	const said = (run: IRun) => resultsOf(run).map(({ message }) => message);

	test('says of what was accepted that it was, and of what was lost that it may have been', async () => {
		faultOnce(500, 'lost');
		const list = itemsFor('a', 'lost', 'b');
		await pay(list, { settings: CONTINUE });
		for (let again = 0; again < 2; again++) {
			const run = await pay([...list, ...itemsFor(`new ${again}`)], { settings: CONTINUE });
			expect(outcomes(run)).toStrictEqual(['duplicate', 'duplicate', 'duplicate', 'accepted']);
			expect(said(run).slice(0, 3)).toStrictEqual([
				acceptedBefore(words, 'a').message,
				recordedBefore(words, 'lost').message,
				acceptedBefore(words, 'b').message,
			]);
		}
		expect(arrived()).toStrictEqual(['a', 'lost', 'b', 'new 0', 'new 1']);
	});

	test('which stops at its first duplicate says so too', async () => {
		await pay(itemsFor('a'));
		const error = errorOf(await pay(itemsFor('a', 'b')));
		expect(error?.message).toBe(acceptedBefore(words, 'a').message);
		expect(error?.description).toContain('Check your statement to see whether it was paid.');
		expect(arrived()).toStrictEqual(['a']);
	});

	test('is paid all the same where marks cannot be written or read: it may have been', async () => {
		// A mark goes into a row of the node's own.
		storeHooks.before = (_moment, { node }) => {
			if (isMarking) throw new Error(`no row of ${node?.name}`);
		};
		let isMarking = false;
		const helpers = (context: IExecuteFunctions) => {
			const { checkProcessedAndRecord } = context.helpers;
			const failing: typeof checkProcessedAndRecord = async (keys, scope, options) => {
				isMarking = scope === 'node';
				return await checkProcessedAndRecord(keys, scope, options).finally(
					() => (isMarking = false),
				);
			};
			return { helpers: { ...context.helpers, checkProcessedAndRecord: failing } };
		};
		const first = await pay(itemsFor('a', 'b'), { settings: CONTINUE, context: helpers });
		expect(outcomes(first)).toStrictEqual(['accepted', 'accepted']);
		const again = await pay(itemsFor('a'), { settings: CONTINUE, context: helpers });
		expect(said(again)).toStrictEqual([recordedBefore(words, 'a').message]);
	});
});

describe('two Pay nodes of one workflow', () => {
	test('for two companies whose invoices have one number: the second is refused with what to do', async () => {
		await pay([], nodesInTurn(['Acme', ['1001']]));
		const run = await pay([], nodesInTurn(['Globex', ['1001', 'globex-1001']]));
		expect(outcomes(run, 'Globex')).toStrictEqual(['duplicate', 'accepted']);
		const { message, advice } = recordedBefore(OPERATIONS.payment.words, '1001');
		const [refused] = resultsOf(run, 'Globex');
		expect(refused!.message).toBe(message);
		expect(refused!.description).toContain(advice);
		expect(advice).toContain(
			'If this is another payment, start its External ID with something of its own, such as the company: acme-1001.',
		);
		expect(arrived()).toStrictEqual(['1001', 'globex-1001']);
	});

	test('an approval with two branches: what one provider rejected, the other one sends', async () => {
		faultOnce(422, '1001');
		const run = await pay([], nodesInTurn(['First provider', ['1001']], ['Other', ['1001']]));
		expect(outcomes(run, 'First provider')).toStrictEqual(['rejected']);
		expect(outcomes(run, 'Other')).toStrictEqual(['accepted']);
		// In a later execution, too.
		faultOnce(422, '1002');
		await pay([], nodesInTurn(['First provider', ['1002']]));
		const later = await pay([], nodesInTurn(['Other', ['1002']]));
		expect(outcomes(later, 'Other')).toStrictEqual(['accepted']);
	});

	test('the second one of an execution drops nothing of a full list: it may ask for the oldest', async () => {
		const keys = Array.from({ length: 12_000 }, (_, index) => `payment ${index}`);
		const place = { workflow: { id: workflowId(), active: false } };
		await store.checkProcessedAndRecord(keys, 'workflow', place, { mode: 'entries' });
		await pay([], nodesInTurn(['Pay', ['a']]));
		expect(store.list(place)).toHaveLength(11_999);
		await pay([], nodesInTurn(['Pay', ['b']], ['Pay again', ['c']]));
		// The first one dropped two again, the second one none.
		expect(store.list(place)).toHaveLength(11_999);
	});
});

describe('a Remove Duplicates node of the workflow', () => {
	const removeDuplicates = (parameters: IDataObject, more: Partial<INode> = {}): INode => ({
		id: 'remove',
		name: 'New rows only',
		type: 'n8n-nodes-base.removeDuplicates',
		typeVersion: 2,
		position: [0, 0],
		parameters: parameters as INode['parameters'],
		...more,
	});
	const beside = (other: INode) => {
		const nodes = [sourceNode('Source', itemsFor('a')), payNode('Pay', FIELDS), other];
		return { workflow: { nodes, connections: { Source: to(['Pay']) } } };
	};
	const SEEN = 'removeItemsSeenInPreviousExecutions';
	const CLEAR = 'clearDeduplicationHistory';
	const WORKFLOW = { scope: 'workflow' };

	test.each<{ what: string; other: INode }>([
		{ what: 'remembers', other: removeDuplicates({ operation: SEEN, options: WORKFLOW }) },
		{ what: 'clears', other: removeDuplicates({ operation: CLEAR, options: WORKFLOW }) },
		{
			what: 'has an expression as its scope',
			other: removeDuplicates({ operation: SEEN, options: { scope: '={{ $json.scope }}' } }),
		},
	])('that $what in the Scope Workflow: nothing is sent, and it is named', async ({ other }) => {
		const error = errorOf(await pay([], beside(other)));
		expect(error?.message).toContain('"New rows only" (Remove Duplicates)');
		expect(error?.description).toContain('Move this node into a sub-workflow');
		expect(error?.context?.data).toMatchObject({ outcome: 'notSent' });
		expect(arrived()).toStrictEqual([]);
	});

	test.each<{ what: string; other: INode }>([
		{ what: 'of the Scope Node', other: removeDuplicates({ operation: SEEN, options: {} }) },
		{
			what: 'that is disabled',
			other: removeDuplicates({ operation: SEEN, options: WORKFLOW }, { disabled: true }),
		},
		{ what: 'that looks at its input alone', other: removeDuplicates({ options: WORKFLOW }) },
		{
			what: 'of version 1, which has no history',
			other: removeDuplicates({ operation: SEEN, options: WORKFLOW }, { typeVersion: 1.1 }),
		},
		{
			what: 'whose options are one expression, for which n8n takes the default',
			other: removeDuplicates({ operation: SEEN, options: '={{ $json }}' }),
		},
	])('$what shares nothing: the payment is sent', async ({ other }) => {
		expect(outcomes(await pay([], beside(other)))).toStrictEqual(['accepted']);
	});

	test('is found among the nodes before and behind, where n8n does not tell its workflow', async () => {
		const other = removeDuplicates({ operation: SEEN, options: WORKFLOW });
		const run = await pay(itemsFor('a'), {
			context: () => ({
				workflow: undefined,
				getParentNodes: () => [],
				getChildNodes: () => [{ ...other, disabled: false }],
			}),
		});
		expect(errorOf(run)?.message).toContain('"New rows only"');
		expect(arrived()).toStrictEqual([]);
	});

	test('a QR code is created beside it', async () => {
		const nodes = [
			sourceNode('Source', itemsFor('a')),
			payNode('Pay', { ...FIELDS, resource: 'qrCode' }),
			removeDuplicates({ operation: SEEN, options: WORKFLOW }),
		];
		const run = await pay([], { workflow: { nodes, connections: { Source: to(['Pay']) } } });
		expect(outcomes(run)).toStrictEqual(['accepted']);
	});

	test('that is gone, and has left a row of another kind: nothing is sent, and the words say whose', async () => {
		const place = { workflow: { id: workflowId(), active: false } };
		const latest = { mode: 'latestIncrementalKey' } as const;
		await store.checkProcessedAndRecord([7], 'workflow', place, latest);
		const error = errorOf(await pay(itemsFor('a')));
		expect(error?.message).toContain('a Remove Duplicates node with the Scope "Workflow"');
		expect(error?.description).toContain('Move this node into a sub-workflow');
		expect(sandbox.received).toHaveLength(0);
	});
});
