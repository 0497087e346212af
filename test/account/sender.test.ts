import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { PayCredential } from '../../nodes/Pay/account/fields';
import {
	headerFault,
	readSenderRule,
	readSenderRuleOfWait,
	refuseUnsignedFields,
	refuseUnsignedMatch,
	signatureFault,
} from '../../nodes/Pay/account/sender';
import { inWords } from '../../nodes/Pay/base/inputError';
import { refusalOf } from '../refusal';

const SECRET = 'the secret of the service';
const BODY = Buffer.from('\uFEFF{"name":"José"}');
const NOW = Date.parse('2026-11-25T12:00:00Z');
const SECONDS = String(NOW / 1000);

const NO_SIGNATURE = 'the header x-signature contains no signature of this body';

const SIGNED: PayCredential = {
	senderCheck: 'signature',
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
	signatureFault(
		readSenderRule(credential)!,
		{ headers, method: 'POST', path: '/webhook/7' },
		body,
	);

beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

describe('a genuine signature is taken', () => {
	test.each<{ what: string; header: string }>([
		{ what: 'hexadecimal', header: mac('hex') },
		{ what: 'hexadecimal in capitals', header: mac('hex').toUpperCase() },
		{ what: 'base64url', header: mac('base64url') },
		{ what: 'base64 with a prefix', header: `v1=${mac('base64')}` },
		{
			what: 'among others',
			header: `v1=${mac('hex', { secret: 'old' })}, v1=${mac('hex')} v0=abc`,
		},
	])('it is taken $what', ({ header }) => {
		expect(faultOf(SIGNED, { 'x-signature': header })).toBeUndefined();
	});

	test('it is taken as the 20th value, and not as the 21st', () => {
		const behind = (count: number) => ({ 'x-signature': `${'a '.repeat(count)}${mac('hex')}` });
		expect(faultOf(SIGNED, behind(19))).toBeUndefined();
		expect(faultOf(SIGNED, behind(20))).toBe(NO_SIGNATURE);
	});

	test('it is taken in a header that came twice', () => {
		expect(faultOf(SIGNED, { 'x-signature': ['no', mac('hex')] })).toBeUndefined();
	});

	test('it is taken over bytes that are no UTF-8, as they came', () => {
		const body = Buffer.from('{"name":"José"}', 'latin1');
		expect(faultOf(SIGNED, { 'x-signature': mac('hex', { body }) }, body)).toBeUndefined();
	});

	test.each([
		{ what: 'seconds', time: SECONDS },
		{ what: 'milliseconds', time: String(NOW) },
		{ what: 'ISO 8601', time: '2026-11-25T12:00:00Z' },
		{ what: 'five minutes ago', time: String(NOW / 1000 - 300) },
		{ what: 'in five minutes', time: String(NOW / 1000 + 300) },
	])('it is taken with the time $what', ({ time }) => {
		const header = mac('hex', { before: `${time}.` });
		expect(faultOf(TIMED, { 'x-signature': header, 'x-timestamp': time })).toBeUndefined();
	});
});

describe('anything else is refused', () => {
	test.each<{ what: string; headers: Record<string, unknown>; fault: string }>([
		{ what: 'no header', headers: {}, fault: 'the header x-signature is missing' },
		{
			what: 'an empty one',
			headers: { 'x-signature': ' ' },
			fault: 'the header x-signature is missing',
		},
		{
			what: 'another secret',
			headers: { 'x-signature': mac('hex', { secret: 'another' }) },
			fault: NO_SIGNATURE,
		},
		{
			what: 'another body',
			headers: { 'x-signature': mac('hex', { body: Buffer.from('x') }) },
			fault: NO_SIGNATURE,
		},
		{
			what: 'half a signature',
			headers: { 'x-signature': mac('hex').slice(0, 32) },
			fault: NO_SIGNATURE,
		},
		{
			what: 'more than a signature',
			headers: { 'x-signature': `${mac('hex')}00` },
			fault: NO_SIGNATURE,
		},
		{ what: 'no signature', headers: { 'x-signature': 'sha256=' }, fault: NO_SIGNATURE },
		{ what: 'zeros', headers: { 'x-signature': '0'.repeat(64) }, fault: NO_SIGNATURE },
	])('$what is refused: $fault', ({ headers, fault }) => {
		expect(faultOf(SIGNED, headers)).toBe(fault);
	});

	const OLD = 'the time in the header x-timestamp is not the current time';
	test.each<{ what: string; time: string | undefined; fault: string }>([
		{ what: 'no time', time: undefined, fault: 'the header x-timestamp is missing' },
		{ what: 'a time 301 s ago', time: String(NOW / 1000 - 301), fault: OLD },
		{ what: 'a time 301 s ahead', time: String(NOW / 1000 + 301), fault: OLD },
		{ what: 'what is not a time', time: 'yesterday', fault: OLD },
	])('$what is refused: $fault', ({ time, fault }) => {
		const header = mac('hex', { before: `${time}.` });
		expect(faultOf(TIMED, { 'x-signature': header, 'x-timestamp': time })).toBe(fault);
	});

	test('a time that was changed is refused', () => {
		const header = mac('hex', { before: `${SECONDS}.` });
		const headers = { 'x-signature': header, 'x-timestamp': String(NOW / 1000 + 1) };
		expect(faultOf(TIMED, headers)).toBe(NO_SIGNATURE);
	});
});

test('nothing is checked where the switch is off', () => {
	expect(readSenderRule({})).toBeUndefined();
	expect(readSenderRule({ ...SIGNED, senderCheck: 'none' })).toBeUndefined();
});

test('a wait has the same rule, also with a secret that ends in "="', () => {
	const withSign = { ...SIGNED, signatureSecret: `${SECRET}=` };
	expect(readSenderRuleOfWait(SIGNED)).toStrictEqual(readSenderRule(SIGNED));
	expect(readSenderRuleOfWait(withSign)).toStrictEqual(readSenderRule(withSign));
});

test('a wait takes no expression: n8n leaves those as text', () => {
	const withExpression = { ...SIGNED, signatureSecret: '={{ $vars.secret }}' };
	const refusal = refusalOf(() => readSenderRuleOfWait(withExpression));
	expect(refusal).toMatchObject({ field: 'signatureSecret' });
});

test('spaces around the secret of a signature do not count', () => {
	const rule = readSenderRule({ ...SIGNED, signatureSecret: ` ${SECRET} ` });
	expect(rule).toMatchObject({ keys: { secrets: [SECRET] } });
});

test.each([undefined, '', '  '])('a signature with the secret %j is refused', (signatureSecret) => {
	const refusal = refusalOf(() => readSenderRule({ ...SIGNED, signatureSecret }));
	expect(refusal).toMatchObject({ field: 'signatureSecret' });
});

test.each<{ what: string; wrong: PayCredential; field: string }>([
	{ what: 'a switch of no position', wrong: { senderCheck: 'yes' }, field: 'senderCheck' },
	{ what: 'no header', wrong: { signatureHeader: '' }, field: 'signatureHeader' },
	{ what: 'a colon', wrong: { signatureHeader: 'X-Signature:' }, field: 'signatureHeader' },
	{ what: 'MD5', wrong: { signatureAlgorithm: 'md5' }, field: 'signatureAlgorithm' },
	{ what: 'a URL as what is signed', wrong: { signedContent: 'url' }, field: 'signedContent' },
	{ what: 'no header of the time', wrong: { timestampHeader: '' }, field: 'timestampHeader' },
])(
	'a signature with $what is refused, by the name of its field and without the secret',
	({ wrong, field }) => {
		const refusal = refusalOf(() => readSenderRule({ ...TIMED, ...wrong }));
		expect(refusal).toMatchObject({ name: 'InputError', field });
		expect(inWords(refusal)).not.toContain(SECRET);
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
			fault: 'the time in the header x-timestamp is not the current time',
		},
		{
			whole: `${SECONDS}.921`,
			time: SECONDS,
			rest: '921.{"a":1}',
			fault: 'the body begins with part of a time',
		},
	])('$whole is refused: $fault', ({ whole, time, rest, fault }) => {
		expect(faultAt(time, rest, signed(whole, '{"a":1}'))).toBe(fault);
	});

	test.each([
		{ time: '2026-11-25T12:00:00.921Z' },
		{ time: '2026-11-25T09:00:00-03:00' },
		{ time: 'Wed, 25 Nov 2026 12:00:00 GMT' },
	])('a whole one is taken: $time', ({ time }) => {
		expect(faultAt(time, '{"a":1}', signed(time, '{"a":1}'))).toBeUndefined();
	});
});

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = String(RSA.publicKey.export({ type: 'spki', format: 'pem' }));
const PKCS1 = String(RSA.publicKey.export({ type: 'pkcs1', format: 'pem' }));
const RSA_SIGNED: PayCredential = {
	...SIGNED,
	signatureSecret: '',
	signatureAlgorithm: 'rsaSha256',
	signaturePublicKey: PEM,
};
const rsa = (key: KeyObject, content = BODY, hash = 'RSA-SHA256') =>
	createSign(hash).update(content).sign(key, 'base64');

describe('a signature with a public key', () => {
	test.each<{ what: string; key: string }>([
		{ what: 'without its line breaks', key: PEM.replaceAll('\n', '') },
		{ what: 'with spaces in their place', key: PEM.replaceAll('\n', ' ') },
		{ what: 'with \\n in their place', key: PEM.replaceAll('\n', '\\n') },
		{ what: 'of PKCS #1', key: PKCS1 },
		{
			what: 'behind another one',
			key: `${String(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' }))}${PEM}`,
		},
	])('is verified with the key $what', ({ key }) => {
		const credential = { ...RSA_SIGNED, signaturePublicKey: key };
		const header = `sha256=${rsa(RSA.privateKey)}`;
		expect(faultOf(credential, { 'x-signature': header })).toBeUndefined();
		const other = { 'x-signature': rsa(RSA.privateKey, Buffer.from('other')) };
		expect(faultOf(credential, other)).toBe(NO_SIGNATURE);
	});

	test('is refused of another key, of another hash, and with the public key as a secret', () => {
		const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
		expect(faultOf(RSA_SIGNED, { 'x-signature': rsa(other) })).toBe(NO_SIGNATURE);
		const sha1 = rsa(RSA.privateKey, BODY, 'RSA-SHA1');
		expect(faultOf(RSA_SIGNED, { 'x-signature': sha1 })).toBe(NO_SIGNATURE);
		const asSecret = mac('hex', { secret: PEM });
		expect(faultOf(RSA_SIGNED, { 'x-signature': asSecret })).toContain(NO_SIGNATURE);
	});

	test.each<{ what: string; credential: PayCredential; field: string }>([
		{
			what: 'a private key',
			credential: {
				...RSA_SIGNED,
				signaturePublicKey: RSA.privateKey.export({ type: 'pkcs8', format: 'pem' }),
			},
			field: 'signaturePublicKey',
		},
		{
			what: 'a key as the secret of an HMAC',
			credential: { ...SIGNED, signatureSecret: PEM },
			field: 'signatureSecret',
		},
		{
			what: 'a key among the secrets of an HMAC',
			credential: { ...SIGNED, signatureSecret: `old\n ${PEM.replaceAll('\n', '')}` },
			field: 'signatureSecret',
		},
		{
			what: 'a key as JSON writes it, as the secret of an HMAC',
			credential: { ...SIGNED, signatureSecret: JSON.stringify(PEM) },
			field: 'signatureSecret',
		},
		{
			what: 'a key of another kind',
			credential: {
				...RSA_SIGNED,
				signaturePublicKey: generateKeyPairSync('ed25519').publicKey.export({
					type: 'spki',
					format: 'pem',
				}),
			},
			field: 'signaturePublicKey',
		},
		{
			what: 'a key that anybody can compute',
			credential: {
				...RSA_SIGNED,
				signaturePublicKey: generateKeyPairSync('rsa', { modulusLength: 768 }).publicKey.export({
					type: 'spki',
					format: 'pem',
				}),
			},
			field: 'signaturePublicKey',
		},
		{
			what: 'half a key',
			credential: { ...RSA_SIGNED, signaturePublicKey: PEM.slice(0, 200) },
			field: 'signaturePublicKey',
		},
		{
			what: 'a key whose middle is gone',
			credential: { ...RSA_SIGNED, signaturePublicKey: PEM.slice(0, 100) + PEM.slice(200) },
			field: 'signaturePublicKey',
		},
	])('$what is refused', ({ credential, field }) => {
		const refusal = refusalOf(() => readSenderRule(credential));
		expect(refusal?.field).toBe(field);
		const entered = String(credential.signatureSecret || credential.signaturePublicKey);
		const [keyText] = /M[A-Za-z0-9+/]{19}/.exec(entered)!;
		expect(inWords(refusal)).not.toContain(keyText);
	});
});

describe('while a secret is replaced, both count', () => {
	const credential = { ...SIGNED, signatureSecret: `old one\r\n\n ${SECRET} \n` };
	test.each([{ secret: 'old one' }, { secret: SECRET }])(
		'a signature with "$secret" is taken',
		({ secret }) => {
			expect(faultOf(credential, { 'x-signature': mac('hex', { secret }) })).toBeUndefined();
		},
	);

	test('a signature with both as one secret is refused', () => {
		const secret = `old one\n${SECRET}`;
		expect(faultOf(credential, { 'x-signature': mac('hex', { secret }) })).toBe(NO_SIGNATURE);
	});
});

describe('a signature of another kind is called by its name', () => {
	const KINDS = 'Only HMAC-SHA256, HMAC-SHA512 and RSA-SHA256 can be checked';
	test.each<{ header: string; kind: string; length: number }>([
		{ header: mac('hex', { algorithm: 'sha1' }), kind: 'HMAC-SHA1', length: 20 },
		{ header: mac('base64', { algorithm: 'sha1' }), kind: 'HMAC-SHA1', length: 20 },
		{ header: mac('hex', { algorithm: 'sha512' }), kind: 'HMAC-SHA512', length: 64 },
		{ header: `v1=${rsa(RSA.privateKey)}`, kind: 'RSA', length: 256 },
	])('one of $length bytes is called $kind', ({ header, kind, length }) => {
		expect(faultOf(SIGNED, { 'x-signature': header })).toBe(
			`the header x-signature contains no signature of this body. It looks like ${kind}: ${length} bytes. ${KINDS}`,
		);
	});
});

describe('a template of what is signed', () => {
	const template = (signedTemplate: string, more: PayCredential = {}): PayCredential => ({
		...SIGNED,
		signedContent: 'template',
		signedTemplate,
		...more,
	});
	const TIME = { timestampHeader: 'X-Time' };
	const signed = (text: string) =>
		createHmac('sha256', SECRET).update(text, 'latin1').digest('hex');
	const TEXT = BODY.toString('latin1');

	test.each<{
		what: string;
		credential: PayCredential;
		headers: Record<string, string>;
		content: string;
	}>([
		{
			what: 'method, path and body, a line each',
			credential: template('{method}\r\n{path}\n{body}\n'),
			headers: {},
			content: `POST\n/webhook/7\n${TEXT}\n`,
		},
		{
			what: 'a time with points in it',
			credential: template('v1.{timestamp}.{body}', TIME),
			headers: { 'x-time': '2026-11-25T12:00:00.921Z' },
			content: `v1.2026-11-25T12:00:00.921Z.${TEXT}`,
		},
		{
			what: 'a time as ts= in the header of the signature',
			credential: template('ts:{timestamp};{body}', { timestampHeader: 'X-Signature' }),
			headers: { 'x-signature': `ts=${SECONDS},v1=` },
			content: `ts:${SECONDS};${TEXT}`,
		},
		{
			what: 'the body before what follows it',
			credential: template('{body}|{header:X-Nonce}'),
			headers: { 'x-nonce': 'n' },
			content: `${TEXT}|n`,
		},
	])('it holds $what', ({ credential, headers, content }) => {
		const all = { ...headers, 'x-signature': `${headers['x-signature'] ?? ''}${signed(content)}` };
		expect(faultOf(credential, all)).toBeUndefined();
		const forged = { ...headers, 'x-signature': `${headers['x-signature'] ?? ''}${signed('x')}` };
		expect(faultOf(credential, forged)).toBe(NO_SIGNATURE);
	});

	const NONCE =
		'the header x-nonce contains the text that separates it from what comes next to it in the signed content';
	test.each<{
		what: string;
		credential: PayCredential;
		headers: Record<string, string>;
		content: string;
		fault: string;
	}>([
		{
			what: 'a border in a header, so that it may end elsewhere',
			credential: template('{header:X-Nonce}.{body}'),
			headers: { 'x-nonce': 'n.{"a":1}' },
			content: `n.{"a":1}.${TEXT}`,
			fault: NONCE,
		},
		{
			what: 'a border that a header makes together with the text behind it',
			credential: template('{header:X-Nonce}..{body}'),
			headers: { 'x-nonce': 'n.' },
			content: `n...${TEXT}`,
			fault: NONCE,
		},
		{
			what: 'no such header',
			credential: template('{header:X-Nonce}.{body}'),
			headers: {},
			content: `.${TEXT}`,
			fault: 'the header x-nonce is missing',
		},
		{
			what: 'a time long ago',
			credential: template('{timestamp}.{body}', TIME),
			headers: { 'x-time': '1700' },
			content: `1700.${TEXT}`,
			fault: 'the time in the header x-time is not the current time',
		},
		{
			what: 'a time that holds its border',
			credential: template('{timestamp}0{body}', TIME),
			headers: { 'x-time': SECONDS },
			content: `${SECONDS}0${TEXT}`,
			fault:
				'the time in the header x-time contains the text that separates it from what comes next to it',
		},
	])('is refused with $what, genuine as it is', ({ credential, headers, content, fault }) => {
		expect(faultOf(credential, { ...headers, 'x-signature': signed(content) })).toBe(fault);
	});

	test.each<{ entered: unknown; more?: PayCredential }>([
		{ entered: '' },
		{ entered: undefined },
		{ entered: '{timestamp}', more: TIME },
		{ entered: '{body}.{body}' },
		{ entered: '{body}', more: TIME },
		{ entered: '{timestamp}.{body}' },
		{ entered: '{header:X-A}{body}' },
		{ entered: '{body}.{secret}' },
		{ entered: '{header:}.{body}' },
		{ entered: '{body}.{header:a b}' },
		{ entered: '{body}}' },
	])('$entered is refused, by the name of its field', ({ entered, more }) => {
		const credential = { ...template('', more), signedTemplate: entered };
		expect(refusalOf(() => readSenderRule(credential))?.field).toBe('signedTemplate');
	});
});

describe('a secret in a header', () => {
	const HEADER: PayCredential = {
		senderCheck: 'secretHeader',
		secretHeaderName: ' X-Hook ',
		secretHeaderValue: ' old \n abc',
	};
	test.each<{ sent: unknown; fault: string | undefined }>([
		{ sent: 'abc', fault: undefined },
		{ sent: 'old', fault: undefined },
		{ sent: ' abc ', fault: undefined },
		{ sent: undefined, fault: 'the header x-hook is missing' },
		{ sent: ' ', fault: 'the header x-hook is missing' },
		{ sent: 'ABC', fault: 'the header x-hook has another value' },
		{ sent: 'ab', fault: 'the header x-hook has another value' },
		{ sent: 'old\nabc', fault: 'the header x-hook has another value' },
		{ sent: ['wrong', 'abc'], fault: 'the header x-hook has another value' },
	])(
		'where $sent is sent, the fault is $fault, and no signature is asked for',
		({ sent, fault }) => {
			const rule = readSenderRule(HEADER)!;
			expect(headerFault(rule, { 'x-hook': sent })).toBe(fault);
			const request = { headers: {}, method: 'POST', path: '/' };
			expect(signatureFault(rule, request, Buffer.from('x'))).toBeUndefined();
		},
	);

	test.each<{ wrong: PayCredential; field: string }>([
		{ wrong: { secretHeaderName: '' }, field: 'secretHeaderName' },
		{ wrong: { secretHeaderName: 'X Hook' }, field: 'secretHeaderName' },
		{ wrong: { secretHeaderValue: ' \n ' }, field: 'secretHeaderValue' },
		{ wrong: { secretHeaderValue: undefined }, field: 'secretHeaderValue' },
		{ wrong: { secretHeaderValue: 'grün' }, field: 'secretHeaderValue' },
		{ wrong: { secretHeaderValue: 7 }, field: 'secretHeaderValue' },
	])('$wrong is refused', ({ wrong, field }) => {
		const refusal = refusalOf(() => readSenderRule({ ...HEADER, ...wrong }));
		expect(refusal).toMatchObject({ field });
	});

	test('that is an expression is none for a wait', () => {
		const withExpression = { ...HEADER, secretHeaderValue: '={{ $vars.secret }}' };
		const refusal = refusalOf(() => readSenderRuleOfWait(withExpression));
		expect(refusal).toMatchObject({ field: 'secretHeaderValue' });
	});
});

describe('what a service does not sign says nothing', () => {
	const words = (path: string, more = {}) => ({
		field: path.split('\n'),
		paid: ['paid'],
		failed: [],
		...more,
	});
	const WITH_EVENT: PayCredential = {
		...SIGNED,
		signedContent: 'template',
		signedTemplate: '{header:X-Event}.{body}',
	};

	test.each<{ what: string; credential?: PayCredential; status: object; field?: string }>([
		{ what: 'no check', credential: {}, status: words('headers.x-event') },
		{
			what: 'a secret header',
			credential: { senderCheck: 'secretHeader' },
			status: words('headers.x-event'),
		},
		{ what: 'a path in the body', status: words('data.headers.x') },
		{
			what: 'a header as second path',
			status: words('a\nheaders.x-event'),
			field: 'statusField',
		},
		{ what: 'postback.Headers', status: words('postback.Headers.a'), field: 'statusField' },
		{ what: 'a header in brackets', status: words('headers[x-event]'), field: 'statusField' },
		{ what: 'the query', status: words('query.status'), field: 'statusField' },
		{
			what: 'the amount in a header',
			status: words('a', { amountField: ['headers.a'] }),
			field: 'amountField',
		},
		{
			what: 'the id in a header',
			status: words('a', { idField: ['headers.a'] }),
			field: 'idField',
		},
		{
			what: 'the refund in a header',
			status: words('a', { refundField: ['headers.a'] }),
			field: 'refundField',
		},
		{
			what: 'a required value in a header',
			status: words('a', {
				required: [
					{ path: 'live', value: '1' },
					{ path: 'headers.x-mode', value: 'live' },
				],
			}),
			field: 'requiredValues',
		},
		{ what: 'a header that is signed', credential: WITH_EVENT, status: words('headers.X-Event') },
		{
			what: 'another header than the signed one',
			credential: WITH_EVENT,
			status: words('headers.x-other'),
			field: 'statusField',
		},
	])('with $what, the refused field is $field', ({ credential = SIGNED, status, field }) => {
		const refusal = refusalOf(() => refuseUnsignedFields(credential, status as never));
		expect(refusal?.field).toBe(field);
	});

	const EVENT = words('headers.x-event');
	const MODE = words('a', { required: [{ path: 'query.live', value: '1' }] });
	const NAMED = { field: ['headers.x-event'], values: ['paid'] };
	const PAID = { states: ['paid'] };

	test.each<{
		what: string;
		match: object;
		credential?: PayCredential;
		status?: object;
		field?: string;
	}>([
		{ what: 'a wait that names it', match: NAMED, field: 'matchField' },
		{ what: 'a wait for "paid", of a charge without words', match: PAID },
		{ what: 'a wait for "paid"', match: PAID, status: EVENT, field: 'statusField' },
		{ what: 'a wait for "paid" in live mode', match: PAID, status: MODE, field: 'requiredValues' },
		{ what: 'a wait without a check of the sender', match: NAMED, credential: {} },
		{ what: 'a wait whose service signs that header', match: NAMED, credential: WITH_EVENT },
	])('to $what: the refused field is $field', ({ match, credential = SIGNED, status, field }) => {
		const rule = readSenderRule(credential);
		const refusal = refusalOf(() => refuseUnsignedMatch(match as never, rule, status as never));
		expect(refusal?.field).toBe(field);
	});
});
