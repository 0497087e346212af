import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { freePort, itemsOf, webhookPath, type N8n } from '../../dev/n8n';
import type { Server } from '../../test/n8n/queue';
import { chain, payTrigger } from '../../dev/workflow';
import { signUrl } from '../../nodes/Pay/postback/proof';
import { Sandbox } from '../../sandbox/service';
import { ended, startWaiting } from '../../test/n8n/chargeAndWait';
import { allFinished, startN8n, NEWEST } from '../../test/n8n/nodes';
import { certificates } from '../../test/wire/servers';
import { ports, startNginx, type Pem } from './parts';
import { CURL_JSON, NAME, prepareSenders, removeSenders, send, SENDERS, XML } from './senders';

const SECRET = 'the postback secret of the test';
const KINDS = ['json', 'latin1', 'form', 'multipart', 'xml'];

/** What proxies do with an address on its way to n8n, by the first part of its path. */
const REWRITES: Record<string, (n8n: string) => string> = {
	// A sub-path that is cut off.
	n8n: (n8n) =>
		`location /n8n/ { proxy_pass ${n8n}/; proxy_set_header X-Original-URI $request_uri; }`,
	// A rewritten path.
	raw: (n8n) => `location /raw/ { rewrite ^/raw(/.*)$ $1 break; proxy_pass ${n8n}; }`,
	// The address as it came.
	uri: (n8n) =>
		`location /uri/ { if ($request_uri ~ ^/uri(/.*)$) { set $tail $1; } proxy_pass ${n8n}$tail; }`,
	// A parameter of its own behind.
	args: (n8n) =>
		`location /args/ { rewrite ^/args(/.*)$ $1 break; proxy_pass ${n8n}$uri?$args&from=nginx; }`,
	// The query put together anew.
	arg: (n8n) =>
		`location /arg/ { rewrite ^/arg(/.*)$ $1 break; proxy_pass ${n8n}$uri?pay_proof=$arg_pay_proof; }`,
	// No buffers and HTTP/1.0.
	nobuf: (n8n) =>
		`location /nobuf/ { proxy_request_buffering off; proxy_http_version 1.0; proxy_pass ${n8n}/; }`,
};

let pem: Pem;
let forget: () => void;
beforeAll(async () => {
	const { trusted, forget: undo } = await certificates();
	[pem, forget] = [trusted, undo];
	prepareSenders(pem.cert);
});
afterAll(() => {
	forget?.();
	removeSenders();
});

describe.each(NEWEST)('postbacks to n8n %s', (version) => {
	let sandbox: Sandbox;
	let n8n: N8n;
	let nginx: Server;
	let front: string;
	let payApi: { id: string; name: string };
	let workflowId: string;
	let path: string;

	beforeAll(async () => {
		const [port, { tls }] = [await freePort(), await ports('tls')];
		front = `https://localhost:${tls}`;
		const ways = Object.values(REWRITES).map((way) => way(`http://127.0.0.1:${port}`));
		nginx = await startNginx(
			pem,
			`server { listen 127.0.0.1:${tls} ssl http2; ${ways.join('\n')} }`,
		);
		sandbox = await Sandbox.start();
		n8n = await startN8n(version, { port, env: { WEBHOOK_URL: `${front}/n8n/` } });
		payApi = await n8n.createCredential({
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: SECRET,
		});
		const trigger = payTrigger();
		path = webhookPath(trigger)!;
		workflowId = await n8n.importWorkflow(chain('Postbacks', [trigger]), { payApi });
		await n8n.activate(workflowId);
	});
	afterAll(async () => {
		await n8n?.stop();
		await nginx?.close();
		await sandbox?.close();
	});

	let count = 0;
	/** The address for one postback, below a part of the path that nginx knows. */
	function signed(external_id: string, below = 'n8n'): string {
		return signUrl(`${front}/${below}${path}`, { external_id, kind: 'payment', amount: 5 }, SECRET);
	}

	interface Item {
		reference: { external_id: string };
		body: Record<string, unknown>;
		eventId: string;
		query: object;
	}
	/** What the trigger gave for each of so many postbacks since the last call, in any order. */
	async function itemsGiven(more: number): Promise<Item[]> {
		count += more;
		const newest = (await allFinished(n8n, workflowId, count)).slice(0, more);
		const items: Item[] = [];
		for (const execution of newest) items.push(...(itemsOf(execution, 'Pay Trigger') as never[]));
		expect(items).toHaveLength(more);
		return items;
	}
	const itemsAbout = (external_id: string, items: Item[]) =>
		items.filter(({ reference }) => reference.external_id === external_id);

	describe.each(Object.keys(SENDERS))('%s', (client) => {
		const statuses: Record<string, number> = {};
		let items: Item[];
		beforeAll(async () => {
			for (const kind of KINDS) {
				statuses[kind] = await send(client, kind, signed(`${client} ${kind}`));
			}
			statuses['multipart again'] = await send(client, 'multipart', signed(`${client} multipart`));
			items = await itemsGiven(KINDS.length + 1);
		});

		test.each(KINDS)('%s is taken, and read', (kind) => {
			expect(statuses[kind]).toBe(200);
			const [item] = itemsAbout(`${client} ${kind}`, items);
			const body = { status: 'PAID', name: NAME };
			expect(item!.body).toStrictEqual(kind === 'xml' ? XML : body);
		});

		test('a form that comes again, with another boundary, has the same eventId', () => {
			expect(statuses['multipart again']).toBe(200);
			const [one, other] = itemsAbout(`${client} multipart`, items);
			expect(other!.eventId).toBe(one!.eventId);
		});

		test('no two kinds have the same eventId', () => {
			expect(new Set(items.map(({ eventId }) => eventId)).size).toBe(KINDS.length);
		});
	});

	test.each(Object.keys(REWRITES))(
		'a proxy that rewrites the address (%s): taken, with the proof in no item, and refused with a wrong one',
		async (way) => {
			// Of signs that a proxy decodes and encodes.
			const external_id = `${way} ção/&=?+ %2F`;
			const url = signed(external_id, way);
			expect(await send('curl, HTTP/2', 'json', url.slice(0, -3) + 'AAA')).toBe(401);
			expect(await send('curl, HTTP/2', 'json', url)).toBe(200);
			const [item] = await itemsGiven(1);
			expect(item!.reference.external_id).toBe(external_id);
			const [, mac] = url.split('pay_proof=')[1]!.split('.');
			expect(JSON.stringify(item)).not.toContain(mac);
		},
	);

	test.each(['json', 'multipart'])(
		'a wait below a sub-path is resumed by curl over HTTP/2: %s',
		async (kind) => {
			const waiting = await startWaiting(n8n, sandbox, payApi);
			expect(waiting.url).toContain(`${front}/n8n/webhook-waiting/`);
			expect(await send('curl, HTTP/2', kind, waiting.bare)).toBe(401);
			expect(await send('curl, HTTP/2', kind, waiting.url)).toBe(200);
			const [item] = itemsOf(await ended(n8n, waiting.executionId), 'After');
			expect(item).toMatchObject({ postback: { reference: waiting.about } });
		},
	);

	test('a form with nothing but a file is refused, and nothing starts', async () => {
		expect(await send('Python requests', 'untyped', signed('untyped'), '\u0080\u0081')).toBe(415);
	});

	test('n8n never answers a request that offers HTTP/2 in plain HTTP, and nothing starts', async () => {
		const { search } = new URL(signed('h2c'));
		const flags = ['--http2', '--max-time', '3', ...CURL_JSON, n8n.url + path + search];
		const asked = promisify(execFile)('curl', ['-s', ...flags]);
		await expect(asked).rejects.toMatchObject({ code: 28 });
		expect(await n8n.executionIds(workflowId)).toHaveLength(count);
		// Through a proxy it comes without the offer.
		expect(await send('curl, HTTP/2', 'json', signed('h2'))).toBe(200);
		await itemsGiven(1);
	});
});
