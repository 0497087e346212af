import { valueAt } from '../base/json';
import { shortened } from '../base/text';
import type { Paths } from '../service/paths';
import { easiestToShow, type Image, imageIn } from './image';
import { EMV_BEGINNING, emvAmount, isEmv } from './emv';

/** What a QR code image is made from: text to encode, or the service's own image; or why there is none. */
type QrSource = { text: string } | { image: Image } | { hint: string };

/** A text found in a response, with the dot path that leads to it. */
interface TextField {
	path: string;
	value: string;
}

/* Responses are small; bounds keep an odd one from holding up the payment flow. */
const MOST_TEXT_FIELDS = 2000;
const MOST_LEVELS = 50;

function textFields(value: unknown, path: string[] = [], found: TextField[] = []): TextField[] {
	if (found.length >= MOST_TEXT_FIELDS || path.length > MOST_LEVELS) return found;
	if (typeof value === 'string') found.push({ path: path.join('.'), value });
	else if (typeof value === 'object' && value !== null) {
		for (const [name, member] of Object.entries(value)) textFields(member, [...path, name], found);
	}
	return found;
}

/** As much of a text field as a person needs to know it again. */
const MOST_SHOWN = 24;

/** The text fields of a response as a person can choose from them. */
function choices(fields: TextField[]): string {
	const shown = fields.slice(0, 15).map(({ path, value }) => {
		const line = shortened(value, MOST_SHOWN).replace(/\s+/g, ' ');
		return `${path === '' ? '(the whole response)' : path} ("${line}")`;
	});
	return shown.length > 0 ? shown.join(', ') : 'none';
}

/** The fields that hold a payment code: all of the surest form that any of them has. */
function codesIn(fields: TextField[]): TextField[] {
	const codes: Record<Scheme['sureness'], TextField[]> = {
		checksum: [],
		form: [],
		link: [],
	};
	for (const { path, value } of fields) {
		// White space around a code counts for nothing.
		const text = value.trim();
		const scheme = schemeOf(text);
		if (scheme !== undefined) codes[scheme.sureness].push({ path, value: text });
	}
	const surest = [codes.checksum, codes.form, codes.link];
	return surest.find((found) => found.length > 0) ?? [];
}

/** The first of some paths that is there, and what is at it; undefined where there is none. */
function firstPresent(
	response: unknown,
	paths: Paths,
): { path: string; value: unknown } | undefined {
	for (const path of paths) {
		const value = valueAt(response, path);
		if (value !== undefined && value !== null) return { path, value };
	}
	return undefined;
}

/** The source at the paths of QR Code Path. */
function chosenSource(response: unknown, paths: Paths): QrSource {
	const present = firstPresent(response, paths);
	if (typeof present?.value !== 'string' || present.value.trim() === '') {
		const looked = present === undefined ? paths : [present.path];
		const quotedPaths = looked.map((each) => `"${each}"`).join(' or ');
		return {
			hint: `No QR code: the response has no text at ${quotedPaths} (QR Code Path). Its text fields: ${choices(textFields(response))}.`,
		};
	}
	const { path, value } = present;
	const [code] = codesIn([{ path, value }]);
	if (code !== undefined) return { text: code.value };
	const image = imageIn(value);
	if (image === undefined) return { text: value.trim() };
	if (image !== 'other') return { image };
	return {
		hint: `No QR code: "${path}" (QR Code Path) leads to the address of a picture, or to a picture that is not a PNG, JPEG or SVG. Set the path to the text of the code, if the response contains it: ${choices(textFields(response))}.`,
	};
}

/**
 * Finds what to make a QR code image from, or gives a hint. The response's form is not documented
 * (section 2.3), so a payload is known by its own form: a payment code or an image, anywhere in it.
 * @param paths where it is, as a person entered it
 */
export function findQrSource(response: unknown, paths?: Paths): QrSource {
	if (paths !== undefined) return chosenSource(response, paths);
	const fields = textFields(response);
	// A service often gives the code and a picture of it; the code is the one to draw.
	const codes = codesIn(fields);
	const [code] = codes;
	if (code !== undefined) return hintAtSeveral(codes) ?? { text: code.value };
	const images = imagesIn(fields);
	const [picture] = images;
	if (picture !== undefined) return hintAtSeveral(images) ?? { image: picture.image };
	const usable = fields.filter(({ value }) => imageIn(value) !== 'other');
	return { hint: askForPath('no payload was recognized in the response', usable) };
}

/** Asks which one it is, where some fields hold more than one payload. */
function hintAtSeveral(fields: TextField[]): { hint: string } | undefined {
	const payloads = new Set(fields.map(({ value }) => value));
	if (payloads.size === 1) return undefined;
	const problem = `the response contains ${payloads.size} possible payloads`;
	return { hint: askForPath(problem, fields) };
}

/** The fields that hold an image, of the kind that is easiest to show. */
function imagesIn(fields: TextField[]): Array<TextField & { image: Image }> {
	const found: Array<TextField & { image: Image }> = [];
	for (const { path, value } of fields) {
		const image = imageIn(value);
		if (typeof image === 'object') found.push({ path, value, image });
	}
	return easiestToShow(found);
}

/** A hint that asks for the path of a code, and offers some fields. */
function askForPath(problem: string, fields: TextField[]): string {
	return `No QR code: ${problem}. Enter one of its text fields as QR Code Path in the Pay API credential (Describe the Service): ${choices(fields)}.`;
}

/** A scheme whose codes are known by their own form. */
interface Scheme {
	/** As the table in docs/service.md calls it. */
	name: string;
	/** What each of its codes begins with. */
	begins: string;
	/** How sure the form is: a service that gives several forms of one code means the surest. */
	sureness: 'checksum' | 'form' | 'link';
	/** Whether a text that begins so is a code of it. */
	isCode: (text: string) => boolean;
	/** The amount that a code asks its payer for, as it stands there, where the scheme has one. */
	amountIn?: (code: string) => string | undefined;
}

/** A line of a code, counted from 1 as the schemes' documents do. */
const lineOf = (code: string, line: number) => code.split(/\r?\n/)[line - 1];

/** All schemes; test/qr/schemes.ts has an example of each. */
export const SCHEMES: readonly Scheme[] = [
	{
		name: 'EMV merchant-presented code',
		begins: EMV_BEGINNING,
		sureness: 'checksum',
		isCode: isEmv,
		amountIn: emvAmount,
	},
	{
		// NPCI, UPI Linking Specifications
		name: 'UPI (India)',
		begins: 'upi://pay?',
		sureness: 'form',
		isCode: (text) => /^upi:\/\/pay(?=\?)\S*[?&]pa=[^\s?&@]+@/i.test(text),
		amountIn: (code) => new URLSearchParams(code.slice('upi://pay?'.length)).get('am') ?? undefined,
	},
	{
		// EPC069-12, whose amount is "EUR" and a number
		name: 'SEPA credit transfer (EPC069-12)',
		begins: 'BCD',
		sureness: 'form',
		isCode: (text) => /^BCD\r?\n00[12]\r?\n[1-8]\r?\n(SCT|INST)\r?\n/.test(text),
		amountIn(code) {
			const line = lineOf(code, 8);
			return line?.startsWith('EUR') ? line.slice('EUR'.length) : undefined;
		},
	},
	{
		// SIX, Swiss Implementation Guidelines QR-bill
		name: 'Swiss QR-bill',
		begins: 'SPC',
		sureness: 'form',
		isCode: (text) => /^SPC\r?\n02\d\d\r?\n1\r?\n(CH|LI)\d{2}[0-9A-Z]{17}\r?\n/.test(text),
		amountIn: (code) => lineOf(code, 19),
	},
	{
		// Czech Banking Association
		name: 'Short Payment Descriptor (Czechia)',
		begins: 'SPD*',
		sureness: 'form',
		isCode: (text) => /^SPD\*\d+\.\d+\*(.*\*)?ACC:[A-Z]{2}\d{2}/.test(text),
		amountIn(code) {
			const part = code.split('*').find((each) => each.startsWith('AM:'));
			return part?.slice('AM:'.length);
		},
	},
	{
		name: 'Payment code of Russia (GOST R 56042)',
		begins: 'ST0001',
		sureness: 'form',
		isCode: (text) => /^ST0001[123]\|Name=.*\|PersonalAcc=/s.test(text),
	},
	{
		// National Bank of Serbia
		name: 'IPS (Serbia)',
		begins: 'K:PR',
		sureness: 'form',
		isCode: (text) => /^K:(PR|PT|PK|EK)\|V:01\|C:1\|R:\d{18}\|/.test(text),
	},
	{
		name: 'SBP link (Russia)',
		begins: 'https://qr.nspk.ru/',
		sureness: 'link',
		isCode: (text) => /^https:\/\/qr\.nspk\.ru\/[A-Z0-9]{32}(\?\S*)?$/i.test(text),
	},
	{
		name: 'Alipay link',
		begins: 'https://qr.alipay.com/',
		sureness: 'link',
		isCode: (text) => /^https:\/\/qr\.alipay\.com\/[a-z0-9]{8,}$/i.test(text),
	},
	{
		name: 'WeChat Pay link',
		begins: 'weixin://wxpay/bizpayurl?',
		sureness: 'link',
		isCode: (text) => /^weixin:\/\/wxpay\/bizpayurl\?\S+$/.test(text),
	},
	{
		name: 'Payconiq link',
		begins: 'https://payconiq.com/pay/2/',
		sureness: 'link',
		isCode: (text) => /^https:\/\/payconiq\.com\/pay\/2\/[0-9a-f]{24}(\?\S*)?$/i.test(text),
	},
];

/** As many characters as a QR code of any kind holds: 7,089 digits. */
const MOST_CHARACTERS = 7089;

/** The scheme of a text without white space around it; undefined where it is no payment code. */
export function schemeOf(text: string): Scheme | undefined {
	if (text.length > MOST_CHARACTERS) return undefined;
	return SCHEMES.find(({ isCode }) => isCode(text));
}

/**
 * Whether a text begins like a code of a scheme that has neither checksum nor address: the schemes have
 * variants. An EMV code whose checksum is wrong was changed on the way, so it is none.
 */
function isVariantOf({ begins, sureness }: Scheme, text: string): boolean {
	return sureness === 'form' && text.startsWith(begins);
}

/**
 * The amount that a payment code asks its payer for, as it stands there, of the schemes whose codes hold
 * one; undefined where there is none, or the text is no code.
 */
export function amountTextIn(code: string): string | undefined {
	// QR Code Path may lead to a variant that is not known by its form alone.
	const scheme = schemeOf(code) ?? SCHEMES.find((each) => isVariantOf(each, code));
	return scheme?.amountIn?.(code) || undefined;
}

/** A number as these schemes write one: a point before the decimals, no sign, no groups. */
const DECIMAL = /^\d+\.?\d*$/;

/** The amount of {@link amountTextIn}; undefined too where it is not written as its scheme writes one. */
export function amountInCode(code: string): number | undefined {
	const text = amountTextIn(code);
	return text !== undefined && DECIMAL.test(text) ? Number(text) : undefined;
}
