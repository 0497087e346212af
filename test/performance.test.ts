import { cellsOfTable, textOf, withTable, type Figures } from '../dev/bench/figures';
import { read } from './markdown';

/* `npx ts-node dev/bench.ts` makes the tables of docs/scale.md from docs/bench.json. */
const FIGURES = JSON.parse(read('docs/bench.json')) as Figures;
const PAGE = read('docs/scale.md');

/** The cells of the table whose first column has this heading, without the line below its head. */
function cellsIn(page: string, heading: string): string[][] {
	const [table = ''] = new RegExp(`^\\| ${heading} .*(\\n\\|.*)*`, 'm').exec(page) ?? [];
	const rows = table.split('\n').map((line) => line.split('|').slice(1, -1));
	const cells = rows.map((row) => row.map((cell) => cell.trim()));
	return cells.filter(([first]) => !first!.startsWith('---'));
}

test.each(Object.keys(FIGURES.tables))('the table %s says what was measured', (heading) => {
	expect(cellsIn(PAGE, heading)).toStrictEqual(cellsOfTable(FIGURES, heading));
});

test('the day of every row that is older than the newest stands on the page', () => {
	const dates = Object.values(FIGURES.tables).flatMap(({ rows }) => rows.map(({ date }) => date));
	const newest = dates.sort().at(-1);
	for (const date of dates) {
		if (date !== newest) expect(PAGE.replace(/\s+/g, ' ')).toContain(date);
	}
});

test('bench.json is as it is written', () => {
	expect(read('docs/bench.json')).toBe(textOf(FIGURES));
});

const TWO_ROWS: Figures = {
	machine: 'one',
	tables: {
		Calls: {
			better: 'more',
			rows: [
				{ name: 'a / b', date: '2026-01-02', unit: 's', medians: [3, 4], goal: 0.75 },
				{ name: 'c / d', date: '2026-01-01', unit: 's', medians: [1, 3] },
			],
		},
	},
};

test('a table is made anew in its place, and older rows are marked', () => {
	const page = 'Before\n\n| Calls | Ratio |\n| --- | --- |\n| old | 1 |\n\nBehind\n';
	expect(withTable(page, TWO_ROWS, 'Calls')).toBe(
		[
			'Before',
			'',
			'| Calls | Ratio |',
			'| --- | --- |',
			'| a / b | 0.75 |',
			'| c / d † | 0.33 |',
			'',
			'Behind',
			'',
		].join('\n'),
	);
});
