import type { INodeProperties } from 'n8n-workflow';
import { Pay } from '../../nodes/Pay/Pay.node';
import { fieldInCredential } from '../../nodes/Pay/account/label';
import { fieldAt, fieldInside, labelOf, quoted } from '../../nodes/Pay/fields/label';
import { refusalOf } from '../refusal';
import { FULL_FORMS, KINDS, READ_REQUEST, TYPED_PATHS, withValue } from '../serviceOperations';

const FORM: INodeProperties[] = [
	{ displayName: 'Amount', name: 'amount', type: 'string', default: '' },
	{
		displayName: 'Recipient',
		name: 'creditParty',
		type: 'collection',
		default: {},
		options: [{ displayName: 'Key', name: 'key', type: 'string', default: '' }],
	},
	{
		displayName: 'Split Recipients',
		name: 'split',
		type: 'fixedCollection',
		default: {},
		options: [
			{
				displayName: 'Recipient',
				name: 'recipient',
				values: [{ displayName: 'Username', name: 'username', type: 'string', default: '' }],
			},
		],
	},
];

test.each([
	['amount', 'Amount'],
	['creditParty', 'Recipient (creditParty)'],
	['creditParty.key', 'Key (creditParty.key)'],
	['split.recipient[12].username', 'Username (split.recipient[12].username)'],
	['creditParty.iban', 'creditParty.iban'],
	['amount.iban', 'amount.iban'],
])('the field at %s is called %s in an error', (path, label) => {
	expect(labelOf(fieldAt(FORM, path))).toBe(label);
});

test('a field inside of another one is named by its path', () => {
	const field = fieldInside('split[0]', { name: 'username', displayName: 'Username' });
	expect(labelOf(field)).toBe('Username (split[0].username)');
});

test.each([
	['clientSecret', 'The Client Secret of the Pay API credential'],
	['describeService', 'The switch Describe the Service of the Pay API credential'],
])('the field %s of the credential is called %s', (name, label) => {
	expect(labelOf(fieldInCredential(name))).toBe(label);
});

test.each<[unknown, string]>([
	['a', '"a"'],
	['x'.repeat(61), `"${'x'.repeat(60)}"`],
	[{ a: 'x'.repeat(60) }, `{"a":"${'x'.repeat(54)}`],
	[null, 'null'],
	[undefined, 'undefined'],
	[NaN, 'NaN'],
	[10n, '10'],
	[() => 1, 'a value of type function'],
])('%p is shown in an error as %s', (value, shown) => {
	expect(quoted(value)).toBe(shown);
});

test.each(KINDS)('an error of each value of a %s begins with what the form calls it', (kind) => {
	const { properties } = new Pay().description;
	const form = properties.filter(({ displayOptions }) => {
		const { resource, operation } = displayOptions?.show ?? {};
		const { resource: ofKind, operation: chosen } = FULL_FORMS[kind];
		return resource?.[0] === ofKind && operation?.[0] === chosen;
	});
	// An object is wrong everywhere. Where postbacks go is read elsewhere.
	for (const path of TYPED_PATHS[kind].filter((each) => each !== 'postbackUrl')) {
		const parameters = withValue(FULL_FORMS[kind], path, { a: 1 });
		const refusal = refusalOf(() => READ_REQUEST[kind]((name) => parameters[name]));
		expect(refusal?.message).toContain(`${labelOf(fieldAt(form, path))} `);
	}
});
