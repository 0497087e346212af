import { findQrSource } from '../../nodes/Pay/qr/code';
import { Sources } from '../../nodes/Pay/service/paths';
import { stateOf } from '../../nodes/Pay/service/state';
import { redact } from '../../nodes/Pay/service/redact';
import { proxyPageIn, replaceUnpublished, unconfirmedBy } from '../../nodes/Pay/service/reasons';
import { filled, growsTooFast, processorTime } from '../growth';

/** As many bytes as the package takes of a response. */
const LONGEST = 10_000_000;

/** All that is done with a response whose sender means harm, after a request was sent. */
async function timeOf(body: string): Promise<number> {
	return await processorTime(() => {
		replaceUnpublished({ message: body });
		unconfirmedBy(body, 'text/html');
		unconfirmedBy(body, 'application/json');
		proxyPageIn(body);
		redact({ body }, ['a secret token'], /WyJ[\w-]+/g);
		findQrSource({ body });
		findQrSource({ body }, ['body']);
	});
}

test('the measure finds what grows with the square (the control)', async () => {
	const squared = async (size: number) => {
		const text = '('.repeat(4 * size);
		return await processorTime(() => /\([^)]*\)/.exec(text));
	};
	expect(await growsTooFast(squared, 16_000)).toMatch(/^16000 bytes/);
});

const NGINX = '<hr><center>nginx</center>';

test.each<{ name: string; body: (size: number) => string }>([
	{ name: 'webhook', body: (n) => filled(n, 'webhook ') },
	{ name: 'comments that begin', body: (n) => filled(n, '<!--') },
	{ name: 'comments', body: (n) => filled(n, '<!---->') },
	{ name: '<?', body: (n) => filled(n, '<?') },
	{ name: '<title', body: (n) => filled(n, '<title ') },
	{ name: '<head in the page of a proxy', body: (n) => NGINX + filled(n, '<head ') },
	{ name: '< in the page of a proxy', body: (n) => NGINX + filled(n, '<') },
	{ name: 'blanks', body: (n) => filled(n, ' ') },
	{ name: 'blanks before an image', body: (n) => `${filled(n, ' ')}<svg` },
	{ name: '<?xml before an image', body: (n) => filled(n, '<?xml ') },
	{ name: 'comments before an image', body: (n) => filled(n, '<!-- -->') },
	{ name: 'base64', body: (n) => filled(n, 'aGk+') },
	{ name: 'a data URI', body: (n) => `data:image/png;base64,${filled(n, 'aGk+')}` },
	{ name: 'an address of an image', body: (n) => `https://a.example/${filled(n, '.png')}` },
	{ name: 'a code with 6304', body: (n) => `000201${filled(n, '6304')}` },
	{ name: 'an address of UPI', body: (n) => `upi://pay?${filled(n, '&pa=a')}` },
	{ name: 'SPD fields', body: (n) => `SPD*1.0*${filled(n, 'ACC:*')}` },
	{ name: 'fields of a Russian code', body: (n) => `ST00012|Name=${filled(n, '|PersonalAcc')}` },
])('a response full of $name takes time that grows with its length', async ({ body }) => {
	const time = async (size: number) => await timeOf(body(size));
	expect(await growsTooFast(time, LONGEST)).toBeUndefined();
});

// Squared, a list of 50,000 took minutes.
test('a list of charges beside one of refunds takes time that grows with their length', async () => {
	const words = {
		field: ['pix[].status'],
		paid: ['paid'],
		failed: [],
		required: [
			{ path: 'pix[].live', value: 'true' },
			{ path: 'currency', value: 'EUR' },
		],
		refundField: ['refunds[].id', 'refund', 'pix[].parts[].status'],
		refunded: ['done'],
		amountField: ['pix[].valor'],
		idField: ['pix[].txid'],
	};
	const time = async (size: number) => {
		const parts = [{ status: 'refused' }];
		const entry = { txid: 'a', status: 'paid', valor: '€ 10', live: true, parts };
		const pix = Array.from({ length: size }, () => ({ ...entry }));
		const refunds = Array.from({ length: size }, () => ({ id: 0 }));
		const sources = new Sources({ pix, refunds, refund: '[]', currency: 'EUR' });
		return await processorTime(() => stateOf(words, { external_id: 'a', amount: 10 }, sources));
	};
	expect(await growsTooFast(time, 50_000)).toBeUndefined();
});

// Each entry judged a text beside the list anew: 1,000 of them beside 8 MB took minutes.
test.each<{ what: string; text: (size: number) => string }>([
	{ what: 'letters', text: (n) => filled(n, 'Pa') },
	{ what: 'blanks', text: (n) => filled(n, ' ') },
	{ what: 'zeros', text: (n) => filled(n, '0.') },
	{ what: 'JSON', text: (n) => `["${filled(n, 'a')}"]` },
])('a text of $what beside a list is not read for each of its entries', async ({ text }) => {
	const words = {
		field: ['status'],
		paid: ['*'],
		failed: ['failed'],
		required: [
			{ path: 'note', value: '*' },
			{ path: 'mode', value: 'live' },
		],
		idField: ['pix[].txid'],
	};
	const time = async (size: number) => {
		const pix = Array.from({ length: size / 50 }, () => ({ txid: 'a' }));
		const long = text(20 * size);
		const sources = new Sources({ pix, status: long, note: long, mode: 'live' });
		return await processorTime(() => stateOf(words, { external_id: 'a' }, sources));
	};
	expect(await growsTooFast(time, 50_000)).toBeUndefined();
});
