import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { isMembers, isTooDeep, parseTypedJson } from '../json';
import { isTree, type MemberTree } from '../service/contract';
import { labelOf, wrongField } from './label';
import { refuseLeftover, withoutEmpty } from './text';

export const additionalMembersOption: INodeProperties = {
	displayName: 'Additional Members',
	name: 'additionalMembers',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. { "payer": { "phone": "…" } }',
	description:
		'Members to add to the request body, as JSON, for a service that has more of them than its document shows. A member that this form can set is refused.',
};

type Members = Record<string, unknown>;

const FIELD = 'additionalMembers';
const LABEL = labelOf(FIELD);

/** The text that would be sent: an expression may give an object with a toJSON of its own. */
function typedText(value: unknown): string {
	if (typeof value === 'string') return value.trim() || '{}';
	let lost: string | undefined;
	let text: string;
	try {
		text =
			JSON.stringify(value ?? {}, function (this: Members, name, member: unknown) {
				const isNone = ['undefined', 'function', 'symbol'].includes(typeof member);
				const written = typeof member === 'number' ? Number.isFinite(member) : !isNone;
				// A toJSON gives null for a date that is none.
				if (!written || (member === null && this[name] !== null)) lost ??= name;
				return member;
			}) ?? '';
	} catch {
		return '';
	}
	if (lost === undefined) return text;
	throw wrongField(FIELD, `holds "${lost}" without a value`, 'Check the expression that gives it.');
}

function parseMembers(value: unknown): Members {
	const text = typedText(value);
	const [leftover] = /\[object Object\]|__UNKNOWN__/.exec(text) ?? [];
	if (leftover !== undefined) refuseLeftover(leftover, FIELD);
	const { parsed, mistake } = parseTypedJson(text);
	if (isTooDeep(parsed)) {
		throw new InputError(FIELD, `${LABEL} is nested too deeply`, 'Write it with fewer levels.');
	}
	if (isMembers(parsed)) return parsed;
	const what = mistake === undefined ? 'an object' : `valid JSON: ${mistake}`;
	throw new InputError(FIELD, `${LABEL} must be ${what}`, 'Write it as { "member": "value" }.');
}

/** A name as a lenient parser may read it: Go's takes "AMOUNT" for "amount", and the last counts. */
const lenientName = (name: string) => name.normalize('NFKC').trim().toLowerCase();

/** Parts of names that say where money goes, here or in services that are built alike. */
const RECIPIENT_PARTS = [
	'recipient',
	'receiv',
	'benefic',
	'payee',
	'credit',
	'destin',
	'target',
	'party',
	'split',
	'account',
	'acct',
	'iban',
	'wallet',
	'alias',
	'key',
	'handle',
	'username',
	'recebedor',
	'favorec',
	'conta',
	'cuenta',
	'chave',
	'clave',
];
/** Names that say it, but are parts of others that do not. */
const RECIPIENT_NAMES = [
	'to',
	'bank',
	'bic',
	'swift',
	'branch',
	'agency',
	'agencia',
	'card',
	'pan',
	'pix',
	'vpa',
	'email',
	'phone',
];

/** A name as it is compared: without case, accents, hyphens and underscores. */
const foldedName = (name: string) =>
	name
		.normalize('NFKD')
		.replace(/[^\p{L}\p{N}]/gu, '')
		.toLowerCase();

function saysRecipient(name: string, ownNames: readonly string[]): boolean {
	const folded = foldedName(name);
	if (RECIPIENT_NAMES.includes(folded)) return true;
	if (ownNames.some((own) => foldedName(own) === folded)) return true;
	return RECIPIENT_PARTS.some((part) => folded.includes(part));
}

/**
 * The path of a member that may say where the money goes, beside the Recipient of the form: anything
 * inside the recipient that the form does not set, and at any depth a member named like a recipient.
 * Nobody knows what a service reads, so a harmless member may be meant too: it costs nobody money.
 */
export function otherRecipientIn(body: object, known: MemberTree): string | undefined {
	const recipient = known.creditParty;
	const ownMembers = isTree(recipient) ? Object.keys(recipient) : [];
	for (const [name, value] of Object.entries(body)) {
		if (name === 'creditParty') {
			const added = Object.keys((value ?? {}) as object).find((each) => !ownMembers.includes(each));
			if (added !== undefined) return `creditParty.${added}`;
		} else if (!Object.hasOwn(known, name)) {
			const found = recipientIn(name, value, name, ownMembers);
			if (found !== undefined) return found;
		}
	}
	return undefined;
}

function recipientIn(
	name: string,
	value: unknown,
	path: string,
	ownNames: readonly string[],
): string | undefined {
	if (saysRecipient(name, ownNames)) return path;
	if (typeof value !== 'object' || value === null) return undefined;
	for (const [below, member] of Object.entries(value)) {
		const at = Array.isArray(value) ? `${path}[${below}]` : `${path}.${below}`;
		// An entry of a list has no name.
		const found = recipientIn(Array.isArray(value) ? '' : below, member, at, ownNames);
		if (found !== undefined) return found;
	}
	return undefined;
}

/** Members deeply merged; `known` says which of them the form sets, at this level and below. */
function merge(body: Members, extra: Members, known: MemberTree, path: string): Members {
	const merged = new Map(Object.entries(body));
	for (const [name, value] of Object.entries(extra)) {
		const form = Object.keys(known).find((each) => lenientName(each) === lenientName(name));
		const memberType = form === undefined ? undefined : known[form];
		const at = path + name;
		const wrongMember = (what: string, advice: string) =>
			new InputError(FIELD, `${LABEL} holds "${at}", which ${what}`, advice);
		if (name === '__proto__') throw wrongMember("cannot be a member's name", 'Remove it.');
		if (memberType !== undefined && !isTree(memberType)) {
			const label = labelOf(path + form);
			throw wrongMember('has a field of its own', `Remove it there and use the field ${label}.`);
		}
		if (form !== undefined && form !== name) {
			throw wrongMember(`a service may take for "${path + form}"`, `Write it as "${path + form}".`);
		}
		if (memberType !== undefined && !isMembers(value)) {
			const advice = `Write the members to add to it: { "${at}": { "member": "value" } }.`;
			throw new InputError(FIELD, `"${at}" in ${LABEL} must be an object`, advice);
		}
		const present = merged.get(name);
		merged.set(
			name,
			isMembers(value) && (memberType !== undefined || isMembers(present))
				? merge(isMembers(present) ? present : {}, value, memberType ?? {}, `${at}.`)
				: value,
		);
	}
	return Object.fromEntries(merged);
}

/**
 * A body without empty members, with {@link additionalMembersOption} merged; throws an InputError.
 * @param known the members that the form sets
 */
export function withAdditionalMembers<T extends object>(
	body: T,
	value: unknown,
	known: MemberTree,
): T {
	return merge({ ...withoutEmpty(body) }, parseMembers(value), known, '') as T;
}
