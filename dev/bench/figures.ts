import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

/** What was measured, round by round. The first two sides are what a ratio is made of. */
export interface Comparison {
	name: string;
	unit: string;
	sides: Record<string, number[]>;
	/** The ratio that is aimed at; absent where a figure is only stated. */
	goal?: number;
	/** Why no node of a package can meet the goal: it is shown, and not judged. */
	outOfReach?: string;
	/** `better` where more is better; without it less is. */
	more?: 'better';
}

const DOCS = join(__dirname, '..', '..', 'docs');

/** The middle value. */
export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = Math.floor(sorted.length / 2);
	return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The median of the first side through the median of the second. */
export function ratio({ sides }: Comparison): number {
	const [first, second] = Object.values(sides).map(median) as [number, number];
	return first / second;
}

const figure = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

function row(comparison: Comparison): string {
	const { name, unit, sides, goal, more } = comparison;
	const medians = Object.entries(sides).map(
		([side, values]) => `${side} ${figure.format(median(values))}`,
	);
	const stated = goal !== undefined || medians.length === 2;
	const aimed = goal === undefined ? '' : `${more === undefined ? '≤' : '≥'} ${goal}`;
	return `| ${name} | ${medians.join(', ')} ${unit} | ${stated ? ratio(comparison).toFixed(2) : ''} | ${aimed} |`;
}

/**
 * Prints the table, and writes what was measured into docs with its day; the rest there stays. A quick
 * run only fails where a ratio is twice as bad as it stands there and as its goal: machines are noisy.
 */
export function report(all: Comparison[], quick: boolean): void {
	const isJudged = ({ goal, outOfReach }: Comparison) => goal !== undefined && !outOfReach;
	const comparisons = quick ? all.filter(isJudged) : all;
	const head = ['| What | Medians | Ratio | Goal |', '| --- | --- | --- | --- |'];
	console.log([...head, ...comparisons.map(row)].join('\n'));
	const file = join(DOCS, 'bench.json');
	const before = JSON.parse(readFileSync(file, 'utf8')) as {
		comparisons: Array<Comparison & { ratio: number }>;
	};
	if (quick) {
		const far = comparisons.filter((each) => {
			const { goal = 0, name } = each;
			const stands = before.comparisons.find((known) => known.name === name)?.ratio ?? goal;
			return each.more === undefined
				? ratio(each) > 2 * Math.max(stands, goal)
				: ratio(each) < Math.min(stands, goal) / 2;
		});
		if (far.length === 0) return;
		process.exitCode = 1;
		console.error(`Far from docs/bench.json: ${far.map(({ name }) => name).join('; ')}`);
		return;
	}
	const date = new Date().toISOString().slice(0, 10);
	const measured = comparisons.map((each) => ({ date, ...each, ratio: ratio(each) }));
	const isOld = ({ name }: Comparison) => !comparisons.some((each) => each.name === name);
	const [cpu] = cpus();
	const facts = {
		machine: `${cpus().length} x ${cpu?.model}`,
		comparisons: [...measured, ...before.comparisons.filter(isOld)],
	};
	writeFileSync(file, `${JSON.stringify(facts, null, '\t')}\n`);
}
