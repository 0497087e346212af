/** What a text may begin with, and the charset that it says. */
const BYTE_ORDER_MARKS = [
	{ mark: Buffer.from([0xef, 0xbb, 0xbf]), charset: 'utf-8' },
	{ mark: Buffer.from([0xff, 0xfe]), charset: 'utf-16le' },
	{ mark: Buffer.from([0xfe, 0xff]), charset: 'utf-16be' },
];

/** Microsoft's numbers of charsets, whose names on the web are other ones. */
const CODE_PAGES = new Map([
	['932', 'shift_jis'],
	['936', 'gbk'],
	['949', 'euc-kr'],
	['950', 'big5'],
	['1200', 'utf-16le'],
	['1201', 'utf-16be'],
	['28591', 'iso-8859-1'],
	['28605', 'iso-8859-15'],
	['54936', 'gb18030'],
	['65001', 'utf-8'],
]);
/** cp949 and x-windows-949 (Java), ms936, windows-950, x-mswin-936. */
const CODE_PAGE = /^(?:x-)?(?:cp|ms|mswin-|windows-?)-?(\d+)$/;

/** Names of Java and Python that the web does not know. */
const OTHER_NAMES = new Map([
	['8859-1', 'iso-8859-1'],
	['latin-1', 'iso-8859-1'],
	['eucjp', 'euc-jp'],
	['euckr', 'euc-kr'],
	['euc-cn', 'gbk'],
	['iso2022jp', 'iso-2022-jp'],
	['cswindows31j', 'shift_jis'],
]);

/** The name on the web of a charset that a program calls in its own way. */
function webNameOf(charset: string): string {
	const name = charset.toLowerCase().replaceAll('_', '-');
	const [, number = ''] = CODE_PAGE.exec(name) ?? [];
	if (number !== '') return CODE_PAGES.get(number) ?? `windows-${number}`;
	return OTHER_NAMES.get(name) ?? name;
}

/** The decoder of a charset; one that nobody knows, or that only its sender does, is UTF-8. */
function decoderOf(charset: string) {
	for (const name of [charset, webNameOf(charset)]) {
		try {
			return new TextDecoder(name);
		} catch {
			// Another name may be known.
		}
	}
	return new TextDecoder();
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

/** The text of bytes in a charset, by default UTF-8. */
export function decode(bytes: Buffer, charset = 'utf-8'): string {
	const decoder = decoderOf(charset);
	return decoder.encoding === 'windows-1252' ? decodeWindows1252(bytes) : decoder.decode(bytes);
}

/** The text of a whole body: as its byte order mark says, else as its charset does. */
export function decodeText(bytes: Buffer, charset: string | undefined): string {
	const marked = BYTE_ORDER_MARKS.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark));
	return decode(bytes, marked?.charset ?? charset);
}

/** The value of a hexadecimal digit by its ASCII code; -1 for other characters. */
function digitOf(code = 0): number {
	if (code >= 0x30 && code <= 0x39) return code - 0x30;
	// This bit makes a capital letter small. Then "a", 0x61, stands for 10.
	const small = code | 0x20;
	return small >= 0x61 && small <= 0x66 ? small - 0x61 + 10 : -1;
}

/** Bytes in which an ASCII sign and two digits stand for one byte: `%C3`, `=C3`. */
export function unescapeBytes(escaped: Buffer, sign: '%' | '='): Buffer {
	const bytes = Buffer.alloc(escaped.length);
	const escape = sign.charCodeAt(0);
	let length = 0;
	for (let at = 0; at < escaped.length; at++) {
		let byte = escaped[at]!;
		const first = byte === escape ? digitOf(escaped[at + 1]) : -1;
		const second = first >= 0 ? digitOf(escaped[at + 2]) : -1;
		if (second >= 0) {
			byte = 16 * first + second;
			at += 2;
		}
		bytes[length++] = byte;
	}
	return bytes.subarray(0, length);
}

/** The text of `J%C3%B3`, where each character or escape stands for one byte of the charset. */
export function decodeEscapes(escaped: string, charset?: string): string {
	return decode(unescapeBytes(Buffer.from(escaped, 'latin1'), '%'), charset);
}
