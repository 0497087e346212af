const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** How the bytes of other images begin: JPEG, GIF, WebP, SVG, XML. */
const OTHER_IMAGE = /^(\xff\xd8\xff|GIF8|RIFF....WEBP|\s*<svg[\s>]|\s*<\?xml\s.*<svg[\s>])/s;
const IMAGE_LINK = /^https?:\/\/[^?#\s]+\.(png|jpe?g|gif|webp|svg)([?#]\S*)?$/i;

/** The bytes of a text in base64 or base64url, white space left out; none where it is something else. */
function fromBase64(text: string): Buffer | undefined {
	// Not one pattern for all of it, which would keep each digit of an image on the stack.
	if (/[^\w+/=\s-]/.test(text)) return undefined;
	const base64 = text.replace(/\s+/g, '');
	const digits = base64.replace(/={1,2}$/, '');
	const isBase64 = digits.length >= 8 && !digits.includes('=');
	return isBase64 ? Buffer.from(base64, 'base64') : undefined;
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** What stands behind the head of a data URI of an image; undefined where a text is none. */
function imageData(text: string): string | undefined {
	const start = text.trimStart();
	if (!/^data:image\//i.test(start)) return undefined;
	const comma = start.indexOf(',');
	return comma < 0 ? undefined : start.slice(comma + 1);
}

/** As much of a text as says what it is, in characters. */
const HEAD = 20_000;

/** What image a text is: a PNG in base64 or a data URI, or another one, which cannot be used. */
export function imageIn(text: string): { png: Buffer } | 'other' | undefined {
	const data = imageData(text);
	const bytes = fromBase64(data === undefined ? text : decoded(data));
	// The order counts: a data URI is an image whatever it holds, and a PNG in it is one that can be used.
	if (bytes?.subarray(0, 8).equals(PNG_SIGNATURE)) return { png: bytes };
	if (data !== undefined) return 'other';
	if (bytes !== undefined && OTHER_IMAGE.test(bytes.toString('latin1', 0, HEAD))) return 'other';
	if (OTHER_IMAGE.test(text.slice(0, HEAD))) return 'other';
	const link = text.trim();
	if (link.length <= HEAD && IMAGE_LINK.test(link)) return 'other';
	// The bytes of a PNG that were read as text are lost.
	return text.slice(1).startsWith('PNG\r\n') ? 'other' : undefined;
}
