import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PayApi } from '../credentials/PayApi.credentials';
import { readAccount } from '../nodes/Pay/credential/connection';
import { Sources } from '../nodes/Pay/service/fieldMatch';
import { judge, type ResponseWords } from '../nodes/Pay/service/judgement';
import { stateOf, type Proven, type StatusWords } from '../nodes/Pay/service/postbackState';

/*
 * The two invented services of docs/connect.md, read from the page: a person who enters what its tables
 * say gets what its words promise.
 */
const PAGE = readFileSync(join(__dirname, '..', 'docs', 'connect.md'), 'utf8');

interface Invented {
	credential: Record<string, unknown>;
	bodies: unknown[];
}

/** The values of a cell: code type, or the name of a choice; a field takes several one a line. */
function valueIn(cell: string): string {
	const typed = [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text);
	return typed.join('\n');
}

/** What the page says of a service: its table as a credential, and the bodies that it sends. */
function invented(name: string): Invented {
	const section = PAGE.split(/^### /m).find((each) => each.startsWith(`${name}:`)) ?? '';
	const credential: Record<string, unknown> = {
		accessToken: 'token',
		describeService: true,
	};
	for (const [, label, cell] of section.matchAll(/^\| _([^|]+)_ +\| (.+?) +\|$/gm)) {
		const field = new PayApi().properties.find(({ displayName }) => displayName === label);
		if (field === undefined) throw new Error(`The credential has no field ${label}.`);
		const choice = field.options?.find((each) => cell === `_${each.name}_`);
		if (choice && 'value' in choice) credential[field.name] = choice.value;
		else if (valueIn(cell!) !== '') credential[field.name] = valueIn(cell!);
	}
	const bodies = [...section.matchAll(/```json\n(.*?)```/gs)].map(([, text]): unknown =>
		JSON.parse(text!),
	);
	return { credential, bodies };
}

const stateIn = (words: StatusWords, proven: object, body: unknown) =>
	stateOf(words, proven as Proven, new Sources(body)).state;

const CHARGE = { external_id: 'order-1042', amount: 49.9 };
const PAYMENT = { external_id: 'invoice-2041', amount: 12.5 };

test('Plain: its postback says that the charge is paid, and nothing of another one', () => {
	const { credential, bodies } = invented('Plain');
	const account = readAccount(credential);
	expect(account).toMatchObject({ baseUrl: 'https://api.plain.example', schemeName: 'fast' });
	const status = account.statusWords as StatusWords;
	const [body] = bodies;
	expect(stateIn(status, CHARGE, body)).toBe('paid');
	expect(stateIn(status, PAYMENT, body)).toBe('other');
	const cheaper = { external_id: 'order-1042', amount: 59.9 };
	expect(stateIn(status, cheaper, body)).toBe('otherAmount');
});

test('Layered: a 200 that says no is no acceptance, a charge is paid, a payment came back', () => {
	const { credential, bodies } = invented('Layered');
	const client = { clientId: 'shop', clientSecret: 'secret of the shop' };
	const account = readAccount({ ...credential, ...client });
	expect(account).toMatchObject({
		schemeName: 'instant',
		externalIdHeader: 'Idempotency-Key',
		token: { clientCredentials: { sendIn: 'json' } },
	});
	const [refused, charge, payment] = bodies;
	expect(judge(account.responseWords as ResponseWords, refused)?.means).toBe('rejected');
	const status = account.statusWords as StatusWords;
	expect(stateIn(status, CHARGE, charge)).toBe('paid');
	expect(stateIn(status, PAYMENT, payment)).toBe('failed');
});
