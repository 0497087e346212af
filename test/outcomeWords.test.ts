import { OUTCOME_WORDS } from '../nodes/Pay/execution/words/outcome';
import { read } from './markdown';

/*
 * Examples and documents tell outcomes in the words of the product. They have copies, since a workflow
 * that was pasted cannot ask: whoever changes a word changes it here too.
 */

const { accepted, rejected, unknown, notSent, notReached } = OUTCOME_WORDS;

/** As it begins a sentence. */
const first = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

test.each<{ place: string; told: string[] }>([
	{
		place: 'examples/payouts/Report.js',
		told: [
			`accepted: '${first(accepted)}'`,
			`rejected: '${first(rejected)}'`,
			`unknown: '${first(unknown)}'`,
			`notSent: '${first(notSent)}'`,
		],
	},
	{
		place: 'examples/payouts.json',
		told: [`What was ${rejected} or ${notSent} may come again`],
	},
	{
		place: 'docs/pay-a-list.md',
		told: [
			`| ${first(rejected)}, or ${notSent} `,
			`| ${first(accepted)} `,
			`was ${rejected} or ${notSent} because`,
		],
	},
	{
		place: 'docs/troubleshooting.md',
		told: [`| ${first(notSent)}. [Run it again]`],
	},
	{
		place: 'docs/in-doubt.md',
		told: [`in words "${notSent}"`, `in words "${notReached}"`],
	},
])('$place tells outcomes in the words of the product', ({ place, told }) => {
	const text = read(place);
	expect(told.filter((words) => !text.includes(words))).toStrictEqual([]);
});
