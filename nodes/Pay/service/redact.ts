/** Query parameters of a postback URL that prove something: whoever holds one can use it. */
const PROOFS = ['pay_proof', 'pay_signature', 'signature'];

/** The proofs that a postback URL holds. */
export function proofsOf(postbackUrl: string | undefined): string[] {
	if (postbackUrl === undefined || !URL.canParse(postbackUrl)) return [];
	const { searchParams } = new URL(postbackUrl);
	// After the dot of `reference.mac` stands what must not be known; the reference is no secret.
	return PROOFS.flatMap((name) => searchParams.getAll(name)).flatMap((proof) => [
		proof,
		proof.slice(proof.lastIndexOf('.') + 1),
	]);
}

/** The characters of a text's Base64 form that are the same wherever it stands in a longer text. */
function inBase64(secret: string): string[] {
	const bytes = Buffer.from(secret);
	return [0, 1, 2].map((before) => {
		const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
		const from = [0, 2, 3][before];
		return encoded.slice(from, Math.floor(((before + bytes.length) * 8) / 6));
	});
}

/** A character as JSON, HTML, a URL or hex write it, also several times over. */
function escaped(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	const hex = code.toString(16);
	const literal = character.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
	if (/[A-Za-z0-9]/.test(character)) return literal;
	return `(?:\\\\*${literal}|\\\\+u0*${hex}|&(?:amp;)*#(?:x0*${hex}|0*${code});|%(?:25)*${hex})`;
}

/** Finds a secret in a text, however a service may have written it there. */
function patternOf(secret: string): RegExp {
	const base64 = secret.length >= 8 ? inBase64(secret) : [];
	const inUrls = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
	const hex = secret.length >= 8 ? [Buffer.from(secret).toString('hex')] : [];
	const spelled = [secret, ...base64, ...inUrls].map((text) => [...text].map(escaped).join(''));
	// The longest first, or a part of it would be replaced and the rest would stay.
	const all = [...new Set([...spelled, ...hex])].sort((a, b) => b.length - a.length);
	return new RegExp(all.join('|'), 'gi');
}

/**
 * Replaces secrets that a service or proxy repeats in its answer by `***`, in texts, names and
 * numbers at any depth, also as they look in JSON, HTML, a URL, hex and Base64, once or several times over.
 * @param value parsed JSON or a text
 */
export function redact(value: unknown, secrets: string[]): unknown {
	const patterns = [...new Set(secrets)]
		.filter((secret) => secret !== '')
		.sort((a, b) => b.length - a.length)
		.map(patternOf);
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
