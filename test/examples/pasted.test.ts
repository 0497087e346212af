import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { example } from '../../dev/demo';
import { exampleNames } from '../../dev/examples';
import type { Workflow } from '../../dev/n8n';

const NOTE = 'n8n-nodes-base.stickyNote';
const SCHEDULE = 'n8n-nodes-base.scheduleTrigger';

/** Room that a node takes on the canvas, its name below it included; a note says its own. */
function roomOf({ position, type, parameters }: Workflow['nodes'][number]) {
	const [left, top] = position as [number, number];
	const { width = 120, height = 140 } = parameters as { width?: number; height?: number };
	const isNote = type === NOTE;
	return { left, top, right: left + (isNote ? width : 120), bottom: top + (isNote ? height : 140) };
}

function parametersOf({ nodes }: Workflow, wanted: string): Record<string, unknown> {
	return nodes.find(({ name }) => name === wanted)!.parameters as Record<string, unknown>;
}

describe.each(exampleNames())('%s, as it is pasted,', (name) => {
	const workflow = example(name);

	test('has a note', () => {
		expect(workflow.nodes.map(({ type }) => type)).toContain(NOTE);
	});

	test('has no credentials', () => {
		for (const node of workflow.nodes) expect(node).not.toHaveProperty('credentials');
	});

	test('has no pinned data', () => {
		expect(workflow).not.toHaveProperty('pinData');
	});

	test('begins with a note of a title and three short lines', () => {
		const [note] = workflow.nodes.filter(({ type }) => type === NOTE);
		expect(note?.name).toBe('Note');
		const { content } = note!.parameters as { content: string };
		const [title, ...lines] = content.split('\n');
		expect(title).toMatch(/^## \S/);
		expect(lines).toHaveLength(3);
		// As they are read: a link is its text.
		const shown = lines.map((line) => line.replace(/\]\([^)]*\)/g, ']').replace(/[*`[\]]/g, ''));
		expect(shown.filter((line) => line.length > 120)).toStrictEqual([]);
	});

	test('has each note beside a node that it is about', () => {
		const notes = workflow.nodes.filter(({ type }) => type === NOTE);
		const rooms = workflow.nodes.filter(({ type }) => type !== NOTE).map(roomOf);
		const lonely = notes.filter((note) => {
			const { left, top, right, bottom } = roomOf(note);
			return !rooms.some(
				(room) =>
					room.left < right + 300 &&
					left < room.right + 300 &&
					room.top < bottom + 300 &&
					top < room.bottom + 300,
			);
		});
		expect(lonely.map((note) => note.name)).toStrictEqual([]);
	});

	test('has no node or note that covers another on the canvas', () => {
		const rooms = workflow.nodes.map((node) => ({ name: node.name, ...roomOf(node) }));
		const covered = rooms.flatMap((one, index) =>
			rooms
				.slice(index + 1)
				.filter(
					(other) =>
						one.left < other.right &&
						other.left < one.right &&
						one.top < other.bottom &&
						other.top < one.bottom,
				)
				.map((other) => `${one.name} and ${other.name}`),
		);
		expect(covered).toStrictEqual([]);
	});

	test('has no active schedule', () => {
		const schedules = workflow.nodes.filter(({ type }) => type === SCHEDULE);
		expect(schedules.filter(({ disabled }) => disabled !== true)).toStrictEqual([]);
	});
});

const usesPay = ({ nodes }: Workflow) =>
	nodes.some(({ type }) => type.startsWith('n8n-nodes-pay.'));

test.each(exampleNames().filter((name) => usesPay(example(name))))(
	'the first note of %s begins with the account that n8n filled in',
	(name) => {
		const content = parametersOf(example(name), 'Note').content as string;
		expect(content.split('\n')[1]).toContain(
			'n8n filled in one of your accounts, perhaps for real money',
		);
	},
);

test('the register has a new version with each change: one of the same version is left as it is', () => {
	const file = join(__dirname, '..', '..', 'examples', 'payout-register', 'register.sql');
	const sql = readFileSync(file, 'utf8');
	const [, version] = /this_version CONSTANT integer := (\d+);/.exec(sql)!;
	const hash = createHash('sha256').update(sql).digest('hex').slice(0, 12);
	expect({ version, hash }).toStrictEqual({ version: '5', hash: '971d9a80fb56' });
});

test('pay-once and payout-register set the same register up', () => {
	const { query } = parametersOf(example('pay-once'), 'Set up');
	expect(parametersOf(example('payout-register'), 'Set up').query).toBe(query);
});

/** The tests that run an example to each of its last nodes, as a person does who reads its notes. */
const RUN_BY: Record<string, string> = {
	agent: 'examples.n8n.ts',
	approval: 'examples.n8n.ts',
	'ask-the-service': 'askTheService.n8n.ts',
	checkout: 'examples.n8n.ts',
	'pay-once': 'payOnce.n8n.ts',
	'payout-register': 'payoutRegister.n8n.ts',
	payouts: 'payouts.n8n.ts',
	'postbacks-without-repeats': 'examples.n8n.ts',
	'practice-service': 'practice.n8n.ts',
	reconcile: 'reconcile.n8n.ts',
	'short-lived-token': 'examples.n8n.ts',
};

test('each example has tests that run it, and no other has', () => {
	expect(Object.keys(RUN_BY)).toStrictEqual(exampleNames());
});

test.each(Object.entries(RUN_BY))('%s is run to its last nodes by %s', (name, file) => {
	const source = readFileSync(join(__dirname, '..', 'n8n', file), 'utf8');
	expect(source).toContain(`'${name}'`);
	expect(source).toContain('reachesLastNodes(');
});
