import type { INodeProperties } from 'n8n-workflow';

/** A text, empty at first. */
const text = (field: Omit<INodeProperties, 'type' | 'default'> & { default?: string }) =>
	({ type: 'string', default: '', ...field }) satisfies INodeProperties;

/**
 * An address with http:, whatever spaces are before it. No regular expression: n8n tests one each
 * time it reads the credential, and the reading fails if the process stands still for 250 ms then.
 */
const PLAIN_HTTP = ['http:', 'HTTP:', 'Http:'].map((includes) => ({ _cnd: { includes } }));
/** Its result is not known on the form; n8n shows the fields that depend on it. */
const AN_EXPRESSION = { _cnd: { startsWith: '=' } };

/** Shown only where it changes something, once for each of the two addresses. */
const allowHttp: INodeProperties = {
	displayName: 'Allow HTTP',
	name: 'allowHttp',
	type: 'boolean',
	default: false,
	description:
		'Whether Base URL and Token URL may use http: with other hosts than this machine. Tokens and secrets then travel unencrypted: only for a sandbox on a private network.',
};

/** How a field of a response or postback is entered. */
const PATH_HINT =
	'With dots between the levels; several paths stand one a line, and the first that is there counts.';

/** What the service's document does not show: entered once, it holds for every node. */
const described = (field: Parameters<typeof text>[0]) =>
	text({ ...field, displayOptions: { show: { describeService: [true] } } });

/** A line between the fields of {@link describeService}. */
const heading = (name: string, displayName: string): INodeProperties => ({
	displayName,
	name,
	type: 'notice',
	default: '',
	displayOptions: { show: { describeService: [true] } },
});

const describeService: INodeProperties[] = [
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
		description: `Field of a postback's body, or of its query, that says what became of a charge or payment. ${PATH_HINT} Look at one postback in a Pay Trigger first.`,
	}),
	described({
		displayName: 'Paid Values',
		name: 'paidValues',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. paid',
		description:
			'Values of that field that mean "paid", one a line. Upper and lower case do not count.',
	}),
	described({
		displayName: 'Failed Values',
		name: 'failedValues',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. failed',
		description:
			'Values of that field that mean it will never be paid, one a line. What expired or was cancelled will not be paid either: add the words for it.',
	}),
	described({
		displayName: 'Amount Field',
		name: 'amountField',
		typeOptions: { rows: 2 },
		placeholder: 'e.g. data.amount',
		description: `Field of a postback that says how much was paid. ${PATH_HINT} Where it is not the amount of the charge or payment, the state is "otherAmount" and not "paid".`,
	}),
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

/** How the service signs its notifications. */
const signed = { displayOptions: { show: { verifySignature: [true] } } };
const signature: INodeProperties[] = [
	{
		displayName: "Check the Service's Signature",
		name: 'verifySignature',
		type: 'boolean',
		default: false,
		description:
			'Whether the service signs its notifications and Pay Triggers take only what it signed. The proof in the URL says which charge a postback is about; the signature says that the service wrote the body.',
	},
	text({
		displayName: 'Signature Header',
		name: 'signatureHeader',
		placeholder: 'e.g. X-Signature',
		...signed,
		description:
			'Header that holds the signature: hexadecimal or base64, with a prefix such as "sha256=" or without, alone or among others',
	}),
	text({
		displayName: 'Signature Secret',
		name: 'signatureSecret',
		typeOptions: { password: true },
		...signed,
		description: 'Secret that the service gave you for its notifications',
	}),
	{
		displayName: 'Signature Algorithm',
		name: 'signatureAlgorithm',
		type: 'options',
		options: [
			{ name: 'HMAC-SHA256', value: 'sha256' },
			{ name: 'HMAC-SHA512', value: 'sha512' },
		],
		default: 'sha256',
		...signed,
		description: 'How the service makes the signature',
	},
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
				name: 'Timestamp and Body',
				value: 'timestampAndBody',
				description:
					'The timestamp, a point, then the body. A timestamp that is more than five minutes off is refused.',
			},
		],
		default: 'body',
		...signed,
		description: 'What the service signs',
	},
	text({
		displayName: 'Timestamp Header',
		name: 'timestampHeader',
		placeholder: 'e.g. X-Timestamp',
		displayOptions: {
			show: { verifySignature: [true], signedContent: ['timestampAndBody'] },
		},
		description:
			'Header that holds the timestamp. It may be the Signature Header, where that holds "t=…" too.',
	}),
];

/** Only for money that goes out. */
const limited = { displayOptions: { show: { limitPayments: [true] } } };
const limits: INodeProperties[] = [
	{
		displayName: 'Limit Payments',
		name: 'limitPayments',
		type: 'boolean',
		default: false,
		description: 'Whether payments above a limit, or to another recipient, are refused unsent',
	},
	text({
		displayName: 'Highest Payment',
		name: 'highestPayment',
		placeholder: 'e.g. 500.00',
		...limited,
		description: 'No single payment may be above it. Written as the amounts are.',
	}),
	text({
		displayName: 'Highest Sum per Execution',
		name: 'highestSum',
		placeholder: 'e.g. 2000.00',
		...limited,
		description:
			'What the payments of one execution may come to: of all its Pay nodes and tools with this account. A list above it is refused whole. A loop pays until it is reached. A sub-workflow that is called for each item is an execution of its own each time.',
	}),
	text({
		displayName: 'Only Recipients',
		name: 'onlyRecipients',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. ana@example.com',
		...limited,
		description:
			'Payment keys, one a line: no other is paid. A key alone is paid under any Key Type; write the type, a space and the key to allow that one only. Additional Members may then hold nothing that may say where the money goes.',
	}),
];

/** How a client may prove who it is to a token endpoint. */
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
		description: 'The same, and the rest of the request is JSON, as some services ask',
	},
	{
		name: 'JSON Body',
		value: 'json',
		description: 'Client ID and secret are sent in a JSON body, as some services ask',
	},
] as const;

/** The form of the credential: what every account needs stands first, the rest behind switches. */
export const credentialFields: INodeProperties[] = [
	{
		// Always empty: n8n calls preAuthentication before a request where it is.
		displayName: 'Session Token',
		name: 'sessionToken',
		type: 'hidden',
		typeOptions: { expirable: true, password: true },
		default: '',
	},
	text({
		displayName: 'Base URL',
		name: 'baseUrl',
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
		typeOptions: { password: true },
		required: true,
		displayOptions: { show: { authentication: ['accessToken'] } },
		description: 'Token that the service gave you',
	}),
	text({
		displayName: 'Token URL',
		name: 'tokenUrl',
		required: true,
		placeholder: 'e.g. https://api.example.com/oauth/token',
		displayOptions: { show: { authentication: ['clientCredentials'] } },
		description: 'Address of the token endpoint, in full',
	}),
	text({
		displayName: 'Client ID',
		name: 'clientId',
		required: true,
		displayOptions: { show: { authentication: ['clientCredentials'] } },
	}),
	text({
		displayName: 'Client Secret',
		name: 'clientSecret',
		typeOptions: { password: true },
		required: true,
		displayOptions: { show: { authentication: ['clientCredentials'] } },
	}),
	text({
		displayName: 'Scope',
		name: 'scope',
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
		typeOptions: { password: true },
		displayOptions: { show: { postbackSecret: [{ _cnd: { not: '' } }] } },
		description:
			'While you replace the Postback Secret: the one before it. Postbacks signed with it are still taken; nothing is signed with it. Empty it when those have arrived.',
	}),
	...describeService,
	...signature,
	...limits,
];
