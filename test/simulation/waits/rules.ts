import { Violation } from '../violation';
import type { Plan, PlannedPostback } from './plan';

/*
 * What must never happen to an execution that waits: what follows a wait runs twice because of a
 * postback, or a postback is refused, or told something untrue, although the execution waits for it.
 */

/** That what follows a wait ran. */
export interface Pass {
	/** A timer is that of the wait's own limit, or one that n8n kept of an earlier wait. */
	by: 'postback' | 'ownTimer' | 'otherTimer';
	/** The process that took the postback. */
	process?: number;
	/** When n8n had stored that the execution goes on. */
	storedAt: number;
}

/** A wait of the execution, and what became of it. */
export interface Wait {
	/** When its time limit passes, in the simulation's milliseconds. */
	until: number | undefined;
	passes: Pass[];
	/** How many postbacks n8n is about to let it go on with. */
	resuming: number;
	/** When n8n last failed to store that it goes on. */
	failedAt: number | undefined;
	/** Whether n8n stored an earlier state of the execution over this wait, so that it waits no more. */
	isOverwritten: boolean;
}

/** A postback that the node took or refused. */
export interface TakenPostback {
	planned: PlannedPostback;
	process: number;
	/** When n8n began to load the execution for it. */
	begunAt: number;
	/** When the node last looked at what n8n has stored, or could have: at the end of the body. */
	lookedAt: number;
	statusCode: number;
}

const inWords = (postback: TakenPostback) => JSON.stringify(postback);

/** Whether nothing could have told the node of a pass: nothing of it was stored when the node looked. */
function isUnseen(pass: Pass, wait: Wait, postback: TakenPostback, { major }: Plan): boolean {
	const { process, lookedAt } = postback;
	// n8n 1 starts what waits next, by a timer of before, and stores it as if it still waited.
	if (pass.by === 'otherTimer') return major === 1;
	// Between two processes, and between a timer and a postback, n8n has no lock.
	const isElsewhere = pass.by === 'ownTimer' || pass.process !== process;
	const isOverwritten = wait.passes.some(
		({ by, storedAt }) => by === 'otherTimer' && major === 1 && storedAt >= pass.storedAt,
	);
	return isElsewhere && (pass.storedAt >= lookedAt || isOverwritten);
}

/** Judges that a postback lets a wait go on. */
export function judgeResumption(wait: Wait, postback: TakenPostback, plan: Plan): void {
	if (wait.until !== undefined && postback.lookedAt >= wait.until) {
		throw new Violation('a postback resumed a wait after its time limit', inWords(postback));
	}
	const seen = wait.passes.filter((pass) => !isUnseen(pass, wait, postback, plan));
	if (seen.length > 0) throw new Violation('what follows a wait ran twice', inWords(postback));
}

/** Judges that a genuine postback for the wait that was loaded lets nothing go on. */
export function judgeRefusal(wait: Wait, postback: TakenPostback, plan: Plan, now: number): void {
	const { planned, statusCode, begunAt, lookedAt } = postback;
	const isPastLimit = wait.until !== undefined && now >= wait.until;
	const isOver = wait.passes.length > 0 || isPastLimit || wait.isOverwritten;
	if (statusCode === 200) {
		if (planned.status === 'paid') {
			throw new Violation('"paid" was taken and let nothing go on', inWords(postback));
		}
		const wasOver = wait.passes.some(
			(pass) => pass.storedAt < lookedAt && !isUnseen(pass, wait, postback, plan),
		);
		if (wasOver) {
			throw new Violation('a sender was told that a wait lasts which was over', inWords(postback));
		}
		return;
	}
	if (isOver || wait.resuming > 0) return;
	if (wait.failedAt !== undefined) {
		// n8n 1 responds before it stores, so that nobody hears of the failure.
		if (plan.major === 1 || wait.failedAt >= begunAt) return;
	}
	throw new Violation(
		'a postback was refused although the execution waits for it',
		inWords(postback),
	);
}
