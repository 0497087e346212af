import { wrongField } from './label';

/**
 * Reads an option that is a whole number between two bounds, both included.
 * @param unset what it is where the user set nothing
 * @throws InputError for anything else, a number as text included
 */
export function readWholeNumber(
	value: unknown,
	field: string,
	[least, most]: readonly [number, number],
	unset: number,
): number {
	if (value === undefined || value === '') return unset;
	const whole = typeof value === 'number' && Number.isInteger(value);
	if (whole && value >= least && value <= most) return value;
	throw wrongField(
		field,
		`must be a whole number from ${least} to ${most}, but is ${JSON.stringify(value) ?? 'undefined'}`,
		'Correct it under Options.',
	);
}
