/** CRC-16/CCITT-FALSE in hex, with which EMV merchant-presented codes end (EMVCo MPM, tag 63). */
export function crc16(text: string): string {
	let crc = 0xffff;
	for (const byte of Buffer.from(text)) {
		crc ^= byte << 8;
		for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
	}
	return (crc & 0xffff).toString(16).toUpperCase().padStart(4, '0');
}

/** Whether a text is an EMV merchant-presented code, with the checksum that it ends in. */
export function isEmv(text: string): boolean {
	const body = text.slice(0, -4);
	const crc = text.slice(-4);
	if (!body.startsWith('000201') || !body.endsWith('6304')) return false;
	return /^[0-9A-F]{4}$/i.test(crc) && crc16(body) === crc.toUpperCase();
}

/** Codes of other instant-payment schemes that begin as nothing else does. */
const OTHER_CODES = [
	// UPI (NPCI, UPI Linking Specifications)
	/^upi:\/\/pay(?=\?)\S*[?&]pa=[^\s?&@]+@/i,
	// SEPA credit transfer (EPC069-12)
	/^BCD\r?\n00[12]\r?\n[1-8]\r?\n(SCT|INST)\r?\n/,
	// Swiss QR-bill (SIX, Implementation Guidelines)
	/^SPC\r?\n02\d\d\r?\n1\r?\n(CH|LI)\d{2}[0-9A-Z]{17}\r?\n/,
	// Short Payment Descriptor (Czech Banking Association)
	/^SPD\*\d+\.\d+\*(.*\*)?ACC:[A-Z]{2}\d{2}/,
	// Russian payment code (GOST R 56042-2014)
	/^ST0001[123]\|Name=.*\|PersonalAcc=/s,
	// Serbian IPS (National Bank of Serbia)
	/^K:(PR|PT|PK|EK)\|V:01\|C:1\|R:\d{18}\|/,
];

/** Payment links whose address is used for nothing else. */
const LINKS = [
	/^https:\/\/qr\.nspk\.ru\/[A-Z0-9]{32}(\?\S*)?$/i,
	/^https:\/\/qr\.alipay\.com\/[a-z0-9]{8,}$/i,
	/^weixin:\/\/wxpay\/bizpayurl\?\S+$/,
	/^https:\/\/payconiq\.com\/pay\/2\/[0-9a-f]{24}(\?\S*)?$/i,
];

function isOtherCode(text: string): boolean {
	return OTHER_CODES.some((form) => form.test(text));
}

function isLink(text: string): boolean {
	return LINKS.some((form) => form.test(text));
}

/** As many characters as a QR code of any kind holds: 7,089 digits. */
const LONGEST_CODE = 7089;
const isShort = (text: string) => text.length <= LONGEST_CODE;

/**
 * How a text is known to be a payment code, from the surest form to the least: a service that gives
 * several forms of one code means the first of these. White space around a code counts for nothing.
 */
export const FORMS: ReadonlyArray<(text: string) => boolean> = [isEmv, isOtherCode, isLink].map(
	(isForm) => (text) => isShort(text) && isForm(text),
);

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

/** As much of a text as says what it is. */
const HEAD = 20_000;

/** What image a text is: a PNG in base64 or a data URI, or another one, which cannot be used. */
export function imageIn(text: string): { png: Buffer } | 'other' | undefined {
	const data = imageData(text);
	const content = data === undefined ? text : decoded(data);
	const bytes = fromBase64(content);
	if (bytes?.subarray(0, 8).equals(PNG_SIGNATURE)) return { png: bytes };
	const looks = (some?: Buffer) => OTHER_IMAGE.test(some?.toString('latin1', 0, HEAD) ?? '');
	if (data !== undefined || looks(bytes)) return 'other';
	if (OTHER_IMAGE.test(text.slice(0, HEAD))) return 'other';
	const link = text.trim();
	if (link.length <= HEAD && IMAGE_LINK.test(link)) return 'other';
	// The bytes of a PNG that were read as text are lost.
	return text.slice(1).startsWith('PNG\r\n') ? 'other' : undefined;
}
