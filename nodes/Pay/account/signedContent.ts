import { isHeaderName } from '../base/text';
import { wrongInCredential } from './label';

/*
 * What a service signs: a template of texts and placeholders. The signature stays genuine if somebody moves a border
 * between two of them, so each border has to be where the service put it.
 */

/** A part of what is signed: a text, or something of the request. */
type SignedPart =
	| { is: 'text'; text: string }
	| { is: 'timestamp' | 'body' | 'method' | 'path' }
	/** Its name in small letters. */
	| { is: 'header'; name: string };

export type SignedContent = SignedPart[];

/** Where a signature is in a request, and what it signs. */
export interface SignedForm {
	/** The header that holds the signature, in small letters. */
	header: string;
	content: SignedContent;
	/** The header of the time that is signed too, in small letters; absent where none is. */
	timestampHeader?: string;
	/** Whether that header holds the time and nothing else, so that all of it is signed. */
	isTimestampAlone?: boolean;
}

/** Everything in a request that may be signed, apart from its body. */
export interface SignedRequest {
	/** By their names in small letters. */
	headers: Readonly<Record<string, unknown>>;
	method: string;
	/** Of the URL as it was given out, because a proxy on the way may cut it. */
	path: string;
}

/** The text of a header, which Node gives as a list where it came several times. */
export function headerText(value: unknown): string {
	return Array.isArray(value) ? value.join(',') : String(value ?? '');
}

const wrongTemplate = (what: string) =>
	wrongInCredential(
		'signedTemplate',
		what,
		'Write what the service signs, such as {timestamp}.{header:X-Nonce}.{body}. It may contain {body}, {timestamp}, {header:…}, {method} and {path}.',
	);

/** The part that a placeholder stands for. */
function placeholder(name: string): SignedPart {
	if (name === 'timestamp' || name === 'body' || name === 'method' || name === 'path') {
		return { is: name };
	}
	const header = name.startsWith('header:') ? name.slice('header:'.length).trim() : '';
	if (isHeaderName(header)) return { is: 'header', name: header.toLowerCase() };
	throw wrongTemplate(`contains {${name}}, which is not one of its placeholders`);
}

/**
 * Reads a template.
 * @param hasTimestamp whether a header with the time is known
 */
export function readTemplate(template: unknown, hasTimestamp: boolean): SignedContent {
	if (typeof template !== 'string' || template.trim() === '') throw wrongTemplate('is empty');
	const content: SignedContent = [];
	// Every second piece was in braces.
	const pieces = template.replaceAll('\r\n', '\n').split(/\{([^{}]*)\}/);
	for (const [index, piece] of pieces.entries()) {
		if (index % 2 === 1) content.push(placeholder(piece));
		else if (/[{}]/.test(piece)) throw wrongTemplate('has a brace without its counterpart');
		else if (piece !== '') content.push({ is: 'text', text: piece });
	}
	const fault = judgeTemplate(content, hasTimestamp);
	if (fault !== undefined) throw wrongTemplate(fault);
	return content;
}

/** The fault of a template whose parts cannot be told apart, or that lacks what it must contain. */
function judgeTemplate(content: SignedContent, hasTimestamp: boolean): string | undefined {
	const count = (is: SignedPart['is']) => content.filter((part) => part.is === is).length;
	if (count('body') !== 1) return 'must contain {body} once';
	if (hasTimestamp && count('timestamp') !== 1) {
		return 'must contain {timestamp} once, because there is a Timestamp Header';
	}
	if (!hasTimestamp && count('timestamp') > 0) {
		return 'contains {timestamp}, but there is no Timestamp Header';
	}
	const isSideBySide = content.some((part, index) => {
		const next = content[index + 1];
		return part.is !== 'text' && next !== undefined && next.is !== 'text';
	});
	return isSideBySide
		? 'has two placeholders side by side: put some text between them, otherwise nobody can tell where the first one ends'
		: undefined;
}

/** The headers that are signed, by their names in small letters. */
export function signedHeadersOf(form: Omit<SignedForm, 'header'>): string[] {
	const { content, timestampHeader, isTimestampAlone } = form;
	const names: string[] = [];
	if (isTimestampAlone && timestampHeader !== undefined) names.push(timestampHeader);
	for (const part of content) {
		if (part.is === 'header') names.push(part.name);
	}
	return names;
}

/**
 * The text between a part and its neighbour in one direction; undefined where there is no neighbour, because nothing
 * can be moved over the beginning or the end of the whole.
 */
function borderOf(content: SignedContent, index: number, step: 1 | -1): string | undefined {
	const part = content[index + step];
	const isBetween = content[index + 2 * step] !== undefined;
	return part?.is === 'text' && isBetween ? part.text : undefined;
}

/**
 * True if a value contains the border next to it, as `n.m` does before `.`, or makes an earlier one together with it,
 * as `n.` does before `..`. Then the whole could be taken apart elsewhere.
 */
function holdsBorder(
	value: string,
	before: string | undefined,
	after: string | undefined,
): boolean {
	if (after !== undefined && `${value}${after}`.indexOf(after) !== value.length) return true;
	return before !== undefined && `${before}${value}`.lastIndexOf(before) !== 0;
}

/** How far a signed time may be off, in milliseconds. */
const MOST_OFF = 5 * 60_000;

/** Whole times, with their zone: of ISO 8601, and of HTTP's own Date. It is plain where they end. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/;
const HTTP_TIME = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const isWholeTime = (text: string) => ISO_TIME.test(text) || HTTP_TIME.test(text);

/** Milliseconds since 1970 of a time in seconds, in milliseconds, or as ISO 8601 or HTTP write it. */
function timeOf(timestamp: string): number {
	if (isWholeTime(timestamp)) return Date.parse(timestamp);
	if (!/^\d+$/.test(timestamp)) return NaN;
	const number = Number(timestamp);
	return number < 100_000_000_000 ? number * 1000 : number;
}

/** A time of a header: alone, or as `t=` or `ts=` among other values (as in the signature's own header). */
function timestampIn(header: string): string {
	const [, marked] = /(?:^|[,;\s])ts?=([^,;\s]+)/.exec(header) ?? [];
	return marked ?? header.trim();
}

/** The end of a time: `921`, `123Z`, `00+01:00`. */
const END_OF_TIME = /^\d+(Z|[+-]\d\d:?\d\d)?/;

/**
 * True if somebody may have moved the border between time and body. A service that signs times with a fraction signs
 * `1795608000.921.{…}`. Its signature also fits the time `1795608000` with the body `921.{…}`.
 */
function beginsWithEndOfTime(body: Buffer, border: string): boolean {
	const text = body.toString('latin1', 0, 40 + border.length);
	const [end] = END_OF_TIME.exec(text) ?? [];
	return end !== undefined && text.startsWith(border, end.length);
}

/** The bytes of a header's text as they came: Node reads them as Latin-1. */
const bytesOf = (text: string) => Buffer.from(text, 'latin1');

/** The bytes that are signed, or why these cannot be those that the service signed. */
export function signedBytes(
	{ content, timestampHeader }: Omit<SignedForm, 'header'>,
	request: SignedRequest,
	body: Buffer,
): { bytes: Buffer[] } | { fault: string } {
	const bytes: Buffer[] = [];
	for (const [index, part] of content.entries()) {
		const before = borderOf(content, index, -1);
		const after = borderOf(content, index, 1);
		switch (part.is) {
			case 'text':
				bytes.push(Buffer.from(part.text));
				break;
			case 'body':
				bytes.push(body);
				break;
			case 'method':
			case 'path':
				bytes.push(Buffer.from(request[part.is]));
				break;
			case 'header': {
				const value = headerText(request.headers[part.name]);
				if (value.trim() === '') return { fault: `the header ${part.name} is missing` };
				if (holdsBorder(value, before, after)) {
					return {
						fault: `the header ${part.name} contains the text that separates it from what comes next to it in the signed content`,
					};
				}
				bytes.push(bytesOf(value));
				break;
			}
			case 'timestamp': {
				const header = timestampHeader ?? '';
				const timestamp = timestampIn(headerText(request.headers[header]));
				if (timestamp === '') return { fault: `the header ${header} is missing` };
				// An unreadable time is NaN, which compares as false.
				const isRecent = Math.abs(Date.now() - timeOf(timestamp)) <= MOST_OFF;
				if (!isRecent) return { fault: `the time in the header ${header} is not the current time` };
				if (!isWholeTime(timestamp) && holdsBorder(timestamp, before, after)) {
					return {
						fault: `the time in the header ${header} contains the text that separates it from what comes next to it`,
					};
				}
				const isBeforeBody = content[index + 2]?.is === 'body';
				if (isBeforeBody && beginsWithEndOfTime(body, after ?? '')) {
					return { fault: 'the body begins with part of a time' };
				}
				bytes.push(bytesOf(timestamp));
			}
		}
	}
	return { bytes };
}

/*
 * Standard Webhooks, the public standard of Svix and many services. A person enters only the secret, because the
 * names of the headers, what is signed and how are always the same.
 */

/** Its headers begin with `webhook`, or with `svix`, where the standard comes from. */
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

/** Only the first one whose signature is there counts. The id of the other one is not signed. */
export const STANDARD_FORMS = [standardForm('webhook'), standardForm('svix')] as const;

const PREFIX = 'whsec_';
/** Base64 in either alphabet, with its padding or without. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

const ASK_FOR_SECRET =
	'Enter the secret that the service gave you for its notifications. It begins with whsec_, and what follows is base64.';

/** The key that a secret contains. Its errors never contain the secret. */
export function standardKey(secret: string): Buffer {
	const wrongSecret = (what: string) => wrongInCredential('signatureSecret', what, ASK_FOR_SECRET);
	if (secret.startsWith('whpk_')) {
		throw wrongSecret('begins with whpk_: it is a public key (ed25519), which cannot be used here');
	}
	if (secret.startsWith('whsk_')) {
		throw wrongSecret('begins with whsk_: it is a private key, which only its owner may have');
	}
	const base64 = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
	const digits = base64.replace(/=+$/, '');
	// A single digit at the end is less than a byte: something was cut off.
	if (!BASE64.test(base64) || digits.length % 4 === 1) throw wrongSecret('is not base64');
	return Buffer.from(digits, 'base64');
}

/** More than a service sends while it replaces its secrets. */
const MOST_SIGNATURES = 20;

/** The signatures of version v1, the only one that can be checked. There may be others, for other receivers. */
export function standardSignaturesIn(header: string): string[] {
	const signatures: string[] = [];
	for (const part of header.split(/\s+/)) {
		if (part.startsWith('v1,')) signatures.push(part.slice('v1,'.length));
	}
	return signatures.slice(0, MOST_SIGNATURES);
}

/** In what the headers of a request differ from the standard; undefined where they do not. */
export function faultOfStandard(
	{ header, timestampHeader = '' }: SignedForm,
	headers: Readonly<Record<string, unknown>>,
): string | undefined {
	const sent = headerText(headers[header]);
	if (standardSignaturesIn(sent).length === 0) {
		return /(^|\s)v1a,/.test(sent)
			? `the header ${header} contains only signatures of version v1a (ed25519), which cannot be checked: ask the service for a secret that begins with whsec_`
			: `the header ${header} contains no signature of version v1`;
	}
	const timestamp = headerText(headers[timestampHeader]);
	if (timestamp === '' || /^\d+$/.test(timestamp)) return undefined;
	// Otherwise only a part of it could be signed, and the rest be anybody's.
	return `the header ${timestampHeader} contains something other than a time in seconds`;
}

export function looksStandard(headers: Readonly<Record<string, unknown>>): boolean {
	return STANDARD_FORMS.some(({ header }) => /(^|\s)v1a?,/.test(headerText(headers[header])));
}
