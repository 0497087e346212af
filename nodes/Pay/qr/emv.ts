/** CRC-16/CCITT-FALSE in hex, with which EMV merchant-presented codes end (EMVCo MPM, tag 63). */
export function crc16(text: string): string {
	let crc = 0xffff;
	for (const byte of Buffer.from(text)) {
		crc ^= byte << 8;
		for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
	}
	return (crc & 0xffff).toString(16).toUpperCase().padStart(4, '0');
}

/** What an EMV merchant-presented code begins with: its format, version 01. */
export const EMV_BEGINNING = '000201';

export function isEmv(text: string): boolean {
	const body = text.slice(0, -4);
	const crc = text.slice(-4);
	if (!body.startsWith(EMV_BEGINNING) || !body.endsWith('6304')) return false;
	return crc.toUpperCase() === crc16(body);
}

/** The value of a field of an EMV code (EMVCo MPM): each is two digits, two digits of length, a value. */
function fieldOf(code: string, wanted: string): string | undefined {
	let found: string | undefined;
	let at = 0;
	while (at < code.length) {
		const length = code.slice(at + 2, at + 4);
		if (!/^\d\d$/.test(length)) return undefined;
		const end = at + 4 + Number(length);
		if (code.slice(at, at + 2) === wanted) found ??= code.slice(at + 4, end);
		at = end;
	}
	// Lengths that do not add up were counted in something else than these units.
	return at === code.length ? found : undefined;
}

const AMOUNT = '54';

/** The amount of an EMV code as it stands there; undefined where it has none. */
export function emvAmount(code: string): string | undefined {
	// Some services count a field's length in characters, others in bytes.
	const inBytes = Buffer.from(code).toString('latin1');
	return fieldOf(code, AMOUNT) ?? fieldOf(inBytes, AMOUNT);
}
