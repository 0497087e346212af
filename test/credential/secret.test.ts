import type { IExecuteFunctions } from 'n8n-workflow';
import { readSecrets, readSecretsOfWait } from '../../nodes/Pay/credential/secret';
import { InputError } from '../../nodes/Pay/inputError';

/** Reads the secrets of a wait whose credential n8n resolves for the item, and beyond it, like so. */
async function ofWait(ofItem: object, ofNone: object | Error = ofItem, typed?: object) {
	const context = {
		additionalData: { credentialsHelper: { getDecrypted: async () => typed } },
		getNode: () => ({ credentials: { payApi: { id: '1', name: 'Pay API' } } }),
		getMode: () => 'manual',
		getCredentials: async (type: string, index: number) => {
			expect(type).toBe('payApi');
			if (index === 0) return ofItem;
			if (ofNone instanceof Error) throw ofNone;
			return ofNone;
		},
	};
	return await readSecretsOfWait(context as unknown as IExecuteFunctions);
}

test.each<[string, object, object]>([
	[
		'both',
		{ postbackSecret: 'a', previousPostbackSecret: 'b' },
		{ current: 'a', taken: ['a', 'b'] },
	],
	['the new one alone', { postbackSecret: 'a' }, { current: 'a', taken: ['a'] }],
	['the previous one alone', { previousPostbackSecret: 'b' }, { current: '', taken: ['b'] }],
	['empty ones', { postbackSecret: '', previousPostbackSecret: '' }, { current: '', taken: [] }],
	[
		'what is no text',
		{ postbackSecret: 5, previousPostbackSecret: {} },
		{ current: '', taken: [] },
	],
])('of %s those that are there are taken', async (_what, credential, expected) => {
	const context = { getCredentials: async (type: string) => (type === 'payApi' ? credential : {}) };
	expect(await readSecrets(context as never)).toStrictEqual(expected);
	expect(await ofWait(credential)).toStrictEqual(expected);
	expect(await ofWait(credential, credential, credential)).toStrictEqual(expected);
});

const S = { postbackSecret: 's' };
test.each<[string, object | Error, object | undefined]>([
	['n8n cannot resolve without an item', new Error('no item'), undefined],
	['differs without an item', { postbackSecret: 't' }, undefined],
	['was another before without an item', { ...S, previousPostbackSecret: 't' }, undefined],
	['was typed with the item in it', S, { postbackSecret: '={{ $json.secret }}' }],
	['had it in the previous one', S, { ...S, previousPostbackSecret: '={{ $json.secret }}' }],
])('a secret of a wait that %s is refused', async (_what, ofNone, typed) => {
	const refusal = await ofWait(S, ofNone, typed).catch((error: unknown) => error);
	expect(refusal).toBeInstanceOf(InputError);
	expect(refusal).toMatchObject({ field: 'postbackSecret' });
});

test('other fields of the credential may depend on the item: only the secrets are asked for', async () => {
	const typed = { ...S, accessToken: '={{ $json.token }}' };
	expect(await ofWait({ ...S, accessToken: 'a' }, { ...S, accessToken: 'b' }, typed)).toStrictEqual(
		{
			current: 's',
			taken: ['s'],
		},
	);
});
