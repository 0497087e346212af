import type { IExecuteFunctions } from 'n8n-workflow';
import type { AccountGate } from '../credential/accountGate';
import type { ExpectationStore } from '../postback/expectation';
import type { TokenPost } from '../service/client';
import type { HttpRequest } from '../service/exchange';
import type { Ledger } from './ledger/ledger';
import type { RunRecords } from './memory/RunRecords';
import type { RequestOperation, Settings } from './read';
import type { Tally } from './report/tally';

/** What all items of a run share. */
export interface Run {
	context: IExecuteFunctions;
	operation: RequestOperation;
	settings: Settings;
	ledger: Ledger;
	/** Whether the execution has come further than this run, or goes on in another process: it sends nothing. */
	isSuperseded: boolean;
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
