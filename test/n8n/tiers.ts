import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { NpmVersion } from '../../dev/versions';

/*
 * When which test on a running n8n is run: `npm run test:n8n` is the gate, `-- nightly` and `-- weekly` the
 * others, and `-- money` one file by itself. Within a file of the gate, `nightly.test` marks what the gate
 * leaves out.
 */

/** The gate: every promise of docs/safety.md once. Its two lanes run beside each other. */
export const GATE = {
	/** One file after the other, all on one n8n 2. */
	shared: [
		'agents',
		'answers',
		'evaluations',
		'hostile',
		'money',
		'ownAgents',
		'previousNodes',
		'realServices',
		'record',
		'triggers',
		'waits',
		'waitsBegin',
		'workflowJson',
	],
	/** Each starts its own: it kills n8n, opens the editor, needs queue mode or n8n 1. */
	alone: ['crash', 'editor', 'queue', 'smoke'],
};

/** Only in the gate: at night all the others run on n8n 1 too. */
const GATE_ALONE = ['smoke'];

export type Tier = 'gate' | 'nightly' | 'weekly';

export const isTier = (word: string | undefined): word is Tier =>
	word === 'gate' || word === 'nightly' || word === 'weekly';

const ENDING = '.n8n.ts';
const LAB = join(__dirname, '..', '..', 'lab');

/** The paths of the tests on a running n8n below a folder. */
function testsBelow(folder: string): string[] {
	const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
	return names.filter((name) => name.endsWith(ENDING)).map((name) => join(folder, name));
}

/** The paths of these names, wherever they stand below this folder. Throws where one is no file any more. */
function testsNamed(names: string[]): string[] {
	const paths = testsBelow(__dirname);
	return names.map((name) => {
		const path = paths.find((each) => basename(each, ENDING) === name);
		if (path === undefined) throw new Error(`tiers.ts names ${name}${ENDING}, which is no file`);
		return path;
	});
}

/** The files of each run of a tier; those of one tier run beside each other. */
export function runsOf(tier: Tier): Record<string, string[]> {
	if (tier === 'gate') return { shared: testsNamed(GATE.shared), alone: testsNamed(GATE.alone) };
	// What takes hours; `PAY_QUEUE` makes it long. lab/versions is a run of its own.
	if (tier === 'weekly') {
		const below = testsBelow(LAB);
		return { weekly: below.filter((path) => !path.startsWith(join(LAB, 'versions'))) };
	}
	const others = testsNamed(GATE_ALONE);
	const nightly = testsBelow(__dirname).filter((path) => !others.includes(path));
	return { nightly: [...nightly, join(LAB, 'payOnce.n8n.ts')] };
}

/** n8n 2 alone by day, both at night; or the one that the environment names. */
export function versionsOf({ N8N_TRY_VERSION, PAY_TIER }: NodeJS.ProcessEnv): NpmVersion[] {
	if (N8N_TRY_VERSION) return [N8N_TRY_VERSION as NpmVersion];
	return PAY_TIER === 'nightly' || PAY_TIER === 'weekly' ? ['n8n2', 'n8n1'] : ['n8n2'];
}
