import { NodeHelpers, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { PayApi } from '../../credentials/PayApi.credentials';
import { Pay } from '../../nodes/Pay/Pay.node';

// Which fields the editor shows, as n8n itself decides it. One walk in the browser looks at a form (n8n/editor.n8n.ts).

const NODE = { typeVersion: 1 } as never;

function shownOf(properties: INodeProperties[], entered: INodeParameters): string[] {
	const values = NodeHelpers.getNodeParameters(properties, entered, true, false, NODE, null)!;
	return properties
		.filter(({ type }) => type !== 'hidden' && type !== 'notice')
		.filter((field) => NodeHelpers.displayParameter(values, field, NODE, null))
		.map(({ name }) => name);
}

describe('a QR code', () => {
	const shown = (entered: INodeParameters = {}) =>
		shownOf(new Pay().description.properties, { resource: 'qrCode', ...entered });
	const first = shown();

	test('shows no field for splits, image or postback URL until someone chooses one', () => {
		expect(first).toStrictEqual([
			'resource',
			'operation',
			'amount',
			'external_id',
			'payerQuestion',
			'qrCodeImage',
			'postback',
			'payer',
			'specifySplit',
			'options',
		]);
	});

	test.each<{ chosen: INodeParameters; more: string[] }>([
		{ chosen: { specifySplit: 'fields' }, more: ['split'] },
		{ chosen: { specifySplit: 'json' }, more: ['splitJson'] },
		{ chosen: { specifySplit: 'none' }, more: [] },
		{ chosen: { postback: 'url' }, more: ['postbackUrl'] },
		{ chosen: { postback: 'none' }, more: [] },
		{ chosen: { qrCodeImage: true }, more: ['binaryPropertyName'] },
	])('shows $more beside them for $chosen', ({ chosen, more }) => {
		expect(shown(chosen).filter((name) => !first.includes(name))).toStrictEqual(more);
	});
});

describe('a wait', () => {
	const shown = (entered: INodeParameters = {}) =>
		shownOf(new Pay().description.properties, {
			resource: 'postback',
			operation: 'wait',
			...entered,
		});

	test('shows its field and values, and its time limit with a unit, once they are chosen', () => {
		const first = shown();
		expect(first).toStrictEqual([
			'resource',
			'operation',
			'external_id',
			'resumeWhen',
			'limitWaitTime',
			'options',
		]);
		const all = shown({ resumeWhen: 'match', limitWaitTime: true });
		expect(all.filter((name) => !first.includes(name))).toStrictEqual([
			'matchField',
			'matchValues',
			'resumeAmount',
			'resumeUnit',
		]);
	});
});

describe('the credential', () => {
	const shown = (entered: INodeParameters = {}) => shownOf(new PayApi().properties, entered);

	test('has a short form, and shows what the service says once that is turned on', () => {
		const short = shown();
		expect(short).toStrictEqual([
			'baseUrl',
			'authentication',
			'accessToken',
			'postbackUrl',
			'postbackSecret',
			'describeService',
			'senderCheck',
			'limitPayments',
		]);
		const described = shown({ describeService: true });
		expect(described).toStrictEqual(
			expect.arrayContaining([...short, 'statusField', 'qrCodePath']),
		);
	});

	test.each<{ chosen: INodeParameters; fields: string[] }>([
		{ chosen: {}, fields: ['signatureHeader', 'signatureAlgorithm', 'signatureSecret'] },
		{
			chosen: { signedContent: 'template', signatureAlgorithm: 'rsaSha256' },
			fields: [
				'signatureHeader',
				'signatureAlgorithm',
				'signaturePublicKey',
				'signedTemplate',
				'timestampHeader',
			],
		},
		{
			chosen: { signedContent: 'standardWebhooks', signatureAlgorithm: 'rsaSha256' },
			fields: ['signatureSecret'],
		},
	])('asks for $fields where a signature is checked, with $chosen', ({ chosen, fields }) => {
		const all = shown({ senderCheck: 'signature', ...chosen });
		expect(all.filter((name) => !shown().includes(name))).toStrictEqual([
			'signedContent',
			...fields,
		]);
	});

	test.each<{ entered: INodeParameters; isShown: boolean }>([
		{ entered: { baseUrl: 'https://api.example.com' }, isShown: false },
		{ entered: { baseUrl: 'HTTP://10.0.0.7' }, isShown: true },
		{
			entered: {
				baseUrl: 'https://api.example.com',
				authentication: 'clientCredentials',
				tokenUrl: 'http://10.0.0.7/token',
			},
			isShown: true,
		},
		{
			entered: {
				baseUrl: 'http://10.0.0.7',
				authentication: 'clientCredentials',
				tokenUrl: 'http://10.0.0.7/token',
			},
			isShown: true,
		},
	])('shows Allow HTTP for $entered: $isShown', ({ entered, isShown }) => {
		const times = shown(entered).filter((name) => name === 'allowHttp').length;
		expect(times).toBe(isShown ? 1 : 0);
	});

	test('shows the fields of the chosen authentication alone', () => {
		const ofToken = shown({ authentication: 'accessToken' });
		const ofClient = shown({ authentication: 'clientCredentials' });
		expect(ofToken.filter((name) => !ofClient.includes(name))).toStrictEqual(['accessToken']);
		expect(ofClient.filter((name) => !ofToken.includes(name))).toStrictEqual([
			'tokenUrl',
			'clientId',
			'clientSecret',
			'scope',
			'clientAuthentication',
		]);
	});
});
