/** An image as the service gave it. */
export interface Image {
	bytes: Buffer;
	mimeType: string;
	/** Of a file's name. */
	extension: string;
}

/** As much of a text as says what it is, in characters or bytes. */
const HEAD = 20_000;

/**
 * An SVG: declarations, comments and white space, then its element. Each of them ends at the first sign that can
 * end it, so there is only one way to read a text.
 */
const SVG =
	/^(\xef\xbb\xbf)?(\s|<\?[^>]*>|<!--([^-]|-(?!->))*-->|<!DOCTYPE[^>[]*(\[[^\]]*\]\s*)?>)*<svg[\s/>]/i;

/** The images that are given as they are, by how their bytes begin (read as Latin-1); the easiest to show first. */
const KINDS = [
	{
		isKindOf: (head: string) => head.startsWith('\x89PNG\r\n\x1a\n'),
		mimeType: 'image/png',
		extension: 'png',
	},
	{
		isKindOf: (head: string) => head.startsWith('\xff\xd8\xff'),
		mimeType: 'image/jpeg',
		extension: 'jpg',
	},
	{
		isKindOf: (head: string) => SVG.test(head),
		mimeType: 'image/svg+xml',
		extension: 'svg',
	},
];
/** How other images begin: GIF, WebP. */
const OTHER_IMAGE = /^(GIF8|RIFF....WEBP)/s;
const PICTURE_ENDING = /\.(a?png|avif|bmp|gif|ico|jfif|jpe?g|svgz?|tiff?|webp)\/?$/i;

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

/** Whether a text is the address of a picture, or its file's name, whatever stands behind it. */
function isPictureAddress(text: string): boolean {
	const address = text.trim();
	if (address.length > HEAD) return false;
	if (/\s/.test(address) && !/^https?:/i.test(address)) return false;
	const [path = ''] = address.split(/[?#]/, 1);
	return PICTURE_ENDING.test(path) || PICTURE_ENDING.test(address);
}

/** What image some bytes are. Only the bytes say so: a data URI may say anything. */
function imageOfBytes(bytes: Buffer): Image | 'other' | undefined {
	const head = bytes.toString('latin1', 0, HEAD);
	const kind = KINDS.find(({ isKindOf }) => isKindOf(head));
	if (kind === undefined) return OTHER_IMAGE.test(head) ? 'other' : undefined;
	return { bytes, mimeType: kind.mimeType, extension: kind.extension };
}

/**
 * What image a text is: one in base64, in a data URI, or an SVG as text; "other" for an image that cannot be
 * used, or a picture's address.
 */
export function imageIn(text: string): Image | 'other' | undefined {
	const data = imageData(text);
	const content = data === undefined ? text : decoded(data);
	const image = imageOfBytes(fromBase64(content) ?? Buffer.from(content));
	if (image !== undefined) return image;
	if (data !== undefined || isPictureAddress(text)) return 'other';
	// The bytes of a PNG that were read as text are lost.
	return text.slice(1).startsWith('PNG\r\n') ? 'other' : undefined;
}

/** The images that are easiest to show, of some: all PNG, else all JPEG, else all SVG. */
export function easiestToShow<Found extends { image: Image }>(found: Found[]): Found[] {
	for (const { mimeType } of KINDS) {
		const ofKind = found.filter(({ image }) => image.mimeType === mimeType);
		if (ofKind.length > 0) return ofKind;
	}
	return [];
}
