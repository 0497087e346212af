import 'reflect-metadata';
import { expectRow, playCorpus, type Played } from '../wire/corpus';
import { CORES, modulesOf } from '../wire/cores';
import { requestHelper } from '../wire/requestHelper';
import { ROWS } from '../wire/rows';

describe.each(CORES)("the request helper of n8n's own core, %s", (core) => {
	let played: Map<string, Played>;
	beforeAll(async () => {
		played = await playCorpus(requestHelper(await modulesOf(core)), ROWS);
	});

	test.each(ROWS)('$name: $expected.outcome', (row) => {
		expectRow(row, played.get(row.name)!);
	});
});
