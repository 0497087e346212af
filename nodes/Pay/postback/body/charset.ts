import { BodyError } from './bodyError';

/** What a text may begin with, and the charset that it says. */
const BYTE_ORDER_MARKS = [
	{ mark: Buffer.from([0xef, 0xbb, 0xbf]), charset: 'utf-8' },
	{ mark: Buffer.from([0xff, 0xfe]), charset: 'utf-16le' },
	{ mark: Buffer.from([0xfe, 0xff]), charset: 'utf-16be' },
];

/** The decoder of a charset; undefined where the platform does not know it. */
function decoderOf(charset: string) {
	try {
		// Java writes x-windows-949.
		return new TextDecoder(charset.replace(/^x-windows-/i, 'windows-'));
	} catch {
		return undefined;
	}
}

/** The characters 80 to 9F of Windows-1252. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Some versions of Node.js, 20.20 among them, make control characters of the euro sign and curly quotes. */
function decodeWindows1252(bytes: Buffer): string {
	const characters = Buffer.alloc(2 * bytes.length);
	for (let at = 0; at < bytes.length; at++) {
		const byte = bytes[at]!;
		const isOther = byte >= 0x80 && byte <= 0x9f;
		const character = isOther ? WINDOWS_1252.charCodeAt(byte - 0x80) : byte;
		characters[2 * at] = character & 0xff;
		characters[2 * at + 1] = character >> 8;
	}
	return characters.toString('utf16le');
}

/** The text of bytes that are UTF-8; undefined where they are not. */
function decodeUtf8(bytes: Buffer): string | undefined {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

/** The text of bytes in a charset, by default UTF-8. Throws a BodyError where the platform cannot read it. */
export function decode(bytes: Buffer, charset = 'utf-8'): string {
	const decoder = decoderOf(charset);
	if (decoder?.encoding === 'windows-1252') return decodeWindows1252(bytes);
	if (decoder !== undefined) return decoder.decode(bytes);
	// Of a charset that nobody knows, ASCII is the same almost anywhere.
	const text = decodeUtf8(bytes);
	if (text !== undefined) return text;
	const name = JSON.stringify(charset.slice(0, 40));
	throw new BodyError(400, `The charset ${name} cannot be read, send UTF-8`);
}

/** The text of a whole body: as its byte order mark says, else as its charset does. */
export function decodeText(bytes: Buffer, charset: string | undefined): string {
	const marked = BYTE_ORDER_MARKS.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark));
	return decode(bytes, marked?.charset ?? charset);
}

const PERCENT = 0x25;

/** The value of a hexadecimal digit by its ASCII code; -1 for other characters. */
function digitOf(code = 0): number {
	if (code >= 0x30 && code <= 0x39) return code - 0x30;
	// This bit makes a capital letter small. Then "a", 0x61, stands for 10.
	const small = code | 0x20;
	return small >= 0x61 && small <= 0x66 ? small - 0x61 + 10 : -1;
}

/**
 * The text of `J%C3%B3`, where each character or escape stands for one byte of the charset. URLSearchParams
 * knows UTF-8 only, and reads `Jo%E3o` as a broken one.
 */
export function decodeEscapes(escaped: string, charset?: string): string {
	const from = Buffer.from(escaped, 'latin1');
	const bytes = Buffer.alloc(from.length);
	let length = 0;
	for (let at = 0; at < from.length; at++) {
		let byte = from[at]!;
		const first = byte === PERCENT ? digitOf(from[at + 1]) : -1;
		const second = first >= 0 ? digitOf(from[at + 2]) : -1;
		if (second >= 0) {
			byte = 16 * first + second;
			at += 2;
		}
		bytes[length++] = byte;
	}
	return decode(bytes.subarray(0, length), charset);
}
