import { readAccount } from '../nodes/Pay/account/account';
import { readDescription } from '../nodes/Pay/account/describe';
import { headerFault, readSenderRule } from '../nodes/Pay/account/sender';
import { judge, type ResponseWords } from '../nodes/Pay/service/client';
import { claimsOf, STATES, type StatusWords } from '../nodes/Pay/service/state';
import { enteredAs, inventedService } from './inventedService';
import { read } from './markdown';
import { judgedPostback, postbackOf } from './postback/postbackOf';

/*
 * The three services of docs/example-services.md and the tables of docs/describe-a-service.md, read from the pages:
 * a person who enters what they say gets what their words promise.
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
	return judgedPostback(postbackOf(body, { headers }), reference, words);
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

/** A table of the section "Two fields together": the fields that its sentence enters, and its rows. */
function tableOf(title: string) {
	const text = read('docs/describe-a-service.md').split(`**${title}.**`)[1]!;
	const [sentence = '', ...parts] = text.split('\n\n');
	const fields = sentence.matchAll(/_([^_]+)_\s+is\s+`([^`]+)`/g);
	const credential: Record<string, unknown> = { describeService: true };
	for (const [, label, value] of fields) credential[enteredAs(label!)] = value;
	const lines = parts[0]!.split('\n').map((line) => {
		return [...line.matchAll(/`([^`]+)`/g)].map(([, cell]) => cell!);
	});
	const [names = [], , ...rows] = lines;
	return {
		words: readDescription(credential).statusWords,
		rows: rows.map((cells) => Object.fromEntries(cells.map((cell, at) => [names[at], cell]))),
	};
}

describe.each([
	{ title: 'An event beside yes or no', count: 8 },
	{ title: 'Two statuses', count: 5 },
	{ title: 'A test mode', count: 2 },
])('Two fields together: $title', ({ title, count }) => {
	const { words, rows } = tableOf(title);

	test('has all its rows, and more than a status', () => {
		expect(rows).toHaveLength(count);
		expect(words?.required).toHaveLength(1);
	});

	test.each(rows)('%j is what the page says', ({ state, ...body }) => {
		expect(stateIn(words, CHARGE, body)).toBe(state);
		// JSON has a real true where a form has the word.
		const asJson = JSON.parse(JSON.stringify(body).replace(/"(true|false)"/g, '$1')) as object;
		expect(stateIn(words, CHARGE, asJson)).toBe(state);
	});
});

describe('the pages say of the states what the code makes of them', () => {
	const rowOf = (page: string, first: string) =>
		read(page)
			.split('\n')
			.find((line) => line.startsWith(`| ${first}`)) ?? '';

	test.each([...STATES])('$state', ({ state, isFinal }) => {
		expect(rowOf('docs/after-paid.md', `\`${state}\``)).not.toBe('');
		expect(rowOf('docs/waits-and-triggers.md', '`state`')).toContain(`\`${state}\``);
		const condition = rowOf('docs/waits-and-triggers.md', '_When Paid or Failed_');
		expect(condition.includes(`\`${state}\``)).toBe(isFinal);
	});
});
