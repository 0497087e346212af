import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { allIn } from './markdown';

const PAY = join(__dirname, '..', 'nodes', 'Pay');

/** The rooms from the top down, as nodes/Pay/README.md tells them; those of one line do not know each other. */
const ROOMS = [
	['Pay.node', 'PayTrigger.node'],
	['operations'],
	['run'],
	['postback', 'qr'],
	['account'],
	['fields'],
	['service'],
	['n8n1'],
	['base'],
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

test('imports run downwards only, and no room imports its neighbour', () => {
	// The control: imports are found.
	expect(importsOf('Pay.node')).not.toStrictEqual([]);
	const wrong: string[] = [];
	for (const file of FILES) {
		if (lineOf(file) === -1) wrong.push(`${file} stands in no room`);
		for (const target of importsOf(file)) {
			if (roomOf(file) === roomOf(target)) continue;
			if (lineOf(target) <= lineOf(file)) wrong.push(`${file} imports ${target}`);
		}
	}
	expect(wrong).toStrictEqual([]);
});
