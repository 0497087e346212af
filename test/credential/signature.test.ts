import { createHmac } from 'node:crypto';
import { readSignatureRule, signatureFault } from '../../nodes/Pay/credential/signature';
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
	test.each<[string, string]>([
		['hexadecimal', mac('hex')],
		['hexadecimal in capitals', mac('hex').toUpperCase()],
		['base64', mac('base64')],
		['base64url', mac('base64url')],
		['with a prefix', `sha256=${mac('hex')}`],
		['base64 with a prefix', `v1=${mac('base64')}`],
		['among others', `v1=${mac('hex', { secret: 'old' })}, v1=${mac('hex')} v0=abc`],
		['with a time beside it', `t=${SECONDS},v1=${mac('hex')}`],
	])('%s', (_what, header) => {
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
		['seconds', SECONDS],
		['milliseconds', String(NOW)],
		['ISO 8601', '2026-11-25T12:00:00Z'],
		['five minutes ago', String(NOW / 1000 - 300)],
		['in five minutes', String(NOW / 1000 + 300)],
	])('with a time: %s', (_what, time) => {
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
	test.each<[string, Record<string, unknown>, string]>([
		['no header', {}, 'the header x-signature is missing'],
		['an empty one', { 'x-signature': ' ' }, 'the header x-signature is missing'],
		['another secret', { 'x-signature': mac('hex', { secret: 'another' }) }, NONE],
		['another body', { 'x-signature': mac('hex', { body: Buffer.from('x') }) }, NONE],
		['half a signature', { 'x-signature': mac('hex').slice(0, 32) }, NONE],
		['more than a signature', { 'x-signature': `${mac('hex')}00` }, NONE],
		['no signature', { 'x-signature': 'sha256=' }, NONE],
		['zeros', { 'x-signature': '0'.repeat(64) }, NONE],
		['the right one behind too many', { 'x-signature': `${'a '.repeat(20)}${mac('hex')}` }, NONE],
	])('%s', (_what, headers, fault) => {
		expect(faultOf(SIGNED, headers)).toBe(fault);
	});

	const OLD = 'the time in the header x-timestamp is not now';
	test.each<[string, string | undefined, string]>([
		['no time', undefined, 'the header x-timestamp is missing'],
		['a time of before', String(NOW / 1000 - 301), OLD],
		['a time to come', String(NOW / 1000 + 301), OLD],
		['no time at all', 'yesterday', OLD],
	])('%s', (_what, time, fault) => {
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

test.each<[PayCredential, string]>([
	[{ verifySignature: 'yes' }, 'verifySignature'],
	[{ ...SIGNED, signatureSecret: '' }, 'signatureSecret'],
	[{ ...SIGNED, signatureSecret: undefined }, 'signatureSecret'],
	[{ ...SIGNED, signatureHeader: '' }, 'signatureHeader'],
	[{ ...SIGNED, signatureHeader: 'X-Signature:' }, 'signatureHeader'],
	[{ ...SIGNED, signatureAlgorithm: 'md5' }, 'signatureAlgorithm'],
	[{ ...SIGNED, signedContent: 'url' }, 'signedContent'],
	[{ ...TIMED, timestampHeader: '' }, 'timestampHeader'],
])('%j is refused, by the name of its field and without the secret', (credential, field) => {
	expect(() => readSignatureRule(credential)).toThrow(
		expect.objectContaining({ name: 'InputError', field }),
	);
	expect(() => readSignatureRule(credential)).not.toThrow(SECRET);
});

test('the signature of no body is refused: it would be true of every request without one', () => {
	const header = mac('hex', { body: Buffer.alloc(0) });
	expect(faultOf(SIGNED, { 'x-signature': header }, Buffer.alloc(0))).toMatch(/no body/);
});

describe('a time whose point was moved into the body', () => {
	const signed = (time: string, body: string) =>
		createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex');
	const faultAt = (time: string, body: string, header: string) =>
		faultOf(TIMED, { 'x-signature': header, 'x-timestamp': time }, Buffer.from(body));

	test.each([
		['2026-11-25T12:00:00.921Z', '2026-11-25T12:00:00', '921Z.{"a":1}'],
		[`${SECONDS}.921`, SECONDS, '921.{"a":1}'],
	])('%s is refused', (whole, time, rest) => {
		expect(faultAt(time, rest, signed(whole, '{"a":1}'))).toBeDefined();
	});

	test.each([
		['2026-11-25T12:00:00.921Z'],
		['2026-11-25T09:00:00-03:00'],
		['Wed, 25 Nov 2026 12:00:00 GMT'],
	])('a whole one is taken: %s', (time) => {
		expect(faultAt(time, '{"a":1}', signed(time, '{"a":1}'))).toBeUndefined();
	});
});
