import type { RunOfNode } from '../../nodes/Pay/execution/memory/RunRecords';
import type { Ready } from '../../nodes/Pay/execution/item';
import type { Store } from '../../nodes/Pay/execution/memory/PaymentList';
import { AMOUNT_AS_MEMBER } from './payments/plan';

/** The modules of the node in which faults are put back, by their path below nodes/Pay. */
interface Modules {
	'credential/accountGate': typeof import('../../nodes/Pay/credential/accountGate');
	'credential/limits': typeof import('../../nodes/Pay/credential/limits');
	'execution/ledger/attempts': typeof import('../../nodes/Pay/execution/ledger/attempts');
	'execution/earlierState': typeof import('../../nodes/Pay/execution/earlierState');
	'execution/ledger/fingerprint': typeof import('../../nodes/Pay/execution/ledger/fingerprint');
	'execution/ledger/ledger': typeof import('../../nodes/Pay/execution/ledger/ledger');
	'execution/ledger/outlays': typeof import('../../nodes/Pay/execution/ledger/outlays');
	'execution/words/refusal': typeof import('../../nodes/Pay/execution/words/refusal');
	'execution/report/itemResult': typeof import('../../nodes/Pay/execution/report/itemResult');
	'execution/refuse': typeof import('../../nodes/Pay/execution/refuse');
	'execution/session': typeof import('../../nodes/Pay/execution/session');
	'execution/send': typeof import('../../nodes/Pay/execution/send');
	'execution/memory/PaymentList': typeof import('../../nodes/Pay/execution/memory/PaymentList');
	'execution/memory/StoreTurns': typeof import('../../nodes/Pay/execution/memory/StoreTurns');
	'execution/memory/RunRecords': typeof import('../../nodes/Pay/execution/memory/RunRecords');
	'execution/summary': typeof import('../../nodes/Pay/execution/summary');
	'parameters/additionalMembers': typeof import('../../nodes/Pay/parameters/additionalMembers');
	'postback/resumeOnce': typeof import('../../nodes/Pay/postback/resumeOnce');
	'service/client': typeof import('../../nodes/Pay/service/client');
	'service/exchange': typeof import('../../nodes/Pay/service/exchange');
	'service/outcome': typeof import('../../nodes/Pay/service/outcome');
	within: typeof import('../../nodes/Pay/within');
}

/**
 * One export of a module, and what the module's importers get in its place. The module itself goes on
 * with its own: what is to be replaced for all stands in a module of its own.
 */
export interface Seam {
	readonly module: keyof Modules;
	readonly export: string;
	wrap(original: unknown, module: unknown): unknown;
}

/**
 * A seam that the compiler checks: the module and the export exist, and the replacement is of the
 * export's own type.
 * @param wrap gets the export, and the module where it needs another export of it
 */
function seam<Path extends keyof Modules, Name extends keyof Modules[Path] & string>(
	module: Path,
	name: Name,
	wrap: (original: Modules[Path][Name], module: Modules[Path]) => Modules[Path][Name],
): Seam {
	return { module, export: name, wrap: wrap as Seam['wrap'] };
}

/** Faults that the node once had, or nearly: what its modules do when they have them again. */
const FAULTS: Record<string, () => Seam[]> = {
	'an execution that n8n runs again from an earlier state sends': () => [
		seam('execution/earlierState', 'isEarlierState', (original) => (executionId, store) => {
			original(executionId, store);
			return false;
		}),
	],

	'an account that is refused is asked for each item': () => [
		seam('credential/accountGate', 'AccountGate', (Original) => {
			return class extends Original {
				override async pass<Result>(
					_account: unknown,
					ask: () => Promise<{ result: Result; standing: unknown }>,
				): Promise<Result> {
					return (await ask()).result;
				}
			};
		}),
	],

	'an account that is refused is asked by each run of a node': () => [
		seam('execution/session', 'sessionOf', (original) => (context) => ({
			...original(context),
			identity: {},
		})),
	],

	'after a 429 the rest is sent': () => [
		seam('execution/session', 'sessionOf', (original) => (context) => {
			let waits = 0;
			return { ...original(context), countShortWaits: () => waits++ };
		}),
	],

	'a redirect counts as rejected': () => [
		seam('service/outcome', 'outcomeOfStatus', (original) => (statusCode, conflict) => {
			const isRedirect = statusCode >= 300 && statusCode <= 399;
			return isRedirect ? 'rejected' : original(statusCode, conflict);
		}),
	],

	'a lost answer counts as not sent': () => [
		seam('service/outcome', 'outcomeOfFailure', () => () => 'notSent'),
	],

	'a 409 to a payment counts as rejected': () => [
		seam('service/outcome', 'outcomeOfStatus', (original) => (statusCode) => {
			return original(statusCode, 'rejected');
		}),
	],

	'a 2xx that came outside of TLS counts as accepted': () => [
		seam('service/exchange', 'exchange', (original) => async (...request) => {
			const response = await original(...request);
			const isSuccess = response.end === 'responded' && response.statusCode <= 299;
			return isSuccess ? { ...response, byProxy: false } : response;
		}),
	],

	'a 2xx that is not confirmed counts as rejected': () => [
		seam('service/client', 'postRequest', (original) => async (...request) => {
			const result = await original(...request);
			const { outcome, statusCode = 0 } = result;
			const isUnconfirmed = outcome === 'unknown' && statusCode >= 200 && statusCode <= 299;
			return isUnconfirmed ? { ...result, outcome: 'rejected' } : result;
		}),
	],

	'a payment is repeated after a 401': () => [
		seam('service/client', 'postRequest', (original) => async (...request) => {
			const first = await original(...request);
			return first.statusCode === 401 ? await original(...request) : first;
		}),
	],

	'Retry On Fail repeats a payment after a 401': () => [
		seam('execution/ledger/ledger', 'consult', (original) => (ledger, item) => {
			const verdict = original(ledger, item);
			const isReplayed = verdict.do === 'replay' && verdict.outcome === 'rejected';
			return isReplayed ? { do: 'send' } : verdict;
		}),
	],

	'Additional Members may hold the amount': () => [
		seam(
			'parameters/additionalMembers',
			'withAdditionalMembers',
			(original) => (body, value, form) => {
				if (value !== AMOUNT_AS_MEMBER) return original(body, value, form);
				return { ...original(body, '{}', form), ...(JSON.parse(value) as object) };
			},
		),
	],

	'what was accepted is replayed whatever is asked for': () => [
		seam('execution/ledger/ledger', 'consult', (original) => (ledger, item) => {
			const verdict = original(ledger, item);
			if (verdict.do !== 'refuse' || ledger.isTool) return verdict;
			const { attempt, because } = verdict;
			if (because === 'otherItem') return verdict;
			const outcome = attempt.outcome === 'accepted' ? 'accepted' : 'unknown';
			return { do: 'replay', attempt, outcome };
		}),
	],

	'the fingerprint is without the recipient': () => [
		seam(
			'execution/ledger/fingerprint',
			'fingerprintOf',
			(original) =>
				(account, request, ...others) => {
					return original(account, { ...request, creditParty: undefined }, ...others);
				},
		),
	],

	'the ledger knows a payment by its external_id alone': () => [
		seam('execution/ledger/ledger', 'consult', (original) => (ledger, item) => {
			const verdict = original(ledger, item);
			if (verdict.do === 'send') return verdict;
			const isOfId = verdict.attempt.external_id === item.request.external_id;
			return isOfId ? verdict : { do: 'send' };
		}),
	],

	'the ledger ignores case': () => {
		const inLowerCase = <Item extends Pick<Ready, 'request'>>(item: Item): Item => {
			const external_id = item.request.external_id.toLowerCase();
			return { ...item, request: { ...item.request, external_id } };
		};
		return [
			seam('execution/ledger/ledger', 'consult', (original) => (ledger, item) => {
				return original(ledger, inLowerCase(item));
			}),
			seam('execution/ledger/ledger', 'mayBePaid', (original) => (ledger, item) => {
				return original(ledger, inLowerCase(item));
			}),
			seam('execution/ledger/ledger', 'beginAttempt', (original) => (ledger, item) => {
				return original(ledger, inLowerCase(item));
			}),
		];
	},

	'the ledger is not consulted again before the attempt is written down': () => {
		const consulted = new WeakSet<object>();
		return [
			seam('execution/ledger/ledger', 'consult', (original) => (ledger, item) => {
				if (consulted.has(item)) return { do: 'send' };
				consulted.add(item);
				return original(ledger, item);
			}),
		];
	},

	'each tool of an agent has an index of the ledger of its own': () => [
		seam('execution/ledger/attempts', 'openAttempts', (_original, { Attempts }) => {
			return (list) => new Attempts(list);
		}),
	],

	'an attempt is written down after its response': () => [
		seam(
			'execution/ledger/ledger',
			'beginAttempt',
			(original, { openLedger }) =>
				(ledger, item) => {
					return original(openLedger({}, ledger), item);
				},
		),
		seam('execution/ledger/ledger', 'endAttempt', (original, { beginAttempt }) => {
			return (ledger, item, _attempt, result) => {
				original(ledger, item, beginAttempt(ledger, item), result);
			};
		}),
	],

	'a run pushes out of a full list what it is about': () => [
		seam('execution/memory/PaymentList', 'PaymentList', (Original) => {
			return class extends Original {
				override async addToStore(store: Store, keys: string[], room?: number) {
					return await super.addToStore(store, keys, room ?? this.remembered);
				}
			};
		}),
	],

	'the list is the one of Remove Duplicates nodes': () => [
		seam('execution/memory/RunRecords', 'RunRecords', (Original) => {
			return class extends Original {
				constructor(run: RunOfNode) {
					const { helpers } = run;
					const ofWorkflow: Store = {
						checkProcessedAndRecord: async (keys, _scope, how) =>
							await helpers.checkProcessedAndRecord(keys, 'workflow', how),
						removeProcessed: async (keys, _scope, how) =>
							await helpers.removeProcessed(keys, 'workflow', how),
						getProcessedDataCount: async (_scope, how) =>
							await helpers.getProcessedDataCount('workflow', how),
					};
					super({ ...run, helpers: ofWorkflow });
				}
			};
		}),
	],

	'the record of a payment holds 12 characters of its id': () => {
		const cut = (key: string) => key.slice(0, 'n8n-nodes-pay:payment:'.length + 12);
		return [
			seam('execution/memory/PaymentList', 'PaymentList', (Original) => {
				return class extends Original {
					override async addToStore(store: Store, keys: string[], room?: number) {
						const stored = await super.addToStore(store, [...new Set(keys.map(cut))], room);
						return new Set<unknown>(keys.filter((key) => stored.has(cut(key))));
					}

					override async deleteFromStore(store: Store, keys: readonly string[]) {
						await super.deleteFromStore(store, keys.map(cut));
						this.unmark(keys);
					}
				};
			}),
		];
	},

	'nobody looks again whether a record lasts': () => [
		seam('execution/memory/RunRecords', 'RunRecords', (Original) => {
			return class extends Original {
				override async close() {
					return await Promise.resolve([]);
				}
			};
		}),
	],

	'the look comes without a pause': () => [
		seam('execution/memory/StoreTurns', 'StoreTurns', (Original) => {
			return class extends Original {
				override remainingPause() {
					return 0;
				}
			};
		}),
	],

	'a silent database is waited for without end': () => [
		seam('within', 'within', () => async (work) => await work),
	],

	'cancelled in the check, sent all the same': () => [
		seam('execution/memory/RunRecords', 'RunRecords', (Original) => {
			return class extends Original {
				constructor(run: RunOfNode) {
					super({ ...run, signal: undefined });
				}
			};
		}),
		seam('execution/send', 'sendBatch', (original) => async (run, batch) => {
			return await original({ ...run, signal: undefined }, batch);
		}),
	],

	'a sum is that of one list': () => [seam('execution/ledger/outlays', 'sumOf', () => () => 0n)],

	'a limit that cannot be read is none': () => [
		seam('credential/limits', 'readLimits', (original) => (...fields) => {
			const limits = original(...fields);
			return limits instanceof Error ? {} : limits;
		}),
	],

	'limits hide what is unknown': () => [
		seam('execution/refuse', 'triedBefore', (original, { withinLimits }) => (run, item) => {
			return withinLimits(run, [item]).done[0] ?? original(run, item);
		}),
	],

	'what was not reached is told as not sent': () => [
		seam('execution/summary', 'idsByOutcome', (original) => (run) => {
			const ids = original(run);
			return { ...ids, notSent: [...ids.notSent, ...ids.notReached], notReached: [] };
		}),
	],

	'a refused duplicate is told as not sent': () => {
		const recorded = new WeakSet<object>();
		return [
			seam('execution/words/refusal', 'recordedBefore', (original) => (words, external_id) => {
				const refusal = original(words, external_id);
				recorded.add(refusal);
				return refusal;
			}),
			seam(
				'execution/report/itemResult',
				'resultOfRefusal',
				(original) => (kind, id, error, outcome) => {
					const isRecorded = recorded.has(error as object);
					return original(kind, id, error, isRecorded ? 'notSent' : outcome);
				},
			),
		];
	},
};

/** Faults that the simulation of waits finds. */
const FAULTS_OF_WAITS: Record<string, () => Seam[]> = {
	'a late body resumes the execution as it was when its request began': () => [
		seam('postback/resumeOnce', 'isOver', () => async () => false),
		seam('postback/resumeOnce', 'claimWait', () => () => true),
	],

	'a process knows only what it resumed itself': () => [
		seam('postback/resumeOnce', 'isOver', (original) => async (context, wait) => {
			const withoutStored = Object.create(context, { additionalData: { value: undefined } });
			return await original(withoutStored as typeof context, wait);
		}),
	],

	'a process does not know what it resumed itself': () => [
		seam('postback/resumeOnce', 'claimWait', () => () => true),
	],

	'the time limit may pass while a body is on its way': () => [
		seam('postback/resumeOnce', 'isOver', (original) => async (context, wait) => {
			return await original(context, { ...wait, until: undefined });
		}),
	],

	'what n8n could not store counts as resumed': () => [
		seam('postback/resumeOnce', 'claimWait', (original) => (context, wait) => {
			const noResponse = { once: () => undefined };
			const silent = Object.create(context, { getResponseObject: { value: () => noResponse } });
			return original(silent as typeof context, wait);
		}),
	],
};

export const NAMES_OF_FAULTS: readonly string[] = Object.keys({ ...FAULTS, ...FAULTS_OF_WAITS });

/** Whether a fault has to do with waits, not with what is sent. */
export const isFaultOfWaits = (fault: string) => Object.hasOwn(FAULTS_OF_WAITS, fault);

/** What one copy of the node has to have a fault; nothing without a name. */
export function seamsOf(fault: string | undefined): Seam[] {
	if (fault === undefined) return [];
	const seams = FAULTS[fault] ?? FAULTS_OF_WAITS[fault];
	if (seams === undefined) throw new Error(`There is no fault "${fault}"`);
	return seams();
}
