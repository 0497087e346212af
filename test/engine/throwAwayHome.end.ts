import { rmSync } from 'node:fs';

/** Removes the folder that stood in for the home folder. */
export default function tearDown() {
	rmSync(process.env.N8N_USER_FOLDER!, { recursive: true });
}
