import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { allIn, sectionOf } from './markdown';

const PAY = join(__dirname, '..', 'nodes', 'Pay');

/** The rooms from the top down, as CONTRIBUTING draws them; those of one line do not know each other. */
const ROOMS = [
	['Pay.node', 'PayTrigger.node'],
	['operations'],
	['execution'],
	['postback', 'qr'],
	['credential'],
	['parameters'],
	['service'],
	['n8n1'],
	['boundedMap', 'inputError', 'json', 'log', 'loopback', 'pause', 'within'],
];

const FILES: string[] = [];
for (const file of readdirSync(PAY, { recursive: true, encoding: 'utf8' })) {
	if (file.endsWith('.ts')) FILES.push(file.replace(/\.ts$/, ''));
}

function textOf(file: string): string {
	return readFileSync(join(PAY, `${file}.ts`), 'utf8');
}

/** The files of ours that a file imports. */
function importsOf(file: string): string[] {
	const imports: string[] = [];
	for (const path of allIn(textOf(file), /from '(\.[^']*)'/g)) {
		const target = relative(PAY, join(PAY, dirname(file), path));
		imports.push(FILES.includes(target) ? target : join(target, 'index'));
	}
	return imports;
}

function roomOf(file: string): string {
	return file.split('/')[0]!;
}

/** On which line of the drawing a file's room stands; -1 where it stands on none. */
function lineOf(file: string): number {
	return ROOMS.findIndex((rooms) => rooms.includes(roomOf(file)));
}

test('every file stands in a room', () => {
	expect(FILES.filter((file) => lineOf(file) === -1)).toStrictEqual([]);
});

test('imports run downwards only, and no room imports its neighbour', () => {
	// The control: one that runs down is found.
	expect(importsOf('execution/ledger/limits')).toContain('service/amounts');
	const upwards: string[] = [];
	for (const file of FILES) {
		for (const target of importsOf(file)) {
			if (roomOf(file) === roomOf(target)) continue;
			if (lineOf(target) <= lineOf(file)) upwards.push(`${file} imports ${target}`);
		}
	}
	expect(upwards).toStrictEqual([]);
});

/** The floors inside of execution/; a file of its own that is not named here stands above its rooms. */
const FLOORS_OF_EXECUTION = [
	['ledger', 'memory', 'report'],
	['words'],
	['agent', 'item', 'summary'],
];

test('inside of execution/ no arrow runs up, and its rooms do not know each other', () => {
	const place = (file: string) => file.split('/')[1]!;
	const floorOf = (file: string) =>
		FLOORS_OF_EXECUTION.findIndex((places) => places.includes(place(file)));
	const upwards: string[] = [];
	for (const file of FILES.filter((each) => roomOf(each) === 'execution')) {
		for (const target of importsOf(file).filter((each) => roomOf(each) === 'execution')) {
			const isInOneRoom = place(file) === place(target);
			const isAboveRooms = floorOf(file) === -1;
			if (isInOneRoom || isAboveRooms) continue;
			if (floorOf(target) <= floorOf(file)) upwards.push(`${file} imports ${target}`);
		}
	}
	expect(upwards).toStrictEqual([]);
});

test('no file imports itself in a circle', () => {
	const circles: string[] = [];
	const visited = new Set<string>();
	function visit(file: string, way: string[]) {
		if (way.includes(file)) circles.push([...way, file].join(' imports '));
		if (visited.has(file)) return;
		visited.add(file);
		for (const target of importsOf(file)) visit(target, [...way, file]);
	}
	for (const file of FILES) visit(file, []);
	expect(circles).toStrictEqual([]);
});

test('CONTRIBUTING draws these rooms, in this order', () => {
	const [drawing = ''] = allIn(
		sectionOf('CONTRIBUTING.md', '## The rooms of the code'),
		/```\n(.*?)```/gs,
	);
	let above = -1;
	for (const rooms of ROOMS) {
		const places: number[] = [];
		for (const room of rooms) {
			const place = drawing.indexOf(FILES.includes(room) ? room : `${room}/`);
			expect(place).not.toBe(-1);
			places.push(place);
		}
		expect(Math.min(...places)).toBeGreaterThan(above);
		above = Math.max(...places);
	}
});

test('a name of a type stands for one thing: no other file has it', () => {
	const names: string[] = [];
	for (const file of FILES) {
		names.push(...allIn(textOf(file), /^(?:export )?(?:class|interface|type) (\w+)/gm));
	}
	expect(names.filter((name, index) => names.indexOf(name) !== index)).toStrictEqual([]);
});

test('no exported name has a word that the glossary of CONTRIBUTING turns down', () => {
	const words: string[] = [];
	// The last column of the table, below its head: "payout: a row of a list", "notification, delivery".
	const [, ...cells] = allIn(sectionOf('CONTRIBUTING.md', '## Words'), /^\|.*\|([^|]+)\|$/gm);
	for (const cell of cells) {
		const [list = ''] = cell.split(':');
		for (const word of allIn(list, /(\w+)/g)) {
			// "key" is the recipient's, and a map's.
			if (word !== 'key') words.push(word);
		}
	}
	const found: string[] = [];
	for (const file of FILES) {
		const pattern = /^export .*?(?:function\*?|class|const|type|interface) (\w+)/gm;
		for (const name of allIn(textOf(file), pattern)) {
			// readPayout has the parts read and payout.
			const parts = name.split(/(?=[A-Z])|_/).map((part) => part.toLowerCase());
			if (parts.some((part) => words.includes(part))) found.push(`${file}: ${name}`);
		}
	}
	expect(found).toStrictEqual([]);
});
