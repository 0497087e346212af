import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/* What stands in a document of the project, for tests that hold it against the code. */

const ROOT = join(__dirname, '..');

const FENCE = /^```[^\n]*\n.*?^```$/gms;
const CODE = /`([^`\n]+)`/g;
const ITALIC = /(?<![\w`])_([^_`]+)_(?!\w)/g;
const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;
const HEADING = /^(#+) (.+)$/gm;

/** The text of a file, whose path counts from the project's root. */
export function read(path: string): string {
	return readFileSync(join(ROOT, path), 'utf8');
}

export function isFile(path: string): boolean {
	return existsSync(join(ROOT, path));
}

/** What a pattern with one group finds in a text, all of it. */
export function allIn(text: string, pattern: RegExp): string[] {
	const found: string[] = [];
	for (const [, group] of text.matchAll(pattern)) found.push(group!);
	return found;
}

/** A document without its blocks of code. */
export function proseOf(path: string): string {
	return read(path).replace(FENCE, '');
}

/** The blocks of code of a document, with the lines that fence them. */
function fencesOf(path: string): string[] {
	return read(path).match(FENCE) ?? [];
}

/** What is set as code within the text. */
export function codeSpansOf(path: string): string[] {
	return allIn(proseOf(path), CODE);
}

/** What is set as code within the text, and each line of a block, since commands stand in both. */
export function codeOf(path: string): string[] {
	const code = codeSpansOf(path);
	for (const fence of fencesOf(path)) code.push(...fence.split('\n').slice(1, -1));
	return code;
}

/** What is set in italics: labels of a form. A path of menus gives each of its steps. */
export function labelsOf(path: string): string[] {
	const text = proseOf(path)
		.replace(CODE, '`')
		.replace(/\]\([^)]*\)/g, ']');
	const labels: string[] = [];
	for (const italic of allIn(text, ITALIC)) {
		labels.push(...italic.replace(/\s+/g, ' ').split(/ → |: /));
	}
	return labels;
}

export interface Link {
	isPicture: boolean;
	text: string;
	target: string;
}

export function linksOf(path: string): Link[] {
	const links: Link[] = [];
	for (const [, mark, text, target] of proseOf(path).matchAll(LINK)) {
		links.push({ isPicture: mark === '!', text: text!, target: target! });
	}
	return links;
}

export interface Heading {
	level: number;
	title: string;
	/** The anchor that GitHub gives it. */
	anchor: string;
}

export function headingsOf(path: string): Heading[] {
	const headings: Heading[] = [];
	for (const [, marks, text] of proseOf(path).matchAll(HEADING)) {
		const title = text!.trim();
		const anchor = title
			.toLowerCase()
			.replace(/[^\p{L}\p{N}\s_-]/gu, '')
			.replace(/\s/g, '-');
		headings.push({ level: marks!.length, title, anchor });
	}
	return headings;
}

/** The cells of every row of every table in a text, without the lines between head and body. */
export function rowsIn(text: string): string[][] {
	const rows: string[][] = [];
	for (const line of text.split('\n')) {
		const isRow = line.startsWith('|') && !/^\|\s*[-:]/.test(line);
		if (!isRow) continue;
		const cells = line.split('|').slice(1, -1);
		rows.push(cells.map((cell) => cell.trim()));
	}
	return rows;
}

/** A section of a document, from behind its heading to the next one of its level. */
export function sectionOf(path: string, heading: string): string {
	const text = read(path);
	const start = text.indexOf(`${heading}\n`);
	if (start === -1) throw new Error(`${path} has no heading "${heading}".`);
	const [marks = ''] = heading.split(' ');
	const section = text.slice(start + heading.length);
	const end = section.indexOf(`\n${marks} `);
	return end === -1 ? section : section.slice(0, end);
}

/** The sections of the service's document that comments cite; an RFC's are not among them. */
export function sectionsCitedIn(source: string): string[] {
	// "sections 2.1, 2.2 and 4.1" cites three.
	const citations = allIn(
		source,
		/(?<!RFC \d+, )\bsections? ((?:\d(?:\.\d)*(?:, | and )?)+)(?![\d.]*\d)/g,
	);
	return citations.flatMap((citation) => allIn(citation, /(\d(?:\.\d)*)/g));
}
