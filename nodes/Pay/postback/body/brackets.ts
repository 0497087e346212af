// Not picoquery, the smallest library for this: it loses "paid" of `status=paid&status[code]=1`. qs needs Node's util.
import { BodyError } from './bodyError';

/** As many fields as n8n takes from a query; parts of a multipart form too. */
export const MAX_FIELDS = 1000;
/** The bounds of n8n's query: five levels below a name, and the highest index of a list with gaps. */
const BRACKETED = /^([^[\]]+)((?:\[[^[\]]*\]){1,5})$/;
const MAX_INDEX = 20;
const INDEX = /^(0|[1-9]\d?)$/;

/** A list while fields are put together; it may have gaps. */
class List {
	constructor(readonly items: unknown[] = []) {}
}

/** An object while fields are put together. A map: a field may be called like a member of every object. */
class Group {
	constructor(readonly members = new Map<string, unknown>()) {}
}

function isBranch(value: unknown): value is List | Group {
	return value instanceof List || value instanceof Group;
}

function asGroup(branch: List | Group): Group {
	if (branch instanceof Group) return branch;
	const group = new Group();
	branch.items.forEach((item, index) => group.members.set(String(index), item));
	return group;
}

function mergeLists(list: List, added: List): List {
	added.items.forEach((item, index) => {
		const before = list.items[index];
		if (before === undefined) list.items[index] = item;
		else if (isBranch(before) && isBranch(item)) list.items[index] = merge(before, item);
		else list.items.push(item);
	});
	return list;
}

function mergeGroups(group: Group, added: Group): Group {
	for (const [name, value] of added.members) {
		const isNew = !group.members.has(name);
		group.members.set(name, isNew ? value : merge(group.members.get(name), value));
	}
	return group;
}

/** Puts together two things that one name stands for; nothing is lost, and n8n's query gives the same. */
function merge(before: unknown, added: unknown): unknown {
	if (before instanceof List && added instanceof List) return mergeLists(before, added);
	if (isBranch(before) && isBranch(added)) return mergeGroups(asGroup(before), asGroup(added));
	const list = before instanceof List ? before : new List([before]);
	if (added instanceof List) added.items.forEach((item) => list.items.push(item));
	else list.items.push(added);
	return list;
}

/** The names in `data[status]`; one where brackets mean nothing. */
function namesIn(name: string): string[] {
	const [, first, brackets] = BRACKETED.exec(name) ?? [];
	if (first === undefined || brackets === undefined) return [name];
	return [first, ...brackets.slice(1, -1).split('][')];
}

/** A value below a name in brackets: `[]` and `[0]` make a list. */
function below(name: string, value: unknown): List | Group {
	if (name === '') return value instanceof List ? value : new List([value]);
	if (!INDEX.test(name) || Number(name) > MAX_INDEX) return new Group(new Map([[name, value]]));
	const list = new List();
	list.items[Number(name)] = value;
	return list;
}

/** A branch as a plain object or list, without gaps; any other value as it is. */
function toValue(value: unknown): unknown {
	if (value instanceof List) {
		const items: unknown[] = [];
		value.items.forEach((item) => items.push(toValue(item)));
		return items;
	}
	if (value instanceof Group) return membersOf(value);
	return value;
}

function membersOf(group: Group): Record<string, unknown> {
	const members: Array<[string, unknown]> = [];
	for (const [name, member] of group.members) members.push([name, toValue(member)]);
	return Object.fromEntries(members);
}

/** The values of each name, in the order in which the names come. */
function valuesByName(fields: Array<readonly [string, unknown]>): Map<string, unknown[]> {
	const values = new Map<string, unknown[]>();
	for (const [name, value] of fields) {
		const known = values.get(name);
		if (known === undefined) values.set(name, [value]);
		else known.push(value);
	}
	return values;
}

/** The fields of a form as n8n gives those of a query: `data[status]` is nested, repeated ones are lists. */
export function nestFields(fields: Array<readonly [string, unknown]>): Record<string, unknown> {
	if (fields.length > MAX_FIELDS) throw new BodyError(413, 'The form has too many fields');
	const top = new Group();
	for (const [name, values] of valuesByName(fields)) {
		const [first = '', ...names] = namesIn(name);
		let value = values.length === 1 ? values[0] : new List(values);
		for (const inner of names.reverse()) value = below(inner, value);
		mergeGroups(top, new Group(new Map([[first, value]])));
	}
	return membersOf(top);
}
