import * as fc from 'fast-check';
import { Execution } from './execution';
import {
	account,
	amount,
	GOOD_MEMBERS,
	IDS,
	item,
	key,
	options,
	plan,
	SHORT_LIST,
	weighed,
	workflow,
	always,
	type NodePlan,
	type Options,
	type Plan,
	type TypedItem,
} from './plan';
import type { World } from './world';

/*
 * What may happen: people start, cancel and retry executions, processes die and freeze, n8n runs
 * something again, others use its duplicate store, and time passes. Each is drawn with what it needs.
 */

/** A running scenario: the world and what n8n has in hand. */
export interface Simulation {
	world: World;
	executions: Execution[];
	/** What the simulation itself stumbled over. */
	mistake?: unknown;
}

export type Event = fc.AsyncCommand<Simulation, World>;

/** In which all that can end has ended. */
const LONG = 300_000;

/** The number of a process; mostly there is one. */
const process = fc.constantFrom(0, 0, 1);

export function running({ executions }: Simulation): Execution[] {
	return executions.filter(({ ended }) => !ended);
}

function hasExecutions({ executions }: Simulation): boolean {
	return executions.length > 0;
}

function begin(simulation: Simulation, execution: Execution): void {
	simulation.executions.push(execution);
	execution.run().catch((error: unknown) => (simulation.mistake ??= error));
}

function start(simulation: Simulation, on: number, planned: Plan): void {
	const { world } = simulation;
	const plan = world.settings.accountPerItem ? planned : withOneAccount(planned);
	begin(simulation, new Execution(world, world.process(on), plan));
}

/** Every item is paid from the first one's account. */
function withOneAccount(planned: Plan): Plan {
	const account = planned.nodes[0]?.items[0]?.account ?? 0;
	const nodes = planned.nodes.map(({ id, kind, items }) => ({
		id,
		kind,
		items: items.map((item) => ({ ...item, account })),
	}));
	return { ...planned, nodes };
}

/** An execution is started, beside those that run or when all that can end has ended. */
const startOne = fc.record({ process, plan, wait: fc.constantFrom(0, 0, LONG) }).map(
	({ process, plan, wait }): Event => ({
		toString: () => `${wait} ms later, start on process ${process}: ${JSON.stringify(plan)}`,
		check: () => true,
		async run(simulation, { clock }) {
			if (wait > 0) await clock.sleep(wait);
			start(simulation, process, plan);
		},
	}),
);

/** The first item of each node, under another id. */
function withFirstItem(planned: Plan, id: string): Plan {
	const nodes = planned.nodes.map(({ id: nodeId, kind, items }) => ({
		id: nodeId,
		kind,
		items: items.slice(0, 1).map((item) => ({ ...item, id })),
	}));
	return { ...planned, nodes };
}

/**
 * A workflow is started on two processes at the same moment, for the same payment or for two; later, as
 * drawn, each on the other process again.
 */
const startTwo = fc
	.record({
		plan,
		ids: fc.shuffledSubarray(IDS, { minLength: 2, maxLength: 2 }),
		isSame: fc.boolean(),
		isSwapped: fc.boolean(),
	})
	.map(({ plan, ids, isSame, isSwapped }): Event => {
		const first = withFirstItem(plan, ids[0]!);
		const second = withFirstItem(plan, isSame ? ids[0]! : ids[1]!);
		const which = `${isSame ? 'both' : 'each'} ${ids.join()}${isSwapped ? ', later swapped' : ''}`;
		return {
			toString: () => `start on both processes, ${which}: ${JSON.stringify(plan)}`,
			check: () => true,
			async run(simulation, { clock }) {
				start(simulation, 0, first);
				start(simulation, 1, second);
				if (!isSwapped) return;
				await clock.sleep(LONG);
				start(simulation, 1, first);
				start(simulation, 0, second);
			},
		};
	});

/** The items of an earlier execution come again, when all that can end has ended. */
const startAgain = fc.record({ which: fc.nat(3), isElsewhere: fc.boolean() }).map(
	({ which, isElsewhere }): Event => ({
		toString: () =>
			`later, the items of execution ${which} again on ${isElsewhere ? 'another' : 'its'} process`,
		check: hasExecutions,
		async run(simulation, world) {
			await world.clock.sleep(LONG);
			const { executions } = simulation;
			const earlier = executions[which % executions.length]!;
			const wasOnFirst = world.processes[0] === earlier.process;
			const process = world.process(wasOnFirst === isElsewhere ? 1 : 0);
			const execution = new Execution(world, process, earlier.plan);
			world.note(`${execution.name} has the items of ${earlier.name}`);
			begin(simulation, execution);
		},
	}),
);

let paymentsOfOthers = 0;

/** A list of payments is run again on another process when others have pushed out its first ones. */
const outliveList = fc
	.record({
		plan: workflow,
		first: item,
		ids: fc.shuffledSubarray(IDS, { minLength: 2, maxLength: 3 }),
		pushedOut: fc.integer({ min: 1, max: 2 }),
	})
	.map(({ plan, first, ids, pushedOut }): Event => {
		const items = ids.map((id) => ({ ...first, changing: undefined, id }));
		const list: Plan = {
			nodes: [{ id: 'node-1', kind: 'payment', items }],
			options: { confirmed: plan.options.confirmed, batchSize: 1, timeout: plan.options.timeout },
			onError: plan.onError,
			tries: plan.tries,
			isAgent: plan.isAgent,
			evaluation: undefined,
		};
		const what = `a list of ${ids.join()}, again when ${pushedOut} are pushed out`;
		return {
			toString: () => `${what}: ${JSON.stringify([first, plan])}`,
			// Beside a Remove Duplicates node of that scope nothing is paid, and the row may be one of another kind.
			check: ({ world: { settings } }) =>
				settings.remembered === SHORT_LIST && !settings.sharesRecord,
			async run(simulation, world) {
				await world.clock.sleep(LONG);
				const place = world.placeOf('node-1');
				const before = world.store.list(place).length;
				start(simulation, 0, list);
				await world.clock.sleep(LONG);
				const added = world.store.list(place).length - before;
				const count = Math.max(0, SHORT_LIST + pushedOut - added);
				const others = Array.from({ length: count }, () => `other ${(paymentsOfOthers += 1)}`);
				world.note(`others make ${count} payments`);
				const how = { mode: 'entries', maxEntries: SHORT_LIST } as const;
				await world.store.checkProcessedAndRecord(others, 'workflow', place, how);
				start(simulation, 1, list);
			},
		};
	});

/** What is corrected before a retry; mostly one thing. */
interface Correction {
	typed: Partial<TypedItem>;
	options?: Options;
}

const correction = weighed<Correction>(
	[1, always({ typed: {} })],
	[3, fc.record({ key }).map((typed) => ({ typed }))],
	[3, amount.map(({ amount, value }) => ({ typed: { amount, value, members: GOOD_MEMBERS } }))],
	[1, fc.record({ account }).map((typed) => ({ typed }))],
	[1, fc.record({ options }).map((drawn) => ({ typed: {}, options: drawn.options }))],
);

/** Of which item of three a correction is; or of all. */
const ALL = 3;

function corrected(failed: Execution, { typed, options }: Correction, at: number): Plan {
	const correct = (item: TypedItem, index: number): TypedItem =>
		index === at || at === ALL ? { ...item, ...typed } : item;
	const nodes = failed.plan.nodes.map((node, position): NodePlan => {
		if (position !== failed.saved.position) return node;
		return { id: node.id, kind: node.kind, items: node.items.map(correct) };
	});
	return { ...failed.plan, options: options ?? failed.plan.options, nodes };
}

function mayBeRetried({ status }: Execution): boolean {
	return status === 'failed' || status === 'crashed' || status === 'cancelled';
}

/** Somebody presses Retry in the editor, for an execution that did not end well; also a retried one. */
const retry = fc.record({ which: fc.nat(2), process, correction, at: fc.nat(ALL) }).map(
	({ which, process, correction, at }): Event => ({
		toString: () =>
			`retry ${which} on process ${process}, item ${at}: ${JSON.stringify(correction)}`,
		check: hasExecutions,
		async run(simulation, world) {
			if (!simulation.executions.some(mayBeRetried)) await world.clock.sleep(LONG);
			const candidates = simulation.executions.filter(mayBeRetried);
			const failed = candidates[which % candidates.length];
			if (failed === undefined) return;
			const planned = corrected(failed, correction, at);
			const plan = world.settings.accountPerItem ? planned : withOneAccount(planned);
			const execution = new Execution(world, world.process(process), plan, failed.saved);
			world.note(`${execution.name} is ${failed.name} again, ${JSON.stringify(correction)}`);
			begin(simulation, execution);
		},
	}),
);

/** Somebody presses Stop, or the workflow's time is up. */
const cancel = fc.nat(2).map(
	(which): Event => ({
		toString: () => `cancel ${which}`,
		check: (simulation) => running(simulation).length > 0,
		async run(simulation) {
			const candidates = running(simulation);
			candidates[which % candidates.length]?.cancel();
			return await Promise.resolve();
		},
	}),
);

const crash = process.map(
	(which): Event => ({
		toString: () => `process ${which} dies`,
		check: () => true,
		async run(simulation, world) {
			const dead = world.crash(which);
			for (const execution of running(simulation)) {
				if (execution.process === dead) execution.crash();
			}
			return await Promise.resolve();
		},
	}),
);

const freeze = fc.record({ which: process, ms: fc.constantFrom(50, 3000, 45_000, 120_000) }).map(
	({ which, ms }): Event => ({
		toString: () => `freeze process ${which} for ${ms} ms`,
		check: () => true,
		async run(_simulation, world) {
			world.freeze(which, ms);
			return await Promise.resolve();
		},
	}),
);

function stalled(simulation: Simulation): Execution | undefined {
	return running(simulation).find(({ process }) => process.frozen !== undefined);
}

/** n8n 1 gives the job of a worker that is silent for long to another, which starts it anew. */
const giveAway = process.map(
	(to): Event => ({
		toString: () => `give a stalled execution to process ${to}`,
		check: (simulation) => stalled(simulation) !== undefined,
		async run(simulation, world) {
			const execution = stalled(simulation);
			const process = world.process(to);
			if (execution === undefined || process === execution.process) return;
			const { plan, saved, name } = execution;
			world.note(`${name} is given to ${process.name}`);
			begin(simulation, new Execution(world, process, plan, saved, name));
			return await Promise.resolve();
		},
	}),
);

/** A timer of n8n that comes late runs an execution again from what it loaded, in the same process. */
const runFromEarlierState = fc.record({ which: fc.nat(2), state: fc.nat(2) }).map(
	({ which, state }): Event => ({
		toString: () => `run ${which} again from state ${state}`,
		check: hasExecutions,
		async run(simulation, world) {
			const candidates = simulation.executions.filter(({ process }) => !process.dead);
			const execution = candidates[which % candidates.length];
			if (execution === undefined) return;
			const { process, plan, states, name } = execution;
			const saved = states[state % states.length]!;
			world.note(`${name} is run again from position ${saved.position}`);
			begin(simulation, new Execution(world, process, plan, saved, name));
			return await Promise.resolve();
		},
	}),
);

/** A Remove Duplicates node of the workflow runs: of the Scope Workflow, or of that which its form starts with. */
const removeDuplicates = fc
	.record({
		does: fc.constantFrom('record', 'clear', 'latest'),
		keeps: fc.constantFrom(1, 1000),
		wait: fc.constantFrom(0, 0, LONG),
	})
	.map(
		({ does, keeps, wait }): Event => ({
			toString: () => `${wait} ms later, Remove Duplicates: ${does}, keeps ${keeps}`,
			check: () => true,
			async run(_simulation, world) {
				if (wait > 0) await world.clock.sleep(wait);
				world.note(`Remove Duplicates: ${does}`);
				const store = world.store.seenBy(
					async (moment) => await world.clock.step(`other ${moment}`),
				);
				const place = world.placeOf('other');
				const mode = does === 'latest' ? 'latestIncrementalKey' : 'entries';
				const how = { mode, maxEntries: keeps } as const;
				const scope = world.settings.sharesRecord ? 'workflow' : 'node';
				const call =
					does === 'clear'
						? store.clearAllProcessedItems(scope, place)
						: store.checkProcessedAndRecord([7], scope, place, how);
				await call.catch(() => undefined);
			},
		}),
	);

/** The workflow is deployed from JSON without the ids of its nodes; at once, or when what can end has ended. */
const deploy = fc.constantFrom(0, LONG).map(
	(wait): Event => ({
		toString: () => `${wait} ms later, deploy`,
		check: () => true,
		async run(_simulation, world) {
			if (wait > 0) await world.clock.sleep(wait);
			world.deploy();
		},
	}),
);

/** Time passes, so that what can end has ended. */
const passTime = fc.constantFrom(10, 5000, LONG).map(
	(ms): Event => ({
		toString: () => `${ms} ms pass`,
		check: () => true,
		async run(_simulation, { clock }) {
			await clock.sleep(ms);
		},
	}),
);

/** Some steps go by, so that what comes next comes in the middle of something. */
const passSteps = fc.integer({ min: 1, max: 12 }).map(
	(steps): Event => ({
		toString: () => `${steps} steps pass`,
		check: () => true,
		async run(_simulation, { clock }) {
			for (let left = steps; left > 0; left--) await clock.step('passes');
		},
	}),
);

/** All of them, and how often each is drawn. */
export const EVENTS: ReadonlyArray<{ event: fc.Arbitrary<Event>; weight: number }> = [
	{ event: startOne, weight: 5 },
	{ event: startTwo, weight: 7 },
	{ event: startAgain, weight: 3 },
	{ event: outliveList, weight: 1 },
	{ event: retry, weight: 9 },
	{ event: passTime, weight: 1 },
	{ event: passSteps, weight: 1 },
	{ event: cancel, weight: 1 },
	{ event: crash, weight: 1 },
	{ event: freeze, weight: 1 },
	{ event: giveAway, weight: 1 },
	{ event: removeDuplicates, weight: 1 },
	{ event: deploy, weight: 1 },
	{ event: runFromEarlierState, weight: 1 },
];
