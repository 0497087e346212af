import { asError, InputError } from '../base/inputError';
import { isLoopback } from '../base/loopback';
import { isHeaderName } from '../base/text';
import { readAmount } from '../fields/amount';
import { readSwitch } from '../fields/expressions';
import { type NamedField, wrongField } from '../fields/label';
import { readOptionalIdentifier, readText } from '../fields/text';
import { PATHS } from '../service/contract';
import { readDescription, type ServiceDescription } from './describe';
import { CLIENT_AUTHENTICATIONS, mayBeEmpty, type PayCredential } from './fields';
import { CHOOSE_IN_CREDENTIAL, credentialField, wrongInCredential } from './label';
import {
	readSenderRuleOfWait,
	refuseUnsignedFields,
	readSenderCheck,
	type SenderRule,
} from './sender';

/** How a client proves who it is to a token endpoint (RFC 6749, section 4.4). */
export interface ClientCredentials {
	tokenUrl: string;
	clientId: string;
	clientSecret: string;
	scope: string;
	/** One of {@link CLIENT_AUTHENTICATIONS}. */
	sendIn: (typeof CLIENT_AUTHENTICATIONS)[number]['value'];
}

export const isSentInHeader = (sendIn: ClientCredentials['sendIn']) =>
	sendIn === 'header' || sendIn === 'headerJson';

/** A checked credential: where requests go, in whose name, and what the service says. */
export interface Account extends ServiceDescription {
	baseUrl: string;
	schemeName: string;
	/** A token as it was pasted, or how to get one. */
	token: { pasted: string } | { clientCredentials: ClientCredentials };
	/** The header that carries a request's external_id too. */
	externalIdHeader?: string;
	/** Not yet checked: only items that ask for it need it. */
	postbackUrl?: unknown;
	postbackSecret?: string;
	/** Whether its postbacks say who sent them, see `readSenderRule`. */
	checksSender: boolean;
	/** Of a wait with this credential: the error says why it could not begin. Absent where it does not check. */
	senderForWaits?: SenderRule | InputError;
	/** What may go out, or why nothing may: charges go on. */
	limits: Limits | InputError;
}

/** Visible ASCII without a space, which is what a header can carry (RFC 6750, section 2.1). */
export const TOKEN = /^[\x21-\x7e]+$/;

function readPastedToken(value: unknown): string {
	const token = String(value ?? '')
		.trim()
		.replace(/^Bearer(\s+|$)/i, '');
	if (TOKEN.test(token)) return token;
	if (token === '') {
		throw wrongInCredential('accessToken', 'is empty', 'Open the credential and paste the token.');
	}
	throw wrongInCredential(
		'accessToken',
		'contains a space or a character that tokens cannot have',
		'Open the credential and paste only the token.',
	);
}

function readRequired(credential: PayCredential, field: string): string {
	const value = credential[field];
	// An expression may give a number.
	const text = ['string', 'number'].includes(typeof value) ? String(value).trim() : '';
	if (text !== '') return text;
	throw wrongInCredential(
		field,
		'is empty',
		'Open the credential and enter what the service gave you.',
	);
}

function readClientCredentials(credential: PayCredential): ClientCredentials {
	const { clientAuthentication = 'header' } = credential;
	const sendIn = CLIENT_AUTHENTICATIONS.find(({ value }) => value === clientAuthentication)?.value;
	if (sendIn === undefined) {
		const what = 'must be body, header, headerJson or json';
		throw wrongInCredential('clientAuthentication', what, CHOOSE_IN_CREDENTIAL);
	}
	const allowHttp = credential.allowHttp === true;
	const clientId = readRequired(credential, 'clientId');
	if (isSentInHeader(sendIn) && clientId.includes(':')) {
		throw wrongInCredential(
			'clientId',
			'contains a ":", which would end the ID in a header',
			'Set Client Authentication to Body, or to JSON Body.',
		);
	}
	return {
		tokenUrl: readServiceUrl(credential.tokenUrl, 'tokenUrl', allowHttp).href,
		clientId,
		clientSecret: readRequired(credential, 'clientSecret'),
		scope: String(credential.scope ?? '').trim(),
		sendIn,
	};
}

/** Reads a token as it was pasted, or how to get one; throws an InputError, never with a secret. */
export function readToken(credential: PayCredential): Account['token'] {
	const { authentication = 'accessToken' } = credential;
	if (authentication === 'accessToken') return { pasted: readPastedToken(credential.accessToken) };
	if (authentication === 'clientCredentials') {
		return { clientCredentials: readClientCredentials(credential) };
	}
	const what = 'must be accessToken or clientCredentials';
	throw wrongInCredential('authentication', what, CHOOSE_IN_CREDENTIAL);
}

/** Headers that say something else already: to HTTP, to proxies, or in each of our requests. */
const RESERVED_HEADERS = [
	'authorization',
	'connection',
	'cookie',
	'cookie2',
	'date',
	'expect',
	'forwarded',
	'host',
	'http2-settings',
	'keep-alive',
	'origin',
	'pragma',
	'prefer',
	'range',
	'referer',
	'te',
	'trailer',
	'transfer-encoding',
	'upgrade',
	'user-agent',
	'via',
	'warning',
];
const RESERVED_BEGINNINGS = [
	'accept',
	'content-',
	'if-',
	'proxy-',
	'x-forwarded-',
	'x-http-method',
];

function isReservedHeader(name: string): boolean {
	const lowerCase = name.toLowerCase();
	return (
		RESERVED_HEADERS.includes(lowerCase) ||
		RESERVED_BEGINNINGS.some((beginning) => lowerCase.startsWith(beginning))
	);
}

function readExternalIdHeader(value: unknown): string | undefined {
	const name = String(value ?? '').trim();
	if (name === '') return undefined;
	if (!isHeaderName(name)) {
		throw wrongIdHeader('must be the name of a header, without a colon or spaces');
	}
	if (isReservedHeader(name)) throw wrongIdHeader(`must not be ${name}, which has another meaning`);
	return name;
}

function wrongIdHeader(what: string): InputError {
	return wrongInCredential(
		'externalIdHeader',
		what,
		'Open the credential and enter the name that the service gave you, such as Idempotency-Key, or leave it empty.',
	);
}

/** Throws an InputError if the account's header cannot carry an external_id: HTTP has only ASCII there. */
export function readIdForHeader({ externalIdHeader }: Account, external_id: string): void {
	if (externalIdHeader === undefined || /^[\x20-\x7e]+$/.test(external_id)) return;
	throw new InputError(
		'external_id',
		`"${external_id}" cannot be sent in the header ${externalIdHeader}, which can contain only plain letters, digits and symbols (ASCII)`,
		'Use another External ID, or clear Header for the External ID in the Pay API credential.',
	);
}

/** A secret of three letters is found from one signed URL in 20 ms (measured). */
const SHORTEST_POSTBACK_SECRET = 16;

/** For the proofs in postback URLs. */
interface PostbackSecrets {
	/** Makes proofs; "" where the credential has none. */
	current: string;
	/** All whose proofs are accepted: the previous one too, while it is being replaced. */
	accepted: string[];
}

function readPostbackSecret(value: unknown, field: string): string {
	const secret = readText(value, credentialField(field)) ?? '';
	if (secret === '' || secret.trim().length >= SHORTEST_POSTBACK_SECRET) return secret;
	throw wrongInCredential(
		field,
		`must have at least ${SHORTEST_POSTBACK_SECRET} characters`,
		'Anyone who sees a signed URL could guess a short secret. Enter 30 random characters from a password manager, and the same ones in the credential of every Pay node and Pay Trigger that uses it.',
	);
}

export function readPostbackSecrets(fields: PayCredential): PostbackSecrets {
	const current = readPostbackSecret(fields.postbackSecret, 'postbackSecret');
	const previous = readPostbackSecret(fields.previousPostbackSecret, 'previousPostbackSecret');
	const accepted = [current, previous].filter((secret) => secret !== '');
	return { current, accepted };
}

/**
 * Reads a credential as n8n has resolved it. Throws an InputError for a field without a value: n8n fills in
 * defaults, so only an expression that gives nothing leaves a field so. A default in its place could be another
 * address, or a check that is off.
 */
export function readResolved(credential: PayCredential): PayCredential {
	for (const [field, value] of Object.entries(credential)) {
		if (value !== undefined && value !== null) continue;
		if (mayBeEmpty(field)) continue;
		throw wrongInCredential(
			field,
			'is an expression that returns nothing',
			'Open the credential and check what the expression refers to.',
		);
	}
	return credential;
}

/** An error where a wait could not check the sender: n8n resolves no expression for it. */
function senderForWaits(unresolved: PayCredential): SenderRule | InputError | undefined {
	try {
		return readSenderRuleOfWait(unresolved);
	} catch (error) {
		return error instanceof InputError ? error : undefined;
	}
}

/**
 * Checks a credential before any request (section 5); throws an InputError, never with a secret.
 * @param unresolved the same with its expressions as text; undefined where n8n does not give it
 */
export function readAccount(resolved: PayCredential, unresolved?: PayCredential): Account {
	const credential = readResolved(resolved);
	// What stands behind a switch that is off is not in force: nobody sees it.
	const { schemeName, externalIdHeader } =
		credential.describeService === true ? credential : ({} as PayCredential);
	const scheme = readSchemeName(schemeName);
	const { current, accepted } = readPostbackSecrets(credential);
	if (current === '' && accepted.length > 0) {
		const advice =
			'Open the credential and enter the new one, because nothing is signed with the Previous Postback Secret.';
		throw wrongInCredential('postbackSecret', 'is empty', advice);
	}
	const description = readDescription(credential);
	refuseUnsignedFields(credential, description.statusWords);
	const account: Account = {
		baseUrl: readBaseUrl(credential.baseUrl, credential.allowHttp === true, scheme),
		schemeName: scheme,
		token: readToken(credential),
		externalIdHeader: readExternalIdHeader(externalIdHeader),
		postbackUrl: credential.postbackUrl || undefined,
		postbackSecret: current || undefined,
		...description,
		checksSender: readSenderCheck(credential) !== 'none',
		limits: readLimits(credential, unresolved),
	};
	const sender = unresolved && senderForWaits(unresolved);
	if (sender !== undefined) account.senderForWaits = sender;
	return account;
}

/** Reads an address in the credential; `allowHttp` is for hosts other than this machine. */
function readServiceUrl(value: unknown, field: string, allowHttp: boolean): URL {
	const invalid = (
		what: string,
		advice = 'Write it in full, for example https://api.example.com.',
	) => wrongInCredential(field, what, advice);
	const text = typeof value === 'string' ? value.trim() : '';
	if (text === '') throw invalid('is empty', 'Open the credential and enter the address.');
	// Not quoted: it may be the token, pasted into the wrong field.
	if (!URL.canParse(text)) throw invalid('must be an absolute URL');
	const url = new URL(text);
	if (url.protocol !== 'https:' && url.protocol !== 'http:') {
		throw invalid('must start with https://');
	}
	if (url.username !== '' || url.password !== '' || url.hash !== '') {
		throw invalid(
			'must not contain a user name, password or fragment',
			'Write only the address, for example https://api.example.com.',
		);
	}
	if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
		throw invalid(
			`uses http:, which would send secrets unencrypted to ${url.hostname}`,
			'Use https://, or turn on "Allow HTTP" for a sandbox on a private network.',
		);
	}
	return url;
}

/** One segment of a path, of characters that need no encoding. */
const SEGMENT = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$/;
/** People paste the address of an operation, or all that two of them have in common. */
const PASTED_TAIL = new RegExp(`/v2(?:/([^/]+)/(?:${PATHS.join('|')}))?/*$`);

/** Reads the scheme's name, for which the document's paths have "pay". */
export function readSchemeName(value: unknown): string {
	const text = typeof value === 'string' ? value.trim() : String(value ?? 'pay');
	if (SEGMENT.test(text)) return text;
	throw wrongInCredential(
		'schemeName',
		'must be one segment of a path',
		"Enter the word between /v2/ and /qrcode in the service's addresses, for example pay.",
	);
}

/** Reads {base_url} without trailing slashes, /v2 and the pasted path of an operation. */
export function readBaseUrl(value: unknown, allowHttp: boolean, schemeName: string): string {
	const url = readServiceUrl(value, 'baseUrl', allowHttp);
	if (url.search !== '') {
		throw wrongInCredential(
			'baseUrl',
			'must not contain a query',
			'Write only the address, for example https://api.example.com.',
		);
	}
	const [, pasted] = PASTED_TAIL.exec(url.pathname) ?? [];
	if (pasted !== undefined && pasted !== schemeName) {
		const { displayName } = credentialField('baseUrl');
		throw new InputError(
			'schemeName',
			`The ${displayName} of the Pay API credential ends with the scheme name "${pasted}", but Scheme Name in Paths is "${schemeName}"`,
			`If the service's addresses contain "${pasted}", turn on Describe the Service, enter it as Scheme Name in Paths, and leave /v2/… out of the Base URL.`,
		);
	}
	const path = url.pathname.replace(PASTED_TAIL, '').replace(/\/+$/, '');
	return url.origin + path;
}

/** Limit Payments of a credential: nothing else goes out. */
export interface Limits {
	highestPayment?: number;
	/** Of all payments of an execution. */
	highestSum?: number;
	/** Keys, or key types with their keys, a space between them. */
	onlyRecipients?: ReadonlySet<string>;
	/** Paths of members that Additional Members may set in spite of {@link onlyRecipients}. */
	variableMembers?: ReadonlySet<string>;
}

/** A credential's fields, "" where nothing was entered. */
type Fields = Readonly<Record<string, unknown>>;

function readOnlyRecipients(value: unknown, field: NamedField): Set<string> {
	const recipients = new Set<string>();
	for (const line of (readText(value, field) ?? '').split(/[\r\n]+/)) {
		const typed = line.trim();
		const recipient = readOptionalIdentifier(typed.replace(/\s+/g, ' '), field);
		if (recipient === undefined) continue;
		recipients.add(recipient);
		// A key may hold spaces of its own.
		recipients.add(typed);
	}
	if (recipients.size > 0) return recipients;
	throw wrongField(field, 'contains no key', 'Enter the keys that may be paid, one per line.');
}

/** A name, and [] behind that of a list. */
const NAME = /^[^\s.,[\]{}$"]+(\[\])?$/;

/** Empty is the strictest, so an expression that comes to nothing does no harm. */
function readVariableMembers(value: unknown, field: NamedField): Set<string> {
	const paths = new Set<string>();
	for (const line of (readText(value, field) ?? '').split(/[\r\n]+/)) {
		const path = line.trim();
		if (path === '') continue;
		if (!path.split('.').every((name) => NAME.test(name))) {
			throw wrongField(
				field,
				`contains ${JSON.stringify(path)}, which is not a path`,
				'Enter one path a line, with dots between the levels, for example creditParty.taxId.',
			);
		}
		paths.add(path);
	}
	return paths;
}

/**
 * Whether a limit was left empty by a person. Throws an InputError where n8n does not say whether it was an
 * expression that came to nothing: that would be no limit instead of a small one.
 */
function isLeftEmpty(field: string, fields: Fields, unresolved: Fields | undefined): boolean {
	const wasNeverEntered = !Object.hasOwn(fields, field);
	if (wasNeverEntered) return true;
	const hasValue = fields[field] !== '';
	if (hasValue) return false;
	const typed = unresolved?.[field];
	const isUntold = typed === undefined;
	if (isUntold) {
		throw wrongField(
			credentialField(field),
			'is empty, and n8n does not say whether an expression caused that',
			'Run again. If that does not help, enter all three limits, or turn Limit Payments off and put the limits elsewhere.',
		);
	}
	return typed === '';
}

function readEnteredLimits(fields: Fields, unresolved: Fields | undefined): Limits {
	const { limitPayments, highestPayment, highestSum, onlyRecipients, variableMembers } = fields;
	if (!Object.hasOwn(fields, 'limitPayments')) return {};
	if (!readSwitch(limitPayments, credentialField('limitPayments'))) return {};
	const limits: Limits = {};
	if (!isLeftEmpty('highestPayment', fields, unresolved)) {
		limits.highestPayment = readAmount(highestPayment, credentialField('highestPayment'));
	}
	if (!isLeftEmpty('highestSum', fields, unresolved)) {
		limits.highestSum = readAmount(highestSum, credentialField('highestSum'));
	}
	if (!isLeftEmpty('onlyRecipients', fields, unresolved)) {
		limits.onlyRecipients = readOnlyRecipients(onlyRecipients, credentialField('onlyRecipients'));
		const paths = readVariableMembers(variableMembers, credentialField('variableMembers'));
		if (paths.size > 0) limits.variableMembers = paths;
	}
	if (Object.keys(limits).length > 0) return limits;
	throw wrongField(
		credentialField('limitPayments'),
		'is on, but no limit is set',
		'Enter a limit, or turn it off.',
	);
}

/**
 * Reads what may go out; an error where that cannot be read, for then nothing may.
 * @param unresolved the fields with their expressions as text; undefined where n8n does not give them
 */
export function readLimits(fields: Fields, unresolved: Fields | undefined): Limits | InputError {
	try {
		return readEnteredLimits(fields, unresolved);
	} catch (error) {
		const { field = 'limitPayments', advice = '' } = error instanceof InputError ? error : {};
		const message = `No money is sent, because a limit in the Pay API credential cannot be read: ${asError(error).message}`;
		return new InputError(field, message, advice);
	}
}
