/** A comparison as docs/bench.json keeps it. */
export interface Row {
	/** What stands before and behind the slash are the sides. */
	name: string;
	/** The day on which it was measured. */
	date: string;
	unit: string;
	/** The median of each side. Their ratio is the first through the second. */
	medians: [number, number];
	/** What the ratio is to be, at most or at least; absent where it is only stated. */
	goal?: number;
}

/** Comparisons of one kind. */
interface Table {
	rows: Row[];
	/** Whether less is better, as of milliseconds, or more, as of calls per second. */
	better: 'less' | 'more';
}

/** What docs/bench.json holds. */
export interface Figures {
	machine: string;
	/** By what is compared. */
	tables: Record<string, Table>;
}

/** The middle value. */
export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = Math.floor(sorted.length / 2);
	return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const ratioOf = ({ medians: [first, second] }: Pick<Row, 'medians'>) => first / second;

/** The text of docs/bench.json, a row a line. */
export function textOf({ machine, tables }: Figures): string {
	const texts = Object.entries(tables).map(([heading, { better, rows }]) => {
		const lines = rows.map((row) => `\t\t\t\t${JSON.stringify(row)}`);
		return `\t\t"${heading}": {\n\t\t\t"better": "${better}",\n\t\t\t"rows": [\n${lines.join(',\n')}\n\t\t\t]\n\t\t}`;
	});
	return `{\n\t"machine": "${machine}",\n\t"tables": {\n${texts.join(',\n')}\n\t}\n}\n`;
}
