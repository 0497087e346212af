import { decodeEscapes } from './charset';
import { MAX_FIELDS, nestFields } from './brackets';

/** Reads a URL-encoded form, `a=1&b=J%C3%B3`, whose escapes stand for bytes in its charset. */
export function parseUrlEncoded(bytes: Buffer, charset?: string): Record<string, unknown> {
	const text = bytes.toString('latin1');
	const fields: Array<[string, unknown]> = [];
	// One more than may be, and an empty one before the first &.
	for (const pair of text.split(/&+/, MAX_FIELDS + 2)) {
		if (pair === '' || pair === '=') continue;
		const sign = pair.indexOf('=');
		const name = sign === -1 ? pair : pair.slice(0, sign);
		const value = sign === -1 ? '' : pair.slice(sign + 1);
		fields.push([
			decodeEscapes(name.replaceAll('+', ' '), charset),
			decodeEscapes(value.replaceAll('+', ' '), charset),
		]);
	}
	return nestFields(fields);
}
