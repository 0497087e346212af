import type { INodeProperties } from 'n8n-workflow';

/** The credential's fields as n8n hands them over, expressions resolved. */
export type PayCredential = Readonly<Record<string, unknown>>;

/** A field of the credential's form. */
interface CredentialField extends INodeProperties {
	/** An expression may leave it empty: that lets less through, or is refused in words of its own. */
	mayBeEmpty?: true;
}

/** A text, empty at first. */
const text = (
	field: Omit<CredentialField, 'type' | 'default'> & { default?: string },
): CredentialField => ({ type: 'string', default: '', ...field });

/**
 * An address with http:, whatever spaces are before it. No regular expression: n8n tests one each
 * time it reads the credential, and the reading fails if the process stands still for 250 ms then.
 */
const PLAIN_HTTP = ['http:', 'HTTP:', 'Http:'].map((includes) => ({ _cnd: { includes } }));
/** Its result is not known on the form; n8n shows the fields that depend on it. */
const AN_EXPRESSION = { _cnd: { startsWith: '=' } };

/** Shown only where it changes something, once for each of the two addresses. */
const allowHttp: CredentialField = {
	displayName: 'Allow HTTP',
	name: 'allowHttp',
	mayBeEmpty: true,
	type: 'boolean',
	default: false,
	description:
		'Whether Base URL and Token URL may use http: with other hosts than this machine. Tokens and secrets then travel unencrypted: only for a sandbox on a private network.',
};

const PATH_HINT =
	'With dots between the levels; several paths stand one a line, and the first that is there counts.';
const POSTBACK_PATH_HINT = `${PATH_HINT} pix[].status looks into the entries of a list, headers.x-event at a header.`;

/** What the service's document does not show: entered once, it holds for every node. */
const described = (field: Parameters<typeof text>[0]) =>
	text({ ...field, displayOptions: { show: { describeService: [true] } } });

/** A line between the fields of {@link describeService}. */
const heading = (name: string, displayName: string): CredentialField => ({
	displayName,
	name,
	type: 'notice',
	default: '',
	displayOptions: { show: { describeService: [true] } },
});

const describeService: CredentialField[] = [
	{
		displayName: 'Describe the Service',
		name: 'describeService',
		type: 'boolean',
		default: false,
		description:
			'Whether to enter what the document of the service does not show: what it says when money has moved and when it accepts, and what stands in its addresses. It holds for every node with this credential.',
	},
	heading('describePostback', 'What a postback says'),
	described({
		displayName: 'Status Field',
		name: 'statusField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.status',
		description: `Field of a postback's body, or of its query, that says what became of a charge or payment. ${POSTBACK_PATH_HINT} Look at one postback in a Pay Trigger first.`,
	}),
	described({
		displayName: 'Paid Values',
		name: 'paidValues',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. paid',
		description:
			'Values of that field that mean "paid", one a line. Upper and lower case do not count. * means: it is there, and not empty.',
	}),
	described({
		displayName: 'Failed Values',
		name: 'failedValues',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. failed',
		description:
			'Values of that field that mean it will never be paid, one a line. What expired or was cancelled will not be paid either: add the words for it. * means any value that is none of the Paid Values, for a service that reports once, at the end; not if yours reports steps such as PENDING: the first of them would end the wait as failed.',
	}),
	described({
		displayName: 'Required Values',
		name: 'requiredValues',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. livemode = true',
		description:
			'For a service where one field does not say it: lines of path = value, all of which must hold too, such as success = true, livemode = true or currency = EUR. Where one does not, the state is "other" whatever the status says, and no condition goes on with it. Upper and lower case do not count; * behind = means: it is there, and not empty.',
	}),
	described({
		displayName: 'Refund Field',
		name: 'refundField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.refunds',
		description: `Field of a postback that says that all or part of the money went back. ${PATH_HINT} Where one of its paths, in any entry, has one of the Refunded Values, the state is "refunded", whatever the status says. pix[].refunds[].status looks into a list inside of each entry.`,
	}),
	text({
		displayName: 'Refunded Values',
		name: 'refundedValues',
		typeOptions: { rows: 2 },
		default: '*',
		placeholder: 'e.g. refunded',
		displayOptions: { show: { describeService: [true], refundField: [{ _cnd: { not: '' } }] } },
		description:
			'Values of that field that mean all or part of the money went back, one a line. * means: it is there, and not empty. Enter the words of your service if it also says there that nothing went back, such as "none" or "rejected".',
	}),
	described({
		displayName: 'Amount Field',
		name: 'amountField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.amount',
		description: `Field of a postback that says how much was paid. ${PATH_HINT} Where it is not the amount of the charge or payment, the state is "otherAmount" and not "paid".`,
	}),
	{
		displayName: 'Amounts in Postbacks',
		name: 'amountUnit',
		type: 'options',
		options: [
			{
				name: 'Hundredths',
				value: 'hundredths',
				description: 'For example cents: 1250 is 12.50 of a request',
			},
			{
				name: 'Same as in Requests',
				value: 'same',
				description: 'For example 12.50, also as text: "12,50", "R$ 12,50"',
			},
		],
		default: 'same',
		displayOptions: { show: { describeService: [true], amountField: [{ _cnd: { not: '' } }] } },
		description: 'What the Amount Field counts',
	},
	described({
		displayName: 'External ID Field',
		name: 'idField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.external_id',
		description: `Field of a postback that repeats the External ID of the charge or payment. ${PATH_HINT} Where it is another one, the postback is about something else: its state is "other".`,
	}),
	heading('describeResponse', 'What a response says'),
	described({
		displayName: 'Result Field',
		name: 'resultField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. success',
		description: `Field of a response that says what became of the request. ${PATH_HINT} Left empty, every 2xx response is an acceptance.`,
	}),
	described({
		displayName: 'Accepted Values',
		name: 'acceptedValues',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. true',
		description:
			'Values of that field that mean an acceptance, one a line. A 2xx response without any of them is reported as unknown. Left empty, every 2xx response without a rejected value is an acceptance.',
	}),
	described({
		displayName: 'Rejected Values',
		name: 'rejectedValues',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. insufficient_funds',
		description:
			'Values of that field that mean the request was certainly not carried out, one a line, whatever the HTTP status below 500. A payment with one of them may be sent again, so enter only what the service promises.',
	}),
	described({
		displayName: 'QR Code Path',
		name: 'qrCodePath',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.qrCode',
		description: `Where in a response the text or image of the QR code is. ${PATH_HINT} Only needed when it is not recognized by itself.`,
	}),
	heading('describeRequest', 'What a request holds'),
	described({
		displayName: 'Scheme Name in Paths',
		name: 'schemeName',
		default: 'pay',
		required: true,
		placeholder: 'e.g. pay',
		description:
			'The word between /v2/ and /qrcode in the addresses of the service. Its document shows "pay" in place of the real one.',
	}),
	described({
		displayName: 'Header for the External ID',
		name: 'externalIdHeader',
		placeholder: 'e.g. Idempotency-Key',
		description:
			'For a service that carries out requests with the same value in a header only once: the name of that header. Each request then has its External ID there too. Leave empty unless the service names one.',
	}),
];

/** For each secret that may be replaced. */
const SECRETS_HINT = 'While it is being replaced: the old one and the new one, one a line';

const inHeader = { displayOptions: { show: { senderCheck: ['secretHeader'] } } };
const signed = { displayOptions: { show: { senderCheck: ['signature'] } } };
/** All that is signed in another way than the public standard, which needs nothing but the secret. */
const OWN_FORMS = ['body', 'timestampAndBody', 'template'];
const signedInItsOwnForm = {
	displayOptions: { show: { senderCheck: ['signature'], signedContent: OWN_FORMS } },
};

/** Shown in two places of the form, for n8n knows no "or" between the fields that it depends on. */
const signatureSecret = (
	field: Pick<INodeProperties, 'placeholder' | 'displayOptions' | 'description'>,
) =>
	text({
		displayName: 'Signature Secret',
		name: 'signatureSecret',
		mayBeEmpty: true,
		typeOptions: { password: true, rows: 2 },
		...field,
	});

/** How the service shows that a notification is its own: none of these may be an expression in a wait's credential. */
export const senderFields: CredentialField[] = [
	{
		displayName: 'Check the Sender',
		name: 'senderCheck',
		type: 'options',
		options: [
			{
				name: 'None',
				value: 'none',
				description: "Only the proof in the postback's URL is checked",
			},
			{
				name: 'Secret Header',
				value: 'secretHeader',
				description: 'The service sends a fixed secret in a header of each postback',
			},
			{
				name: 'Signature',
				value: 'signature',
				description: 'The service signs what it sends',
			},
		],
		default: 'none',
		description:
			'How a postback shows that the service sent it. The proof in the URL says which charge it is about, and that its sender knew the URL; this says who sent it.',
	},
	text({
		displayName: 'Secret Header Name',
		name: 'secretHeaderName',
		mayBeEmpty: true,
		placeholder: 'e.g. X-Webhook-Token',
		...inHeader,
		description: 'Header that holds the secret',
	}),
	text({
		displayName: 'Secret Header Value',
		name: 'secretHeaderValue',
		mayBeEmpty: true,
		typeOptions: { password: true, rows: 2 },
		placeholder: 'e.g. 7c9e6679f5d14f2b8a3e',
		...inHeader,
		description: `All that stands in that header, a word such as Bearer too. ${SECRETS_HINT}.`,
	}),
	{
		displayName: 'Signed Content',
		name: 'signedContent',
		type: 'options',
		options: [
			{
				name: 'Body',
				value: 'body',
				description: 'The bytes of the body as they came',
			},
			{
				name: 'Standard Webhooks',
				value: 'standardWebhooks',
				description:
					'The public standard of Svix and many other services: they send the headers webhook-signature and webhook-timestamp, or svix-signature and svix-timestamp',
			},
			{
				name: 'Template',
				value: 'template',
				description: 'Several parts of the request, put together',
			},
			{
				name: 'Timestamp and Body',
				value: 'timestampAndBody',
				description: 'The timestamp, a point, then the body',
			},
		],
		default: 'body',
		...signed,
		description: 'What the service signs',
	},
	text({
		displayName: 'Signature Header',
		name: 'signatureHeader',
		mayBeEmpty: true,
		placeholder: 'e.g. X-Signature',
		...signedInItsOwnForm,
		description:
			'Header that holds the signature: hexadecimal or base64, with a prefix such as "sha256=" or without, alone or among others',
	}),
	{
		displayName: 'Signature Algorithm',
		name: 'signatureAlgorithm',
		type: 'options',
		options: [
			{ name: 'HMAC-SHA256', value: 'sha256', description: 'With a secret that both know' },
			{ name: 'HMAC-SHA512', value: 'sha512', description: 'With a secret that both know' },
			{
				name: 'RSA-SHA256',
				value: 'rsaSha256',
				description: 'With a public key of the service (PKCS #1 v1.5)',
			},
		],
		default: 'sha256',
		...signedInItsOwnForm,
		description: 'How the service makes the signature',
	},
	signatureSecret({
		placeholder: 'e.g. whsec_7c9e6679f5d14f2b8a3e',
		displayOptions: {
			show: {
				senderCheck: ['signature'],
				signedContent: OWN_FORMS,
				signatureAlgorithm: ['sha256', 'sha512'],
			},
		},
		description: `Secret that the service gave you for its notifications. ${SECRETS_HINT}.`,
	}),
	signatureSecret({
		placeholder: 'e.g. whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
		// Where one of the two is an expression, n8n shows the field above, and once is enough.
		displayOptions: {
			hide: {
				senderCheck: ['none', 'secretHeader', AN_EXPRESSION],
				signedContent: [...OWN_FORMS, AN_EXPRESSION],
			},
		},
		description: `Secret that the service gave you for its notifications: base64, mostly after whsec_. ${SECRETS_HINT}.`,
	}),
	text({
		displayName: 'Signature Public Key',
		name: 'signaturePublicKey',
		mayBeEmpty: true,
		typeOptions: { rows: 4 },
		placeholder: 'e.g. -----BEGIN PUBLIC KEY-----…-----END PUBLIC KEY-----',
		displayOptions: {
			show: {
				senderCheck: ['signature'],
				signedContent: OWN_FORMS,
				signatureAlgorithm: ['rsaSha256'],
			},
		},
		description:
			'Public key of the service, or its certificate, as PEM; its line breaks may be missing. While it is being replaced: both, one behind the other.',
	}),
	text({
		displayName: 'Signed Template',
		name: 'signedTemplate',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. {timestamp}.{header:X-Nonce}.{body}',
		displayOptions: { show: { senderCheck: ['signature'], signedContent: ['template'] } },
		description:
			'What is signed, character by character, line breaks too. {body} is the body, {timestamp} what the Timestamp Header says, {header:X-Nonce} another header, {method} is POST or another one, {path} that of the URL as the service knows it.',
	}),
	text({
		displayName: 'Timestamp Header',
		name: 'timestampHeader',
		placeholder: 'e.g. X-Timestamp',
		displayOptions: {
			show: { senderCheck: ['signature'], signedContent: ['timestampAndBody', 'template'] },
		},
		description:
			'Header that holds the timestamp, if one is signed. It may be the Signature Header, where that holds "t=…" or "ts=…" too. A time that is more than five minutes off is refused.',
	}),
];

/** Only for money that goes out. */
const limited = { displayOptions: { show: { limitPayments: [true] } } };
const limits: CredentialField[] = [
	{
		displayName: 'Limit Payments',
		name: 'limitPayments',
		mayBeEmpty: true,
		type: 'boolean',
		default: false,
		description: 'Whether payments above a limit, or to another recipient, are refused unsent',
	},
	text({
		displayName: 'Highest Payment',
		name: 'highestPayment',
		mayBeEmpty: true,
		placeholder: 'e.g. 500.00',
		...limited,
		description: 'No single payment may be above it. Written as the amounts are.',
	}),
	text({
		displayName: 'Highest Sum per Execution',
		name: 'highestSum',
		mayBeEmpty: true,
		placeholder: 'e.g. 2000.00',
		...limited,
		description:
			'What the payments of one execution may come to: of all its Pay nodes and tools with this account. A list above it is refused whole. A loop pays until it is reached. A sub-workflow that is called for each item is an execution of its own each time.',
	}),
	text({
		displayName: 'Only Recipients',
		name: 'onlyRecipients',
		mayBeEmpty: true,
		typeOptions: { rows: 3 },
		placeholder: 'e.g. ana@example.com',
		...limited,
		description:
			'Payment keys, one a line: no other is paid. A key alone is paid under any Key Type; write the type, a space and the key to allow that one only. Additional Members may then hold nothing that may say where the money goes.',
	}),
	text({
		displayName: 'Members That May Vary',
		name: 'variableMembers',
		mayBeEmpty: true,
		typeOptions: { rows: 2 },
		placeholder: 'e.g. creditParty.taxId',
		displayOptions: {
			show: { limitPayments: [true], onlyRecipients: [{ _cnd: { not: '' } }] },
		},
		description:
			'What Additional Members may set all the same, by an expression too: paths, one a line. Enter only what your provider does not read as a destination: whoever writes an item can put anything there.',
	}),
];

export const CLIENT_AUTHENTICATIONS = [
	{
		name: 'Body',
		value: 'body',
		description: 'Client ID and secret are sent in the request body',
	},
	{
		name: 'Header',
		value: 'header',
		description: 'Client ID and secret are sent as Basic authentication',
	},
	{
		name: 'Header and JSON Body',
		value: 'headerJson',
		description: 'Client ID and secret are sent as Basic authentication, the rest as JSON',
	},
	{
		name: 'JSON Body',
		value: 'json',
		description: 'Client ID and secret are sent in a JSON body, as some services ask',
	},
] as const;

/** The form of the credential: what every account needs stands first, the rest behind switches. */
const form: CredentialField[] = [
	{
		// Always empty: n8n calls preAuthentication before a request where it is.
		displayName: 'Session Token',
		name: 'sessionToken',
		mayBeEmpty: true,
		type: 'hidden',
		typeOptions: { expirable: true, password: true },
		default: '',
	},
	text({
		displayName: 'Base URL',
		name: 'baseUrl',
		mayBeEmpty: true,
		required: true,
		placeholder: 'e.g. https://api.example.com',
		description: 'Address of the service, without /v2/…',
	}),
	{
		displayName: 'Authentication',
		name: 'authentication',
		type: 'options',
		options: [
			{
				name: 'Access Token',
				value: 'accessToken',
				description: 'A token that the service gave you',
			},
			{
				name: 'Client Credentials (OAuth 2.0)',
				value: 'clientCredentials',
				description: 'Short-lived tokens fetched from a token endpoint',
			},
		],
		default: 'accessToken',
		description:
			'Where the bearer token comes from, which the document of the service does not say',
	},
	text({
		displayName: 'Access Token',
		name: 'accessToken',
		mayBeEmpty: true,
		placeholder: 'e.g. eyJhbGciOiJIUzI1NiJ9…',
		typeOptions: { password: true },
		required: true,
		displayOptions: { show: { authentication: ['accessToken'] } },
		description: 'Token that the service gave you',
	}),
	text({
		displayName: 'Token URL',
		name: 'tokenUrl',
		mayBeEmpty: true,
		required: true,
		placeholder: 'e.g. https://api.example.com/oauth/token',
		displayOptions: { show: { authentication: ['clientCredentials'] } },
		description: 'Address of the token endpoint, in full',
	}),
	text({
		displayName: 'Client ID',
		name: 'clientId',
		mayBeEmpty: true,
		placeholder: 'e.g. shop-7421',
		required: true,
		displayOptions: { show: { authentication: ['clientCredentials'] } },
	}),
	text({
		displayName: 'Client Secret',
		name: 'clientSecret',
		mayBeEmpty: true,
		placeholder: 'e.g. 9f86d081884c7d65',
		typeOptions: { password: true },
		required: true,
		displayOptions: { show: { authentication: ['clientCredentials'] } },
	}),
	text({
		displayName: 'Scope',
		name: 'scope',
		placeholder: 'e.g. charges payments',
		displayOptions: { show: { authentication: ['clientCredentials'] } },
		description: 'Scopes to ask for, with spaces between them. Left out when empty.',
	}),
	{
		displayName: 'Client Authentication',
		name: 'clientAuthentication',
		type: 'options',
		options: [...CLIENT_AUTHENTICATIONS],
		default: 'header',
		displayOptions: { show: { authentication: ['clientCredentials'] } },
		description: 'How to send Client ID and secret to the token endpoint',
	},
	{ ...allowHttp, displayOptions: { show: { baseUrl: PLAIN_HTTP } } },
	{
		...allowHttp,
		displayOptions: {
			show: { authentication: ['clientCredentials'], tokenUrl: PLAIN_HTTP },
			// Once is enough where both do.
			hide: { baseUrl: [...PLAIN_HTTP, AN_EXPRESSION] },
		},
	},
	text({
		displayName: 'Postback URL',
		name: 'postbackUrl',
		placeholder: 'e.g. https://n8n.example.com/webhook/…/postback',
		description:
			'Where the service sends status notifications unless a Pay node says otherwise: the Production URL of a Pay Trigger',
	}),
	text({
		displayName: 'Postback Secret',
		name: 'postbackSecret',
		placeholder: 'e.g. 30 random characters',
		typeOptions: { password: true },
		description:
			'At least 16 characters of your own: 30 random ones from a password manager. Pay nodes sign postback URLs with it, and a Pay Trigger takes only what it signed.',
	}),
	{
		displayName:
			'For a Pay Trigger with Signed URL enter a Postback Secret: 30 random characters from a password manager. With it, genuine postbacks are told from forged ones. A wait needs none.',
		name: 'noSecretNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { postbackSecret: [''] } },
	},
	text({
		displayName: 'Previous Postback Secret',
		name: 'previousPostbackSecret',
		placeholder: 'e.g. 30 random characters',
		typeOptions: { password: true },
		displayOptions: { show: { postbackSecret: [{ _cnd: { not: '' } }] } },
		description:
			'While you replace the Postback Secret: the one before it. Postbacks signed with it are still taken; nothing is signed with it. Empty it when those have arrived.',
	}),
	...describeService,
	...senderFields,
	...limits,
];

/** The form, as n8n takes it. */
export const credentialFields: INodeProperties[] = form.map((field) => {
	const fieldOfN8n = { ...field };
	delete fieldOfN8n.mayBeEmpty;
	return fieldOfN8n;
});

export function mayBeEmpty(name: string): boolean {
	return form.some((field) => field.name === name && field.mayBeEmpty === true);
}
