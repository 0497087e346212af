import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { read } from './markdown';

// Of the tests that Jest runs here countReporter.js tells; those on a running n8n are run elsewhere.
test('no test on a running n8n stands alone, so that the others of its file are left out', () => {
	const alone: string[] = [];
	for (const folder of ['test', 'lab']) {
		const below = readdirSync(join(__dirname, '..', folder), { recursive: true, encoding: 'utf8' });
		for (const file of below.filter((name) => name.endsWith('.n8n.ts'))) {
			const text = read(`${folder}/${file}`);
			if (/\b(?:test|it|describe)(?:\.\w+)*\.only\b|\bf(?:it|describe)\(/.test(text))
				alone.push(file);
		}
	}
	expect(alone).toStrictEqual([]);
});
