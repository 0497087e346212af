import type { IDataObject } from 'n8n-workflow';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import { RECIPIENT } from '../../dev/workflow';
import { FULL_FORMS, KINDS, TYPED_PATHS, withValue } from '../serviceOperations';
import { hookContext } from '../contexts';
import { hintsOf, outputOf, pay, sandbox, withSandbox } from './engine';

withSandbox();

const ITEM = {
	nul: null,
	empty: '',
	blank: '  ',
	obj: { a: 1 },
	cpf: 1234567890,
	to: { key: 'ana' },
};
const NOPE = '={{ $json.nope }}';
const OBJECT = '=x{{ String($json.obj) }}';
const WORD = '={{ String($json.nope) }}';
const qr = (more: IDataObject) => ({ resource: 'qrCode', ...more });
const fields = (split: unknown) => qr({ specifySplit: 'fields', split } as IDataObject);
/** A split of one recipient. */
const shared = (recipient: IDataObject) =>
	fields({ recipient: [{ percentageSplit: 1, ...recipient }] });
const json = (splitJson: string) => qr({ specifySplit: 'json', splitJson });
const to = (creditParty: unknown) => ({ creditParty }) as IDataObject;
const extra = (additionalMembers: string) => ({ options: { additionalMembers } });

/** Runs the node with parameters that n8n itself resolves: what it gives, and what was sent. */
async function valuesOf(parameters: IDataObject, type = 'n8n-nodes-pay.pay') {
	const run = await pay([ITEM], {
		parameters: { amount: 5, external_id: 'a', postback: 'none', ...parameters },
		settings: { onError: 'continueErrorOutput', type },
	});
	const error = outputOf(run, 'Pay', 0, 1)[0]?.json.error as IDataObject | undefined;
	const [sent] = sandbox.received.map(({ body }) => JSON.parse(body) as IDataObject);
	return { error, sent, hints: hintsOf(run) };
}

// What else a field refuses: test/fields.
test.each<{ what: string; parameters: IDataObject; field: string }>([
	{
		what: 'a recipient as one expression',
		parameters: to('={{ $json.to }}'),
		field: 'creditParty',
	},
	{ what: 'a recipient as one expression of nothing', parameters: to(NOPE), field: 'creditParty' },
	{ what: 'a recipient with another member', parameters: to({ Key: 'ana' }), field: 'creditParty' },
	{
		what: 'options as one expression',
		parameters: { options: '={{ { timeout: 9 } }}' },
		field: 'options',
	},
	{
		what: 'batching as one expression',
		parameters: { options: { batching: '={{ {} }}' } },
		field: 'options.batching',
	},
	{
		what: 'a payer as one expression',
		parameters: qr({ payer: '={{ $json.to }}' }),
		field: 'payer',
	},
	{
		what: 'a split as one expression',
		parameters: fields('={{ { recipient: [] } }}'),
		field: 'split',
	},
	{
		what: 'recipients as one expression',
		parameters: fields({ recipient: '={{ [] }}' }),
		field: 'split',
	},
	{
		what: 'one of them as one expression',
		parameters: fields({ recipient: [NOPE] }),
		field: 'split',
	},
	{ what: 'a split without recipients', parameters: fields({}), field: 'split' },
	{
		what: 'a username of nothing',
		parameters: shared({ username: NOPE }),
		field: 'split.recipient[0].username',
	},
	{
		what: 'a way to split of nothing',
		parameters: qr({ specifySplit: NOPE }),
		field: 'specifySplit',
	},
	{ what: 'split JSON of nothing', parameters: json(NOPE), field: 'splitJson' },
	{ what: 'additional members of nothing', parameters: extra(NOPE), field: 'additionalMembers' },
	{
		what: 'additional members of null',
		parameters: extra('={{ $json.nul }}'),
		field: 'additionalMembers',
	},
	{
		what: 'additional members of an empty text',
		parameters: extra('={{ $json.empty }}'),
		field: 'additionalMembers',
	},
	{
		what: 'a member of nothing',
		parameters: extra('={{ { from: $json.nope } }}'),
		field: 'additionalMembers',
	},
	{
		what: 'an object in a member',
		parameters: extra('={ "a": "{{ String($json.obj) }}" }'),
		field: 'additionalMembers',
	},
	{
		what: 'an unknown execution',
		parameters: { external_id: '=p-__UNKNOWN__' },
		field: 'external_id',
	},
	{
		what: 'an expression typed into a field on Fixed',
		parameters: { external_id: '{{ $json.orderId }}' },
		field: 'external_id',
	},
	{
		what: 'an expression typed into additional members on Fixed',
		parameters: extra('{ "a": "{{ $json.orderId }}" }'),
		field: 'additionalMembers',
	},
	{ what: 'a time-out of nothing', parameters: { options: { timeout: NOPE } }, field: 'timeout' },
])('$what is refused, and nothing is sent', async ({ parameters, field }) => {
	const { error, sent } = await valuesOf(parameters);
	expect(sent).toBeUndefined();
	expect(error).toMatchObject({ outcome: 'notSent', field });
});

/** What an expression may leave in any field, and that no text and no amount is. */
const NEVER_RIGHT = {
	'a leftover': WORD,
	nothing: NOPE,
	'an object': '={{ $json.obj }}',
	'an object in a text': OBJECT,
	'a list': '={{ [1] }}',
};
const ROWS = KINDS.flatMap((kind) =>
	// Where postbacks go is read with the account: test/postback/target.test.ts.
	TYPED_PATHS[kind].filter((path) => path !== 'postbackUrl').map((path) => [kind, path] as const),
);

test.each(ROWS)(
	'of a %s, %s is refused where an expression leaves what it cannot be, and nothing is sent',
	async (kind, path) => {
		const wrong: Array<[string, unknown]> = Object.entries(NEVER_RIGHT);
		// Inside a collection n8n makes text of a date before a node reads it.
		if (!path.includes('.')) wrong.push(['a date', '={{ $now }}']);
		for (const [what, value] of wrong) {
			const { error, sent } = await valuesOf({
				...withValue(FULL_FORMS[kind], path, value),
				postback: 'none',
			});
			expect([what, error?.outcome, error?.field, sent]).toStrictEqual([
				what,
				'notSent',
				path,
				undefined,
			]);
		}
	},
);

test.each(['={{ $now }}', '={{ new Date() }}'])(
	'of %s in a text, the advice says how a date becomes one',
	async (payerQuestion) => {
		const { error } = await valuesOf({ payerQuestion });
		expect(error).toMatchObject({ field: 'payerQuestion' });
		expect(error?.description).toContain('{{ $now.toISODate() }}');
	},
);

test.each<{ what: string; parameters: IDataObject; expected: IDataObject }>([
	{
		what: 'a key, trimmed and composed',
		parameters: to({ key: ' cafe\u0301\n' }),
		expected: to({ key: 'café' }),
	},
	{
		what: 'an empty name of the item',
		parameters: { creditParty: { key: 'k', name: '={{ $json.empty }}' } },
		expected: to({ key: 'k' }),
	},
	{
		what: 'an empty description of the item',
		parameters: { payerQuestion: '={{ $json.empty }}' },
		expected: RECIPIENT,
	},
	{
		what: 'a member that is typed null',
		parameters: extra('{ "a": null }'),
		expected: { ...RECIPIENT, a: null },
	},
	{
		what: 'a date',
		parameters: extra('={{ { on: new Date(0) } }}'),
		expected: { ...RECIPIENT, on: '1970-01-01T00:00:00.000Z' },
	},
	{ what: 'no additional members', parameters: extra(''), expected: RECIPIENT },
])('$what arrives', async ({ parameters, expected }) => {
	expect((await valuesOf(parameters)).sent).toStrictEqual({
		amount: 5,
		external_id: 'a',
		...expected,
	});
});

test("an AI agent's tool refuses a payer as one expression too", async () => {
	const { error, sent } = await valuesOf(qr({ payer: NOPE }), 'n8n-nodes-pay.payTool');
	expect(sent).toBeUndefined();
	expect(error).toMatchObject({ field: 'payer' });
});

const ITEM_IN_TOOL = [
	['amount', '={{ $json.cpf }}'],
	['external_id', '=p-{{ $input.first().json.cpf }}'],
	['payerQuestion', '={{ $("Source").item.json.cpf }}'],
	['creditParty', { key: '={{ $json.to.key }}' }],
	['options', { additionalMembers: '={{ $json.to }}' }],
] as const;

test.each(ITEM_IN_TOOL)(
	'a tool whose %s reads its item is refused: agents give it the first one, or what the model says',
	async (field, value) => {
		const options = { allowAiPayments: true };
		const parameters = { options, [field]: value } as IDataObject;
		const kinds = field === 'creditParty' ? [parameters] : [parameters, qr(parameters)];
		for (const one of kinds) {
			const { error, sent } = await valuesOf(one, 'n8n-nodes-pay.payTool');
			expect(sent).toBeUndefined();
			expect(error).toMatchObject({ outcome: 'notSent', field });
		}
	},
);

test('a tool takes what the model fills in, and what a node gave', async () => {
	const { sent } = await valuesOf(
		{
			amount: '={{ $fromAI("cpf", "", "number") }}',
			payerQuestion: 'for $json',
			external_id: '={{ $("Source").first().json.cpf }}',
			creditParty: { key: 'ana' },
			options: { allowAiPayments: true },
		},
		'n8n-nodes-pay.payTool',
	);
	expect(sent).toMatchObject({ amount: 1234567890, external_id: '1234567890' });
});

test('a key that comes as a number brings a hint', async () => {
	const { sent, hints } = await valuesOf({ creditParty: { key: '={{ $json.cpf }}' } });
	expect(sent?.creditParty).toStrictEqual({ key: '1234567890' });
	expect(hints).toHaveLength(1);
});

test('a trigger whose options are one expression is not published', async () => {
	const context = hookContext({
		getNode: () => ({ parameters: { options: NOPE } }),
		getNodeParameter: () => ({}),
		getActivationMode: () => 'manual',
	});
	const { create } = new PayTrigger().webhookMethods.default;
	await expect(create.call(context)).rejects.toThrow(/field by field/);
});
