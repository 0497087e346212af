import { headerText, type SignedContent, type SignedForm } from './signedContent';
import { wrongInCredential } from './wrongField';

/*
 * Standard Webhooks, the public standard that Svix and many services speak. Nothing of it is set but the
 * secret: the headers' names, what is signed and how are always the same.
 */

/** The names of its headers: those of the standard, and those that it came from. */
function standardForm(prefix: 'webhook' | 'svix'): SignedForm {
	const content: SignedContent = [
		{ is: 'header', name: `${prefix}-id` },
		{ is: 'text', text: '.' },
		{ is: 'timestamp' },
		{ is: 'text', text: '.' },
		{ is: 'body' },
	];
	return {
		header: `${prefix}-signature`,
		content,
		timestampHeader: `${prefix}-timestamp`,
		isTimestampAlone: true,
	};
}

/** The first one whose signature is there counts alone: the id of one says nothing beside the other's signature. */
export const STANDARD_FORMS = [standardForm('webhook'), standardForm('svix')] as const;

const PREFIX = 'whsec_';
/** Base64 in either alphabet, with its padding or without. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

const ASK_FOR_SECRET =
	'Enter the secret that the service gave you for its notifications. It begins with whsec_, and what follows is base64.';

/** The key that a secret stands for. Throws an InputError, without the secret. */
export function standardKey(secret: string): Buffer {
	const wrongSecret = (what: string) => wrongInCredential('signatureSecret', what, ASK_FOR_SECRET);
	if (secret.startsWith('whpk_')) {
		throw wrongSecret('begins with whpk_: it is a public key (ed25519), which cannot be used here');
	}
	if (secret.startsWith('whsk_')) {
		throw wrongSecret(
			'begins with whsk_: it is a private key, which nobody but its owner may have',
		);
	}
	const base64 = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
	const digits = base64.replace(/=+$/, '');
	// A single digit at the end is less than a byte: something was cut off.
	if (!BASE64.test(base64) || digits.length % 4 === 1) throw wrongSecret('is no base64');
	return Buffer.from(digits, 'base64');
}

/** More than a service sends while it replaces its secrets. */
const MOST_SIGNATURES = 20;

/** The signatures of the only version that can be checked, v1; others stand beside them, for other receivers. */
export function standardSignaturesIn(header: string): string[] {
	const signatures: string[] = [];
	for (const part of header.split(/\s+/)) {
		if (part.startsWith('v1,')) signatures.push(part.slice('v1,'.length));
	}
	return signatures.slice(0, MOST_SIGNATURES);
}

/** What the headers of a request have that the standard does not; undefined where that is nothing. */
export function faultOfStandard(
	{ header, timestampHeader = '' }: SignedForm,
	headers: Readonly<Record<string, unknown>>,
): string | undefined {
	const sent = headerText(headers[header]);
	if (standardSignaturesIn(sent).length === 0) {
		return /(^|\s)v1a,/.test(sent)
			? `the header ${header} holds only signatures of the version v1a (ed25519), which cannot be checked: ask the service for a secret that begins with whsec_`
			: `the header ${header} holds no signature of the version v1`;
	}
	const timestamp = headerText(headers[timestampHeader]);
	if (timestamp === '' || /^\d+$/.test(timestamp)) return undefined;
	// Else a part of it could be signed, and the rest be anybody's.
	return `the header ${timestampHeader} holds something else than a time in seconds`;
}

/** Whether a request has the headers of the standard. */
export function looksStandard(headers: Readonly<Record<string, unknown>>): boolean {
	return STANDARD_FORMS.some(({ header }) => /(^|\s)v1a?,/.test(headerText(headers[header])));
}
