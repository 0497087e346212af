import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const PAY = path.join(__dirname, '../../nodes/Pay');

/** The text of each file of the node, by its path below nodes/Pay without the ending. */
export type Source = ReadonlyMap<string, string>;

/** A change of the node's source. */
export interface Patch {
	/** Occurs exactly once in all files of the node. How its lines are broken and indented makes no difference. */
	readonly find: string;
	readonly replace: string;
}

function readSource(): Source {
	const source = new Map<string, string>();
	for (const file of readdirSync(PAY, { recursive: true, encoding: 'utf8' })) {
		if (!file.endsWith('.ts')) continue;
		source.set(file.slice(0, -'.ts'.length), readFileSync(path.join(PAY, file), 'utf8'));
	}
	return source;
}

/** The node's source as it is. */
const SOURCE = readSource();

/** A pattern for a text that may have any white space where it has some. */
function patternOf(text: string): RegExp {
	const words = text.trim().split(/\s+/);
	const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
	return new RegExp(escaped.join('\\s+'), 'g');
}

/** A copy of the node's source with some patches, made one after the other. Throws where one does not fit. */
export function patchedSource(patches: readonly Patch[]): Source {
	const source = new Map(SOURCE);
	for (const { find, replace } of patches) {
		const pattern = patternOf(find);
		const found: string[] = [];
		for (const [name, text] of source) {
			for (const _ of text.matchAll(pattern)) found.push(name);
		}
		const [name] = found;
		if (name === undefined) throw new Error(`nodes/Pay has no longer: ${find}`);
		if (found.length > 1) throw new Error(`nodes/Pay has ${found.length} times: ${find}`);
		source.set(
			name,
			source.get(name)!.replace(pattern, () => replace),
		);
	}
	return source;
}
