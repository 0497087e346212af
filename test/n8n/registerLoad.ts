import { pause, until } from '../../dev/n8n';
import type { Sandbox } from '../../sandbox/service';
import { newIds } from './nodes';
import type { Payout, PayoutRegister, Row } from './payoutRegister';
import type { QueueMode } from './queue';

/** How often each external_id arrived at the service, and how often it was paid there. */
export class Books {
	private readonly arrivedCounts = new Map<string, number>();
	private readonly paidCounts = new Map<string, number>();

	constructor(sandbox: Sandbox) {
		for (const { path, body } of sandbox.received) {
			if (path.endsWith('/payment') && body !== '') addOne(this.arrivedCounts, externalIdOf(body));
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

/** Of twenty payouts two are refused, and the answers to two are lost. */
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

/** An amount that the sandbox pays, and whose answer it cuts off. */
export const CUT_OFF = '9.02';

/** A worker that was killed: nobody can say of the rows in its hands whether they were sent. */
interface Loss {
	at: number;
	/** The log of the worker until then. */
	log: string;
	/** When the worker is there again. */
	back: Promise<void>;
}

/** Whether a row was in the hands of a run that is gone. */
function isLost({ execution_id, claimed_at }: Row, loss: Loss | undefined): boolean {
	if (loss === undefined) return false;
	// Executions that n8n 1 gives to the other worker keep their id.
	return Date.parse(claimed_at!) <= loss.at && loss.log.includes(`execution ${execution_id} `);
}

/** Many executions that pay one list through the register, while processes are killed. */
export class RegisterLoad {
	constructor(
		private readonly queue: QueueMode,
		private readonly register: PayoutRegister,
		private readonly sandbox: Sandbox,
		private readonly insertDue: (id: string, amount: string) => void,
	) {}

	/** A list of which the service refuses a tenth, and loses the answer to a tenth. */
	orderList(length: number): Payout[] {
		const fates = new Map<string, Fate>();
		const list = newIds(length).map((id, index) => {
			const fate = fateOf(index);
			fates.set(id, fate);
			return { id, amount: fate === 'lost, made' ? CUT_OFF : '10.50', key: `${id}@example.com` };
		});
		this.sandbox.faultFor = ({ body }) => {
			const fate = fates.get(externalIdOf(body));
			if (fate === 'refused') return { kind: 'status', status: 422 };
			if (fate === 'lost, not made') return { kind: 'reset-after-body' };
			return { kind: 'delay', ms: 100 };
		};
		return list;
	}

	/** Several executions pay one list at once, while a worker is killed and Redis restarted. */
	async payUnderTrouble(list: Payout[], executions: number): Promise<Loss> {
		const sends = Array.from({ length: executions }, async () => await this.register.send(list));
		const [loss] = await Promise.all([this.disturb(list), ...sends]);
		await this.untilQuiet(loss);
		await this.payWhatIsDue(list, loss);
		return loss;
	}

	/** Kills a worker when a quarter has arrived, restarts Redis at half, and brings the worker back. */
	private async disturb(list: Payout[]): Promise<Loss> {
		const victim = this.queue.workers.at(-1)!;
		await until('a quarter to arrive', async () => this.countArrived(list) >= list.length / 4);
		await victim.kill();
		// What it had sent to PostgreSQL is carried out then, and what it had printed is in the log.
		await pause(1_000);
		const at = Date.now();
		const log = victim.log;
		await until('half to arrive', async () => this.countArrived(list) >= list.length / 2);
		await this.queue.restartRedis();
		const back = victim.launch();
		back.catch(() => undefined);
		return { at, log, back };
	}

	private countArrived(list: Payout[]): number {
		const books = new Books(this.sandbox);
		return list.filter(({ id }) => books.arrived(id) > 0).length;
	}

	/** Waits until nothing arrives for a while, and no living run has a row in its hands. */
	private async untilQuiet(loss: Loss | undefined): Promise<void> {
		let last = '';
		await until(
			'nothing to move',
			async () => {
				const rows = this.register.rows();
				const inHand = rows.filter((row) => row.state === 'claimed' && !isLost(row, loss));
				const states = rows.map(({ external_id, state }) => [external_id, state]);
				const now = JSON.stringify([states, this.sandbox.received.length]);
				const isSame = now === last;
				last = now;
				await pause(1_000);
				return isSame && inHand.length === 0;
			},
			500,
		);
	}

	/** Runs the workflow until nothing is due; n8n may need a moment after Redis was restarted. */
	private async payWhatIsDue(list: Payout[], loss?: Loss): Promise<void> {
		await until(
			'nothing to be due',
			async () => {
				await this.register.send(list.slice(0, 1)).catch(() => undefined);
				await this.untilQuiet(loss);
				return this.register.rows("state = 'due'").length === 0;
			},
			500,
		);
	}

	/** The rows that do not agree with the service's books, and how. */
	disagreements(rows: Row[], loss: Loss): string[] {
		const books = new Books(this.sandbox);
		const wrong: string[] = [];
		for (const row of rows) {
			const arrived = books.arrived(row.external_id);
			const paid = books.paid(row.external_id);
			if (agrees(row, arrived, paid, loss)) continue;
			wrong.push(
				`${row.external_id} ${row.state} of ${row.execution_id}: arrived ${arrived}, paid ${paid}`,
			);
		}
		return wrong;
	}

	/**
	 * A person decides about each payout that was not paid, and it is paid then.
	 * @returns the new identifiers that some got, by their first ones
	 */
	async decideUntilPaid(list: Payout[]): Promise<Map<string, string>> {
		const changedIds = new Map<string, string>();
		for (let turn = 0; turn < 5; turn++) {
			if (this.decideAll(changedIds) === 0) break;
			await this.payWhatIsDue(list);
		}
		return changedIds;
	}

	/**
	 * What a person does, who asks the service about each payout in doubt and has the refused ones
	 * put right. An unknown payout that was not made gets a new identifier, as the node demands.
	 * @returns how many rows were changed
	 */
	private decideAll(changedIds: Map<string, string>): number {
		const books = new Books(this.sandbox);
		let changed = 0;
		for (const { external_id: id, state, amount } of this.register.rows("state <> 'accepted'")) {
			if (changedIds.has(id)) continue;
			changed++;
			const mayBeSentAgain = state === 'rejected' || state === 'notSent';
			if (mayBeSentAgain) this.change(id, "state = 'due'");
			else if (books.paid(id) > 0) this.change(id, "state = 'accepted'");
			else if (state === 'claimed') this.change(id, "state = 'due'");
			else {
				const other = `${id}/2`;
				changedIds.set(id, other);
				this.change(id, `state = 'closed', reason = 'Not known to the service; now ${other}'`);
				this.insertDue(other, amount);
			}
		}
		return changed;
	}

	private change(id: string, what: string): void {
		this.register.sql(`UPDATE payout_register SET ${what} WHERE external_id = '${id}'`);
	}

	/** Has every payment reported three times at once; gives how often each settled and was followed. */
	async reportThrice(externalIds: string[]) {
		const wanted = new Set(externalIds);
		const known = this.sandbox.transactions.filter(({ external_id }) => wanted.has(external_id));
		const [last = '0'] = this.queue.sql('SELECT max(id) FROM execution_entity');
		for (let from = 0; from < known.length; from += 5) {
			const reports: Array<Promise<unknown>> = [];
			for (const { id } of known.slice(from, from + 5)) {
				reports.push(this.sandbox.settle(id, 'paid'));
				reports.push(this.sandbox.settle(id, 'paid'));
				reports.push(this.sandbox.settle(id, 'paid'));
			}
			await Promise.all(reports);
		}
		// On a busy machine a delivery may be given up, and be repeated while the first still runs.
		const runs = await until('all deliveries to be worked off', async () => {
			const rows = this.queue.sql(`SELECT status FROM execution_entity WHERE id > ${last}`);
			return !rows.some((status) => status === 'new' || status === 'running') && rows;
		});
		const settled = this.register.sql(
			"SELECT external_id FROM transition WHERE became = 'settled'",
		);
		return { runs, settled, followed: this.register.sql('SELECT external_id FROM followed') };
	}
}

/** Whether a row says what the service's books say. */
function agrees(row: Row, arrived: number, paid: number, loss: Loss): boolean {
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
			return arrived <= 1 && isLost(row, loss);
		default:
			return false;
	}
}

/** How many rows each execution left claimed. */
export function claimedByExecution(rows: Row[]): Map<string, number> {
	const claimed = new Map<string, number>();
	for (const { state, execution_id } of rows) {
		if (state === 'claimed') addOne(claimed, String(execution_id));
	}
	return claimed;
}
