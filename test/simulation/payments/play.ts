import * as fc from 'fast-check';
import { EVENTS, running, type Event, type Simulation } from './events';
import { Execution } from './execution';
import { settings, type Settings } from './plan';
import { World } from './world';

export interface Scenario {
	scheduler: fc.Scheduler;
	settings: Settings;
	events: Iterable<Event>;
}

/**
 * All scenarios.
 * @param replayPath which events of a failure had happened, as fast-check prints it
 */
export function scenarios(replayPath?: string): fc.Arbitrary<Scenario> {
	const weighed = EVENTS.flatMap(({ event, weight }) => Array<typeof event>(weight).fill(event));
	const events = fc.commands(weighed, { maxCommands: 7, size: 'max', replayPath });
	return fc.record({
		scheduler: fc.scheduler(),
		settings,
		events: events as unknown as fc.Arbitrary<Scenario['events']>,
	});
}

/** No scenario of seven events needs more; what does, goes round in circles. */
const MOST_STEPS = 20_000;

export interface Playing {
	/** Rules that are not looked at: to find what is behind a known fault. */
	ignoredRules?: ReadonlySet<string>;
	/** Whether all processes are new ones; a tenth of the speed, and nothing survives from before. */
	isFresh?: boolean;
}

/**
 * Plays a scenario to its end.
 * @throws Violation at the end of the step that broke a promise
 */
export async function play(
	scenario: Scenario,
	{ ignoredRules = new Set<string>(), isFresh = false }: Playing = {},
): Promise<World> {
	Execution.restartCount();
	const world = new World(scenario.settings, scenario.scheduler, ignoredRules, isFresh);
	const simulation: Simulation = { world, executions: [] };
	if (scenario.settings.warm) await world.warmUp();

	let haveAllHappened = false;
	letHappen(simulation, scenario.events).then(
		() => (haveAllHappened = true),
		(error: unknown) => (simulation.mistake ??= error),
	);
	let steps = 0;
	const check = () => {
		throwWhatIsWrong(simulation);
		if ((steps += 1) > MOST_STEPS) throw new Error('The scenario does not come to an end');
	};
	const isDone = () => haveAllHappened && running(simulation).length === 0;
	const hasEnded = await world.clock.run(isDone, check);
	if (!hasEnded) {
		const hanging = running(simulation).map(({ name }) => name);
		world.violate('hangs', `${hanging.join()} never ends`);
		throwWhatIsWrong(simulation);
	}
	for (const process of world.processes) process?.release();
	return world;
}

/** Lets one event after the other happen, each a step beside what is already going on. */
async function letHappen(simulation: Simulation, events: Iterable<Event>): Promise<void> {
	const { world } = simulation;
	for (const event of events) {
		await world.clock.step('command');
		if (await event.check(simulation)) await event.run(simulation, world);
	}
}

function throwWhatIsWrong({ mistake, world }: Simulation): void {
	if (mistake !== undefined) throw mistake;
	const { violation, history } = world;
	if (violation === undefined) return;
	violation.message += `\n${history.join('\n')}`;
	throw violation;
}
