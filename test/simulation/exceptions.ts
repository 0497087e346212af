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

interface Exception {
	name: string;
	reason: string;
	holds: (repetition: Repetition) => boolean;
}

/** Where the design says that the promise "never twice" does not hold: never within one execution. */
export const EXCEPTIONS: readonly Exception[] = [
	{
		name: 'another node',
		reason:
			'Each Pay node has a memory of its own: a row of the workflow would be shared with Remove Duplicates nodes. Within one execution the ledger covers all nodes.',
		holds: ({ inLedger, sameNode }) => !inLedger && !sameNode,
	},
	{
		name: 'the same moment',
		reason:
			'The store of n8n has no lock: executions in two processes can both find an id new at the same moment.',
		holds: ({ inLedger, sameProcess, overlapped }) => !inLedger && !sameProcess && overlapped,
	},
	{
		name: 'forgotten before the second look',
		reason:
			'Records that another process overwrote are put back when the batch is answered and at the end of the node. A process that dies, freezes or finds the store failing meanwhile does not look, and a write slower than the pause, or of a process that stood still, comes after it.',
		holds: ({ inLedger, vanished, disturbed }) => !inLedger && vanished && disturbed,
	},
	{
		name: 'older than the list keeps',
		reason:
			'The list keeps at least the last 10,000 payments. What a run finds known stays known until it ends, whatever it pays meanwhile.',
		holds: ({ inLedger, tooOld }) => !inLedger && tooOld,
	},
	{
		name: 'taken back beside another process',
		reason:
			'Two processes that both found an id new at the same moment rely on one record. If either is rejected it takes the record back, and once the other has ended nothing remembers the payment.',
		holds: ({ inLedger, takenBackBeside }) => !inLedger && takenBackBeside,
	},
];
