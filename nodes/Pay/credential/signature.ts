import { createHmac, timingSafeEqual } from 'crypto';
import { checksSignature, type PayCredential } from './connection';
import { signatureFields } from './fields';
import { isHeaderName } from './headerName';
import { wrongInCredential } from './wrongField';

/*
 * A service's own signature of its notifications. The proof in a postback's URL says which charge it is
 * about and that its sender knew the URL; the signature says that the service wrote the body. The
 * document shows neither: the user enters how the service signs.
 */

/** How a service signs what it sends. */
export interface SignatureRule {
	/** The header that holds it, in small letters. */
	header: string;
	secret: string;
	algorithm: 'sha256' | 'sha512';
	/** The header of the time that is signed before the body, in small letters; absent where none is. */
	timestampHeader?: string;
}

function headerIn(credential: PayCredential, field: 'signatureHeader' | 'timestampHeader'): string {
	const value = credential[field];
	const name = typeof value === 'string' ? value.trim().toLowerCase() : '';
	if (isHeaderName(name)) return name;
	throw wrongInCredential(
		field,
		'must be the name of a header',
		'Enter the name that the service gave you, without a colon.',
	);
}

/**
 * Reads how a service signs, from a credential whose expressions n8n has resolved; undefined where that is
 * not checked. Throws an InputError.
 */
export function readSignatureRule(credential: PayCredential): SignatureRule | undefined {
	if (!checksSignature(credential)) return undefined;
	const { signatureSecret, signatureAlgorithm = 'sha256', signedContent = 'body' } = credential;
	if (typeof signatureSecret !== 'string' || signatureSecret.trim() === '') {
		throw wrongInCredential(
			'signatureSecret',
			'is empty',
			'Enter the secret that the service gave you.',
		);
	}
	if (signatureAlgorithm !== 'sha256' && signatureAlgorithm !== 'sha512') {
		throw wrongInCredential(
			'signatureAlgorithm',
			'must be sha256 or sha512',
			'Choose one from the list.',
		);
	}
	if (signedContent !== 'body' && signedContent !== 'timestampAndBody') {
		throw wrongInCredential(
			'signedContent',
			'must be body or timestampAndBody',
			'Choose one from the list.',
		);
	}
	const rule: SignatureRule = {
		header: headerIn(credential, 'signatureHeader'),
		secret: signatureSecret.trim(),
		algorithm: signatureAlgorithm,
	};
	if (signedContent === 'timestampAndBody') {
		rule.timestampHeader = headerIn(credential, 'timestampHeader');
	}
	return rule;
}

/** As {@link readSignatureRule}, from the credential of a wait, whose expressions n8n leaves as text. */
export function readSignatureRuleOfWait(credential: PayCredential): SignatureRule | undefined {
	for (const { name } of signatureFields) {
		const value = credential[name];
		if (typeof value === 'string' && value.startsWith('=')) {
			throw wrongInCredential(
				name,
				'holds an expression, which is not resolved for a wait',
				'Enter it as text, select another credential in the wait, or use a Pay Trigger.',
			);
		}
	}
	return readSignatureRule(credential);
}

/** More values than a service puts into one header. */
const MOST_VALUES = 20;
/** How far a signed time may be off, in milliseconds. */
const MOST_OFF = 5 * 60_000;

/** The bytes that a text may stand for: hexadecimal, or base64 in either alphabet. */
function bytesIn(text: string, length: number): Buffer | undefined {
	const isHex = text.length === 2 * length && /^[0-9a-f]+$/i.test(text);
	const bytes = Buffer.from(text, isHex ? 'hex' : 'base64');
	return bytes.length === length ? bytes : undefined;
}

/** The values of a signature header: alone or among others, each with a prefix such as `v1=` or without. */
function signaturesIn(header: string): string[] {
	const values: string[] = [];
	for (const part of header.split(/[,;\s]+/).slice(0, MOST_VALUES)) {
		const at = part.indexOf('=');
		values.push(part, part.slice(at + 1));
	}
	return values;
}

/** A time of a header: alone, or as `t=` among other values (as in the signature's own header). */
function timestampIn(header: string): string {
	const [, marked] = /(?:^|[,;\s])t=([^,;\s]+)/.exec(header) ?? [];
	return marked ?? header.trim();
}

/** Whole times, with their zone: of ISO 8601, and of HTTP's own Date. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/;
const HTTP_TIME = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
/**
 * A body that begins with the end of a time: somebody moved the point between time and body. Of the signed
 * `1700.{…}` they send the time `17` and the body `00.{…}`, and the signature is still genuine.
 */
const START_OF_TIME = /^\d+(Z|[+-]\d\d:?\d\d)?\./;
const CUT_TIME = 'the body begins with a part of a time';

/** Milliseconds since 1970 of a time in seconds, in milliseconds, or as ISO 8601 or HTTP write it. */
function timeOf(timestamp: string): number {
	if (ISO_TIME.test(timestamp) || HTTP_TIME.test(timestamp)) return Date.parse(timestamp);
	if (!/^\d+$/.test(timestamp)) return NaN;
	const number = Number(timestamp);
	return number < 100_000_000_000 ? number * 1000 : number;
}

/** The text of a header, which Node gives as a list where it came several times. */
function headerText(value: unknown): string {
	return Array.isArray(value) ? value.join(',') : String(value ?? '');
}

const BYTES_ARE_GONE =
	'n8n has read this multipart form before the node, so nothing of it can be verified. Add "binaryData": true to the options of this node in the JSON of the workflow';

/**
 * Why a request was not signed by the service, in words for a log, without a secret; undefined where it
 * was. Compares in constant time.
 * @param headers by their names in small letters
 * @param body its bytes as they came; what n8n made of it where they are gone
 */
export function signatureFault(
	rule: SignatureRule,
	headers: Readonly<Record<string, unknown>>,
	body: object,
): string | undefined {
	if (!Buffer.isBuffer(body)) return BYTES_ARE_GONE;
	// One signature of an empty body would fit every request without a body, whatever its query says.
	if (body.length === 0) return 'there is no body that could be signed';
	const { header, secret, algorithm, timestampHeader } = rule;
	const sent = headerText(headers[header]);
	if (sent.trim() === '') return `the header ${header} is missing`;
	const hmac = createHmac(algorithm, secret);
	if (timestampHeader !== undefined) {
		const timestamp = timestampIn(headerText(headers[timestampHeader]));
		if (timestamp === '') return `the header ${timestampHeader} is missing`;
		// A time that cannot be read is as good as none: NaN compares as false.
		const isRecent = Math.abs(Date.now() - timeOf(timestamp)) <= MOST_OFF;
		if (!isRecent) return `the time in the header ${timestampHeader} is not now`;
		if (START_OF_TIME.test(body.toString('latin1', 0, 40))) return CUT_TIME;
		hmac.update(`${timestamp}.`);
	}
	const expected = hmac.update(body).digest();
	for (const value of signaturesIn(sent)) {
		const found = bytesIn(value, expected.length);
		if (found !== undefined && timingSafeEqual(found, expected)) return undefined;
	}
	return `the header ${header} holds no signature of this body`;
}
