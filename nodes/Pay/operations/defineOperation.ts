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
import type {
	AgentPermission,
	Leaf,
	OperationContract,
	Policy,
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
export type ContractOf<Body extends object> = OperationContract &
	LimitsOf<Body> &
	WordsOfIdentifier;

/** A form without an External ID is a type error. */
type WithExternalId<Form extends readonly FormPart[]> =
	BodyOf<Form> extends ServiceRequest ? unknown : { form: never };

/**
 * All that an operation of the service is: its contract, its form, and what is peculiar to it. The body's
 * type follows from the form.
 */
type Definition<Kind extends string, Form extends readonly FormPart[]> = ContractOf<
	BodyOf<Form>
> & {
	kind: Kind;
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

/** The words of an operation, and what follows where its form can move the day. */
function withDay(words: Words, leaves: readonly Leaf[]): Words {
	if (!leaves.some(({ means }) => means === 'when')) return words;
	const { noun, pastParticiple } = words;
	return {
		...words,
		stillToCome: `The ${noun} may have a day that is yet to come: ask whether it is still to be ${pastParticiple}, too.`,
	};
}

/** The options of an operation, in the order of their names. */
function optionsOf(
	policy: Policy,
	hasAmount: boolean,
	batchSize: number,
	ownOptions: INodeProperties[],
): INodeProperties[] {
	const options = [
		additionalMembersOption,
		batchingOption(batchSize),
		leaveBodyOption,
		timeoutOption,
		...ownOptions,
	];
	if (hasAmount) options.push(decimalSignOption);
	if (policy.agentPermission !== 'not needed') {
		options.push(permissionOption(policy.agentPermission));
	}
	return options.sort((a, b) => (a.displayName < b.displayName ? -1 : 1));
}

/**
 * An operation as the Pay node has it: its fields, how a body is read, and what it does. Everything else
 * that knows of an operation takes it from here.
 */
export function defineOperation<
	const Kind extends string,
	const Form extends readonly [FormPart, ...FormPart[]],
>(definition: Definition<Kind, Form> & WithExternalId<Form>) {
	const { kind, path, identifier, policy, resource, option, batchSize, form } = definition;
	const { ownOptions = [], ownOutput = {}, readExtras } = definition;
	const leaves = leavesOf(form);
	const members = treeOf(form);
	const fields = fieldsOf(form);
	const options = optionsOf(policy, Object.hasOwn(members, 'amount'), batchSize, ownOptions);
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
	const { agentPermission } = policy;
	const permission = agentPermission === 'not needed' ? undefined : agentPermission.name;
	const requestOperation: RequestOperation & { kind: Kind } = {
		kind,
		path,
		identifier,
		policy,
		words: withDay(definition.words, leaves),
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
