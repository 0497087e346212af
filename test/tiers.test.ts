import { basename } from 'node:path';
import { GATE, runsOf, WEEKLY } from './n8n/tiers';

/** The names of the files of a tier's runs. */
function namesIn(tier: 'gate' | 'nightly' | 'weekly'): string[] {
	const paths = Object.values(runsOf(tier)).flat();
	return paths.map((path) => basename(path, '.n8n.ts'));
}

test('every file that the gate lists is there, in one lane', () => {
	expect(namesIn('gate').sort()).toStrictEqual([...GATE.shared, ...GATE.alone].sort());
});

test('every file that the week lists is there', () => {
	expect(namesIn('weekly')).toStrictEqual(expect.arrayContaining(WEEKLY));
});

test('the night runs the whole of what the gate runs a part of', () => {
	const ofGate = namesIn('gate').filter((name) => name !== 'smoke');
	expect(namesIn('nightly')).toStrictEqual(expect.arrayContaining(ofGate));
});
