import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { allIn, read, sectionOf } from './markdown';

const ROOT = join(__dirname, '..');
const PAY = join(ROOT, 'nodes', 'Pay');

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
	['inputError', 'json', 'log', 'loopback', 'pause', 'within'],
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

/** What it holds is a form alone: `test/operations/form.test.ts` has it frozen. */
const FORMS_ALONE = ['parameters/recipient'];

test('mutants are made of every reader of a field', () => {
	const { files } = JSON.parse(read('test/mutation/goals.json')) as { files: string[] };
	const readers = FILES.filter((file) => roomOf(file) === 'parameters');
	const without = readers.filter((file) => !files.includes(`nodes/Pay/${file}.ts`));
	expect(without.sort()).toStrictEqual(FORMS_ALONE);
});

test('imports run downwards only, and no room imports its neighbour', () => {
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

test('the checks above find files and imports', () => {
	expect(FILES.length).toBeGreaterThan(30);
	expect(FILES.flatMap(importsOf).length).toBeGreaterThan(100);
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

test('no list is compared with toEqual, to which [undefined] is []', () => {
	expect([undefined]).toEqual([]);
	const found: string[] = [];
	for (const path of sourcesIn('test')) {
		if (path === 'test/rooms.test.ts') continue;
		if (/\.toEqual\(\s*(\[|Array\()/.test(read(path))) found.push(path);
	}
	expect(found).toStrictEqual([]);
});

test('a name of a type stands for one thing: no other file has it', () => {
	const names: string[] = [];
	for (const file of FILES) {
		names.push(...allIn(textOf(file), /^(?:export )?(?:class|interface|type) (\w+)/gm));
	}
	expect(names.length).toBeGreaterThan(80);
	expect(names.filter((name, index) => names.indexOf(name) !== index)).toStrictEqual([]);
});

describe('a word that the glossary of CONTRIBUTING turns down', () => {
	const words: string[] = [];
	// The last column of the table, below its head: "payout: a row of a list", "notification, delivery".
	const section = sectionOf('CONTRIBUTING.md', '## Words');
	const [, ...cells] = allIn(section, /^\|.*\|([^|]+)\|$/gm);
	for (const cell of cells) {
		const [list = ''] = cell.split(':');
		for (const word of allIn(list, /(\w+)/g)) {
			// "key" is the recipient's, and a map's.
			if (word !== 'key') words.push(word);
		}
	}

	/** Whether a name such as readPayout has one of them as a part. */
	function hasSuchWord(name: string): boolean {
		return name.split(/(?=[A-Z])|_/).some((part) => words.includes(part.toLowerCase()));
	}

	test('is one of several', () => expect(words.length).toBeGreaterThan(4));
	test('is found in a name', () => expect(hasSuchWord('readPayout')).toBe(true));

	test('is in no exported name', () => {
		const names: string[] = [];
		for (const file of FILES) {
			const pattern = /^export .*?(?:function\*?|class|const|type|interface) (\w+)/gm;
			names.push(...allIn(textOf(file), pattern));
		}
		expect(names.length).toBeGreaterThan(100);
		expect(names.filter(hasSuchWord)).toStrictEqual([]);
	});
});

/** The sources of a folder and those below, without what is installed there. */
function sourcesIn(folder: string): string[] {
	const found: string[] = [];
	for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
		const path = join(folder, entry.name);
		if (entry.isDirectory() && entry.name !== 'node_modules') found.push(...sourcesIn(path));
		if (entry.isFile() && /\.(ts|js|mjs)$/.test(entry.name)) found.push(path);
	}
	return found;
}

/** Where a literal is spread in another one, as `{ ...{ a }, b }`. */
function spreadLiterals(path: string, text: string): string[] {
	const found: string[] = [];
	// To read all sources as TypeScript takes two seconds.
	if (!/\.\.\.\s*[[{]/.test(text)) return found;
	const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
	const visit = (node: ts.Node) => {
		const isSpread = ts.isSpreadAssignment(node) || ts.isSpreadElement(node);
		if (
			isSpread &&
			(ts.isObjectLiteralExpression(node.expression) ||
				ts.isArrayLiteralExpression(node.expression))
		) {
			found.push(`${path}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

test('a literal that is spread in another one is found', () => {
	expect(spreadLiterals('one.ts', 'f({ ...{ a: 1 }, b: 2 })')).toStrictEqual(['one.ts:1']);
	expect(spreadLiterals('one.ts', '\nf([...[3]])')).toStrictEqual(['one.ts:2']);
	expect(spreadLiterals('one.ts', 'f({ ...c })')).toStrictEqual([]);
});

test('literals are written out: none is spread in another one', () => {
	const found: string[] = [];
	for (const folder of ['nodes', 'credentials', 'sandbox', 'dev', 'test']) {
		for (const path of sourcesIn(folder)) {
			found.push(...spreadLiterals(path, read(path)));
		}
	}
	expect(found).toStrictEqual([]);
});
