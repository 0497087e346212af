import { encode as encodeQr } from 'uqr';

/** Least width and height of an image, in pixels. */
const MIN_SIZE = 400;
/** The quiet zone that the QR code standard asks for, in modules. */
const QUIET_ZONE = 4;

/** A CRC-32 as the PNG standard has it (annex D). */
function crc32(bytes: Uint8Array): number {
	let crc = ~0;
	for (const byte of bytes) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
	}
	return ~crc >>> 0;
}

/** A 32-bit number as a PNG has it, the highest byte first. */
function uint32(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
}

/** A chunk of a PNG: its length, its type, what it holds, and their CRC. */
function chunk(type: string, data: Buffer): Buffer {
	const typeAndData = Buffer.concat([Buffer.from(type), data]);
	return Buffer.concat([uint32(data.length), typeAndData, uint32(crc32(typeAndData))]);
}

async function compress(bytes: Uint8Array): Promise<Buffer> {
	// In the format of zlib, as a PNG has it.
	const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
	return Buffer.from(await new Response(compressed).arrayBuffer());
}

/**
 * A square PNG in black and white.
 * @param lines for each line a byte 0, which says that it is not filtered, then a bit for each pixel; a bit
 * that is set is white
 */
async function png(width: number, lines: Uint8Array): Promise<Buffer> {
	// One bit for each pixel, shades of grey, then the only compression and filters, and no interlacing.
	const header = Buffer.concat([uint32(width), uint32(width), Buffer.from([1, 0, 0, 0, 0])]);
	return Buffer.concat([
		Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
		chunk('IHDR', header),
		chunk('IDAT', await compress(lines)),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

/** Draws a text as a QR code: a PNG of at least 400 by 400 pixels. Rejects when the text is too long. */
export async function qrPng(text: string): Promise<Buffer> {
	const { data: modules, size } = encodeQr(text, { ecc: 'M', border: QUIET_ZONE });
	const scale = Math.ceil(MIN_SIZE / size);
	const width = size * scale;
	const lineLength = 1 + Math.ceil(width / 8);
	const lines = new Uint8Array(lineLength * width).fill(255);
	modules.forEach((row, y) => {
		const first = y * scale * lineLength;
		lines[first] = 0;
		row.forEach((dark, x) => {
			if (!dark) return;
			for (let at = x * scale; at < (x + 1) * scale; at++) {
				lines[first + 1 + (at >> 3)]! &= ~(128 >> (at & 7));
			}
		});
		// The other lines of these modules look like the first.
		for (let next = 1; next < scale; next++) {
			lines.copyWithin(first + next * lineLength, first, first + lineLength);
		}
	});
	return await png(width, lines);
}

/** A file name for the image of a charge: its external_id without what file systems refuse. */
export function imageFileName(external_id: string, extension: string): string {
	const safe = external_id.replace(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^\.+/, '_');
	return `${safe.slice(0, 100)}.${extension}`;
}

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

/** The address of a picture, or its file's name, whatever stands behind it. */
function isPictureAddress(text: string): boolean {
	const address = text.trim();
	if (address.length > HEAD) return false;
	if (/\s/.test(address) && !/^https?:/i.test(address)) return false;
	const [path = ''] = address.split(/[?#]/, 1);
	return PICTURE_ENDING.test(path) || PICTURE_ENDING.test(address);
}

/** Only the bytes say what image they are: a data URI may say anything. */
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
