import { renderSVG } from 'uqr';
import { qrPng } from '../nodes/Pay/qr/image';

/** What a response may have in place of a code's text. */
export const PICTURES = ['svg', 'png', 'address'] as const;
export type Picture = (typeof PICTURES)[number];

/**
 * The picture of a code, as services give it: an SVG as text, a PNG as a data URI, or where it can be loaded.
 * @param address where the sandbox shows it
 */
export async function pictureOf(code: string, picture: Picture, address: string): Promise<string> {
	if (picture === 'svg') return renderSVG(code, { ecc: 'M', border: 4, pixelSize: 4 });
	if (picture === 'png') {
		const png = await qrPng(code);
		return `data:image/png;base64,${png.toString('base64')}`;
	}
	return address;
}
