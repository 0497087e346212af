import { example } from '../../dev/demo';
import { nodeOf } from './nodes';
import { psql, type QueueMode } from './queue';

/** The database in which the register stands: not n8n's own, as a person would have it. */
export const DATABASE = 'payouts';

/** A row of the table `payout_register`. */
export interface Row {
	external_id: string;
	amount: string;
	recipient: string;
	workflow_id: string;
	state: string;
	attempts: number;
	execution_id: string | null;
	number: string;
	claimed_at: string | null;
	reason: string | null;
	ending: string | null;
	reported: string | null;
}

/** The tables of the register, with no part of a workflow in it. */
export class RegisterDatabase {
	constructor(
		private readonly port: number,
		private readonly name: string,
	) {}

	/** Makes the database, empty: the tables are made by a workflow, or by {@link setUp}. */
	static create(queue: QueueMode): RegisterDatabase {
		queue.sql(`CREATE DATABASE ${DATABASE}`);
		return new RegisterDatabase(queue.postgresAddress.port, DATABASE);
	}

	/** Asks the database; gives the rows, their columns separated by |. */
	sql(query: string): string[] {
		return psql(this.port, this.name, query);
	}

	/** Makes the tables as the first run of a workflow does. */
	setUp(): void {
		const setUp = nodeOf(example('payout-register'), 'Set up');
		this.sql((setUp.parameters as { query: string }).query);
	}

	/** Takes the tables away, as if there had never been a register. */
	drop(): void {
		this.sql('DROP TABLE IF EXISTS payout_register, payout_heard CASCADE');
	}

	insert(row: Record<string, string | number>): void {
		const values = Object.values(row).map((value) => `'${value}'`);
		this.sql(`INSERT INTO payout_register (${Object.keys(row).join()}) VALUES (${values.join()})`);
	}

	/** The rows, in the order of their identifiers. */
	rows(where = 'true'): Row[] {
		const found = this.sql(
			`SELECT row_to_json(payout) FROM payout_register payout WHERE ${where} ORDER BY external_id`,
		);
		return found.map((row) => JSON.parse(row) as Row);
	}

	/** The one row of a payout. */
	row(externalId: string): Row | undefined {
		return this.rows(`external_id = '${externalId}'`)[0];
	}

	/** The states of all rows, by their identifiers. */
	states(): Record<string, string> {
		const states: Record<string, string> = {};
		for (const { external_id, state } of this.rows()) states[external_id] = state;
		return states;
	}

	/** What was heard about a payout and does not fit it, in the words of the report. */
	sentences(externalId: string): string[] {
		return this.sql(`SELECT what FROM payout_sentence WHERE external_id = '${externalId}'`);
	}

	/** Has the database refuse to change rows, until {@link allowChanges}. */
	refuseChanges(when = 'true'): void {
		this.sql(`
			CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
			CREATE TRIGGER refuse BEFORE UPDATE ON payout_register
				FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse();
		`);
	}

	allowChanges(): void {
		this.sql('DROP TRIGGER refuse ON payout_register; DROP FUNCTION refuse');
	}

	/** Writes down every change of a state from now on. */
	watchTransitions(): void {
		this.sql(`
			CREATE TABLE IF NOT EXISTS transition (external_id text, was text, became text, execution_id text);
			CREATE OR REPLACE FUNCTION write_transition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				INSERT INTO transition VALUES (NEW.external_id, OLD.state, NEW.state, NEW.execution_id);
				RETURN NEW;
			END $$;
			CREATE TRIGGER transition AFTER UPDATE ON payout_register
				FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION write_transition();
		`);
	}

	/** How often a change of state was made, by its two states, such as "due > claimed". */
	transitions(): Record<string, number> {
		const counts: Record<string, number> = {};
		for (const change of this.sql("SELECT was || ' > ' || became FROM transition")) {
			counts[change] = (counts[change] ?? 0) + 1;
		}
		return counts;
	}

	/** The payouts that became settled, once for each time. */
	settled(): string[] {
		return this.sql("SELECT external_id FROM transition WHERE became = 'settled'").sort();
	}

	/** The payouts for which the node "Settled" ran, once for each time. */
	followed(): string[] {
		return this.sql('SELECT external_id FROM followed').sort();
	}

	/** Leaves no row of any table, after a test. */
	empty(): void {
		this.sql('DELETE FROM payout_register; TRUNCATE transition, followed');
	}
}
