import { proxyPageIn, unconfirmedBy, UNPUBLISHED, withoutN8n } from '../../nodes/Pay/service/page';
import { reasonInWords } from '../../nodes/Pay/service/reason';

const NGINX =
	'<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n';

test('the page of a proxy is told by whom it is and what it says; test/parts has the real ones', () => {
	expect(proxyPageIn(NGINX)).toStrictEqual({
		by: 'nginx',
		text: '502 Bad Gateway nginx',
		wantsHttps: false,
	});
});

test.each<[string, unknown]>([
	['JSON', { error: 'nginx' }],
	['a text', 'nginx'],
	['a page of the service', '<html><body><h1>503 Busy</h1>\n<p>Come again</p>\n</body></html>'],
	['nothing', undefined],
	['a page that is too long for one', NGINX + ' '.repeat(20_000)],
])('%s is no page of a proxy', (_what, response) => {
	expect(proxyPageIn(response)).toBeUndefined();
});

test.each([
	['POST', 'The requested webhook "POST pay/v2/pay/qrcode" is not registered.'],
	[
		'another method',
		'This webhook is not registered for POST requests. Did you mean to make a GET request?',
	],
])('what n8n says where no workflow listens is said in our words: %s', (_what, message) => {
	const said = { code: 404, message, stacktrace: 'at /usr/lib/node_modules/n8n' };
	expect(withoutN8n(said)).toBe(UNPUBLISHED);
	expect(withoutN8n({ message: 'No account is registered' })).toStrictEqual({
		message: 'No account is registered',
	});
});

const PAGE = '<html><head><title>Log\n in</title></head></html>';
const TITLED = /^the response is a web page titled "Log in", so the Base URL may not/;
const NO_JSON = /says that it is JSON and cannot be read/;
test.each<[string, string, RegExp | undefined]>([
	...['', 'OK', '{"id":'].map(
		(text) => [text, 'text/plain', undefined] as [string, string, undefined],
	),
	['', 'application/json', undefined],
	['', 'text/html', undefined],
	[PAGE, 'text/html', TITLED],
	[PAGE, 'application/json', TITLED],
	[`<!-- x -->\n${PAGE}`, 'text/plain', TITLED],
	['Log in', 'text/html', /^the response is a web page, so/],
	['{"id":', 'application/json', NO_JSON],
	['OK', 'application/problem+json', NO_JSON],
])('why %p of type %s confirms nothing: %p', (body, type, why) => {
	const said = unconfirmedBy(body, type);
	if (why === undefined) expect(said).toBeUndefined();
	else expect(reasonInWords(said!)).toMatch(why);
});
