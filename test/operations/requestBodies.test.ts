import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { InputError } from '../../nodes/Pay/base/inputError';
import { refusalOf } from '../refusal';
import { runs } from '../runs';
import {
	ALL_FULL_FORMS,
	FULL_FORMS,
	KINDS,
	OPERATIONS,
	READ_REQUEST,
	type Kind,
} from '../serviceOperations';

/** The body of a form; undefined where it is refused. */
function bodyOf(kind: Kind, form: IDataObject): object | undefined {
	try {
		return READ_REQUEST[kind]((field) => form[field]);
	} catch (error) {
		if (error instanceof InputError) return undefined;
		throw error;
	}
}

test.each(KINDS)('additional members are in the body of a %s, beside those of its form', (kind) => {
	const form = FULL_FORMS[kind];
	const options = { additionalMembers: '{"note":"x"}' };
	expect(bodyOf(kind, { ...form, options })).toStrictEqual({ ...bodyOf(kind, form), note: 'x' });
});

test.each(KINDS)(
	'of a %s that is wrong everywhere, the error names a single value first',
	(kind) => {
		const wrong = { payer: { name: {} }, creditParty: { key: {} }, specifySplit: {} };
		const form: IDataObject = { ...FULL_FORMS[kind], ...wrong };
		const refusedAt = (values: IDataObject) =>
			refusalOf(() => READ_REQUEST[kind]((field) => values[field]))?.field;
		expect(refusedAt({ ...form, amount: 'x', external_id: {}, payerQuestion: {} })).toBe('amount');
		expect(refusedAt({ ...form, external_id: {}, payerQuestion: {} })).toBe('external_id');
		expect(refusedAt({ ...form, payerQuestion: {} })).toBe('payerQuestion');
		expect(refusedAt(form)).toContain('.');
	},
);

/** What is wrong in a body: members that are empty, or that its operation does not document. */
class BodyCheck {
	readonly wrong: string[] = [];
	/** The paths of the values that were found. */
	readonly filled = new Set<string>();

	constructor(private readonly kind: Kind) {}

	look(value: unknown, path = ''): void {
		if (value === undefined || value === null || Number.isNaN(value)) {
			this.wrong.push(`${path}: ${value}`);
			return;
		}
		if (typeof value !== 'object') {
			this.filled.add(path);
			if (!Object.hasOwn(OPERATIONS[this.kind].meanings, path)) {
				this.wrong.push(`${path} is not documented`);
			}
			return;
		}
		if (Object.keys(value).length === 0) this.wrong.push(`${path}: empty`);
		if (Array.isArray(value)) {
			for (const entry of value) this.look(entry, `${path}[]`);
			return;
		}
		for (const [name, below] of Object.entries(value)) {
			this.look(below, path === '' ? name : `${path}.${name}`);
		}
	}
}

test.each<[string, object, string[]]>([
	['what is documented and filled', { amount: 5, external_id: 'a' }, []],
	['a number that is none', { external_id: NaN }, ['external_id: NaN']],
	['another member', { foo: 1 }, ['foo is not documented']],
	['an empty group', { payer: {} }, ['payer: empty']],
	['null in a list', { split: [{ username: null }] }, ['split[].username: null']],
])('the check of a body finds, with %s, what is wrong: %p', (_what, body, wrong) => {
	const check = new BodyCheck('qrCode');
	check.look(body);
	expect(check.wrong).toStrictEqual(wrong);
});

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

test.each(KINDS)(
	'whatever a %s is asked with, its body has documented, filled members only',
	(kind) => {
		const forms = fc.oneof(...ALL_FULL_FORMS[kind].map(near)) as fc.Arbitrary<IDataObject>;
		const check = new BodyCheck(kind);
		fc.assert(
			fc.property(forms, (form) => {
				const body = bodyOf(kind, form);
				if (body === undefined) return;
				check.look(body);
				assert.deepEqual(check.wrong, []);
				assert.deepEqual(JSON.parse(JSON.stringify(body)), body);
			}),
			{ numRuns: runs(3000) },
		);
		// Were every drawn body refused, the property would say nothing.
		expect(check.filled).toContain('external_id');
	},
);
