/** A text of at most so many characters: a longer one is cut, and shows it. */
export function shortened(text: string, most: number): string {
	return text.length > most ? `${text.slice(0, most)}…` : text;
}
