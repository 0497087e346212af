import { readdirSync } from 'node:fs';
import { read } from './markdown';

// Of the tests that Jest runs here countReporter.js tells; those on a running n8n are run elsewhere.
test('no test on a running n8n stands alone, so that the others of its file are left out', () => {
	const alone: string[] = [];
	for (const file of readdirSync(__dirname, { recursive: true, encoding: 'utf8' })) {
		if (!file.endsWith('.n8n.ts')) continue;
		if (
			/\b(?:test|it|describe)(?:\.\w+)*\.only\b|\bf(?:it|describe)\(/.test(read(`test/${file}`))
		) {
			alone.push(file);
		}
	}
	expect(alone).toStrictEqual([]);
});
