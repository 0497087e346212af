import type { IExecuteFunctions } from 'n8n-workflow';
import type { AccountGate, Session } from '../account/standing';
import { additionalDataOf, runExecutionDataOf } from '../base/n8n';
import type { ExpectationStore } from '../postback/waiting';
import type { TokenPost } from '../service/client';
import type { HttpRequest } from '../service/exchange';
import type { Ledger } from './ledger';
import type { RequestOperation, Settings } from './read';
import type { RunRecords } from './records';
import type { Tally } from './report';

/** What all items of a run share. */
export interface Run {
	context: IExecuteFunctions;
	operation: RequestOperation;
	settings: Settings;
	ledger: Ledger;
	/**
	 * Whether n8n runs the execution once more from a state that it has left, or another process goes on from the
	 * same wait. That run may have sent the items, so this one sends nothing.
	 */
	isElsewhere: boolean;
	/** Where postbacks are recorded that the execution may wait for. */
	expectations: ExpectationStore;
	/** Only of an operation whose external_ids are recorded. */
	records: RunRecords | undefined;
	gate: AccountGate;
	httpRequest: HttpRequest;
	postTokenRequest: TokenPost;
	/** The execution's cancel signal. */
	signal: AbortSignal | undefined;
	tally: Tally;
}

/** Whether a person, or n8n, has cancelled the execution. */
export const isCancelled = ({ signal }: Run) => signal?.aborted === true;

/** What n8n's own Wait node is called. It keeps waits below 65 s in memory, and the execution running. */
const WAIT_TYPE = 'n8n-nodes-base.wait';

/** How often n8n's own Wait nodes before a node have run; 0 where this n8n does not tell. */
function countShortWaits(context: IExecuteFunctions): number {
	const runs = runExecutionDataOf(context)?.resultData?.runData ?? {};
	let count = 0;
	try {
		for (const { name, type } of context.getParentNodes(context.getNode().name)) {
			if (type === WAIT_TYPE) count += runs[name]?.length ?? 0;
		}
	} catch {
		// Then a pause without an end lasts until the execution is put to sleep.
		return 0;
	}
	return count;
}

/**
 * The session in which a node runs: as long as n8n's additional data is the same. Without it a session is one
 * run of the node.
 */
export function sessionOf(context: IExecuteFunctions): Session {
	return {
		executionId: context.getExecutionId() as string | undefined,
		identity: additionalDataOf(context) ?? context,
		countShortWaits: () => countShortWaits(context),
	};
}
