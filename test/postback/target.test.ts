import {
	awaitedRequests,
	type ExpectationStore,
	recordExpectation,
} from '../../nodes/Pay/postback/waiting';
import {
	hashOfRandomProof,
	randomProof,
	type Reference,
	verify,
} from '../../nodes/Pay/postback/proof';
import { readPostbackTarget } from '../../nodes/Pay/postback/target';
import { refusalOf } from '../refusal';

const SECRET = 'the postback secret of the test';
const ABOUT: Reference = { external_id: 'a', kind: 'payment', amount: 1 };
const RESUME = 'https://n8n.example.com/webhook-waiting/42';

function target(
	postback: unknown,
	account: Parameters<typeof readPostbackTarget>[2] = {},
	postbackUrl = 'https://field.example/',
	resumeUrl = `${RESUME}?signature=0123`,
) {
	const store: ExpectationStore = {};
	const execution = { id: '42', resumeUrl: () => resumeUrl, proofFor: randomProof };
	const read = (name: string) => ({ postback, postbackUrl })[name];
	return { ...readPostbackTarget(read, ABOUT, account, execution, false, 0), store };
}

const CREDENTIAL = { postbackUrl: 'https://credential.example/' };
test.each<{ choice: unknown; account: { postbackUrl?: string }; expected: object }>([
	{ choice: 'none', account: CREDENTIAL, expected: {} },
	{
		choice: 'credential',
		account: CREDENTIAL,
		expected: { url: 'https://credential.example/', hint: undefined },
	},
	{
		choice: 'credential',
		account: {},
		expected: {
			hint: "You will not be told what becomes of this: the credential has no Postback URL. Add a Pay Trigger and paste its Production URL there. If you entered that URL in your service's dashboard instead, choose No Postback.",
		},
	},
	{
		choice: 'url',
		account: CREDENTIAL,
		expected: { url: 'https://field.example/', hint: undefined },
	},
])(
	'the choice $choice with $account in the credential gives $expected',
	({ choice, account, expected }) => {
		const { store: _store, ...found } = target(choice, account);
		expect(found).toStrictEqual(expected);
	},
);

test.each([
	{ choice: 'somewhere', shown: '"somewhere"' },
	{ choice: undefined, shown: 'undefined' },
])('$choice is none of the choices', ({ choice, shown }) => {
	expect(refusalOf(() => target(choice))).toMatchObject({
		field: 'postback',
		message: `Postback must be one of credential, none, resume, url, but is ${shown}`,
		advice: 'Choose one from the list.',
	});
});

test('an address that is none is refused, wherever it comes from', () => {
	expect(refusalOf(() => target('credential', { postbackUrl: 'here' }))).toBeDefined();
	expect(refusalOf(() => target('url', {}, 'here'))).toBeDefined();
});

test('the URL of a trigger without a secret gets a hint, and one with a secret none', () => {
	const postbackUrl = 'https://n8n.example.com/webhook/7/postback';
	const unsigned = target('credential', { postbackUrl });
	expect(typeof unsigned.hint).toBe('string');
	expect(target('credential', { postbackUrl, postbackSecret: SECRET }).hint).toBeUndefined();
});

test('what an execution may wait for has the words of its account, and whether it is signed', () => {
	const status = { field: ['status'], paid: ['paid'], failed: [] };
	const hash = expect.any(String) as unknown;
	const expected = { is: 'request', ...ABOUT, executionId: '42', hash, status };
	expect(target('resume', { statusWords: status }).expectation).toStrictEqual(expected);
	expect(target('resume', { statusWords: status, checksSender: false }).expectation).toStrictEqual(
		expected,
	);
	expect(target('resume', { statusWords: status, checksSender: true }).expectation).toStrictEqual({
		...expected,
		isSigned: true,
	});
});

const BY_PROXY = 'https://a.example/n8n/webhook-waiting/42?signature=0123';
const SIGNED = { ...CREDENTIAL, postbackSecret: SECRET };

test.each<{ name: string; args: Parameters<typeof target>; here: boolean }>([
	{ name: 'a resume URL', args: ['resume', SIGNED], here: true },
	{ name: 'a resume URL, and no secret', args: ['resume', {}], here: true },
	{
		name: 'one that has no known form',
		args: ['resume', SIGNED, '', 'https://n8n.example.com/r'],
		here: true,
	},
	{
		name: 'a resume URL from an expression',
		args: ['url', SIGNED, `${RESUME}?signature=0123&x=1`],
		here: true,
	},
	{
		name: 'a resume URL from an expression, and no secret',
		args: ['url', {}, `${RESUME}?signature=0123`],
		here: true,
	},
	{
		name: 'one of n8n 1, with a parameter',
		args: ['url', SIGNED, `${RESUME}?x=1`, RESUME],
		here: true,
	},
	{
		name: 'one in the credential',
		args: ['credential', { postbackUrl: RESUME }, '', RESUME],
		here: true,
	},
	{
		name: "another execution's",
		args: ['url', SIGNED, 'https://n8n.example.com/webhook-waiting/43'],
		here: false,
	},
	{ name: 'it, as a proxy has it', args: ['url', SIGNED, BY_PROXY], here: true },
	{
		name: 'one that ends like it',
		args: ['url', SIGNED, 'https://n8n.example.com/webhook/42'],
		here: false,
	},
	{ name: 'a trigger', args: ['credential', SIGNED], here: false },
])('a postback to $name is proven by what this execution keeps: $here', ({ args, here }) => {
	const { url, expectation, store } = target(...args);
	const query = Object.fromEntries(new URL(url!).searchParams);
	expect(verify(query, [SECRET])).toStrictEqual(here ? null : ABOUT);
	expect(store).toStrictEqual({});
	if (expectation) recordExpectation(store, expectation);
	const hashes = awaitedRequests(store, 'a', '42', () => false).map(({ hash }) => hash);
	expect(hashes).toStrictEqual(here ? [hashOfRandomProof(query)] : []);
});

const HERE = `${RESUME}/pay-postback`;
test.each<{ name: string; args: Parameters<typeof target>; before: string }>([
	{ name: 'as n8n 2 gives it', args: ['resume', SIGNED], before: `${HERE}?signature=0123&` },
	{ name: 'as n8n 1 gives it', args: ['resume', SIGNED, '', RESUME], before: `${HERE}?` },
	{
		name: 'typed, with a parameter and a fragment',
		args: ['url', SIGNED, `${RESUME}?signature=0123&to=a/b#c?d`],
		before: `${HERE}?signature=0123&to=a/b&`,
	},
	{
		name: 'in capitals',
		args: ['url', SIGNED, 'HTTPS://A.example/webhook-waiting/42?x', RESUME],
		before: `HTTPS://A.example/webhook-waiting/42/pay-postback?x&`,
	},
	{ name: 'with the segment typed too', args: ['url', SIGNED, HERE, RESUME], before: `${HERE}?` },
	{
		name: 'no execution: a trigger',
		args: ['credential', SIGNED],
		before: 'https://credential.example/?',
	},
])('a resume URL gets a segment that only a Pay wait listens at: $name', ({ args, before }) => {
	const { url } = target(...args);
	expect(url!.split('pay_proof=')[0]).toBe(before);
});

test.each<{ name: string; args: Parameters<typeof target> }>([
	{ name: 'a parameter that begins with ?', args: ['url', SIGNED, `${RESUME}?signature=0123?x=1`] },
	{ name: '? alone', args: ['url', SIGNED, `${RESUME}?signature=0123?`] },
	{ name: 'no token, as a credential gives it', args: ['credential', { postbackUrl: RESUME }] },
])('a resume URL that n8n 2 takes no call to is refused: $name', ({ args }) => {
	expect(refusalOf(() => target(...args))).toMatchObject({
		field: 'postbackUrl',
		message:
			"The postback URL is this execution's resume URL, but n8n's token in it is missing or was changed",
		advice: 'Choose "Resume This Execution" as Postback. To append parameters, begin them with &.',
	});
});

test('what an execution keeps of its resume URLs proves nothing, and no two are alike', () => {
	const two = [target('resume', SIGNED), target('resume', SIGNED)];
	expect(new Set(two.map(({ url }) => url)).size).toBe(2);
	for (const { url, expectation, store } of two) {
		if (expectation) recordExpectation(store, expectation);
		const mac = url!.split('pay_proof=').at(-1)!;
		expect(mac).toHaveLength(22);
		expect(JSON.stringify(store)).not.toContain(mac);
		const [request] = awaitedRequests(store, 'a', '42', () => false);
		const forged = url!.replace(mac, request!.hash);
		const query = Object.fromEntries(new URL(forged).searchParams);
		expect(hashOfRandomProof(query)).not.toBe(request!.hash);
	}
});
