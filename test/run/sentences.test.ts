import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sentences } from './sentences';

test('what people read of a run is what sentences.txt says: a change of words is seen as one', () => {
	expect(sentences()).toBe(readFileSync(join(__dirname, 'sentences.txt'), 'utf8'));
});

test('no sentence ends twice, and none holds what is not there', () => {
	expect(sentences()).not.toMatch(/\.\.(?!\/)|undefined|NaN|\[object|null/);
});
