import { createHmac, timingSafeEqual } from 'crypto';
import { InputError } from '../inputError';
import { PROOF_PARAMETER } from '../service/redact';

/** What a signed postback URL is about: the charge or payment it was made for. */
export interface Reference {
	external_id: string;
	kind: 'qrCode' | 'payment';
	amount: number;
}

/** What a signed postback URL proves. */
export interface Proof extends Reference {
	/** Of a resume URL: its execution, and which charge of it. The postback moves no other one. */
	executionId?: string;
	charge?: string;
}

/** In base64url characters: 132 bits. */
const MAC_LENGTH = 22;

/**
 * No signed URL is longer: web servers and proxies take 8 KB for a request's first line unless told
 * otherwise, and a postback that is refused there is lost.
 */
export const MAX_URL_LENGTH = 8000;

/** What comes after the mac was appended by the service, `?status=paid` for example. */
const PROOF = new RegExp(`^([\\w-]+)\\.([\\w-]{${MAC_LENGTH}})(?![\\w-])(.*)$`, 's');

/**
 * What makes a proof one, wherever a text repeats it: a value of the parameter, and the mac behind a
 * reference, which begins with the same characters whatever it is about. Searched in time that grows
 * with the text's length: all of it hangs on the place that is looked at.
 */
export const PROOF_IN_TEXT = new RegExp(
	`(?<=${PROOF_PARAMETER}(?:=|%3d))[^&\\s"'<>]+|(?<=WyJ[\\w-]*(?:\\.|%2e))[\\w-]{${MAC_LENGTH}}(?![\\w-])`,
	'gi',
);

function macOf(reference: string, secret: string): string {
	const hash = createHmac('sha256', secret).update(reference).digest('base64url');
	return hash.slice(0, MAC_LENGTH);
}

/**
 * Appends a proof of its reference to a postback URL. The service documents no signature (section
 * 6), so the URL itself is the proof: whoever holds it can post for this one reference only.
 *
 * The rest of the URL is left byte for byte, n8n's own `signature` on resume URLs included.
 * @param url an absolute http(s) URL without the parameter, see `parsePostbackUrl`
 * @param secret the credential's postback secret, not empty
 * @throws InputError when the URL gets too long for its postback to be taken
 */
export function signUrl(url: string, proof: Proof, secret: string): string {
	const { external_id, kind, amount, executionId, charge } = proof;
	const list = [kind, amount, external_id];
	if (executionId !== undefined && charge !== undefined) list.push(executionId, charge);
	const encoded = Buffer.from(JSON.stringify(list)).toString('base64url');
	const parameter = `${PROOF_PARAMETER}=${encoded}.${macOf(encoded, secret)}`;
	const [address = '', ...fragment] = url.split('#');
	const separator = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&';
	const signed = [address + separator + parameter, ...fragment].join('#');
	if (signed.length <= MAX_URL_LENGTH) return signed;
	const what = `has ${signed.length} characters, and postbacks to more than ${MAX_URL_LENGTH} are refused on their way`;
	throw parameter.length > url.length
		? new InputError(
				'external_id',
				`external_id is too long: the signed postback URL that holds it ${what}`,
				'Use a shorter identifier of your own, for example the number of an order. Nothing was sent.',
			)
		: new InputError(
				'postbackUrl',
				`The postback URL is too long: signed it ${what}`,
				'Use a shorter address, for example the Production URL of a Pay Trigger. Nothing was sent.',
			);
}

function readProof(encoded: string): Proof | null {
	const value: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString());
	if (!Array.isArray(value)) return null;
	// More members are taken, so that what a later version signs is not lost with this one.
	const [kind, amount, external_id, executionId, charge] = value as unknown[];
	if (kind !== 'qrCode' && kind !== 'payment') return null;
	if (typeof amount !== 'number' || typeof external_id !== 'string') return null;
	const reference: Reference = { external_id, kind, amount };
	return typeof executionId === 'string' && typeof charge === 'string'
		? { ...reference, executionId, charge }
		: reference;
}

/**
 * What a postback's query proves, or null when it proves none: the parameter missing,
 * repeated, cut short, or signed with another secret. Compares in constant time.
 * @param query the parsed query; a repeated parameter is a list there and is refused
 * @param secrets those that are taken; empty ones prove nothing
 */
export function verify(query: Record<string, unknown>, secrets: readonly string[]): Proof | null {
	const proof = query[PROOF_PARAMETER];
	if (typeof proof !== 'string' || proof.length > 2 * MAX_URL_LENGTH) return null;
	const [, reference = '', mac = ''] = PROOF.exec(proof) ?? [];
	if (mac === '') return null;
	// Comparing the encoded text, not its bytes, refuses second spellings of one mac.
	const given = Buffer.from(mac);
	const isGenuine = secrets.some(
		(secret) => secret !== '' && timingSafeEqual(given, Buffer.from(macOf(reference, secret))),
	);
	return isGenuine ? readProof(reference) : null;
}

/**
 * Takes a query apart: what the service says in it, and the mac, which belongs in no execution.
 * Parameters that a service appended with a second question mark are among the former.
 */
export function withoutProof(query: Record<string, unknown>): {
	query: Record<string, unknown>;
	mac: string | undefined;
} {
	const { [PROOF_PARAMETER]: proof, ...rest } = query;
	const [, , mac, appended = ''] = (typeof proof === 'string' && PROOF.exec(proof)) || [];
	const more = Object.fromEntries(new URLSearchParams(appended.replace(/^[^\w%]+/, '')));
	return { query: { ...more, ...rest }, mac };
}
