import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { numberOf, type N8nVersion } from '../../dev/versions';

const FILE = join(__dirname, '..', '..', '.cache', 'versions', 'facts.jsonl');

/** Adds a line to the table of this run: what is no matter of passing or failing. */
export function tell(version: N8nVersion, what: string, value: string): void {
	appendFileSync(FILE, `${JSON.stringify({ version: numberOf(version), what, found: value })}\n`);
}
