/** A comparison as docs/bench.json keeps it and docs/scale.md shows it. */
export interface Row {
	/** The first cell of its line; what stands before and behind the slash are the sides. */
	name: string;
	/** The day on which it was measured. */
	date: string;
	unit: string;
	/** The median of each side. Their ratio is the first through the second. */
	medians: [number, number];
	/** What the ratio is to be, at most or at least; absent where it is only stated. */
	goal?: number;
}

/** A table of docs/scale.md. */
interface Table {
	rows: Row[];
	/** Whether less is better, as of milliseconds, or more, as of calls per second. */
	better: 'less' | 'more';
}

/** What docs/bench.json holds. */
export interface Figures {
	machine: string;
	/** By the heading of their first column. */
	tables: Record<string, Table>;
}

/** The middle value. */
export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = Math.floor(sorted.length / 2);
	return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const ratioOf = ({ medians: [first, second] }: Pick<Row, 'medians'>) => first / second;

/** The cells of a row; † marks what is older than the newest row of all tables. */
function cellsOf(row: Row, newest: string): string[] {
	const { name, date } = row;
	const label = date === newest ? name : `${name} †`;
	return [label, ratioOf(row).toFixed(2)];
}

/** The cells of a table of docs/scale.md, its head first. */
export function cellsOfTable({ tables }: Figures, heading: string): string[][] {
	const dates = Object.values(tables).flatMap(({ rows }) => rows.map(({ date }) => date));
	const newest = dates.sort().at(-1) ?? '';
	const { rows } = tables[heading]!;
	return [[heading, 'Ratio'], ...rows.map((row) => cellsOf(row, newest))];
}

/** A page with a table made anew: the one whose first column has this heading. */
export function withTable(page: string, figures: Figures, heading: string): string {
	const [head = [], ...rows] = cellsOfTable(figures, heading);
	const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
	return page.replace(new RegExp(`^\\| ${heading} .*(\\n\\|.*)*`, 'm'), lines.join('\n'));
}

/** The text of docs/bench.json, a row a line. */
export function textOf({ machine, tables }: Figures): string {
	const texts = Object.entries(tables).map(([heading, { better, rows }]) => {
		const lines = rows.map((row) => `\t\t\t\t${JSON.stringify(row)}`);
		return `\t\t"${heading}": {\n\t\t\t"better": "${better}",\n\t\t\t"rows": [\n${lines.join(',\n')}\n\t\t\t]\n\t\t}`;
	});
	return `{\n\t"machine": "${machine}",\n\t"tables": {\n${texts.join(',\n')}\n\t}\n}\n`;
}
