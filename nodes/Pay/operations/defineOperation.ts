import type { IExecuteFunctions, INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import type { Account } from '../credential/connection';
import type { ItemPlan, TypedOptions, RequestOperation } from '../execution/read';
import { runRequests } from '../execution/run';
import { additionalMembersOption, withAdditionalMembers } from '../parameters/additionalMembers';
import { decimalSignOption } from '../parameters/amount';
import { LEAVE_BODY, leaveBodyOption } from '../parameters/leaveBody';
import {
	bodyOf,
	fieldsOf,
	leavesOf,
	neverEmptyIn,
	treeOf,
	type BodyOf,
	type FormPart,
} from '../parameters/member';
import { batchingOption, timeoutOption } from '../parameters/options';
import { showFor, type ReadParameter } from '../parameters/parameter';
import type { AgentPermission, Leaf, ServiceOperation, ServiceRequest } from '../service/contract';

/**
 * All that an operation of the service is: its contract, its form, and what is peculiar to it. The body's
 * type follows from the form.
 */
type Definition<Form extends readonly FormPart[]> = Omit<ServiceOperation, 'members' | 'leaves'> & {
	/** The sections of docs/service.md that say its members and its path. */
	sections: { members: string; path: string };
	resource: string;
	option: INodePropertyOptions & { value: string };
	/** Items in flight at once unless the user says otherwise. */
	batchSize: number;
	form: Form;
	/** Options beside those that every operation has. */
	ownOptions?: INodeProperties[];
	/** What its accepted items hold beside what all have, with their types, for the editor's preview. */
	ownOutput?: Readonly<Record<string, Leaf['type']>>;
	/** What else an item needs: read now, since nothing may fail once its request was sent. */
	readExtras?: (
		read: ReadParameter,
		body: BodyOf<Form>,
		account: Account,
	) => Omit<ItemPlan, 'request'>;
};

function permissionOption({ name, displayName, description }: AgentPermission): INodeProperties {
	return {
		displayName,
		name,
		type: 'boolean',
		noDataExpression: true,
		default: false,
		description,
	};
}

/** The options of an operation, in the order of their names. */
function optionsOf(
	agentPermission: ServiceOperation['agentPermission'],
	batchSize: number,
	ownOptions: INodeProperties[],
): INodeProperties[] {
	const options = [
		additionalMembersOption,
		batchingOption(batchSize),
		leaveBodyOption,
		timeoutOption,
		decimalSignOption,
		...ownOptions,
	];
	if (agentPermission !== 'not needed') options.push(permissionOption(agentPermission));
	return options.sort((a, b) => (a.displayName < b.displayName ? -1 : 1));
}

/**
 * An operation as the Pay node has it: its fields, how a body is read, and what it does. Everything else
 * that knows of an operation takes it from here.
 */
export function defineOperation<const Form extends readonly [FormPart, ...FormPart[]]>(
	definition: Definition<Form>,
) {
	const { kind, path, isMoneyOut, agentPermission, resource, option, batchSize, form } = definition;
	const { ownOptions = [], ownOutput = {}, readExtras } = definition;
	const leaves = leavesOf(form);
	const members = treeOf(form);
	const fields = fieldsOf(form);
	const options = optionsOf(agentPermission, batchSize, ownOptions);
	const optionsField: INodeProperties = {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		// For the node as a wait: n8n keeps a value when another operation is chosen.
		// A literal, because n8n's lint rule for collections takes nothing else.
		default: { ...LEAVE_BODY },
		options,
	};
	const description = showFor([...fields, optionsField], resource, option.value);
	const readRequest = (read: ReadParameter) => {
		const { additionalMembers } = (read('options') ?? {}) as TypedOptions;
		const body = bodyOf(form, read);
		return withAdditionalMembers(body, additionalMembers, { members, description: fields });
	};
	const permission = agentPermission === 'not needed' ? undefined : agentPermission.name;
	const requestOperation: RequestOperation = {
		kind,
		path,
		isMoneyOut,
		agentPermission,
		words: definition.words,
		batchSize,
		members,
		leaves,
		description,
		// The permission for agents is not among them: where it is an expression, another error says so.
		fixedOptions: options.filter((each) => each.noDataExpression && each.name !== permission),
		// What was typed as Additional Members is there to be sent.
		neverEmpty: new Set([...neverEmptyIn(form), 'options.additionalMembers']),
		readPlan: (read, account) => {
			const request = readRequest(read);
			const extras = readExtras?.(read, request, account);
			return {
				request: request as ServiceRequest & typeof request,
				hint: extras?.hint,
				finish: extras?.finish,
			};
		},
	};
	const execute = async (context: IExecuteFunctions) =>
		await runRequests(context, requestOperation);
	return {
		resource,
		option,
		sections: definition.sections,
		requestOperation,
		readRequest,
		description,
		execute,
		form,
		ownOutput,
	};
}
