import type { IExecuteFunctions, INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import type { Account } from '../credential/connection';
import type { ItemPlan, TypedOptions, RequestOperation } from '../execution/read';
import { runRequests } from '../execution/run';
import { additionalMembersOption, withAdditionalMembers } from '../parameters/additionalMembers';
import { decimalSignOption } from '../parameters/amount';
import { LEAVE_BODY, leaveBodyOption } from '../parameters/leaveBody';
import {
	fieldsOf,
	fullFormsOf,
	leavesOf,
	neverEmptyIn,
	treeOf,
	type FormPart,
} from '../parameters/member';
import { batchingOption, timeoutOption } from '../parameters/options';
import { showFor, type ReadParameter } from '../parameters/parameter';
import type {
	AgentPermission,
	Leaf,
	OperationContract,
	ServiceRequest,
	Words,
} from '../service/contract';

/** An operation without an amount cannot count against the account's limits: this makes it a type error. */
type LimitsOf<Body> = Body extends { amount: number }
	? unknown
	: { policy: { countsAgainstLimits: false } };

/**
 * An operation about something that another one made, as a refund would be, has its own advice where there
 * is no such thing (404: perhaps it was made with another credential), the service has no such operation
 * (405), or it is too late (409, 410; some services say 400 or 422). The usual advice is about the Base URL
 * and the item. It says what stays as it was, too: the other one is still there.
 */
type WordsOfIdentifier =
	| { identifier: 'its own' }
	| {
			identifier: { of: string };
			words: {
				whenRejected: Record<400 | 404 | 405 | 409 | 410 | 422, (external_id: string) => string>;
				whenNotCarriedOut: (external_id: string) => string;
			};
	  };

/** The contract of an operation with such a body; what it does not decide is a type error. */
export type ContractOf<Body extends ServiceRequest> = OperationContract &
	LimitsOf<Body> &
	WordsOfIdentifier;

/** All that an operation of the service is. The compiler compares its body with its form. */
interface Definition<Body extends ServiceRequest> {
	contract: ContractOf<Body>;
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
	readExtras?: (read: ReadParameter, body: Body, account: Account) => Omit<ItemPlan, 'request'>;
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

/** The words of an operation, and what follows where its form can move the day. */
function withDay(words: Words, leaves: readonly Leaf[]): Words {
	if (!leaves.some(({ means }) => means === 'when')) return words;
	const { noun, pastParticiple } = words;
	return {
		...words,
		stillToCome: `The ${noun} may have a day that is yet to come: ask whether it is still to be ${pastParticiple}, too.`,
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
	readExtras,
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
	const leaves = leavesOf(form);
	const { agentPermission } = contract.policy;
	const options: INodeProperties[] = [
		additionalMembersOption,
		batchingOption(batchSize),
		leaveBodyOption,
		timeoutOption,
		...ownOptions,
	];
	if ('amount' in members) options.push(decimalSignOption);
	// The permission for agents is not among them: where it is an expression, another error says so.
	const fixedOptions = options.filter((each) => each.noDataExpression);
	if (agentPermission !== 'not needed') options.push(permissionOption(agentPermission));
	const optionsField: INodeProperties = {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		// For the node as a wait: n8n keeps a value when another operation is chosen.
		// A literal, because n8n's lint rule for collections takes nothing else.
		default: { ...LEAVE_BODY },
		options: options.sort((a, b) => (a.displayName < b.displayName ? -1 : 1)),
	};
	const description = showFor([...fields, optionsField], resource, option.value);
	const requestOperation: RequestOperation = {
		...contract,
		words: withDay(contract.words, leaves),
		batchSize,
		members,
		leaves,
		description,
		fixedOptions,
		// What was typed as Additional Members is there to be sent.
		neverEmpty: new Set([...neverEmptyIn(form), 'options.additionalMembers']),
		readPlan: (read, account) => {
			const request = readRequest(read);
			const extras = readExtras?.(read, request, account);
			return { request, hint: extras?.hint, finish: extras?.finish };
		},
	};
	const execute = async (context: IExecuteFunctions) =>
		await runRequests(context, requestOperation);
	return {
		option,
		requestOperation,
		readRequest,
		description,
		execute,
		fullForms: fullFormsOf(form),
	};
}
