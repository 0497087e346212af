import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { isJsonObject, isTooDeep, parseTypedJson } from '../json';
import { isTree, type MemberTree, type ServiceRequest } from '../service/contract';
import { fieldAt, labelOf, wrongField } from './label';
import { refuseLeftover, withoutEmpty } from './text';

/** Members of the body that the form does not have. */
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

const LABEL = labelOf(additionalMembersOption);

const wrongMembers = (message: string, advice: string) =>
	new InputError(additionalMembersOption.name, message, advice);

/** Whether JSON drops a member, or writes null for it, though it is something else. */
function isLost(typed: unknown, written: unknown): boolean {
	if (['undefined', 'function', 'symbol'].includes(typeof written)) return true;
	if (typeof written === 'number') return !Number.isFinite(written);
	// A toJSON gives null for a date that is none.
	return written === null && typed !== null;
}

/** The text that would be sent: an expression may give an object with a toJSON of its own. */
function typedText(value: unknown): string {
	if (typeof value === 'string') return value.trim() || '{}';
	let lostName: string | undefined;
	function noteLost(this: Members, name: string, written: unknown): unknown {
		if (isLost(this[name], written)) lostName ??= name;
		return written;
	}
	let text: string;
	try {
		text = JSON.stringify(value ?? {}, noteLost) ?? '';
	} catch {
		return '';
	}
	if (lostName === undefined) return text;
	throw wrongField(
		additionalMembersOption,
		`holds "${lostName}" without a value`,
		'Check the expression that gives it.',
	);
}

function parseMembers(value: unknown): Members {
	const text = typedText(value);
	const [leftover] = /\[object Object\]|__UNKNOWN__/.exec(text) ?? [];
	if (leftover !== undefined) refuseLeftover(leftover, additionalMembersOption);
	const { parsed, mistake } = parseTypedJson(text);
	if (isTooDeep(parsed)) {
		throw wrongMembers(`${LABEL} is nested too deeply`, 'Write it with fewer levels.');
	}
	if (isJsonObject(parsed)) return parsed;
	const what = mistake === undefined ? 'an object' : `valid JSON: ${mistake}`;
	throw wrongMembers(`${LABEL} must be ${what}`, 'Write it as { "member": "value" }.');
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

/**
 * What a run itself reads of a body: limits, sums and postbacks hang on it. So nobody types it as an
 * additional member, also where the operation has no field for it.
 */
const READ_BY_RUNS: Record<keyof ServiceRequest, string> = {
	amount: 'says how much money it is about',
	creditParty: 'says where the money goes',
	external_id: 'says which item it is',
	postbackUrl: 'says where postbacks go',
};

/** A form: the members that it sets, and the fields that errors call them by. */
interface FormMembers {
	readonly members: MemberTree;
	readonly description: readonly INodeProperties[];
}

/**
 * The form's own member that an added one is, or that a lenient service may take it for.
 * @param known the form's members at this level
 */
function formMemberOf(name: string, known: MemberTree): string | undefined {
	return Object.keys(known).find((each) => lenientName(each) === lenientName(name));
}

/** Refuses a member that a run reads, of an operation that has no field for it. Throws an InputError. */
function refuseReadByRuns(name: string): void {
	for (const [member, why] of Object.entries(READ_BY_RUNS)) {
		if (lenientName(member) !== lenientName(name)) continue;
		throw wrongMembers(
			`${LABEL} holds "${name}", which ${why}, and this operation has no field for it`,
			'Remove it there.',
		);
	}
}

/** Refuses a member that the form sets, or that a service may take for one of those. Throws an InputError. */
function refuseMember(
	name: string,
	value: unknown,
	path: string,
	known: MemberTree,
	description: FormMembers['description'],
): void {
	const at = path + name;
	const wrongMember = (what: string, advice: string) =>
		wrongMembers(`${LABEL} holds "${at}", which ${what}`, advice);
	if (name === '__proto__') throw wrongMember("cannot be a member's name", 'Remove it.');
	const formMember = formMemberOf(name, known);
	if (formMember === undefined) {
		if (path === '') refuseReadByRuns(name);
		return;
	}
	const ownPath = path + formMember;
	if (!isTree(known[formMember])) {
		const label = labelOf(fieldAt(description, ownPath));
		throw wrongMember('has a field of its own', `Remove it there and use the field ${label}.`);
	}
	if (formMember !== name) {
		throw wrongMember(`a service may take for "${ownPath}"`, `Write it as "${ownPath}".`);
	}
	if (!isJsonObject(value)) {
		const advice = `Write the members to add to it: { "${at}": { "member": "value" } }.`;
		throw wrongMembers(`"${at}" in ${LABEL} must be an object`, advice);
	}
}

/** Members deeply merged. Throws an InputError. */
function merge(
	body: Members,
	added: Members,
	known: MemberTree,
	path: string,
	description: FormMembers['description'],
): Members {
	const merged = new Map(Object.entries(body));
	for (const [name, value] of Object.entries(added)) {
		refuseMember(name, value, path, known, description);
		const present = merged.get(name);
		const membersPresent = isJsonObject(present) ? present : undefined;
		const knownBelow = Object.hasOwn(known, name) ? known[name] : undefined;
		const isOfForm = isTree(knownBelow);
		if (isJsonObject(value) && (isOfForm || membersPresent !== undefined)) {
			const below = isOfForm ? knownBelow : {};
			merged.set(name, merge(membersPresent ?? {}, value, below, `${path}${name}.`, description));
		} else {
			merged.set(name, value);
		}
	}
	return Object.fromEntries(merged);
}

/**
 * A body without empty members, with {@link additionalMembersOption} merged; throws an InputError.
 * @param form which members it sets, and what it calls them
 */
export function withAdditionalMembers<T extends object>(
	body: T,
	value: unknown,
	form: FormMembers,
): T {
	const members = { ...withoutEmpty(body) };
	return merge(members, parseMembers(value), form.members, '', form.description) as T;
}
