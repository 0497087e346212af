import { wrongField } from './label';
import type { ReadParameter } from './parameter';

const MINUTE = 60_000;
const UNITS: Record<string, number> = {
	seconds: 1000,
	minutes: MINUTE,
	hours: 60 * MINUTE,
	days: 24 * 60 * MINUTE,
};

/**
 * Reads how long a wait lasts at most, in milliseconds; an expression may give the number as text. Throws
 * an InputError.
 */
export function readWaitLimit(read: ReadParameter): number {
	// What is not typed is false by its default: nothing comes from an expression that found nothing.
	const isLimited = read('limitWaitTime');
	if (isLimited === false) return Infinity;
	if (isLimited !== true) {
		const what = `must be true or false, but is ${JSON.stringify(isLimited) ?? 'undefined'}`;
		throw wrongField('limitWaitTime', what, 'Turn it on or off.');
	}
	const typedAmount = read('resumeAmount');
	const text = typeof typedAmount === 'string' ? typedAmount.trim() : '';
	const amount = text === '' ? typedAmount : Number(text);
	const unit = read('resumeUnit');
	if (typeof amount !== 'number' || !(amount >= 0)) {
		const what = `must be 0 or more, but is ${JSON.stringify(typedAmount) ?? 'undefined'}`;
		throw wrongField('resumeAmount', what, 'Enter how long to wait.');
	}
	if (typeof unit !== 'string' || !Object.hasOwn(UNITS, unit)) {
		const names = Object.keys(UNITS).join(', ');
		throw wrongField('resumeUnit', `must be one of ${names}`, 'Choose one from the list.');
	}
	return amount * UNITS[unit]!;
}
