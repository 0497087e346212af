import { randomUUID } from 'node:crypto';
import { createServer, connect, type Socket } from 'node:net';
import http from 'node:http';
import { startPostgres, startRedis } from './hqservers';
import { freePort, N8n, until, pause, itemsOf, type Workflow } from './n8n';
import type { N8nVersion } from './install';
import { Sandbox } from '../sandbox/service';
import * as wf from './workflow';

export class Proxy {
	port = 0; down = false; sockets = new Set<Socket>();
	/** returns an action for a chunk from the client */
	onChunk?: (text: string, conn: number) => 'blackhole' | 'cutAfter' | 'cutBefore' | { delay: number } | void;
	server: any; n = 0; log: string[] = [];
	constructor(readonly to: number) {}
	async start() {
		this.server = createServer((c) => {
			if (this.down) return c.destroy();
			const id = this.n++; const s = connect(this.to, '127.0.0.1');
			this.sockets.add(c); this.sockets.add(s);
			let hole = false, cut = false, chain: Promise<any> = Promise.resolve();
			c.on('data', (d) => {
				if (hole) return;
				const act = this.onChunk?.(d.toString('latin1'), id);
				if (act === 'blackhole') { hole = true; this.log.push('hole ' + id); return; }
				if (act === 'cutBefore') { this.log.push('cutBefore ' + id); c.destroy(); s.destroy(); return; }
				if (act === 'cutAfter') { cut = true; this.log.push('cutAfter ' + id); }
				if (act && typeof act === 'object') { chain = chain.then(() => pause(act.delay)); }
				chain = chain.then(() => { s.write(d); });
			});
			s.on('data', (d) => { if (hole) return; if (cut) { c.destroy(); s.destroy(); return; } c.write(d); });
			const end = () => { this.sockets.delete(c); this.sockets.delete(s); if (!hole) { c.destroy(); s.destroy(); } };
			c.on('close', end); s.on('close', end); c.on('error', () => {}); s.on('error', () => {});
		});
		this.port = await freePort();
		await new Promise<void>((r) => this.server.listen(this.port, '127.0.0.1', r));
		return this;
	}
	cutAll() { for (const s of this.sockets) s.destroy(); this.sockets.clear(); }
}

async function mainFn() {
	const version = process.argv[2] as N8nVersion; const ctl = Number(process.argv[3]);
	const tarball = process.env.PAY_TARBALL!;
	const sandbox = await Sandbox.start();
	const postgres = await startPostgres(); const redis = await startRedis();
	const redisProxy = await new Proxy(redis.port).start();
	const key = randomUUID(); const webhookPort = await freePort();
	const base = {
		EXECUTIONS_MODE: 'queue', OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true', QUEUE_BULL_REDIS_HOST: '127.0.0.1',
		QUEUE_BULL_REDIS_PORT: String(redisProxy.port), DB_TYPE: 'postgresdb', DB_POSTGRESDB_HOST: '127.0.0.1',
		DB_POSTGRESDB_DATABASE: 'postgres', DB_POSTGRESDB_USER: 'n8n', N8N_ENCRYPTION_KEY: key,
		WEBHOOK_URL: `http://127.0.0.1:${webhookPort}/`, QUEUE_WORKER_LOCK_DURATION: '5000', QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
		QUEUE_WORKER_STALLED_INTERVAL: '3000', N8N_LOG_LEVEL: 'debug', ...JSON.parse(process.env.HQ_ENV ?? '{}'),
	};
	const proxies: Proxy[] = [];
	const proc = async (command: string, port?: number) => {
		const proxy = await new Proxy(postgres.port).start(); proxies.push(proxy);
		const n = await N8n.start({ version, command, port, tarball, env: { ...base, DB_POSTGRESDB_PORT: String(proxy.port) } });
		(n as any).pg = proxy; return n as N8n & { pg: Proxy };
	};
	const mode = process.argv[4] ?? 'queue';
	const h: any = { version, sandbox, postgres, redis, redisProxy, proxies, proc, N8n, until, pause, itemsOf, randomUUID, ...wf };
	h.main = await proc('start');
	[h.hook, h.hook2, h.w1, h.w2] = await Promise.all([proc('webhook', webhookPort), proc('webhook'), proc('worker'), proc('worker')]);
	h.workers = [h.w1, h.w2];
	h.pid = (n: any) => n.child.pid;
	h.cred = await h.main.createCredential({ baseUrl: sandbox.url, accessToken: 'token', postbackSecret: 'the postback secret of the test' });
	h.publish = async (w: Workflow) => { const id = await h.main.importWorkflow(w, { payApi: h.cred }); await h.main.activate(id); return id; };
	h.arrivals = (x: string) => sandbox.received.filter(({ body }) => body.includes(`"${x}"`)).length;
	h.payList = async (parameters: object = {}, settings: object = {}, after: any[] = [], more: any = {}) => {
		const first = wf.start();
		const id = await h.publish({ ...wf.chain('Pay a list', [first, wf.splitItems(), wf.pay('Pay', { amount: 1, external_id: '={{ $json.id }}', ...parameters }, settings), ...after]), ...more });
		const send = async (list: string[], at = h.hook) => (await wf.call(at, first.webhookId, { items: list.map((one) => ({ id: one })) })).status;
		return { id, send, first };
	};
	h.sql = (q: string): string => require('node:child_process').execFileSync('/usr/bin/psql', ['-h', '127.0.0.1', '-p', String(postgres.port), '-U', 'n8n', '-d', 'postgres', '-At', '-c', q], { encoding: 'utf8' }).trim();
	h.statuses = (wfId: string) => h.sql(`select id||' '||status from execution_entity where "workflowId"='${wfId}' order by id`).split('\n').filter(Boolean);
	h.settled = async (wfId: string, count: number, seconds = 60) => await until(`${count} executions of ${wfId} to end`, async () => {
		const s = h.statuses(wfId); return s.length >= count && s.every((x: string) => !/ (new|running)$/.test(x)) && s; }, seconds);
	h.workerOf = (id: string) => h.workers.filter((w: any) => w.log.includes(`execution ${id} `));
	http.createServer(async (req, res) => {
		let body = ''; for await (const c of req) body += c;
		const lines: string[] = []; const log = (...a: any[]) => { const l = a.map((x) => typeof x === 'string' ? x : JSON.stringify(x)).join(' '); lines.push(l); console.log(l); };
		try { delete require.cache[require.resolve(body)]; const f = require(body); await (f.default ?? f)(h, log); }
		catch (e: any) { log('FAILED ' + (e?.stack ?? e)); }
		sandbox.faultFor = undefined; for (const p of proxies) { p.onChunk = undefined; p.down = false; }
		res.end(lines.join('\n') + '\n');
	}).listen(ctl, '127.0.0.1');
	console.log('READY ' + version, JSON.stringify({ pids: { main: h.pid(h.main), hook: h.pid(h.hook), hook2: h.pid(h.hook2), w1: h.pid(h.w1), w2: h.pid(h.w2) }, redis: redis.port, pg: postgres.port }));
	const bye = async () => { for (const n of [h.w1, h.w2, h.hook, h.hook2, h.main]) await n.kill?.(); await redis.close(); await postgres.close(); process.exit(0); };
	process.on('SIGTERM', () => void bye()); process.on('SIGINT', () => void bye());
}
void mainFn().catch((e) => { console.error(e); process.exit(1); });
