import { crc16 } from '../nodes/Pay/qr/emv';

const field = (id: string, value: string) => id + String(value.length).padStart(2, '0') + value;

/** An EMV merchant-presented payload as an illustration: no bank knows it. */
export function brCode(id: string, amount: number): string {
	const account = field('00', 'com.example.qr') + field('01', id);
	const payload = [
		field('00', '01'),
		field('26', account),
		field('52', '0000'),
		field('53', '999'),
		// EMV has room for 13 characters: a longer amount is cut off.
		field('54', String(amount).slice(0, 13)),
		field('58', 'XX'),
		field('59', 'Sample'),
		field('60', 'Nowhere'),
	].join('');
	return `${payload}6304${crc16(`${payload}6304`)}`;
}
