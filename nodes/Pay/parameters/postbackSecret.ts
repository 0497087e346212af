import { LABELS, wrongInCredential } from './label';
import { optionalText } from './text';

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

/** Reads what URLs are signed with, "" where that is missing, and all that is taken. InputError. */
export function parseSecrets(fields: Readonly<Record<string, unknown>>) {
	const current = parseSecret(fields.postbackSecret, 'postbackSecret');
	const previous = parseSecret(fields.previousPostbackSecret, 'previousPostbackSecret');
	return { current, taken: [current, previous].filter((secret) => secret !== '') };
}
