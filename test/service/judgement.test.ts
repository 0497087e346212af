import { judge, type ResponseWords } from '../../nodes/Pay/service/client';

const WORDS: ResponseWords = {
	field: ['data.result', 'result'],
	accepted: ['done', 'true'],
	rejected: ['no funds'],
};

test.each<{ name: string; words?: Partial<ResponseWords>; response: unknown; expected: unknown }>([
	{
		name: 'a word for yes',
		response: { result: 'DONE' },
		expected: { means: 'confirmed', reason: { is: 'saidYes', path: 'result' } },
	},
	{
		name: 'a word for no',
		response: { data: { result: 'No funds' } },
		expected: { means: 'rejected', reason: { is: 'saidNo', path: 'data.result' } },
	},
	{
		name: 'another word',
		response: { result: 'pending' },
		expected: { means: 'notConfirmed', reason: { is: 'notConfirmed', field: WORDS.field } },
	},
	{
		name: 'nothing',
		response: {},
		expected: { means: 'notConfirmed', reason: { is: 'notConfirmed', field: WORDS.field } },
	},
	{
		name: 'a word under a path as the output shows it',
		words: { field: ['response.ok'] },
		response: { ok: true },
		expected: { means: 'confirmed', reason: { is: 'saidYes', path: 'response.ok' } },
	},
	{
		name: 'another word, where there are no words for yes',
		words: { accepted: [] },
		response: { result: 'pending' },
		expected: undefined,
	},
	{
		name: 'a word for no, where there are no words for yes',
		words: { accepted: [] },
		response: { result: 'no funds' },
		expected: { means: 'rejected', reason: { is: 'saidNo', path: 'result' } },
	},
])('a response says $name', ({ words, response, expected }) => {
	expect(judge({ ...WORDS, ...words }, response)).toStrictEqual(expected);
});
