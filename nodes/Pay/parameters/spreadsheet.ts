import { quoted, wrongField, type NamedField } from './label';

/*
 * A list of payments comes from a spreadsheet, and a cell of it may hold something else than people see or
 * typed: "#REF!" was accepted as the key of a recipient, and so was the text "=B2".
 */

/**
 * The error of a formula in any language: "#REF!", "#¿NOMBRE?", "#ДЕЛ/0!". The sign at its end tells it from
 * an identifier such as #1001, #A7 or #OK.
 */
const FORMULA_ERROR = /^#[¡¿]?[\p{Lu}/0_]+[!?]$/u;

/** Those without such a sign: "not available" in Excel's languages. */
const NOT_AVAILABLE = [
	'#N/A',
	'#N/B',
	'#N/D',
	'#N/V',
	'#I/T',
	'#Н/Д',
	'#Δ/Υ',
	'#NV',
	'#YOK',
	'#HIÁNYZIK',
	'#NEDOSTUPNÝ',
	'#NENÍ_K_DISPOZICI',
];

/** What Google Sheets and Excel show while they still work out a formula. */
const NOT_YET_THERE = ['Loading...', '#GETTING_DATA'];

/** How LibreOffice numbers its errors. */
const NUMBERED_ERROR = /^Err:\d{3}$/;

/** Stands in each cell of a column that is too narrow; a CSV file can be saved with it. */
const TOO_NARROW = /^#{2,}$/;

/**
 * A number that was shortened, "5,51199E+12". People write 3E8 and 12e5 without the sign, and the numbers of
 * parts, such as 12E-7, without a fraction.
 */
const SHORTENED = /^\d+(?:[.,]\d+E[+-]|E\+)\d+$/i;

function isFormulaError(text: string): boolean {
	return FORMULA_ERROR.test(text) || NOT_AVAILABLE.includes(text) || NUMBERED_ERROR.test(text);
}

/**
 * Refuses what a spreadsheet leaves in place of a value, where the text says who is paid or what for. Names
 * and descriptions may be anything: 't Hooft is a name. Throws an InputError.
 */
export function refuseSpreadsheetLeftover(value: string, field: NamedField): void {
	const text = value.trim();
	if (isFormulaError(text)) {
		throw wrongField(
			field,
			`is ${quoted(text)}, which a spreadsheet shows where a formula has failed`,
			'Correct the formula in that cell, or type the value there. Then read the sheet again.',
		);
	}
	if (NOT_YET_THERE.includes(text)) {
		throw wrongField(
			field,
			`is ${quoted(text)}, which a spreadsheet shows while it still works out a formula`,
			'Wait until the cell shows its value. Then read the sheet again.',
		);
	}
	if (TOO_NARROW.test(text)) {
		throw wrongField(
			field,
			`is ${quoted(text)}, which a spreadsheet shows where a column is too narrow`,
			'Make the column wider in the sheet. Then save and read it again.',
		);
	}
	if (text.startsWith('=')) {
		throw wrongField(
			field,
			`looks like a formula, not like its result: ${quoted(text)}`,
			'If the sheet shows the formula as well, the cell is formatted as text: change that, and enter the formula again. If it shows a value, have values read instead of formulas (Google Sheets: Output Formatting, under Options).',
		);
	}
	if (text.startsWith("'")) {
		throw wrongField(
			field,
			`begins with an apostrophe, which only marks text in a spreadsheet: ${quoted(text)}`,
			'Remove the apostrophe in the sheet. To keep numbers as they are typed, format the column as text first.',
		);
	}
	if (SHORTENED.test(text)) {
		throw wrongField(
			field,
			`is a long number that a spreadsheet has shortened: ${quoted(text)}`,
			'Format the column in the sheet as a number without decimals. If the last digits are now zeros, the real ones are lost: format the column as text, and enter the numbers again. Then read the sheet again.',
		);
	}
}
