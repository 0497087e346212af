import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { createPayment as payment } from '../../nodes/Pay/operations/payment/create.operation';
import { createQrCode as qrCode } from '../../nodes/Pay/operations/qrCode/create.operation';
import { InputError } from '../../nodes/Pay/inputError';
import { isTree, type Member, type MemberTree } from '../../nodes/Pay/service/contract';
import { refusalOf } from '../refusal';
import { runs } from '../runs';
import { ALL_FULL_FORMS, KINDS, OPERATIONS, READ_REQUEST } from '../serviceOperations';

/** What an expression may leave in any field. */
const anything = fc.oneof(
	fc.string(),
	fc.double(),
	fc.integer(),
	fc.boolean(),
	fc.constantFrom('', null, undefined, 'undefined', '10,50', '[object Object]', NaN, [], {}),
);

/** A value as it may be typed or left by an expression: mostly the example, and of objects any members. */
function near(example: unknown): fc.Arbitrary<unknown> {
	if (Array.isArray(example)) return fc.tuple(...example.map(near));
	if (typeof example === 'object' && example !== null) {
		const members = Object.entries(example).map(([name, below]) => [name, near(below)] as const);
		return fc.record(Object.fromEntries(members), { requiredKeys: [] });
	}
	return fc.oneof(
		{ weight: 12, arbitrary: fc.constant(example) },
		{ weight: 3, arbitrary: fc.constantFrom('', undefined) },
		{ weight: 1, arbitrary: anything },
	);
}

/** The members inside of one: of a list, those of its entries. */
function membersIn(member: Member | undefined): MemberTree {
	if (isTree(member)) return member;
	return typeof member === 'object' ? membersIn(member[0]) : {};
}

/** The paths of the single members of a body. */
function pathsIn(member: Member, path = ''): string[] {
	const inside = Object.entries(membersIn(member));
	if (inside.length === 0) return [path];
	return inside.flatMap(([name, below]) => pathsIn(below, path === '' ? name : `${path}.${name}`));
}

/** What a body holds, and whether that may be: it must have no member that is empty or not of its operation. */
interface Looked {
	unclean: string[];
	filled: Set<string>;
}

function lookInto(value: unknown, member: Member | undefined, path: string, looked: Looked): void {
	if (value === undefined || value === null || Number.isNaN(value)) {
		looked.unclean.push(`${path}: ${value}`);
		return;
	}
	if (typeof value !== 'object') {
		looked.filled.add(path);
		return;
	}
	if (Object.keys(value).length === 0) looked.unclean.push(`${path}: empty`);
	if (Array.isArray(value)) {
		for (const entry of value) lookInto(entry, member, path, looked);
		return;
	}
	const known = membersIn(member);
	for (const [name, below] of Object.entries(value)) {
		const at = path === '' ? name : `${path}.${name}`;
		if (!Object.hasOwn(known, name)) looked.unclean.push(`${at} is not documented`);
		lookInto(below, known[name], at, looked);
	}
}

describe.each(KINDS)('%s', (kind) => {
	const { members } = OPERATIONS[kind];
	const parameters = fc.oneof(...ALL_FULL_FORMS[kind].map(near)) as fc.Arbitrary<IDataObject>;

	test('a body holds documented, filled members only, and each of them in some', () => {
		const looked: Looked = { unclean: [], filled: new Set() };
		let built = 0;
		fc.assert(
			fc.property(parameters, (given) => {
				let body;
				try {
					body = READ_REQUEST[kind]((field) => given[field]);
				} catch (error) {
					if (error instanceof InputError) return;
					throw error;
				}
				built++;
				lookInto(body, members, '', looked);
				assert.deepEqual(looked.unclean, []);
				expect(JSON.parse(JSON.stringify(body))).toStrictEqual(body);
			}),
			{ numRuns: runs(3000) },
		);
		// Were every drawn body refused, the property would say nothing.
		expect(built).toBeGreaterThan(runs(200));
		// The run adds where postbacks go.
		const drawn = [...looked.filled, 'postbackUrl'];
		expect(pathsIn(members).filter((path) => !drawn.includes(path))).toStrictEqual([]);
	});

	test('what is empty or not documented would be found', () => {
		const looked: Looked = { unclean: [], filled: new Set() };
		const unclean = { external_id: NaN, foo: 1, bar: {}, list: [{ key: null }] };
		lookInto(unclean, members, '', looked);
		expect(looked.unclean).toStrictEqual([
			'external_id: NaN',
			'foo is not documented',
			'bar is not documented',
			'bar: empty',
			'list is not documented',
			'list.key is not documented',
			'list.key: null',
		]);
	});
});

/** Reads a body from some parameters; all others are as the editor leaves them. */
const LEFT = { amount: 5, external_id: 'a', payerQuestion: '', payer: {}, creditParty: {} };
const chargeOf = (given: Record<string, unknown>) =>
	qrCode.readRequest((name) => ({ specifySplit: 'none', ...LEFT, ...given })[name]);
const paymentOf = (given: Record<string, unknown>) =>
	payment.readRequest((name) => ({ ...LEFT, ...given })[name]);

// What else is filled in, and nothing else: test/engine/items.test.ts.
test('a share of 0 and additional members are in the body', () => {
	const least = { amount: 5, external_id: 'a' };
	const recipient = [{ username: 'b', percentageSplit: '0' }];
	expect(chargeOf({ specifySplit: 'fields', split: { recipient } }).split).toStrictEqual([
		{ username: 'b', percentageSplit: 0 },
	]);
	const additionalMembers = '{"note":"x"}';
	expect(chargeOf({ options: { additionalMembers } })).toStrictEqual({ ...least, note: 'x' });
	expect(paymentOf({ options: { additionalMembers } })).toStrictEqual({ ...least, note: 'x' });
});

test('no choice is no split, nor is No Split, whatever stands in its fields', () => {
	const filled = { split: { recipient: [{ username: 'b' }] }, splitJson: '[{"username":"b"}]' };
	for (const given of [{ specifySplit: undefined }, { specifySplit: 'none', ...filled }]) {
		expect(chargeOf(given)).toStrictEqual({ amount: 5, external_id: 'a' });
	}
});

test.each<{ what: string; specifySplit: unknown; value: unknown }>([
	{
		what: 'fields that were never opened',
		specifySplit: 'fields',
		value: undefined,
	},
	{
		what: 'fields without a recipient',
		specifySplit: 'fields',
		value: {},
	},
	{
		what: 'fields with recipients that are null',
		specifySplit: 'fields',
		value: { recipient: null },
	},
	{
		what: 'fields with an empty recipient',
		specifySplit: 'fields',
		value: { recipient: [{}] },
	},
	{
		what: 'an empty JSON text',
		specifySplit: 'json',
		value: '',
	},
	{
		what: 'a JSON text of spaces',
		specifySplit: 'json',
		value: ' \n',
	},
	{
		what: 'a JSON null',
		specifySplit: 'json',
		value: 'null',
	},
	{
		what: 'an empty JSON list',
		specifySplit: 'json',
		value: '[]',
	},
])('a split of $what is refused: it has no recipient', ({ specifySplit, value }) => {
	const read = () => chargeOf({ specifySplit, split: value, splitJson: value });
	expect(refusalOf(read)).toBeDefined();
});

describe('split from JSON', () => {
	const read = (splitJson: unknown) => chargeOf({ specifySplit: 'json', splitJson });

	test('takes text or a list', () => {
		const split = [{ username: 'b', percentageSplit: 10 }];
		expect(read(JSON.stringify(split)).split).toStrictEqual(split);
		expect(read(split).split).toStrictEqual(split);
	});

	test.each([
		{
			text: '[{"username":"a",}]',
			why: /position \d+/,
		},
		{
			text: '[',
			why: /position \d+/,
		},
		{
			text: '{}',
			why: /must be a list/,
		},
		{
			text: '["a"]',
			why: /splitJson\[0\]\) must be an object/,
		},
		{
			text: '[{"user":"a"}]',
			why: /"user".*not document/,
		},
		{
			text: '[{"username":"a","percentageSplit":1},{"username":"b","percentageSplit":"10,5"}]',
			why: /splitJson\[1\]\.percentageSplit.*"10,5"/,
		},
		{
			text: '[{"username":"undefined"}]',
			why: /splitJson\[0\]\.username\) is "undefined"/,
		},
		{
			text: '[{"username":" null "}]',
			why: /splitJson\[0\]\.username\) is "null"/,
		},
		{
			text: '[{"username":"a","percentageSplit":null}]',
			why: /splitJson\[0\]\.percentageSplit\) is missing/,
		},
	])('$text is refused with its place', ({ text, why }) => {
		expect(() => read(text)).toThrow(why);
	});
});
