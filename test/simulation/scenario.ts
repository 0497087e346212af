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
const command = (text: string, run: Command['run'], check: Command['check'] = () => true) => ({
	run,
	check,
	toString: () => text,
});

// Some differ in case alone, or far behind their beginning.
const IDS = ['id-A', 'id-B', 'id-a', 'id-of-a-payment-1', 'id-of-a-payment-2'];
const id = fc.constantFrom(...IDS);

/** One of them, each as often as its weight says. */
const weigh = <T>(...choices: Array<[weight: number, arbitrary: fc.Arbitrary<T>]>) =>
	fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
const always = <const T>(value: T) => fc.constant(value);

type Typed = Pick<TypedItem, 'amount' | 'value'>;
const plain: Typed[] = [
	{ amount: '1', value: 1 },
	{ amount: '10.50', value: 10.5 },
	{ amount: 250, value: 250 },
];
const doubtful = ['10,50', '1,000.50', '1.000', '', null, '-1', '0'];
const amount = weigh<Typed>(
	[12, fc.constantFrom(...plain)],
	[1, fc.constantFrom(...doubtful.map((typed) => ({ amount: typed, value: undefined })))],
);

/** Drawn once in so many times, else undefined. */
const once = <T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
	weigh<T | undefined>([times - 1, always(undefined)], [1, arbitrary]);

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
		place: '',
		...rest,
		...typed,
		members: bad ?? GOOD_MEMBERS,
		...(bad === undefined ? {} : { value: undefined }),
	}));

const options: fc.Arbitrary<Options> = fc.record({
	confirmed: weigh<boolean>([3, always(false)], [1, always(true)]),
	batchSize: fc.integer({ min: 1, max: 3 }),
	timeout: fc.constantFrom(60_000, 1000),
});

const node: fc.Arbitrary<NodePlan> = fc.record({
	id: weigh<string>([4, always('node-1')], [1, always('node-2')]),
	kind: weigh<NodePlan['kind']>([9, always('payment')], [1, always('qrCode')]),
	items: fc.oneof(
		fc.array(item, { minLength: 1, maxLength: 3 }),
		fc.array(item, { minLength: 2, maxLength: 2 }),
	),
});

const workflow: fc.Arbitrary<Plan> = fc.record({
	nodes: weigh<NodePlan[]>(
		[3, fc.tuple(node)],
		[1, fc.array(node, { minLength: 1, maxLength: 2 })],
	),
	options,
	isAgent: fc.constant(false),
	onError: fc.constantFrom(
		// Only an execution that fails is retried with corrections.
		...(['stopWorkflow', 'stopWorkflow', 'stopWorkflow'] as const),
		...(['continueRegularOutput', 'continueErrorOutput'] as const),
	),
	tries: weigh([2, always(1)], [1, fc.integer({ min: 2, max: 3 })]),
});

/** Two or three calls of an agent's tools in one message, mostly for one payment. */
const agent: fc.Arbitrary<Plan> = fc
	.record({
		calls: fc.array(fc.record({ node, own: once(3, item) }), {
			minLength: 2,
			maxLength: 3,
		}),
		shared: item,
		options,
	})
	.map(({ calls, shared, options: drawn }) => ({
		nodes: calls.map(({ node: called, own }) => ({ ...called, items: [own ?? shared] })),
		options: drawn,
		onError: 'continueRegularOutput',
		tries: 1,
		isAgent: true,
	}));

const plan = weigh<Plan>([8, workflow], [1, agent]);

const books = fc.boolean();
const STATUSES = [
	200, 201, 202, 204, 400, 401, 401, 401, 401, 403, 404, 409, 422, 429, 307, 308, 101, 300, 301,
	302, 303, 304, 408, 499, 500, 502, 503, 504,
];
const BROKEN = ['ECONNRESET', 'EPIPE', 'ERR_BAD_RESPONSE', 'HPE_INVALID_CONSTANT'];
const UNHEARD: Fate[] = [
	{ does: 'notReached', code: 'ECONNREFUSED', syscall: 'connect' },
	{ does: 'notReached', code: 'ENOTFOUND', syscall: 'getaddrinfo' },
	{ does: 'notReached', code: 'CERT_HAS_EXPIRED' },
	{ does: 'cutRequest' },
	...[407, 502, 201].map((status) => ({ does: 'proxyAnswers' as const, status })),
];
const fate = weigh<Fate>(
	[4, always({ does: 'answer', status: 200, books: true })],
	[
		5,
		fc.record(
			{
				does: always('answer'),
				status: fc.constantFrom(...STATUSES),
				books,
				after: fc.constantFrom(1, 999, 1001, 61_000),
				echo: always(true),
				open: always(true),
			},
			{ requiredKeys: ['does', 'status', 'books'] },
		),
	],
	[1, fc.record({ does: always('drip'), books, status: fc.constantFrom(200, 422) })],
	[1, fc.record({ does: always('stall'), books })],
	[2, fc.record({ does: always('breakOff'), books, code: fc.constantFrom(...BROKEN) })],
	[1, fc.constantFrom(...UNHEARD)],
);

const moment = fc.constantFrom('read' as const, 'write' as const, 'answer' as const);
const SLOW = fc.constantFrom(5, 200, 2000, 20_000, 40_000);
const storeFate: fc.Arbitrary<StoreFate> = fc.oneof(
	fc.record({ does: always('fail'), at: moment }),
	fc.record({ does: always('hang'), at: moment }),
	fc.record({ does: always('slow'), at: moment, ms: SLOW }),
	always({ does: 'junk' }),
);

const life = fc.constantFrom(1, 120, 3600);
const tokenFate = weigh<TokenFate>(
	[3, fc.record({ does: always('give'), life }, { requiredKeys: ['does'] })],
	[1, fc.constantFrom<TokenFate>({ does: 'fail' }, { does: 'stall' })],
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
			...['1.5', '10.5', '11.5', '12', '260.5'].map((highestSum) => ({ highestSum })),
			{ highestPayment: '10.50' },
			{ onlyRecipients: 'key-1' },
			{ highestPayment: '1.000,00' },
		),
	),
	remembered: once(4, fc.constant(SHORT_LIST)).map((short) => short ?? 10_000),
	warm: fc.boolean(),
	changeMs: fc.constantFrom(0, 20),
	fates: weigh<Settings['fates']>(
		[5, fc.array(fate, { maxLength: 5 })],
		// An account that is refused, whoever asks.
		[1, always(Array<Fate>(6).fill({ does: 'answer', status: 401, books: false }))],
	),
	storeFates: weigh<Settings['storeFates']>(
		[3, always([])],
		[1, fc.array(fc.option(storeFate, { freq: 2, nil: undefined }), { maxLength: 5 })],
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

const exists: Command['check'] = ({ executions }) => executions.length > 0;
/** Starts a plan on a process, with the accounts as the scenario has them. */
function startOn(simulation: Simulation, on: number, drawn: Plan) {
	const { world } = simulation;
	const planned = withAccounts(drawn, world.settings);
	begin(simulation, new Execution(world, world.process(on), planned));
}

/** Starts an execution, beside those that run. */
const start = fc
	.record({ process, plan: plan.map(oneKindPerNode), wait })
	.map(({ process: on, plan: drawn, wait: ms }) =>
		command(
			`${ms} ms later, start on process ${on}: ${JSON.stringify(drawn)}`,
			async (simulation, world) => {
				if (ms > 0) await world.clock.sleep(ms);
				startOn(simulation, on, drawn);
			},
		),
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
	.map(({ plan: drawn, ids, same, swapped }) => {
		const plans = ids.map((own) => {
			const chosen = (same ? ids[0] : own) as string;
			const nodes = drawn.nodes.map(({ items: [first], ...one }) => ({
				...one,
				items: first === undefined ? [] : [{ ...first, id: chosen }],
			}));
			return { ...drawn, nodes };
		});
		const who = `${same ? 'both' : 'each'} ${ids.join()}${swapped ? ', later swapped' : ''}`;
		return command(
			`start on both processes, ${who}: ${JSON.stringify(drawn)}`,
			async (simulation, world) => {
				const startAll = (turn: number) =>
					plans.forEach((mine, index) => startOn(simulation, (index + turn) % 2, mine));
				startAll(0);
				if (!swapped) return;
				await world.clock.sleep(300_000);
				startAll(1);
			},
		);
	});

/** Runs a workflow with the items of an earlier execution again, when all that can end has ended. */
const again = fc.record({ which: fc.nat(3), elsewhere: fc.boolean() }).map(({ which, elsewhere }) =>
	command(
		`later, the items of execution ${which} again on ${elsewhere ? 'another' : 'its'} process`,
		async (simulation, world) => {
			await world.clock.sleep(300_000);
			const { executions } = simulation;
			const earlier = executions[which % executions.length] as Execution;
			const isFirst = world.processes[0] === earlier.process;
			const { plan: before, name } = earlier;
			const execution = new Execution(world, world.process(isFirst === elsewhere ? 1 : 0), before);
			world.note(`${execution.name} has the items of ${name}`);
			begin(simulation, execution);
		},
		exists,
	),
);

/** Items as corrected before a retry; mostly one thing of one item. */
type Edit = Partial<Pick<TypedItem, 'amount' | 'value' | 'key' | 'account'>> & {
	options?: Options;
};
const key = fc.constantFrom('key-1', 'key-2');
const edits = weigh<Edit>(
	[1, always({})],
	[3, fc.record({ key })],
	[3, amount.map((typed) => ({ ...typed, members: GOOD_MEMBERS }))],
	[1, fc.record({ account: fc.nat(1) })],
	[1, fc.record({ options })],
);

const RETRIED: ReadonlyArray<Execution['status']> = ['failed', 'crashed', 'cancelled'];

/** The editor's Retry of an execution that did not end well; also one retried before. */
const retry = fc
	// One of the items, or all.
	.record({ which: fc.nat(2), process, edited: edits, item: fc.nat(3) })
	.map(({ which, process: on, edited, item: at }) =>
		command(
			`retry ${which} on process ${on}, item ${at}: ${JSON.stringify(edited)}`,
			async (simulation, world) => {
				const isStored = ({ status }: Execution) => RETRIED.includes(status);
				if (!simulation.executions.some(isStored)) await world.clock.sleep(300_000);
				const stored = simulation.executions.filter(isStored);
				if (stored.length === 0) return;
				const failed = stored[which % stored.length] as Execution;
				const { options: changed, ...typed } = edited;
				const correct = (it: TypedItem, index: number): TypedItem =>
					index === at || at === 3 ? { ...it, ...typed } : it;
				const nodes = failed.plan.nodes.map((one, index) =>
					index === failed.saved.position ? { ...one, items: one.items.map(correct) } : one,
				);
				const corrected = { ...failed.plan, options: changed ?? failed.plan.options, nodes };
				const planned = withAccounts(corrected, world.settings);
				const execution = new Execution(world, world.process(on), planned, failed.saved);
				world.note(`${execution.name} is ${failed.name} again, ${JSON.stringify(edited)}`);
				begin(simulation, execution);
			},
			exists,
		),
	);

const cancel = fc.nat(2).map((which) =>
	command(
		`cancel ${which}`,
		async (simulation) => {
			const candidates = running(simulation);
			candidates[which % candidates.length]?.cancel();
		},
		(simulation) => running(simulation).length > 0,
	),
);

const crash = process.map((which) =>
	command(`process ${which} dies`, async (simulation, world) => {
		const dead = world.crash(which);
		for (const execution of running(simulation)) {
			if (execution.process === dead) execution.crash();
		}
	}),
);

const freeze = fc
	.record({ which: process, ms: fc.constantFrom(50, 3000, 45_000, 120_000) })
	.map(({ which, ms }) =>
		command(`freeze process ${which} for ${ms} ms`, async (_simulation, world) => {
			const frozen = world.processes[which];
			if (frozen === undefined || frozen.frozen !== undefined) return;
			world.note(`${frozen.name} is frozen for ${ms} ms`);
			frozen.frozenUntil = world.clock.now + ms;
			frozen.frozen = new Promise((resolve) => {
				world.clock.after(ms, () => {
					frozen.frozen = undefined;
					resolve();
				});
			});
		}),
	);

/** n8n 1 gives the job of a worker that is silent for long to another, which starts it anew. */
const stalledOf = (simulation: Simulation) =>
	running(simulation).find(({ process: of }) => of.frozen !== undefined);
const giveAway = process.map((to) =>
	command(
		`give a stalled execution to process ${to}`,
		async (simulation, world) => {
			const stalled = stalledOf(simulation);
			const on = world.process(to);
			if (stalled === undefined || on === stalled.process) return;
			world.note(`${stalled.name} is given to ${on.name}`);
			begin(simulation, new Execution(world, on, stalled.plan, stalled.saved, stalled.name));
		},
		(simulation) => stalledOf(simulation) !== undefined,
	),
);

/** A timer of n8n that comes late runs an execution again from what it loaded, in the same process. */
const fromEarlierState = fc.record({ which: fc.nat(2), state: fc.nat(2) }).map(({ which, state }) =>
	command(
		`run ${which} again from state ${state}`,
		async (simulation, world) => {
			const candidates = simulation.executions.filter(({ process: of }) => !of.dead);
			const execution = candidates[which % candidates.length];
			if (execution === undefined) return;
			const { process: on, plan, states, name } = execution;
			const saved = states[state % states.length];
			world.note(`${name} is run again from position ${saved?.position}`);
			begin(simulation, new Execution(world, on, plan, saved, name));
		},
		exists,
	),
);

/** A Remove Duplicates node of the workflow, with the scope that its form starts with. */
const otherNode = fc
	.record({
		does: fc.constantFrom('record', 'clear', 'latest'),
		keeps: fc.constantFrom(1, 1000),
		wait,
	})
	.map(({ does, keeps, wait: ms }) =>
		command(
			`${ms} ms later, Remove Duplicates: ${does}, keeps ${keeps}`,
			async (_simulation, world) => {
				if (ms > 0) await world.clock.sleep(ms);
				world.note(`Remove Duplicates: ${does}`);
				const store = world.store.seenBy(async (now) => await world.clock.step(`other ${now}`));
				const where = { node: { id: 'other' } as never, workflow: world.workflow };
				const mode = does === 'latest' ? 'latestIncrementalKey' : 'entries';
				const call =
					does === 'clear'
						? store.clearAllProcessedItems('workflow', where)
						: store.checkProcessedAndRecord([7], 'workflow', where, { mode, maxEntries: keeps });
				await call.catch(() => undefined);
			},
		),
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
	.map(({ plan: drawn, first, ids, pushedOut }) => {
		const items = ids.map((id) => ({ ...first, changing: undefined, id }));
		const nodes: NodePlan[] = [{ id: 'node-1', kind: 'payment', items }];
		const list = { ...drawn, nodes, options: { ...drawn.options, batchSize: 1 } };
		const what = `a list of ${ids.join()}, again when ${pushedOut} are pushed out`;
		return command(
			`${what}: ${JSON.stringify([first, drawn])}`,
			async (simulation, world) => {
				await world.clock.sleep(300_000);
				const where = { node: { id: 'node-1' } as never, workflow: world.workflow };
				const length = () => world.store.list(where).length;
				const before = length();
				startOn(simulation, 0, list);
				await world.clock.sleep(300_000);
				const count = Math.max(0, SHORT_LIST + pushedOut + before - length());
				const others = Array.from({ length: count }, () => `other ${(otherPayments += 1)}`);
				world.note(`others make ${count} payments`);
				const options = { mode: 'entries', maxEntries: SHORT_LIST } as const;
				await world.store.checkProcessedAndRecord(others, 'node', where, options);
				startOn(simulation, 1, list);
			},
			({ world }) => world.settings.remembered === SHORT_LIST,
		);
	});

/** Lets time pass, so that what can end has ended. */
const later = fc
	.constantFrom(10, 5000, 300_000)
	.map((ms) => command(`${ms} ms pass`, async (_simulation, world) => await world.clock.sleep(ms)));

/** Lets some steps go by, so that what comes next comes in the middle of something. */
const pass = fc.integer({ min: 1, max: 12 }).map((steps) =>
	command(`${steps} steps pass`, async (_simulation, world) => {
		for (let left = steps; left > 0; left--) await world.clock.step('passes');
	}),
);

export interface Scenario {
	scheduler: fc.Scheduler;
	settings: Settings;
	commands: Iterable<fc.AsyncCommand<Simulation, World>>;
}

const COMMANDS: Array<fc.Arbitrary<Command>> = [
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
	fromEarlierState,
];
/** How often each is drawn. */
const WEIGHTS = [5, 7, 3, 1, 9, 1, 1, 1, 1, 1, 1, 3, 1];
const weighted = COMMANDS.flatMap(
	(each, index) => Array(WEIGHTS[index]).fill(each) as Array<typeof each>,
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
