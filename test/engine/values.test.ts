import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import { RECIPIENT } from '../../dev/workflow';
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

test.each<[string, IDataObject, string]>([
	['a recipient as one expression', to('={{ $json.to }}'), 'creditParty'],
	['a recipient as one expression of nothing', to(NOPE), 'creditParty'],
	['a recipient as text', to('ana'), 'creditParty'],
	['a recipient with another member', to({ Key: 'ana' }), 'creditParty'],
	['options as one expression', { options: '={{ { timeout: 9 } }}' }, 'options'],
	['batching as one expression', { options: { batching: '={{ {} }}' } }, 'options.batching'],
	['a batch as one expression', { options: { batching: { batch: NOPE } } }, 'options.batching'],
	['a payer as one expression', qr({ payer: '={{ $json.to }}' }), 'payer'],
	['a split as one expression', fields('={{ { recipient: [] } }}'), 'split'],
	['recipients as one expression', fields({ recipient: '={{ [] }}' }), 'split'],
	['one of them as one expression', fields({ recipient: [NOPE] }), 'split'],
	['a split without recipients', fields({}), 'split'],
	['a username of nothing', shared({ username: NOPE }), 'split.recipient[0].username'],
	['an empty username', shared({ username: '' }), 'split[0].username'],
	[
		'no percentage',
		shared({ username: 'u', percentageSplit: undefined }),
		'split[0].percentageSplit',
	],
	['a way to split of nothing', qr({ specifySplit: NOPE }), 'specifySplit'],
	['split JSON of nothing', json(NOPE), 'splitJson'],
	['split JSON of null', json('={{ $json.nul }}'), 'splitJson'],
	['split JSON of an empty text', json('={{ $json.empty }}'), 'splitJson'],
	['split JSON without recipients', json('[]'), 'splitJson'],
	['JSON without a username', json('[{ "percentageSplit": 1 }]'), 'splitJson[0].username'],
	['additional members of nothing', extra(NOPE), 'additionalMembers'],
	['additional members of null', extra('={{ $json.nul }}'), 'additionalMembers'],
	['additional members of an empty text', extra('={{ $json.empty }}'), 'additionalMembers'],
	['a member of nothing', extra('={{ { from: $json.nope } }}'), 'additionalMembers'],
	['a member that is not a number', extra('={{ { fee: [Number("x")] } }}'), 'additionalMembers'],
	['a member without end', extra('={{ { fee: 1 / 0 } }}'), 'additionalMembers'],
	['a member that is no date', extra('={{ { on: new Date("x") } }}'), 'additionalMembers'],
	['a member that is a function', extra('={{ { on: () => 1 } }}'), 'additionalMembers'],
	['an object in a member', extra('={ "a": "{{ String($json.obj) }}" }'), 'additionalMembers'],
	['a key of nothing', to({ key: NOPE }), 'creditParty.key'],
	['a key of null', { creditParty: { key: '={{ $json.nul }}' } }, 'creditParty.key'],
	['an empty key', { creditParty: { key: '={{ $json.empty }}' } }, 'creditParty.key'],
	['a blank key', { creditParty: { key: '={{ $json.blank }}' } }, 'creditParty.key'],
	['an object in a key', to({ key: OBJECT }), 'creditParty.key'],
	['an invisible character in a key', to({ key: 'a\u200bb' }), 'creditParty.key'],
	['a leftover as kind of key', to({ key: 'k', keyType: WORD }), 'creditParty.keyType'],
	['a leftover as document', to({ document: WORD }), 'creditParty.document'],
	['a leftover as name', to({ name: WORD }), 'creditParty.name'],
	['a leftover as description', { payerQuestion: WORD }, 'payerQuestion'],
	['a description of nothing', { payerQuestion: NOPE }, 'payerQuestion'],
	['an object in a description', { payerQuestion: OBJECT }, 'payerQuestion'],
	['a leftover as payer', qr({ payer: { email: WORD } }), 'payer.email'],
	['an identifier of nothing', { external_id: NOPE }, 'external_id'],
	['an object in an identifier', { external_id: OBJECT }, 'external_id'],
	['an unknown execution', { external_id: '=p-__UNKNOWN__' }, 'external_id'],
	['an amount of nothing', { amount: NOPE }, 'amount'],
	['a time-out of nothing', { options: { timeout: NOPE } }, 'timeout'],
	['an amount of a QR code of nothing', qr({ amount: NOPE }), 'amount'],
	['an identifier of a QR code of nothing', qr({ external_id: NOPE }), 'external_id'],
	['an object in a description of a QR code', qr({ payerQuestion: OBJECT }), 'payerQuestion'],
	['a list as email', qr({ payer: { email: '={{ [1] }}' } }), 'payer.email'],
	['split JSON that breaks off', json('['), 'splitJson'],
	['split JSON that is no list', json('{}'), 'splitJson'],
	['JSON with a recipient of null', json('[null]'), 'splitJson[0]'],
	['a name of nothing', to({ name: NOPE }), 'creditParty.name'],
	['a name of null', to({ name: '={{ $json.nul }}' }), 'creditParty.name'],
	['an empty recipient', { creditParty: {} }, 'creditParty.key'],
	['a list as key', to({ key: '={{ ["k"] }}' }), 'creditParty.key'],
	['a recipient with an inherited member', to({ toString: 'k' }), 'creditParty'],
	['a recipient that is a list', to([]), 'creditParty'],
	['a recipient of an empty text', to(''), 'creditParty'],
])('%s is refused, and nothing is sent', async (_what, parameters, field) => {
	const { error, sent } = await valuesOf(parameters);
	expect(sent).toBeUndefined();
	expect(error).toMatchObject({ outcome: 'notSent', field });
});

test.each<[string, IDataObject, IDataObject]>([
	['a key, trimmed and composed', to({ key: ' cafe\u0301\n' }), to({ key: 'café' })],
	[
		'an empty name of the item',
		{ creditParty: { key: 'k', name: '={{ $json.empty }}' } },
		to({ key: 'k' }),
	],
	['an empty description of the item', { payerQuestion: '={{ $json.empty }}' }, RECIPIENT],
	['a member that is typed null', extra('{ "a": null }'), { ...RECIPIENT, a: null }],
	['a date', extra('={{ { on: new Date(0) } }}'), { ...RECIPIENT, on: '1970-01-01T00:00:00.000Z' }],
	['no additional members', extra(''), RECIPIENT],
])('%s arrives', async (_what, parameters, expected) => {
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
	expect(hints).toStrictEqual([expect.stringMatching(/zeros in front of it may have been lost/)]);
});

test('a trigger whose options are one expression is not published', async () => {
	const context = {
		getNode: () => ({ parameters: { options: NOPE } }),
		getNodeParameter: () => ({}),
		getActivationMode: () => 'manual',
	};
	const { create } = new PayTrigger().webhookMethods.default;
	await expect(create.call(context as unknown as IHookFunctions)).rejects.toThrow(/field by field/);
});
