import { readAccount } from '../nodes/Pay/credential/connection';
import { headerFault, readSenderRule } from '../nodes/Pay/credential/sender';
import { judgePostback } from '../nodes/Pay/postback/match';
import { judge, type ResponseWords } from '../nodes/Pay/service/judgement';
import { claimsOf, type StatusWords } from '../nodes/Pay/service/postbackState';
import { inventedService } from './inventedService';
import { postbackOf } from './postback/postbackOf';

/*
 * The three invented services of docs/credential.md, read from the page: a person who enters what its tables
 * say gets what its words promise.
 */

const CHARGE = { external_id: 'order-1042', amount: 49.9, kind: 'qrCode' };
const PAYMENT = { external_id: 'invoice-2041', amount: 12.5, kind: 'payment' };

/** A postback with a body, as it is judged. */
function judged(
	words: StatusWords | undefined,
	reference: typeof CHARGE | null,
	body: unknown,
	headers = {},
) {
	return judgePostback(postbackOf(body, { headers }), reference, words);
}

const stateIn = (...all: Parameters<typeof judged>) => judged(...all).verdict?.state;

test('Listed: of a list the entry of the order counts, and after a refund it is refunded', () => {
	const { credential, bodies } = inventedService('Listed');
	const { statusWords, ...account } = readAccount(credential);
	expect(account).toMatchObject({ baseUrl: 'https://api.listed.example', schemeName: 'fast' });
	const [paid, refunded] = bodies;
	expect(stateIn(statusWords, CHARGE, paid)).toBe('paid');
	expect(stateIn(statusWords, { ...CHARGE, amount: 12.5 }, paid)).toBe('otherAmount');
	expect(stateIn(statusWords, PAYMENT, paid)).toBe('other');
	expect(stateIn(statusWords, CHARGE, refunded)).toBe('refunded');
});

test('Cents: its secret header is checked, its event stands in a header, 4990 is 49.90', () => {
	const { credential, bodies } = inventedService('Cents');
	const withSecret = { ...credential, secretHeaderValue: 'the secret' };
	const { statusWords } = readAccount(withSecret);
	const sender = readSenderRule(withSecret)!;
	expect(headerFault(sender, { 'x-cents-token': 'the secret' })).toBeUndefined();
	expect(headerFault(sender, { 'x-cents-token': 'another' })).toBeDefined();
	const [body] = bodies;
	const state = (event: string) => stateIn(statusWords, CHARGE, body, { 'x-event': event });
	expect(state('charge.paid')).toBe('paid');
	expect(state('charge.expired')).toBe('failed');
	expect(state('charge.created')).toBe('other');
	const { sources } = judged(statusWords, null, body, { 'x-event': 'charge.paid' });
	expect(claimsOf(statusWords!, sources)).toMatchObject([
		{ claimed: { external_id: 'order-1042', amount: 49.9 }, verdict: { state: 'paid' } },
	]);
});

test('Layered: a 200 that says no is no acceptance, a charge is paid, a payment came back', () => {
	const { credential, bodies } = inventedService('Layered');
	const secrets = {
		clientId: 'shop',
		clientSecret: 'secret of the shop',
		signatureSecret: 'secret of the service',
	};
	const account = readAccount({ ...credential, ...secrets });
	expect(account).toMatchObject({
		schemeName: 'instant',
		externalIdHeader: 'Idempotency-Key',
		token: { clientCredentials: { sendIn: 'json' } },
	});
	expect(readSenderRule({ ...credential, ...secrets })).toMatchObject({
		is: 'signature',
		forms: [{ timestampHeader: 'x-layered-timestamp' }],
	});
	const [refused, charge, payment] = bodies;
	expect(judge(account.responseWords as ResponseWords, refused)?.means).toBe('rejected');
	expect(stateIn(account.statusWords, CHARGE, charge)).toBe('paid');
	expect(stateIn(account.statusWords, PAYMENT, payment)).toBe('failed');
});
