import { findQrSource } from '../../nodes/Pay/qr/payload';
import { redact } from '../../nodes/Pay/service/redact';
import { proxyPageIn, unconfirmedBy, withoutN8n } from '../../nodes/Pay/service/page';
import { filled, growsTooFast, processorTime } from '../growth';

/** As many bytes as the package takes of a response. */
const LONGEST = 10_000_000;

/** All that is done with a response whose sender means harm, after a request was sent. */
function timeOf(body: string): number {
	return processorTime(() => {
		withoutN8n({ message: body });
		unconfirmedBy(body, 'text/html');
		unconfirmedBy(body, 'application/json');
		proxyPageIn(body);
		redact({ body }, ['a secret token'], /WyJ[\w-]+/g);
		findQrSource({ body });
		findQrSource({ body }, 'body');
	});
}

test('the measure finds what grows with the square (the control)', () => {
	const squared = (size: number) => {
		const text = '('.repeat(2 * size);
		return processorTime(() => /\([^)]*\)/.exec(text));
	};
	expect(growsTooFast(squared, 16_000)).toMatch(/^16000 bytes/);
});

const NGINX = '<hr><center>nginx</center>';

test.each<[string, (size: number) => string]>([
	['webhook', (n) => filled(n, 'webhook ')],
	['comments that begin', (n) => filled(n, '<!--')],
	['comments', (n) => filled(n, '<!---->')],
	['<?', (n) => filled(n, '<?')],
	['<title', (n) => filled(n, '<title ')],
	['<head in the page of a proxy', (n) => NGINX + filled(n, '<head ')],
	['< in the page of a proxy', (n) => NGINX + filled(n, '<')],
	['blanks', (n) => filled(n, ' ')],
	['blanks before an image', (n) => `${filled(n, ' ')}<svg`],
	['<?xml before an image', (n) => filled(n, '<?xml ')],
	['base64', (n) => filled(n, 'aGk+')],
	['a data URI', (n) => `data:image/png;base64,${filled(n, 'aGk+')}`],
	['an address of an image', (n) => `https://a.example/${filled(n, '.png')}`],
	['a code with 6304', (n) => `000201${filled(n, '6304')}`],
	['an address of UPI', (n) => `upi://pay?${filled(n, '&pa=a')}`],
	['SPD fields', (n) => `SPD*1.0*${filled(n, 'ACC:*')}`],
	['fields of a Russian code', (n) => `ST00012|Name=${filled(n, '|PersonalAcc')}`],
])('a response full of %s takes time that grows with its length', (_name, body) => {
	expect(growsTooFast((size) => timeOf(body(size)), LONGEST)).toBeUndefined();
});
