import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { isMembers, isTooDeep, parseTypedJson } from '../json';
import { FORM_MEMBERS, isTree, type Kind, type MemberTree } from '../service/contract';
import { labelOf } from './label';

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

/** As it would be sent: what an expression gives may hold functions, which would then decide. */
function jsonOf(value: unknown): string {
	try {
		return JSON.stringify(value) ?? '';
	} catch {
		return '';
	}
}

const LABEL = labelOf(FIELD);
const invalid = (what: string, advice: string) => new InputError(FIELD, what, advice);

function parseMembers(value: unknown): Members {
	if (value === undefined || value === null) return {};
	const text = typeof value === 'string' ? value : jsonOf(value);
	if (typeof value === 'string' && text.trim() === '') return {};
	const { parsed, mistake } = parseTypedJson(text);
	if (isTooDeep(parsed)) {
		throw invalid(`${LABEL} is nested too deeply`, 'Write it with fewer levels.');
	}
	if (isMembers(parsed)) return parsed;
	const what = mistake === undefined ? 'an object' : `valid JSON: ${mistake}`;
	throw invalid(`${LABEL} must be ${what}`, 'Write it as { "member": "value" }.');
}

/** A name as a lenient parser may read it: Go's takes "AMOUNT" for "amount", and the last one counts. */
const folded = (name: string) => name.normalize('NFKC').trim().toLowerCase();

/** Members deeply merged; `known` says which of them the form sets, at this level and below. */
function merge(body: Members, extra: Members, known: MemberTree, path: string): Members {
	const merged = new Map(Object.entries(body));
	for (const [name, value] of Object.entries(extra)) {
		const form = Object.keys(known).find((each) => folded(each) === folded(name));
		const own = form === undefined ? undefined : known[form];
		const at = path + name;
		if (name === '__proto__') {
			throw invalid(`${LABEL} holds "${at}", which cannot be a member's name`, 'Remove it.');
		}
		if (own !== undefined && !isTree(own)) {
			const advice = `Remove it there and use the field ${labelOf(path + form)}.`;
			throw invalid(`${LABEL} holds "${at}", which has a field of its own`, advice);
		}
		if (form !== undefined && form !== name) {
			const meant = `"${path + form}"`;
			const what = `${LABEL} holds "${at}", which a service may take for ${meant}`;
			throw invalid(what, `Write it as ${meant}.`);
		}
		if (own !== undefined && !isMembers(value)) {
			const advice = `Write the members to add to it: { "${at}": { "member": "value" } }.`;
			throw invalid(`"${at}" in ${LABEL} must be an object`, advice);
		}
		const present = merged.get(name);
		merged.set(
			name,
			isMembers(value) && (own !== undefined || isMembers(present))
				? merge(isMembers(present) ? present : {}, value, own ?? {}, `${at}.`)
				: value,
		);
	}
	return Object.fromEntries(merged);
}

/**
 * Merges the option {@link additionalMembersOption} into a body that was read from the form.
 * @returns a new body
 * @throws InputError unless it is a JSON object, and for a member that the form can set
 */
export function withAdditionalMembers<T extends object>(body: T, value: unknown, kind: Kind): T {
	return merge({ ...body } as Members, parseMembers(value), FORM_MEMBERS[kind], '') as T;
}
