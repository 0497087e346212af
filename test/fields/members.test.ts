import fc from 'fast-check';
import assert from 'node:assert/strict';
import { valueAt } from '../../nodes/Pay/base/json';
import { addedPaths, holdsExpression, withAdditionalMembers } from '../../nodes/Pay/fields/members';
import { refusalOf } from '../refusal';
import { runs } from '../runs';
import { FULL_FORMS, type Kind, KINDS, OPERATIONS, READ_REQUEST } from '../serviceOperations';

/** Bodies with some of their members. */
const BODIES = {
	payment: {
		amount: 49.9,
		external_id: 'order-1',
		payerQuestion: 'Thanks',
		creditParty: { key: 'a@example.com', name: 'Ann' },
	},
	qrCode: {
		amount: 49.9,
		external_id: 'order-1',
		payer: { name: 'Ann' },
		split: [{ username: 'shop', percentageSplit: 10 }],
	},
};

/** The body above of an operation that has one, else its full one. */
const someBody = (kind: Kind): object =>
	Object.hasOwn(BODIES, kind)
		? BODIES[kind as keyof typeof BODIES]
		: READ_REQUEST[kind]((name) => FULL_FORMS[kind][name]);

/** The paths of all members that a form can set: amount, payer.name … A list is one member. */
function memberPaths(kind: Kind): string[] {
	const paths = Object.keys(OPERATIONS[kind].meanings).map((path) => path.replace(/\[\].*/, ''));
	return [...new Set(paths)];
}

/** A form that sets nothing. */
const NO_FORM = { meanings: {}, description: [] };

const merged = (kind: Kind, value: unknown) =>
	withAdditionalMembers(someBody(kind), value, OPERATIONS[kind]) as Record<string, unknown>;

/** What a parser of the other end reads. */
const sent = (kind: Kind, value: unknown) =>
	JSON.parse(JSON.stringify(merged(kind, value))) as Record<string, unknown>;

const refusal = (kind: Kind, value: unknown) => refusalOf(() => merged(kind, value));

test.each([undefined, null, '', '  ', '{}', {}])('%p adds nothing', (value) => {
	expect(merged('payment', value)).toStrictEqual(BODIES.payment);
});

test('members are added beside those of the form, and into its objects', () => {
	const added =
		'{ "due": "2026-12-01", "creditParty": { "bank": { "code": 1 } }, "tags": [{ "a": { "b": 1 } }] }';
	expect(merged('payment', added)).toStrictEqual({
		...BODIES.payment,
		due: '2026-12-01',
		tags: [{ a: { b: 1 } }],
		creditParty: { ...BODIES.payment.creditParty, bank: { code: 1 } },
	});
	expect(BODIES.payment.creditParty).toStrictEqual({ key: 'a@example.com', name: 'Ann' });
});

test('an object that the form left out is made of what is added to it', () => {
	const { payer: _none, ...body } = BODIES.qrCode;
	const value = { payer: { phone: '1' } };
	expect(withAdditionalMembers(body, value, OPERATIONS.qrCode)).toStrictEqual({
		...body,
		...value,
	});
});

test.each(['creditParty', 'CREDITPARTY '])(
	'%s is refused where the form has no recipient',
	(name) => {
		const read = () => withAdditionalMembers({}, { [name]: 'x' }, NO_FORM);
		expect(refusalOf(read)?.field).toBe('additionalMembers');
		const inside = { payer: { [name]: 'x' } };
		expect(withAdditionalMembers({}, inside, NO_FORM)).toStrictEqual(inside);
	},
);

describe('the members of a body that the form does not set', () => {
	const found = (body: object) => addedPaths(body, OPERATIONS.payment.meanings);

	test.each<{ added: object; at: string[] }>([
		{ added: { creditParty: { key: 'a', account: '0001-999' } }, at: ['creditParty.account'] },
		{ added: { creditParty: { bank: { code: 1 } } }, at: ['creditParty.bank.code'] },
		{ added: { creditParty: { toString: 1 } }, at: ['creditParty.toString'] },
		{ added: { creditParty: { bank: {} } }, at: ['creditParty.bank'] },
		{ added: { clabe: 'x', contactName: null }, at: ['clabe', 'contactName'] },
		{ added: { tags: ['a', { key: 'b' }], none: [] }, at: ['tags[]', 'tags[].key', 'none'] },
		{ added: { 'creditParty.taxId': 1 }, at: ['"creditParty.taxId"'] },
		{ added: { other: { 'a.b': 1, 'c[]': 2 } }, at: ['other."a.b"', 'other."c[]"'] },
	])('are named as $at', ({ added, at }) => {
		expect(found({ ...BODIES.payment, ...added })).toStrictEqual(at);
	});

	test('are none where the form itself sets all', () => {
		expect(found(BODIES.payment)).toStrictEqual([]);
	});
});

test.each([
	[undefined, false],
	['{ "clabe": "1" }', false],
	[{ clabe: '1' }, false],
	['={ "clabe": "{{ $json.clabe }}" }', true],
	[{ route: { clabe: '={{ $json.clabe }}' } }, true],
])('Additional Members %p: that they hold an expression is %p', (typed, expected) => {
	expect(holdsExpression(typed)).toBe(expected);
});

test('a QR code has no recipient', () => {
	expect(refusal('qrCode', { creditParty: { key: 'a' } })?.field).toBe('additionalMembers');
});

describe.each(KINDS)('%s', (kind) => {
	const inFullWidth = (letter: string) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0);
	const variants: Array<[string, (name: string) => string]> = [
		['as it is', (name) => name],
		['in upper case', (name) => name.toUpperCase()],
		['with a capital', (name) => name[0]!.toUpperCase() + name.slice(1)],
		['with a space behind', (name) => `${name} `],
		['in full-width letters', (name) => name.replace(/[a-z]/, inFullWidth)],
	];
	test.each(variants)(
		'every member of the form is refused by its name, written %s',
		(_how, write) => {
			const paths = memberPaths(kind);
			expect(paths).toContain('external_id');
			for (const path of paths) {
				const names = path.split('.');
				const written = [...names.slice(0, -1), write(names.at(-1)!)];
				const value = written.reduceRight<unknown>((below, name) => ({ [name]: below }), 'x');
				for (const given of [value, JSON.stringify(value)]) {
					expect(refusal(kind, given)).toMatchObject({
						field: 'additionalMembers',
						message: expect.stringContaining(`"${written.join('.')}"`),
					});
				}
			}
		},
	);

	/** JSON whose names are often those of the form, or dangerous ones. */
	const dangerous = ['__proto__', 'constructor', 'prototype', 'toJSON', 'hasOwnProperty', 'then'];
	const names = [...new Set(memberPaths(kind).flatMap((path) => path.split('.')))];
	const name = fc.oneof(
		fc.constantFrom(...dangerous, ...memberPaths(kind).map((path) => path.split('.')[0]!)),
		fc.constantFrom(...names).map((each) => each.toUpperCase()),
		fc.constantFrom(...names),
		fc.string(),
	);
	const { json } = fc.letrec((tie) => ({
		object: fc
			.array(fc.tuple(name, tie('json')), { maxLength: 4 })
			.map(
				(members) =>
					`{${members.map(([key, value]) => `${JSON.stringify(key)}:${value as string}`).join()}}`,
			),
		json: fc.oneof(
			{ maxDepth: 4 },
			fc.jsonValue().map((value) => JSON.stringify(value)),
			tie('object'),
			tie('object'),
			fc.array(tie('json'), { maxLength: 3 }).map((list) => `[${list.join()}]`),
		),
	}));
	const asObject = json.map((text) => JSON.parse(text as string) as unknown);

	test('whatever JSON is given: the form keeps what it says, nothing is polluted, refusals name it', () => {
		let [taken, refused] = [0, 0];
		const before = Object.getOwnPropertyNames(Object.prototype).sort();
		fc.assert(
			fc.property(fc.oneof(json, asObject, fc.anything()), (value) => {
				const error = refusal(kind, value);
				if (error !== undefined) {
					refused++;
					expect(error.field).toBe('additionalMembers');
					expect(error.message).toMatch(/Additional Members/);
					return;
				}
				taken++;
				const body = merged(kind, value);
				const read = sent(kind, value);
				for (const path of memberPaths(kind)) {
					const own = valueAt(someBody(kind), path);
					assert.deepEqual(valueAt(read, path), own);
					assert.deepEqual(valueAt(body, path), own);
				}
				for (const each of Object.keys(read)) {
					const alike = Object.keys(someBody(kind)).filter(
						(own) => own.toLowerCase() === each.toLowerCase(),
					);
					assert.ok(alike.every((own) => own === each));
				}
				expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
			}),
			{ numRuns: runs(400) },
		);
		expect(Object.getOwnPropertyNames(Object.prototype).sort()).toStrictEqual(before);
		expect(({} as Record<string, unknown>).amount).toBeUndefined();
		// Or the property would hold of nothing.
		expect(taken).toBeGreaterThan(runs(10));
		expect(refused).toBeGreaterThan(runs(10));
	});
});

const RING: Record<string, unknown> = {};
RING.ring = RING;
test.each<{ what: string; value: unknown }>([
	{ what: 'a list', value: '[1]' },
	{ what: 'a number', value: 5 },
	{ what: 'a text that is no JSON', value: 'a: 1' },
	{ what: 'two members of one name', value: '{"a":1,"a":2}' },
	{ what: 'an integer that JSON would round', value: '{"a":12345678901234567890}' },
	{ what: 'a number that cannot be kept, from an expression', value: { a: 2 ** 60 } },
	{ what: 'a ring', value: RING },
	{ what: 'a thousand levels', value: '{"a":'.repeat(1000) + '1' + '}'.repeat(1000) },
	{ what: 'a hundred thousand levels', value: '{"a":'.repeat(1e5) + '1' + '}'.repeat(1e5) },
	{ what: '__proto__', value: '{"__proto__":{"amount":1}}' },
	{ what: 'payer as a text', value: '{"payer":"Ann"}' },
	{ what: 'payer as null', value: '{"payer":null}' },
	{ what: 'PAYER', value: '{"PAYER":{"phone":"1"}}' },
])('$what is refused', ({ value }) => {
	expect(refusal('qrCode', value)?.field).toBe('additionalMembers');
});

test('members are added into an object that is no member of the form, and replace a list', () => {
	const added = { more: { b: 2 } };
	expect(withAdditionalMembers({ more: { a: 1 } }, added, NO_FORM)).toStrictEqual({
		more: { a: 1, b: 2 },
	});
	expect(withAdditionalMembers({ more: [1] }, added, NO_FORM)).toStrictEqual(added);
});

test.each([
	{ what: 'no value', value: { when: undefined }, lost: 'when' },
	{ what: 'a function', value: { when: () => 1 }, lost: 'when' },
	{ what: 'a symbol', value: { when: Symbol('x') }, lost: 'when' },
	{ what: 'NaN', value: { more: { sum: NaN } }, lost: 'sum' },
	{ what: 'an invalid date', value: { day: new Date(NaN) }, lost: 'day' },
])('a member that holds $what is refused by its name', ({ value, lost }) => {
	expect(refusal('payment', value)?.message).toBe(
		`Additional Members (additionalMembers) contains "${lost}" without a value`,
	);
});

test('null, zero and an empty text are values', () => {
	const value = { none: null, zero: 0, empty: '' };
	expect(merged('payment', value)).toStrictEqual({ ...BODIES.payment, ...value });
});

test('a function that says what an object is as JSON decides nothing', () => {
	const value = { note: 'x', toJSON: () => ({ amount: 1_000_000 }) };
	// The positive control: it does decide where the object is sent as it is.
	expect(JSON.parse(JSON.stringify(value))).toStrictEqual({ amount: 1_000_000 });
	expect(refusal('payment', value)?.message).toBe(
		'Additional Members (additionalMembers) contains "amount", which has a field of its own',
	);
	const later = { toJSON: () => ({ toJSON: 1, note: 'x' }) };
	expect(sent('payment', later)).toStrictEqual({ ...BODIES.payment, toJSON: 1, note: 'x' });
});
