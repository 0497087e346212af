import { join } from 'node:path';
import { installTools } from './install';

/** What is used of ECharts; charts are no part of `npm test`, so it costs `npm ci` nothing. */
interface ECharts {
	init(
		dom: null,
		theme: null,
		options: object,
	): {
		setOption(option: object): void;
		renderToSVGString(): string;
		dispose(): void;
	};
}

/**
 * Draws a chart as SVG.
 * @param option as ECharts has it: title, axes, series
 * @param height in pixels
 */
export async function drawChart(option: object, height: number): Promise<string> {
	const modules = await installTools('ECharts', ['echarts@6.1.0']);
	const { init } = (await import(join(modules, 'echarts'))) as ECharts;
	const chart = init(null, null, { renderer: 'svg', ssr: true, width: 900, height });
	chart.setOption({ animation: false, backgroundColor: '#ffffff', ...option });
	const svg = chart.renderToSVGString();
	chart.dispose();
	return svg;
}
