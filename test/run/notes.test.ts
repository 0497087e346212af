import type { INode } from 'n8n-workflow';
import { compareResponse, withoutLargeResponse } from '../../nodes/Pay/run/notes';
import { openTally } from '../../nodes/Pay/run/report';
import {
	otherAddressInResponse,
	otherAmountInResponse,
	otherIdInResponse,
} from '../../nodes/Pay/run/words';
import { OPERATIONS } from '../serviceOperations';

const TRIGGER = 'https://n8n.example.com/webhook/pay/postback';
const WAIT = 'https://n8n.example.com/webhook-waiting/7/pay';
const REQUEST = {
	external_id: 'order-7',
	amount: 41,
	postbackUrl: `${TRIGGER}?pay_proof=abc.def`,
};

/** What people are told of a response that accepts a request. */
function doubtsAbout(response: unknown, request: typeof REQUEST = REQUEST): string[] {
	const tally = openTally({ name: 'Pay' } as INode, OPERATIONS.qrCode, 1, false);
	compareResponse(tally, request, response);
	return [...tally.doubts];
}

test.each<[string, unknown]>([
	['nothing', {}],
	['a text', 'accepted'],
	['what the request said', { ...REQUEST }],
	['an empty amount and identifier', { amount: '', external_id: ' ' }],
	['the amount as text', { amount: '41.00' }],
	['an amount with a currency', { amount: { value: 4100, currency: 'EUR' } }],
	['no amount', { amount: null, external_id: null, postbackUrl: null }],
	['the right amount beside that of a fee', { amount: 41, fee: { amount: 0.5 } }],
	['the right amount below another one', { fee: { amount: 0.5 }, charges: [{ amount: 41 }] }],
	['the identifier with a space', { data: { external_id: ' order-7 ' } }],
	[
		'the URL as a URL writes it',
		{ postbackUrl: 'HTTPS://n8n.example.com:443/webhook/pay/postback' },
	],
	['the URL with its proof masked', { postbackUrl: `${TRIGGER}?pay_proof=***` }],
	['a URL that the service masks', { postbackUrl: 'https://n8n.example.com/***' }],
	['a URL that the service cuts off', { postbackUrl: 'https://n8n.example.com/webh...' }],
	['no URL', { postbackUrl: '' }],
])('a response with %s brings no doubt', (_, response) => {
	expect(doubtsAbout(response)).toStrictEqual([]);
});

const OTHER_AMOUNT = otherAmountInResponse('order-7', '4100', 41);
const OTHER_ID = otherIdInResponse('order-7', 'order-6');

test.each<[string, unknown, string]>([
	['another amount', { amount: 4100 }, OTHER_AMOUNT],
	['another amount as text', { amount: '4100' }, OTHER_AMOUNT],
	['another amount below the top', { data: { amount: 4100 } }, OTHER_AMOUNT],
	['another amount in a list', [{ charge: { amount: 4100 } }], OTHER_AMOUNT],
	[
		'an amount with a currency',
		{ amount: 'EUR 4100' },
		otherAmountInResponse('order-7', 'EUR 4100', 41),
	],
	['a decimal comma', { amount: '0,01' }, otherAmountInResponse('order-7', '0,01', 41)],
	['another identifier', { external_id: 'order-6' }, OTHER_ID],
	['another identifier below the top', { charge: { external_id: 'order-6' } }, OTHER_ID],
	[
		'the address of another wait',
		{ charge: { postbackUrl: `${WAIT}?signature=n8n-token` } },
		otherAddressInResponse('order-7', WAIT, TRIGGER),
	],
])('a response with %s: one doubt names both', (_, response, doubt) => {
	expect(doubtsAbout(response)).toStrictEqual([doubt]);
});

test('what is named may be as long as a response: a doubt has its beginning', () => {
	const long = '9'.repeat(300_000);
	const address = `https://shop.example.com/${long}`;
	const doubts = doubtsAbout({ amount: long, external_id: long, postbackUrl: address });
	expect(doubts).toHaveLength(3);
	for (const doubt of doubts) expect(doubt.length).toBeLessThan(600);
});

test('the responses of a run are kept up to 50 million characters', () => {
	const tally = openTally({ name: 'Pay' } as INode, OPERATIONS.payment, 3, true);
	// With the quotation marks that it has as JSON.
	const response = 'x'.repeat(25_000_000 - 2);
	const kept = [1, 2, 3].map(
		() => withoutLargeResponse(tally, { outcome: 'accepted', response }).response,
	);
	const left = '(left out: the responses of this run are too large to keep)';
	expect(kept.map((each) => each === response)).toStrictEqual([true, true, false]);
	expect(kept[2]).toBe(left);
});
