import { createHmac } from 'node:crypto';
import {
	readSignatureRule,
	readSignatureRuleOfWait,
	signatureFault,
} from '../../nodes/Pay/credential/signature';
import type { PayCredential } from '../../nodes/Pay/credential/connection';

const SECRET = 'the secret of the service';
const BODY = Buffer.from('\uFEFF{"name":"José"}');
const NOW = Date.parse('2026-11-25T12:00:00Z');
const SECONDS = String(NOW / 1000);

const SIGNED: PayCredential = {
	verifySignature: true,
	signatureHeader: ' X-Signature ',
	signatureSecret: SECRET,
};
const TIMED: PayCredential = {
	...SIGNED,
	signedContent: 'timestampAndBody',
	timestampHeader: 'X-Timestamp',
};

const mac = (
	encoding: 'hex' | 'base64' | 'base64url',
	{ algorithm = 'sha256', before = '', body = BODY, secret = SECRET } = {},
) => createHmac(algorithm, secret).update(before).update(body).digest(encoding);

const faultOf = (credential: PayCredential, headers: Record<string, unknown>, body = BODY) =>
	signatureFault(readSignatureRule(credential)!, headers, body);

beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

describe('a genuine signature is taken', () => {
	test.each<{ what: string; header: string }>([
		{
			what: 'hexadecimal',
			header: mac('hex'),
		},
		{
			what: 'hexadecimal in capitals',
			header: mac('hex').toUpperCase(),
		},
		{
			what: 'base64',
			header: mac('base64'),
		},
		{
			what: 'base64url',
			header: mac('base64url'),
		},
		{
			what: 'with a prefix',
			header: `sha256=${mac('hex')}`,
		},
		{
			what: 'base64 with a prefix',
			header: `v1=${mac('base64')}`,
		},
		{
			what: 'among others',
			header: `v1=${mac('hex', { secret: 'old' })}, v1=${mac('hex')} v0=abc`,
		},
		{
			what: 'with a time beside it',
			header: `t=${SECONDS},v1=${mac('hex')}`,
		},
	])('$what', ({ header }) => {
		expect(faultOf(SIGNED, { 'x-signature': header })).toBeUndefined();
	});

	test('HMAC-SHA512', () => {
		const credential = { ...SIGNED, signatureAlgorithm: 'sha512' };
		const header = mac('base64', { algorithm: 'sha512' });
		expect(faultOf(credential, { 'x-signature': header })).toBeUndefined();
		expect(faultOf(credential, { 'x-signature': mac('hex') })).toBeDefined();
	});

	test('a header that came twice', () => {
		expect(faultOf(SIGNED, { 'x-signature': ['no', mac('hex')] })).toBeUndefined();
	});

	test('over bytes that are no UTF-8, as they came', () => {
		const body = Buffer.from('{"name":"José"}', 'latin1');
		expect(faultOf(SIGNED, { 'x-signature': mac('hex', { body }) }, body)).toBeUndefined();
	});

	test.each([
		{
			what: 'seconds',
			time: SECONDS,
		},
		{
			what: 'milliseconds',
			time: String(NOW),
		},
		{
			what: 'ISO 8601',
			time: '2026-11-25T12:00:00Z',
		},
		{
			what: 'five minutes ago',
			time: String(NOW / 1000 - 300),
		},
		{
			what: 'in five minutes',
			time: String(NOW / 1000 + 300),
		},
	])('with a time: $what', ({ time }) => {
		const header = mac('hex', { before: `${time}.` });
		expect(faultOf(TIMED, { 'x-signature': header, 'x-timestamp': time })).toBeUndefined();
	});

	test('with a time in its own header', () => {
		const credential = { ...TIMED, timestampHeader: 'x-signature' };
		const header = `t=${SECONDS},v1=${mac('hex', { before: `${SECONDS}.` })}`;
		expect(faultOf(credential, { 'x-signature': header })).toBeUndefined();
	});
});

describe('anything else is refused', () => {
	const NONE = 'the header x-signature holds no signature of this body';
	test.each<{ what: string; headers: Record<string, unknown>; fault: string }>([
		{
			what: 'no header',
			headers: {},
			fault: 'the header x-signature is missing',
		},
		{
			what: 'an empty one',
			headers: { 'x-signature': ' ' },
			fault: 'the header x-signature is missing',
		},
		{
			what: 'another secret',
			headers: { 'x-signature': mac('hex', { secret: 'another' }) },
			fault: NONE,
		},
		{
			what: 'another body',
			headers: { 'x-signature': mac('hex', { body: Buffer.from('x') }) },
			fault: NONE,
		},
		{
			what: 'half a signature',
			headers: { 'x-signature': mac('hex').slice(0, 32) },
			fault: NONE,
		},
		{
			what: 'more than a signature',
			headers: { 'x-signature': `${mac('hex')}00` },
			fault: NONE,
		},
		{
			what: 'no signature',
			headers: { 'x-signature': 'sha256=' },
			fault: NONE,
		},
		{
			what: 'zeros',
			headers: { 'x-signature': '0'.repeat(64) },
			fault: NONE,
		},
		{
			what: 'the right one behind too many',
			headers: { 'x-signature': `${'a '.repeat(20)}${mac('hex')}` },
			fault: NONE,
		},
	])('$what', ({ headers, fault }) => {
		expect(faultOf(SIGNED, headers)).toBe(fault);
	});

	const OLD = 'the time in the header x-timestamp is not now';
	test.each<{ what: string; time: string | undefined; fault: string }>([
		{
			what: 'no time',
			time: undefined,
			fault: 'the header x-timestamp is missing',
		},
		{
			what: 'a time of before',
			time: String(NOW / 1000 - 301),
			fault: OLD,
		},
		{
			what: 'a time to come',
			time: String(NOW / 1000 + 301),
			fault: OLD,
		},
		{
			what: 'no time at all',
			time: 'yesterday',
			fault: OLD,
		},
	])('$what', ({ time, fault }) => {
		const header = mac('hex', { before: `${time}.` });
		expect(faultOf(TIMED, { 'x-signature': header, 'x-timestamp': time })).toBe(fault);
	});

	test('a time that was changed', () => {
		const header = mac('hex', { before: `${SECONDS}.` });
		const headers = { 'x-signature': header, 'x-timestamp': String(NOW / 1000 + 1) };
		expect(faultOf(TIMED, headers)).toBe(NONE);
	});
});

test('nothing is checked where the switch is off', () => {
	expect(readSignatureRule({})).toBeUndefined();
	expect(readSignatureRule({ ...SIGNED, verifySignature: false })).toBeUndefined();
});

test('a wait has the same rule, and takes no expression: n8n leaves those as text', () => {
	expect(readSignatureRuleOfWait(SIGNED)).toStrictEqual(readSignatureRule(SIGNED));
	const withSign = { ...SIGNED, signatureSecret: `${SECRET}=` };
	expect(readSignatureRuleOfWait(withSign)?.secret).toBe(`${SECRET}=`);
	const withExpression = { ...SIGNED, signatureSecret: '={{ $vars.secret }}' };
	expect(() => readSignatureRuleOfWait(withExpression)).toThrow(
		expect.objectContaining({
			field: 'signatureSecret',
			message:
				'The Signature Secret of the Pay API credential holds an expression, which is not resolved for a wait',
		}),
	);
});

test('spaces around the secret of a signature do not count', () => {
	expect(readSignatureRule({ ...SIGNED, signatureSecret: ` ${SECRET} ` })?.secret).toBe(SECRET);
	const onlySpaces = { ...SIGNED, signatureSecret: '  ' };
	expect(() => readSignatureRule(onlySpaces)).toThrow(
		expect.objectContaining({ field: 'signatureSecret' }),
	);
});

test.each<{ credential: PayCredential; field: string }>([
	{
		credential: { verifySignature: 'yes' },
		field: 'verifySignature',
	},
	{
		credential: { ...SIGNED, signatureSecret: '' },
		field: 'signatureSecret',
	},
	{
		credential: { ...SIGNED, signatureSecret: undefined },
		field: 'signatureSecret',
	},
	{
		credential: { ...SIGNED, signatureHeader: '' },
		field: 'signatureHeader',
	},
	{
		credential: { ...SIGNED, signatureHeader: 'X-Signature:' },
		field: 'signatureHeader',
	},
	{
		credential: { ...SIGNED, signatureAlgorithm: 'md5' },
		field: 'signatureAlgorithm',
	},
	{
		credential: { ...SIGNED, signedContent: 'url' },
		field: 'signedContent',
	},
	{
		credential: { ...TIMED, timestampHeader: '' },
		field: 'timestampHeader',
	},
])(
	'$credential is refused, by the name of its field and without the secret',
	({ credential, field }) => {
		expect(() => readSignatureRule(credential)).toThrow(
			expect.objectContaining({ name: 'InputError', field }),
		);
		expect(() => readSignatureRule(credential)).not.toThrow(SECRET);
	},
);

test('the signature of no body is refused: it would be true of every request without one', () => {
	const header = mac('hex', { body: Buffer.alloc(0) });
	expect(faultOf(SIGNED, { 'x-signature': header }, Buffer.alloc(0))).toBe(
		'there is no body that could be signed',
	);
});

describe('a time whose point was moved into the body', () => {
	const signed = (time: string, body: string) =>
		createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex');
	const faultAt = (time: string, body: string, header: string) =>
		faultOf(TIMED, { 'x-signature': header, 'x-timestamp': time }, Buffer.from(body));

	test.each([
		{
			whole: '2026-11-25T12:00:00.921Z',
			time: '2026-11-25T12:00:00',
			rest: '921Z.{"a":1}',
		},
		{
			whole: `${SECONDS}.921`,
			time: SECONDS,
			rest: '921.{"a":1}',
		},
	])('$whole is refused', ({ whole, time, rest }) => {
		expect(faultAt(time, rest, signed(whole, '{"a":1}'))).toBeDefined();
	});

	test.each([
		{
			time: '2026-11-25T12:00:00.921Z',
		},
		{
			time: '2026-11-25T09:00:00-03:00',
		},
		{
			time: 'Wed, 25 Nov 2026 12:00:00 GMT',
		},
	])('a whole one is taken: $time', ({ time }) => {
		expect(faultAt(time, '{"a":1}', signed(time, '{"a":1}'))).toBeUndefined();
	});
});
