import { valueAt } from '../json';
import { easiestToShow, imageIn, type Image } from './imageText';
import { schemeOf, type Scheme } from './schemes';

/** What a QR code image is made from: text to encode, or the service's own image; or why there is none. */
type QrSource = { text: string } | { image: Image } | { hint: string };

/** A text found in a response, with the dot path that leads to it. */
interface TextField {
	path: string;
	value: string;
}

/* Responses are small; bounds keep an odd one from holding up the payment flow. */
const MAX_TEXT_FIELDS = 2000;
const MAX_LEVELS = 50;

function textFields(value: unknown, path: string[] = [], found: TextField[] = []): TextField[] {
	if (found.length >= MAX_TEXT_FIELDS || path.length > MAX_LEVELS) return found;
	if (typeof value === 'string') found.push({ path: path.join('.'), value });
	else if (typeof value === 'object' && value !== null) {
		for (const [name, member] of Object.entries(value)) textFields(member, [...path, name], found);
	}
	return found;
}

/** The text fields of a response as a person can choose from them. */
function choices(fields: TextField[]): string {
	const shown = fields.slice(0, 15).map(({ path, value }) => {
		const start = value.length > 24 ? `${value.slice(0, 24)}…` : value;
		const line = start.replace(/\s+/g, ' ');
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
	paths: string[],
): { path: string; value: unknown } | undefined {
	for (const path of paths) {
		const value = valueAt(response, path);
		if (value !== undefined && value !== null) return { path, value };
	}
	return undefined;
}

/** The source at the paths of QR Code Path. */
function chosenSource(response: unknown, paths: string[]): QrSource {
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
		hint: `No QR code: "${path}" (QR Code Path) leads to the address of a picture, or to one that is no PNG, JPEG or SVG. Set the path to the text of the code, if the response has it: ${choices(textFields(response))}.`,
	};
}

/**
 * Finds what to make a QR code image from, or gives a hint. The response's form is not documented
 * (section 2.3), so a payload is known by its own form: a payment code or an image, anywhere in it.
 * @param paths where it is, as a person entered it: paths, one a line; empty where nobody did
 */
export function findQrSource(response: unknown, paths = ''): QrSource {
	if (paths !== '') return chosenSource(response, paths.split('\n'));
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
	const problem = `the response holds ${payloads.size} possible payloads`;
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
	return `No QR code: ${problem}. Enter as QR Code Path in the Pay API credential (Describe the Service) one of its text fields: ${choices(fields)}.`;
}
