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

const [A, B] = ['a', 'b'].map((which) => `the secret of the test: ${which}`) as [string, string];

test.each<[string, object, { current: string; taken: string[] }]>([
	['both', { postbackSecret: A, previousPostbackSecret: B }, { current: A, taken: [A, B] }],
	['the new one alone', { postbackSecret: A }, { current: A, taken: [A] }],
	['the previous one alone', { previousPostbackSecret: B }, { current: '', taken: [B] }],
	['empty ones', { postbackSecret: '', previousPostbackSecret: '' }, { current: '', taken: [] }],
])('of %s those that are there are taken; without a new one nothing waits', async (...row) => {
	const [, credential, expected] = row;
	const context = { getCredentials: async (type: string) => (type === 'payApi' ? credential : {}) };
	expect(await readSecrets(context as never)).toStrictEqual(expected);
	for (const waiting of [ofWait(credential), ofWait(credential, credential, credential)]) {
		if (expected.current !== '') expect(await waiting).toStrictEqual(expected);
		else await expect(waiting).rejects.toThrow('The Pay API credential has no Postback Secret');
	}
});

test.each([{ postbackSecret: 'abc' }, { postbackSecret: A, previousPostbackSecret: 'abc' }])(
	'a short one is refused, also where only proofs are checked: %j',
	async (credential) => {
		const context = { getCredentials: async () => credential };
		await expect(readSecrets(context as never)).rejects.toThrow(/at least 16 characters/);
		await expect(ofWait(credential)).rejects.toThrow(/at least 16 characters/);
	},
);

const S = { postbackSecret: A };
test.each<[string, object | Error, object | undefined]>([
	['n8n cannot resolve without an item', new Error('no item'), undefined],
	['differs without an item', { postbackSecret: B }, undefined],
	['was another before without an item', { ...S, previousPostbackSecret: B }, undefined],
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
			current: A,
			taken: [A],
		},
	);
});
