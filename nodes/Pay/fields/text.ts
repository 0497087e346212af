import type { INodeProperties } from 'n8n-workflow';
import { isJsonObject } from '../base/json';
import { isExpression } from '../base/n8n';
import type { Words } from '../service/contract';
import { inOneForm } from '../service/paths';
import { fieldInside, type NamedField, quoted, wrongField } from './label';

/** `external_id` (sections 2.1 and 2.2), as errors call it. */
export const externalIdName = { displayName: 'External ID', name: 'external_id' };

/** What errors about an External ID advise. */
interface IdAdvice {
	/** What to do if it is not text. */
	readonly asText: string;
	/** What to do where there is none. */
	readonly whenMissing: string;
	/** An expression that gives one. */
	readonly example: string;
}

/** For the External ID that people give to a charge or payment. */
export const OWN_ID: IdAdvice = {
	asText: 'Pass the id of your own order or payout as text, so that no digit is lost',
	whenMissing: 'Give each item an identifier of your own',
	example: '{{ $json.orderId }}',
};

/** For the External ID of a wait, which is that of a Pay node before it. */
export const AWAITED_ID: IdAdvice = {
	asText: 'Pass the External ID of the item as text, so that no digit is lost',
	whenMissing: 'Enter the External ID of the item',
	example: '{{ $json.external_id }}',
};

/** The field of the External ID of what is sent. */
export const externalIdField: INodeProperties = {
	displayName: externalIdName.displayName,
	name: externalIdName.name,
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. invoice-1042',
	description:
		'Your own identifier, for example an order or payout number. Give each item a different one, and use the same one when you try again.',
};

/**
 * The field of `payerQuestion` (sections 2.1 and 2.2).
 * @param example what the empty field shows, as of an order or an invoice
 */
export function payerQuestionField(example: string): INodeProperties {
	return {
		displayName: 'Description',
		name: 'payerQuestion',
		type: 'string',
		default: '',
		placeholder: `e.g. ${example}`,
		description: 'Text shown with the transaction (payerQuestion in the API). Not sent when empty.',
	};
}

/** A failed expression leaves these behind when it is turned into text. */
const LEFTOVER = /^(?:undefined|null|NaN|Invalid Date(?:Time)?)$|\[object Object\]|__UNKNOWN__/;

/** Nobody sees these, or tells them from a space, so two identifiers that look alike would be two payments. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}]|(?! )\p{Z}/u;
/** Half of a pair, as cutting a text in the middle of an emoji leaves it: no UTF-8 can carry it. */
const LONE_SURROGATE = /\p{Cs}/u;

/** Refuses what a failed expression leaves: "undefined", "NaN", "Invalid DateTime". */
export function refuseLeftover(text: string, field: NamedField) {
	const whole = text.trim();
	const [leftover] = LEFTOVER.exec(whole) ?? [];
	if (leftover === undefined) return;
	throw wrongField(
		field,
		`${leftover === whole ? 'is' : 'contains'} "${leftover}"`,
		'An expression turns into this when it finds no value. Check that the input item has the field that the expression reads.',
	);
}

/** An expression that was typed without its braces, or with too few: `$json.id`, `{ $now }`. Not "US$ 5". */
const WITHOUT_BRACES =
	/^\{*\s*\$(?:(?:json|node|input|item|itemIndex|execution|workflow|vars|now|today)\b|\(['"`])/;

/** A $ inside braces. Templates of other programs have none there, such as "Hi {{name}}, US$ 5". */
function hasExpressionInBraces(text: string): boolean {
	let start = text.indexOf('{{');
	while (start !== -1) {
		const end = text.indexOf('}}', start);
		if (end === -1) return false;
		if (text.slice(start, end).includes('$')) return true;
		start = text.indexOf('{{', end);
	}
	return false;
}

/**
 * Refuses an expression that arrives as text, as n8n 2.41.1 leaves one that was typed into a field on Fixed. One
 * such text was sent as an External ID, and was accepted.
 */
export function refuseTypedExpression(text: string, field: NamedField) {
	if (!WITHOUT_BRACES.test(text.trim()) && !hasExpressionInBraces(text)) return;
	throw wrongField(
		field,
		'contains an expression as plain text',
		'n8n did not replace it with a value. Hover over the field and choose Expression above it. If the text comes from your data, correct it there.',
	);
}

/** True for a date of JavaScript or of n8n, as $now is, because an expression may give either. */
function isDate(value: unknown): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return 'toISOString' in value || 'toISODate' in value;
}

/**
 * Reads an optional text field, undefined if it is empty. Its format is not documented (section 2.3),
 * so an InputError is thrown only for what cannot be text, or a number too large to keep its digits.
 */
export function readText(value: unknown, field: NamedField): string | undefined {
	if (value === undefined || value === null || value === '') return undefined;
	// A failed calculation leaves Infinity as well as NaN.
	if (typeof value === 'number' && !Number.isFinite(value)) refuseLeftover('NaN', field);
	if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
		throw wrongField(
			field,
			'is a number too large to keep all its digits',
			'Pass it as text from the start, for example as a string in the data it comes from.',
		);
	}
	if (isDate(value)) {
		throw wrongField(
			field,
			'must be text, but is a date',
			'Write it as text, for example {{ $now.toISODate() }}. Ask the service which format it accepts.',
		);
	}
	if (typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol') {
		throw wrongField(
			field,
			`must be text, but is ${Array.isArray(value) ? 'a list' : 'an object'}`,
			'Use an expression that returns one text, for example {{ $json.name }}.',
		);
	}
	const text = String(value);
	refuseLeftover(text, field);
	refuseTypedExpression(text, field);
	return text;
}

/**
 * Reads the number of a document or the type of a key as {@link readText} does. Throws an InputError also
 * for what a spreadsheet leaves in its place, with which another person could be paid.
 */
export function readCellText(value: unknown, field: NamedField): string | undefined {
	const text = readText(value, field);
	if (text !== undefined) refuseSpreadsheetLeftover(text, field);
	return text;
}

/**
 * Reads a text that says who is paid, or which payment it is: trimmed and in Unicode's form NFC, so that what
 * looks alike is one identifier.
 * @param whenMissing what to do where there is none
 */
export function readIdentifier(
	value: unknown,
	field: NamedField,
	whenMissing = 'Enter it, or check the expression that gives it.',
): string {
	if (typeof value === 'boolean') {
		throw wrongField(
			field,
			`must be text, but is ${value}`,
			'An expression such as {{ $json.has && $json.key }} can return this. Check the expression.',
		);
	}
	const text = inOneForm(readText(value, field) ?? '');
	if (text === '') throw wrongField(field, 'is missing', whenMissing);
	refuseSpreadsheetLeftover(text, field);
	if (LONE_SURROGATE.test(text)) {
		throw wrongField(
			field,
			'contains half a character, which happens when a text is cut in the middle of an emoji',
			'Cut it elsewhere, or leave such characters out, because the service could not send it back unchanged.',
		);
	}
	const [invisible] = INVISIBLE.exec(text) ?? [];
	if (invisible === undefined) return text;
	const code = invisible.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
	throw wrongField(
		field,
		`contains a line break or another invisible character (U+${code})`,
		'Type it again, or remove the character where the text comes from. Otherwise two texts that look the same would count as different.',
	);
}

/** The same, but undefined where nothing was typed. Spaces count as typed. */
export function readOptionalIdentifier(value: unknown, field: NamedField): string | undefined {
	return value === undefined || value === '' ? undefined : readIdentifier(value, field);
}

/** Reads an External ID (sections 2.1 and 2.2): a string or a safe integer. */
export function readExternalId(value: unknown, advice: IdAdvice): string {
	const { asText, whenMissing, example } = advice;
	if (isDate(value)) {
		throw wrongField(
			externalIdName,
			'must be text, but is a date',
			`Use an identifier that stays the same in every try, unlike the current date, for example ${example}.`,
		);
	}
	const isWrongNumber = typeof value === 'number' && !Number.isSafeInteger(value);
	if (typeof value === 'boolean' || isWrongNumber) {
		throw wrongField(
			externalIdName,
			`must be text or a whole number, but is ${String(value)}`,
			`${asText}, for example ${example}.`,
		);
	}
	return readIdentifier(
		value,
		externalIdName,
		`${whenMissing}, for example ${example}. If it comes from an expression, check that the input item has that field.`,
	);
}

/**
 * Parts of an expression that give another text when an item is tried again: `$now`, `Date.now()`,
 * `randomInt(9)`, `$execution.id`. Not `$json.Date`: a column may be named so.
 */
const CHANGING =
	/\$now\b|\$today\b|\bnew Date\b|(?<!\.)\b(?:Date\s*\(|Date(?:Time)?(?:\?\.|\.))|\brandom\w*\s*\(|\$runIndex\b|\$executionId\b|\$execution\s*(?:(?:\?\.)?\[\s*["'`]|\??\.)\s*id\b/;

/** A hint if an identifier, as it was typed, changes with each try. */
export function changingIdHint(
	typed: unknown,
	{ noun, pastParticiple }: Words,
): string | undefined {
	if (!isExpression(typed)) return undefined;
	const [changing] = CHANGING.exec(typed) ?? [];
	if (changing === undefined) return undefined;
	return `The External ID contains ${changing}, so it changes with every try, and the same ${noun} could be ${pastParticiple} twice. Use an identifier from the item, for example ${OWN_ID.example}.`;
}

/** What a model fills in. n8n takes $fromAI in upper and lower case, and $tool contains the same. */
const CHOSEN_BY_MODEL = /\$(?:fromAI|tool)\b/i;

/**
 * Refuses an identifier, as it was typed, that a model invents or that changes with each call. Otherwise the same
 * wish in a second message would be a second payment.
 */
export function refuseInventedId(typed: unknown, { noun, pastParticiple }: Words): void {
	if (!isExpression(typed)) return;
	const [part] = CHOSEN_BY_MODEL.exec(typed) ?? CHANGING.exec(typed) ?? [];
	if (part === undefined) return;
	throw wrongField(
		externalIdName,
		`contains ${part}, so the same ${noun} would be ${pastParticiple} twice if an AI agent is asked for it twice`,
		"Take the identifier from your own data, with the name of your node: {{ $('Order').first().json.orderId }}.",
	);
}

/**
 * The members of an object that holds documented ones only.
 * @param advice what to do where the value is not an object
 * @param others a sentence that says where other members go
 */
export function documentedMembers(
	value: unknown,
	field: NamedField,
	names: string[],
	advice: string,
	others?: string,
): Record<string, unknown> {
	const list = names.join(', ');
	if (!isJsonObject(value)) throw wrongField(field, `must be an object with ${list}`, advice);
	const other = Object.keys(value).find((name) => !names.includes(name));
	if (other === undefined) return value;
	const documented = `The documented members are ${list}.`;
	throw wrongField(
		field,
		`has a member "${other}", which the service does not document`,
		others === undefined ? documented : `${documented} ${others}`,
	);
}

/** A text inside an object: its field, and how it is read. */
interface TextOfGroup {
	readonly field: NamedField;
	readonly read: typeof readText;
}

/**
 * Reads an object with optional text members, as a collection of the editor or an expression gives
 * it. Only an empty text is left out. A member without a value comes from a failed expression, and throws an
 * InputError, because otherwise it would be dropped without a word.
 */
export function readMembers(
	value: unknown,
	field: NamedField,
	texts: readonly TextOfGroup[],
): Record<string, string> | undefined {
	const names = texts.map((text) => text.field.name);
	const others = 'Others go into Additional Members under Options.';
	const members = documentedMembers(value, field, names, 'Fill in the fields of the form.', others);
	const read: Record<string, string> = {};
	for (const text of texts) {
		const { name } = text.field;
		if (!Object.hasOwn(members, name)) continue;
		const member = members[name];
		const memberField = fieldInside(field.name, text.field);
		if (member === undefined || member === null) refuseLeftover(String(member), memberField);
		const readMember = text.read(member, memberField);
		if (readMember !== undefined) read[name] = readMember;
	}
	return Object.keys(read).length === 0 ? undefined : read;
}

/** The object without its empty members, or undefined when none is left. */
export function withoutEmpty<T extends object>(members: T): T | undefined {
	const present = Object.entries(members).filter(([, value]) => value !== undefined);
	return present.length === 0 ? undefined : (Object.fromEntries(present) as T);
}

/*
 * Lists of payments come from spreadsheets, whose cells may contain something other than what people see or typed:
 * "#REF!" was accepted as the key of a recipient, and so was the text "=B2".
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

/** Google Sheets and Excel show these while they still work out a formula. */
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
 * and descriptions may be anything: 't Hooft is a name.
 */
function refuseSpreadsheetLeftover(value: string, field: NamedField): void {
	const text = value.trim();
	if (isFormulaError(text)) {
		throw wrongField(
			field,
			`is ${quoted(text)}, which a spreadsheet shows when a formula has failed`,
			'Correct the formula in that cell, or type the value there. Then read the sheet again.',
		);
	}
	if (NOT_YET_THERE.includes(text)) {
		throw wrongField(
			field,
			`is ${quoted(text)}, which a spreadsheet shows while it is still calculating a formula`,
			'Wait until the cell shows its value. Then read the sheet again.',
		);
	}
	if (TOO_NARROW.test(text)) {
		throw wrongField(
			field,
			`is ${quoted(text)}, which a spreadsheet shows when a column is too narrow`,
			'Make the column wider in the sheet. Then save and read it again.',
		);
	}
	if (text.startsWith('=')) {
		throw wrongField(
			field,
			`looks like a formula, not like its result: ${quoted(text)}`,
			'If the sheet shows the formula as well, the cell is formatted as text: change that, and enter the formula again. If it shows a value, read the values instead of the formulas (Google Sheets: Output Formatting, under Options).',
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
