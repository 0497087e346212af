/** Whether a text can be the name of a header (RFC 9110, section 5.6.2). */
export function isHeaderName(text: string): boolean {
	return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}
