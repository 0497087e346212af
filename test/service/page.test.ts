import {
	proxyPageIn,
	type Reason,
	replaceUnpublished,
	unconfirmedBy,
	UNPUBLISHED,
	webPageIn,
} from '../../nodes/Pay/service/reasons';

const NGINX =
	'<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n';

// lab/parts has the pages of the real ones.
test.each<{ name: string; page: string; expected: object }>([
	{
		name: 'nginx',
		page: NGINX,
		expected: { by: 'nginx', text: '502 Bad Gateway nginx', wantsHttps: false },
	},
	{
		name: 'nginx with its version, which wants https',
		page: '<html>\r\n<head><title>400</title></head>\r\n<body>\r\n<center>The plain HTTP request was sent to HTTPS port</center>\r\n<hr><center>nginx/1.24.0</center>\r\n</body>\r\n</html>\r\n',
		expected: {
			by: 'nginx',
			text: 'The plain HTTP request was sent to HTTPS port nginx/1.24.0',
			wantsHttps: true,
		},
	},
	{
		name: 'HAProxy',
		page: '<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>\n',
		expected: {
			by: 'HAProxy',
			text: '503 Service Unavailable No server is available to handle this request.',
			wantsHttps: false,
		},
	},
	{
		name: 'Squid, whose page has two heads and no end',
		page: '<head><title>ERROR: The requested URL could not be retrieved</title></head>a<head>b</head> c <p',
		expected: { by: 'Squid', text: 'a c <p', wantsHttps: false },
	},
])('the page of $name is told by whom it is and what it says', ({ page, expected }) => {
	expect(proxyPageIn(page)).toStrictEqual(expected);
});

test.each<{ what: string; response: unknown }>([
	{ what: 'JSON', response: { error: 'nginx' } },
	{ what: 'a text', response: 'nginx' },
	{
		what: 'a page of the service',
		response: '<html><body><h1>503 Busy</h1>\n<p>Come again</p>\n</body></html>',
	},
	{ what: 'nothing', response: undefined },
	{ what: 'a page of 20,001 characters', response: NGINX.padEnd(20_001) },
])('$what is no page of a proxy', ({ response }) => {
	expect(proxyPageIn(response)).toBeUndefined();
});

test('the page of a proxy may have 20,000 characters', () => {
	expect(proxyPageIn(NGINX.padEnd(20_000))?.by).toBe('nginx');
});

test.each([
	'The requested webhook "POST pay/v2/pay/qrcode" is not registered.',
	'This webhook is not registered for POST requests. Did you mean to make a GET request?',
	'webhook "a" is not registered',
])('what n8n says where no workflow listens is said in our words: %s', (message) => {
	const said = { code: 404, message, stacktrace: 'at /usr/lib/node_modules/n8n' };
	expect(replaceUnpublished(said)).toBe(UNPUBLISHED);
});

test.each([
	{ name: 'another registration', response: { message: 'No account is registered' } },
	{ name: 'registered, before the webhook', response: { message: 'is not registered: webhook' } },
	{ name: 'a longer word', response: { message: 'webhooks is not registered' } },
	{ name: 'no text', response: { message: 7 } },
	{ name: 'no object', response: 'This webhook is not registered' },
	{ name: 'null', response: null },
])('what is no answer of n8n stays: $name', ({ response }) => {
	expect(replaceUnpublished(response)).toBe(response);
});

const PAGE = '<html><head><title>Log\n in</title></head></html>';
const LOGIN: Reason = { is: 'webPage', title: 'Log in' };
test.each<{ body: unknown; type: string | undefined; why: Reason | undefined }>([
	{ body: '', type: 'text/plain', why: undefined },
	{ body: 'OK', type: 'text/plain', why: undefined },
	{ body: '{"id":', type: 'text/plain', why: undefined },
	{ body: ' \n', type: 'text/html', why: undefined },
	{ body: ' \n', type: 'application/json', why: undefined },
	{ body: '"OK"', type: 'application/json', why: undefined },
	{ body: '{"id":1}', type: 'text/html', why: undefined },
	{ body: { id: 1 }, type: 'text/html', why: undefined },
	{ body: 'OK', type: undefined, why: undefined },
	{ body: 'OK', type: 'text/xhtmlx', why: undefined },
	{ body: PAGE, type: 'text/html', why: LOGIN },
	{ body: PAGE, type: 'application/json', why: LOGIN },
	{ body: PAGE, type: undefined, why: LOGIN },
	{ body: 'Log in', type: 'text/html', why: { is: 'webPage', title: '' } },
	{ body: 'Log in', type: 'application/xhtml+xml', why: { is: 'webPage', title: '' } },
	{ body: '{"id":', type: 'application/json', why: { is: 'notJson' } },
	{ body: 'OK', type: 'application/problem+json', why: { is: 'notJson' } },
	{ body: 'OK', type: 'application/jsonlines', why: undefined },
])('the body $body of type $type confirms nothing because of $why', ({ body, type, why }) => {
	expect(unconfirmedBy(body, type)).toStrictEqual(why);
});

test.each<{ name: string; body: string; title: string | undefined }>([
	{ name: 'behind a comment', body: `<!-- x -->\n${PAGE}`, title: 'Log in' },
	{
		name: 'behind comments and the first line of XML',
		body: ` <?xml version="1.0"?><!----> ${PAGE}`,
		title: 'Log in',
	},
	{ name: 'in capitals', body: '<!DOCTYPE html><TITLE lang="en">Log in</TITLE>', title: 'Log in' },
	{ name: 'that begins with its head', body: '<head><title>Log in', title: 'Log in' },
	{ name: 'that begins with its body', body: '<body>', title: '' },
	{
		name: 'with blanks around its title',
		body: '<html><title>\n Log in </title>',
		title: 'Log in',
	},
	{ name: 'behind a text in an empty comment', body: `<!---->${PAGE}`, title: 'Log in' },
	{ name: 'whose title never begins', body: '<html><title', title: '' },
	{ name: 'with a longer name for a title', body: '<html><titles>Log in', title: '' },
	{
		name: 'with a title of 101 characters',
		body: `<html><title>${'a'.repeat(101)}`,
		title: 'a'.repeat(100),
	},
	{
		name: 'whose title comes too late',
		body: `<html>${' '.repeat(20_000)}<title>Log in`,
		title: '',
	},
	{ name: 'behind a comment without end', body: `<!-- ${PAGE}`, title: undefined },
	{ name: 'behind a comment that only seems to end', body: `<!--> ${PAGE}`, title: undefined },
	{ name: 'behind a first line without end', body: '<?xml <html', title: undefined },
	{ name: 'behind a word', body: `OK ${PAGE}`, title: undefined },
	{ name: 'of another element', body: '<bodywork>', title: undefined },
])('a page $name has the title $title', ({ body, title }) => {
	const expected = title === undefined ? undefined : { title };
	expect(webPageIn(body, 'text/plain')).toStrictEqual(expected);
});
