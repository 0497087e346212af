/** Shorter ones are words that responses are full of, the text of a QR code too. */
const SHORTEST_SECRET = 8;

/** A secret as it is, as a URL writes it, and as JSON does that is quoted in a text; some escape "/". */
function spellingsOf(secret: string): string[] {
	const inUrl = encodeURIComponent(secret);
	const inJson = JSON.stringify(secret).slice(1, -1);
	const inUrlInLowerCase = inUrl.replace(/%../g, (code) => code.toLowerCase());
	return [secret, inUrl, inUrlInLowerCase, inJson, inJson.replaceAll('/', '\\/')];
}

/** Each spelling of each secret. The longest first, or a part of it would be replaced and the rest would stay. */
function spellingsOfAll(secrets: readonly string[]): string[] {
	const spellings: string[] = [];
	for (const secret of secrets) {
		if (secret.length >= SHORTEST_SECRET) spellings.push(...spellingsOf(secret));
	}
	return spellings.sort((a, b) => b.length - a.length);
}

function redactText(text: string, spellings: string[], pattern: RegExp): string {
	let rest = text;
	for (const spelling of spellings) rest = rest.replaceAll(spelling, '***');
	return rest.replace(pattern, '***');
}

function redactValue(value: unknown, spellings: string[], pattern: RegExp): unknown {
	if (typeof value === 'string') return redactText(value, spellings, pattern);
	if (typeof value === 'number') {
		return redactText(String(value), spellings, pattern) === '***' ? '***' : value;
	}
	if (Array.isArray(value)) return value.map((member) => redactValue(member, spellings, pattern));
	if (typeof value !== 'object' || value === null) return value;
	const members: Array<[string, unknown]> = [];
	for (const [name, member] of Object.entries(value)) {
		members.push([redactText(name, spellings, pattern), redactValue(member, spellings, pattern)]);
	}
	return Object.fromEntries(members);
}

/**
 * Replaces secrets that a service or proxy repeats by `***`, in texts, names and numbers at any depth.
 * @param pattern matches what else is secret, wherever it is
 */
export function redact(value: unknown, secrets: readonly string[], pattern: RegExp): unknown {
	return redactValue(value, spellingsOfAll(secrets), pattern);
}

/** Headers that prove who the sender is to others; they have no business in an execution. */
export const CREDENTIAL_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** What services call the fixed secret that they send with each notification. */
export const SECRET_HEADER =
	/(token|secret|hmac|password|(api|auth|access|subscription)[-_]?key)$/i;
/** Not a token: that of a query may say which transaction it is. */
export const SECRET_PARAMETER = /(secret|hmac|password|(api|auth|access)[-_]?key)$/i;
