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
		'Whether Base URL and Token URL may use http: for hosts other than this machine. Tokens and secrets then travel unencrypted, so use it only for a sandbox on a private network.',
};

const PATH_HINT =
	'Put dots between the levels. If you enter several paths, one per line, the first one that is there counts.';
const POSTBACK_PATH_HINT = `${PATH_HINT} pix[].status reads each entry of a list, headers.x-event reads a header.`;

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
			"Whether to describe what the service's document does not show: how it says that money has moved or that it accepts a request, and the word in its addresses. The description is used by every node with this credential.",
	},
	heading('describePostback', 'What a postback says'),
	described({
		displayName: 'Status Field',
		name: 'statusField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.status',
		description: `Field of a postback's body or query that says what became of a charge or payment. ${POSTBACK_PATH_HINT} Look at one postback in a Pay Trigger first.`,
	}),
	described({
		displayName: 'Paid Values',
		name: 'paidValues',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. paid',
		description:
			'Values of that field that mean "paid", one per line. Upper and lower case count as the same. * means any value that is not empty.',
	}),
	described({
		displayName: 'Failed Values',
		name: 'failedValues',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. failed',
		description:
			'Values of that field that mean it will never be paid, one per line. Include the words for expired and cancelled. * means any value that is not one of the Paid Values. Use it only if your service reports once, at the end: if it reports steps such as PENDING, the first of them would end the wait as failed.',
	}),
	described({
		displayName: 'Required Values',
		name: 'requiredValues',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. livemode = true',
		description:
			'For a service where the Status Field alone does not mean "paid": conditions that must hold too, one path = value per line, such as success = true, livemode = true or currency = EUR. If one does not hold, the state is "other" whatever the status says, and no condition continues. Upper and lower case are the same; * after = means any value that is not empty.',
	}),
	described({
		displayName: 'Refund Field',
		name: 'refundField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.refunds',
		description: `Field of a postback that says that all or part of the money went back. ${PATH_HINT} If one of its paths has one of the Refunded Values, in any entry, the state is "refunded" whatever the status says. pix[].refunds[].status reads a list inside each entry.`,
	}),
	text({
		displayName: 'Refunded Values',
		name: 'refundedValues',
		typeOptions: { rows: 2 },
		default: '*',
		placeholder: 'e.g. refunded',
		displayOptions: { show: { describeService: [true], refundField: [{ _cnd: { not: '' } }] } },
		description:
			'Values of that field that mean all or part of the money went back, one per line. * means any value that is not empty. If your service also says there that nothing went back, such as "none" or "rejected", enter its words for a refund instead.',
	}),
	described({
		displayName: 'Amount Field',
		name: 'amountField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.amount',
		description: `Field of a postback that says how much was paid. ${PATH_HINT} If it is not the amount of the charge or payment, the state is "otherAmount" instead of "paid".`,
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
		description: 'Unit of the Amount Field',
	},
	described({
		displayName: 'External ID Field',
		name: 'idField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.external_id',
		description: `Field of a postback that repeats the External ID of the charge or payment. ${PATH_HINT} If it holds another one, the postback is about something else, and its state is "other".`,
	}),
	heading('describeResponse', 'What a response says'),
	described({
		displayName: 'Result Field',
		name: 'resultField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. success',
		description: `Field of a response that says what became of the request. ${PATH_HINT} If left empty, every 2xx response counts as accepted.`,
	}),
	described({
		displayName: 'Accepted Values',
		name: 'acceptedValues',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. true',
		description:
			'Values of that field that mean "accepted", one per line. A 2xx response without any of them is reported as unknown. If left empty, every 2xx response without a rejected value counts as accepted.',
	}),
	described({
		displayName: 'Rejected Values',
		name: 'rejectedValues',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. insufficient_funds',
		description:
			'Values of that field that mean the request was certainly not carried out, one per line, whatever the HTTP status below 500. A payment with one of them may be sent again, so enter only what the service promises.',
	}),
	described({
		displayName: 'QR Code Path',
		name: 'qrCodePath',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.qrCode',
		description: `Where a response holds the text or image of the QR code. ${PATH_HINT} Needed only if the nodes do not find it by themselves.`,
	}),
	heading('describeRequest', 'What a request holds'),
	described({
		displayName: 'Scheme Name in Paths',
		name: 'schemeName',
		default: 'pay',
		required: true,
		placeholder: 'e.g. pay',
		description:
			'The word between /v2/ and /qrcode in the service\'s addresses. Its document shows "pay" in place of the real one.',
	}),
	described({
		displayName: 'Header for the External ID',
		name: 'externalIdHeader',
		placeholder: 'e.g. Idempotency-Key',
		description:
			'For a service that recognizes a repeated request by a header (an idempotency key): the name of that header. Each request then has its External ID there too. Leave it empty unless the service names one.',
	}),
];

/** For each secret that may be replaced. */
const SECRETS_HINT = 'While you replace it, enter the old one and the new one, one per line';

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
			'How a postback shows that the service sent it. The proof in its URL says which charge it is about, and that the sender knew the URL. This check says who the sender is.',
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
		description: `Everything that the header holds, including a word such as Bearer. ${SECRETS_HINT}.`,
	}),
	{
		displayName: 'Signed Content',
		name: 'signedContent',
		type: 'options',
		options: [
			{
				name: 'Body',
				value: 'body',
				description: 'The raw bytes of the body',
			},
			{
				name: 'Standard Webhooks',
				value: 'standardWebhooks',
				description:
					'The public standard that Svix and others use, with headers such as webhook-signature or svix-signature',
			},
			{
				name: 'Template',
				value: 'template',
				description: 'Several parts of the request, put together',
			},
			{
				name: 'Timestamp and Body',
				value: 'timestampAndBody',
				description: 'The timestamp, a dot, then the body',
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
			'Header that holds the signature, as hexadecimal or base64, with or without a prefix such as "sha256=", alone or among others',
	}),
	{
		displayName: 'Signature Algorithm',
		name: 'signatureAlgorithm',
		type: 'options',
		options: [
			{ name: 'HMAC-SHA256', value: 'sha256', description: 'With a secret that both sides know' },
			{ name: 'HMAC-SHA512', value: 'sha512', description: 'With a secret that both sides know' },
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
		description: `Secret that the service gave you for its notifications: base64, usually after whsec_. ${SECRETS_HINT}.`,
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
			'Public key or certificate of the service, as PEM, with or without its line breaks. While you replace it, enter both, one after the other.',
	}),
	text({
		displayName: 'Signed Template',
		name: 'signedTemplate',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. {timestamp}.{header:X-Nonce}.{body}',
		displayOptions: { show: { senderCheck: ['signature'], signedContent: ['template'] } },
		description:
			'What is signed, character by character, including line breaks. {body} is the body, {timestamp} the value of the Timestamp Header, {header:X-Nonce} another header, {method} the method, such as POST, and {path} the path of the URL as the service knows it.',
	}),
	text({
		displayName: 'Timestamp Header',
		name: 'timestampHeader',
		placeholder: 'e.g. X-Timestamp',
		displayOptions: {
			show: { senderCheck: ['signature'], signedContent: ['timestampAndBody', 'template'] },
		},
		description:
			'Header that holds the timestamp, if one is signed. It may be the Signature Header, if that holds "t=…" or "ts=…" too. A time that is more than five minutes off is refused.',
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
		description:
			'Whether to refuse payments above a limit, or to other recipients, before they are sent',
	},
	text({
		displayName: 'Highest Payment',
		name: 'highestPayment',
		mayBeEmpty: true,
		placeholder: 'e.g. 500.00',
		...limited,
		description: 'The highest amount of a single payment, written like the amounts',
	}),
	text({
		displayName: 'Highest Sum per Execution',
		name: 'highestSum',
		mayBeEmpty: true,
		placeholder: 'e.g. 2000.00',
		...limited,
		description:
			'The highest sum of the payments in one execution, across all its Pay nodes and tools with this account. A list above it is refused as a whole. A loop pays until the sum is reached. A sub-workflow that is called for each item is an execution of its own each time.',
	}),
	text({
		displayName: 'Only Recipients',
		name: 'onlyRecipients',
		mayBeEmpty: true,
		typeOptions: { rows: 3 },
		placeholder: 'e.g. ana@example.com',
		...limited,
		description:
			'Payment keys, one per line: nobody else is paid. A key on its own is paid under any Key Type; to allow one type only, write the type, a space and the key. Additional Members may then contain nothing that could send the money elsewhere.',
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
			'Paths that Additional Members may set nevertheless, even by an expression, one per line. Enter only what your provider does not read as a destination, because whoever writes an item can put anything there.',
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
		description: "How to get the bearer token, which the service's document does not say",
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
		description: 'Scopes to request, separated by spaces. Not sent when empty.',
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
			'A secret of your own with at least 16 characters, ideally 30 random ones from a password manager. Pay nodes sign postback URLs with it, and a Pay Trigger accepts only what it signed.',
	}),
	{
		displayName:
			'For a Pay Trigger with Signed URL, enter a Postback Secret: 30 random characters from a password manager. It tells genuine postbacks from forged ones. A wait does not need it.',
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
			'The old Postback Secret, while you replace it. Postbacks signed with it are still accepted, but nothing new is signed with it. Empty this field once those postbacks have arrived.',
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
