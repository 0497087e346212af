import { readAmountOfItem } from '../../nodes/Pay/fields/amount';
import { readRecipient } from '../../nodes/Pay/fields/recipient';
import { readSplit } from '../../nodes/Pay/fields/split';
import { readCellText, readText, OWN_ID, readExternalId } from '../../nodes/Pay/fields/text';
import { refusalOf } from '../refusal';
import { reading } from './reading';

const FIELD = { name: 'document', displayName: 'Document' };

const refusal = (text: string) => refusalOf(() => readCellText(text, FIELD));

// As Excel, LibreOffice and Google Sheets write them: the tables of PhpSpreadsheet and EPPlus have the languages.
test.each([
	'#REF!',
	'#NAME?',
	'#DIV/0!',
	'#VALUE!',
	'#SPILL!',
	'#ERROR!',
	'#WERT!',
	'#BEZUG!',
	'#ÜBERLAUF!',
	'#NOM?',
	'#¡REF!',
	'#¡DIV/0!',
	'#¿NOMBRE?',
	'#NÚM!',
	'#DĚLENÍ_NULOU!',
	'#BAŞV!',
	'#ССЫЛКА!',
	'#ДЕЛ/0!',
	'#ΑΝΑΦ!',
	'#N/D!',
	'#SAKNAS!',
	'#N/A',
	'#N/D',
	'#N/B',
	'#N/V',
	'#I/T',
	'#Н/Д',
	'#Δ/Υ',
	'#NV',
	'#YOK',
	'#HIÁNYZIK',
	'#NENÍ_K_DISPOZICI',
	'#NEDOSTUPNÝ',
	' #N/A ',
	'Err:502',
])('%j is refused: a formula failed', (text) => {
	expect(refusal(text)).toMatchObject({
		message: `Document is "${text.trim()}", which a spreadsheet shows when a formula has failed`,
		advice: 'Correct the formula in that cell, or type the value there. Then read the sheet again.',
	});
});

test.each([
	{
		text: 'Loading...',
		message:
			'Document is "Loading...", which a spreadsheet shows while it is still calculating a formula',
		advice: 'Wait until the cell shows its value. Then read the sheet again.',
	},
	{
		text: '#GETTING_DATA',
		message:
			'Document is "#GETTING_DATA", which a spreadsheet shows while it is still calculating a formula',
		advice: 'Wait until the cell shows its value. Then read the sheet again.',
	},
	{
		text: '########',
		message: 'Document is "########", which a spreadsheet shows when a column is too narrow',
		advice: 'Make the column wider in the sheet. Then save and read it again.',
	},
	{
		text: '=B2',
		message: 'Document looks like a formula, not like its result: "=B2"',
		advice:
			'If the sheet shows the formula as well, the cell is formatted as text: change that, and enter the formula again. If it shows a value, read the values instead of the formulas (Google Sheets: Output Formatting, under Options).',
	},
	{
		text: "'5511999999999",
		message:
			'Document begins with an apostrophe, which only marks text in a spreadsheet: "\'5511999999999"',
		advice:
			'Remove the apostrophe in the sheet. To keep numbers as they are typed, format the column as text first.',
	},
	{
		text: '5,51199E+12',
		message: 'Document is a long number that a spreadsheet has shortened: "5,51199E+12"',
		advice:
			'Format the column in the sheet as a number without decimals. If the last digits are now zeros, the real ones are lost: format the column as text, and enter the numbers again. Then read the sheet again.',
	},
])('$text is refused in these words', ({ text, message, advice }) => {
	expect(refusal(text)).toMatchObject({ message, advice });
});

test.each(['5.51199E+12', '5,51199E+12', '1.8E-05', '5E+12', '5.51199e+12'])(
	'%s is refused: digits of it are lost',
	(text) => {
		expect(refusal(text)?.message).toContain('has shortened');
	},
);

test.each([
	'#1001',
	'#A7',
	'#NVIDIA',
	'#OK',
	'#wow!',
	'#N/A-7',
	'N/A',
	'#',
	'REF!',
	'3E8',
	'12e5',
	'12E-7',
	'1.5E7',
	'inv-E12',
	'a=b',
	'YWJj=',
	"O'Brien",
	'012180001234567895',
	'12180001234567895',
	'+5511999999999',
	'-',
	'0',
	'TRUE',
	'Loading... bay 4',
	'Err:paid',
])('%j is sent as it is', (text) => {
	expect(readCellText(text, FIELD)).toBe(text);
});

const LEFT = ['#N/A', '=B2', "'551", '5,51199E+12'];
const read = (typed: Readonly<Record<string, unknown>>) => ({
	key: () => readRecipient(reading({ creditParty: { key: typed.text } })),
	keyType: () => readRecipient(reading({ creditParty: { key: 'a', keyType: typed.text } })),
	document: () => readRecipient(reading({ creditParty: { key: 'a', document: typed.text } })),
	username: () =>
		readSplit(
			reading({
				specifySplit: 'fields',
				split: { recipient: [{ username: typed.text, percentageSplit: 10 }] },
			}),
		),
	external_id: () => readExternalId(typed.text, OWN_ID),
	amount: () => readAmountOfItem(reading({ amount: typed.text })),
});

test.each(LEFT)('%s is refused in each field that says who is paid, what or how much', (text) => {
	const fields: Array<string | undefined> = [];
	for (const readField of Object.values(read({ text }))) fields.push(refusalOf(readField)?.field);
	expect(fields).toStrictEqual([
		'creditParty.key',
		'creditParty.keyType',
		'creditParty.document',
		'split[0].username',
		'external_id',
		'amount',
	]);
});

test("a name or a description may begin with an apostrophe, as 't Hooft does", () => {
	expect(readText("'t Hooft", FIELD)).toBe("'t Hooft");
});
