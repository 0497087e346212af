import type { DuplicateStore, Moment } from '../duplicateStore';
import type { StoreFate } from './plan';
import type { NodeRun } from './send';
import type { World } from './world';

const never = new Promise<never>(() => undefined);

type Check = Parameters<DuplicateStore['checkProcessedAndRecord']>;
type Values = Check[0];
type Scope = Check[1];
type How = Check[3];

/** n8n's helpers for its duplicate store: each step of a call is one, and any may meet a fault. */
export class StoreCalls {
	private readonly contextData: ReturnType<World['placeOf']>;

	constructor(
		private readonly world: World,
		private readonly run: NodeRun,
	) {
		this.contextData = world.placeOf(run.node);
		world.records.addCaller(this.contextData, run);
	}

	async checkProcessedAndRecord(values: Values, scope: Scope, how: How) {
		// A mark of what was accepted is no record of a payment.
		const records = values.filter((value) => String(value).startsWith('n8n-nodes-pay:'));
		this.world.records.addRecords(records);
		const fate = this.begin(scope);
		if (fate?.does === 'junk') return await this.findNothing();
		const store = this.storeWith(fate);
		return await store.checkProcessedAndRecord(values, scope, this.contextData, how);
	}

	async removeProcessed(values: Values, scope: Scope, how: How): Promise<void> {
		const fate = this.begin(scope);
		if (fate?.does === 'junk') return void (await this.findNothing());
		await this.storeWith(fate).removeProcessed(values, scope, this.contextData, how);
	}

	async getProcessedDataCount(scope: Scope, how: How): Promise<number> {
		return await this.world.store.getProcessedDataCount(scope, this.contextData, how);
	}

	async clearAllProcessedItems(scope: Scope): Promise<void> {
		await this.storeWith(this.begin(scope)).clearAllProcessedItems(scope, this.contextData);
	}

	private begin(scope: Scope): StoreFate | undefined {
		this.world.beginStoreCall(this.run);
		const fate = this.world.nextStoreFate();
		if (fate !== undefined && scope === 'workflow') {
			this.world.hasStoreFailed = true;
			this.run.storeFailed = true;
		}
		return fate;
	}

	/** As n8n answers where the row holds no list: nothing is recorded then. */
	private async findNothing() {
		await this.meet('read', undefined);
		return { new: [], processed: [] };
	}

	private storeWith(fate: StoreFate | undefined): DuplicateStore {
		return this.world.store.seenBy(async (moment) => await this.meet(moment, fate));
	}

	private async meet(moment: Moment, fate: StoreFate | undefined): Promise<void> {
		const { world, run } = this;
		const { changeMs } = world.settings;
		if (moment === 'write' && changeMs > 0) await world.clock.sleep(changeMs, run.process);
		else await world.clock.step(moment, run.process);
		if (fate === undefined || fate.does === 'junk' || fate.at !== moment) return;
		const what = JSON.stringify(fate);
		world.note(`the store, for ${run.execution.name}, before ${moment}: ${what}`);
		if (fate.does === 'fail') throw new Error('connection terminated unexpectedly');
		world.isStoreSlow = true;
		if (fate.does === 'hang') await never;
		else await world.clock.sleep(fate.ms, run.process);
	}
}
