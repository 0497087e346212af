import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers } from './answers';
import { bodies, stored } from './executions';
import { refusals } from './refusals';

/*
 * What users and services get, recorded. A difference is to be read, and is no mistake by itself: `npm run derive`
 * writes these files anew, or `PAY_GOLDEN=write npx jest test/golden` these alone.
 */
test.each([
	['answers.txt', answers],
	['bodies.txt', bodies],
	['refusals.txt', refusals],
	['stored.txt', stored],
])('%s is what the nodes do', async (file, record) => {
	const path = join(__dirname, file);
	const recorded = await record();
	if (process.env.PAY_GOLDEN === 'write') writeFileSync(path, recorded);
	expect(recorded).toBe(readFileSync(path, 'utf8'));
});
