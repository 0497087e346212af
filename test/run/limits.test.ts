import type { Limits } from '../../nodes/Pay/account/account';
import { InputError } from '../../nodes/Pay/base/inputError';
import type { Ready } from '../../nodes/Pay/run/item';
import { beginAttempt, endAttempt } from '../../nodes/Pay/run/ledger';
import { judgeLimits } from '../../nodes/Pay/run/limits';
import {
	abovePayment,
	aboveSum,
	alsoOtherRecipient,
	membersMayChange as refusedMayChange,
	moreInRecipient,
	otherRecipient,
} from '../../nodes/Pay/run/refusals';
import { unitsOf } from '../../nodes/Pay/service/amounts';
import type { Meanings, ServiceRequest } from '../../nodes/Pay/service/contract';
import { OPERATIONS } from '../serviceOperations';
import { ledgerOf } from './ledgerOf';

/** A ledger of payments whose form has some values more. */
const ledgerWith = (more: Meanings) => {
	const { payment } = OPERATIONS;
	return ledgerOf({}, { operation: { ...payment, meanings: { ...payment.meanings, ...more } } });
};

/** An item as limits look at it. */
function item(
	request: Partial<ServiceRequest> & { [member: string]: unknown },
	limits: Limits | InputError,
	{ index = 0, accountId = 'account', tokenId = 'token' } = {},
): Ready {
	return {
		index,
		request: { external_id: `order-${index}`, amount: 1, ...request },
		account: { limits } as Ready['account'],
		accountId,
		tokenId,
		fingerprint: `${index}`,
		membersMayChange: false,
	};
}

/** What is refused of some items, by index. The sentence of each refusal is pinned in sentences.txt. */
const refused = (items: Ready[], ledger = ledgerOf()) =>
	[...judgeLimits(ledger, items)].map(([{ index }, refusal]) => [index, refusal]);

test('an account without limits lets everything out', () => {
	expect(refused([item({ amount: 1_000_000 }, {}), item({}, {})])).toStrictEqual([]);
});

test('limits that cannot be read let no payment out, and charges go on', () => {
	const unreadable = new InputError('highestSum', 'No money goes out', 'Correct it.');
	const items = [item({ amount: 1 }, unreadable)];
	expect([...judgeLimits(ledgerOf(), items)]).toStrictEqual([[items[0], unreadable]]);
	expect(refused(items, ledgerOf({}, { kind: 'qrCode' }))).toStrictEqual([]);
});

test('a payment may be as high as the highest, and no higher', () => {
	const limits = { highestPayment: 100 };
	expect(
		refused([
			item({ amount: 100 }, limits, { index: 0 }),
			item({ amount: 100.01 }, limits, { index: 1 }),
		]),
	).toStrictEqual([[1, abovePayment(unitsOf(100.01), 100)]]);
});

describe('only listed recipients are paid', () => {
	const limits = { onlyRecipients: new Set(['a@example.com', 'phone 123']) };
	test.each<{ name: string; creditParty: ServiceRequest['creditParty'] }>([
		{ name: 'a listed key', creditParty: { key: 'a@example.com' } },
		{ name: 'a listed key of any type', creditParty: { key: 'a@example.com', keyType: 'email' } },
		{ name: 'a listed key of its type', creditParty: { key: '123', keyType: 'phone' } },
	])('$name is paid', ({ creditParty }) => {
		expect(refused([item({ creditParty }, limits)])).toStrictEqual([]);
	});

	test.each<{ name: string; creditParty: ServiceRequest['creditParty'] }>([
		{ name: 'that key of another type', creditParty: { key: '123', keyType: 'document' } },
		{ name: 'that key of no type', creditParty: { key: '123' } },
		{ name: 'a listed key in another case', creditParty: { key: 'A@example.com' } },
		{ name: 'no key', creditParty: {} },
		{ name: 'a type alone', creditParty: { keyType: 'phone 123' } },
		{ name: 'nobody', creditParty: undefined },
	])('$name is not paid', ({ creditParty }) => {
		const refusal = otherRecipient(creditParty ?? {});
		expect(refused([item({ creditParty }, limits)])).toStrictEqual([[0, refusal]]);
	});

	const creditParty = { key: 'a@example.com' };

	test('members that an expression gives could name another recipient', () => {
		const changing = { ...item({ creditParty }, limits), membersMayChange: true };
		expect(refused([changing])).toStrictEqual([[0, refusedMayChange()]]);
		expect(refused([{ ...changing, account: item({}, {}).account }])).toStrictEqual([]);
	});

	test('so could a member inside the recipient that the form does not have', () => {
		const more = { creditParty: { ...creditParty, account: '1' } };
		expect(refused([item(more, limits)])).toStrictEqual([
			[0, moreInRecipient('creditParty.account')],
		]);
		expect(refused([item(more, {})])).toStrictEqual([]);
	});

	describe('members that the account lets vary', () => {
		const vary = { ...limits, variableMembers: new Set(['creditParty.taxId', 'note']) };
		const varied = (more: object) => item(more as never, vary);
		const changing = (more: object) => ({ ...varied(more), membersMayChange: true });
		const withTax = (taxId: unknown) => ({ creditParty: { ...creditParty, taxId } });

		test('may be set, by an expression too', () => {
			expect(refused([varied(withTax('123'))])).toStrictEqual([]);
			expect(refused([changing({ ...withTax('123'), note: 'x' })])).toStrictEqual([]);
			expect(refused([changing({ creditParty })])).toStrictEqual([]);
		});

		test.each<{ what: string; more: object; path: string }>([
			{
				what: 'another one of the recipient',
				more: { creditParty: { ...creditParty, account: '1' } },
				path: 'creditParty.account',
			},
			{
				what: 'one that is spelt alike',
				more: { creditParty: { ...creditParty, TaxId: '1' } },
				path: 'creditParty.TaxId',
			},
			{
				what: 'an object in the place of a value',
				more: withTax({ key: 'eve' }),
				path: 'creditParty.taxId.key',
			},
			{
				what: 'a list in the place of a value',
				more: withTax(['eve']),
				path: 'creditParty.taxId[]',
			},
		])('no member beside them may vary: $what', ({ more, path }) => {
			for (const each of [varied(more), changing(more)]) {
				expect(refused([each])).toStrictEqual([[0, moreInRecipient(path)]]);
			}
		});

		test.each<{ more: object; path: string }>([
			{ more: { destination: 'eve' }, path: 'destination' },
			{ more: { 'creditParty.taxId': 'eve' }, path: '"creditParty.taxId"' },
			{ more: { note: { to: 'eve' } }, path: 'note.to' },
		])('elsewhere $path is refused beside an expression alone', ({ more, path }) => {
			const request = { creditParty, ...more };
			expect(refused([changing(request)])).toStrictEqual([[0, refusedMayChange(path)]]);
			expect(refused([varied(request)])).toStrictEqual([]);
		});
	});

	test('every other value of the form that says where the money goes must be listed, too', () => {
		const more: Meanings = { account: 'recipient', 'parts[].to': 'recipient', label: 'identity' };
		const refusedWith = (request: object) =>
			refused([item({ creditParty, ...request }, limits)], ledgerWith(more));
		const listed = 'a@example.com';
		expect(refusedWith({ account: listed, parts: [{ to: listed }], label: 'eve' })).toStrictEqual(
			[],
		);
		expect(refusedWith({ account: 'eve' })).toStrictEqual([
			[0, alsoOtherRecipient('account', 'eve')],
		]);
		expect(refusedWith({ parts: [{ to: listed }, { to: 'eve' }] })).toStrictEqual([
			[0, alsoOtherRecipient('parts[].to', 'eve')],
		]);
	});

	test('what a person typed elsewhere goes out, whatever its name is', () => {
		expect(refused([item({ creditParty, contactName: 'Ana', clabe: '1' }, limits)])).toStrictEqual(
			[],
		);
	});
});

describe('the payments of one execution', () => {
	const limits = { highestSum: 100 };
	const tooMuch = (sum: number, limit = 100) =>
		aboveSum(OPERATIONS.payment.words, unitsOf(sum), limit);

	test('may come to the highest sum', () => {
		const items = [0, 1, 2].map((index) => item({ amount: 33.3 }, limits, { index }));
		expect(refused([...items, item({ amount: 0.1 }, limits, { index: 3 })])).toStrictEqual([]);
	});

	test('are all refused where they come to more', () => {
		const items = [60, 40.01].map((amount, index) => item({ amount }, limits, { index }));
		expect(refused(items)).toStrictEqual([
			[0, tooMuch(100.01)],
			[1, tooMuch(100.01)],
		]);
	});

	test('count by account and by pasted token', () => {
		const amount = 60;
		expect(
			refused([
				item({ amount }, limits, { index: 0 }),
				item({ amount }, limits, { index: 1, accountId: 'another' }),
				item({ amount }, limits, { index: 2, tokenId: 'another' }),
			]),
		).toStrictEqual([]);
	});

	test('obey the lowest of their limits', () => {
		expect(
			refused([
				item({ amount: 30 }, { highestSum: 100 }, { index: 0 }),
				item({ amount: 30 }, { highestSum: 50 }, { index: 1 }),
				item({ amount: 30 }, {}, { index: 2 }),
			]),
		).toStrictEqual([
			[0, tooMuch(90, 50)],
			[1, tooMuch(90, 50)],
			[2, tooMuch(90, 50)],
		]);
	});

	test('count every amount of the form', () => {
		const tip: Meanings = { tip: 'amount' };
		const both = { highestSum: 100, highestPayment: 50 };
		const ledger = ledgerWith(tip);
		const before = item({ amount: 40, tip: 9.5 }, both, { index: 0 });
		expect(refused([before], ledger)).toStrictEqual([]);
		const attempt = beginAttempt(ledger, before);
		expect(refused([item({ amount: 45, tip: 5.01 }, both, { index: 1 })], ledger)).toStrictEqual([
			[1, abovePayment(unitsOf(50.01), 50)],
		]);
		const next = item({ amount: 50, tip: 0.5 }, limits, { index: 1 });
		expect(refused([next], ledger)).toStrictEqual([]);
		const tooMany = item({ amount: 50, tip: 0.51 }, limits, { index: 1 });
		expect(refused([tooMany], ledger)).toStrictEqual([[1, tooMuch(100.01)]]);
		endAttempt(ledger, before, attempt, { outcome: 'rejected' });
		expect(refused([tooMany], ledger)).toStrictEqual([]);
	});

	test('count what went out before, and not one that is refused for itself', () => {
		const ledger = ledgerOf();
		const before = item({ amount: 70 }, limits, { index: 0 });
		endAttempt(ledger, before, beginAttempt(ledger, before), { outcome: 'accepted' });
		const both = { highestSum: 100, highestPayment: 50 };
		const items = [
			item({ amount: 60 }, both, { index: 1 }),
			item({ amount: 30 }, both, { index: 2 }),
		];
		expect(refused(items, ledger)).toStrictEqual([[1, abovePayment(unitsOf(60), 50)]]);
		expect(refused([item({ amount: 30.01 }, both, { index: 2 })], ledger)).toStrictEqual([
			[2, tooMuch(100.01)],
		]);
	});
});

test('a list of 130,000 payments is added up: more than a call takes as arguments', () => {
	const limits = { highestSum: 100 };
	const items = Array.from({ length: 130_000 }, (_, index) =>
		item({ amount: 1 }, limits, { index }),
	);
	expect(judgeLimits(ledgerOf(), items).size).toBe(130_000);
});
