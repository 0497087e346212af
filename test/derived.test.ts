import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { read } from './markdown';

// In a process of its own, since Prettier is a module that Jest cannot load.
const ROOT = join(__dirname, '..');
const PRINT = `require('./dev/derive').derived().then((all) => console.log(JSON.stringify([...all])))`;
const printed = execFileSync('node', ['-r', 'ts-node/register', '-e', PRINT], {
	cwd: ROOT,
	encoding: 'utf8',
});
const derived = JSON.parse(printed) as Array<[string, string]>;

test.each(derived)('%s is what the operations say; else run: npm run derive', (path, text) => {
	expect(read(path)).toBe(text);
});
