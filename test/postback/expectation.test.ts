import { expectationOf, isExpected } from '../../nodes/Pay/postback/expectation';
import type { Reference } from '../../nodes/Pay/postback/proof';

const ABOUT: Reference = { external_id: 'a', kind: 'payment', amount: 500 };
const ITEM = { external_id: 'a', kind: 'payment', amount: 500 };

test.each([
	['its own postback', ITEM, ABOUT, true],
	["another's", ITEM, { ...ABOUT, external_id: 'b' }, false],
	["the charge's, with the same external_id", ITEM, { ...ABOUT, kind: 'qrCode' }, false],
	['one for another amount', ITEM, { ...ABOUT, amount: 0.01 }, false],
	['its own, with the amount as text', { ...ITEM, amount: '500.00' }, ABOUT, true],
	['one for another amount, as text', { ...ITEM, amount: '500.01' }, ABOUT, false],
	[
		'its own, with a number as external_id',
		{ ...ITEM, external_id: 7 },
		{ ...ABOUT, external_id: '7' },
		true,
	],
	[
		'one for another amount, where the item has no id',
		{ amount: 500 },
		{ ...ABOUT, amount: 1 },
		false,
	],
	["a payment's, where a charge waits", { ...ITEM, kind: 'qrCode' }, ABOUT, false],
	[
		"a charge's, where a charge waits",
		{ ...ITEM, kind: 'qrCode' },
		{ ...ABOUT, kind: 'qrCode' },
		true,
	],
	['its own, with a list as amount', { ...ITEM, amount: [1] }, ABOUT, true],
	['its own, with true as amount', { ...ITEM, amount: true }, ABOUT, true],
	['its own, with an amount of 0', { ...ITEM, amount: 0 }, ABOUT, true],
	['its own, where the item has no kind and amount', { external_id: 'a' }, ABOUT, true],
	['its own, where they are something else', { kind: 'shoe', amount: 'R$ 5' }, ABOUT, true],
	["its own, where the item is another's", { ...ITEM, external_id: 'x', amount: 1 }, ABOUT, true],
] as Array<[string, Record<string, unknown>, Reference, boolean]>)(
	'a waiting item and %s',
	(_name, item, reference, expected) => {
		const waited = item.external_id === 7 ? '7' : 'a';
		expect(isExpected(expectationOf(waited, item), reference)).toBe(expected);
	},
);
