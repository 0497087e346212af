import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { numberOf, type N8nVersion } from '../../dev/versions';

const FILE = join(__dirname, '..', '..', '.cache', 'versions', 'facts.jsonl');

/** Adds a line to the table of this run: what is no matter of passing or failing. */
export function tell(version: N8nVersion, what: string, value: string): void {
	// Of the pinned versions nothing is kept there.
	mkdirSync(dirname(FILE), { recursive: true });
	appendFileSync(FILE, `${JSON.stringify({ version: numberOf(version), what, found: value })}\n`);
}
