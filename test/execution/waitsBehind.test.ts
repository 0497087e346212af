import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { firstWaitsBehind } from '../../nodes/Pay/execution/waitsBehind';

/** Whether a wait behind a charge may be for another node, whose parameters these are, between the two. */
function mayBeForOther(parameters: INodeParameters | undefined): boolean | undefined {
	const nodeOf = (name: string, more: object) => ({ name, type: 'pay', disabled: false, ...more });
	const charge = nodeOf('Charge', { parameters: { resource: 'qrCode', operation: 'create' } });
	const between = nodeOf('Between', { parameters });
	const wait = nodeOf('Wait', { parameters: { resource: 'postback', operation: 'wait' } });
	const context = {
		getNode: () => charge,
		getChildNodes: () => [between, wait],
		getParentNodes: (name: string, { depth }: { depth?: number }) => {
			if (name === 'Between') return [charge];
			return depth === 1 ? [between] : [between, charge];
		},
	};
	return firstWaitsBehind(context as unknown as IExecuteFunctions)?.mayBeForOthers;
}

test.each<{ what: string; parameters: INodeParameters | undefined; expected: boolean }>([
	{
		what: 'that asks for its postback here',
		parameters: { resource: 'qrCode', operation: 'create', postback: 'resume' },
		expected: true,
	},
	{
		what: 'whose postback may go here, by the credential',
		parameters: { resource: 'payment', operation: 'create', postback: 'credential' },
		expected: true,
	},
	{
		what: 'whose postback an expression chooses',
		parameters: { resource: 'payment', operation: 'create', postback: '={{ $json.to }}' },
		expected: true,
	},
	{
		what: 'that asks for no postback',
		parameters: { resource: 'payment', operation: 'create', postback: 'none' },
		expected: false,
	},
	{
		what: 'whose operation has no postback',
		parameters: { resource: 'payment', operation: 'cancel' },
		expected: false,
	},
	{
		what: 'without its defaults, which may be a charge',
		parameters: {},
		expected: true,
	},
	{
		what: 'without the default of its operation',
		parameters: { resource: 'payment' },
		expected: true,
	},
	{
		what: 'that this n8n does not tell of',
		parameters: undefined,
		expected: true,
	},
])('of a node $what: whether the wait behind it may be for it', ({ parameters, expected }) => {
	expect(mayBeForOther(parameters)).toBe(expected);
});
