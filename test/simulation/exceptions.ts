/** A payment that goes out although one with its external_id may have been carried out. */
export interface Repetition {
	/** Whether the later try was given what the earlier one wrote down in the execution. */
	inLedger: boolean;
	/** Whether one node made both. */
	sameNode: boolean;
	sameProcess: boolean;
	/** Whether the earlier try had not ended when the later one began. */
	overlapped: boolean;
	/** Whether another process's write dropped records. */
	vanished: boolean;
	/** Whether a full list had let its record go before the later try asked, or another process did. */
	tooOld: boolean;
	/** Whether another process than that of the earlier try took a record of this external_id back. */
	takenBackBeside: boolean;
	/**
	 * Whether something held up, broke or ended what the node's second look counts on: a process
	 * frozen or dead, one that wrote over the record after it was frozen, a store slower than the
	 * pause, or failing.
	 */
	disturbed: boolean;
}

/** Where the design says that the promise "never twice" does not hold: never within one execution. */
export const EXCEPTIONS: ReadonlyArray<(repetition: Repetition) => boolean> = [
	// Another node: each Pay node has a memory of its own: a row of the workflow would be shared
	// with Remove Duplicates nodes. Within one execution the ledger covers all nodes.
	({ inLedger, sameNode }) => !inLedger && !sameNode,
	// The same moment: the store of n8n has no lock: executions in two processes can both find an
	// id new at the same moment.
	({ inLedger, sameProcess, overlapped }) => !inLedger && !sameProcess && overlapped,
	// Forgotten before the second look: records that another process overwrote are put back when
	// the batch is answered and at the end of the node. A process that dies, freezes or finds the
	// store failing meanwhile does not look, and a write slower than the pause, or of a process
	// that stood still, comes after it.
	({ inLedger, vanished, disturbed }) => !inLedger && vanished && disturbed,
	// Older than the list keeps: the list keeps at least the last 10,000 payments. What a run
	// finds known stays known until it ends, whatever it pays meanwhile.
	({ inLedger, tooOld }) => !inLedger && tooOld,
	// Taken back beside another process: two processes that both found an id new at the same
	// moment rely on one record. If either is rejected it takes the record back, and once the
	// other has ended nothing remembers the payment.
	({ inLedger, takenBackBeside }) => !inLedger && takenBackBeside,
];
