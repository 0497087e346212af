import type { IExecuteFunctions } from 'n8n-workflow';
import type { Session } from '../account/standing';
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
	/** In which its accounts stand as they do. */
	session: Session;
	httpRequest: HttpRequest;
	postTokenRequest: TokenPost;
	/** The execution's cancel signal. */
	signal: AbortSignal | undefined;
	tally: Tally;
}

/** A person, or n8n, has cancelled the execution. */
export const isCancelled = ({ signal }: Run) => signal?.aborted === true;
