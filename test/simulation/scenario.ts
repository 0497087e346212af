import * as fc from 'fast-check';
import { Execution, type NodePlan, type Plan } from './execution';
import type { Fate, TokenFate } from './service';
import { World, type Options, type Settings, type StoreFate, type TypedItem } from './world';

/** A running scenario: the world and what n8n has in hand. */
export interface Simulation {
	world: World;
	executions: Execution[];
	/** What the simulation itself stumbled over. */
	mistake?: unknown;
}

type Command = fc.AsyncCommand<Simulation, World>;

// Some differ in case alone, or far behind their beginning.
const IDS = ['id-A', 'id-B', 'id-a', 'id-of-a-payment-1', 'id-of-a-payment-2'];
const id = fc.constantFrom(...IDS);

const amount: fc.Arbitrary<Pick<TypedItem, 'amount' | 'value'>> = fc.oneof(
	{
		weight: 12,
		arbitrary: fc.constantFrom(
			{ amount: '1', value: 1 },
			{ amount: '10.50', value: 10.5 },
			{ amount: 250, value: 250 },
		),
	},
	{
		weight: 1,
		arbitrary: fc.constantFrom(
			...['10,50', '1,000.50', '1.000', '', null, '-1', '0'].map((typed) => ({
				amount: typed,
				value: undefined,
			})),
		),
	},
);

/** Drawn once in so many times, else undefined. */
const once = <T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
	fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const GOOD_MEMBERS = '{ "note": 1.5 }';
/** What is refused: a member of the form, and a number that JSON would round. */
const badMembers = fc.constantFrom('{ "amount": 999 }', '{ "note": 0.1234567890123456789 }');

const item: fc.Arbitrary<TypedItem> = fc
	.record({
		id,
		changing: once(4, fc.constant(true as const)),
		typed: amount,
		key: fc.constantFrom('key-1', 'key-2'),
		account: fc.nat(1),
		timeout: once(25, fc.constantFrom(60_000, 30_000)),
		bad: once(12, badMembers),
	})
	.map(({ typed, bad, ...rest }) => ({
		...{ place: '', ...rest, ...typed },
		members: bad ?? GOOD_MEMBERS,
		...(bad === undefined ? {} : { value: undefined }),
	}));

const options: fc.Arbitrary<Options> = fc.record({
	confirmed: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
	batchSize: fc.integer({ min: 1, max: 3 }),
	timeout: fc.constantFrom(60_000, 1000),
});

const node: fc.Arbitrary<NodePlan> = fc.record({
	id: fc.oneof(
		{ weight: 4, arbitrary: fc.constant('node-1') },
		{ weight: 1, arbitrary: fc.constant('node-2') },
	),
	kind: fc.oneof(
		{ weight: 9, arbitrary: fc.constant('payment' as const) },
		{ weight: 1, arbitrary: fc.constant('qrCode' as const) },
	),
	items: fc.oneof(
		fc.array(item, { minLength: 1, maxLength: 3 }),
		fc.array(item, { minLength: 2, maxLength: 2 }),
	),
});

const workflow: fc.Arbitrary<Plan> = fc.record({
	nodes: fc.oneof(
		{ weight: 3, arbitrary: fc.tuple(node) },
		{ weight: 1, arbitrary: fc.array(node, { minLength: 1, maxLength: 2 }) },
	),
	options,
	isAgent: fc.constant(false),
	onError: fc.constantFrom(
		// Only an execution that fails is retried with corrections.
		...(['stopWorkflow', 'stopWorkflow', 'stopWorkflow'] as const),
		...(['continueRegularOutput', 'continueErrorOutput'] as const),
	),
	tries: fc.oneof(
		{ weight: 2, arbitrary: fc.constant(1) },
		{ weight: 1, arbitrary: fc.integer({ min: 2, max: 3 }) },
	),
});

/** Two or three calls of an agent's tools in one message, mostly for one payment. */
const agent: fc.Arbitrary<Plan> = fc
	.record({
		calls: fc.array(fc.record({ node, own: once(3, item) }), {
			...{ minLength: 2, maxLength: 3 },
		}),
		shared: item,
		options,
	})
	.map(({ calls, shared, options: drawn }) => ({
		nodes: calls.map(({ node: called, own }) => ({ ...called, items: [own ?? shared] })),
		...{ options: drawn, onError: 'continueRegularOutput', tries: 1, isAgent: true },
	}));

const plan: fc.Arbitrary<Plan> = fc.oneof(
	{ weight: 8, arbitrary: workflow },
	{ weight: 1, arbitrary: agent },
);

const books = fc.boolean();
const fate: fc.Arbitrary<Fate> = fc.oneof(
	{ weight: 4, arbitrary: fc.constant({ does: 'answer' as const, status: 200, books: true }) },
	{
		weight: 5,
		arbitrary: fc.record(
			{
				does: fc.constant('answer' as const),
				status: fc.constantFrom(
					...[200, 201, 202, 204, 400, 401, 401, 401, 401, 403, 404, 409, 422, 429, 307, 308],
					...[101, 300, 301, 302, 303, 304, 408, 499, 500, 502, 503, 504],
				),
				books,
				after: fc.constantFrom(1, 999, 1001, 61_000),
				echo: fc.constant(true as const),
				open: fc.constant(true as const),
			},
			{ requiredKeys: ['does', 'status', 'books'] },
		),
	},
	{
		weight: 1,
		arbitrary: fc.record({
			does: fc.constant('drip' as const),
			books,
			status: fc.constantFrom(200, 422),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ does: fc.constant('stall' as const), books }) },
	{
		weight: 2,
		arbitrary: fc.record({
			does: fc.constant('breakOff' as const),
			books,
			code: fc.constantFrom('ECONNRESET', 'EPIPE', 'ERR_BAD_RESPONSE', 'HPE_INVALID_CONSTANT'),
		}),
	},
	{
		weight: 1,
		arbitrary: fc.constantFrom(
			{ does: 'notReached' as const, code: 'ECONNREFUSED', syscall: 'connect' },
			{ does: 'notReached' as const, code: 'ENOTFOUND', syscall: 'getaddrinfo' },
			{ does: 'notReached' as const, code: 'CERT_HAS_EXPIRED' },
			{ does: 'cutRequest' as const },
			{ does: 'proxyAnswers' as const, status: 407 },
			{ does: 'proxyAnswers' as const, status: 502 },
			{ does: 'proxyAnswers' as const, status: 201 },
		),
	},
);

const moment = fc.constantFrom('read' as const, 'write' as const, 'answer' as const);
const storeFate: fc.Arbitrary<StoreFate> = fc.oneof(
	fc.record({ does: fc.constant('fail' as const), at: moment }),
	fc.record({ does: fc.constant('hang' as const), at: moment }),
	fc.record({
		does: fc.constant('slow' as const),
		at: moment,
		ms: fc.constantFrom(5, 200, 2000, 20_000, 40_000),
	}),
	fc.constant({ does: 'junk' as const }),
);

const tokenFate: fc.Arbitrary<TokenFate> = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.record(
			{ does: fc.constant('give' as const), life: fc.constantFrom(1, 120, 3600) },
			{ requiredKeys: ['does'] },
		),
	},
	fc.constantFrom({ does: 'fail' as const }, { does: 'stall' as const }),
);

/** As many payments as a scenario can fill a list with, or push out of it. */
const SHORT_LIST = 20;

const settings: fc.Arbitrary<Settings> = fc.record({
	clientCredentials: fc.boolean(),
	tokenFates: fc.oneof(fc.constant<TokenFate[]>([]), fc.array(tokenFate, { maxLength: 3 })),
	accountPerItem: fc.boolean(),
	beyondLast: fc.constantFrom('throws' as const, 'differs' as const),
	honoursAbort: fc.boolean(),
	statusErrors: fc.boolean(),
	savesProgress: fc.boolean(),
	limits: once(
		3,
		fc.constantFrom<Settings['limits']>(
			...[{ highestSum: '11.5' }, { highestSum: '12' }, { highestSum: '260.5' }],
			...[{ highestPayment: '10.50' }, { onlyRecipients: 'key-1' }],
			{ highestPayment: '1.000,00' },
		),
	),
	remembered: once(4, fc.constant(SHORT_LIST)).map((short) => short ?? 10_000),
	warm: fc.boolean(),
	changeMs: fc.constantFrom(0, 20),
	fates: fc.array(fate, { maxLength: 5 }),
	storeFates: fc.oneof(
		{ weight: 3, arbitrary: fc.constant<Settings['storeFates']>([]) },
		{
			weight: 1,
			arbitrary: fc.array(fc.option(storeFate, { freq: 2, nil: undefined }), { maxLength: 5 }),
		},
	),
});

/** The number of a process; mostly there is one. */
const process = fc.constantFrom(0, 0, 1);

/** With one account for all, every item is paid from the first one's. */
function withAccounts(drawn: Plan, { accountPerItem }: Settings): Plan {
	if (accountPerItem) return drawn;
	const account = drawn.nodes[0]?.items[0]?.account ?? 0;
	const same = (one: NodePlan) => ({ ...one, items: one.items.map((it) => ({ ...it, account })) });
	return { ...drawn, nodes: drawn.nodes.map(same) };
}

/** The loop's later run of a node is of its kind too: a node has one. */
function oneKindPerNode(drawn: Plan): Plan {
	const kinds = new Map<string, NodePlan['kind']>();
	const nodes = drawn.nodes.map((one) => {
		const kind = kinds.get(one.id) ?? one.kind;
		kinds.set(one.id, kind);
		return { ...one, kind };
	});
	return { ...drawn, nodes };
}

function begin(simulation: Simulation, execution: Execution) {
	simulation.executions.push(execution);
	void execution.run().catch((error: unknown) => (simulation.mistake ??= error));
}

const running = ({ executions }: Simulation) => executions.filter(({ ended }) => !ended);

/** Before a command: nothing, or until all that can end has ended. */
const wait = fc.constantFrom(0, 0, 300_000);

/** Starts an execution, beside those that run. */
const start = fc.record({ process, plan: plan.map(oneKindPerNode), wait }).map(
	({ process, plan: drawn, wait: ms }): Command => ({
		check: () => true,
		async run(simulation, world) {
			if (ms > 0) await world.clock.sleep(ms);
			const on = world.process(process);
			begin(simulation, new Execution(world, on, withAccounts(drawn, world.settings)));
		},
		toString: () => `${ms} ms later, start on process ${process}: ${JSON.stringify(drawn)}`,
	}),
);

/**
 * Starts a workflow on two processes at the same moment, for the same payment or for two; later, as
 * drawn, each on the other process again.
 */
const together = fc
	.record({
		plan: plan.map(oneKindPerNode),
		ids: fc.shuffledSubarray(IDS, { minLength: 2, maxLength: 2 }),
		same: fc.boolean(),
		swapped: fc.boolean(),
	})
	.map(
		({ plan: drawn, ids, same, swapped }): Command => ({
			check: () => true,
			async run(simulation, world) {
				const plans = ids.map((own) => {
					const chosen = (same ? ids[0] : own) as string;
					const nodes = drawn.nodes.map(({ items: [first], ...one }) => ({
						...one,
						items: first === undefined ? [] : [{ ...first, id: chosen }],
					}));
					return withAccounts({ ...drawn, nodes }, world.settings);
				});
				const start = (turn: number) =>
					plans.forEach((mine, index) => {
						const on = world.process((index + turn) % 2);
						begin(simulation, new Execution(world, on, mine));
					});
				start(0);
				if (!swapped) return;
				await world.clock.sleep(300_000);
				start(1);
			},
			toString: () =>
				`start on both processes, ${same ? 'both' : 'each'} ${ids.join()}${swapped ? ', later swapped' : ''}: ${JSON.stringify(drawn)}`,
		}),
	);

/** Runs a workflow with the items of an earlier execution again, when all that can end has ended. */
const again = fc.record({ which: fc.nat(3), elsewhere: fc.boolean() }).map(
	({ which, elsewhere }): Command => ({
		check: ({ executions }) => executions.length > 0,
		async run(simulation, world) {
			await world.clock.sleep(300_000);
			const { executions } = simulation;
			const earlier = executions[which % executions.length] as Execution;
			const { plan: before, name } = earlier;
			const isFirst = world.processes[0] === earlier.process;
			const execution = new Execution(world, world.process(isFirst === elsewhere ? 1 : 0), before);
			world.note(`${execution.name} has the items of ${name}`);
			begin(simulation, execution);
		},
		toString: () =>
			`later, the items of execution ${which} again on ${elsewhere ? 'another' : 'its'} process`,
	}),
);

/** Items as corrected before a retry; mostly one thing of one item. */
type Edit = Partial<Pick<TypedItem, 'amount' | 'value' | 'key' | 'account'>> & {
	options?: Options;
};
const key = fc.constantFrom('key-1', 'key-2');
const edits: fc.Arbitrary<Edit> = fc.oneof(
	fc.constant({}),
	{ weight: 3, arbitrary: fc.record({ key }) },
	{ weight: 3, arbitrary: amount.map((typed) => ({ ...typed, members: GOOD_MEMBERS })) },
	fc.record({ account: fc.nat(1) }),
	fc.record({ options }),
);

const RETRIED: ReadonlyArray<Execution['status']> = ['failed', 'crashed', 'cancelled'];

/** The editor's Retry of an execution that did not end well; also one retried before. */
const retry = fc
	.record({
		which: fc.nat(2),
		process,
		edited: edits,
		// One of them, or all.
		item: fc.nat(3),
	})
	.map(
		({ which, process, edited, item: at }): Command => ({
			check: ({ executions }) => executions.length > 0,
			async run(simulation, world) {
				const isStored = ({ status }: Execution) => RETRIED.includes(status);
				if (!simulation.executions.some(isStored)) await world.clock.sleep(300_000);
				if (!simulation.executions.some(isStored)) return;
				const stored = simulation.executions.filter(isStored);
				const failed = stored[which % stored.length] as Execution;
				const { options: changed, ...typed } = edited;
				const { nodes } = failed.plan;
				const position = failed.saved.position;
				const correct = (it: TypedItem, index: number): TypedItem =>
					index === at || at === 3 ? { ...it, ...typed } : it;
				const corrected: Plan = {
					...failed.plan,
					options: changed ?? failed.plan.options,
					nodes: nodes.map((one, index) =>
						index === position ? { ...one, items: one.items.map(correct) } : one,
					),
				};
				const on = world.process(process);
				const execution = new Execution(
					world,
					on,
					withAccounts(corrected, world.settings),
					failed.saved,
				);
				world.note(`${execution.name} is ${failed.name} again, ${JSON.stringify(edited)}`);
				begin(simulation, execution);
			},
			toString: () => `retry ${which} on process ${process}, item ${at}: ${JSON.stringify(edited)}`,
		}),
	);

const cancel = fc.nat(2).map(
	(which): Command => ({
		check: (simulation) => running(simulation).length > 0,
		async run(simulation) {
			const candidates = running(simulation);
			candidates[which % candidates.length]?.cancel();
		},
		toString: () => `cancel ${which}`,
	}),
);

const crash = process.map(
	(which): Command => ({
		check: () => true,
		async run(simulation, world) {
			const dead = world.crash(which);
			for (const execution of running(simulation)) {
				if (execution.process !== dead) continue;
				execution.crash();
			}
		},
		toString: () => `process ${which} dies`,
	}),
);

const freeze = fc.record({ which: process, ms: fc.constantFrom(50, 3000, 45_000, 120_000) }).map(
	({ which, ms }): Command => ({
		check: () => true,
		async run(_simulation, world) {
			const process = world.processes[which];
			if (process === undefined || process.frozen !== undefined) return;
			world.note(`${process.name} is frozen for ${ms} ms`);
			process.frozenUntil = world.clock.now + ms;
			process.frozen = new Promise((resolve) => {
				world.clock.after(ms, () => {
					process.frozen = undefined;
					resolve();
				});
			});
		},
		toString: () => `freeze process ${which} for ${ms} ms`,
	}),
);

/** n8n 1 gives the job of a worker that is silent for long to another, which starts it anew. */
const giveAway = process.map(
	(to): Command => ({
		check: (simulation) => running(simulation).some(({ process }) => process.frozen !== undefined),
		async run(simulation, world) {
			const stalled = running(simulation).find(({ process }) => process.frozen !== undefined);
			const on = world.process(to);
			if (stalled === undefined || on === stalled.process) return;
			world.note(`${stalled.name} is given to ${on.name}`);
			begin(simulation, new Execution(world, on, stalled.plan, stalled.saved, stalled.name));
		},
		toString: () => `give a stalled execution to process ${to}`,
	}),
);

/** A Remove Duplicates node of the workflow, with the scope that its form starts with. */
const otherNode = fc
	.record({
		does: fc.constantFrom('record', 'clear', 'latest'),
		keeps: fc.constantFrom(1, 1000),
		wait,
	})
	.map(
		({ does, keeps, wait: ms }): Command => ({
			check: () => true,
			async run(_simulation, world) {
				if (ms > 0) await world.clock.sleep(ms);
				world.note(`Remove Duplicates: ${does}`);
				const store = world.store.seenBy(async (now) => await world.clock.step(`other ${now}`));
				const where = {
					node: { id: 'other' } as never,
					workflow: world.workflow,
				};
				const call =
					does === 'clear'
						? store.clearAllProcessedItems('workflow', where)
						: store.checkProcessedAndRecord([7], 'workflow', where, {
								mode: does === 'latest' ? 'latestIncrementalKey' : 'entries',
								maxEntries: keeps,
							});
				await call.catch(() => undefined);
			},
			toString: () => `${ms} ms later, Remove Duplicates: ${does}, keeps ${keeps}`,
		}),
	);

let otherPayments = 0;

/** A list of payments, run again on another process when others have pushed out its first ones. */
const outlived = fc
	.record({
		plan: workflow,
		first: item,
		ids: fc.shuffledSubarray(IDS, { minLength: 2, maxLength: 3 }),
		pushedOut: fc.integer({ min: 1, max: 2 }),
	})
	.map(
		({ plan: drawn, first, ids, pushedOut }): Command => ({
			check: ({ world }) => world.settings.remembered === SHORT_LIST,
			async run(simulation, world) {
				await world.clock.sleep(300_000);
				const where = { node: { id: 'node-1' } as never, workflow: world.workflow };
				const length = () => world.store.list(where).length;
				const items = ids.map((id) => ({ ...first, changing: undefined, id }));
				const nodes: NodePlan[] = [{ id: 'node-1', kind: 'payment', items }];
				const single = { ...drawn.options, batchSize: 1 };
				const list = withAccounts({ ...drawn, nodes, options: single }, world.settings);
				const before = length();
				begin(simulation, new Execution(world, world.process(0), list));
				await world.clock.sleep(300_000);
				const count = Math.max(0, SHORT_LIST + pushedOut + before - length());
				const others = Array.from({ length: count }, () => `other ${(otherPayments += 1)}`);
				world.note(`others make ${count} payments`);
				const options = { mode: 'entries', maxEntries: SHORT_LIST } as const;
				await world.store.checkProcessedAndRecord(others, 'node', where, options);
				begin(simulation, new Execution(world, world.process(1), list));
			},
			toString: () =>
				`a list of ${ids.join()}, again when ${pushedOut} are pushed out: ${JSON.stringify([first, drawn])}`,
		}),
	);

/** Lets time pass, so that what can end has ended. */
const later = fc.constantFrom(10, 5000, 300_000).map(
	(ms): Command => ({
		check: () => true,
		run: async (_simulation, world) => await world.clock.sleep(ms),
		toString: () => `${ms} ms pass`,
	}),
);

/** Lets some steps go by, so that what comes next comes in the middle of something. */
const pass = fc.integer({ min: 1, max: 12 }).map(
	(steps): Command => ({
		check: () => true,
		async run(_simulation, world) {
			for (let left = steps; left > 0; left--) await world.clock.step('passes');
		},
		toString: () => `${steps} steps pass`,
	}),
);

export interface Scenario {
	scheduler: fc.Scheduler;
	settings: Settings;
	commands: Iterable<fc.AsyncCommand<Simulation, World>>;
}

const COMMANDS = [
	...[
		start,
		together,
		again,
		outlived,
		retry,
		later,
		pass,
		cancel,
		crash,
		freeze,
		giveAway,
		otherNode,
	],
];
/** How often each is drawn. */
const WEIGHTS = [5, 7, 3, 1, 8, 1, 1, 1, 1, 1, 1, 3];
const weighted = COMMANDS.flatMap(
	(command, index) => Array(WEIGHTS[index]).fill(command) as [typeof command],
);

/**
 * All that can happen.
 * @param replayPath which commands of a failure had run, as fast-check prints it
 */
export function scenarios(replayPath?: string): fc.Arbitrary<Scenario> {
	return fc.record({
		scheduler: fc.scheduler(),
		settings,
		commands: fc.commands(weighted, {
			maxCommands: 7,
			size: 'max',
			replayPath,
		}) as unknown as fc.Arbitrary<Scenario['commands']>,
	});
}

/** No scenario of seven commands needs more; what does, goes round in circles. */
const MOST_STEPS = 20_000;

export interface Playing {
	/** Rules that are not looked at: to find what is behind a known fault. */
	ignored?: ReadonlySet<string>;
	/** Whether all processes are new ones; a tenth of the speed, and nothing survives from before. */
	fresh?: boolean;
}

/**
 * Plays a scenario to its end.
 * @throws Violation at the end of the step that broke a promise
 */
export async function play(
	drawn: Scenario,
	{ ignored = new Set<string>(), fresh = false }: Playing = {},
): Promise<World> {
	Execution.restartCount();
	const world = new World(drawn.settings, drawn.scheduler, ignored, fresh);
	const simulation: Simulation = { world, executions: [] };
	if (drawn.settings.warm) await world.warmUp();

	let driven = false;
	const drive = async () => {
		for (const command of drawn.commands) {
			await world.clock.step('command');
			if (await command.check(simulation)) await command.run(simulation, world);
		}
	};
	void drive().then(
		() => (driven = true),
		(error: unknown) => (simulation.mistake ??= error),
	);
	let steps = 0;
	const check = () => {
		if (simulation.mistake !== undefined) throw simulation.mistake;
		if (world.violation !== undefined) {
			world.violation.message += `\n${world.history.join('\n')}`;
			throw world.violation;
		}
		if ((steps += 1) > MOST_STEPS) throw new Error('The scenario does not come to an end');
	};
	const done = () => driven && running(simulation).length === 0;
	const ended = await world.clock.run(done, check);
	if (!ended) {
		const hanging = running(simulation).map(({ name }) => name);
		world.violate('hangs', `${hanging.join()} never ends`);
		check();
	}
	for (const process of world.processes) process?.release();
	return world;
}
