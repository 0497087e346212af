import { InputError } from '../../nodes/Pay/inputError';
import {
	awaitedCharges,
	chargeAt,
	type ExpectationStore,
} from '../../nodes/Pay/postback/expectation';
import { verify, type Reference } from '../../nodes/Pay/postback/proof';
import { readPostbackTarget } from '../../nodes/Pay/postback/target';

const SECRET = 'the postback secret of the test';
const ABOUT: Reference = { external_id: 'a', kind: 'payment', amount: 1 };
const RESUME = 'https://n8n.example.com/webhook-waiting/42';

function target(
	postback: unknown,
	account: { postbackUrl?: string; postbackSecret?: string } = {},
	postbackUrl = 'https://field.example/',
	resumeUrl = `${RESUME}?signature=0123`,
) {
	const store: ExpectationStore = {};
	const execution = { id: '42', place: 'Pay, run 0, item 0', resumeUrl: () => resumeUrl, store };
	const read = (name: string) => ({ postback, postbackUrl })[name];
	return { ...readPostbackTarget(read, ABOUT, account, execution, false), store };
}

const CREDENTIAL = { postbackUrl: 'https://credential.example/' };
test.each<[unknown, { postbackUrl?: string }, object]>([
	['none', CREDENTIAL, {}],
	['credential', CREDENTIAL, { url: 'https://credential.example/' }],
	[
		'credential',
		{},
		{
			hint: expect.stringMatching(
				/^You will not be told when this is paid: the credential has no Postback URL\./,
			),
		},
	],
	['url', CREDENTIAL, { url: 'https://field.example/' }],
])('%j, with %j in the credential', (choice, account, expected) => {
	const { store: _store, ...found } = target(choice, account);
	expect(JSON.parse(JSON.stringify(found))).toStrictEqual(
		JSON.parse(JSON.stringify(found, Object.keys(expected))),
	);
	expect(found).toMatchObject(expected);
});

test.each(['somewhere', '', null, undefined])('%j is none of the choices', (choice) => {
	expect(() => target(choice)).toThrow(InputError);
	expect(() => target(choice)).toThrow(expect.objectContaining({ field: 'postback' }));
});

test('an address that is none is refused, wherever it comes from', () => {
	expect(() => target('credential', { postbackUrl: 'here' })).toThrow(InputError);
});

const proven = (url: string | undefined) =>
	verify(Object.fromEntries(new URL(url!).searchParams), [SECRET]);
const SIGNED = { ...CREDENTIAL, postbackSecret: SECRET };

test.each<[string, Parameters<typeof target>, boolean]>([
	['a resume URL', ['resume', SIGNED], true],
	['one that has no known form', ['resume', SIGNED, '', 'https://n8n.example.com/r'], true],
	['a resume URL from an expression', ['url', SIGNED, `${RESUME}?x=1`], true],
	['one in the credential', ['credential', { ...SIGNED, postbackUrl: RESUME }], true],
	["another execution's", ['url', SIGNED, 'https://n8n.example.com/webhook-waiting/43'], false],
	['it, as a proxy has it', ['url', SIGNED, 'https://a.example/n8n/webhook-waiting/42'], true],
	['one that ends like it', ['url', SIGNED, 'https://n8n.example.com/webhook/42'], false],
	['a trigger', ['credential', SIGNED], false],
])('%s: whether the execution may wait for it, and its proof names it', (_name, args, here) => {
	const { url, expect: expectPostback, store } = target(...args);
	const charge = chargeAt('Pay, run 0, item 0');
	expect(proven(url)).toStrictEqual(here ? { ...ABOUT, executionId: '42', charge } : ABOUT);
	expect(store).toStrictEqual({});
	expectPostback?.();
	expect(awaitedCharges(store, 'a', '42', [SECRET], () => false)).toStrictEqual(
		here ? [charge] : [],
	);
});

test('nothing waits for what is not signed: it is refused, or not written down', () => {
	expect(() => target('resume')).toThrow(/^The Pay API credential has no Postback Secret$/);
	expect(target('url', {}, RESUME).expect).toBeUndefined();
});
