import {
	createHash,
	createHmac,
	createPublicKey,
	createVerify,
	type KeyObject,
	timingSafeEqual,
} from 'crypto';
import type { InputError } from '../base/inputError';
import { isExpression } from '../base/n8n';
import { isHeaderName } from '../base/text';
import { matchField, type PostbackMatch } from '../fields/condition';
import { wrongField } from '../fields/label';
import { besideBody, type Paths } from '../service/paths';
import { fieldsInWords, type StatusWords } from '../service/state';
import { type PayCredential, senderFields } from './fields';
import { readChosen, wrongInCredential } from './label';
import {
	faultOfStandard,
	headerText,
	looksStandard,
	readTemplate,
	signedBytes,
	type SignedContent,
	type SignedForm,
	signedHeadersOf,
	type SignedRequest,
	STANDARD_FORMS,
	standardKey,
	standardSignaturesIn,
} from './signedContent';

/*
 * Who sent a notification. The proof in a postback's URL says which charge it is about and that its sender
 * knew the URL; a secret in a header, or a signature, says that it was the service. The document shows
 * neither: the user enters what the service does.
 */

/** A header that holds a secret whenever the service sends something. */
interface SecretHeader {
	is: 'secretHeader';
	/** In small letters. */
	header: string;
	/** Each of them is accepted, because two are valid while one is being replaced. */
	values: string[];
}

interface SignatureRule {
	is: 'signature';
	/** The first one whose header is there counts: the public standard has two sets of names. */
	forms: readonly [SignedForm, ...SignedForm[]];
	/** Whether the header is written as the public standard has it. */
	isStandard: boolean;
	/** One valid signature is enough, because two secrets or keys are in use while one is being replaced. */
	keys:
		| { hmac: 'sha256' | 'sha512'; secrets: Array<string | Buffer> }
		| { publicKeys: KeyObject[] };
}

/** How a genuine sender is recognized. */
export type SenderRule = SecretHeader | SignatureRule;

const SENDER_CHECKS = ['none', 'signature', 'secretHeader'] as const;
type SenderCheck = (typeof SENDER_CHECKS)[number];

export const readSenderCheck = (credential: PayCredential): SenderCheck =>
	readChosen(credential, 'senderCheck', SENDER_CHECKS);

type HeaderField = 'secretHeaderName' | 'signatureHeader' | 'timestampHeader';

function readHeaderName(credential: PayCredential, field: HeaderField): string {
	const value = credential[field];
	const name = typeof value === 'string' ? value.trim().toLowerCase() : '';
	if (isHeaderName(name)) return name;
	throw wrongInCredential(
		field,
		'must be the name of a header',
		'Enter the name that the service gave you, without a colon.',
	);
}

/** The secrets of a field, one per line. Its errors never contain one. */
function readSecrets(
	credential: PayCredential,
	field: 'secretHeaderValue' | 'signatureSecret',
): [string, ...string[]] {
	const value = credential[field];
	const lines = typeof value === 'string' ? value.split(/[\r\n]+/) : [];
	const [first, ...others] = lines.map((line) => line.trim()).filter((line) => line !== '');
	if (first !== undefined) return [first, ...others];
	throw wrongInCredential(field, 'is empty', 'Enter the secret that the service gave you.');
}

function readSecretHeader(credential: PayCredential): SecretHeader {
	const header = readHeaderName(credential, 'secretHeaderName');
	const values = readSecrets(credential, 'secretHeaderValue');
	if (values.every((value) => /^[\x20-\x7e]+$/.test(value))) {
		return { is: 'secretHeader', header, values };
	}
	throw wrongInCredential(
		'secretHeaderValue',
		'contains a character that headers cannot have',
		'Enter what the service sends in that header, one value a line.',
	);
}

const BEGINNING = '-----BEGIN';

function readHmacSecrets(credential: PayCredential): string[] {
	const secrets = readSecrets(credential, 'signatureSecret');
	if (!secrets.some((secret) => secret.includes(BEGINNING))) return secrets;
	// Anybody may know a public key, so a signature made with it as a secret proves nothing.
	throw wrongInCredential(
		'signatureSecret',
		'is a key, not a secret',
		'For a public key, set Signature Algorithm to RSA-SHA256 and enter the key there.',
	);
}

/** A key between its first and last line, whatever became of the line breaks inside. */
const PEM = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/g;
const KINDS_OF_KEY = ['PUBLIC KEY', 'RSA PUBLIC KEY', 'CERTIFICATE'];
/** The private part of shorter ones has been computed from the public one. */
const SHORTEST_KEY = 1024;

const wrongKey = (what: string): InputError =>
	wrongInCredential(
		'signaturePublicKey',
		what,
		'Paste the public key that the service gave you, from -----BEGIN PUBLIC KEY----- to -----END PUBLIC KEY-----.',
	);

/** A key from what stands between its two lines; undefined where it is none. */
function publicKeyFrom(kind: string, content: string): KeyObject | undefined {
	const base64 = content.replace(/\\[rn]|\s/g, '');
	const lines = base64.match(/.{1,64}/g) ?? [];
	try {
		return createPublicKey(`-----BEGIN ${kind}-----\n${lines.join('\n')}\n-----END ${kind}-----\n`);
	} catch {
		return undefined;
	}
}

function readPublicKeys(credential: PayCredential): KeyObject[] {
	const { signaturePublicKey: entered } = credential;
	if (typeof entered !== 'string' || entered.trim() === '') throw wrongKey('is empty');
	if (entered.includes('PRIVATE KEY')) {
		throw wrongKey('is a private key, which only its owner may have');
	}
	const keys: KeyObject[] = [];
	for (const [, kind = '', content = ''] of entered.matchAll(PEM)) {
		const key = KINDS_OF_KEY.includes(kind) ? publicKeyFrom(kind, content) : undefined;
		if (key === undefined) throw wrongKey('cannot be read');
		if (key.asymmetricKeyType !== 'rsa') throw wrongKey('is not an RSA key');
		if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < SHORTEST_KEY) {
			throw wrongKey(`is too short: it has fewer than ${SHORTEST_KEY} bits`);
		}
		keys.push(key);
	}
	if (keys.length === 0) throw wrongKey('cannot be read');
	return keys;
}

/** What each choice of Signed Content means, except for a template. */
const BODY: SignedContent = [{ is: 'body' }];
const TIMESTAMP_AND_BODY: SignedContent = [
	{ is: 'timestamp' },
	{ is: 'text', text: '.' },
	{ is: 'body' },
];

/** What is signed beside the signature's own header, whose name is read apart. */
type OwnForm = Omit<SignedForm, 'header'>;

function readOwnForm(
	credential: PayCredential,
	choice: 'body' | 'timestampAndBody' | 'template',
): OwnForm {
	if (choice === 'body') return { content: BODY };
	if (choice === 'timestampAndBody') {
		return {
			content: TIMESTAMP_AND_BODY,
			timestampHeader: readHeaderName(credential, 'timestampHeader'),
		};
	}
	const { timestampHeader = '', signedTemplate } = credential;
	const hasTimestamp = String(timestampHeader).trim() !== '';
	const form: OwnForm = { content: readTemplate(signedTemplate, hasTimestamp) };
	if (hasTimestamp) form.timestampHeader = readHeaderName(credential, 'timestampHeader');
	return form;
}

const readSignedContent = (credential: PayCredential) =>
	readChosen(credential, 'signedContent', [
		'body',
		'standardWebhooks',
		'timestampAndBody',
		'template',
	]);

function readSignatureRule(credential: PayCredential): SignatureRule {
	const choice = readSignedContent(credential);
	if (choice === 'standardWebhooks') {
		const secrets = readSecrets(credential, 'signatureSecret').map(standardKey);
		const keys = { hmac: 'sha256' as const, secrets };
		return { is: 'signature', forms: STANDARD_FORMS, isStandard: true, keys };
	}
	const algorithm = readChosen(credential, 'signatureAlgorithm', ['sha256', 'sha512', 'rsaSha256']);
	const keys =
		algorithm === 'rsaSha256'
			? { publicKeys: readPublicKeys(credential) }
			: { hmac: algorithm, secrets: readHmacSecrets(credential) };
	const ownForm = readOwnForm(credential, choice);
	const form = { ...ownForm, header: readHeaderName(credential, 'signatureHeader') };
	return { is: 'signature', forms: [form], isStandard: false, keys };
}

/** The headers that a service signs, of one request or of another. Reads no secret. */
function signedHeadersIn(credential: PayCredential): string[] {
	const choice = readSignedContent(credential);
	if (choice === 'standardWebhooks') return STANDARD_FORMS.flatMap(signedHeadersOf);
	return signedHeadersOf(readOwnForm(credential, choice));
}

/**
 * Reads how a postback's sender is checked, from a credential whose expressions n8n has resolved; undefined
 * where that is not checked.
 */
export function readSenderRule(credential: PayCredential): SenderRule | undefined {
	const check = readSenderCheck(credential);
	if (check === 'none') return undefined;
	return check === 'signature' ? readSignatureRule(credential) : readSecretHeader(credential);
}

/** As {@link readSenderRule}, from the credential of a wait, whose expressions n8n leaves as text. */
export function readSenderRuleOfWait(credential: PayCredential): SenderRule | undefined {
	const asText = { ...credential };
	for (const { name } of senderFields) {
		const value = credential[name];
		if (!isExpression(value)) continue;
		// Refused when it is read: what was left in a field that the form hides counts for nothing.
		const get = () => {
			throw wrongInCredential(
				name,
				'contains an expression, which is not resolved for a wait',
				'Enter it as text, select another credential in the wait, or use a Pay Trigger.',
			);
		};
		Object.defineProperty(asText, name, { get });
	}
	return readSenderRule(asText);
}

/** The first path that looks at what the service does not sign; undefined where there is none. */
function unsignedPath(field: Paths, signed: string[]): string | undefined {
	return field.find((path) => {
		const beside = besideBody(path);
		if (beside === undefined) return false;
		return beside.part === 'query' || !signed.includes(beside.name);
	});
}

const unsigned = (path: string) =>
	`cannot contain ${JSON.stringify(path)}, because it reads a header or the query, which the service does not sign, so anybody could add it`;
const NAME_A_FIELD = 'Name a field of the body.';

/**
 * Refuses fields of a postback that its service does not sign. Reads nothing that is
 * secret, so that a Pay node can ask too.
 */
export function refuseUnsignedFields(credential: PayCredential, words?: StatusWords): void {
	if (words === undefined || readSenderCheck(credential) !== 'signature') return;
	refuseUnsignedWords(words, signedHeadersIn(credential));
}

function refuseUnsignedWords(words: StatusWords, signed: string[]): void {
	for (const [name, field] of Object.entries(fieldsInWords(words))) {
		const path = unsignedPath(field, signed);
		if (path === undefined) continue;
		throw wrongInCredential(name, unsigned(path), NAME_A_FIELD);
	}
}

/**
 * Refuses a node's own field that its service does not sign.
 * @param words those of another credential, whose fields must be signed too
 */
export function refuseUnsignedMatch(
	match: PostbackMatch | undefined,
	rule: SenderRule | undefined,
	words?: StatusWords,
): void {
	if (rule?.is !== 'signature') return;
	const signed = rule.forms.flatMap(signedHeadersOf);
	if (words !== undefined) refuseUnsignedWords(words, signed);
	if (match === undefined || !('field' in match)) return;
	const path = unsignedPath(match.field, signed);
	if (path === undefined) return;
	throw wrongField(matchField, unsigned(path), NAME_A_FIELD);
}

/** The form in which a request is signed: the first one whose header is there, or would have to be. */
function formOf({ forms }: SignatureRule, headers: SignedRequest['headers']): SignedForm {
	return forms.find(({ header }) => headerText(headers[header]).trim() !== '') ?? forms[0];
}

/** The headers that hold a proof of the sender. */
const provingHeadersOf = (rule: SenderRule): string[] =>
	rule.is === 'signature' ? rule.forms.map(({ header }) => header) : [rule.header];

/** Which parts of a postback its verified sender vouches for, and which must not be shown. */
export function knownOfSender(rule: SenderRule | undefined, headers: SignedRequest['headers']) {
	return {
		isSignedByService: rule?.is === 'signature',
		signedHeaders: rule?.is === 'signature' ? signedHeadersOf(formOf(rule, headers)) : [],
		// A signature too, because with it and the body a reader of the execution could call again.
		provingHeaders: rule === undefined ? [] : provingHeadersOf(rule),
		secrets: rule?.is === 'secretHeader' ? rule.values : [],
	};
}

const digestOf = (text: string) => createHash('sha256').update(text, 'latin1').digest();

/** A hint for the log if a request has the headers of the public standard, and something else is set. */
const standardInWords = (headers: SignedRequest['headers']) =>
	looksStandard(headers)
		? '. It has the headers of Standard Webhooks: if your service uses that standard, set Check the Sender to Signature and Signed Content to Standard Webhooks'
		: '';

/** Why a request without the header that proves its sender is refused, in words for a log. */
function missingInWords(rule: SenderRule, headers: SignedRequest['headers']): string {
	const isStandard = rule.is === 'signature' && rule.isStandard;
	const [header, ...others] = provingHeadersOf(rule);
	const names = [`the header ${header}`, ...others].join(' or ');
	return `${names} is missing${isStandard ? '' : standardInWords(headers)}`;
}

/**
 * Why a request cannot be the service's, as far as its headers say, in words for a log, without a secret;
 * undefined where it may be. A request with such a fault needs no reading of its body. Compares in constant time.
 */
export function headerFault(
	rule: SenderRule,
	headers: SignedRequest['headers'],
): string | undefined {
	const header = rule.is === 'signature' ? formOf(rule, headers).header : rule.header;
	const sent = headerText(headers[header]).trim();
	if (sent === '') return missingInWords(rule, headers);
	if (rule.is === 'signature') return undefined;
	const found = digestOf(sent);
	// All are compared, so that the time it takes does not tell which one it was.
	const matches = rule.values.filter((value) => timingSafeEqual(digestOf(value), found));
	return matches.length > 0 ? undefined : `the header ${header} has another value`;
}

/** More than a service puts into one header. */
const MOST_VALUES = 20;

/** The values of a signature header: alone or among others, each with a prefix such as `v1=` or without. */
function signaturesIn(header: string): string[] {
	const values = new Set<string>();
	for (const part of header.split(/[,;\s]+/).slice(0, MOST_VALUES)) {
		values.add(part);
		const at = part.indexOf('=');
		if (at >= 0) values.add(part.slice(at + 1));
	}
	return [...values];
}

/** The bytes that a text may stand for: hexadecimal, or base64 in either alphabet. */
function bytesIn(text: string, length: number): Buffer | undefined {
	const isHex = text.length === 2 * length && /^[0-9a-f]+$/i.test(text);
	const bytes = Buffer.from(text, isHex ? 'hex' : 'base64');
	return bytes.length === length ? bytes : undefined;
}

function isHmac(
	values: string[],
	algorithm: 'sha256' | 'sha512',
	secret: string | Buffer,
	bytes: Buffer[],
): boolean {
	const hmac = createHmac(algorithm, secret);
	for (const part of bytes) hmac.update(part);
	const expected = hmac.digest();
	return values.some((value) => {
		const found = bytesIn(value, expected.length);
		return found !== undefined && timingSafeEqual(found, expected);
	});
}

function isRsaSignature(values: string[], key: KeyObject, bytes: Buffer[]): boolean {
	const length = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
	return values.some((value) => {
		const found = bytesIn(value, length);
		if (found === undefined) return false;
		const verifier = createVerify('RSA-SHA256');
		for (const part of bytes) verifier.update(part);
		return verifier.verify(key, found);
	});
}

/** Signatures by their length in bytes, for a person who chose another kind. */
const KINDS_BY_LENGTH = new Map([
	[20, 'HMAC-SHA1'],
	[32, 'HMAC-SHA256'],
	[64, 'HMAC-SHA512'],
	[128, 'RSA'],
	[256, 'RSA'],
	[384, 'RSA'],
	[512, 'RSA'],
]);

const KIND_OF_ALGORITHM = { sha256: 'HMAC-SHA256', sha512: 'HMAC-SHA512' };

/** Says that a header has a signature of another kind than the one that is checked; "" where it has none. */
function otherKindInWords(values: string[], { keys }: SignatureRule): string {
	const checked = 'hmac' in keys ? KIND_OF_ALGORITHM[keys.hmac] : 'RSA';
	for (const value of values) {
		for (const [length, kind] of KINDS_BY_LENGTH) {
			const isWritten = value.length >= length && bytesIn(value, length) !== undefined;
			if (!isWritten || kind === checked) continue;
			return `. It looks like ${kind}: ${length} bytes. Only HMAC-SHA256, HMAC-SHA512 and RSA-SHA256 can be checked`;
		}
	}
	return '';
}

const BYTES_ARE_GONE =
	'n8n read this multipart form before the node could, so nothing in it can be verified. Add "binaryData": true to the options of this node in the JSON of the workflow';

/**
 * Why a request was not signed by the service, in words for a log, without a secret; undefined where it
 * was, or where a header of its own says who sent it ({@link headerFault}). Compares in constant time.
 * @param body its bytes as they came; what n8n made of it where they are gone
 */
export function signatureFault(
	rule: SenderRule,
	request: SignedRequest,
	body: object,
): string | undefined {
	if (rule.is !== 'signature') return undefined;
	if (!Buffer.isBuffer(body)) return BYTES_ARE_GONE;
	// One signature of an empty body would fit every request without a body, whatever its query says.
	if (body.length === 0) return 'there is no body that could be signed';
	const { keys, isStandard } = rule;
	const form = formOf(rule, request.headers);
	const { header } = form;
	const sent = headerText(request.headers[header]);
	if (sent.trim() === '') return missingInWords(rule, request.headers);
	const wrongStandard = isStandard ? faultOfStandard(form, request.headers) : undefined;
	if (wrongStandard !== undefined) return wrongStandard;
	const signed = signedBytes(form, request, body);
	if ('fault' in signed) return signed.fault;
	const values = isStandard ? standardSignaturesIn(sent) : signaturesIn(sent);
	const isGenuine =
		'hmac' in keys
			? keys.secrets.some((secret) => isHmac(values, keys.hmac, secret, signed.bytes))
			: keys.publicKeys.some((key) => isRsaSignature(values, key, signed.bytes));
	if (isGenuine) return undefined;
	const none = `the header ${header} contains no signature of this body`;
	if (isStandard) return none;
	return none + otherKindInWords(values, rule) + standardInWords(request.headers);
}
