import type { PayCredential } from '../../nodes/Pay/account/fields';
import { readSenderRule, signatureFault } from '../../nodes/Pay/account/sender';

/*
 * Signatures that this project did not compute: published ones, and those of OpenSSL's command line. A test
 * that signs with the same functions as the product cannot see that both are wrong.
 */

afterEach(() => jest.restoreAllMocks());

const STRIPE_BODY = `{
  "id": "evt_123",
  "object": "event",
  "account": "acct_123",
  "api_version": "2017-05-25",
  "created": 1533204620,
  "data": {
    "object": {
      "id": "cus_123",
      "object": "customer",
      "created": 123456789,
      "email": "test@stripe.com",
      "livemode": false,
      "metadata": {}
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_123",
    "idempotency_key": "idempotency-key-123"
  },
  "type": "customer.created"
}
`;

/** openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem; openssl pkey -in rsa.pem -pubout */
const RSA_KEY = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAznT+R6d2k0Ugs/OPPO0x
yijCISPBIJVI1Pzt2Nbmr5UPwQwstfzysdNxi9R1xl44MgDQlwQoD0rg9fDIenP8
EKqorKOa5wJXQzslj8WhgA40sXZFRzBP55V0mpKZ20yvqHs8elGwrfnriv2yLWuz
f6IDpvPAGMdYzUlW4iW4Vh4uid8Xnp7dSn+Dn4cZzyS9jgVDMqdeJnY+Rqqwgq3B
F+Cq0gx7p1ZLnpAGFRKZ2bFLBM35j8VRpj8ZwNHEzCuv3+b3rLTK7LNb0XbCP4g+
Alti0agKfFCKMU3HvAYTt8t83oVI+Ew8g9VMDu6DNKtr03el53YDYiXk6L1SOnO4
YQIDAQAB
-----END PUBLIC KEY-----
`;

interface Vector {
	what: string;
	credential: PayCredential;
	headers: Record<string, string>;
	body: string;
	/** When it was signed, in seconds since 1970; any time will do where none is signed. */
	time?: number;
}

const VECTORS: Vector[] = [
	{
		// The test "sign function works" of the libraries of standard-webhooks/standard-webhooks.
		what: 'Standard Webhooks',
		credential: {
			signedContent: 'standardWebhooks',
			signatureSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
		},
		headers: {
			'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
			'webhook-timestamp': '1614265330',
			'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
		},
		body: '{"test": 2432232314}',
		time: 1_614_265_330,
	},
	{
		// https://docs.svix.com/receiving/verifying-payloads/how-manual
		what: 'Svix, with its own names of the headers',
		credential: {
			signedContent: 'standardWebhooks',
			signatureSecret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
		},
		headers: {
			'svix-id': 'msg_loFOjxBNrRLzqYUf',
			'svix-timestamp': '1731705121',
			'svix-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
		},
		body: '{"event_type":"ping","data":{"success":true}}',
		time: 1_731_705_121,
	},
	{
		// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
		what: 'GitHub: HMAC-SHA256 of the body',
		credential: {
			signatureHeader: 'X-Hub-Signature-256',
			signatureSecret: "It's a Secret to Everybody",
		},
		headers: {
			'x-hub-signature-256':
				'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
		},
		body: 'Hello, World!',
	},
	{
		// EventUtilityTest.cs and event_test_signature.json of stripe/stripe-dotnet.
		what: 'Stripe: timestamp and body, with an older signature beside it',
		credential: {
			signedContent: 'timestampAndBody',
			signatureHeader: 'Stripe-Signature',
			timestampHeader: 'Stripe-Signature',
			signatureSecret: 'webhook_secret',
		},
		headers: {
			'stripe-signature':
				't=1533204620,v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7,v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef',
		},
		body: STRIPE_BODY,
		time: 1_533_204_620,
	},
	{
		// printf %s '{"status":"paid"}' | openssl dgst -sha512 -hmac 'the secret of the service'
		what: 'HMAC-SHA512 of the body',
		credential: {
			signatureHeader: 'X-Signature',
			signatureAlgorithm: 'sha512',
			signatureSecret: 'the secret of the service',
		},
		headers: {
			'x-signature':
				'9f39ed87f7ed5109fc7f613a9a0a352435d4cc9cb8952ccababa90007fa65c2c09e297aefbba66f040ae53a6f25d2f6657bce109ee60a940b240cc306994634c',
		},
		body: '{"status":"paid"}',
	},
	{
		// printf 'POST\n/webhook/7\n1795608000\nn-1\n{"status":"paid"}\n' |
		//   openssl dgst -sha256 -hmac 'the secret of the service' -binary | base64
		what: 'HMAC-SHA256 of a template, in base64',
		credential: {
			signedContent: 'template',
			signedTemplate: '{method}\n{path}\n{timestamp}\n{header:X-Nonce}\n{body}\n',
			signatureHeader: 'X-Signature',
			timestampHeader: 'X-Time',
			signatureSecret: 'the secret of the service',
		},
		headers: {
			'x-time': '1795608000',
			'x-nonce': 'n-1',
			'x-signature': '2bMg4eBNShwykF/NGWlqJkIQNnwTthl+JYSYd/mBqU0=',
		},
		body: '{"status":"paid"}',
		time: 1_795_608_000,
	},
	{
		// printf %s '{"status":"paid"}' | openssl dgst -sha256 -sign rsa.pem | base64 -w0
		what: 'RSA-SHA256 of the body',
		credential: {
			signatureHeader: 'X-Signature',
			signatureAlgorithm: 'rsaSha256',
			signaturePublicKey: RSA_KEY,
		},
		headers: {
			'x-signature':
				'Bzvavqc3ctyBY/yTGbXPTcHHohPxl0j7W3MOpk5dhLNOsOqDVxbrvCie5q2tkK1X986K86yS9qNiex3bywNVYHq7CP3MArJnLFb2So8H/1f77CqXE3GiKac/YiWHrbb10giF4rZP+wPalZjx4z9zaQPTe/XrRLVozZ2OjTERE+IX0iva8uGCPWpt6NbPVh1aAwyTgyVNRvoiJgUdjrHkl61CKaAzg3guv2IKzbYmvhEASarmAG+u+35EBSD7nb97/Q0vPGl88xw3dFXBWLJzLa93toQEFdroxjonkeH7DnfXx2uK2ilhMBf9oj/ufnHweYGKefy72g7urs3Yl+Qt4g==',
		},
		body: '{"status":"paid"}',
	},
];

test.each(VECTORS)(
	'$what: the signature is taken, and of no other body',
	({ credential, headers, body, time = 0 }) => {
		jest.spyOn(Date, 'now').mockReturnValue(time * 1000);
		const rule = readSenderRule({ senderCheck: 'signature', ...credential })!;
		const request = { headers, method: 'POST', path: '/webhook/7' };
		expect(signatureFault(rule, request, Buffer.from(body))).toBeUndefined();
		expect(signatureFault(rule, request, Buffer.from(`${body} `))).toMatch(
			/contains no signature of this body$/,
		);
	},
);
