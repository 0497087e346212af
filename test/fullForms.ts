import type { IDataObject } from 'n8n-workflow';
import type { Kind } from './serviceOperations';

const COMMON = {
	external_id: 'order-1',
	payerQuestion: 'Coffee, é',
	postback: 'url',
	postbackUrl: 'https://n8n.example.com/webhook/x/postback',
	options: {},
};

/** The form of each operation, every field of it filled in, as a workflow holds it. */
export const FULL_FORMS: Record<Kind, IDataObject> = {
	qrCode: {
		resource: 'qrCode',
		operation: 'create',
		...COMMON,
		amount: '12.50',
		payer: { name: 'N é', document: '00012345678', email: 'a@example.com' },
		specifySplit: 'fields',
		split: {
			recipient: [
				{ username: 'u1', percentageSplit: '12.5' },
				{ username: 'u2', percentageSplit: '87.5' },
			],
		},
	},
	payment: {
		resource: 'payment',
		operation: 'create',
		...COMMON,
		amount: '12.50',
		creditParty: { key: '+5511999999999', keyType: 'PHONE', document: '00012345678', name: 'N' },
	},
};
