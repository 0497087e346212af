import { valueAt } from '../json';

/** What a QR code image is made from: text to encode, or a PNG that the service made itself. */
type QrSource = { text: string } | { png: Buffer };

/** A text found in a response, with the dot path that leads to it. */
interface TextField {
	path: string;
	value: string;
}

/** Responses are small; a bound keeps an odd one from holding up the payment flow. */
const MAX_FIELDS = 2000;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PNG_BASE64 = /^(?:data:image\/png;base64,)?(iVBORw0KGgo[A-Za-z0-9+/]*={0,2})$/;

function textFields(value: unknown, path: string[] = [], found: TextField[] = []): TextField[] {
	if (found.length >= MAX_FIELDS || path.length > 50) return found;
	if (typeof value === 'string') found.push({ path: path.join('.'), value });
	else if (typeof value === 'object' && value !== null) {
		for (const [name, member] of Object.entries(value)) textFields(member, [...path, name], found);
	}
	return found;
}

/** CRC-16/CCITT-FALSE in hex, with which EMV merchant-presented codes end (EMVCo MPM, tag 63). */
export function crc16(text: string): string {
	let crc = 0xffff;
	for (const byte of Buffer.from(text)) {
		crc ^= byte << 8;
		for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
	}
	return (crc & 0xffff).toString(16).toUpperCase().padStart(4, '0');
}

function isEmvPayload(text: string): boolean {
	const [, body, crc] = /^(000201.*6304)([0-9A-Fa-f]{4})$/s.exec(text) ?? [];
	return body !== undefined && crc16(body) === crc?.toUpperCase();
}

function asPng(text: string): Buffer | undefined {
	const [, base64] = PNG_BASE64.exec(text.replace(/\s+/g, '')) ?? [];
	if (base64 === undefined) return undefined;
	const png = Buffer.from(base64, 'base64');
	return png.subarray(0, 8).equals(PNG_SIGNATURE) ? png : undefined;
}

/** The text fields of a response as a person can choose from them. */
function choices(fields: TextField[]): string {
	const shown = fields.slice(0, 15).map(({ path, value }) => {
		const start = value.length > 24 ? `${value.slice(0, 24)}…` : value;
		return `${path === '' ? '(the whole response)' : path} ("${start}")`;
	});
	return shown.length > 0 ? shown.join(', ') : 'none';
}

/**
 * Finds what to make a QR code image from. The response's form is not documented (section 2.3), so
 * a payload is known by its own form: an EMV merchant-presented code with the right checksum, or a
 * PNG as base64 or data URI, wherever it stands.
 * @param path the dot path that the user gave, or an empty text
 * @returns the source, or a hint for the editor when there is none or more than one
 */
export function findQrSource(
	response: unknown,
	path: string,
): { source: QrSource } | { hint: string } {
	if (path !== '') {
		const chosen = valueAt(response, path);
		if (typeof chosen !== 'string' || chosen === '') {
			return {
				hint: `No QR code: the response has no text at "${path}" (QR Code Path). Its text fields: ${choices(textFields(response))}.`,
			};
		}
		const png = asPng(chosen);
		return { source: png ? { png } : { text: chosen } };
	}
	const fields = textFields(response);
	const codes = fields.filter(({ value }) => isEmvPayload(value));
	const images = fields.filter(({ value }) => asPng(value) !== undefined);
	// A service often gives the code and a picture of it; the code is the one to draw.
	const candidates = codes.length > 0 ? codes : images;
	const distinct = new Set(candidates.map(({ value }) => value));
	const [only] = distinct;
	if (distinct.size === 1 && only !== undefined) {
		const png = asPng(only);
		return { source: png ? { png } : { text: only } };
	}
	const problem =
		distinct.size === 0
			? 'no payload was recognized in the response'
			: `the response holds ${distinct.size} possible payloads`;
	const offered = distinct.size === 0 ? fields : candidates;
	return {
		hint: `No QR code: ${problem}. Set QR Code Path under Options to one of its text fields: ${choices(offered)}.`,
	};
}
