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

/** How a service may write a secret that it repeats. */
function spellings(secret: string): string[] {
	const base64 = secret.length >= 8 ? inBase64(secret) : [];
	const url = encodeURIComponent(secret);
	return [
		secret,
		JSON.stringify(secret).slice(1, -1),
		url,
		url.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
		...base64,
		...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
	];
}

/**
 * Replaces secrets that a service or proxy repeats in its answer by `***`, in texts, names and
 * numbers at any depth, also as they look in JSON, in a URL and in Base64.
 * @param value parsed JSON or a text
 */
export function redact(value: unknown, secrets: string[]): unknown {
	const hidden = [...new Set(secrets.filter((secret) => secret !== '').flatMap(spellings))]
		// The longest first, or a part of it would be replaced and the rest would stay.
		.sort((a, b) => b.length - a.length);
	const inText = (text: string) =>
		hidden.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
	const inValue = (each: unknown): unknown => {
		if (typeof each === 'string') return inText(each);
		if (typeof each === 'number') return hidden.includes(String(each)) ? '***' : each;
		if (Array.isArray(each)) return each.map(inValue);
		if (typeof each !== 'object' || each === null) return each;
		return Object.fromEntries(
			Object.entries(each).map(([name, member]) => [inText(name), inValue(member)]),
		);
	};
	return inValue(value);
}
