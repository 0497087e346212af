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

function parseMembers(value: unknown): Members {
	if (value === undefined || value === null) return {};
	const text = typeof value === 'string' ? value : jsonOf(value);
	if (typeof value === 'string' && text.trim() === '') return {};
	const { parsed, mistake } = parseTypedJson(text);
	if (isTooDeep(parsed)) {
		throw new InputError(
			FIELD,
			`${labelOf(FIELD)} is nested too deeply`,
			'Write it with fewer levels.',
		);
	}
	if (isMembers(parsed)) return parsed;
	throw new InputError(
		FIELD,
		mistake === undefined
			? `${labelOf(FIELD)} must be an object`
			: `${labelOf(FIELD)} must be valid JSON: ${mistake}`,
		'Write it as { "member": "value" }.',
	);
}

/**
 * A name as a lenient parser may read it: Go's, for one, takes "AMOUNT" for "amount", and the last of
 * the two counts.
 */
const folded = (name: string) => name.normalize('NFKC').trim().toLowerCase();

/** The member of the form that a name stands for, however it is written. */
function formName(known: MemberTree, name: string): string | undefined {
	return Object.keys(known).find((each) => folded(each) === folded(name));
}

/** Members deeply merged; `known` says which of them the form sets, at this level and below. */
function merge(body: Members, extra: Members, known: MemberTree, path: string): Members {
	const merged = new Map(Object.entries(body));
	for (const [name, value] of Object.entries(extra)) {
		const form = formName(known, name);
		const own = form === undefined ? undefined : known[form];
		const at = path + name;
		if (name === '__proto__') {
			throw new InputError(
				FIELD,
				`${labelOf(FIELD)} holds "${at}", which is no name for a member`,
				'Remove it.',
			);
		}
		if (own !== undefined && !isTree(own)) {
			throw new InputError(
				FIELD,
				`${labelOf(FIELD)} holds "${at}", which has a field of its own`,
				`Remove it there and use the field ${labelOf(path + form)}.`,
			);
		}
		if (form !== undefined && form !== name) {
			throw new InputError(
				FIELD,
				`${labelOf(FIELD)} holds "${at}", which a service may take for "${path + form}"`,
				`Write it as "${path + form}".`,
			);
		}
		if (own !== undefined && !isMembers(value)) {
			throw new InputError(
				FIELD,
				`"${at}" in ${labelOf(FIELD)} must be an object`,
				`Write the members to add to it: { "${at}": { "member": "value" } }.`,
			);
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
 * Merges the option {@link additionalMembersOption} into a body.
 * @param body as read from the form
 * @returns a new body
 * @throws InputError for what is no JSON object, and for a member that the form can set
 */
export function withAdditionalMembers<T extends object>(body: T, value: unknown, kind: Kind): T {
	return merge({ ...body } as Members, parseMembers(value), FORM_MEMBERS[kind], '') as T;
}
