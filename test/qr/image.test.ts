import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { decode as decodePng } from 'fast-png';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { imageFileName, qrPng } from '../../nodes/Pay/qr/image';
import { brCode } from '../../sandbox/brCode';
import { runs } from '../runs';

beforeAll(async () => {
	const wasmBinary = readFileSync(require.resolve('zxing-wasm/reader/zxing_reader.wasm'));
	// Its own way to get at the file would be a download.
	await prepareZXingModule({
		overrides: { wasmBinary: wasmBinary.buffer as ArrayBuffer },
		fireImmediately: true,
	});
});

/** Reads an image back with a decoder that shares no code with the encoder. */
async function decode(png: Buffer) {
	// In the header of every PNG.
	const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
	const [found] = await readBarcodes(new Uint8Array(png), { formats: ['QRCode'] });
	return { text: found?.text, level: found?.ecLevel, width, height };
}

test('100 payloads up to the largest version are read back as they were', async () => {
	// Version 40 with error correction M holds 2,331 bytes, 3,391 letters and digits, 5,596 digits.
	const long = fc
		.integer({ min: 1000, max: 2331 })
		.map((length) => 'z/'.repeat(length).slice(0, length));
	const charge = fc.tuple(fc.uuid(), fc.integer({ min: 1 })).map(([id, n]) => brCode(id, n));
	const visible = fc.string({ minLength: 1, maxLength: 300 }).filter((text) => text.trim() !== '');
	const payload = fc.oneof(
		{ weight: 12, arbitrary: charge },
		{ weight: 12, arbitrary: visible },
		{ weight: 1, arbitrary: long },
	);
	await fc.assert(
		fc.asyncProperty(payload, async (text) => {
			const { text: read, level, width, height } = await decode(await qrPng(text));
			expect(level).toBe('M');
			expect(read).toBe(text);
			expect(width).toBe(height);
			expect(width).toBeGreaterThanOrEqual(400);
		}),
		{ numRuns: runs(100), examples: [['z'.repeat(2331)]] },
	);
});

test('the quiet zone is white', async () => {
	const { data, width, depth } = decodePng(await qrPng('a'));
	expect(depth).toBe(1);
	// 21 modules and a quiet zone of 4 on each side.
	const module = width / 29;
	const line = Math.ceil(width / 8);
	const dark = (x: number, y: number) => ((data[y * line + (x >> 3)]! >> (7 - (x & 7))) & 1) === 0;
	// The first module is dark from corner to corner.
	for (const x of [4 * module, 5 * module - 1]) {
		for (const y of [4 * module, 5 * module - 1]) expect(dark(x, y)).toBe(true);
	}
	for (let at = 0; at < width; at++) {
		for (const x of [0, 4 * module - 1, width - 4 * module]) expect(dark(x, at)).toBe(false);
	}
});

test('a payload that no QR code holds is refused', async () => {
	await expect(qrPng('z'.repeat(2332))).rejects.toThrow();
});

test.each([
	{ id: 'order-1', name: 'order-1.png' },
	{ id: 'a/b\\c:d', name: 'a_b_c_d.png' },
	{ id: '../../etc/passwd', name: '__.._etc_passwd.png' },
	{ id: 'ünïcode 日本', name: 'ünïcode_日本.png' },
	{ id: 'a // b', name: 'a_b.png' },
	{ id: 'a..b.c', name: 'a..b.c.png' },
	{ id: 'x'.repeat(101), name: `${'x'.repeat(100)}.png` },
])('the image of $id is called $name', ({ id, name }) => {
	expect(imageFileName(id, 'png')).toBe(name);
});
