import type { IExecuteFunctions, IRunExecutionData } from 'n8n-workflow';
import type { Session } from '../credential/accountGate';

/** What n8n's own Wait node is called. It keeps waits below 65 s in memory, and the execution running. */
const WAIT_TYPE = 'n8n-nodes-base.wait';

/** How often n8n's own Wait nodes before a node have run; 0 where this n8n does not tell. */
function countShortWaits(context: IExecuteFunctions): number {
	const { runExecutionData } = context as { runExecutionData?: IRunExecutionData };
	const runs = runExecutionData?.resultData?.runData ?? {};
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
 * The session in which a node runs. n8n makes `additionalData` anew for each execution, and when one goes on
 * after a wait (read in 1.123 and 2.41); all its nodes and tools have the same one. Without it a session is
 * one run of the node.
 */
export function sessionOf(context: IExecuteFunctions): Session {
	const { additionalData } = context as { additionalData?: object };
	return {
		executionId: context.getExecutionId() as string | undefined,
		identity: additionalData ?? context,
		countShortWaits: () => countShortWaits(context),
	};
}
