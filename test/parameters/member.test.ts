import type { INodeProperties } from 'n8n-workflow';
import {
	amount,
	bodyOf,
	externalId,
	fieldsOf,
	groupMember,
	neverEmptyIn,
	leavesOf,
	payerQuestion,
	groupText,
	textMember,
	treeOf,
} from '../../nodes/Pay/parameters/member';
import { split } from '../../nodes/Pay/parameters/split';
import { optionalIdentifier } from '../../nodes/Pay/parameters/text';
import { refusalOf } from '../refusal';
import { reading } from './reading';

const KEY = { displayName: 'Key', name: 'key', description: 'Whom to pay' } as const;
const NAME = { displayName: 'Name', name: 'name', placeholder: 'e.g. Ann' } as const;
const ANN = [{ typed: 'Ann', sent: 'Ann' }] as const;
const BANK = { displayName: 'Bank', name: 'bank' } as const;
/** Made anew for each test: what runs while this file loads is left out by mutation testing. */
const recipient = () =>
	groupMember(
		{ displayName: 'Recipient', name: 'creditParty' },
		[
			groupText(KEY, {
				means: 'recipient',
				examples: [{ typed: ' k ', sent: 'k' }],
				parse: optionalIdentifier,
				refused: [' '],
				neverEmpty: true,
			}),
			groupText(NAME, { means: 'identity', examples: ANN }),
			groupText(BANK, { means: 'text', examples: ANN }),
		],
		{ key: '' },
	);
const NOTICE: INodeProperties = {
	displayName: 'Read this first',
	name: 'notice',
	type: 'notice',
	default: '',
};
const formOf = () =>
	[recipient(), NOTICE, amount, externalId, payerQuestion('e.g. Order 1042')] as const;

test('a group is a collection, whose fields stand in the order of their names', () => {
	expect(recipient().fields).toStrictEqual([
		{
			displayName: 'Recipient',
			name: 'creditParty',
			type: 'collection',
			placeholder: 'Add Field',
			default: { key: '' },
			options: [
				{ displayName: 'Bank', name: 'bank', type: 'string', default: '' },
				{
					displayName: 'Key',
					name: 'key',
					description: 'Whom to pay',
					type: 'string',
					default: '',
				},
				{
					displayName: 'Name',
					name: 'name',
					placeholder: 'e.g. Ann',
					type: 'string',
					default: '',
				},
			],
		},
	]);
});

test('a group opens empty unless it is said', () => {
	expect(
		groupMember({ displayName: 'Payer', name: 'payer' }, [
			groupText(NAME, { means: 'identity', examples: ANN }),
		]).fields[0]?.default,
	).toStrictEqual({});
});

test('a group is read member by member, each by its own rule', () => {
	const read = (value: unknown) => recipient().read(reading({ creditParty: value }));
	expect(read({ key: ' a ', name: ' Ann ', bank: '' })).toStrictEqual({ key: 'a', name: ' Ann ' });
	expect(read({})).toBeUndefined();
	expect(refusalOf(() => read({ key: ' ' }))?.field).toBe('creditParty.key');
});

test('a text is a field and a member of the body', () => {
	const member = textMember(
		{ displayName: 'Reference', name: 'reference' },
		{ means: 'identity', examples: [{ typed: '7', sent: '7' }] },
	);
	expect(member).toMatchObject({
		name: 'reference',
		leaves: [{ path: 'reference', type: 'string', means: 'identity' }],
		examples: [{ typed: { reference: '7' }, sent: '7' }],
		fields: [{ displayName: 'Reference', name: 'reference', type: 'string', default: '' }],
	});
	expect(member.read(reading({ reference: 7 }))).toBe('7');
	expect(member.read(reading({}))).toBeUndefined();
	expect(refusalOf(() => member.read(reading({ reference: {} })))?.field).toBe('reference');
});

test('an amount is read with the decimal sign of its item', () => {
	expect(amount.read(reading({ amount: '49.90' }))).toBe(49.9);
	expect(amount.read(reading({ amount: '49,90', options: { decimalSign: 'comma' } }))).toBe(49.9);
	expect(refusalOf(() => amount.read(reading({ amount: '49,90' })))?.field).toBe('amount');
});

test('what a body of a form may hold, its fields, and what must not be left empty', () => {
	expect(treeOf([...formOf(), split])).toStrictEqual({
		creditParty: { key: 'string', name: 'string', bank: 'string' },
		amount: 'number',
		external_id: 'string',
		payerQuestion: 'string',
		split: [{ username: 'string', percentageSplit: 'number' }],
	});
	expect(fieldsOf(formOf()).map(({ name }) => name)).toStrictEqual([
		'creditParty',
		'notice',
		'amount',
		'external_id',
		'payerQuestion',
	]);
	expect(neverEmptyIn([...formOf(), split])).toStrictEqual(['creditParty.key']);
});

test('each value of a form says what it means, those of groups and lists by their paths', () => {
	const meanings = leavesOf([...formOf(), split]).map(({ path, means }) => [path, means]);
	expect(meanings).toStrictEqual([
		['creditParty.key', 'recipient'],
		['creditParty.name', 'identity'],
		['creditParty.bank', 'text'],
		['amount', 'amount'],
		['external_id', 'control'],
		['payerQuestion', 'text'],
		['split[].username', 'recipient'],
		['split[].percentageSplit', 'identity'],
	]);
});

test('the example of a group is made of those of its texts', () => {
	expect(recipient().examples).toStrictEqual([
		{
			typed: { creditParty: { key: ' k ', name: 'Ann', bank: 'Ann' } },
			sent: { key: 'k', name: 'Ann', bank: 'Ann' },
		},
	]);
});

test('a body has its single members first, objects and lists last', () => {
	const body = bodyOf(
		formOf(),
		reading({
			creditParty: { key: 'a' },
			notice: 'x',
			amount: 5,
			external_id: ' order-1 ',
			payerQuestion: '',
		}),
	);
	expect(Object.entries(body)).toStrictEqual([
		['amount', 5],
		['external_id', 'order-1'],
		['payerQuestion', undefined],
		['creditParty', { key: 'a' }],
	]);
});
