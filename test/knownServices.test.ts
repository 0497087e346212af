import { createHmac } from 'node:crypto';
import { readAccount } from '../nodes/Pay/account/account';
import { readSenderRule, signatureFault } from '../nodes/Pay/account/sender';
import { PayApi } from '../credentials/PayApi.credentials';
import { enteredAs } from './inventedService';
import { read, rowsIn } from './markdown';
import { judgedPostback, postbackOf } from './postback/postbackOf';

/*
 * docs/known-services.md, read as a person does who enters a column: its values and the public shapes of postbacks
 * lead to the states that the page names. Nobody has tried whether a provider still sends these shapes.
 */

const PAGE = read('docs/known-services.md');
const COLUMNS = ['BSPay', 'PixUp', 'EzzeBank'] as const;

const codesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);

/** The credential of a column, with a client and a secret. */
function credentialOf(column: (typeof COLUMNS)[number]): Record<string, unknown> {
	const credential: Record<string, unknown> = {
		describeService: true,
		clientId: 'client==',
		clientSecret: 'secret',
		signatureSecret: 'secret of the service',
	};
	for (const [label = '', ...cells] of rowsIn(PAGE)) {
		const [, name] = /^_(.+)_$/.exec(label) ?? [];
		if (name === undefined) continue;
		const cell = cells[COLUMNS.indexOf(column)]!;
		const field = new PayApi().properties.find(({ displayName }) => displayName === name);
		const choice = field?.options?.find((each) => cell === `_${each.name}_`);
		if (choice !== undefined && 'value' in choice) credential[enteredAs(name)] = choice.value;
		else if (codesIn(cell).length > 0) credential[enteredAs(name)] = codesIn(cell).join('\n');
	}
	return credential;
}

test.each(COLUMNS)('%s: its column is a credential whose client goes out in a header', (column) => {
	const account = readAccount(credentialOf(column));
	expect(account).toMatchObject({
		schemeName: 'pix',
		token: { clientCredentials: { sendIn: 'header', clientId: 'client==' } },
	});
	expect(account.statusWords?.amountUnit).toBe('same');
});

/** The rows of "What a postback says": a body, and its state at the two platforms. */
const SHAPES = rowsIn(PAGE)
	.map((cells) => cells.map((cell) => codesIn(cell)[0] ?? ''))
	.filter(([body = '']) => body.startsWith('{"status'))
	.flatMap(([body = '', ofBspay, ofEzzebank]) => [
		{ column: 'BSPay' as const, body, state: ofBspay },
		{ column: 'PixUp' as const, body, state: ofBspay },
		{ column: 'EzzeBank' as const, body, state: ofEzzebank },
	]);

test('the page has five shapes of a postback', () => {
	expect(SHAPES).toHaveLength(5 * COLUMNS.length);
});

test.each(SHAPES)('$column: $body is $state, wrapped and not', ({ column, body, state }) => {
	const { statusWords } = readAccount(credentialOf(column));
	const reference = { external_id: 'order-1042', amount: 49.9, kind: 'payment' };
	const members = {
		transactionId: 't1',
		external_id: 'order-1042',
		amount: 49.9,
		...(JSON.parse(body) as object),
	};
	const stateOf = (sent: unknown) =>
		judgedPostback(postbackOf(sent), reference, statusWords).verdict?.state;
	expect([stateOf(members), stateOf({ requestBody: members })]).toStrictEqual([state, state]);
	expect(stateOf({ ...members, external_id: 'order-1' })).toBe('other');
});

test('EzzeBank: a body that is signed as the page says is genuine, and another one is not', () => {
	const rule = readSenderRule(credentialOf('EzzeBank'));
	if (rule?.is !== 'signature') throw new Error('The column checks no signature.');
	const body = Buffer.from('{"statusCode":{"statusId":2}}');
	const time = Math.floor(Date.now() / 1000);
	const mac = createHmac('sha256', 'secret of the service').update(`${time}.`).update(body);
	const headers = { 'verify-signature': `t=${time},vsign=${mac.digest('hex')}` };
	const request = { headers, method: 'POST', path: '/' };
	expect(signatureFault(rule, request, body)).toBeUndefined();
	expect(signatureFault(rule, request, Buffer.from('{}'))).toBeDefined();
});
