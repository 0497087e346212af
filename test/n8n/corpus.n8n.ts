import 'reflect-metadata';
import { expectRow, sendCorpus, type Sent } from '../wire/corpus';
import { CORES, modulesOf } from '../wire/cores';
import { requestHelper } from '../wire/requestHelper';
import { ROWS } from '../wire/rows';

describe.each(CORES)("the request helper of n8n's own core, %s", (core) => {
	let sent: Map<string, Sent>;
	beforeAll(async () => {
		sent = await sendCorpus(requestHelper(await modulesOf(core)), ROWS);
	});

	test.each(ROWS)('$name: $expected.outcome', (row) => {
		expectRow(row, sent.get(row.name)!);
	});
});
