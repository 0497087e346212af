import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { parseTypedJson } from '../json';
import { FORM_MEMBERS, type Kind, type MemberTree } from '../service/contract';
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

function isMembers(value: unknown): value is Members {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseMembers(value: unknown): Members {
	if (value === undefined || value === null || value === '') return {};
	const { parsed, mistake }: { parsed?: unknown; mistake?: string } =
		typeof value === 'string' ? parseTypedJson(value) : { parsed: value };
	if (isMembers(parsed)) return parsed;
	throw new InputError(
		FIELD,
		mistake === undefined
			? `${labelOf(FIELD)} must be an object`
			: `${labelOf(FIELD)} is no valid JSON: ${mistake}`,
		'Write it as { "member": "value" }.',
	);
}

/** Members deeply merged; `known` says which of them the form sets, at this level and below. */
function merge(body: Members, extra: Members, known: MemberTree, path: string): Members {
	const merged = new Map(Object.entries(body));
	for (const [name, value] of Object.entries(extra)) {
		const own = Object.hasOwn(known, name) ? known[name] : undefined;
		const at = path + name;
		if (own === true || name === '__proto__') {
			throw new InputError(
				FIELD,
				`${labelOf(FIELD)} holds "${at}", which has a field of its own`,
				`Remove it there and use the field ${labelOf(at)}.`,
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
