import { OUTCOME_WORDS } from '../nodes/Pay/execution/words/outcome';
import { read } from './markdown';

/*
 * Documents tell outcomes in the words of the product, in sentences that derived words would not fit into:
 * whoever changes a word reads them. What examples have of them is derived.
 */

const { accepted, rejected, notSent, notReached } = OUTCOME_WORDS;

/** As it begins a sentence. */
const first = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

test.each<{ place: string; told: string[] }>([
	{
		place: 'docs/pay-a-list.md',
		told: [
			`| ${first(rejected)}, or ${notSent} `,
			`| ${first(accepted)} `,
			`was ${rejected} or ${notSent} because`,
			`"${first(rejected)}, perhaps paid"`,
		],
	},
	{
		place: 'docs/in-doubt.md',
		told: [`in words "${notSent}"`, `in words "${notReached}"`],
	},
])('$place tells outcomes in the words of the product', ({ place, told }) => {
	const text = read(place);
	expect(told.filter((words) => !text.includes(words))).toStrictEqual([]);
});
