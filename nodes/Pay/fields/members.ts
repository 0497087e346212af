import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../base/inputError';
import { isJsonObject, isTooDeep, readTypedJson } from '../base/json';
import type { Meanings } from '../service/contract';
import { mayBeExpression } from './expressions';
import { fieldAt, labelOf, wrongField } from './label';
import { refuseLeftover, refuseTypedExpression, withoutEmpty } from './text';

/** Members of the body that the form does not have. */
export const additionalMembersOption: INodeProperties = {
	displayName: 'Additional Members',
	name: 'additionalMembers',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. { "payer": { "phone": "…" } }',
	description:
		'More members for the request body, as JSON, for a service that has more than its document shows. Members that this form can set are refused.',
};

type Members = Record<string, unknown>;

const LABEL = labelOf(additionalMembersOption);

const wrongMembers = (message: string, advice: string) =>
	new InputError(additionalMembersOption.name, message, advice);

/** JSON leaves some members out, and writes null for NaN. */
function isLost(typed: unknown, written: unknown): boolean {
	if (['undefined', 'function', 'symbol'].includes(typeof written)) return true;
	if (typeof written === 'number') return !Number.isFinite(written);
	// The toJSON of an invalid date gives null.
	return written === null && typed !== null;
}

/**
 * The JSON that would be sent, as text: an expression may give an object with a toJSON of its own. Empty
 * where there is none, as of an object that holds itself. Throws an InputError for a member without a value.
 */
function typedText(value: unknown): string {
	if (typeof value === 'string') return value.trim() || '{}';
	const lostNames: string[] = [];
	// JSON.stringify calls it for each member, and `this` is the object that holds the member.
	function noteLost(this: Members, name: string, written: unknown): unknown {
		if (isLost(this[name], written)) lostNames.push(name);
		return written;
	}
	let text: string;
	try {
		text = JSON.stringify(value ?? {}, noteLost) ?? '';
	} catch {
		return '';
	}
	const [lostName] = lostNames;
	if (lostName === undefined) return text;
	throw wrongField(
		additionalMembersOption,
		`contains "${lostName}" without a value`,
		'Check the expression that gives it.',
	);
}

function readAdditionalMembers(value: unknown): Members {
	const text = typedText(value);
	const [leftover] = /\[object Object\]|__UNKNOWN__/.exec(text) ?? [];
	if (leftover !== undefined) refuseLeftover(leftover, additionalMembersOption);
	refuseTypedExpression(text, additionalMembersOption);
	const { parsed, mistake } = readTypedJson(text);
	if (isTooDeep(parsed)) {
		throw wrongMembers(`${LABEL} is nested too deeply`, 'Write it with fewer levels.');
	}
	if (isJsonObject(parsed)) return parsed;
	const what = mistake === undefined ? 'an object' : `valid JSON: ${mistake}`;
	throw wrongMembers(`${LABEL} must be ${what}`, 'Write it as { "member": "value" }.');
}

/** A name as a lenient parser may read it: Go's takes "AMOUNT" for "amount", and the last counts. */
const lenientName = (name: string) => name.normalize('NFKC').trim().toLowerCase();

/**
 * True if members, as they were typed, contain an expression: then an item or a model decides what is sent.
 */
export const holdsExpression = (typedMembers: unknown) =>
	typedMembers !== undefined && mayBeExpression(typedMembers);

/** A step of a path. A name with a point or bracket is quoted, so that it cannot be taken for another member's path. */
const stepOf = (name: string) => (/[.[\]"]/.test(name) ? JSON.stringify(name) : name);

/**
 * The form's members below a path, which is empty or ends with a point. Each is either a value or a group with
 * members inside.
 */
function formMembersAt(path: string, meanings: Meanings): Map<string, 'value' | 'group'> {
	const members = new Map<string, 'value' | 'group'>();
	for (const each of Object.keys(meanings)) {
		if (!each.startsWith(path)) continue;
		const [name = '', inside] = each.slice(path.length).split('.');
		// A list counts as a value, because nothing is added to its entries.
		const isGroup = inside !== undefined && !name.endsWith('[]');
		members.set(name.replace('[]', ''), isGroup ? 'group' : 'value');
	}
	return members;
}

/**
 * The paths of all single values of a body that the form does not set, as `creditParty.taxId`, or `tags[]` in
 * a list. An object or a list without any is one itself.
 * @param path where this level stands: empty, or with a point at its end
 */
export function addedPaths(body: object, meanings: Meanings, path = ''): string[] {
	const formMembers = formMembersAt(path, meanings);
	const paths: string[] = [];
	for (const [name, value] of Object.entries(body)) {
		const formMember = formMembers.get(name);
		if (formMember === undefined) {
			paths.push(...pathsBelow(value, path + stepOf(name)));
		} else if (formMember === 'group' && isJsonObject(value)) {
			paths.push(...addedPaths(value, meanings, `${path}${name}.`));
		}
	}
	return paths;
}

/** The paths of all single values of a value. */
function pathsBelow(value: unknown, path: string): string[] {
	if (Array.isArray(value) && value.length > 0) {
		return value.flatMap((entry) => pathsBelow(entry, `${path}[]`));
	}
	if (!isJsonObject(value) || Object.keys(value).length === 0) return [path];
	return Object.entries(value).flatMap(([name, each]) =>
		pathsBelow(each, `${path}.${stepOf(name)}`),
	);
}

/** A form: the values that it sets, and the fields that errors call them by. */
interface FormMembers {
	readonly meanings: Meanings;
	readonly description: readonly INodeProperties[];
}

/** Refuses a recipient where the form has no field for one, as for a charge. */
function refuseRecipient(name: string): void {
	if (lenientName(name) !== lenientName('creditParty')) return;
	throw wrongMembers(
		`${LABEL} contains "${name}", which says where the money goes, and this operation has no field for it`,
		'Remove it there.',
	);
}

/** Refuses a member that the form sets, or that a service may take for one of those. */
function refuseMember(name: string, value: unknown, path: string, form: FormMembers): void {
	const at = path + name;
	const wrongMember = (what: string, advice: string) =>
		wrongMembers(`${LABEL} contains "${at}", which ${what}`, advice);
	if (name === '__proto__') throw wrongMember("cannot be a member's name", 'Remove it.');
	const formMembers = formMembersAt(path, form.meanings);
	// A lenient service may take one name for the other.
	const formMember = [...formMembers.keys()].find(
		(each) => lenientName(each) === lenientName(name),
	);
	if (formMember === undefined) {
		if (path === '') refuseRecipient(name);
		return;
	}
	const ownPath = path + formMember;
	if (formMembers.get(formMember) === 'value') {
		const label = labelOf(fieldAt(form.description, ownPath));
		throw wrongMember('has a field of its own', `Remove it there and use the field ${label}.`);
	}
	if (formMember !== name) {
		throw wrongMember(`a service may read as "${ownPath}"`, `Write it as "${ownPath}".`);
	}
	if (!isJsonObject(value)) {
		const advice = `Write the members to add to it: { "${at}": { "member": "value" } }.`;
		throw wrongMembers(`"${at}" in ${LABEL} must be an object`, advice);
	}
}

/**
 * Adds members to those of a body, at any depth.
 * @param path where this level stands: empty, or with a point at its end
 */
function merge(body: Members, added: Members, path: string, form: FormMembers): Members {
	const merged = new Map(Object.entries(body));
	const formMembers = formMembersAt(path, form.meanings);
	for (const [name, value] of Object.entries(added)) {
		refuseMember(name, value, path, form);
		const present = merged.get(name);
		if (isJsonObject(value) && (formMembers.get(name) === 'group' || isJsonObject(present))) {
			const inside = isJsonObject(present) ? present : {};
			merged.set(name, merge(inside, value, `${path}${name}.`, form));
		} else {
			merged.set(name, value);
		}
	}
	return Object.fromEntries(merged);
}

/**
 * A body without empty members, with {@link additionalMembersOption} merged.
 * @param form which values it sets, and what it calls them
 */
export function withAdditionalMembers<T extends object>(
	body: T,
	value: unknown,
	form: FormMembers,
): T {
	const members = { ...withoutEmpty(body) };
	return merge(members, readAdditionalMembers(value), '', form) as T;
}
