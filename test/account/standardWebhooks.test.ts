import { createHmac } from 'node:crypto';
import { credentialFields, type PayCredential } from '../../nodes/Pay/account/fields';
import {
	headerFault,
	knownOfSender,
	readSenderRule,
	readSenderRuleOfWait,
	refuseUnsignedFields,
	signatureFault,
} from '../../nodes/Pay/account/sender';
import { refusalOf } from '../refusal';

const NOW = Date.parse('2026-11-25T12:00:00Z');
const SECONDS = NOW / 1000;
const BODY = '{"data":{"status":"paid"}}';
/** Bytes whose base64 has both signs in which the two alphabets differ, and needs padding. */
const KEY = Buffer.from('fbff00fbefbe1234567890abcdef0123456789abcdef0123456789abcd', 'hex');
const SECRET = `whsec_${KEY.toString('base64')}`;
const OTHER_KEY = Buffer.alloc(24, 7);
const STANDARD: PayCredential = {
	senderCheck: 'signature',
	signedContent: 'standardWebhooks',
	signatureSecret: SECRET,
};

beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

const mac = (content: string, key: Buffer = KEY) =>
	createHmac('sha256', key).update(content).digest('base64');

interface Sent {
	prefix?: string;
	id?: string;
	time?: string | number;
	body?: string;
	key?: Buffer;
}

/** The headers of a notification, as its service signs it. */
function headersOf({ prefix = 'webhook', id = 'msg_1', time = SECONDS, body = BODY, key }: Sent) {
	return {
		[`${prefix}-id`]: id,
		[`${prefix}-timestamp`]: String(time),
		[`${prefix}-signature`]: `v1,${mac(`${id}.${time}.${body}`, key)}`,
	};
}

function faultOf(
	headers: Record<string, unknown>,
	{ body = BODY, credential = STANDARD }: { body?: string; credential?: PayCredential } = {},
) {
	const rule = readSenderRule(credential)!;
	const request = { headers, method: 'POST', path: '/webhook/7' };
	return headerFault(rule, headers) ?? signatureFault(rule, request, Buffer.from(body));
}

const GENUINE = headersOf({});
const SIGNATURE = GENUINE['webhook-signature']!;
const NONE = 'the header webhook-signature contains no signature of this body';

describe('a genuine notification is taken', () => {
	test.each<{ what: string; headers: Record<string, unknown> }>([
		{ what: 'with the names of the standard', headers: GENUINE },
		{ what: 'with those of Svix', headers: headersOf({ prefix: 'svix' }) },
		{
			what: 'with other signatures before and behind it',
			headers: {
				...GENUINE,
				'webhook-signature': `v1,${mac('x')} v1a,abcd v2,x ${SIGNATURE} v1,`,
			},
		},
		{ what: 'of five minutes ago', headers: headersOf({ time: SECONDS - 300 }) },
		{
			what: 'whose other set is empty',
			headers: { ...headersOf({ prefix: 'svix' }), 'webhook-signature': ' ' },
		},
	])('one $what is taken', ({ headers }) => {
		expect(faultOf(headers)).toBeUndefined();
	});

	const base64 = KEY.toString('base64');
	test.each<{ what: string; signatureSecret: string }>([
		{ what: 'without the prefix', signatureSecret: base64 },
		{ what: 'in the alphabet of URLs', signatureSecret: `whsec_${KEY.toString('base64url')}` },
		{ what: 'without its padding', signatureSecret: SECRET.replace(/=+$/, '') },
		{ what: 'with spaces around it', signatureSecret: ` ${SECRET} ` },
		{
			what: 'as the old one of two',
			signatureSecret: `${SECRET}\nwhsec_${OTHER_KEY.toString('base64')}`,
		},
		{
			what: 'as the new one of two',
			signatureSecret: `whsec_${OTHER_KEY.toString('base64')}\r\n${SECRET}`,
		},
	])('one is taken with the secret $what', ({ signatureSecret }) => {
		expect(faultOf(GENUINE, { credential: { ...STANDARD, signatureSecret } })).toBeUndefined();
	});

	test('one is taken whatever was left in the fields that the form hides, for a wait too', () => {
		const credential = {
			...STANDARD,
			signatureHeader: '={{ $json.header }}',
			signatureAlgorithm: 'rsaSha256',
			signaturePublicKey: 'no key',
			signedTemplate: '{',
			timestampHeader: 'no header:',
		};
		expect(readSenderRule(credential)).toStrictEqual(readSenderRule(STANDARD));
		expect(readSenderRuleOfWait(credential)).toStrictEqual(readSenderRule(STANDARD));
		const byExpression = { ...credential, signatureSecret: '={{ $vars.secret }}' };
		expect(refusalOf(() => readSenderRuleOfWait(byExpression))).toMatchObject({
			field: 'signatureSecret',
		});
	});
});

describe('anything else is refused', () => {
	const svix = headersOf({ prefix: 'svix' });
	test.each<{ what: string; headers: Record<string, unknown>; body?: string; fault: string }>([
		{
			what: 'no signature',
			headers: { 'webhook-id': 'msg_1', 'webhook-timestamp': String(SECONDS) },
			fault: 'the header webhook-signature or svix-signature is missing',
		},
		{ what: 'another body', headers: GENUINE, body: `${BODY} `, fault: NONE },
		{ what: 'another secret', headers: headersOf({ key: OTHER_KEY }), fault: NONE },
		{
			what: 'the text of the secret as the key',
			headers: headersOf({ key: Buffer.from(SECRET) }),
			fault: NONE,
		},
		{ what: 'another id', headers: { ...GENUINE, 'webhook-id': 'msg_2' }, fault: NONE },
		{
			what: 'no id',
			headers: { ...GENUINE, 'webhook-id': '' },
			fault: 'the header webhook-id is missing',
		},
		{
			what: 'no time',
			headers: { ...GENUINE, 'webhook-timestamp': undefined },
			fault: 'the header webhook-timestamp is missing',
		},
		{
			what: 'a time of before',
			headers: headersOf({ time: SECONDS - 301 }),
			fault: 'the time in the header webhook-timestamp is not the current time',
		},
		{
			what: 'a time to come',
			headers: headersOf({ time: SECONDS + 301 }),
			fault: 'the time in the header webhook-timestamp is not the current time',
		},
		{
			what: 'a header that holds more than the time that is signed',
			headers: { ...GENUINE, 'webhook-timestamp': `paid,t=${SECONDS}` },
			fault: 'the header webhook-timestamp contains something other than a time in seconds',
		},
		{
			what: 'the id and the time of the other set',
			headers: {
				'webhook-signature': svix['svix-signature'],
				'svix-id': svix['svix-id'],
				'svix-timestamp': svix['svix-timestamp'],
			},
			fault: 'the header webhook-id is missing',
		},
		{
			what: 'a genuine set behind another one',
			headers: { ...svix, ...headersOf({ key: OTHER_KEY }) },
			fault: NONE,
		},
		{
			what: 'an id with a point, whose end is the time of before',
			headers: { ...GENUINE, ...headersOf({ id: `msg_1.${SECONDS}` }) },
			fault:
				'the header webhook-id contains the text that separates it from what comes next to it in the signed content',
		},
		{
			// Signed was the time "<seconds>.921" and the body "{…}".
			what: 'a time whose point was moved into the body',
			headers: { ...headersOf({ time: `${SECONDS}.921` }), 'webhook-timestamp': String(SECONDS) },
			body: `921.${BODY}`,
			fault: 'the body begins with part of a time',
		},
		{
			what: 'a genuine signature that says to be of another version',
			headers: { ...GENUINE, 'webhook-signature': SIGNATURE.replace('v1,', 'v2,') },
			fault: 'the header webhook-signature contains no signature of version v1',
		},
		{
			what: 'a genuine signature without a version',
			headers: { ...GENUINE, 'webhook-signature': SIGNATURE.replace('v1,', '') },
			fault: 'the header webhook-signature contains no signature of version v1',
		},
		{
			what: 'signatures with a public key alone',
			headers: { ...GENUINE, 'webhook-signature': `v1a,${mac('x')} v1a,${mac('y')}` },
			fault:
				'the header webhook-signature contains only signatures of version v1a (ed25519), which cannot be checked: ask the service for a secret that begins with whsec_',
		},
		{
			what: 'half a signature',
			headers: { ...GENUINE, 'webhook-signature': SIGNATURE.slice(0, 20) },
			fault: NONE,
		},
		{
			what: 'the right one behind too many',
			headers: { ...GENUINE, 'webhook-signature': `${'v1,a '.repeat(20)}${SIGNATURE}` },
			fault: NONE,
		},
	])('$what is refused: $fault', ({ headers, body, fault }) => {
		expect(faultOf(headers, { body })).toBe(fault);
	});

	test('the signature of no body is refused', () => {
		expect(faultOf(headersOf({ body: '' }), { body: '' })).toBe(
			'there is no body that could be signed',
		);
	});
});

test.each<{ signatureSecret: string }>([
	{ signatureSecret: 'whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
	{ signatureSecret: 'whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
	{ signatureSecret: `${SECRET}\nwhpk_abcd` },
	{ signatureSecret: 'whsec_' },
	{ signatureSecret: 'whsec_two words' },
	{ signatureSecret: 'whsec_MfKQ9' },
	{ signatureSecret: 'whsec_MfKQ===' },
	{ signatureSecret: 'whsec_whsec_!' },
	{ signatureSecret: '-----BEGIN PUBLIC KEY-----' },
	{ signatureSecret: ' ' },
])('the secret $signatureSecret is refused, and not quoted', ({ signatureSecret }) => {
	const refusal = refusalOf(() => readSenderRule({ ...STANDARD, signatureSecret }));
	expect(refusal?.field).toBe('signatureSecret');
	expect(refusal?.message).not.toMatch(/MfKQ|words/);
});

test('its id and its time are signed too, those of the set that counts and no others', () => {
	const rule = readSenderRule(STANDARD)!;
	const both = { ...headersOf({ prefix: 'svix' }), ...GENUINE };
	expect(knownOfSender(rule, both)).toStrictEqual({
		isSignedByService: true,
		signedHeaders: ['webhook-timestamp', 'webhook-id'],
		// With either one a reader of the execution could call again.
		provingHeaders: ['webhook-signature', 'svix-signature'],
		secrets: [],
	});
	expect(knownOfSender(rule, headersOf({ prefix: 'svix' }))).toMatchObject({
		signedHeaders: ['svix-timestamp', 'svix-id'],
	});
	const words = { field: ['headers.svix-id'], paidValues: [], failedValues: [] };
	expect(refusalOf(() => refuseUnsignedFields(STANDARD, words as never))).toBeUndefined();
	const unsigned = { ...words, field: ['headers.x-event'] };
	expect(refusalOf(() => refuseUnsignedFields(STANDARD, unsigned as never))).toMatchObject({
		field: 'statusField',
	});
});

describe('where its headers come and something else is set, the log says so', () => {
	const HINT =
		'. It has the headers of Standard Webhooks: if your service uses that standard, set Check the Sender to Signature and Signed Content to Standard Webhooks';
	const hmac: PayCredential = {
		senderCheck: 'signature',
		signatureHeader: 'X-Signature',
		signatureSecret: 'a secret',
	};
	test.each<{ what: string; credential: PayCredential; headers: object; fault: string }>([
		{
			what: 'another header',
			credential: hmac,
			headers: GENUINE,
			fault: 'the header x-signature is missing',
		},
		{
			what: 'its own header, and the body alone',
			credential: { ...hmac, signatureHeader: 'webhook-signature' },
			headers: GENUINE,
			fault: NONE,
		},
		{
			what: 'a secret header',
			credential: {
				senderCheck: 'secretHeader',
				secretHeaderName: 'X-Token',
				secretHeaderValue: 'a secret',
			},
			headers: headersOf({ prefix: 'svix' }),
			fault: 'the header x-token is missing',
		},
	])('it says so where $what is set', ({ credential, headers, fault }) => {
		expect(faultOf({ ...headers }, { credential })).toBe(fault + HINT);
	});
});

test('the choice is the first one under Check the Sender, and leaves only the secret to be entered', () => {
	const names = credentialFields.map(({ name }) => name);
	expect(names.indexOf('signedContent')).toBeLessThan(names.indexOf('signatureHeader'));
	const showWhere = ({ displayOptions }: (typeof credentialFields)[number]) =>
		displayOptions?.show?.signedContent;
	for (const name of ['signatureHeader', 'signatureAlgorithm', 'signaturePublicKey']) {
		const field = credentialFields.find((each) => each.name === name)!;
		expect(showWhere(field)).not.toContain('standardWebhooks');
	}
});
