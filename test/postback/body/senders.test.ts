import { parseBody } from '../../../nodes/Pay/postback/body/parse';
import { firstValue, Sources } from '../../../nodes/Pay/service/fieldMatch';
import recordings from './senders.json';

/**
 * What these programs meant; test/parts/senders.n8n.ts sends the bodies anew. The platform refuses a quote in
 * a name that is written `\\"`, and the headers of Python's email package.
 */
const NESTED = {
	status: 'PAID',
	'payer[name]': 'João & Söhne',
	'payer[tags][]': ['a', 'b'],
};
const FILE = { name: 'slip', filename: 'João "1".txt', text: 'hello' };
const MEANT: Record<string, { body: unknown; files?: Array<typeof FILE> } | 'refused'> = {
	'curl: nested': { body: NESTED },
	'curl: files': { body: { 'note "a"': 'x' }, files: [FILE] },
	'Python requests: nested': { body: NESTED },
	'Python requests: files': { body: { 'note "a"': 'x' }, files: [FILE] },
	'Python requests: untyped': {
		body: {},
		files: [
			{ name: 'receipt', filename: 'receipt.pdf', text: '%PDF-1.4\xff\xfeJo\xe3o & S\xf6hne' },
		],
	},
	'Python requests: mail': 'refused',
	'PHP: nested': {
		body: {
			status: 'PAID',
			'payer[name]': 'João & Söhne',
			'payer[tags][0]': 'a',
			'payer[tags][1]': 'b',
		},
	},
	'PHP: files': { body: { 'note "a"': 'x' }, files: [FILE] },
	'PHP: shift_jis': { body: { status: 'PAID', name: 'アカウント' } },
	'Ruby: nested': { body: NESTED },
	'Ruby: files': 'refused',
	'Go: nested': { body: NESTED },
	'Go: files': 'refused',
	'Java: nested': { body: NESTED },
	'Java: gbk': { body: { status: 'PAID', name: '李明 & 公司' } },
	'Java: korean': { body: { status: 'PAID', name: '홍길동' } },
	'Node: nested': { body: NESTED },
	'Node: files': { body: { 'note "a"\r\nof two lines': 'x' }, files: [FILE] },
};

test('every recorded body has a meaning', () => {
	expect(recordings.map(({ sender }) => sender)).toStrictEqual(Object.keys(MEANT));
});

test.each(recordings)('$sender is read as it was meant', async ({ sender, type, base64 }) => {
	const meant = MEANT[sender]!;
	const reading = parseBody(Buffer.from(base64, 'base64'), type);
	if (meant === 'refused') {
		await expect(reading).rejects.toMatchObject({ name: 'BodyError', statusCode: 400 });
		return;
	}
	const { body, files } = await reading;
	const read = files.map(({ name, filename, content }) => ({
		name,
		filename,
		text: (content as Buffer).toString('latin1'),
	}));
	expect({ body, files: read }).toStrictEqual({ body: meant.body, files: meant.files ?? [] });
});

test.each(['payer[name]', 'payer.name', 'Payer.Name'])(
	'a condition finds the field of a form that is called %s',
	async (field) => {
		const { base64, type } = recordings.find(({ sender }) => sender === 'PHP: nested')!;
		const { body } = await parseBody(Buffer.from(base64, 'base64'), type);
		expect(firstValue(field, new Sources(body))?.value).toBe('João & Söhne');
	},
);

test.each([
	{ type: 'application/json; charset=windows-31j', hex: '8365835883678ef3', name: 'テスト受' },
	{ type: 'application/json; charset=GB2312', hex: 'c0eec3f7', name: '李明' },
	{ type: 'application/json; charset=windows-1252', hex: '80939496', name: '€“”–' },
	{ type: 'application/json; charset=ISO-8859-1', hex: 'e9', name: 'é' },
	{ type: 'application/json; charset=cp1252', hex: '80', name: '€' },
])(
	'the charset of $type, as the documents of Java and .NET name it, is known',
	async ({ type, hex, name }) => {
		const bytes = Buffer.concat([
			Buffer.from('{"name":"'),
			Buffer.from(hex, 'hex'),
			Buffer.from('"}'),
		]);
		expect((await parseBody(bytes, type)).body).toStrictEqual({ name });
	},
);
