import 'reflect-metadata';
import { expectRow, sendCorpus, type Sent } from '../wire/corpus';
import { CORES, modulesOf } from '../wire/cores';
import { requestHelper } from '../wire/requestHelper';
import { ROWS } from '../wire/rows';

/** That of n8n 2 is the one of `npm test` (wire.test.ts). */
const OTHER_CORES = CORES.filter((core) => core !== 'n8n2');

describe.each(OTHER_CORES)("the request helper of n8n's own core, %s", (core) => {
	let sent: Map<string, Sent>;
	beforeAll(async () => {
		sent = await sendCorpus(requestHelper(await modulesOf(core)), ROWS);
	});

	test.each(ROWS)('$name: $expected.outcome', (row) => {
		expectRow(row, sent.get(row.name)!);
	});
});
