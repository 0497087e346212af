import { parseBody } from '../../../nodes/Pay/postback/body';
import recordings from './senders.json';

/**
 * What these programs meant; lab/parts/senders.n8n.ts sends the bodies anew. The platform refuses a quote in
 * a name that is written `\\"`, and the headers of Python's email package.
 */
const NESTED = { status: 'PAID', 'payer[name]': 'João & Söhne', 'payer[tags][]': ['a', 'b'] };
const MEANT: Record<string, object | 'refused'> = {
	'curl: nested': NESTED,
	'curl: files': { 'note "a"': 'x' },
	'Python requests: nested': NESTED,
	'Python requests: files': { 'note "a"': 'x' },
	// It has nothing but a file.
	'Python requests: untyped': 'refused',
	'Python requests: mail': 'refused',
	'PHP: nested': {
		status: 'PAID',
		'payer[name]': 'João & Söhne',
		'payer[tags][0]': 'a',
		'payer[tags][1]': 'b',
	},
	'PHP: files': { 'note "a"': 'x' },
	'PHP: shift_jis': { status: 'PAID', name: '�A�J�E���g' },
	'Ruby: nested': NESTED,
	'Ruby: files': 'refused',
	'Go: nested': NESTED,
	'Go: files': 'refused',
	'Java: nested': NESTED,
	'Java: gbk': { status: 'PAID', name: '���� & ��˾' },
	'Java: korean': { status: 'PAID', name: '홍길동' },
	'Node: nested': NESTED,
	'Node: files': { 'note "a"\r\nof two lines': 'x' },
};

test.each(recordings)('$sender is read as it was meant', async ({ sender, type, base64 }) => {
	const meant = MEANT[sender]!;
	const reading = parseBody(Buffer.from(base64, 'base64'), type);
	if (meant === 'refused') {
		await expect(reading).rejects.toMatchObject({ name: 'BodyError', statusCode: 415 });
		return;
	}
	expect((await reading).body).toStrictEqual(meant);
});
