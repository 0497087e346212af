import { init } from 'echarts';

/** Minutes since the beginning, and megabytes. */
export type Memory = Array<[number, number]>;

/** The slope of the line that fits best, in units of y per unit of x. */
export function slope(points: Memory): number {
	const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
	const [meanX, meanY] = [mean(0), mean(1)];
	const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
	return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

/** A plot of the memory of one or more processes, as SVG. */
export function plot(text: string, minutes: number, series: Record<string, Memory>): string {
	const chart = init(null, null, { renderer: 'svg', ssr: true, width: 900, height: 360 });
	const names = Object.keys(series);
	chart.setOption({
		animation: false,
		backgroundColor: '#ffffff',
		title: { text, left: 'center' },
		...(names.length > 1 && { legend: { data: names, bottom: 0 } }),
		xAxis: { type: 'value', name: 'min', max: minutes },
		yAxis: { type: 'value', name: 'MB', min: 0 },
		series: names.map((name) => ({ name, type: 'line', showSymbol: false, data: series[name] })),
	});
	const svg = chart.renderToSVGString();
	chart.dispose();
	return svg;
}
