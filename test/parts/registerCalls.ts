import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { psql } from '../n8n/queue';

/** The file that every example with a register runs in its node "Set up". */
export const REGISTER_SQL = readFileSync(
	join(__dirname, '..', '..', 'examples', 'payout-register', 'register.sql'),
	'utf8',
);

/** A line of a statement, in the columns that `compare_statement` reads. */
export interface StatementLine {
	identifier?: string;
	day?: string;
	amount?: string;
	direction?: string;
	word?: string;
	number?: string;
	reads?: string;
	line?: number;
}

/** Words as Settings of the example have them. */
export const WORDS = {
	out: 'out, D',
	in: 'in, C',
	paid: 'paid, confirmed',
	failed: 'failed',
	returned: 'returned',
	pending: 'pending',
	other: 'fee',
};

export const RELEASE = 'Pay it (again)';
export const CLOSE = 'Close it: it is not to be paid';
export const NOTE = 'Note it as paid';
export const TAKE = 'Pay it from this workflow';

type Value = string | number | null | object;

function literal(value: Value): string {
	if (value === null) return 'NULL';
	const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
	return `'${text.replaceAll("'", "''")}'`;
}

/** The functions of the register, called as the workflows call them, one transaction each. */
export class RegisterCalls {
	constructor(
		private readonly port: number,
		readonly database = 'postgres',
	) {}

	sql(query: string, user?: string): string[] {
		return psql(this.port, this.database, query, user);
	}

	private call<Result>(name: string, ...values: Value[]): Result[] {
		const rows = this.sql(
			`SELECT row_to_json(called) FROM ${name}(${values.map(literal).join()}) AS called`,
		);
		return rows.map((row) => JSON.parse(row) as Result);
	}

	/** Calls a function for what it does. */
	private run(name: string, ...values: Value[]): void {
		this.sql(`SELECT ${name}(${values.map(literal).join()})`);
	}

	add(id: string, amount = '10.50', recipient = 'a@x', workflow = 'wf1') {
		this.run('add_payout', id, amount, recipient, '', '', workflow);
	}

	/** Claims what is due; gives the identifiers. */
	claim(execution = 'ex1', workflow = 'wf1'): string[] {
		const rows = this.call<{ external_id: string }>('claim_payouts', execution, workflow);
		return rows.map(({ external_id }) => external_id);
	}

	claimOnce(lines: object[], execution = 'ex1', workflow = 'wf1') {
		type Claimed = { external_id: string; state: string; mine: boolean; differs: boolean };
		return this.call<Claimed>('claim_once', lines, workflow, execution);
	}

	/** Writes what became of a claim, as its own execution does. */
	write(id: string, attempt: number, outcome: string, reason = '', execution = 'ex1') {
		this.run('write_outcome', id, execution, attempt, execution, outcome, reason);
	}

	/** The same, with the service's own number, where Settings name the field of it. */
	writeWithNumber(id: string, attempt: number, outcome: string, number: string, field = 'data.id') {
		this.run('write_outcome', id, 'ex1', attempt, 'ex1', outcome, '', number, field);
	}

	/** The rows to ask the service about. */
	toAsk() {
		type Row = { external_id: string; number: string; shares_number: boolean };
		return this.call<Row>('payouts_to_ask').map(({ external_id, number, shares_number }) => ({
			external_id,
			number,
			shares_number,
		}));
	}

	/** Rows as a run leaves them, one try after noon of 10 November 2026. */
	insert(...rows: Array<[id: string, state: string, amount?: string, recipient?: string]>) {
		const values = rows.map(
			([id, state, amount = '10.50', recipient = 'a@x']) =>
				`(${[id, amount, recipient, state].map(literal).join()}, 'wf1', 1, 'ex1', '2026-11-10 12:00Z', '2026-11-10 12:00Z', '2026-11-10 11:00Z')`,
		);
		this.sql(
			`INSERT INTO payout_register (external_id, amount, recipient, state, workflow_id, attempts, execution_id, claimed_at, first_claimed_at, added_at)
			VALUES ${values.join()}`,
		);
	}

	send(id: string, outcome: string, amount?: string, recipient?: string) {
		this.insert([id, outcome, amount, recipient]);
	}

	/** Hears a word of the service; true where "Settled" runs. */
	settle(id: string, word: string, amount = '10.5', meaning = word): boolean {
		const [row] = this.call<{ settled_now: boolean }>('settle', id, word, meaning, amount);
		return row?.settled_now ?? false;
	}

	decide(id: string, decision: string, amount = '', recipient = '', why = '', workflow = 'wf1') {
		type Decided = { says: string; settled_now: boolean };
		return this.call<Decided>('decide', id, decision, amount, recipient, why, workflow)[0]!;
	}

	compare(lines: StatementLine[], code = '', words: object = WORDS, to = '2026-11-30') {
		const all = ['2026-11-01', to, 'UTC', 24, code];
		type Compared = { says: string; settled: Array<{ external_id: string }> };
		const [row] = this.call<Compared>('compare_statement', lines, words, ...all);
		return { says: row!.says.split('\n'), settled: row!.settled };
	}

	/** Compares, and sends the same again with the code, if there is one; gives what is said then. */
	apply(lines: StatementLine[], words: object = WORDS, to?: string) {
		const shown = this.compare(lines, '', words, to);
		const code = /with the code (\w+)\.$/.exec(shown.says.at(-1)!)?.[1];
		return code === undefined ? shown : this.compare(lines, code, words, to);
	}

	/** What the hourly report says of all rows; each sentence is then told. */
	report(): string[] {
		const rows = this.call<{ external_id: string; what: string }>('needs_person', 30, 24, 1);
		if (rows.length > 0) this.run('mark_told', rows);
		return rows.map(({ external_id, what }) => `${external_id}: ${what}`);
	}

	row(id: string): Record<string, unknown> {
		const [row] = this.sql(
			`SELECT row_to_json(payout) FROM payout_register AS payout WHERE external_id = '${id}'`,
		);
		return JSON.parse(row ?? '{}') as Record<string, unknown>;
	}

	state(id: string): unknown {
		return this.row(id).state;
	}

	/** All that the register holds, as text. */
	everything(): string {
		return this.sql(
			`SELECT row_to_json(payout)::text FROM payout_register AS payout
			UNION ALL SELECT row_to_json(heard)::text FROM payout_heard AS heard ORDER BY 1`,
		).join('\n');
	}
}
