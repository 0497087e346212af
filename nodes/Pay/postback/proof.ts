import { createHmac, timingSafeEqual } from 'crypto';

/** What a signed postback URL is about: the charge or payment it was made for. */
export interface Reference {
	external_id: string;
	kind: 'qrCode' | 'payment';
	amount: number;
}

export const REFERENCE_PARAMETER = 'pay_reference';
export const SIGNATURE_PARAMETER = 'pay_signature';

/** Longer references are refused unread: a genuine one is made from a single external_id. */
const MAX_REFERENCE_LENGTH = 8192;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

function hmac(reference: string, secret: string): string {
	return createHmac('sha256', secret).update(reference).digest('base64url');
}

/**
 * Appends a signed reference to a postback URL. The service documents no signature (section 6), so
 * the URL itself is the proof: whoever holds it can post for this one reference only.
 *
 * The rest of the URL is left byte for byte, n8n's own `signature` on resume URLs included.
 * @param url an absolute http(s) URL without the two parameters
 * @param secret the credential's postback secret, not empty
 */
export function signUrl(url: string, reference: Reference, secret: string): string {
	const { external_id, kind, amount } = reference;
	const encoded = Buffer.from(JSON.stringify({ external_id, kind, amount })).toString('base64url');
	const parameters = `${REFERENCE_PARAMETER}=${encoded}&${SIGNATURE_PARAMETER}=${hmac(encoded, secret)}`;
	const [address = '', ...fragment] = url.split('#');
	const separator = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&';
	return [address + separator + parameters, ...fragment].join('#');
}

function isReference(value: unknown): value is Reference {
	if (typeof value !== 'object' || value === null) return false;
	const { external_id, kind, amount } = value as Record<string, unknown>;
	return (
		typeof external_id === 'string' &&
		(kind === 'qrCode' || kind === 'payment') &&
		typeof amount === 'number'
	);
}

/**
 * The reference that a notification's query proves, or null when it proves none: parameters
 * missing, repeated, too long, not base64url, or signed with another secret. Compares in constant
 * time.
 * @param query the parsed query; a repeated parameter is a list there and is refused
 */
export function verifyQuery(query: Record<string, unknown>, secret: string): Reference | null {
	const reference = query[REFERENCE_PARAMETER];
	const signature = query[SIGNATURE_PARAMETER];
	if (typeof reference !== 'string' || typeof signature !== 'string' || secret === '') return null;
	if (reference.length > MAX_REFERENCE_LENGTH || !BASE64URL.test(reference)) return null;

	// Comparing the encoded text, not its bytes, refuses second spellings of one signature.
	const expected = Buffer.from(hmac(reference, secret));
	const given = Buffer.from(signature);
	if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;

	const decoded: unknown = JSON.parse(Buffer.from(reference, 'base64url').toString());
	return isReference(decoded) ? decoded : null;
}
