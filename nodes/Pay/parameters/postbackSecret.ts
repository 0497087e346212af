import { LABELS, wrongInCredential } from './label';
import { optionalText } from './text';

/** The Postback Secrets of a credential. */
export interface Secrets {
	/** What postback URLs are signed with; empty where there is none. */
	current: string;
	/** All that a proof may have been made with. */
	taken: string[];
}

/** A secret of three letters is found from one signed URL in 20 ms (measured). */
const SHORTEST = 16;

function parseSecret(value: unknown, field: string): string {
	const secret = optionalText(value, field) ?? '';
	if (secret === '' || secret.trim().length >= SHORTEST) return secret;
	throw wrongInCredential(
		field,
		`The ${LABELS[field]}`,
		`must have at least ${SHORTEST} characters`,
		'Whoever sees one signed URL can try out a short one. Enter 30 random characters from a password manager, the same in the credential of every Pay node and Pay Trigger that works with it.',
	);
}

/** Reads the Postback Secrets; throws an InputError for one that is too short or not text. */
export function parseSecrets(fields: Readonly<Record<string, unknown>>): Secrets {
	const current = parseSecret(fields.postbackSecret, 'postbackSecret');
	const previous = parseSecret(fields.previousPostbackSecret, 'previousPostbackSecret');
	return { current, taken: [current, previous].filter((secret) => secret !== '') };
}
