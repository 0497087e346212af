import { parseBody } from '../../../nodes/Pay/postback/body';
import recordings from './senders.json';

/**
 * What these programs meant; lab/parts/senders.n8n.ts sends the bodies anew. The platform refuses a quote in
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
