import { join } from 'node:path';
import { expectRow, sendCorpus, type Sent } from './corpus';
import { requestHelper } from './requestHelper';
import { ROWS } from './rows';

let sent: Map<string, Sent>;
beforeAll(async () => {
	sent = await sendCorpus(requestHelper(join(__dirname, '../../node_modules')), ROWS);
	// Mutation testing gives others ten seconds.
}, 600_000);

test.each(ROWS)('$name: $expected.outcome', (row) => {
	expectRow(row, sent.get(row.name)!);
});
