import type { IExecuteFunctions, INodeParameters, INodeProperties } from 'n8n-workflow';
import { type Account, readIdForHeader } from '../account/account';
import type { accountReader } from '../account/credentials';
import { accountIdOf, tokenIdOf } from '../account/identity';
import { InputError } from '../base/inputError';
import { isLoopback } from '../base/loopback';
import { mayBeExpression, type ReadParameter, readGivenValues } from '../fields/expressions';
import { holdsExpression } from '../fields/members';
import { type Batching, readBatching, readTimeout } from '../fields/options';
import { type AskingExecution, readPostbackTarget } from '../postback/target';
import type { ServiceOperation, ServiceRequest } from '../service/contract';
import { inOneForm } from '../service/paths';
import type { Done, Finish, Ready } from './item';
import { fingerprintOf } from './ledger';
import { resultOfRefusal } from './report';

/** An item as its operation reads it, before anything is sent. */
export interface ItemPlan {
	/** The documented body, `postbackUrl` excepted. */
	request: ServiceRequest;
	/** For the person in the editor, where a request is fine but will hardly do what is wanted. */
	hint?: string;
	finish?: Finish;
}

/** What the run needs to know of an operation of the service. */
export interface RequestOperation extends ServiceOperation {
	/** Items in flight at once unless the user says otherwise. */
	batchSize: number;
	description: INodeProperties[];
	/** Options that hold no expression; the permission for agents has words of its own. */
	fixedOptions: readonly INodeProperties[];
	/** The paths of parameters that an expression must not leave empty, as `creditParty.key`. */
	neverEmpty: ReadonlySet<string>;
	/** @throws InputError */
	readPlan(read: ReadParameter, account: Account): ItemPlan;
}

/** The options as n8n hands them over. */
export type TypedOptions = Readonly<Record<string, unknown>>;

/** What the options of a run say, checked. */
export interface Settings extends Batching {
	/** In milliseconds, for one whole exchange. */
	timeout: number;
	/** The options as they were read, for items to be compared with. */
	source: string;
}

/** Members of the body may differ from item to item; what governs the run may not. */
function governing(options: TypedOptions): string {
	return JSON.stringify({ ...options, additionalMembers: undefined });
}

/** Reads the options, which hold for all items. */
export function readRunSettings(options: TypedOptions, batchSize: number): Settings {
	return {
		...readBatching(options.batching, batchSize),
		timeout: readTimeout(options.timeout),
		source: governing(options),
	};
}

/** Reads the options of an item, which must say the same as those of the run. */
function readSameOptions(options: TypedOptions, { source }: Settings): void {
	if (governing(options) === source) return;
	throw new InputError(
		'options',
		'The Options of this item differ from those of the first item, and they hold for the whole run',
		'Use no expression under Options that depends on the item, or send such items through a separate Pay node.',
	);
}

/** The parts of n8n and of the run that reading an item needs. */
export interface ReadingContext {
	context: IExecuteFunctions;
	/** The node's parameters, before any expression is resolved. */
	typed: INodeParameters;
	/** Values of the parameters without an expression, read once for all items: n8n takes long for each. */
	shared: Map<string, unknown>;
	operation: RequestOperation;
	settings: Settings;
	execution: AskingExecution;
	accountOf: Awaited<ReturnType<typeof accountReader>>;
}

/** Resolves each parameter once, for the run or for an item: that is what costs most in a run. */
function reader(
	{ context, typed, shared, operation }: ReadingContext,
	index: number,
): ReadParameter {
	const ofItem = new Map<string, unknown>();
	return (name) => {
		const values = mayBeExpression(typed[name]) ? ofItem : shared;
		if (values.has(name)) return values.get(name);
		const value: unknown = context.getNodeParameter(name, index, undefined);
		readGivenValues(typed[name], value, name, operation);
		values.set(name, value);
		return value;
	};
}

/** Additional Members as they were typed. */
const typedMembers = ({ options }: INodeParameters) =>
	(options as TypedOptions | undefined)?.additionalMembers;

/** Reads one item's parameters into a request. Never throws: what is wrong concerns that item alone. */
export async function readItem(reading: ReadingContext, index: number): Promise<Ready | Done> {
	const { operation, settings, execution, accountOf } = reading;
	const { kind, isMoneyOut } = operation;
	/** What is known of the item where it cannot be read: its error names it. */
	const known: Partial<ServiceRequest> = {};
	try {
		const read = reader(reading, index);
		const typedId = read('external_id');
		if (typeof typedId === 'string' || typeof typedId === 'number') {
			known.external_id = inOneForm(String(typedId));
		}
		readSameOptions((read('options') ?? {}) as TypedOptions, settings);
		const account = await accountOf(index);
		const plan = operation.readPlan(read, account);
		const { external_id, amount } = plan.request;
		Object.assign(known, { external_id, amount });
		readIdForHeader(account, external_id);
		const reference = { external_id, kind, amount };
		const isLocal = isLoopback(new URL(account.baseUrl).hostname);
		const postback = readPostbackTarget(read, reference, account, execution, isLocal, index);
		const request = { ...plan.request };
		if (postback.url !== undefined) request.postbackUrl = postback.url;
		// A QR code that the editor's Retry creates needs a postback of its own: that of the first one goes to
		// the execution that has ended.
		const needsOwnPostback = !isMoneyOut && postback.expectation !== undefined;
		const executionId = needsOwnPostback ? execution.id : undefined;
		return {
			index,
			request,
			account,
			accountId: accountIdOf(account),
			tokenId: tokenIdOf(account),
			fingerprint: fingerprintOf(account, request, operation.meanings, executionId),
			membersMayChange: holdsExpression(typedMembers(reading.typed)),
			expectation: postback.expectation,
			finish: plan.finish,
			hints: { postback: postback.hint, item: plan.hint },
		};
	} catch (error) {
		return { index, result: resultOfRefusal(operation, known, error) };
	}
}
