/** A text of at most so many characters: a longer one is cut, and shows it. */
export function shortened(text: string, most: number): string {
	return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Whether a text can be the name of a header (RFC 9110, section 5.6.2). */
export function isHeaderName(text: string): boolean {
	return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}
