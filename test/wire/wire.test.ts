import { join } from 'node:path';
import { expectRow, playCorpus, type Played } from './corpus';
import { requestHelper } from './requestHelper';
import { ROWS } from './rows';

let played: Map<string, Played>;
beforeAll(async () => {
	played = await playCorpus(requestHelper(join(__dirname, '../../node_modules')), ROWS);
	// Mutation testing gives others ten seconds.
}, 600_000);

test('each row has a name of its own', () => {
	expect(ROWS.length).toBeGreaterThanOrEqual(60);
	expect(new Set(ROWS.map(({ name }) => name)).size).toBe(ROWS.length);
});

test.each(ROWS)('$name: $expected.outcome', (row) => {
	expectRow(row, played.get(row.name)!);
});
