import { EMV_BEGINNING, emvAmount, isEmv } from './emv';

/** A scheme whose codes are known by their own form. */
export interface Scheme {
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
const LONGEST_CODE = 7089;

/** The scheme of a text without white space around it; undefined where it is no payment code. */
export function schemeOf(text: string): Scheme | undefined {
	if (text.length > LONGEST_CODE) return undefined;
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
