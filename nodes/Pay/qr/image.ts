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
