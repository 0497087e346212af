import { type Ledger, type LedgerStore, openLedger } from '../../nodes/Pay/run/ledger';
import { type Kind, OPERATIONS } from '../serviceOperations';

/** The run of a node in its execution. */
export interface NodeRun {
	kind: Kind;
	operation: Ledger['operation'];
	executionId: string;
	node: string;
	run: string;
	isTool: boolean;
	credentialId: string;
}

/** The ledger of an execution, open for the first run of a node "Pay" unless it is said. */
export function ledgerOf(store: LedgerStore = {}, nodeRun: Partial<NodeRun> = {}): Ledger {
	const { kind = 'payment', ...about } = nodeRun;
	return openLedger(store, {
		operation: OPERATIONS[kind],
		executionId: '42',
		node: 'Pay',
		run: '0',
		isTool: false,
		credentialId: '1',
		...about,
	});
}
