import {
	conditionFields,
	matchOf,
	readCondition,
	refuseMisplacedCondition,
	resumeCondition,
	startCondition,
} from '../../nodes/Pay/fields/condition';
import type { StatusWords } from '../../nodes/Pay/service/state';
import { refusalOf } from '../refusal';
import { reading } from './reading';

test('the fields follow the choice by its name, and are shown for one choice each', () => {
	const fields = conditionFields({
		displayName: 'Resume',
		name: 'resumeWhen',
		noDataExpression: true,
	});
	expect(fields.map(({ name, displayOptions }) => [name, displayOptions])).toStrictEqual([
		['resumeWhen', undefined],
		['anyPostbackNotice', { show: { resumeWhen: ['any'] } }],
		['matchField', { show: { resumeWhen: ['match'] } }],
		['matchValues', { show: { resumeWhen: ['match'] } }],
	]);
	expect(fields[0]).toMatchObject({ displayName: 'Resume', type: 'options', default: 'any' });
	expect(fields.map(({ noDataExpression }) => noDataExpression)).toStrictEqual([
		true,
		undefined,
		true,
		true,
	]);
});

test.each(['any', 'paid', 'paidOrFailed'])('the choice %s is read', (choice) => {
	expect(readCondition(reading({ resumeWhen: choice }), resumeCondition)).toBe(choice);
});

test('the choice of a field is read with its field and values', () => {
	const read = reading({ startWhen: 'match', matchField: ' pix[].status ', matchValues: ['paid'] });
	expect(readCondition(read, startCondition)).toStrictEqual({
		field: ['pix[].status'],
		values: ['paid'],
	});
});

test('the choice of a field without one is refused, and the field named', () => {
	const read = reading({ startWhen: 'match', matchField: '', matchValues: ['paid'] });
	expect(refusalOf(() => readCondition(read, startCondition))?.field).toBe('matchField');
});

test.each(['Paid', '', null])('%p is none of the choices', (choice) => {
	const read = () => readCondition(reading({ resumeWhen: choice }), resumeCondition);
	expect(refusalOf(read)?.field).toBe('resumeWhen');
});

const STATUS: StatusWords = {
	field: ['status'],
	paid: ['paid', 'done'],
	failed: ['failed'],
	amountField: ['value'],
	idField: ['order'],
};
const FIELD = { field: ['data.status'], values: ['sent'] };

test.each<{
	name: string;
	condition: Parameters<typeof matchOf>[0];
	status: StatusWords | undefined;
	expected: object | undefined;
}>([
	{ name: 'any postback', condition: 'any', status: STATUS, expected: undefined },
	{ name: 'any postback, without words', condition: 'any', status: undefined, expected: undefined },
	{ name: 'a field of its own', condition: FIELD, status: STATUS, expected: FIELD },
	{
		name: 'a field of its own, without words',
		condition: FIELD,
		status: undefined,
		expected: FIELD,
	},
	{ name: 'paid', condition: 'paid', status: STATUS, expected: { states: ['paid'] } },
	{
		name: 'paid, without words for failed',
		condition: 'paid',
		status: { field: ['status'], paid: ['paid'], failed: [] },
		expected: { states: ['paid'] },
	},
	{
		name: 'paid or failed',
		condition: 'paidOrFailed',
		status: STATUS,
		expected: { states: ['refunded', 'paid', 'otherAmount', 'failed'] },
	},
	{
		name: 'paid or failed, where what fails is a refund',
		condition: 'paidOrFailed',
		status: { field: ['status'], paid: ['*'], failed: [], refundField: ['refunds'] },
		expected: { states: ['refunded', 'paid', 'otherAmount', 'failed'] },
	},
])('what a postback must hold: $name', ({ condition, status, expected }) => {
	expect(
		matchOf(condition, status, 'startWhen', 'Open the credential of this node.'),
	).toStrictEqual(expected);
});

test.each<{ name: string; condition: 'paid' | 'paidOrFailed'; status?: StatusWords }>([
	{ name: 'paid, without any words', condition: 'paid' },
	{ name: 'paid, with words for failed', condition: 'paid', status: { ...STATUS, paid: [] } },
	{ name: 'paid or failed, without any words', condition: 'paidOrFailed' },
	{
		name: 'paid or failed, without failed',
		condition: 'paidOrFailed',
		status: { ...STATUS, failed: [] },
	},
	{
		name: 'paid or failed, without paid',
		condition: 'paidOrFailed',
		status: { ...STATUS, paid: [] },
	},
])('a condition that needs words the credential lacks is refused: $name', (row) => {
	const { condition, status } = row;
	const read = () => matchOf(condition, status, 'startWhen', 'Open the credential of this node.');
	expect(refusalOf(read)?.field).toBe('startWhen');
});

test.each([
	{ field: ['pix.0.status'], idField: ['pix[].txid'], isRefused: true },
	{ field: ['status', 'body.PIX[1].status'], idField: ['pix[].txid'], isRefused: true },
	{ field: ['pix[].status', 'pix.0.status'], idField: undefined, isRefused: true },
	{ field: ['pix.0.status'], idField: ['pix.0.txid'], isRefused: false },
	{ field: ['pix[].status'], idField: ['pix[].txid'], isRefused: false },
])('the Field $field beside the External ID Field $idField is refused: $isRefused', (row) => {
	const { field, idField, isRefused } = row;
	const condition = { field, values: ['paid'] };
	const refusal = refusalOf(() => matchOf(condition, { ...STATUS, idField }, 'startWhen', ''));
	expect(refusal?.field).toBe(isRefused ? 'matchField' : undefined);
});

describe('a condition among the parameters of a wait', () => {
	const refusalFor = (typed: object) =>
		refusalOf(() => refuseMisplacedCondition(typed, 'resumeWhen'));

	test.each<{ name: string; typed: object }>([
		{ name: 'its own', typed: { resumeWhen: 'paid' } },
		{ name: 'none', typed: {} },
		{ name: 'its own, beside other options', typed: { resumeWhen: 'paid', options: { note: 1 } } },
		{ name: 'its own, and options that are an expression', typed: { options: '={{ $json }}' } },
	])('is read where it is $name', ({ typed }) => {
		expect(refusalFor(typed)).toBeUndefined();
	});

	test.each<{ name: string; typed: object; place: string }>([
		{ name: 'that of a trigger', typed: { startWhen: 'paid' }, place: 'startWhen' },
		{
			name: 'its own, under Options',
			typed: { options: { resumeWhen: 'paid' } },
			place: 'options.resumeWhen',
		},
		{
			name: 'that of a trigger, under Options',
			typed: { resumeWhen: 'paid', options: { startWhen: 'paid' } },
			place: 'options.startWhen',
		},
	])('is refused where it is $name', ({ typed, place }) => {
		expect(refusalFor(typed)?.field).toBe(place);
	});
});
