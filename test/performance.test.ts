import { textOf, type Figures } from '../dev/bench/figures';
import { read } from './markdown';

test('bench.json is as dev/bench.ts writes it', () => {
	const text = read('docs/bench.json');
	expect(textOf(JSON.parse(text) as Figures)).toBe(text);
});
