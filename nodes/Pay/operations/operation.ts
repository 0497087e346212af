import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import type { Account } from '../account/account';
import { decimalSignOption } from '../fields/amount';
import { type ReadParameter, showFor } from '../fields/expressions';
import { additionalMembersOption, withAdditionalMembers } from '../fields/members';
import { batchingOption, BODY_UNREAD, bodyUnreadOption, timeoutOption } from '../fields/options';
import type { ItemPlan, RequestOperation, TypedOptions } from '../run/read';
import type { AgentPermission, ServiceOperation, ServiceRequest } from '../service/contract';

/** All that an operation of the service is: what people read of it, its form, and the body that it sends. */
interface Definition extends ServiceOperation {
	readonly resource: string;
	readonly option: INodePropertyOptions & { value: string };
	/** Items in flight at once unless the user says otherwise. */
	readonly batchSize: number;
	/** Its fields in the editor, in their order. */
	readonly fields: INodeProperties[];
	/** Options beside those that every operation has. */
	readonly ownOptions: INodeProperties[];
	/** The paths of texts that an expression must not leave empty. Others are left out where they are empty. */
	readonly neverEmpty: string[];
	/**
	 * Reads the body of an item, but for `postbackUrl`, which depends on the account and the execution. Single
	 * values come first, so that errors name simple fields first.
	 */
	readonly readBody: (read: ReadParameter) => ServiceRequest;
	/** Reads what else an item needs: now, since nothing may fail once its request was sent. */
	readonly readExtras: (
		read: ReadParameter,
		body: ServiceRequest,
		account: Account,
	) => Omit<ItemPlan, 'request'>;
}

/** An operation as the Pay node has it. */
export interface SendingOperation {
	readonly resource: string;
	readonly option: Definition['option'];
	/** Its fields and options, as the editor shows them for this operation alone. */
	readonly description: INodeProperties[];
	readonly requestOperation: RequestOperation;
	readonly receive?: undefined;
}

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
function optionsOf({ agentPermission, batchSize, ownOptions }: Definition): INodeProperties[] {
	const options = [
		additionalMembersOption,
		batchingOption(batchSize),
		decimalSignOption,
		bodyUnreadOption,
		timeoutOption,
		...ownOptions,
	];
	if (agentPermission !== 'not needed') options.push(permissionOption(agentPermission));
	return options.sort((a, b) => (a.displayName < b.displayName ? -1 : 1));
}

/** Makes an operation of the Pay node: its fields, and how an item is read. */
export function defineOperation(definition: Definition): SendingOperation {
	const { resource, option, fields, meanings, agentPermission } = definition;
	const options = optionsOf(definition);
	const optionsField: INodeProperties = {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		// For the node as a wait: n8n keeps a value when another operation is chosen.
		// A literal, because n8n's lint rule for collections takes nothing else.
		default: { ...BODY_UNREAD },
		options,
	};
	const description = showFor([...fields, optionsField], resource, option.value);
	const permission = agentPermission === 'not needed' ? undefined : agentPermission.name;
	const requestOperation: RequestOperation = {
		kind: definition.kind,
		path: definition.path,
		words: definition.words,
		isMoneyOut: definition.isMoneyOut,
		agentPermission,
		meanings,
		batchSize: definition.batchSize,
		description,
		// The permission for agents is not among them: where it is an expression, another error says so.
		fixedOptions: options.filter((each) => each.noDataExpression && each.name !== permission),
		// What was typed as Additional Members is there to be sent.
		neverEmpty: new Set([...definition.neverEmpty, 'options.additionalMembers']),
		readPlan: (read, account) => {
			const { additionalMembers } = (read('options') ?? {}) as TypedOptions;
			const body = definition.readBody(read);
			const form = { meanings, description: fields };
			const request = withAdditionalMembers(body, additionalMembers, form);
			const { hint, finish } = definition.readExtras(read, request, account);
			return { request, hint, finish };
		},
	};
	return {
		resource,
		option,
		description,
		requestOperation,
	};
}
