import {
	proxyPageIn,
	unconfirmedBy,
	UNPUBLISHED,
	webPageIn,
	withoutN8n,
} from '../../nodes/Pay/service/page';
import type { Reason } from '../../nodes/Pay/service/reason';

const NGINX =
	'<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n';

test('the page of a proxy is told by whom it is and what it says; test/parts has the real ones', () => {
	expect(proxyPageIn(NGINX)).toStrictEqual({
		by: 'nginx',
		text: '502 Bad Gateway nginx',
		wantsHttps: false,
	});
});

test('the page of a proxy may have 20,000 characters', () => {
	expect(proxyPageIn(NGINX.padEnd(20_000))?.by).toBe('nginx');
});

test.each<[string, unknown]>([
	['JSON', { error: 'nginx' }],
	['a text', 'nginx'],
	['a page of the service', '<html><body><h1>503 Busy</h1>\n<p>Come again</p>\n</body></html>'],
	['nothing', undefined],
	['a page that is too long for one', NGINX.padEnd(20_001)],
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

test.each<[string, string, object]>([
	[
		'nginx with its version, which wants https',
		'<html>\r\n<head><title>400</title></head>\r\n<body>\r\n<center>The plain HTTP request was sent to HTTPS port</center>\r\n<hr><center>nginx/1.24.0</center>\r\n</body>\r\n</html>\r\n',
		{
			by: 'nginx',
			text: 'The plain HTTP request was sent to HTTPS port nginx/1.24.0',
			wantsHttps: true,
		},
	],
	[
		'HAProxy',
		'<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n',
		{
			by: 'HAProxy',
			text: '503 Service Unavailable No server is available to handle this request.',
			wantsHttps: false,
		},
	],
	[
		'Squid, whose page has two heads and no end',
		'<head><title>ERROR: The requested URL could not be retrieved</title></head>a<head>b</head> c <p',
		{ by: 'Squid', text: 'a c <p', wantsHttps: false },
	],
])('the page of %s', (_name, page, expected) => {
	expect(proxyPageIn(page)).toStrictEqual(expected);
});

test('what n8n says may begin with the webhook', () => {
	expect(withoutN8n({ message: 'webhook "a" is not registered' })).toBe(UNPUBLISHED);
});

test.each([
	['registered, before the webhook', { message: 'is not registered: webhook' }],
	['a longer word', { message: 'webhooks is not registered' }],
	['no text', { message: 7 }],
	['no object', 'This webhook is not registered'],
	['null', null],
])('what is no answer of n8n stays: %s', (_name, response) => {
	expect(withoutN8n(response)).toBe(response);
});

const PAGE = '<html><head><title>Log\n in</title></head></html>';
const LOGIN: Reason = { is: 'webPage', title: 'Log in' };
test.each<[unknown, string | undefined, Reason | undefined]>([
	['', 'text/plain', undefined],
	['OK', 'text/plain', undefined],
	['{"id":', 'text/plain', undefined],
	['', 'application/json', undefined],
	['', 'text/html', undefined],
	[' \n', 'text/html', undefined],
	[' \n', 'application/json', undefined],
	['"OK"', 'application/json', undefined],
	['{"id":1}', 'text/html', undefined],
	[{ id: 1 }, 'text/html', undefined],
	['OK', undefined, undefined],
	['OK', 'text/xhtmlx', undefined],
	[PAGE, 'text/html', LOGIN],
	[PAGE, 'application/json', LOGIN],
	[PAGE, undefined, LOGIN],
	['Log in', 'text/html', { is: 'webPage', title: '' }],
	['Log in', 'application/xhtml+xml', { is: 'webPage', title: '' }],
	['{"id":', 'application/json', { is: 'notJson' }],
	['OK', 'application/problem+json', { is: 'notJson' }],
	['OK', 'application/jsonlines', undefined],
])('why %j of type %s confirms nothing', (body, type, why) => {
	expect(unconfirmedBy(body, type)).toStrictEqual(why);
});

test.each<[string, string, string | undefined]>([
	['behind a comment', `<!-- x -->\n${PAGE}`, 'Log in'],
	['behind comments and the first line of XML', ` <?xml version="1.0"?><!----> ${PAGE}`, 'Log in'],
	['in capitals', '<!DOCTYPE html><TITLE lang="en">Log in</TITLE>', 'Log in'],
	['that begins with its head', '<head><title>Log in', 'Log in'],
	['that begins with its body', '<body>', ''],
	['with blanks around its title', '<html><title>\n Log in </title>', 'Log in'],
	['behind a text in an empty comment', `<!---->${PAGE}`, 'Log in'],
	['whose title never begins', '<html><title', ''],
	['with a longer name for a title', '<html><titles>Log in', ''],
	['with a title of 101 characters', `<html><title>${'a'.repeat(101)}`, 'a'.repeat(100)],
	['whose title comes too late', `<html>${' '.repeat(20_000)}<title>Log in`, ''],
	['behind a comment without end', `<!-- ${PAGE}`, undefined],
	['behind a comment that only seems to end', `<!--> ${PAGE}`, undefined],
	['behind a first line without end', '<?xml <html', undefined],
	['behind a word', `OK ${PAGE}`, undefined],
	['of another element', '<bodywork>', undefined],
])('a page %s', (_name, body, title) => {
	const expected = title === undefined ? undefined : { title };
	expect(webPageIn(body, 'text/plain')).toStrictEqual(expected);
});
