import type { ICheckProcessedContextData } from 'n8n-workflow';
import { DuplicateStore, type Moment } from './duplicateStore';

const workflow = { id: 'w', active: true };
const at = (id: string) => ({ node: { id } as ICheckProcessedContextData['node'], workflow });
const ENTRIES = { mode: 'entries', maxEntries: 3 } as const;

test('a list tells new from processed, each node has its own, and the workflow another', async () => {
	const store = new DuplicateStore();
	const check = async (scope: 'node' | 'workflow', node: string) =>
		await store.checkProcessedAndRecord(['a'], scope, at(node), ENTRIES);
	expect(await check('node', '1')).toStrictEqual({ new: ['a'], processed: [] });
	expect(await check('node', '1')).toStrictEqual({ new: [], processed: ['a'] });
	expect(await check('node', '2')).toStrictEqual({ new: ['a'], processed: [] });
	expect(await check('workflow', '1')).toStrictEqual({ new: ['a'], processed: [] });
	expect(await check('workflow', '2')).toStrictEqual({ new: [], processed: ['a'] });
});

test('the oldest entries are dropped beyond the bound, and a value twice in a call is new twice', async () => {
	const store = new DuplicateStore();
	const check = async (...items: string[]) =>
		await store.checkProcessedAndRecord(items, 'node', at('1'), ENTRIES);
	await check('a', 'b');
	expect(await check('c', 'd', 'd')).toStrictEqual({ new: ['c', 'd', 'd'], processed: [] });
	expect(['a', 'b', 'c', 'd'].map((id) => store.has(id))).toStrictEqual([false, false, true, true]);
	expect(store.size).toBe(3);
});

test('of two calls that both have read, the last writer wins: the records of the other are gone', async () => {
	const held: Array<() => void> = [];
	const store = new DuplicateStore();
	await store.checkProcessedAndRecord(['warm'], 'node', at('1'), ENTRIES);
	const slow = store.seenBy(async (moment: Moment) => {
		if (moment === 'write') await new Promise<void>((resolve) => held.push(resolve));
	});
	const first = slow.checkProcessedAndRecord(['a'], 'node', at('1'), ENTRIES);
	const second = slow.checkProcessedAndRecord(['b'], 'node', at('1'), ENTRIES);
	await new Promise(setImmediate);
	held.forEach((go) => go());
	expect([await first, await second].map((answer) => answer.new)).toStrictEqual([['a'], ['b']]);
	expect([store.has('a'), store.has('b')]).toStrictEqual([false, true]);
});

test('of two calls that both find no row, one fails with the database’s own error', async () => {
	const held: Array<() => void> = [];
	const slow = new DuplicateStore().seenBy(async (moment) => {
		if (moment === 'write') await new Promise<void>((resolve) => held.push(resolve));
	});
	const calls = ['a', 'b'].map(
		async (id) => await slow.checkProcessedAndRecord([id], 'node', at('1'), ENTRIES),
	);
	await new Promise(setImmediate);
	held.forEach((go) => go());
	const [first, second] = await Promise.allSettled(calls);
	expect(first).toMatchObject({ status: 'fulfilled', value: { new: ['a'] } });
	expect(second).toMatchObject({ status: 'rejected', reason: { code: '23505' } });
});

test('taking back removes what is there, and only that', async () => {
	const store = new DuplicateStore();
	await store.checkProcessedAndRecord(['a', 'b'], 'node', at('1'), ENTRIES);
	await store.removeProcessed(['a', 'never'], 'node', at('1'), ENTRIES);
	expect([store.has('a'), store.has('b')]).toStrictEqual([false, true]);
});

test('a row in another mode is refused, as after a Remove Duplicates node in mode "latest"', async () => {
	const store = new DuplicateStore();
	const latest = { mode: 'latestIncrementalKey' } as const;
	await store.checkProcessedAndRecord([7], 'workflow', at('1'), latest);
	expect(await store.checkProcessedAndRecord([3, 9], 'workflow', at('1'), latest)).toStrictEqual({
		new: [9],
		processed: [3],
	});
	const call = store.checkProcessedAndRecord(['a'], 'workflow', at('1'), ENTRIES);
	await expect(call).rejects.toThrow(/incompatible setting/);
});
