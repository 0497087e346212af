import type { IExecuteFunctions, INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import type { Account } from '../credential/connection';
import type { ItemPlan, TypedOptions, RequestOperation } from '../execution/read';
import { runRequests } from '../execution/run';
import { additionalMembersOption, withAdditionalMembers } from '../parameters/additionalMembers';
import { decimalSignOption } from '../parameters/amount';
import { LEAVE_BODY, leaveBodyOption } from '../parameters/leaveBody';
import { fieldsOf, neverEmptyIn, treeOf, type FormPart } from '../parameters/member';
import { batchingOption, timeoutOption } from '../parameters/options';
import { showFor, type ReadParameter } from '../parameters/parameter';
import type { AgentPermission, OperationContract, ServiceRequest } from '../service/contract';

/** What has no amount cannot be compared with the account's limits. */
type LimitsOf<Body> = Body extends { amount: number }
	? unknown
	: { policy: { countsAgainstLimits: false } };

/** All that an operation of the service is. The compiler compares its body with its form. */
interface Definition<Body extends ServiceRequest> {
	contract: OperationContract & LimitsOf<Body>;
	resource: string;
	option: INodePropertyOptions & { value: string };
	/** Items in flight at once unless the user says otherwise. */
	batchSize: number;
	form: readonly FormPart[];
	/** Options beside those that every operation has. */
	ownOptions?: INodeProperties[];
	/** Reads the members of the form. @throws InputError */
	readBody: (read: ReadParameter) => Body;
	/** What else an item needs: read now, since nothing may fail once its request was sent. */
	plan?: (read: ReadParameter, body: Body, account: Account) => Omit<ItemPlan, 'request'>;
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

/** An operation as the Pay node has it: its fields, how a body is read, and what it does. */
export function serviceOperation<Body extends ServiceRequest>({
	contract,
	resource,
	option,
	batchSize,
	form,
	ownOptions = [],
	readBody,
	plan,
}: Definition<Body>) {
	const members = treeOf(form);
	const fields = fieldsOf(form);
	const readRequest = (read: ReadParameter) => {
		const { additionalMembers } = (read('options') ?? {}) as TypedOptions;
		return withAdditionalMembers(readBody(read), additionalMembers, {
			members,
			description: fields,
		});
	};
	const { agentPermission } = contract.policy;
	const options = [
		additionalMembersOption,
		batchingOption(batchSize),
		decimalSignOption,
		leaveBodyOption,
		timeoutOption,
		...ownOptions,
	];
	// Before the permission for agents joins them: that has words of its own.
	const fixedOptions = options.filter((each) => each.noDataExpression);
	if (agentPermission !== 'not needed') options.push(permissionOption(agentPermission));
	const optionsField: INodeProperties = {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		// For the node as a wait: n8n keeps a value when another operation is chosen.
		default: { ...LEAVE_BODY },
		options: options.sort((a, b) => (a.displayName < b.displayName ? -1 : 1)),
	};
	const description = showFor([...fields, optionsField], resource, option.value);
	const operation: RequestOperation = {
		...contract,
		batchSize,
		members,
		description,
		fixedOptions,
		// What was typed as Additional Members is there to be sent.
		neverEmpty: new Set([...neverEmptyIn(form), 'options.additionalMembers']),
		readPlan: (read, account) => {
			const request = readRequest(read);
			return { ...plan?.(read, request, account), request };
		},
	};
	const execute = async (context: IExecuteFunctions) => await runRequests(context, operation);
	return { option, operation, readRequest, description, execute };
}
