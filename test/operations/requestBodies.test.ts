import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createPayment as payment } from '../../nodes/Pay/operations/payment/create.operation';
import { createQrCode as qrCode } from '../../nodes/Pay/operations/qrCode/create.operation';
import { InputError } from '../../nodes/Pay/inputError';
import { refusalOf } from '../refusal';
import { runs } from '../runs';

const DOCUMENTED: Record<string, string[]> = {
	qrCode: ['amount', 'external_id', 'payerQuestion', 'payer', 'split'],
	payment: ['amount', 'external_id', 'payerQuestion', 'creditParty'],
	payer: ['name', 'document', 'email'],
	creditParty: ['key', 'keyType', 'document', 'name'],
	split: ['username', 'percentageSplit'],
};

/** What an expression may leave in any field. */
const anything = fc.oneof(
	fc.string(),
	fc.double(),
	fc.integer(),
	fc.boolean(),
	fc.constantFrom('', null, undefined, 'undefined', '10,50', '[object Object]', NaN, [], {}),
);
const good = fc.oneof(fc.constantFrom('', undefined), fc.string({ minLength: 1 }));
const either = fc.oneof({ weight: 5, arbitrary: good }, { weight: 1, arbitrary: anything });
const share = fc.oneof({ weight: 3, arbitrary: fc.nat(100) }, { weight: 1, arbitrary: anything });
const recipient = fc.record({ username: either, percentageSplit: share }, { requiredKeys: [] });

const parameters = fc.record({
	amount: fc.oneof(
		{ weight: 5, arbitrary: fc.integer({ min: 1 }) },
		{ weight: 1, arbitrary: anything },
	),
	external_id: fc.oneof({ weight: 5, arbitrary: fc.uuid() }, { weight: 1, arbitrary: anything }),
	payerQuestion: either,
	payer: fc.record({ name: either, document: either, email: either }, { requiredKeys: [] }),
	creditParty: fc.record(
		{ key: either, keyType: either, document: either, name: either },
		{ requiredKeys: [] },
	),
	specifySplit: fc.constantFrom('none', 'fields', 'json'),
	split: fc.record({ recipient: fc.array(recipient) }, { requiredKeys: [] }),
	splitJson: fc.oneof(
		fc.array(recipient),
		fc.array(recipient).map((list) => JSON.stringify(list)),
		anything,
	),
});

/** What a body must not hold: members that are empty or not documented, by their names. */
function uncleanIn(value: unknown, name: string): string[] {
	if (value === undefined || value === null || Number.isNaN(value)) return [`${name}: ${value}`];
	if (typeof value !== 'object') return [];
	if (Object.keys(value).length === 0) return [`${name}: empty`];
	if (Array.isArray(value)) return value.flatMap((entry) => uncleanIn(entry, name));
	return Object.entries(value).flatMap(([key, member]) => [
		...(DOCUMENTED[name]?.includes(key) ? [] : [`${name}.${key} is not documented`]),
		...uncleanIn(member, key),
	]);
}

test.each([
	{
		name: 'qrCode',
		readRequest: qrCode.readRequest,
	},
	{
		name: 'payment',
		readRequest: payment.readRequest,
	},
])('a $name body holds documented, filled fields only', ({ name, readRequest }) => {
	let built = 0;
	fc.assert(
		fc.property(parameters, (given) => {
			let body;
			try {
				body = readRequest((field) => given[field as keyof typeof given]);
			} catch (error) {
				if (error instanceof InputError) return;
				throw error;
			}
			built++;
			assert.deepEqual(uncleanIn(body, name), []);
			expect(JSON.parse(JSON.stringify(body))).toStrictEqual(body);
		}),
		{ numRuns: runs(3000) },
	);
	// Were every drawn body refused, the property would say nothing.
	expect(built).toBeGreaterThan(runs(200));
	const unclean = { amount: NaN, foo: 1, payer: {}, creditParty: { key: null, cpf: '1' } };
	expect(uncleanIn(unclean, name)).toStrictEqual(
		expect.arrayContaining(['amount: NaN', `${name}.foo is not documented`]),
	);
	expect(uncleanIn(unclean, name).length).toBeGreaterThanOrEqual(5);
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
