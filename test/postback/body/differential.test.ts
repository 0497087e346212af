import busboy from 'busboy';
import * as fc from 'fast-check';
import { sanitizeXmlName } from 'n8n-workflow';
import qs from 'qs';
import { Parser } from 'xml2js';
import { parseBody } from '../../../nodes/Pay/postback/body/parse';
import { runs } from '../../runs';
import recordings from './senders.json';

/*
 * Bodies are read as n8n reads them: nested fields as its query does (qs), forms with files as busboy,
 * XML as its body parser (xml2js). Where we differ on purpose, the case stands here with its reason.
 */

const FORM = 'application/x-www-form-urlencoded';
const RUNS = { numRuns: runs(1_500) };

describe('a form', () => {
	const segment = fc.constantFrom('', '0', '1', '2', '20', '21', 'a', 'b', 'status', 'length');
	const name = fc
		.tuple(
			fc.constantFrom('a', 'b', 'data', 'status', 'toString'),
			fc.array(segment, { maxLength: 3 }),
		)
		.map(([first, inner]) => first + inner.map((each) => `[${each}]`).join(''));
	const value = fc.constantFrom('', '1', 'paid', 'João & Söhne', '=', '%41');
	const fields = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 6 });

	test('has the values that the query of n8n would have, however they are nested', () => {
		const leaves = (parsed: unknown): string[] =>
			typeof parsed === 'object' && parsed !== null
				? Object.values(parsed).flatMap(leaves)
				: [String(parsed)];
		fc.assert(
			fc.property(fields, (pairs) => {
				const text = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
				const { body } = parseBody(Buffer.from(text), FORM);
				expect(leaves(body).sort()).toStrictEqual(pairs.map(([, each]) => each).sort());
			}),
			RUNS,
		);
	});

	test('whose names have no gaps and no mixture is nested as the query of n8n', () => {
		const plainSegment = fc.constantFrom('', 'a', 'b', 'status');
		const plainName = fc
			.tuple(fc.constantFrom('a', 'b', 'data'), fc.array(plainSegment, { maxLength: 3 }))
			.map(([first, inner]) => first + inner.map((each) => `[${each}]`).join(''));
		// Of an empty one beside others qs itself loses some.
		const filled = value.filter((each) => each !== '');
		let compared = 0;
		fc.assert(
			fc.property(
				fc.array(fc.tuple(plainName, filled), { minLength: 1, maxLength: 5 }),
				(pairs) => {
					const text = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
					const expected = qs.parse(text, { allowPrototypes: true });
					expect(parseBody(Buffer.from(text), FORM).body).toEqual(expected);
					compared++;
				},
			),
			RUNS,
		);
		expect(compared).toBeGreaterThanOrEqual(RUNS.numRuns);
	});
});

interface Read {
	fields: Array<[string, string]>;
	files: Array<[name: string, filename: string, bytes: string]>;
}

/** What busboy reads of a form. */
async function readByBusboy(body: Buffer, type: string): Promise<Read> {
	const read: Read = { fields: [], files: [] };
	const parser = busboy({ headers: { 'content-type': type }, defParamCharset: 'utf8' });
	parser.on('field', (name, value) => read.fields.push([name, value]));
	parser.on('file', (name, stream, { filename }) => {
		const chunks: Buffer[] = [];
		stream.on('data', (chunk: Buffer) => chunks.push(chunk));
		stream.on('end', () => {
			read.files.push([name, String(filename), Buffer.concat(chunks).toString('latin1')]);
		});
	});
	await new Promise<void>((resolve, reject) => {
		parser.on('close', resolve);
		parser.on('error', reject);
		parser.end(body);
	});
	return read;
}

describe('a form with files', () => {
	interface Part {
		name: string;
		filename: string | undefined;
		content: string;
	}
	const part: fc.Arbitrary<Part> = fc.record({
		name: fc.constantFrom('a', 'b', 'status', 'Größe', 'a b'),
		filename: fc.option(fc.constantFrom('x.txt', 'João.pdf', 'a;b.txt'), { nil: undefined }),
		content: fc.stringMatching(/^[\r\n a-zB-]{0,40}$/),
	});
	/** A part with a file name is a file; n8n's boundary is one that no content has. */
	const written = ({
		name,
		filename,
		content,
	}: typeof part extends fc.Arbitrary<infer T> ? T : never) =>
		[
			'--BOUNDARY',
			`Content-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`,
			'',
			content,
			'',
		].join('\r\n');

	test('is read as busboy reads it', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), async (parts) => {
				const body = Buffer.from(`${parts.map(written).join('')}--BOUNDARY--\r\n`);
				const type = 'multipart/form-data; boundary=BOUNDARY';
				const expected = await readByBusboy(body, type);
				const read = parseBody(body, type);
				const names = [...new Set(expected.fields.map(([name]) => name))];
				const values = names.map((name) => {
					const same = expected.fields.filter(([other]) => other === name).map(([, each]) => each);
					return [name, same.length === 1 ? same[0] : same];
				});
				expect(read.body).toStrictEqual(Object.fromEntries(values));
				const files = read.files.map(({ filename, bytes }) => [filename, bytes.toString('latin1')]);
				expect(files).toStrictEqual(expected.files.map(([, filename, bytes]) => [filename, bytes]));
			}),
			RUNS,
		);
	});
});

describe('XML', () => {
	/** As n8n's body parser has it. */
	const readByN8n = async (text: string): Promise<unknown> =>
		(await new Parser({
			async: true,
			normalize: true,
			normalizeTags: true,
			explicitArray: false,
			tagNameProcessors: [sanitizeXmlName],
			attrNameProcessors: [sanitizeXmlName],
		}).parseStringPromise(text)) as unknown;

	const tag = fc.constantFrom('a', 'Status', 'n:amount', 'toString');
	const text = fc.constantFrom(
		'',
		'paid',
		' two  words\n',
		'10.50',
		'&lt;&amp;',
		'<![CDATA[<x>]]>',
	);
	const attribute = fc.constantFrom('', ' id="1"', ' Type="x y"');
	/** An element with children of so many levels. */
	const elementOf = (levels: number): fc.Arbitrary<string> => {
		const children =
			levels === 0 ? fc.constant([]) : fc.array(elementOf(levels - 1), { maxLength: 3 });
		return fc
			.tuple(tag, attribute, text, children)
			.map(([name, more, inside, below]) => `<${name}${more}>${inside}${below.join('')}</${name}>`);
	};
	const before = fc.constantFrom('', '<?xml version="1.0"?>\n', '<!-- from the bank -->');

	test('is read as n8n reads it', async () => {
		await fc.assert(
			fc.asyncProperty(before, elementOf(2), async (prolog, document) => {
				const { body } = parseBody(Buffer.from(prolog + document), 'application/xml');
				expect(body).toEqual(await readByN8n(prolog + document));
			}),
			RUNS,
		);
	});

	test('behind a blank line is read too, which n8n refuses', async () => {
		const document = '\n<?xml version="1.0"?><n><status>paid</status></n>';
		expect(parseBody(Buffer.from(document), 'application/xml').body).toStrictEqual({
			n: { status: 'paid' },
		});
	});
});

/** What these programs meant; test/parts/senders.n8n.ts sends the bodies anew. */
const NESTED = { status: 'PAID', payer: { name: 'João & Söhne', tags: ['a', 'b'] } };
const FILE = { name: 'slip', filename: 'João "1".txt', text: 'hello' };
const MEANT: Record<string, { body: unknown; files?: Array<typeof FILE> }> = {
	'curl: nested': { body: NESTED },
	'curl: files': { body: { 'note "a"': 'x' }, files: [FILE] },
	'Python requests: nested': { body: NESTED },
	'Python requests: files': { body: { 'note "a"': 'x' }, files: [FILE] },
	'Python requests: untyped': {
		body: {},
		files: [
			{
				name: 'receipt',
				filename: 'receipt.pdf',
				text: '%PDF-1.4\xff\xfeJo\xe3o & S\xf6hne',
			},
		],
	},
	'Python requests: mail': {
		body: {
			base64: 'João & Söhne',
			'quoted-printable': 'João & Söhne',
			'what the payer wrote beside it, which is long enough for a second line': 'João & Söhne',
		},
	},
	'PHP: nested': { body: NESTED },
	'PHP: files': { body: { 'note "a"': 'x' }, files: [FILE] },
	'PHP: shift_jis': { body: { status: 'PAID', name: 'アカウント' } },
	'Ruby: nested': { body: NESTED },
	'Ruby: files': { body: { 'note "a"': 'x' }, files: [FILE] },
	'Go: nested': { body: NESTED },
	'Go: files': { body: { 'note "a"': 'x' }, files: [FILE] },
	'Java: nested': { body: NESTED },
	'Java: gbk': { body: { status: 'PAID', name: '李明 & 公司' } },
	'Java: korean': { body: { status: 'PAID', name: '홍길동' } },
	'Node: nested': { body: NESTED },
	'Node: files': { body: { 'note "a"\r\nof two lines': 'x' }, files: [FILE] },
};

test('every recorded body has a meaning', () => {
	expect(recordings.map(({ sender }) => sender)).toStrictEqual(Object.keys(MEANT));
});

test.each(recordings)('$sender is read as it was meant', ({ sender, type, base64 }) => {
	const { body, files } = parseBody(Buffer.from(base64, 'base64'), type);
	const read = files.map(({ name, filename, bytes }) => ({
		name,
		filename,
		text: bytes.toString('latin1'),
	}));
	const { body: meant, files: meantFiles = [] } = MEANT[sender]!;
	expect({ body, files: read }).toStrictEqual({ body: meant, files: meantFiles });
});

test.each([
	{
		type: 'application/json; charset=ms949',
		hex: 'c8abb1e6b5bf',
		name: '홍길동',
	},
	{
		type: 'application/json; charset=cp932',
		hex: '8365835883678ef3',
		name: 'テスト受',
	},
	{
		type: 'application/json; charset=windows-31j',
		hex: '8365835883678ef3',
		name: 'テスト受',
	},
	{
		type: 'application/json; charset=GB2312',
		hex: 'c0eec3f7',
		name: '李明',
	},
	{
		type: 'application/json; charset=windows-1252',
		hex: '80939496',
		name: '€“”–',
	},
	{
		type: 'application/json; charset=ISO-8859-1',
		hex: 'e9',
		name: 'é',
	},
	{
		type: 'application/json; charset=cp1252',
		hex: '80',
		name: '€',
	},
])(
	'the charset of $type, as the documents of Java and .NET name it, is known',
	({ type, hex, name }) => {
		const bytes = Buffer.concat([
			Buffer.from('{"name":"'),
			Buffer.from(hex, 'hex'),
			Buffer.from('"}'),
		]);
		expect(parseBody(bytes, type).body).toStrictEqual({ name });
	},
);
