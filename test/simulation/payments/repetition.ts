import { wasFrozen, type NodeRun, type Send } from './send';
import type { World } from './world';

/** A payment that goes out although one with its external_id may have been carried out. */
export interface Repetition {
	/** Whether the later run was given what the earlier one wrote down in the execution. */
	inLedger: boolean;
	sameProcess: boolean;
	/** Whether the earlier run had not ended when the later one began. */
	overlapped: boolean;
	/** Whether another process's write dropped records. */
	vanished: boolean;
	/** Whether a full list had let its record go before the later run asked, or another process did. */
	tooOld: boolean;
	/** Whether another process than that of the earlier run took a record of this external_id back. */
	takenBackBeside: boolean;
	/**
	 * Whether something held up, broke or ended what the node's second look counts on: a process
	 * frozen or dead, one that wrote over the record after it was frozen, a store slower than the
	 * pause, or failing.
	 */
	disturbed: boolean;
}

export function repetitionOf(world: World, earlier: Send, later: Send): Repetition {
	const { run: first } = earlier;
	const { run: second, id } = later;
	return {
		inLedger: first === second || second.knows.has(first),
		sameProcess: first.process === second.process,
		overlapped: hasOverlapped(first, second),
		vanished: world.records.wasDropped(id),
		tooOld: world.records.wasTooOld(id, second),
		takenBackBeside: world.records.wasTakenBackBeside(id, first.process),
		disturbed:
			world.isStoreSlow ||
			first.crashed ||
			first.storeFailed ||
			world.records.wasDroppedByFrozen(id) ||
			wasFrozen(first) ||
			wasFrozen(second),
	};
}

function hasOverlapped(first: NodeRun, second: NodeRun): boolean {
	if (first.execution === second.execution) return false;
	return first.ended === undefined || first.ended >= second.begun;
}

/** Where the design says that the promise "never twice" does not hold: never within one execution. */
export function isException(repetition: Repetition): boolean {
	if (repetition.inLedger) return false;
	// The store of n8n has no lock: executions in two processes can both find an id new at the same
	// moment.
	const isAtTheSameMoment = !repetition.sameProcess && repetition.overlapped;
	// Records that another process overwrote are put back when the batch is answered and at the end of
	// the node. A process that dies, freezes or finds the store failing meanwhile does not look, and a
	// write slower than the pause, or of a process that stood still, comes after it.
	const isForgottenBeforeTheLook = repetition.vanished && repetition.disturbed;
	// The list keeps at least the last 10,000 payments. What a run finds known stays known until it
	// ends, whatever it pays meanwhile.
	const isOlderThanTheList = repetition.tooOld;
	// Two processes that both found an id new at the same moment rely on one record. If either is
	// rejected it takes the record back, and once the other has ended nothing remembers the payment.
	const isTakenBack = repetition.takenBackBeside;
	return isAtTheSameMoment || isForgottenBeforeTheLook || isOlderThanTheList || isTakenBack;
}
