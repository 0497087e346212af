import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../dev/children';

/** What stands in the project's root. */
export const inRoot = () => readdirSync(join(__dirname, '..', '..'));

/** n8n's engine would write to the home folder; it gets one that goes with the test run. */
export default function setUp() {
	process.env.N8N_USER_FOLDER = temporaryFolder('test');
	// Tests read errors from the execution; the engine would print each as well.
	process.env.N8N_LOG_LEVEL = 'silent';
	process.env.PAY_IN_ROOT = JSON.stringify(inRoot());
}
