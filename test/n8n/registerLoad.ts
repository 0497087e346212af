import { pause, until } from '../../dev/n8n';
import type { Sandbox } from '../../sandbox/service';
import { newIds } from './nodes';
import { payout, type Payout, type PayoutRegister } from './payoutRegister';
import type { QueueMode } from './queue';
import type { Row } from './registerDatabase';

/** How often each external_id arrived at the service, and how often it was paid there. */
export class Books {
	private readonly arrivedCounts = new Map<string, number>();
	private readonly paidCounts = new Map<string, number>();

	constructor(sandbox: Sandbox) {
		for (const { external_id } of sandbox.bodies('payment')) {
			addOne(this.arrivedCounts, String(external_id));
		}
		for (const { external_id } of sandbox.transactions) addOne(this.paidCounts, external_id);
	}

	arrived(id: string): number {
		return this.arrivedCounts.get(id) ?? 0;
	}

	paid(id: string): number {
		return this.paidCounts.get(id) ?? 0;
	}
}

function addOne(counts: Map<string, number>, id: string): void {
	counts.set(id, (counts.get(id) ?? 0) + 1);
}

/** The external_id of a request's body; empty where it has none. */
export function externalIdOf(body: string): string {
	return (JSON.parse(body) as { external_id?: string }).external_id ?? '';
}

/** What becomes of a payout at the service at first; a person has it put right later. */
type Fate = 'paid' | 'refused' | 'lost, made' | 'lost, not made';

/** Of twenty payouts two are refused, and the responses to two are lost. */
function fateOf(index: number): Fate {
	switch (index % 20) {
		case 3:
		case 13:
			return 'refused';
		case 7:
			return 'lost, made';
		case 17:
			return 'lost, not made';
		default:
			return 'paid';
	}
}

/** An amount that the sandbox pays, and whose response it cuts off. */
export const CUT_OFF = '9.02';

/** A worker that was killed: nobody can say of the rows in its hands whether they were sent. */
interface Loss {
	at: number;
	/** The log of the worker until then. */
	log: string;
}

/** Whether a row was in the hands of a run that is gone. */
function isLost({ execution_id, claimed_at }: Row, loss: Loss | undefined): boolean {
	if (loss === undefined) return false;
	// Executions that n8n 1 gives to the other worker keep their id.
	return Date.parse(claimed_at!) <= loss.at && loss.log.includes(`execution ${execution_id} `);
}

/** Many executions that pay one list through the register, while processes are killed. */
export class RegisterLoad {
	readonly list: Payout[] = [];
	private readonly fates = new Map<string, Fate>();
	/** The new identifiers that a person gave, by their first ones. */
	private readonly newIdentifiers = new Map<string, string>();
	private loss?: Loss;

	constructor(
		private readonly queue: QueueMode,
		private readonly register: PayoutRegister,
		private readonly sandbox: Sandbox,
		length: number,
	) {
		for (const [index, id] of newIds(length).entries()) {
			const fate = fateOf(index);
			this.fates.set(id, fate);
			this.list.push(payout(id, fate === 'lost, made' ? CUT_OFF : '10.50'));
		}
	}

	/** Several executions pay the list at once, while a worker is killed and Redis restarted. */
	async payUnderTrouble(executions: number): Promise<void> {
		this.sandbox.faultFor = ({ body }) => {
			const fate = this.fates.get(externalIdOf(body));
			if (fate === 'refused') return { kind: 'status', status: 422 };
			if (fate === 'lost, not made') return { kind: 'reset-after-body' };
			return { kind: 'delay', ms: 100 };
		};
		const sends = Array.from({ length: executions }, async () => {
			await this.register.sendList(this.list);
		});
		await Promise.all([this.disturb(), ...sends]);
		await this.untilQuiet();
		await this.payWhatIsDue();
		this.sandbox.faultFor = undefined;
	}

	/** Kills a worker when a quarter has arrived, restarts Redis at half, and brings the worker back. */
	private async disturb(): Promise<void> {
		const { length } = this.list;
		const victim = this.queue.workers.at(-1)!;
		await until('a quarter to arrive', async () => this.countArrived() >= length / 4);
		await victim.kill();
		// What it had sent to PostgreSQL is carried out then, and what it had printed is in the log.
		await pause(1_000);
		this.loss = { at: Date.now(), log: victim.log };
		await until('half to arrive', async () => this.countArrived() >= length / 2);
		await this.queue.restartRedis();
		await victim.launch();
	}

	private countArrived(): number {
		const books = new Books(this.sandbox);
		return this.list.filter(({ id }) => books.arrived(id) > 0).length;
	}

	/** Waits until nothing arrives for a second, and no living run has a row in its hands. */
	private async untilQuiet(): Promise<void> {
		await until(
			'nothing to move',
			async () => {
				const before = this.snapshot();
				await pause(1_000);
				const rows = this.register.database.rows("state = 'claimed'");
				if (!rows.every((row) => isLost(row, this.loss))) return false;
				return this.snapshot() === before;
			},
			500,
		);
	}

	/** What has arrived and what the rows say, as a text to compare. */
	private snapshot(): string {
		return JSON.stringify([this.sandbox.received.length, this.register.database.states()]);
	}

	/** Runs the workflow until nothing is due; n8n may need a moment after Redis was restarted. */
	private async payWhatIsDue(): Promise<void> {
		await until(
			'nothing to be due',
			async () => {
				await this.register.sendList(this.list.slice(0, 1)).catch(() => undefined);
				await this.untilQuiet();
				return this.register.database.rows("state = 'due'").length === 0;
			},
			500,
		);
	}

	/** The rows that do not agree with the service's books, and how. */
	disagreements(rows: Row[], books: Books): string[] {
		const wrong: string[] = [];
		for (const row of rows) {
			const arrived = books.arrived(row.external_id);
			const paid = books.paid(row.external_id);
			if (this.agrees(row, arrived, paid)) continue;
			wrong.push(
				`${row.external_id} ${row.state} of ${row.execution_id}: arrived ${arrived}, paid ${paid}`,
			);
		}
		return wrong;
	}

	private agrees(row: Row, arrived: number, paid: number): boolean {
		switch (row.state) {
			case 'due':
			case 'notSent':
				return arrived === 0;
			case 'unknown':
				return arrived === 1;
			case 'accepted':
				return paid === 1;
			case 'rejected':
				return arrived === 1 && paid === 0;
			case 'claimed':
				return arrived <= 1 && isLost(row, this.loss);
			default:
				return false;
		}
	}

	/** A person decides about each payout that was not paid, and it is paid then. */
	async decideUntilPaid(): Promise<void> {
		for (let turn = 0; turn < 5; turn++) {
			const open = this.register.database.rows("state NOT IN ('accepted', 'closed')");
			if (open.length === 0) return;
			const books = new Books(this.sandbox);
			for (const row of open) this.decide(row, books.paid(row.external_id) > 0);
			await this.payWhatIsDue();
		}
	}

	/**
	 * What a person does about a payout, who asked the service whether it was paid. An unknown payout
	 * that was not gets a new identifier, as the node demands.
	 */
	private decide({ external_id, state, amount }: Row, isPaid: boolean): void {
		if (isPaid) return this.setState(external_id, 'accepted');
		if (state !== 'unknown') return this.setState(external_id, 'due');
		const other = `${external_id}/2`;
		this.newIdentifiers.set(external_id, other);
		this.setState(external_id, 'closed');
		this.register.insertRow(other, 'due', { amount });
	}

	private setState(id: string, state: string): void {
		this.register.database.sql(
			`UPDATE payout_register SET state = '${state}' WHERE external_id = '${id}'`,
		);
	}

	/** How often each payout of the list was paid, under its first identifier or its new one. */
	timesPaid(): number[] {
		const books = new Books(this.sandbox);
		return this.list.map(({ id }) => {
			const newId = this.newIdentifiers.get(id);
			return newId === undefined ? books.paid(id) : books.paid(id) + books.paid(newId);
		});
	}

	/** The identifiers under which payouts of the list were paid. */
	paidIds(): string[] {
		const books = new Books(this.sandbox);
		const ids = this.list.map(({ id }) => id);
		return [...ids, ...this.newIdentifiers.values()].filter((id) => books.paid(id) === 1);
	}

	/** Has each of these payments reported three times at once; gives how many executions that made. */
	async reportThrice(externalIds: string[]): Promise<number> {
		const payments = this.sandbox.transactions.filter(({ external_id }) =>
			externalIds.includes(external_id),
		);
		const [last = '0'] = this.queue.sql('SELECT max(id) FROM execution_entity');
		for (let from = 0; from < payments.length; from += 5) {
			const reports: Array<Promise<void>> = [];
			for (const { id } of payments.slice(from, from + 5)) {
				reports.push(this.sandbox.settle(id, 'paid'));
				reports.push(this.sandbox.settle(id, 'paid'));
				reports.push(this.sandbox.settle(id, 'paid'));
			}
			await Promise.all(reports);
		}
		// On a busy machine a delivery may be given up, and be repeated while the first still runs or has
		// not begun.
		const statuses = await until('all deliveries to be worked off', async () => {
			const found = this.queue.sql(`SELECT status FROM execution_entity WHERE id > ${last}`);
			if (found.length < 3 * externalIds.length) return false;
			return found.includes('new') || found.includes('running') ? false : found;
		});
		return statuses.length;
	}
}

/** The most rows that one execution left claimed. */
export function mostClaimedByOne(rows: Row[]): number {
	const counts = new Map<string, number>();
	for (const { state, execution_id } of rows) {
		if (state === 'claimed') addOne(counts, String(execution_id));
	}
	return Math.max(0, ...counts.values());
}
