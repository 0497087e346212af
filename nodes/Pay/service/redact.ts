/** Shorter ones are words that responses are full of, the text of a QR code too. */
const SHORTEST_SECRET = 8;

/** A secret as it is, as a URL writes it, and as JSON does that is quoted in a text; some escape "/". */
function spellingsOf(secret: string): string[] {
	const inUrl = encodeURIComponent(secret);
	const inJson = JSON.stringify(secret).slice(1, -1);
	const inSmall = inUrl.replace(/%../g, (code) => code.toLowerCase());
	return [secret, inUrl, inSmall, inJson, inJson.replaceAll('/', '\\/')];
}

/**
 * Replaces secrets that a service or proxy repeats by `***`, in texts, names and numbers at any depth.
 * @param form what else is secret wherever it is, known by its form
 */
export function redact(value: unknown, secrets: readonly string[], form: RegExp): unknown {
	const spellings = secrets
		.filter((secret) => secret.length >= SHORTEST_SECRET)
		.flatMap(spellingsOf)
		// The longest first, or a part of it would be replaced and the rest would stay.
		.sort((a, b) => b.length - a.length);
	const inText = (text: string) =>
		spellings
			.reduce((rest, spelling) => rest.replaceAll(spelling, '***'), text)
			.replace(form, '***');
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
