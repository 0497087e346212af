import { textOf, type Figures } from '../lab/bench/figures';
import { read } from './markdown';

test('bench.json is as lab/bench/bench.ts writes it', () => {
	const text = read('docs/bench.json');
	expect(textOf(JSON.parse(text) as Figures)).toBe(text);
});
