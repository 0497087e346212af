import type { NodeProcess } from '../nodeProcess';
import { storedForm, type Write } from '../duplicateStore';
import { wasFrozen, type NodeRun } from './send';

/** What became of the records in n8n's duplicate store: who wrote, dropped and took back which. */
export class RecordHistory {
	/** What the node recorded for an external_id, as the store keeps it. */
	private readonly recordsOf = new Map<string, Set<string>>();
	/** Records that a write of somebody else ever dropped. */
	private readonly dropped = new Set<string>();
	/** Those of them that a process wrote over which had stood still meanwhile. */
	private readonly droppedByFrozen = new Set<string>();
	/** Records that a full list let go, with the process that wrote it. */
	private readonly trimmed = new Map<string, Set<NodeProcess | undefined>>();
	/** Records that the node took back, and the runs that did. */
	private readonly takenBack = new Map<string, Set<NodeRun>>();
	/** What a run's list held when it first asked. */
	private readonly firstLooks = new WeakMap<NodeRun, ReadonlySet<string>>();
	/** Whose call to the store it is, by what the call hands over. */
	private readonly callers = new WeakMap<object, NodeRun>();

	addCaller(call: object, run: NodeRun) {
		this.callers.set(call, run);
	}

	addFirstLook(run: NodeRun, list: readonly string[]) {
		if (!this.firstLooks.has(run)) this.firstLooks.set(run, new Set(list));
	}

	/** Notes what a process records, to know which record stands for which payment. */
	addRecords(items: readonly unknown[]) {
		for (const item of items) {
			const [id] = /id-[^:]*$/.exec(String(item)) ?? [];
			if (id === undefined) continue;
			const records = this.recordsOf.get(id) ?? new Set();
			this.recordsOf.set(id, records.add(storedForm(String(item))));
		}
	}

	addWrite({ before, after, removed, trimmed }: Write, call: object) {
		if (before.length === 0) return;
		const run = this.callers.get(call);
		for (const record of trimmed) this.addTrimmed(record, run?.process);
		const left = new Set(after);
		for (const record of before) {
			if (left.has(record)) continue;
			if (removed.includes(record)) this.addTakenBack(record, run);
			else this.addDropped(record, run);
		}
	}

	private addTrimmed(record: string, process: NodeProcess | undefined) {
		const writers = this.trimmed.get(record) ?? new Set();
		this.trimmed.set(record, writers.add(process));
	}

	private addTakenBack(record: string, run: NodeRun | undefined) {
		const takers = this.takenBack.get(record) ?? new Set();
		if (run !== undefined) takers.add(run);
		this.takenBack.set(record, takers);
	}

	private addDropped(record: string, run: NodeRun | undefined) {
		this.dropped.add(record);
		if (run !== undefined && wasFrozen(run)) this.droppedByFrozen.add(record);
	}

	private records(id: string): string[] {
		return [...(this.recordsOf.get(id) ?? [])];
	}

	/** Whether the node ever recorded this external_id. */
	wasRecorded(id: string): boolean {
		return this.recordsOf.has(id);
	}

	/** Whether another process's write dropped a record of it. */
	wasDropped(id: string): boolean {
		return this.records(id).some((record) => this.dropped.has(record));
	}

	/** Whether a process that had stood still meanwhile did. */
	wasDroppedByFrozen(id: string): boolean {
		return this.records(id).some((record) => this.droppedByFrozen.has(record));
	}

	/** Whether a record of it was ever dropped or taken back. */
	wasForgotten(id: string): boolean {
		return this.wasDropped(id) || this.records(id).some((record) => this.takenBack.has(record));
	}

	/** Whether a full list had let its record go before a run asked, or another process did. */
	wasTooOld(id: string, run: NodeRun): boolean {
		for (const record of this.records(id)) {
			const writers = this.trimmed.get(record);
			if (writers === undefined) continue;
			const wasThere = this.firstLooks.get(run)?.has(record) ?? false;
			if (!wasThere) return true;
			if ([...writers].some((writer) => writer !== run.process)) return true;
		}
		return false;
	}

	/** Whether a run on another process took a record of it back. */
	wasTakenBackBeside(id: string, process: NodeProcess): boolean {
		for (const record of this.records(id)) {
			const takers = this.takenBack.get(record) ?? [];
			if ([...takers].some((taker) => taker.process !== process)) return true;
		}
		return false;
	}
}
