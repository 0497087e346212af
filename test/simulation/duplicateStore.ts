import { createHash } from 'node:crypto';
import type {
	DeduplicationItemTypes,
	DeduplicationScope,
	ICheckProcessedContextData,
	ICheckProcessedOptions,
	IDataDeduplicator,
	IDeduplicationOutput,
} from 'n8n-workflow';

type Mode = ICheckProcessedOptions['mode'];

/** One row of n8n's table processed_data: a list of hashes, or the latest value. */
interface Row {
	mode: Mode;
	data: readonly string[] | DeduplicationItemTypes;
}

/** What a call is about to do; a test may hold it there, or let it fail. */
export type Moment = 'read' | 'write' | 'answer';

/** A write as it happened: what the row's list held, holds now, and was meant to lose. */
export interface Write {
	context: string;
	before: readonly string[];
	after: readonly string[];
	removed: readonly string[];
	/** The oldest, beyond what the list was to keep. */
	trimmed: readonly string[];
}

export interface StoreHooks {
	/** Awaited before each step of each call; throwing here is the database failing there. */
	before?: (moment: Moment, contextData: ICheckProcessedContextData) => Promise<void> | void;
	written?: (write: Write, contextData: ICheckProcessedContextData) => void;
}

/** As n8n keeps a value: MD5, base64. */
export function storedForm(value: DeduplicationItemTypes): string {
	return createHash('md5').update(String(value)).digest('base64');
}

const LATEST: readonly Mode[] = ['latestIncrementalKey', 'latestDate'];

/** Numbers or dates; anything else is the error that n8n gives. */
function comparable(mode: Mode, value: DeduplicationItemTypes): number {
	const number = mode === 'latestDate' ? new Date(value).getTime() : Number(value);
	if (Number.isNaN(number)) throw new Error(`Invalid value for mode "${mode}"`);
	return number;
}

/**
 * n8n's duplicate store as n8n 2.41.1 and 1.123.81 have it (`deduplication-helper.js`), with memory
 * in the place of its table: a call reads the whole row, changes it and writes it back, without a
 * lock and without a look at what others wrote meanwhile. The first record of a row is an INSERT
 * that fails where another made the row first; an UPDATE of a row that is gone does nothing. The
 * list keeps its last `maxEntries`; a value twice in one call counts as new twice.
 */
export class DuplicateStore implements IDataDeduplicator {
	private rows = new Map<string, Row>();

	constructor(private readonly hooks: StoreHooks = {}) {}

	/** The same rows, for a caller whose steps are held up or fail on their own. */
	seenBy(before: StoreHooks['before']): DuplicateStore {
		const view = new DuplicateStore({ ...this.hooks, before });
		view.rows = this.rows;
		return view;
	}

	/** Forgets everything, as a new database. */
	clear() {
		this.rows.clear();
	}

	/** Whether a row of any scope holds a value. */
	has(value: DeduplicationItemTypes): boolean {
		const hash = storedForm(value);
		return [...this.rows.values()].some(
			({ data }) => Array.isArray(data) && (data as string[]).includes(hash),
		);
	}

	/** A workflow's list as it is stored, the oldest first. */
	list(contextData: ICheckProcessedContextData): readonly string[] {
		const { data } = this.rows.get(this.key('workflow', contextData)) ?? {};
		return Array.isArray(data) ? (data as string[]) : [];
	}

	/** How many values all lists hold. */
	get size(): number {
		return [...this.rows.values()].reduce(
			(sum, { data }) => sum + (Array.isArray(data) ? data.length : 0),
			0,
		);
	}

	private key(scope: DeduplicationScope, { workflow, node }: ICheckProcessedContextData): string {
		if (!workflow.id) throw new Error('The expression evaluated to a falsy value: workflow.id');
		return `${workflow.id} ${scope === 'node' ? `n:${node?.id}` : ''}`;
	}

	private async read(key: string, contextData: ICheckProcessedContextData) {
		await this.hooks.before?.('read', contextData);
		return this.rows.get(key);
	}

	private async write(
		key: string,
		row: Row,
		how: 'insert' | 'update',
		contextData: ICheckProcessedContextData,
		{ removed = [], trimmed = [] }: Partial<Pick<Write, 'removed' | 'trimmed'>> = {},
	) {
		await this.hooks.before?.('write', contextData);
		const before = this.rows.get(key);
		if (how === 'insert' && before !== undefined) {
			throw Object.assign(
				new Error('duplicate key value violates unique constraint "PK_processed_data"'),
				{ name: 'QueryFailedError', code: '23505' },
			);
		}
		if (how === 'insert' || before !== undefined) {
			this.rows.set(key, row);
			const listOf = (data: Row['data'] = []) => (Array.isArray(data) ? (data as string[]) : []);
			this.hooks.written?.(
				{ context: key, before: listOf(before?.data), after: listOf(row.data), removed, trimmed },
				contextData,
			);
		}
		await this.hooks.before?.('answer', contextData);
	}

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		contextData: ICheckProcessedContextData,
		options: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		const key = this.key(scope, contextData);
		const row = await this.read(key, contextData);
		if (row !== undefined && row.mode !== options.mode) {
			throw new Error(
				'Deduplication data was originally saved with an incompatible setting of the ‘Keep Items Where’ parameter. Try ’Clean Database’ operation to reset.',
			);
		}
		return LATEST.includes(options.mode)
			? await this.checkLatest(items, key, row, contextData, options)
			: await this.checkEntries(items, key, row, contextData, options);
	}

	private async checkEntries(
		items: DeduplicationItemTypes[],
		key: string,
		row: Row | undefined,
		contextData: ICheckProcessedContextData,
		{ mode, maxEntries }: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		const hashes = items.map(storedForm);
		let trimmed: string[] = [];
		const bounded = (list: string[]) => {
			if (maxEntries) trimmed = list.splice(0, list.length - maxEntries);
			return list;
		};
		if (row === undefined) {
			await this.write(key, { mode, data: bounded(hashes) }, 'insert', contextData);
			return { new: items, processed: [] };
		}
		const result: IDeduplicationOutput = { new: [], processed: [] };
		if (!Array.isArray(row.data)) return result;
		const known = new Set(row.data as string[]);
		const list = [...(row.data as string[])];
		items.forEach((item, index) => {
			const hash = hashes[index] as string;
			if (known.has(hash)) return void result.processed.push(item);
			result.new.push(item);
			list.push(hash);
		});
		const kept = { mode, data: bounded(list) };
		await this.write(key, kept, 'update', contextData, { trimmed });
		return result;
	}

	private async checkLatest(
		items: DeduplicationItemTypes[],
		key: string,
		row: Row | undefined,
		contextData: ICheckProcessedContextData,
		{ mode }: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		const value = (item: DeduplicationItemTypes) => comparable(mode, item);
		const sorted = [...items].sort((a, b) => value(a) - value(b));
		if (row === undefined) {
			const data = sorted.at(-1) ?? '';
			await this.write(key, { mode, data }, 'insert', contextData);
			return { new: items, processed: [] };
		}
		const result: IDeduplicationOutput = { new: [], processed: [] };
		if (Array.isArray(row.data)) return result;
		const last = row.data as DeduplicationItemTypes;
		let largest = last;
		for (const item of sorted) {
			if (value(item) <= value(last)) result.processed.push(item);
			else {
				result.new.push(item);
				if (value(item) > value(largest)) largest = item;
			}
		}
		await this.write(key, { mode, data: largest }, 'update', contextData);
		return result;
	}

	async removeProcessed(
		items: DeduplicationItemTypes[],
		scope: DeduplicationScope,
		contextData: ICheckProcessedContextData,
		options: ICheckProcessedOptions,
	): Promise<void> {
		if (LATEST.includes(options.mode)) {
			throw new Error('Removing processed data is not possible in mode "latest"');
		}
		const key = this.key(scope, contextData);
		const row = await this.read(key, contextData);
		if (row === undefined || !Array.isArray(row.data)) return;
		const list = [...(row.data as string[])];
		const removed = items.map(storedForm);
		for (const hash of removed) {
			const index = list.indexOf(hash);
			if (index !== -1) list.splice(index, 1);
		}
		await this.write(key, { mode: row.mode, data: list }, 'update', contextData, { removed });
	}

	async clearAllProcessedItems(
		scope: DeduplicationScope,
		contextData: ICheckProcessedContextData,
	): Promise<void> {
		await this.hooks.before?.('write', contextData);
		this.rows.delete(this.key(scope, contextData));
	}

	async getProcessedDataCount(
		scope: DeduplicationScope,
		contextData: ICheckProcessedContextData,
		options: ICheckProcessedOptions,
	): Promise<number> {
		const row = await this.read(this.key(scope, contextData), contextData);
		return options.mode === 'entries' && Array.isArray(row?.data) ? row.data.length : 0;
	}
}
