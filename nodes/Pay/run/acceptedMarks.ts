import { within } from '../base/time';
import { MOST_MARKS, type Store, StoreTurns, TIME_LIMIT_OF_MARKS_MS } from './store';

/**
 * The row of the node, not that of the workflow, where payments are recorded: whatever happens to the marks, no
 * payment is forgotten. A node with another id knows no marks, and then its words are "may have been".
 */
const SCOPE = 'node';
const OPTIONS = { mode: 'entries' } as const;

/** Says that a payment was accepted, where its {@link askedOf} is not beside it. */
const acceptedOf = (key: string) => `accepted ${key}`;
/** Says that somebody asked whether it was: n8n's store can only be asked by recording. */
const askedOf = (key: string) => `asked ${key}`;

const notInTime = () => new Error("n8n's database did not respond in time");

/**
 * Which payments were accepted, so that a repeat can say more than "may have been". It saves a person from asking
 * the service about each line of a list that is run again.
 *
 * It must never say "accepted" of what was not, although processes write over one another's changes. So it rests on
 * one rule, which holds for the row as anybody ever writes it: where "accepted" is there without "asked", the
 * payment was accepted. To mark adds the one alone. To ask adds both in one change, and takes "asked" away again
 * only where the answer was yes. Nothing is dropped one by one: a long row is cleared as a whole. An old row that a
 * process writes back was written under the same rule, and what was accepted once stays so.
 */
export class AcceptedMarks {
	private readonly turns = new StoreTurns();

	/** Marks payments as accepted. Throws when the store does. */
	async add(store: Store, keys: readonly string[]): Promise<void> {
		await this.change(async () => {
			const { known } = await record(store, keys.map(acceptedOf));
			// Somebody asked while they were under way.
			const asked = keys.filter((key) => known.has(acceptedOf(key)));
			if (asked.length > 0) await store.removeProcessed(asked.map(askedOf), SCOPE, OPTIONS);
		});
	}

	/** Those of some payments that are marked as accepted. Throws when the store does. */
	async find(store: Store, keys: readonly string[]): Promise<Set<string>> {
		return await this.change(async () => {
			const asking = [...keys.map(acceptedOf), ...keys.map(askedOf)];
			const { known, fresh } = await record(store, asking);
			const accepted = keys.filter((key) => known.has(acceptedOf(key)) && fresh.has(askedOf(key)));
			if (accepted.length > 0) {
				await store.removeProcessed(accepted.map(askedOf), SCOPE, OPTIONS);
			}
			return new Set(accepted);
		});
	}

	/** Clears a long row: n8n reads and writes all of it at each change. Throws when the store does. */
	async shorten(store: Store): Promise<void> {
		await this.change(async () => {
			const length = await store.getProcessedDataCount(SCOPE, OPTIONS);
			if (length > MOST_MARKS) await store.clearAllProcessedItems(SCOPE, OPTIONS);
		});
	}

	/** Makes one change after the other. Nobody waits longer than the time limit, for the turn and the change. */
	private async change<Result>(work: () => Promise<Result>): Promise<Result> {
		let givenUp = false;
		const turn = this.turns.inTurn(async () => {
			if (givenUp) throw notInTime();
			return await within(work(), TIME_LIMIT_OF_MARKS_MS, notInTime);
		});
		try {
			return await within(turn, TIME_LIMIT_OF_MARKS_MS, notInTime);
		} finally {
			givenUp = true;
		}
	}
}

/** Records keys in the row of the node; gives those that were there before, and those that were not. */
async function record(store: Store, keys: string[]) {
	const output = await store.checkProcessedAndRecord(keys, SCOPE, OPTIONS);
	return { known: new Set<unknown>(output.processed), fresh: new Set<unknown>(output.new) };
}
