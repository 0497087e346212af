import 'reflect-metadata';
import { join } from 'node:path';
import { installN8n } from '../../dev/install';
import { expectRow, playCorpus, type Played } from '../wire/corpus';
import { requestHelper } from '../wire/requestHelper';
import { ROWS } from '../wire/rows';
import { VERSIONS } from './nodes';

describe.each(VERSIONS)("the request helper of n8n's own core, %s", (version) => {
	let played: Map<string, Played>;
	beforeAll(async () => {
		const modules = join((await installN8n(version)).folder, 'node_modules');
		played = await playCorpus(requestHelper(modules), ROWS);
	});

	test.each(ROWS)('$name: $expected.outcome', (row) => {
		expectRow(row, played.get(row.name)!);
	});
});
