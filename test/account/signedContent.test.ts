import fc from 'fast-check';
import { readTemplate, signedBytes } from '../../nodes/Pay/account/signedContent';
import { runs } from '../runs';

const NOW = 1_764_072_000_000;
beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

/** A request, and all that is signed of it, as one text; undefined where it is refused. */
function signed(template: string, timestampHeader: string | undefined, request: Request) {
	const content = readTemplate(template, timestampHeader !== undefined);
	const { body, ...headers } = request;
	const all = { headers, method: 'POST', path: '/webhook/7' };
	const result = signedBytes({ content, timestampHeader }, all, Buffer.from(body));
	return 'bytes' in result ? Buffer.concat(result.bytes).toString('latin1') : undefined;
}

interface Request {
	a: string;
	b: string;
	time: string;
	body: string;
}

const SECONDS = String(NOW / 1000);
/** Few characters, so that borders meet. */
const text = fc.string({
	unit: fc.constantFrom('.', ':', 'x', '0', '1'),
	minLength: 1,
	maxLength: 5,
});
const time = fc.constantFrom(
	SECONDS,
	`${SECONDS}000`,
	`${SECONDS}.5`,
	'2025-11-25T12:00:00Z',
	'2025-11-25T12:00:00.921Z',
	'2025-11-25T12:00:00+00:00',
);
const TEMPLATES = [
	'{header:a}.{body}',
	'{header:a}.{header:b}.{body}',
	'{header:a}..{header:b}:{body}',
	'{header:a}:{body}.{header:b}',
	'{body}.{header:a}',
	'x{header:a}.{header:b}x{body}1',
];
const TIMED = [
	'{timestamp}.{body}',
	'{timestamp}.{header:a}.{body}',
	'{timestamp}:{header:a}.{body}',
	'{header:a}.{timestamp}.{body}',
	'{body}.{timestamp}',
	'{timestamp}0{body}',
];

/** The template with the request's values in it, whoever would refuse them. */
function written(template: string, { a, b, time: at, body }: Request): string {
	return template
		.replace('{header:a}', a)
		.replace('{header:b}', b)
		.replace('{timestamp}', at)
		.replace('{body}', body);
}

/** All ways to take a signed text apart again, as a sender may who moves borders. */
function takenApart(template: string, whole: string): Request[] {
	const names = [...template.matchAll(/\{(?:header:)?(a|b|timestamp|body)\}/g)].map(
		([, name]) => name!,
	);
	const borders = template.split(/\{[^{}]*\}/);
	const found: Request[] = [];
	const visit = (at: number, index: number, values: Record<string, string>) => {
		const border = borders[index]!;
		if (!whole.startsWith(border, at)) return;
		const start = at + border.length;
		if (index === names.length) {
			if (start === whole.length) {
				const { a = 'x', b = 'x', timestamp = SECONDS, body = '' } = values;
				found.push({ a, b, time: timestamp, body });
			}
			return;
		}
		for (let end = start + 1; end <= whole.length; end++) {
			visit(end, index + 1, { ...values, [names[index]!]: whole.slice(start, end) });
		}
	};
	visit(0, 0, {});
	return found;
}

test.each([
	...TEMPLATES.map((template) => ({ template, timestampHeader: undefined })),
	...TIMED.map((template) => ({ template, timestampHeader: 'time' })),
])(
	'what is signed as $template can be taken apart in one way only',
	({ template, timestampHeader }) => {
		let taken = 0;
		fc.assert(
			fc.property(text, text, time, text, (a, b, at, body) => {
				const whole = written(template, { a, b, time: at, body });
				const ways = takenApart(template, whole).filter(
					(request) => signed(template, timestampHeader, request) !== undefined,
				);
				taken += ways.length;
				expect(ways.length).toBeLessThanOrEqual(1);
			}),
			{ numRuns: runs(300) },
		);
		expect(taken).toBeGreaterThan(0);
	},
);
