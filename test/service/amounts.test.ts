import { amountIn, isSameAmount, type AmountUnit } from '../../nodes/Pay/service/amounts';

test.each<{ value: unknown; amount: number | undefined }>([
	{ value: 49.9, amount: 49.9 },
	{ value: '49.90', amount: 49.9 },
	{ value: ' +49.90 ', amount: 49.9 },
	{ value: '10.500', amount: 10.5 },
	{ value: '12,50', amount: 12.5 },
	{ value: '12,5', amount: 12.5 },
	{ value: '1.250,00', amount: 1250 },
	{ value: '1,250.00', amount: 1250 },
	{ value: '1,250,000', amount: 1_250_000 },
	{ value: 'R$ 12,50', amount: 12.5 },
	{ value: 'R$ 1.250,00', amount: 1250 },
	{ value: '€12.50', amount: 12.5 },
	{ value: '12,50 EUR', amount: 12.5 },
	{ value: 0, amount: 0 },
	{ value: '1,250', amount: undefined },
	{ value: 'R$ 1,250', amount: undefined },
	{ value: '12,', amount: undefined },
	{ value: ',50', amount: undefined },
	{ value: '12,50,00', amount: undefined },
	{ value: '12.50.00', amount: undefined },
	{ value: '1.2,50', amount: undefined },
	{ value: '-1', amount: undefined },
	{ value: -1, amount: undefined },
	{ value: '49.', amount: undefined },
	{ value: '.5', amount: undefined },
	{ value: '1e3', amount: undefined },
	{ value: 'twelve', amount: undefined },
	{ value: 'EUR', amount: undefined },
	{ value: '', amount: undefined },
	{ value: null, amount: undefined },
	{ value: true, amount: undefined },
	{ value: [5], amount: undefined },
	{ value: NaN, amount: undefined },
	{ value: Infinity, amount: undefined },
	{ value: 0.1 + 0.2, amount: undefined },
	{ value: '1'.repeat(41), amount: undefined },
	{ value: '9007199254740993', amount: undefined },
])('$value of a service is the amount $amount', ({ value, amount }) => {
	expect(amountIn(value)).toBe(amount);
});

test.each<{ value: unknown; amount: number; unit?: AmountUnit; expected: boolean }>([
	{ value: '49.90', amount: 49.9, expected: true },
	{ value: '49.91', amount: 49.9, expected: false },
	{ value: 'R$ 49,90', amount: 49.9, expected: true },
	{ value: '1,250', amount: 1250, expected: false },
	{ value: '1,250', amount: 1.25, expected: false },
	{ value: '', amount: 0, expected: false },
	{ value: null, amount: 0, expected: false },
	{ value: 435, amount: 4.35, unit: 'hundredths', expected: true },
	{ value: '435', amount: 4.35, unit: 'hundredths', expected: true },
	{ value: '435.00', amount: 4.35, unit: 'hundredths', expected: true },
	{ value: 434, amount: 4.35, unit: 'hundredths', expected: false },
	{ value: 4.35, amount: 4.35, unit: 'hundredths', expected: false },
	{ value: 435.5, amount: 4.35, unit: 'hundredths', expected: false },
	{ value: 1250, amount: 1250, unit: 'hundredths', expected: false },
	{ value: 1250, amount: 12.5, expected: false },
])('$value is the amount $amount ($unit): $expected', ({ value, amount, unit, expected }) => {
	expect(isSameAmount(value, amount, unit)).toBe(expected);
});

test('every amount of two places is its hundredths, which no float times 100 is', () => {
	expect(4.35 * 100).not.toBe(435);
	for (let cents = 1; cents <= 100_000; cents++) {
		const amount = cents / 100;
		if (isSameAmount(cents, amount, 'hundredths') && amountIn(cents, 'hundredths') === amount)
			continue;
		throw new Error(`${cents} hundredths are not ${amount}`);
	}
});
