import { encode as encodePng } from 'fast-png';
import { encode as encodeQr } from 'uqr';

/** Least width and height of an image, in pixels. */
const MIN_SIZE = 400;
/** The quiet zone that the QR code standard asks for, in modules. */
const QUIET_ZONE = 4;

/** Draws a text as a QR code: a PNG of at least 400 by 400 pixels. Throws when the text is too long. */
export function qrPng(text: string): Buffer {
	const { data: modules, size } = encodeQr(text, { ecc: 'M', border: QUIET_ZONE });
	const scale = Math.ceil(MIN_SIZE / size);
	const width = size * scale;
	// A bit for each pixel, eight in a byte, each line in separate bytes; a bit that is set is white.
	const line = Math.ceil(width / 8);
	const data = new Uint8Array(line * width).fill(255);
	modules.forEach((row, y) => {
		const first = y * scale * line;
		row.forEach((dark, x) => {
			if (!dark) return;
			for (let at = x * scale; at < (x + 1) * scale; at++) {
				data[first + (at >> 3)]! &= ~(128 >> (at & 7));
			}
		});
		// The other lines of these modules look like the first.
		for (let next = 1; next < scale; next++) {
			data.copyWithin(first + next * line, first, first + line);
		}
	});
	return Buffer.from(encodePng({ width, height: width, data, channels: 1, depth: 1 }));
}

/** A file name for the image of a charge: its external_id without what file systems refuse. */
export function imageFileName(external_id: string, extension: string): string {
	const safe = external_id.replace(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^\.+/, '_');
	return `${safe.slice(0, 100)}.${extension}`;
}
