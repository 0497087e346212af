import * as fc from 'fast-check';
import type { Moment } from '../duplicateStore';
import { KINDS, type Kind } from '../../serviceOperations';
import {
	OPERATION_FACTS,
	responseFate,
	tokenFate,
	type ResponseFate,
	type TokenFate,
} from './service';

/*
 * What a scenario is made of: what people typed, how n8n is set up, and what its duplicate store does.
 * Each kind stands beside the arbitrary that draws it.
 */

/** What a person typed for one item, expressions resolved. */
export interface TypedItem {
	id: string;
	/** Whether the id is an expression that gives another text at each run of the node. */
	changing?: boolean;
	/** Node, run and item. */
	place: string;
	amount: unknown;
	/** The number that the amount plainly is; undefined where it is none. */
	value: number | undefined;
	key: string;
	/** Whose account pays: number of the token and of the base address. */
	account: number;
	/** This item's own Timeout, where the option is an expression. */
	timeout?: number;
	/** Additional Members, as typed. */
	members?: string;
}

export interface Options {
	/** Whether Result Field is set. */
	confirmed: boolean;
	batchSize: number;
	timeout: number;
}

/** One node of the simulated workflow, with what runs through it; a loop is the same id again. */
export interface NodePlan {
	id: string;
	kind: Kind;
	items: TypedItem[];
}

/** A workflow and its items. */
export interface Plan {
	nodes: NodePlan[];
	options: Options;
	onError: 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';
	/** How often Retry On Fail runs the node, 1 for off. */
	tries: number;
	/** Whether the nodes are an AI agent's tools, which one message of the model calls at once. */
	isAgent: boolean;
	/** By what a node can tell that n8n runs it for a test data set; undefined where n8n does not. */
	evaluation: Evaluation | undefined;
}

export type Evaluation = 'mode' | 'run' | 'trigger';

/** A fault of one call to the store. */
export type StoreFate =
	| { does: 'fail'; at: Moment }
	| { does: 'hang'; at: Moment }
	| { does: 'slow'; at: Moment; ms: number }
	/** Neither new nor processed. */
	| { does: 'junk' };

/** How n8n and the account are set up, and what the scenario's requests and calls meet, in their order. */
export interface Settings {
	/** Whether a credential's fields come from the item. */
	accountPerItem: boolean;
	/** How n8n answers for an item beyond the last where the credential depends on the item. */
	beyondLast: 'throws' | 'differs';
	/** Whether n8n's request helper honours an abort signal. */
	honoursAbort: boolean;
	/** Whether n8n gives a status as an error where it is told to: n8n 2 does, n8n 1 does not. */
	statusErrors: boolean;
	/** Whether n8n saves an execution after each node. */
	savesProgress: boolean;
	/** How long n8n takes between reading a list and writing it, in ms; far less than any pause. */
	changeMs: number;
	fates: ResponseFate[];
	/** Whether tokens are fetched by client credentials. */
	clientCredentials: boolean;
	tokenFates: TokenFate[];
	storeFates: Array<StoreFate | undefined>;
	/** What the credential limits; some of it cannot be read. */
	limits: { highestPayment?: string; highestSum?: string; onlyRecipients?: string } | undefined;
	/** How many payments a list keeps at least: as few as a scenario can fill, or as many as it does. */
	remembered: number;
	/** Whether a Remove Duplicates node of the workflow keeps its history in the workflow's row. */
	sharesRecord: boolean;
	/** Whether there was a payment before: the first record of a list is an INSERT. */
	warm: boolean;
}

/** One of several, each as often as its weight says. */
export function weighed<T>(...choices: Array<[weight: number, arbitrary: fc.Arbitrary<T>]>) {
	return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

export const always = <const T>(value: T) => fc.constant(value);

/** Drawn once in so many times, else undefined. */
function onceIn<T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
	return weighed<T | undefined>([times - 1, always(undefined)], [1, arbitrary]);
}

// Some differ in case alone, or far behind their beginning.
export const IDS = ['id-A', 'id-B', 'id-a', 'id-of-a-payment-1', 'id-of-a-payment-2'];

export type TypedAmount = Pick<TypedItem, 'amount' | 'value'>;

const PLAIN_AMOUNTS: TypedAmount[] = [
	{ amount: '1', value: 1 },
	{ amount: '10.50', value: 10.5 },
	{ amount: 250, value: 250 },
];

const REFUSED_AMOUNTS: TypedAmount[] = [
	{ amount: '10,50', value: undefined },
	{ amount: '1,000.50', value: undefined },
	{ amount: '1.000', value: undefined },
	{ amount: '', value: undefined },
	{ amount: null, value: undefined },
	{ amount: '-1', value: undefined },
	{ amount: '0', value: undefined },
];

export const amount = weighed<TypedAmount>(
	[12, fc.constantFrom(...PLAIN_AMOUNTS)],
	[1, fc.constantFrom(...REFUSED_AMOUNTS)],
);

export const key = fc.constantFrom('key-1', 'key-2');
export const account = fc.nat(1);

export const GOOD_MEMBERS = '{ "note": 1.5 }';
/** A member of the recipient that the form does not have, by which a service may pay somebody else. */
export const MORE_IN_RECIPIENT = '{ "creditParty": { "account": "key-3" } }';
/** A member of a form, or one that its operation has no field for. */
export const AMOUNT_AS_MEMBER = '{ "amount": 999 }';
/** It, and a number that JSON would round: both are refused. */
const refusedMembers = fc.constantFrom(AMOUNT_AS_MEMBER, '{ "note": 0.1234567890123456789 }');

export const item: fc.Arbitrary<TypedItem> = fc
	.record({
		id: fc.constantFrom(...IDS),
		changing: onceIn(4, always(true)),
		typed: amount,
		key,
		account,
		timeout: onceIn(25, fc.constantFrom(60_000, 30_000)),
		refused: onceIn(12, refusedMembers),
		more: onceIn(4, always(MORE_IN_RECIPIENT)),
	})
	.map((drawn) => ({
		id: drawn.id,
		changing: drawn.changing,
		place: '',
		amount: drawn.typed.amount,
		value: drawn.typed.value,
		key: drawn.key,
		account: drawn.account,
		timeout: drawn.timeout,
		members: drawn.refused ?? drawn.more ?? GOOD_MEMBERS,
	}));

export const options: fc.Arbitrary<Options> = fc.record({
	confirmed: weighed<boolean>([3, always(false)], [1, always(true)]),
	batchSize: fc.integer({ min: 1, max: 3 }),
	timeout: fc.constantFrom(60_000, 1000),
});

const kind = weighed<Kind>(
	...KINDS.map((each): [number, fc.Arbitrary<Kind>] => [
		OPERATION_FACTS[each].weight,
		always(each),
	]),
);

const node: fc.Arbitrary<NodePlan> = fc.record({
	id: weighed<string>([4, always('node-1')], [1, always('node-2')]),
	kind,
	items: fc.oneof(
		fc.array(item, { minLength: 1, maxLength: 3 }),
		fc.array(item, { minLength: 2, maxLength: 2 }),
	),
});

export const workflow: fc.Arbitrary<Plan> = fc
	.record({
		nodes: weighed<NodePlan[]>(
			[3, fc.tuple(node)],
			[1, fc.array(node, { minLength: 1, maxLength: 2 })],
		),
		options,
		isAgent: always(false),
		evaluation: onceIn(16, fc.constantFrom<Evaluation>('mode', 'run', 'trigger')),
		// Only an execution that fails is retried with corrections.
		onError: fc.constantFrom<Plan['onError']>(
			'stopWorkflow',
			'stopWorkflow',
			'stopWorkflow',
			'continueRegularOutput',
			'continueErrorOutput',
		),
		tries: weighed([2, always(1)], [1, fc.integer({ min: 2, max: 3 })]),
	})
	.map(withOneKindPerNode);

/** Two or three calls of an agent's tools in one message, mostly for one payment. */
const agent: fc.Arbitrary<Plan> = fc
	.record({
		calls: fc.array(fc.record({ node, own: onceIn(3, item) }), { minLength: 2, maxLength: 3 }),
		shared: item,
		options,
	})
	.map((drawn) => ({
		nodes: drawn.calls.map((call) => ({
			id: call.node.id,
			kind: call.node.kind,
			items: [call.own ?? drawn.shared],
		})),
		options: drawn.options,
		onError: 'continueRegularOutput' as const,
		tries: 1,
		isAgent: true,
		evaluation: undefined,
	}))
	.map(withOneKindPerNode);

export const plan = weighed<Plan>([8, workflow], [1, agent]);

/** A node that runs again, in a loop or as a tool, is of the kind that it was of: a node has one. */
function withOneKindPerNode(drawn: Plan): Plan {
	const kinds = new Map<string, Kind>();
	const nodes: NodePlan[] = [];
	for (const { id, kind, items } of drawn.nodes) {
		const ownKind = kinds.get(id) ?? kind;
		kinds.set(id, ownKind);
		nodes.push({ id, kind: ownKind, items });
	}
	return { ...drawn, nodes };
}

const moment = fc.constantFrom<Moment>('read', 'write', 'answer');

const storeFate: fc.Arbitrary<StoreFate> = fc.oneof(
	fc.record({ does: always('fail'), at: moment }),
	fc.record({ does: always('hang'), at: moment }),
	fc.record({
		does: always('slow'),
		at: moment,
		ms: fc.constantFrom(5, 200, 2000, 20_000, 40_000),
	}),
	always({ does: 'junk' }),
);

const limits = fc.constantFrom<Settings['limits']>(
	{ highestSum: '1.5' },
	{ highestSum: '10.5' },
	{ highestSum: '11.5' },
	{ highestSum: '12' },
	{ highestSum: '260.5' },
	{ highestPayment: '10.50' },
	{ onlyRecipients: 'key-1' },
	{ highestPayment: '1.000,00' },
);

/** As many payments as a scenario can fill a list with, or push out of it. */
export const SHORT_LIST = 20;

const REFUSED_TOKEN: ResponseFate = { does: 'answer', status: 401, books: false };
const TOO_MANY_REQUESTS: ResponseFate = { does: 'answer', status: 429, books: false };

export const settings: fc.Arbitrary<Settings> = fc.record({
	clientCredentials: fc.boolean(),
	tokenFates: fc.oneof(always<TokenFate[]>([]), fc.array(tokenFate, { maxLength: 3 })),
	accountPerItem: fc.boolean(),
	beyondLast: fc.constantFrom<Settings['beyondLast']>('throws', 'differs'),
	honoursAbort: fc.boolean(),
	statusErrors: fc.boolean(),
	savesProgress: fc.boolean(),
	limits: onceIn(3, limits),
	remembered: onceIn(4, always(SHORT_LIST)).map((short) => short ?? 10_000),
	sharesRecord: weighed<boolean>([24, always(false)], [1, always(true)]),
	warm: fc.boolean(),
	changeMs: fc.constantFrom(0, 20),
	fates: weighed<ResponseFate[]>(
		[5, fc.array(responseFate, { maxLength: 5 })],
		// An account that is refused, whoever asks.
		[1, always(Array<ResponseFate>(6).fill(REFUSED_TOKEN))],
		[1, always(Array<ResponseFate>(6).fill(TOO_MANY_REQUESTS))],
	),
	storeFates: weighed<Settings['storeFates']>(
		[3, always([])],
		[1, fc.array(fc.option(storeFate, { freq: 2, nil: undefined }), { maxLength: 5 })],
	),
});
