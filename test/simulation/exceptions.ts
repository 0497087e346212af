/** A payment that goes out although one with its external_id may have been carried out. */
export interface Repetition {
	/** Whether the later try was given what the earlier one wrote down in the execution. */
	inLedger: boolean;
	/** Whether one node made both. */
	sameNode: boolean;
	/** The earlier item's Duplicate Check: it records with each. */
	earlierCheck: 'workflow' | 'workers' | 'execution';
	/** The later item's Duplicate Check. */
	check: 'workflow' | 'workers' | 'execution';
	sameProcess: boolean;
	/** Whether the earlier try had not ended when the later one began. */
	overlapped: boolean;
	/** Whether another process's write dropped records. */
	vanished: boolean;
	/** Whether another process than that of the earlier try took a record of this external_id back. */
	takenBackBeside: boolean;
	/** Whether an execution took a record of it back that it made without the check of workers. */
	takenBackUnlocked: boolean;
	/**
	 * Whether something held up, broke or ended what the node's second look counts on: a process
	 * frozen or dead, one that wrote over the record after it was frozen, a store slower than the
	 * pause, or failing.
	 */
	disturbed: boolean;
	/** Whether both are one execution that n8n gave to two processes. */
	gaveAway: boolean;
}

interface Exception {
	name: string;
	reason: string;
	holds: (repetition: Repetition) => boolean;
}

/** Where the design says that the promise "never twice" does not hold. */
export const EXCEPTIONS: readonly Exception[] = [
	{
		name: 'asked for',
		reason: 'With "Within This Execution" the user asks for no refusal across executions.',
		holds: ({ inLedger, check }) => !inLedger && check === 'execution',
	},
	{
		name: 'asked for, at once',
		reason:
			'An execution that asks for no refusal may overtake one that has recorded the payment and has not sent it yet.',
		holds: ({ inLedger, earlierCheck, overlapped }) =>
			!inLedger && earlierCheck === 'execution' && overlapped,
	},
	{
		name: 'another node',
		reason:
			'Each Pay node has a memory of its own: a row of the workflow would be shared with Remove Duplicates nodes. Within one execution the ledger covers all nodes.',
		holds: ({ inLedger, sameNode }) => !inLedger && !sameNode,
	},
	{
		name: 'the same moment',
		reason:
			'The store of n8n has no lock: executions in two processes can both find an id new at the same moment. "workers" is for that, where all executions have it.',
		holds: ({ inLedger, earlierCheck, check, sameProcess, overlapped }) =>
			!inLedger &&
			(earlierCheck !== 'workers' || check !== 'workers') &&
			!sameProcess &&
			overlapped,
	},
	{
		name: 'forgotten before the second look',
		reason:
			'Records that another process overwrote are put back when the batch is answered and at the end of the node. A process that dies, freezes or finds the store failing meanwhile does not look, and a write slower than the pause, or of a process that stood still, comes after it.',
		holds: ({ inLedger, vanished, disturbed }) => !inLedger && vanished && disturbed,
	},
	{
		name: 'frozen for longer than the pause',
		reason:
			'"workers" waits longer than a read-change-write takes. A process frozen between reading and writing, or a store slower than the pause, comes too late to be seen.',
		holds: ({ inLedger, check, sameProcess, overlapped, disturbed }) =>
			!inLedger && check === 'workers' && !sameProcess && overlapped && disturbed,
	},
	{
		name: 'taken back beside another process',
		reason:
			'Two processes that both found an id new at the same moment, or one that asks for no refusal, rely on one record. If either is rejected it takes the record back, and once the other has ended nothing remembers the payment. Within one process such a record stays, and "workers" lets only one of them pass, where all executions have it.',
		holds: ({ inLedger, earlierCheck, check, sameProcess, ...taken }) =>
			!inLedger &&
			(earlierCheck === 'workers' && check === 'workers'
				? taken.takenBackUnlocked && !sameProcess
				: taken.takenBackBeside),
	},
];
