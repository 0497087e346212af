import { rmSync } from 'node:fs';
import { inRoot } from './throwAwayHome';

/** What a build or an installation of this folder may make meanwhile. */
const MAY_COME = ['.cache', 'dist', 'node_modules', 'coverage'];

/** Removes the folder that stood in for the home folder, and says what else the run has left. */
export default function tearDown() {
	rmSync(process.env.N8N_USER_FOLDER!, { recursive: true });
	const before = new Set([...(JSON.parse(process.env.PAY_IN_ROOT!) as string[]), ...MAY_COME]);
	const left = inRoot().filter((name) => !before.has(name));
	if (left.length > 0) throw new Error(`The tests left in the project's root: ${left.join(', ')}`);
}
