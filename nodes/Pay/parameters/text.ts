import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { labelOf } from './label';

/** `external_id` (sections 2.1 and 2.2). */
export const externalIdField: INodeProperties = {
	displayName: 'External ID',
	name: 'external_id',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. order-1042',
	description:
		'Your own identifier of this charge or payment, for example the number of an order or payout. Use a different one for each, and the same one when you try again.',
};

/** `payerQuestion` (sections 2.1 and 2.2). */
export const payerQuestionField: INodeProperties = {
	displayName: 'Description',
	name: 'payerQuestion',
	type: 'string',
	default: '',
	placeholder: 'e.g. Order 1042',
	description: 'Text shown with the transaction (payerQuestion of the API). Left out when empty.',
};

/** What a failed expression leaves behind when it is turned into text. */
const EXPRESSION_LEFTOVERS = new Set(['undefined', 'null', 'NaN', '[object Object]']);

const CONTROL_CHARACTER = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** What nobody sees, or takes for an ordinary space: two identifiers that look alike are two payments. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}]|(?! )\p{Zs}/u;
const NAMES_OF_INVISIBLES: Readonly<Record<string, string>> = {
	'\u00a0': 'no-break space',
	'\u00ad': 'soft hyphen',
	'\u200b': 'zero-width space',
	'\u200c': 'zero-width non-joiner',
	'\u200d': 'zero-width joiner',
	'\u200e': 'left-to-right mark',
	'\u200f': 'right-to-left mark',
	'\u2060': 'word joiner',
	'\ufe0f': 'variation selector',
	'\ufeff': 'byte order mark',
};
/** Half of a pair, as cutting a text in the middle of an emoji leaves it: no UTF-8 can carry it. */
const LONE_SURROGATE = /\p{Cs}/u;

function refuseLeftover(text: string, field: string) {
	if (EXPRESSION_LEFTOVERS.has(text)) {
		throw new InputError(
			field,
			`${labelOf(field)} is "${text}"`,
			'That is what an expression leaves when it finds no value. Check that the input item has the field the expression asks for.',
		);
	}
}

function refuseMalformed(text: string, field: string) {
	if (LONE_SURROGATE.test(text)) {
		throw new InputError(
			field,
			`${labelOf(field)} holds half a character, as a text that was cut in the middle of an emoji does`,
			'Cut it elsewhere, or leave such characters out: the service could not send it back as it is.',
		);
	}
}

/**
 * Reads an optional text field; its format is not documented (section 2.3), so any text goes.
 * @returns the text, or undefined for an empty field, which is then left out of the body
 * @throws InputError for a value that cannot be text, or a number too large to be written exactly
 */
export function optionalText(value: unknown, field: string): string | undefined {
	if (value === undefined || value === null || value === '') return undefined;
	if (typeof value === 'number' && !Number.isFinite(value)) refuseLeftover('NaN', field);
	if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
		throw new InputError(
			field,
			`${labelOf(field)} is a number too large to keep all its digits`,
			'Pass it as text from the start, for example as a string in the data it comes from.',
		);
	}
	if (typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol') {
		throw new InputError(
			field,
			`${labelOf(field)} must be text, but is ${Array.isArray(value) ? 'a list' : 'an object'}`,
			'Use an expression that gives one text, for example {{ $json.name }}.',
		);
	}
	const text = String(value);
	if (text === '[object Object]') refuseLeftover(text, field);
	return text;
}

/**
 * Reads a text that says where money goes (a payment key, a split recipient): as
 * {@link optionalText}, and what a failed expression leaves behind is refused.
 */
export function optionalIdentifier(value: unknown, field: string): string | undefined {
	const text = optionalText(value, field);
	if (text !== undefined) {
		refuseLeftover(text.trim(), field);
		refuseMalformed(text, field);
	}
	return text;
}

/**
 * Reads the caller's own identifier (sections 2.1 and 2.2): a string or a safe integer, trimmed and
 * in Unicode's form NFC, so that what looks alike is one identifier.
 * @throws InputError when it is empty, holds control or invisible characters, or is a failed
 * expression's rest
 */
export function parseExternalId(value: unknown): string {
	const field = 'external_id';
	if (typeof value === 'boolean') {
		throw new InputError(
			field,
			`${labelOf(field)} must be text, but is ${String(value)}`,
			'Use the id of your own order or payout, for example {{ $json.orderId }}.',
		);
	}
	if (typeof value === 'number' && !Number.isSafeInteger(value)) {
		throw new InputError(
			field,
			`${labelOf(field)} must be text or a whole number, but is ${String(value)}`,
			'Pass the identifier as text so that no digit is lost.',
		);
	}
	const text = optionalText(value, field)?.trim().normalize('NFC') ?? '';
	if (text === '') {
		throw new InputError(
			field,
			`${labelOf(field)} is missing`,
			'Give each charge or payment an identifier of your own, for example {{ $json.orderId }}. If it comes from an expression, check that the input item has that field.',
		);
	}
	refuseLeftover(text, field);
	refuseMalformed(text, field);
	if (CONTROL_CHARACTER.test(text)) {
		throw new InputError(
			field,
			`${labelOf(field)} holds a line break or another control character`,
			'Remove it, for example with {{ $json.id.trim() }}.',
		);
	}
	const [invisible] = INVISIBLE.exec(text) ?? [];
	if (invisible !== undefined) {
		const code = invisible.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
		const name = NAMES_OF_INVISIBLES[invisible] ?? 'character that nobody sees';
		throw new InputError(
			field,
			`${labelOf(field)} holds a ${name} (U+${code})`,
			'Type the identifier again, or remove the character where the text comes from. Otherwise one identifier could be paid as two that look alike.',
		);
	}
	return text;
}

/** Parts of an expression that give another text when an item is tried again. */
const CHANGING =
	/\$now\b|\$today\b|\bnew Date\b|\bDate(?:Time)?\.|\brandom\w*\s*\(|\$runIndex\b|\$executionId\b|\$execution\s*(?:\?\.|\.|\[\s*["'`])\s*id\b/;

/**
 * Why a payment's identifier, as it was typed, is none, in words for a hint; or undefined.
 * @param typed the parameter, expression and all
 */
export function changingIdHint(typed: unknown): string | undefined {
	if (typeof typed !== 'string' || !typed.startsWith('=')) return undefined;
	const [changing] = CHANGING.exec(typed) ?? [];
	if (changing === undefined) return undefined;
	return `The External ID holds ${changing}, so it changes with each try, and one payment could be made twice. Use an identifier from the item, for example {{ $json.orderId }}.`;
}

/**
 * Reads an object with optional text members, as a collection of the editor or an expression gives
 * it. A failed expression must not drop what it was to fill, so nothing but an empty text is left out.
 * @param field the parameter's name
 * @param members what it may hold; those marked as identifiers say where money goes
 * @throws InputError for anything but an object, an unknown member, and a member without a value
 */
export function readMembers<K extends string>(
	value: unknown,
	field: string,
	members: Readonly<Record<K, 'text' | 'identifier'>>,
): Partial<Record<K, string>> | undefined {
	if (value === '') return undefined;
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		throw new InputError(
			field,
			`${labelOf(field)} must be an object with ${Object.keys(members).join(', ')}`,
			'Use the fields of the form, or an expression that gives such an object and not a text of it.',
		);
	}
	const given = value as Record<string, unknown>;
	const unknown = Object.keys(given).find((name) => !Object.hasOwn(members, name));
	if (unknown !== undefined) {
		throw new InputError(
			field,
			`${labelOf(field)} has a member "${unknown}", which the service does not document`,
			`The documented members are ${Object.keys(members).join(', ')}. Others go into Additional Members under Options.`,
		);
	}
	const read: Partial<Record<K, string>> = {};
	for (const name of Object.keys(members) as K[]) {
		if (!Object.hasOwn(given, name)) continue;
		const member = `${field}.${name}`;
		if (given[name] === undefined || given[name] === null) {
			refuseLeftover(String(given[name]), member);
		}
		const parse = members[name] === 'identifier' ? optionalIdentifier : optionalText;
		const text = parse(given[name], member);
		if (text !== undefined) read[name] = text;
	}
	return withoutEmpty(read);
}

/** The object without its empty members, or undefined when none is left. */
export function withoutEmpty<T extends object>(members: T): T | undefined {
	const kept = Object.entries(members).filter(([, value]) => value !== undefined);
	return kept.length === 0 ? undefined : (Object.fromEntries(kept) as T);
}
