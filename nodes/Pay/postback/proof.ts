import { createHash, createHmac, randomBytes, timingSafeEqual } from 'crypto';
import { InputError } from '../base/inputError';
import { redact } from '../service/redact';

/** What a postback URL with a proof is about: the charge or payment it was made for. */
export interface Reference {
	external_id: string;
	kind: string;
	amount: number;
}

/** The query parameter of a signed postback URL. */
export const PROOF_PARAMETER = 'pay_proof';
/** Its name where a service escaped the address once as HTML, `&` as `&amp;`. */
const ESCAPED_PARAMETER = `amp;${PROOF_PARAMETER}`;
/** The length of a proof's mac, in base64url characters: 132 bits. */
const MAC_LENGTH = 22;
/** Query parameters that prove something: whoever holds one can use it. The other one is n8n's. */
const PROVING_PARAMETERS = [PROOF_PARAMETER, 'signature'];

/** The value of the parameter in a text, after "=" or what a URL makes of it. */
const VALUE_IN_TEXT = `(?<=${PROOF_PARAMETER}(?:=|%3d))[^&\\s"'<>]+`;

/**
 * Each reference begins like this, because it is base64url of `["qrCode",…` or `["payment",…`. The three characters
 * are 18 bits: `["` and the first two bits of the letter, which all letters share.
 */
const REFERENCE_BEGINNING = 'WyJ';

/** The mac after a reference in a text, and after "." or what a URL makes of it. */
const MAC_IN_TEXT = `(?<=${REFERENCE_BEGINNING}[\\w-]*(?:\\.|%2e))[\\w-]{${MAC_LENGTH}}(?![\\w-])`;

/**
 * Finds the secret part of every proof in a text, also of another charge. The time of the search grows only with the
 * length of the text, because each place is decided by what is right beside it.
 */
const PROOF_IN_TEXT = new RegExp(`${VALUE_IN_TEXT}|${MAC_IN_TEXT}`, 'gi');

/** The proofs that a postback URL holds. */
function proofsOf(postbackUrl: string | undefined): string[] {
	if (postbackUrl === undefined || !URL.canParse(postbackUrl)) return [];
	const { searchParams } = new URL(postbackUrl);
	// In `reference.mac` only the mac is secret.
	const proofs: string[] = [];
	for (const name of PROVING_PARAMETERS) {
		for (const proof of searchParams.getAll(name)) {
			proofs.push(proof, proof.slice(proof.lastIndexOf('.') + 1));
		}
	}
	return proofs;
}

/**
 * A value with `***` in place of secrets, of the proofs of a postback URL, and of whatever looks like a
 * proof.
 * @param postbackUrl the one whose proofs are known, if a request had one
 */
export const hideSecrets = (value: unknown, secrets: readonly string[], postbackUrl?: string) =>
	redact(value, [...secrets, ...proofsOf(postbackUrl)], PROOF_IN_TEXT);

/** Web servers and proxies take 8 KB for a request's first line; a longer postback would be lost. */
export const MOST_URL_CHARACTERS = 8000;

/** What comes after the mac was appended by the service, `?status=paid` for example. */
const SIGNED_PROOF = new RegExp(`^([\\w-]+)\\.([\\w-]{${MAC_LENGTH}})(?![\\w-])(.*)$`, 's');

/** The proof of a resume URL, and what the service appended. */
const RANDOM_PROOF = new RegExp(`^([\\w-]{${MAC_LENGTH}})(?![\\w-])(.*)$`, 's');

function macOf(reference: string, secret: string): string {
	const hash = createHmac('sha256', secret).update(reference).digest('base64url');
	return hash.slice(0, MAC_LENGTH);
}

const encodeReference = ({ kind, amount, external_id }: Reference) =>
	Buffer.from(JSON.stringify([kind, amount, external_id])).toString('base64url');

/** Appends a parameter to an address without a fragment. */
function withParameter(address: string, parameter: string): string {
	if (!address.includes('?')) return `${address}?${parameter}`;
	if (address.endsWith('?') || address.endsWith('&')) return address + parameter;
	return `${address}&${parameter}`;
}

/** Appends a proof; the rest of the URL is left byte for byte, n8n's own `signature` included. */
function withProof(url: string, proof: string): string {
	const parameter = `${PROOF_PARAMETER}=${proof}`;
	const [address = '', ...fragment] = url.split('#');
	const whole = [withParameter(address, parameter), ...fragment].join('#');
	if (whole.length <= MOST_URL_CHARACTERS) return whole;
	const what = `has ${whole.length} characters, and postbacks to more than ${MOST_URL_CHARACTERS} are refused on their way`;
	if (parameter.length > url.length) {
		throw new InputError(
			'external_id',
			`External ID (external_id) is too long: the signed postback URL that contains it ${what}`,
			'Use a shorter identifier of your own, for example the number of an order.',
		);
	}
	throw new InputError(
		'postbackUrl',
		`The postback URL is too long: once it is signed, it ${what}`,
		'Use a shorter address, for example the Production URL of a Pay Trigger.',
	);
}

/**
 * Appends a proof of its reference to a postback URL. The service documents no signature (section
 * 6), so the URL itself is the proof: whoever holds it can post for this one reference only.
 * @throws InputError when the URL gets too long for its postback to be taken
 */
export function signUrl(url: string, reference: Reference, secret: string): string {
	const encoded = encodeReference(reference);
	return withProof(url, `${encoded}.${macOf(encoded, secret)}`);
}

/** The length of a proof's hash, in base64url characters: 132 bits. */
const HASH_LENGTH = 22;

const proofHash = (proof: string) =>
	createHash('sha256').update(proof).digest('base64url').slice(0, HASH_LENGTH);

/** A random proof, as long as a mac. */
export const randomProof = () => randomBytes(MAC_LENGTH).toString('base64url').slice(0, MAC_LENGTH);

/**
 * Appends a random proof to a resume URL; the execution keeps its hash, and what the proof is about. Nobody
 * who reads the execution, or knows a secret, can make the URL. Throws as {@link signUrl}.
 */
export function withRandomProof(url: string, proof: string): { url: string; hash: string } {
	return { url: withProof(url, proof), hash: proofHash(proof) };
}

/** A signed proof taken apart. Nothing of its reference is parsed before somebody knows that it is genuine. */
interface SignedProof {
	is: 'signed';
	encoded: string;
	mac: string;
	/** What the service wrote after it. */
	appended: string;
}

/** The proof of a resume URL taken apart. */
interface RandomProof {
	is: 'random';
	proof: string;
	appended: string;
}

/** Takes the proof in a query apart. A repeated parameter comes as a list, and counts as none. */
function proofIn(query: Record<string, unknown>): SignedProof | RandomProof | undefined {
	const text = query[PROOF_PARAMETER] ?? query[ESCAPED_PARAMETER];
	if (typeof text !== 'string' || text.length > 2 * MOST_URL_CHARACTERS) return undefined;
	const [, encoded, mac, behindMac = ''] = SIGNED_PROOF.exec(text) ?? [];
	if (encoded !== undefined && mac !== undefined) {
		return { is: 'signed', encoded, mac, appended: behindMac };
	}
	const [, proof, appended = ''] = RANDOM_PROOF.exec(text) ?? [];
	return proof === undefined ? undefined : { is: 'random', proof, appended };
}

/** What the query of a signed URL proves, or null. */
export function verify(
	query: Record<string, unknown>,
	secrets: readonly string[],
): Reference | null {
	const proof = proofIn(query);
	if (proof?.is !== 'signed') return null;
	for (const secret of secrets) {
		if (isMadeWith(secret, proof)) return decodeReference(proof.encoded);
	}
	return null;
}

/** Tells whether a secret made a proof, in constant time. An empty secret proves nothing. */
function isMadeWith(secret: string, { encoded, mac }: SignedProof): boolean {
	if (secret === '') return false;
	// Comparing the encoded text, not its bytes, refuses second spellings of one mac.
	return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(encoded, secret)));
}

function decodeReference(encoded: string): Reference | null {
	const value: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString());
	if (!Array.isArray(value)) return null;
	// More members are taken, so that what a later version signs is not lost with this one.
	const [kind, amount, external_id] = value as unknown[];
	if (typeof kind !== 'string' || typeof external_id !== 'string') return null;
	return typeof amount === 'number' ? { external_id, kind, amount } : null;
}

/** The hash of the random proof in a query, see {@link withRandomProof}; undefined where it has none. */
export function hashOfRandomProof(query: Record<string, unknown>): string | undefined {
	const proof = proofIn(query);
	return proof?.is === 'random' ? proofHash(proof.proof) : undefined;
}

/**
 * Takes a query apart: what the service says in it, and the secret of its proof, which belongs in no
 * execution. What the service says includes the parameters that it appended with a second question mark.
 */
export function withoutProof(query: Record<string, unknown>): {
	query: Record<string, unknown>;
	secret: string | undefined;
} {
	const rest = { ...query };
	delete rest[PROOF_PARAMETER];
	delete rest[ESCAPED_PARAMETER];
	const proof = proofIn(query);
	if (proof === undefined) return { query: rest, secret: undefined };
	const appended = new URLSearchParams(proof.appended.replace(/^[^\w%]+/, ''));
	return {
		query: { ...Object.fromEntries(appended), ...rest },
		secret: proof.is === 'signed' ? proof.mac : proof.proof,
	};
}

/*
 * A request that is tried again under an idempotency key has to be the same to the byte, or the service
 * rejects it for good (422). Its postback URL is a part of it, so a second try has the proof of the first.
 */

/** The proofs of each session, by what they are for. n8n drops a session's object, and they go with it. */
const proofs = new WeakMap<object, Map<string, string>>();

/**
 * The random proof for a postback URL: the same one for each try within a session. After a crash, or in
 * another process, it is another one.
 * @param session n8n's object for an execution from one wait to the next
 * @param what the item that is tried, and what it asks for
 */
export function keptProof(session: object, what: string): string {
	const ofSession = proofs.get(session) ?? new Map<string, string>();
	proofs.set(session, ofSession);
	const proof = ofSession.get(what) ?? randomProof();
	ofSession.set(what, proof);
	return proof;
}
