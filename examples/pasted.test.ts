import { example } from '../dev/demo';
import { exampleNames } from '../dev/examples';
import type { Workflow } from '../dev/n8n';

const NOTE = 'n8n-nodes-base.stickyNote';
const SCHEDULE = 'n8n-nodes-base.scheduleTrigger';

type Node = Workflow['nodes'][number];

interface Room {
	left: number;
	top: number;
	right: number;
	bottom: number;
}

/** Room that a node takes on the canvas, its name below it included; a note says its own. */
function roomOf({ position, type, parameters }: Node): Room {
	const [left, top] = position as [number, number];
	let size = { width: 120, height: 140 };
	if (type === NOTE) size = parameters as { width: number; height: number };
	return { left, top, right: left + size.width, bottom: top + size.height };
}

/** Whether two nodes are less than so far from one another; where it is 0, whether one covers the other. */
function areNear(one: Room, other: Room, distance: number): boolean {
	const isBeside = one.left < other.right + distance && other.left < one.right + distance;
	return isBeside && one.top < other.bottom + distance && other.top < one.bottom + distance;
}

function parametersOf({ nodes }: Workflow, wanted: string): Record<string, unknown> {
	return nodes.find(({ name }) => name === wanted)!.parameters as Record<string, unknown>;
}

describe.each(exampleNames())('%s, as it is pasted,', (name) => {
	const workflow = example(name);

	test('no two nodes have one webhook', () => {
		const ids = workflow.nodes.map(({ webhookId }) => webhookId).filter((id) => id !== undefined);
		expect(new Set(ids).size).toBe(ids.length);
	});

	test('has two notes: what it is, and what must change before it is real', () => {
		const notes = workflow.nodes.filter(({ type }) => type === NOTE).map((note) => note.name);
		expect(notes).toStrictEqual(['Note', 'Note before it is real']);
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

	test('has notes of a title and at most three lines: what needs more is a page of docs/', () => {
		const notes = workflow.nodes.filter(({ type }) => type === NOTE);
		const long = notes.filter(({ parameters }) => {
			return (parameters as { content: string }).content.split('\n').length > 4;
		});
		expect(long.map((note) => note.name)).toStrictEqual([]);
	});

	test('has each note beside a node that it is about', () => {
		const nodes = workflow.nodes.filter(({ type }) => type !== NOTE);
		const lonely: string[] = [];
		for (const note of workflow.nodes) {
			if (note.type !== NOTE) continue;
			const room = roomOf(note);
			if (!nodes.some((node) => areNear(roomOf(node), room, 300))) lonely.push(note.name);
		}
		expect(lonely).toStrictEqual([]);
	});

	test('has no node or note that covers another on the canvas', () => {
		const covered: string[] = [];
		for (const [index, one] of workflow.nodes.entries()) {
			for (const other of workflow.nodes.slice(index + 1)) {
				if (!areNear(roomOf(one), roomOf(other), 0)) continue;
				covered.push(`${one.name} and ${other.name}`);
			}
		}
		expect(covered).toStrictEqual([]);
	});

	test('has no active schedule', () => {
		const schedules = workflow.nodes.filter(({ type }) => type === SCHEDULE);
		expect(schedules.filter(({ disabled }) => disabled !== true)).toStrictEqual([]);
	});
});

const usesPay = ({ nodes }: Workflow) =>
	nodes.some(({ type }) => type.startsWith('n8n-nodes-pay.'));

/** How many nodes an example may have: more cannot be read at a glance. */
const MOST_NODES: Record<string, number> = {
	'get-paid': 6,
	'pay-a-list': 7,
	'practice-service': 11,
	checkout: 14,
	payouts: 14,
	'pay-once': 16,
};

test.each(exampleNames())('%s can be read at a glance', (name) => {
	const nodes = example(name).nodes.filter(({ type }) => type !== NOTE);
	expect(nodes.length).toBeLessThanOrEqual(MOST_NODES[name] ?? 8);
});

test.each(exampleNames().filter((name) => usesPay(example(name))))(
	'the first note of %s begins with the account that n8n may have selected',
	(name) => {
		const content = parametersOf(example(name), 'Note').content as string;
		expect(content.split('\n')[1]).toContain('n8n may have selected an account for real money');
	},
);
