import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../dev/children';
import { PROGRAMS } from '../../dev/versions';
import { installTools } from '../../dev/install';
import { qrPng } from '../../nodes/Pay/qr/image';
import { findQrSource } from '../../nodes/Pay/qr/code';
import { brCode } from '../../sandbox/brCode';
import { EXAMPLES } from '../../test/qr/schemes';

/** What is used of the two readers of EMV codes; they make such codes too. */
interface PromptParse {
	parse(code: string, strict: boolean): { getTagValue(tag: string, sub?: string): string } | null;
	generate: {
		anyId(account: { type: string; target: string; amount: number }): string;
	};
}
interface PixUtils {
	parsePix(code: string): object;
	hasError(parsed: object): boolean;
	createStaticPix(pix: object): { toBRCode(): string };
}

let promptParse: PromptParse;
let pixUtils: PixUtils;
const folder = temporaryFolder('qr');

beforeAll(async () => {
	const modules = await installTools('readers of EMV codes', PROGRAMS.qrReaders, {
		scripts: false,
	});
	promptParse = require(join(modules, 'promptparse')) as PromptParse;
	pixUtils = require(join(modules, 'pix-utils')) as PixUtils;
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads an image with Debian's zbarimg, byte by byte. */
function readWithZbar(png: Buffer): string {
	const file = join(folder, 'code.png');
	writeFileSync(file, png);
	const flags = ['--quiet', '--raw', '--oneshot', '-Sbinary'];
	try {
		return execFileSync('zbarimg', [...flags, file], {
			stdio: ['ignore', 'pipe', 'ignore'],
		}).toString();
	} catch (error) {
		if ((error as { code?: string }).code !== 'ENOENT') throw error;
		throw new Error("zbarimg is missing: install Debian's package zbar-tools");
	}
}

test.each(EXAMPLES)("zbarimg reads the image of a scheme's code: $scheme", async ({ example }) => {
	expect(readWithZbar(await qrPng(example))).toBe(example);
});

test.each([1, 25, 60, 90])('zbarimg reads the image of a code with an id of %d', async (length) => {
	const code = brCode('x'.repeat(length), 10.5);
	expect(readWithZbar(await qrPng(code))).toBe(code);
});

test.each([100, 500, 1000, 1500, 2000, 2331])(
	'zbarimg reads the image of %d bytes',
	async (length) => {
		const text = 'pay/'.repeat(600).slice(0, length);
		expect(readWithZbar(await qrPng(text))).toBe(text);
	},
);

test.each([1, 25, 60])('a reader takes the code of the sandbox, with an id of %d', (length) => {
	const code = brCode('x'.repeat(length), 10.5);
	expect(promptParse.parse(code, true)!.getTagValue('54')).toBe('10.5');
	expect(findQrSource({ a: code })).toStrictEqual({ text: code });
});

const EMV = EXAMPLES[0]!.example;

test('both readers and this package take the same code', () => {
	expect(promptParse.parse(EMV, true)!.getTagValue('59')).toBe('Fulano de Tal');
	expect(pixUtils.hasError(pixUtils.parsePix(EMV))).toBe(false);
	expect(findQrSource({ a: EMV })).toStrictEqual({ text: EMV });
});

test('both readers and this package refuse a code whose checksum is wrong', () => {
	const wrong = `${EMV.slice(0, -1)}E`;
	expect(promptParse.parse(wrong, true)).toBeNull();
	expect(pixUtils.hasError(pixUtils.parsePix(wrong))).toBe(true);
	expect(findQrSource({ a: wrong })).toHaveProperty('hint');
});

test.each([0.01, 42.5, 123456.78])('a code that promptparse makes of %d is found', (amount) => {
	const code = promptParse.generate.anyId({ type: 'MSISDN', target: '0812345678', amount });
	expect(findQrSource({ data: { qr: `${code}\n` } })).toStrictEqual({ text: code });
});

test.each([0.01, 42.5, 123456.78])('a code that pix-utils makes of %d is found', (amount) => {
	const code = pixUtils
		.createStaticPix({
			merchantName: 'Shop',
			merchantCity: 'City',
			pixKey: 'a@example.com',
			transactionAmount: amount,
			txid: 'order1042',
		})
		.toBRCode();
	expect(findQrSource({ data: { qr: `${code}\n` } })).toStrictEqual({ text: code });
});
