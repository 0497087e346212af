import { isEmv } from './forms';

/** A number as these schemes write one: a point before the decimals, no sign, no groups. */
const DECIMAL = /^\d+\.?\d*$/;

/** The value of a field of an EMV code (EMVCo MPM): each is two digits, two digits of length, a value. */
function emvField(code: string, wanted: string): string | undefined {
	let found: string | undefined;
	let at = 0;
	while (at < code.length) {
		const length = code.slice(at + 2, at + 4);
		if (!/^\d\d$/.test(length)) return undefined;
		const end = at + 4 + Number(length);
		if (code.slice(at, at + 2) === wanted) found ??= code.slice(at + 4, end);
		at = end;
	}
	// Lengths that do not add up were counted in something else than these units.
	return at === code.length ? found : undefined;
}

/** Some services count a field's length in characters, others in bytes. */
const emvAmount = (code: string) =>
	emvField(code, '54') ?? emvField(Buffer.from(code).toString('latin1'), '54');

const lineOf = (code: string, line: number) => code.split(/\r?\n/)[line];

function epcAmount(code: string): string | undefined {
	const line = lineOf(code, 7);
	return line?.startsWith('EUR') ? line.slice(3) : undefined;
}

/** The part of a Short Payment Descriptor that begins with a key. */
const spdField = (code: string, key: string) =>
	code
		.split('*')
		.find((part) => part.startsWith(key))
		?.slice(key.length);

/** Where a code that begins so says what is to be paid. */
const AMOUNTS: Array<[begins: RegExp, read: (code: string) => string | null | undefined]> = [
	// UPI Linking Specifications
	[/^upi:\/\/pay\?/i, (code) => new URLSearchParams(code.slice('upi://pay?'.length)).get('am')],
	// EPC069-12, line 8
	[/^BCD\r?\n/, epcAmount],
	// Swiss Implementation Guidelines QR-bill, line 19
	[/^SPC\r?\n/, (code) => lineOf(code, 18)],
	// Short Payment Descriptor
	[/^SPD\*/, (code) => spdField(code, 'AM:')],
];

/**
 * The amount that a payment code asks its payer for, as it stands there, of the schemes whose codes hold
 * one; undefined where there is none, or the code is no such code.
 */
export function amountTextIn(code: string): string | undefined {
	const [, read] = AMOUNTS.find(([begins]) => begins.test(code)) ?? [];
	return (isEmv(code) ? emvAmount(code) : read?.(code)) || undefined;
}

/** The amount of {@link amountTextIn}; undefined too where it is not written as its scheme writes one. */
export function amountInCode(code: string): number | undefined {
	const text = amountTextIn(code);
	return text !== undefined && DECIMAL.test(text) ? Number(text) : undefined;
}
