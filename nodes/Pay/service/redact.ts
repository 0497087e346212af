/** The query parameter of a signed postback URL. */
export const PROOF_PARAMETER = 'pay_proof';
/** Of its mac, in base64url characters: 132 bits. */
export const MAC_LENGTH = 22;
/** Query parameters that prove something: whoever holds one can use it. The other one is n8n's. */
const PROOFS = [PROOF_PARAMETER, 'signature'];

/**
 * What makes a proof one, wherever a text repeats it, that of another charge too: a value of the
 * parameter, and the mac behind a reference, which begins with the same characters whatever it is
 * about. Searched in time that grows with the text's length: all of it hangs on the place looked at.
 */
const PROOF_IN_TEXT = new RegExp(
	`(?<=${PROOF_PARAMETER}(?:=|%3d))[^&\\s"'<>]+|(?<=WyJ[\\w-]*(?:\\.|%2e))[\\w-]{${MAC_LENGTH}}(?![\\w-])`,
	'gi',
);

/** Shorter ones are words that responses are full of, the text of a QR code too. */
const SHORTEST_SECRET = 8;

/** The proofs that a postback URL holds. */
export function proofsOf(postbackUrl: string | undefined): string[] {
	if (postbackUrl === undefined || !URL.canParse(postbackUrl)) return [];
	const { searchParams } = new URL(postbackUrl);
	// In `reference.mac` only the mac is secret.
	return PROOFS.flatMap((name) => searchParams.getAll(name)).flatMap((proof) => [
		proof,
		proof.slice(proof.lastIndexOf('.') + 1),
	]);
}

/** The characters of a text's Base64 form that are the same wherever it is in a longer text. */
function inBase64(secret: string): string[] {
	const bytes = Buffer.from(secret);
	return [0, 1, 2].map((before) => {
		const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
		const from = [0, 2, 3][before];
		return encoded.slice(from, Math.floor(((before + bytes.length) * 8) / 6));
	});
}

/**
 * A text, however JSON, HTML or a URL may have escaped it, once or several times over. No two places
 * of the pattern may take the same backslashes, nor may it begin with a row of them: the time to
 * search a long row would grow with its square, and a response could hold n8n up for hours.
 */
function spelled(text: string): string {
	const parts = text.match(/\\+|[^\\]/gsu) ?? [];
	const escaped = parts.map((part, i) => {
		if (/[A-Za-z0-9]/.test(part)) return part;
		const code = part.codePointAt(0) ?? 0;
		const hex = code.toString(16);
		const inHtmlOrUrl = `&(?:amp;)*#(?:x0*${hex}|0*${code});|%(?:25)*${hex}`;
		// Each escaping doubles a backslash, so any number of them may mean one.
		if (part.startsWith('\\')) {
			return `(?:\\\\(?:u0*5c)?|${inHtmlOrUrl})${i === 0 ? '' : '+'}`;
		}
		const literal = part.replace(/[$^.*+?()[\]{}|/-]/g, '\\$&');
		if (i === 0) return `(?:${literal}|\\\\u0*${hex}|${inHtmlOrUrl})`;
		if (parts[i - 1]?.startsWith('\\')) return `(?:${literal}|u0*${hex}|${inHtmlOrUrl})`;
		return `(?:\\\\*${literal}|\\\\+u0*${hex}|${inHtmlOrUrl})`;
	});
	return escaped.join('');
}

/** Finds a secret in a text, however a service may have written it there. */
function patternOf(secret: string): RegExp {
	const base64 = inBase64(secret);
	const inUrls = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
	const texts = [secret, ...base64, ...inUrls].map(spelled);
	const hex = Buffer.from(secret).toString('hex');
	// The longest first, or a part of it would be replaced and the rest would stay.
	const all = [...new Set([...texts, hex])].sort((a, b) => b.length - a.length);
	return new RegExp(all.join('|'), 'gi');
}

/**
 * Replaces secrets, and every proof, that a service or proxy repeats by `***`, in texts, names and
 * numbers at any depth, also as they look in JSON, HTML, a URL, hex and Base64, once or several times over.
 */
export function redact(value: unknown, secrets: string[]): unknown {
	const patterns = [...new Set(secrets)]
		.filter((secret) => secret.length >= SHORTEST_SECRET)
		.sort((a, b) => b.length - a.length)
		.map(patternOf)
		.concat(PROOF_IN_TEXT);
	const inText = (text: string) =>
		patterns.reduce((rest, pattern) => rest.replace(pattern, '***'), text);
	const inValue = (each: unknown): unknown => {
		if (typeof each === 'string') return inText(each);
		if (typeof each === 'number') return inText(String(each)) === '***' ? '***' : each;
		if (Array.isArray(each)) return each.map(inValue);
		if (typeof each !== 'object' || each === null) return each;
		return Object.fromEntries(
			Object.entries(each).map(([name, member]) => [inText(name), inValue(member)]),
		);
	};
	return inValue(value);
}
