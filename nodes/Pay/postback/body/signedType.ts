import { decodeText } from './charset';
import { boundaryOf, charsetOf, MULTIPART, URL_ENCODED } from './contentType';

/** Charsets in which one byte is one character, so that no other quote or brace than the signed one counts. */
const ONE_BYTE =
	/^(utf-?8|(us-)?ascii|latin-?\d|iso-?8859-\d{1,2}|windows-(874|125\d)|koi8-[ru]|macintosh)$/i;

/** Whether a body is nothing but a URL-encoded form: a text with one inside has spaces or line breaks. */
const isUrlEncoded = (bytes: Buffer) =>
	/^[\w*.+%&=~!$'(),;:@/?[\]\x80-\xff-]*$/.test(bytes.toString('latin1'));

/**
 * The type of a body whose signature was verified, by what the body begins with. The signature is over the
 * bytes and not over the headers: with another Content-Type, somebody who repeats a signed "pending" could
 * have a text inside it read as a form.
 */
export function typeOfSigned(bytes: Buffer, contentType: string): string {
	const charset = charsetOf(contentType) ?? '';
	const suffix = ONE_BYTE.test(charset) ? `; charset=${charset}` : '';
	const head = decodeText(bytes.subarray(0, 200), undefined);
	const [first] = head.trimStart();
	if (first === '{' || first === '[') return `application/json${suffix}`;
	const boundary = boundaryOf(contentType);
	const isMultipart = head.replace(/^(\r\n)+/, '').startsWith(`--${boundary}\r\n`);
	if (MULTIPART.test(contentType) && isMultipart) {
		return `multipart/form-data; boundary="${boundary}"`;
	}
	if (URL_ENCODED.test(contentType) && isUrlEncoded(bytes)) {
		return `application/x-www-form-urlencoded${suffix}`;
	}
	return `text/plain${suffix}`;
}
