import type { IDataObject } from 'n8n-workflow';
import { webhookNode } from '../engine/webhook';
import { ACCOUNT, itemFrom } from './executions';

/*
 * What is said of inputs that are refused: the field at fault, what happened, and what to do. Some inputs have two
 * faults; which is named is behaviour as well. Each input is refused, and by which field, in the tests of its field;
 * how it is worded stands here alone.
 */

const PAYMENT = { amount: 49.9, external_id: 'order-1', creditParty: { key: 'ana@example.com' } };
const QR_CODE = { resource: 'qrCode', amount: 49.9, external_id: 'order-1' };
const WAIT = { resource: 'postback', operation: 'wait', external_id: 'order-1' };

/** An expression that gives an empty text: n8n itself refuses a field in which nothing was typed. */
const NOTHING = '={{ "" }}';

/** An expression that gives a value, as an item may hold it. */
const value = (given: unknown) => `={{ ${JSON.stringify(given)} }}`;

const payments = (...inputs: IDataObject[]) => inputs.map((input) => ({ ...PAYMENT, ...input }));
const qrCodes = (...inputs: IDataObject[]) => inputs.map((input) => ({ ...QR_CODE, ...input }));

const AMOUNTS = [
	NOTHING,
	' ',
	'ten',
	'{{ $json.total }}',
	'={{ $json.nothing }}',
	'={{ NaN }}',
	value([1]),
	0,
	'-5',
	'1 000',
	'1.000',
	'10,50',
	'1.234,50',
	'={{ 0.1 + 0.2 }}',
	'1234567890123456',
	'={{ 1e21 }}',
	'={{ 1e-16 }}',
].map((amount) => ({ amount }));

/** With a decimal comma. */
const AMOUNTS_WITH_COMMA = ['ten', '10.50', '1,000', '1234.567'].map((amount) => ({
	amount,
	options: { decimalSign: 'comma' },
}));

const IDS = [
	NOTHING,
	'undefined',
	'order [object Object]',
	'Invalid DateTime',
	'{{ $json.orderId }}',
	'={{ $json.nothing }}',
	value(1.5),
	value(true),
	value(['a']),
	value({}),
	'={{ 2 ** 53 }}',
	'={{ $now }}',
	'={{ "a\\ud83d" }}',
	'={{ "a\\tb" }}',
	'={{ "payout\\u200b7" }}',
].map((external_id) => ({ external_id }));

const RECIPIENTS: IDataObject[] = [
	{},
	{ key: NOTHING },
	{ key: ' ' },
	{ key: '={{ $json.nothing }}' },
	{ key: '={{ [1] }}' },
	{ key: '={{ {} }}' },
	{ key: '={{ true }}' },
	{ key: '={{ new Date(0) }}' },
	{ key: 'undefined' },
	{ key: 'a __UNKNOWN__' },
	{ key: '={{ 2 ** 53 }}' },
	{ key: 'a@example.com', name: '{{ $json.name }}' },
	{ key: 'a@example.com', name: '={{ [1] }}' },
	{ key: 'a@example.com', iban: 'b' },
	{ key: value('#REF!') },
	{ key: value('Loading...') },
	{ key: value('####') },
	{ key: value('=B2') },
	{ key: value("'5511999999999") },
	{ key: value('5,51199E+12') },
	{ key: 'ana@example.com', keyType: value('#N/A') },
	{ key: 'ana@example.com', document: value('#N/A') },
].map((creditParty) => ({ creditParty }));

const POSTBACK_URLS = [
	NOTHING,
	'here',
	'ftp://a.example',
	'https://example.com/hook?order={{ $json.id }}',
	'https://a.example/?pay_proof=x',
	`https://a.example/${'x'.repeat(8000)}`,
].map((postbackUrl) => ({ postback: 'url', postbackUrl }));

const asMembers = (additionalMembers: string) => ({ options: { additionalMembers } });

const MEMBERS = [
	'[1]',
	'a: 1',
	'{"a":1,"a":2}',
	'{"a":12345678901234567890}',
	'{"__proto__":{"amount":1}}',
	'{"amount":1}',
	'{"creditParty":{"key":"a"}}',
	'{"CREDITPARTY ":1}',
	'{"postbackUrl":"https://a.example"}',
	'{"a":{{ $json.a }}}',
	'{"a":"[object Object]"}',
	`${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`,
	'={{ { when: undefined } }}',
].map(asMembers);

/** Members that have fields of their own in this form alone, or none. */
const MEMBERS_OF_QR_CODE = [
	'{"payer":"Ann"}',
	'{"PAYER":{"phone":"1"}}',
	'{"creditParty":{"key":"a"}}',
].map(asMembers);

const SPLITS: IDataObject[] = [
	{ specifySplit: 'Fields' },
	{ specifySplit: 'fields' },
	{ specifySplit: 'fields', split: { recipient: [{ username: '', percentageSplit: 1 }] } },
	{ specifySplit: 'fields', split: { recipient: [{ username: 'shop', percentageSplit: '12,5' }] } },
	{ specifySplit: 'fields', split: '={{ {} }}' },
	{ specifySplit: 'json', splitJson: NOTHING },
	{ specifySplit: 'json', splitJson: '[]' },
	{ specifySplit: 'json', splitJson: '{}' },
	{ specifySplit: 'json', splitJson: '[{]' },
	{ specifySplit: 'json', splitJson: '["shop"]' },
	{ specifySplit: 'json', splitJson: '[{ "username": "shop", "percentageSplit": -1 }]' },
	{ specifySplit: 'json', splitJson: '[{ "username": "shop", "percentageSplit": 1, "share": 2 }]' },
	{ specifySplit: 'json', splitJson: '[{ "username": "shop", "percentageSplit": 101 }]' },
	{ specifySplit: 'json', splitJson: '[{ "username": "shop", "percentageSplit": "" }]' },
	{ specifySplit: 'json', splitJson: value([{ username: 'shop', percentageSplit: 100 / 3 }]) },
];

const FORMS: IDataObject[] = [
	{ payer: '={{ {} }}' },
	{ options: '={{ {} }}' },
	{ options: { batching: '={{ {} }}' } },
	{ options: { timeout: 0 } },
	{ options: { timeout: 'soon' } },
	{ options: { batching: { batch: { batchSize: 0 } } } },
	{ options: { decimalSign: 'point' } },
	{ payerQuestion: '={{ $json.nothing }}' },
	{ postback: 'somewhere' },
	{ qrCodeImage: '={{ "yes" }}' },
];

/** Two faults at once, in the order of the form and against it. */
const TWO_FAULTS = [
	...payments(
		{ amount: NOTHING, external_id: NOTHING },
		{ external_id: NOTHING, creditParty: { key: NOTHING } },
		{ amount: 'ten', creditParty: { key: NOTHING } },
		{ creditParty: { key: NOTHING, iban: 'b' } },
		{ amount: '1.000', postback: 'url', postbackUrl: 'here' },
		{ postback: 'url', postbackUrl: 'here', options: { additionalMembers: '[1]' } },
		{ external_id: NOTHING, options: { additionalMembers: '[1]' } },
		{ amount: NOTHING, options: { timeout: 0 } },
		{ amount: NOTHING, options: '={{ {} }}' },
	),
	...qrCodes(
		{ amount: NOTHING, specifySplit: 'json', splitJson: '[]' },
		{ specifySplit: 'json', splitJson: '[{ "username": "", "percentageSplit": -1 }]' },
		{ external_id: '={{ true }}', payer: { name: '{{ $json.name }}' } },
		{ postback: 'url', postbackUrl: NOTHING, specifySplit: 'json', splitJson: '{}' },
	),
];

const WAITS = [
	{ external_id: NOTHING },
	{ external_id: 'order-2' },
	{ resumeWhen: 'Paid' },
	{ resumeWhen: 'match', matchField: NOTHING, matchValues: ['paid'] },
	{ resumeWhen: 'match', matchField: 'status', matchValues: [] },
	{ resumeWhen: 'match', matchField: 'data..status', matchValues: ['paid'] },
	{ resumeWhen: 'match', matchField: '$json', matchValues: ['paid'] },
	{ resumeWhen: 'match', matchField: 'status', matchValues: ['paid, settled'] },
	{ resumeWhen: 'match', matchField: 'status', matchValues: ['{{ $json.word }}'] },
	{ startWhen: 'paid' },
	{ options: { resumeWhen: 'paid' } },
	{ options: { responseCode: 404 } },
	{ options: { responseBody: '={{ 1 }}' } },
	{ limitWaitTime: true, resumeAmount: 'five', resumeUnit: 'hours' },
	{ limitWaitTime: true, resumeAmount: 0, resumeUnit: 'hours' },
	{ limitWaitTime: true, resumeAmount: 1, resumeUnit: 'fortnights' },
	{ external_id: NOTHING, limitWaitTime: true, resumeAmount: 'five', resumeUnit: 'hours' },
	{ external_id: 'order-2', resumeWhen: 'Paid' },
].map((input) => ({ ...WAIT, ...input }));

/** Words that a credential has, and a condition that asks for others. */
const WAITS_WITHOUT_WORDS = [
	{ resumeWhen: 'paid', fields: { describeService: false } },
	{ resumeWhen: 'paidOrFailed', fields: { describeService: false } },
	{ resumeWhen: 'paid', fields: { paidValues: '', failedValues: 'failed' } },
	{ resumeWhen: 'paidOrFailed', fields: { paidValues: 'paid', failedValues: '' } },
	{ resumeWhen: 'paidOrFailed', fields: { paidValues: '', failedValues: 'failed' } },
];

const CLIENT = {
	authentication: 'clientCredentials',
	tokenUrl: 'https://id.example.com/token',
	clientId: 'shop',
	clientSecret: 'secret',
};
const SIGNATURE = {
	senderCheck: 'signature',
	signatureHeader: 'X-Signature',
	signatureSecret: 'the secret of the sender',
};
const LIMITS = { limitPayments: true, highestPayment: '', highestSum: '', onlyRecipients: '' };

/** Fields of the credential, beside those of one that is right. */
const CREDENTIALS: IDataObject[] = [
	...[
		'',
		'api.example.com',
		'/v2/pay',
		'ftp://api.example.com',
		'http://api.example.com',
		'http://localhost.',
		'https://user:word@api.example.com',
		'https://api.example.com/#a',
		'https://api.example.com/?a=1',
		'https://api.example.com/v2/other/qrcode',
	].map((baseUrl) => ({ baseUrl })),
	...['', ' ', 'Bearer', 'a b'].map((accessToken) => ({ accessToken })),
	{ authentication: 'basic' },
	{ ...CLIENT, tokenUrl: '' },
	{ ...CLIENT, tokenUrl: 'http://id.example.com/token' },
	{ ...CLIENT, clientId: '' },
	{ ...CLIENT, clientId: 'shop:1', clientAuthentication: 'header' },
	{ ...CLIENT, clientSecret: ' ' },
	{ ...CLIENT, clientAuthentication: 'query' },
	{ schemeName: '..' },
	...['Idempotency Key', 'Authorization', 'X-Forwarded-For'].map((externalIdHeader) => ({
		externalIdHeader,
	})),
	{ postbackSecret: 'fifteen letters' },
	{ postbackSecret: value(1e20) },
	{ postbackSecret: value(['x']) },
	{ schemeName: '={{ $json.nothing }}' },
	{ previousPostbackSecret: 'thirty random characters of one' },
	{ postbackSecret: 'thirty random characters of one', previousPostbackSecret: 'abc' },
	{ postbackSecret: '={{ $json.nothing }}' },
	{ statusField: '' },
	{ statusField: 'data..status' },
	{ statusField: 'pix[].a[].status' },
	{ paidValues: 'paid, settled' },
	{ failedValues: 'paid' },
	{ requiredValues: 'success' },
	{ requiredValues: 'success =' },
	{ requiredValues: 'status = paid, done' },
	{ requiredValues: 'live = "true"' },
	{ requiredValues: 'live = 1\nLive = 2' },
	{ requiredValues: 'pix[].live = true' },
	{ requiredValues: 'headers.x-webhook-token = abc' },
	{ statusField: 'pix[].status', requiredValues: 'pix.0.live = true' },
	{ statusField: 'pix.0.status', idField: 'pix[].txid' },
	{ describeService: '={{ "on" }}' },
	{ statusField: '', paidValues: '', failedValues: '', refundField: '', idField: '' },
	{ refundField: '={{ "" }}', refundedValues: 'done' },
	{ amountUnit: 'cents' },
	{ resultField: 'status', acceptedValues: '' },
	{ resultField: 'pix[].status', acceptedValues: 'ok' },
	{ resultField: 'status', acceptedValues: 'ok', rejectedValues: 'OK' },
	LIMITS,
	{ ...LIMITS, highestPayment: 'much' },
	{ ...LIMITS, highestPayment: '49.89' },
	{ ...LIMITS, highestSum: '0' },
	{ ...LIMITS, highestSum: '10' },
	{ ...LIMITS, onlyRecipients: ' \n' },
	{ ...LIMITS, onlyRecipients: 'eve@example.com' },
	{ ...LIMITS, limitPayments: '={{ "yes" }}' },
	{ ...LIMITS, onlyRecipients: 'ana@example.com', variableMembers: '$.taxId' },
	// Two faults.
	{ baseUrl: '', accessToken: '' },
	{ accessToken: '', schemeName: '..' },
	{ accessToken: '', ...LIMITS },
	{ ...LIMITS, highestPayment: '1', onlyRecipients: 'eve@example.com' },
	{ postbackSecret: 'short', externalIdHeader: 'Host' },
];

/** None with which an RSA signature could be checked: of another kind, too short, half a key, a private one. */
const PUBLIC_KEYS = [
	'-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAg1E4Rt8yOcNGvlD/5qyDQF6ywt57iuad1PZ5RSKIn7w=\n-----END PUBLIC KEY-----',
	'-----BEGIN PUBLIC KEY-----\nMHwwDQYJKoZIhvcNAQEBBQADawAwaAJhAK1iwBU4Cq9OiGc4mdGiQgbN6J3PZ7RN\nNKNFxxvtl2QRDbRyjBZaX+U8FQxZRcaV68yJDRCqReddmrQJdE2lfVfLeVE23PMF\njGxsxPxV7pp2F5C5A2tLraqtfgL7Xdl36wIDAQAB\n-----END PUBLIC KEY-----',
	'-----BEGIN PUBLIC KEY-----\nMII',
	'-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----',
];

/** Fields of the credential that say how the sender shows itself; a trigger reads them. */
const SENDERS: IDataObject[] = [
	{},
	{ senderCheck: 'yes' },
	{ senderCheck: 'secretHeader', secretHeaderName: '', secretHeaderValue: 'a secret of theirs' },
	{ senderCheck: 'secretHeader', secretHeaderName: 'X-Token', secretHeaderValue: '' },
	{ ...SIGNATURE, signatureHeader: 'X-Signature:' },
	{ ...SIGNATURE, signatureSecret: '' },
	{ ...SIGNATURE, signatureAlgorithm: 'md5' },
	{ ...SIGNATURE, signedContent: 'url' },
	{ ...SIGNATURE, signedContent: 'template', signedTemplate: '' },
	{ ...SIGNATURE, signedContent: 'timestampAndBody', timestampHeader: '' },
	{ ...SIGNATURE, signedContent: 'body', statusField: 'headers.x-status' },
	...[
		'{timestamp}',
		'{body}.{body}',
		'{timestamp}.{body}',
		'{header:X-A}{body}',
		'{body}.{secret}',
		'{header:}.{body}',
		'{body}}',
	].map((signedTemplate) => ({ ...SIGNATURE, signedContent: 'template', signedTemplate })),
	{ ...SIGNATURE, signedContent: 'template', signedTemplate: '{body}', timestampHeader: 'X-Time' },
	...PUBLIC_KEYS.map((signaturePublicKey) => ({
		...SIGNATURE,
		signatureAlgorithm: 'rsaSha256',
		signaturePublicKey,
	})),
	{ ...SIGNATURE, signatureSecret: PUBLIC_KEYS[0] },
	...['whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_two words', ' '].map((signatureSecret) => ({
		...SIGNATURE,
		signedContent: 'standardWebhooks',
		signatureSecret,
	})),
	// Two faults.
	{ statusField: '', senderCheck: 'yes' },
	{ ...SIGNATURE, signatureHeader: '', signatureSecret: '' },
];

/** How an error is read: the field that it names, and its two texts. */
function inWords({ error }: IDataObject): string {
	if (error === undefined) return 'it is taken';
	const { field, message, description } = error as IDataObject;
	return `${String(field ?? 'no field')}: ${String(message)}\n\t${String(description)}`;
}

/** All inputs with what is said of them, as refusals.txt has it. */
export async function refusals(): Promise<string> {
	const groups: Array<[string, IDataObject[]]> = [
		['Amount', payments(...AMOUNTS)],
		['Amount with a decimal comma', payments(...AMOUNTS_WITH_COMMA)],
		['External ID', payments(...IDS)],
		['Recipient', payments(...RECIPIENTS)],
		['Postback URL', payments(...POSTBACK_URLS)],
		['Additional Members of a payment', payments(...MEMBERS)],
		['Additional Members of a QR code', qrCodes(...MEMBERS_OF_QR_CODE)],
		['Split', qrCodes(...SPLITS)],
		['Other fields', qrCodes(...FORMS)],
		['Two faults', TWO_FAULTS],
		['Wait', WAITS],
	];
	const lines: string[] = [];
	for (const [group, inputs] of groups) {
		lines.push(`== ${group}\n`);
		for (const parameters of inputs) {
			const json = await itemFrom(parameters, ACCOUNT);
			lines.push(`${shortened(parameters)}\n${inWords(json)}\n`);
		}
	}
	lines.push('== Wait without words\n');
	for (const { resumeWhen, fields } of WAITS_WITHOUT_WORDS) {
		const json = await itemFrom({ ...WAIT, resumeWhen }, { ...ACCOUNT, ...fields });
		lines.push(`${resumeWhen}, ${shortened(fields)}\n${inWords(json)}\n`);
	}
	lines.push('== Pay API credential\n');
	for (const fields of CREDENTIALS) {
		const json = await itemFrom(PAYMENT, { ...ACCOUNT, ...fields });
		lines.push(`${shortened(fields)}\n${inWords(json)}\n`);
	}
	lines.push('== Pay API credential of a trigger\n');
	for (const fields of SENDERS) {
		const credential = () => ({ ...ACCOUNT, ...fields });
		const node = webhookNode({ credential, parameters: { authentication: 'sender' } });
		const { status, log } = await node.post('https://n8n.example.com/webhook/x/postback');
		const said = log.map((line) => line.replace(/ \{"workflow":.*$/, ''));
		lines.push(`${shortened(fields)}\n${status ?? 'it is taken'}: ${said.join('\n')}\n`);
	}
	return lines.join('\n');
}

/** An input as JSON, without what all of its kind have. */
function shortened(input: IDataObject): string {
	const own = Object.entries(input).filter(([name, value]) =>
		[PAYMENT, QR_CODE, WAIT].every((usual) => (usual as IDataObject)[name] !== value),
	);
	const text = JSON.stringify(Object.fromEntries(own));
	return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
