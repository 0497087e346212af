import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..');
const PAY = join(ROOT, 'nodes', 'Pay');

/** The rooms from the top down, as CONTRIBUTING draws them; those of one line do not know each other. */
const ROOMS = [
	['Pay.node', 'PayTrigger.node'],
	['operations'],
	['execution'],
	['credential', 'postback', 'qr'],
	['parameters'],
	['service'],
	['inputError', 'json', 'loopback', 'lowestN8n', 'within'],
];

const files = readdirSync(PAY, { recursive: true, encoding: 'utf8' })
	.filter((file) => file.endsWith('.ts'))
	.map((file) => file.replace(/\.ts$/, ''));
const importsOf = (file: string) =>
	[...readFileSync(join(PAY, `${file}.ts`), 'utf8').matchAll(/from '(\.[^']*)'/g)]
		.map(([, path]) => relative(PAY, join(PAY, dirname(file), path!)))
		.map((path) => (files.includes(path) ? path : join(path, 'index')));
const roomOf = (file: string) => file.split('/')[0]!;
const levelOf = (file: string) => ROOMS.findIndex((level) => level.includes(roomOf(file)));

test('every file stands in a room', () => {
	expect(files.filter((file) => levelOf(file) === -1)).toStrictEqual([]);
	expect(files.length).toBeGreaterThan(30);
});

test('imports run downwards only, and no room imports its neighbour', () => {
	const pairs = files.flatMap((file) => importsOf(file).map((target) => [file, target] as const));
	const upwards = pairs.filter(
		([file, target]) => roomOf(file) !== roomOf(target) && levelOf(target) <= levelOf(file),
	);
	expect(upwards).toStrictEqual([]);
	expect(pairs.length).toBeGreaterThan(100);
});

test('no file imports itself in a circle', () => {
	const circles: string[][] = [];
	const visited = new Set<string>();
	const visit = (file: string, way: string[]) => {
		if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file]);
		if (visited.has(file)) return;
		visited.add(file);
		for (const target of importsOf(file)) visit(target, [...way, file]);
	};
	for (const file of files) visit(file, []);
	expect(circles).toStrictEqual([]);
});

test('CONTRIBUTING draws these rooms, in this order', () => {
	const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
	const [, drawing = ''] = /## The rooms of the code.*?```\n(.*?)```/s.exec(text) ?? [];
	const drawn = (room: string) => (files.includes(room) ? room : `${room}/`);
	const places = ROOMS.map((level) => level.map((room) => drawing.indexOf(drawn(room))));
	expect(places.flat()).not.toContain(-1);
	for (const [index, level] of places.slice(1).entries()) {
		expect(Math.min(...level)).toBeGreaterThan(Math.max(...places[index]!));
	}
});

test('no list is compared with toEqual, to which [undefined] is []', () => {
	expect([undefined]).toEqual([]);
	const tests = readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.ts') && file !== 'rooms.test.ts')
		.map((file) => [file, readFileSync(join(__dirname, file), 'utf8')] as const);
	const comparing = (what: RegExp) => tests.filter(([, text]) => what.test(text));
	expect(comparing(/\.toEqual\(\s*(\[|Array\()/).map(([file]) => file)).toStrictEqual([]);
	expect(comparing(/\.toStrictEqual\(\s*(\[|Array\()/).length).toBeGreaterThan(30);
});

test('a name of a type stands for one thing: no other file has it', () => {
	const names = files.flatMap((file) =>
		[
			...readFileSync(join(PAY, `${file}.ts`), 'utf8').matchAll(
				/^(?:export )?(?:class|interface|type) (\w+)/gm,
			),
		].map(([, name]) => `${name}`),
	);
	const twice = names.filter((name, index) => names.indexOf(name) !== index);
	expect(twice).toStrictEqual([]);
	expect(names.length).toBeGreaterThan(80);
});

test('no exported name has a word that the glossary of CONTRIBUTING turns down', () => {
	const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
	const [, glossary = ''] = /^## Words\n(.*?)^## /ms.exec(text) ?? [];
	// 'Not "key": …' is about one use of a word; the others are never ours.
	const lists = [...glossary.matchAll(/Not ((?:"\w+"(?:, )?)+)(?!:)/g)].map(([, list]) => list!);
	const words = lists.flatMap((list) => list.match(/\w+/g)!).filter((word) => word !== 'key');
	expect(words.length).toBeGreaterThan(4);
	const namesOf = (code: string) =>
		[...code.matchAll(/^export .*?(?:function\*?|class|const|type|interface) (\w+)/gm)].map(
			([, name]) => name!,
		);
	const wordsIn = (name: string) => name.split(/(?=[A-Z])|_/).map((word) => word.toLowerCase());
	const wrong = (names: string[]) =>
		names.filter((name) => wordsIn(name).some((word) => words.includes(word)));
	expect(wrong(['readPayout'])).toStrictEqual(['readPayout']);
	const names = files.flatMap((file) => namesOf(readFileSync(join(PAY, `${file}.ts`), 'utf8')));
	expect(names.length).toBeGreaterThan(100);
	expect(wrong(names)).toStrictEqual([]);
});

/** The TypeScript files of a folder and those below, without what is installed there. */
function sourcesIn(folder: string): string[] {
	const found: string[] = [];
	for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
		const path = join(folder, entry.name);
		if (entry.isDirectory() && entry.name !== 'node_modules') found.push(...sourcesIn(path));
		if (entry.isFile() && entry.name.endsWith('.ts')) found.push(path);
	}
	return found;
}

/** Where a literal is spread in another one, as `{ ...{ a }, b }`. */
function spreadLiterals(path: string, text: string): string[] {
	const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
	const found: string[] = [];
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

test('literals are written out: none is spread in another one', () => {
	expect(spreadLiterals('one.ts', 'f({ ...{ a: 1 }, b: 2 }, [...[3]], { ...c })')).toHaveLength(2);
	const found: string[] = [];
	for (const folder of ['nodes', 'credentials', 'sandbox', 'dev', 'test']) {
		for (const path of sourcesIn(folder)) {
			found.push(...spreadLiterals(path, readFileSync(join(ROOT, path), 'utf8')));
		}
	}
	expect(found).toStrictEqual([]);
});
