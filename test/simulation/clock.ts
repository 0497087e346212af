import type { Scheduler } from 'fast-check';

interface Timer {
	at: number;
	fire: () => void;
}

/** What runs on a machine of the simulation; it may be frozen for a while, or die. */
export interface Machine {
	dead: boolean;
	/** Settled when a frozen machine goes on. */
	frozen: Promise<void> | undefined;
}

const never = new Promise<never>(() => undefined);
/** Until all that can go on without input or output has done so. */
const settled = async () => await new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Time in the simulation. Whatever touches the world is a step, and fast-check's scheduler says
 * which of the steps that are due comes next. Only when none is due does time go on, to the next
 * timers.
 */
export class Clock {
	now = 0;
	private readonly timers: Timer[] = [];

	constructor(private readonly scheduler: Scheduler) {}

	/** Waits for this step's turn. On a dead machine nothing goes on, on a frozen one later. */
	async step(label: string, machine?: Machine): Promise<void> {
		if (machine?.dead) await never;
		await this.scheduler.schedule(Promise.resolve(), label);
		while (machine?.frozen !== undefined) await machine.frozen;
		if (machine?.dead) await never;
	}

	/** Calls back at a time from now on. */
	after(ms: number, fire: () => void) {
		const timer = { at: this.now + ms, fire };
		const later = this.timers.findIndex(({ at }) => at > timer.at);
		this.timers.splice(later === -1 ? this.timers.length : later, 0, timer);
	}

	/** n8n-workflow's `sleep`, on a machine. */
	async sleep(ms: number, machine?: Machine): Promise<void> {
		await new Promise<void>((resolve) => this.after(ms, resolve));
		await this.step('wakes', machine);
	}

	/**
	 * Goes on until all is done, or nothing is due any more.
	 * @param check called after every step; throws when something is wrong
	 * @returns whether it was done
	 */
	async run(done: () => boolean, check: () => void): Promise<boolean> {
		for (;;) {
			await settled();
			check();
			if (done()) return true;
			if (this.scheduler.count() > 0) {
				await this.scheduler.waitOne();
				continue;
			}
			const [next] = this.timers;
			if (next === undefined) return false;
			this.now = next.at;
			// All that is due then: who goes first is for the scheduler to say.
			const later = this.timers.findIndex(({ at }) => at > this.now);
			const due = this.timers.splice(0, later === -1 ? this.timers.length : later);
			for (const { fire } of due) fire();
		}
	}
}
