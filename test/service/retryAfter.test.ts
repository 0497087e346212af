import { readRetryAfter } from '../../nodes/Pay/service/client';

const NOW = Date.parse('Fri, 27 Nov 2026 20:00:00 GMT');

test.each<{ value: unknown; expected: number | undefined }>([
	{ value: '120', expected: 120 },
	{ value: ' 0 ', expected: 1 },
	{ value: 'Fri, 27 Nov 2026 20:00:30 GMT', expected: 30 },
	{ value: 'Fri, 27 Nov 2026 19:00:00 GMT', expected: undefined },
	{ value: '-5', expected: undefined },
	{ value: '1.5', expected: undefined },
	{ value: '2026', expected: 2026 },
	{ value: '9'.repeat(400), expected: undefined },
	{ value: 'soon GMT', expected: undefined },
	{ value: '', expected: undefined },
	{ value: ['1', '2'], expected: undefined },
	{ value: undefined, expected: undefined },
])('Retry-After $value is $expected s', ({ value, expected }) => {
	expect(readRetryAfter(value, NOW)).toBe(expected);
});
