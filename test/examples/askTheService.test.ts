import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Json = Record<string, unknown>;

const FOLDER = join(__dirname, '..', '..', 'examples', 'ask-the-service');
/** As a person enters them, where the service is asked by the External ID. */
const SETTINGS = {
	askBy: 'external_id',
	address: 'https://api.example.com/{identifier}',
	method: 'GET',
	idField: 'id',
	numberField: '',
	statusField: 'state',
	paidWords: 'done',
	failedWords: 'gone',
	amountField: 'value',
	directionField: 'none',
	outWords: '',
	acceptedHours: '24',
};
const LONG_AGO = '2026-01-01T00:00:00.000Z';

/** Runs the source of a node as n8n's Code node does, after nodes that gave these items. */
function runNode(name: string, input: Json[], earlier: Record<string, Json[]>): Json[] {
	const items = (some: Json[] = []) => some.map((json) => ({ json }));
	const $ = (node: string) => ({
		all: () => items(earlier[node]),
		first: () => items(earlier[node])[0],
		isExecuted: node in earlier,
	});
	const source = readFileSync(join(FOLDER, `${name}.js`), 'utf8');
	const node = new Function('$input', '$', '$now', '$execution', source) as (
		...given: unknown[]
	) => Array<{ json: Json }>;
	const $now = { toFormat: () => 'today' };
	return node({ all: () => items(input) }, $, $now, { id: 9 }).map(({ json }) => json);
}

/** What comes of rows of the book where the service answers this. */
function whatItSays(rows: Json[], answer: Json, more: Json = {}): Json | undefined {
	const settings = [{ ...SETTINGS, ...more }];
	const asked = runNode('To be asked', rows, { Settings: settings });
	const responses = [{ statusCode: 200, data: JSON.stringify(answer) }];
	const [said] = runNode('What the service says', responses, {
		Settings: settings,
		'To be asked': asked,
		'Ask the service': responses,
	});
	return said;
}

describe('an identifier that was tried again after the service rejected it', () => {
	const row = (outcome: string, number = '') => ({
		external_id: 'salary-7',
		amount: '10.5',
		outcome,
		number,
		at: LONG_AGO,
	});
	const answer = { id: 'salary-7', state: 'gone', value: 10.5 };

	test.each(['unknown', 'accepted', 'duplicate'])(
		'"failed" may be about the first try, so it decides nothing where the second is %s',
		(outcome) => {
			const said = whatItSays([row('rejected'), row(outcome)], answer);
			expect(said).toMatchObject({ decision: '', isAnythingClear: false });
			expect(said?.says).toBe(
				'The service was asked: it says "gone", which may be about the try that was rejected.',
			);
		},
	);

	test('"paid" decides, and so does "failed" where there was one try', () => {
		const rows = [row('rejected'), row('unknown')];
		expect(whatItSays(rows, { ...answer, state: 'done' })?.decision).toBe('It was paid');
		expect(whatItSays([row('unknown')], answer)?.decision).toBe('It was not paid');
		expect(whatItSays([row('notSent'), row('unknown')], answer)?.decision).toBe('It was not paid');
	});

	test('"failed" decides where the response has the number of the second try', () => {
		const rows = [row('rejected', '17'), row('accepted', '18')];
		const numbered = { ...answer, number: 18 };
		expect(whatItSays(rows, numbered, { numberField: 'number' })?.decision).toBe('It was not paid');
		expect(whatItSays(rows, numbered)?.decision).toBe('');
		const oneNumber = [row('rejected', '18'), row('accepted', '18')];
		expect(whatItSays(oneNumber, numbered, { numberField: 'number' })?.decision).toBe('');
	});
});
