import { readAccount } from '../nodes/Pay/credential/connection';
import { headerFault, readSenderRule } from '../nodes/Pay/credential/sender';
import { judgePostback } from '../nodes/Pay/postback/match';
import { parsePostback } from '../nodes/Pay/postback/postback';
import { judge, type ResponseWords } from '../nodes/Pay/service/judgement';
import { claimsOf, type StatusWords } from '../nodes/Pay/service/postbackState';
import { inventedService } from './inventedService';

/*
 * The three invented services of docs/credential.md, read from the page: a person who enters what its tables
 * say gets what its words promise.
 */

const CHARGE = { external_id: 'order-1042', amount: 49.9, kind: 'qrCode' };
const PAYMENT = { external_id: 'invoice-2041', amount: 12.5, kind: 'payment' };

/** A postback with a body, as it is judged. */
async function judged(
	words: StatusWords | undefined,
	reference: typeof CHARGE | null,
	body: unknown,
	headers = {},
) {
	const request = { method: 'POST', query: {}, headers };
	const postback = await parsePostback(request, Buffer.from(JSON.stringify(body)), {
		isSignedByService: false,
	});
	return judgePostback(postback, reference, words);
}

const stateIn = async (...all: Parameters<typeof judged>) => (await judged(...all)).verdict?.state;

test('Listed: of a list the entry of the order counts, and after a refund it is refunded', async () => {
	const { credential, bodies } = inventedService('Listed');
	const { statusWords, ...account } = readAccount(credential);
	expect(account).toMatchObject({ baseUrl: 'https://api.listed.example', schemeName: 'fast' });
	const [paid, refunded] = bodies;
	expect(await stateIn(statusWords, CHARGE, paid)).toBe('paid');
	expect(await stateIn(statusWords, { ...CHARGE, amount: 12.5 }, paid)).toBe('otherAmount');
	expect(await stateIn(statusWords, PAYMENT, paid)).toBe('other');
	expect(await stateIn(statusWords, CHARGE, refunded)).toBe('refunded');
});

test('Cents: its secret header is checked, its event stands in a header, 4990 is 49.90', async () => {
	const { credential, bodies } = inventedService('Cents');
	const withSecret = { ...credential, secretHeaderValue: 'the secret' };
	const { statusWords } = readAccount(withSecret);
	const sender = readSenderRule(withSecret)!;
	expect(headerFault(sender, { 'x-cents-token': 'the secret' })).toBeUndefined();
	expect(headerFault(sender, { 'x-cents-token': 'another' })).toBeDefined();
	const [body] = bodies;
	const state = async (event: string) =>
		await stateIn(statusWords, CHARGE, body, { 'x-event': event });
	expect(await state('charge.paid')).toBe('paid');
	expect(await state('charge.expired')).toBe('failed');
	expect(await state('charge.created')).toBe('other');
	const { sources } = await judged(statusWords, null, body, { 'x-event': 'charge.paid' });
	expect(claimsOf(statusWords!, sources)).toMatchObject([
		{ claimed: { external_id: 'order-1042', amount: 49.9 }, verdict: { state: 'paid' } },
	]);
});

test('Layered: a 200 that says no is no acceptance, a charge is paid, a payment came back', async () => {
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
		timestampHeader: 'x-layered-timestamp',
	});
	const [refused, charge, payment] = bodies;
	expect(judge(account.responseWords as ResponseWords, refused)?.means).toBe('rejected');
	expect(await stateIn(account.statusWords, CHARGE, charge)).toBe('paid');
	expect(await stateIn(account.statusWords, PAYMENT, payment)).toBe('failed');
});
