import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { example } from '../../dev/demo';
import { itemsOf, type N8n } from '../../dev/n8n';
import { nodeOf, ready, registerCredentials } from './payoutRegister';
import { psql, startPostgres } from './queue';
import { Sandbox } from '../../sandbox/service';
import { enterSettings, makeBook } from './book';
import { reachesLastNodes } from './lastNodes';
import { startN8n, VERSIONS } from './nodes';

/** What this service says of an identifier; its address, fields and words are those of no other. */
type Says = object | string | number | 'hangs up';

async function startService() {
	const came: string[] = [];
	const says = new Map<string, Says>();
	const answer = (response: ServerResponse, said: Says) => {
		if (said === 'hangs up') return response.destroy();
		const status = typeof said === 'number' ? said : 200;
		response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
		return response.end(typeof said === 'object' ? JSON.stringify(said) : String(said));
	};
	const server = createServer((request, response) => {
		const id = new URL(request.url!, 'http://here').searchParams.get('reference') ?? '';
		came.push(`${request.method} ${id} ${request.headers.authorization}`);
		request.resume().on('end', () => answer(response, says.get(id) ?? 404));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/what-of`;
	return { url, came, says, close: () => (server.closeAllConnections(), server.close()) };
}

const TOKEN = 'the-token-of-the-account';
const HOUR = 3_600_000;

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let service: Awaited<ReturnType<typeof startService>>;
	let postgres: Awaited<ReturnType<typeof startPostgres>>;
	let made: Awaited<ReturnType<typeof registerCredentials>>;
	let payApi: { id: string; name: string };
	beforeAll(async () => {
		[sandbox, service, postgres] = await Promise.all([
			Sandbox.start(),
			startService(),
			startPostgres(),
		]);
		n8n = await startN8n(version);
		made = await registerCredentials(
			n8n,
			{ host: '127.0.0.1', port: postgres.port, user: 'n8n' },
			'postgres',
		);
		payApi = await n8n.createCredential({ baseUrl: sandbox.url, accessToken: `Bearer ${TOKEN}` });
	});
	afterAll(async () => {
		await n8n?.stop();
		await postgres?.close();
		service?.close();
		await sandbox?.close();
	});
	beforeEach(() => {
		service.came.length = 0;
		service.says.clear();
	});
	afterEach(() => expect(sandbox.received).toStrictEqual([]));

	const entered = () => ({
		askBy: 'external_id',
		address: `${service.url}?reference={identifier}`,
		method: 'get',
		idField: 'data.0.reference',
		statusField: 'data.0.state',
		paidWords: 'done, Concluída',
		failedWords: 'gone',
		amountField: 'data.0.value',
		directionField: 'data.0.way',
		outWords: 'out, Saída',
	});
	const byNumber = () => ({ ...entered(), askBy: 'number', numberField: 'data.0.number' });
	const one = (reference: string, state: unknown, value: unknown = 10.5, more: object = {}) => ({
		data: [{ reference, state, value, way: 'OUT', ...more }],
	});
	/** Imports the example with what a person does after it, as its note says. */
	async function imported(dataTableId: object, settings: Record<string, unknown> = entered()) {
		const workflow = ready('ask-the-service', made);
		Object.assign(nodeOf(workflow, 'Open the book').parameters as object, { dataTableId });
		nodeOf(workflow, 'Ask the service').credentials = { payApi };
		enterSettings(workflow, settings);
		return await n8n.importWorkflow(workflow);
	}
	const ran = async (id: string, trigger: string) => await n8n.finished(await n8n.run(id, trigger));

	const byNumberAlone = { askBy: 'number', numberField: 'data.0.number' };

	describe('the book', () => {
		let book: Awaited<ReturnType<typeof makeBook>>;
		const table = () =>
			(nodeOf(book.in('payouts'), 'Open the book').parameters as never)['dataTableId'];
		const row = (external_id: string, outcome: string, hours = 30, more: object = {}) => ({
			external_id,
			outcome,
			amount: '10.5',
			execution: '1',
			at: new Date(Date.now() - hours * HOUR).toISOString(),
			...more,
		});
		beforeEach(async () => {
			book = await makeBook(n8n);
		});

		test('what is clear is written down, the rest is left to a person; nothing else is asked about', async () => {
			const person = { decision: 'It was not paid', source: 'Ana' };
			const asked: Array<[id: string, outcome: string, says: Says | undefined, says: RegExp]> = [
				['a paid', 'unknown', one('a paid', ' DONE '), /the service says "DONE"\. It was paid\./],
				['b/failed', 'unknown', one('b/failed', 'gone'), /"gone"\. It was not paid\./],
				['c', 'duplicate', one('c', 'concluída'), /It was paid\./],
				['d', 'accepted', one('d', 'done'), /It was paid\./],
				['e', 'unknown', one('e', 'on its way'), /"on its way"\. A person decides\./],
				['f', 'unknown', one('a paid', 'done'), /does not name this payment\. A person/],
				['g', 'unknown', undefined, /could not be asked: .*not be found\. A person/],
				['h', 'unknown', 'hangs up', /could not be asked: .*A person/],
				['i', 'unknown', 302, /could not be asked: .*A person/],
				['j', 'unknown', 'done', /does not name this payment\. A person/],
				['k', 'unknown', one('k', { paid: true }), /has no state\. A person/],
				['l', 'accepted', one('l', 'gone'), /It was not paid\./],
				['m', 'unknown', one('m', 'done', 1050), /says "done" about 1050, not 10\.5\. A person/],
				['n', 'unknown', one('n', 'done', 10.5, { way: 'in' }), /direction "in", .*A person/],
				['o', 'unknown', one('o', 'done', null), /says "done" about .*A person|cannot be compared/],
			];
			for (const [id, , says] of asked) if (says !== undefined) service.says.set(id, says);
			await book.add([
				...asked.map(([id, outcome]) => row(id, outcome)),
				row('young', 'accepted', 1),
				row('sure', 'rejected'),
				row('never', 'notSent'),
				row('decided', 'unknown', 30, person),
			]);
			const id = await imported(table());
			const execution = await ran(id, 'Start');
			expect(execution.data.resultData.error).toBeUndefined();
			expect(service.came).toStrictEqual(asked.map(([each]) => `GET ${each} Bearer ${TOKEN}`));
			expect(itemsOf(execution, 'Report')).toStrictEqual([
				{ line: asked.map(([, , , line]) => expect.stringMatching(line)) },
			]);
			const decisions: Record<string, string> = {
				'a paid': 'It was paid',
				c: 'It was paid',
				d: 'It was paid',
				'b/failed': 'It was not paid',
				l: 'It was not paid',
			};
			const source = expect.stringMatching(/^The service said ".+", execution \d+, \d+ \w+ \d{4}$/);
			for (const { external_id, ...written } of await book.rows()) {
				const decision = decisions[String(external_id)] ?? null;
				const expected =
					external_id === 'decided' ? person : { decision, source: decision && source };
				expect({ external_id, ...written }).toMatchObject(expected);
			}
			// n8n keeps the request of a response that it cannot read as JSON. The control is above.
			const stored = n8n.storedExecutions(id).join('');
			expect(stored).toContain('The service said \\"DONE\\"');
			expect(stored).not.toContain(TOKEN);
			expect(n8n.log).not.toContain(TOKEN);

			// A second run asks about what is still open, and no answer replaces what was decided.
			service.came.length = 0;
			service.says.set('e', one('e', 'gone'));
			await ran(id, 'Start');
			expect(service.came.map((line) => line.split(' ')[1])).toStrictEqual([...'efghijkmno']);
			const later = (await book.rows()).filter(({ decision }) => decision !== null);
			expect(later).toHaveLength(7);
		});

		test('by the service’s own number: only an answer with number, identifier, direction and amount counts', async () => {
			const LONG = '12345678901234567';
			const out = { way: 'out' };
			// n8n rounds seventeen digits without quotes: this one and the next are then one number.
			const raw = (number: string, reference: string) =>
				`{"data":[{"number":${number},"reference":"${reference}","state":"done","value":10.50,"way":"out"}]}`;
			const asked: Array<[id: string, number: string, says: Says, line: RegExp]> = [
				['long', LONG, one('long', 'done', 10.5, { number: LONG }), /It was paid\./],
				['a', 'n1', one('a', 'done', '10.50', { number: 'n1' }), /It was paid\./],
				['b', 'n2', one('b', 'gone', 10.5, { number: 'n2' }), /It was not paid\./],
				['rounded', '12345678901234568', raw(LONG, 'rounded'), /does not name this payment/],
				['c', 'n3', one('another', 'done', 10.5, { number: 'n3' }), /does not name this payment/],
				['d', 'n4', one('d', 'done', 11, { number: 'n4' }), /"done" about 11, not 10\.5/],
				['e', 'n5', one('e', 'done', 10.5, { number: 'n5', way: 'in' }), /direction "in"/],
				['f', 'n6', one('f', 'done', 10.5, { number: 'other' }), /does not name this payment/],
				['g', 'n7', one('g', 'done', 10.5, out), /does not name this payment/],
				['h', 'n8', one('h', 'done', 10.5, { number: { id: 'n8' } }), /does not name this payment/],
			];
			for (const [, number, says] of asked) service.says.set(number, says);
			service.says.set('twice', one('i', 'done', 10.5, { number: 'twice' }));
			await book.add([
				...asked.map(([id, number]) => row(id, 'unknown', 30, { number })),
				row('i', 'unknown', 30, { number: 'twice' }),
				row('j', 'rejected', 30, { number: 'twice' }),
				row('k', 'unknown', 30, { number: '' }),
			]);
			const execution = await ran(await imported(table(), byNumber()), 'Start');
			expect(execution.data.resultData.error).toBeUndefined();
			expect(service.came.map((line) => line.split(' ')[1])).toStrictEqual(
				asked.map(([, number]) => number),
			);
			expect(itemsOf(execution, 'Report')[0]?.line).toStrictEqual([
				...asked.map(([, , , line]) => expect.stringMatching(line)),
				'i (unknown): another payment has its number twice too. A person decides.',
				'k (unknown): no number of the service is kept. A person decides.',
			]);
			const decided = (await book.rows()).filter(({ decision }) => decision !== null);
			expect(decided.map(({ external_id, decision }) => [external_id, decision])).toStrictEqual([
				['long', 'It was paid'],
				['a', 'It was paid'],
				['b', 'It was not paid'],
			]);
		});

		test('of an identifier that has several rows, one question is asked, about what was sent; "It was paid" ends it', async () => {
			service.says.set('a', one('a', 'done'));
			await book.add([
				row('a', 'notSent', 30, { amount: '1' }),
				row('a', 'duplicate', 30, { amount: '105' }),
				row('a', 'unknown'),
				row('b', 'unknown'),
				row('b', 'duplicate', 30, { decision: 'It was paid', source: 'Ana' }),
				row('c', 'unknown', 30, { decision: 'it was NOT paid', source: 'Ana' }),
				row('d', 'unknown', 30, { decision: 'perhaps', source: 'Ana' }),
			]);
			await ran(await imported(table()), 'Start');
			expect(service.came.map((line) => line.split(' ')[1])).toStrictEqual(['a', 'd']);
			const rows = await book.rows();
			expect(rows.map(({ external_id, decision }) => [external_id, decision])).toStrictEqual([
				['a', null],
				['a', 'It was paid'],
				['a', 'It was paid'],
				['b', null],
				['b', 'It was paid'],
				['c', 'it was NOT paid'],
				['d', 'perhaps'],
			]);
		});

		const incomplete: Array<[string, Record<string, string>, string]> = [
			[
				'as it is imported',
				{},
				'address, statusField, paidWords, directionField, idField, outWords',
			],
			['without an address', { address: '' }, 'address'],
			['without a field that names the payment', { idField: ' ' }, 'idField'],
			['without words', { paidWords: ' , ' }, 'paidWords'],
			['without the direction', { directionField: '' }, 'directionField'],
			['without words for out', { outWords: '' }, 'outWords'],
			['by number, without an amount', { ...byNumberAlone, amountField: '' }, 'amountField'],
			['by number, without the field of it', { ...byNumberAlone, numberField: '' }, 'numberField'],
			['by something else', { askBy: 'amount' }, 'askBy'],
			['with a word that means both', { failedWords: 'gone, CONCLUÍDA' }, 'no word may mean both'],
		];
		test.each(version === VERSIONS[0] ? incomplete : incomplete.slice(0, 1))(
			'%s it asks nothing, and says what to enter',
			async (_how, more, says) => {
				await book.add([row('a', 'unknown')]);
				service.says.set('a', one('a', 'done'));
				const settings = Object.keys(more).length === 0 ? {} : { ...entered(), ...more };
				const execution = await ran(await imported(table(), settings), 'Start');
				expect(execution.data.resultData.error?.message).toMatch(/^Nothing was asked\. /);
				expect(execution.data.resultData.error?.message).toContain(says);
				expect(service.came).toStrictEqual([]);
				expect(await book.rows()).toMatchObject([{ decision: null }]);
			},
		);
	});

	test('the register: an answer settles as a postback does, once; what does not fit goes to a person', async () => {
		const sql = (query: string) => psql(postgres.port, 'postgres', query);
		const { query } = nodeOf(example('payout-register'), 'Set up').parameters as {
			query: string;
		};
		sql(query);
		const OLD = { claimed_at: "now() - interval '30 hours'" };
		const YOUNG = { claimed_at: "now() - interval '1 minute'" };
		type Case = [id: string, state: string, columns: object, says: Says | undefined, end: object];
		const cases: Case[] = [
			['a', 'unknown', YOUNG, one('a', 'done', '10.50'), { state: 'settled', ending: 'paid' }],
			['b', 'claimed', OLD, one('b', 'done'), { state: 'settled', ending: 'paid' }],
			['c', 'accepted', OLD, one('c', 'gone'), { state: 'settled', ending: 'failed' }],
			['d', 'unknown', OLD, one('d', 'done', 1050), { state: 'unknown' }],
			['e', 'unknown', { ...OLD, attempts: 2 }, one('e', 'gone'), { state: 'unknown' }],
			['f', 'unknown', OLD, one('f', 'waits'), { state: 'unknown' }],
			['g', 'unknown', OLD, one('a', 'done'), { state: 'unknown' }],
			['h', 'unknown', OLD, { data: [{ reference: 'h', state: 'done' }] }, { state: 'unknown' }],
		];
		const untouched: Case[] = [
			['i', 'claimed', YOUNG, one('i', 'done'), { state: 'claimed' }],
			['j', 'accepted', YOUNG, one('j', 'done'), { state: 'accepted' }],
			['k', 'rejected', OLD, one('k', 'done'), { state: 'rejected' }],
			['l', 'due', OLD, one('l', 'done'), { state: 'due' }],
		];
		for (const [id, state, columns, says] of [...cases, ...untouched]) {
			service.says.set(id, says ?? 404);
			const { attempts, claimed_at } = { attempts: 1, claimed_at: '', ...columns };
			sql(
				`INSERT INTO payout_register (external_id, amount, recipient, workflow_id, state, attempts, execution_id, claimed_at)
				VALUES ('${id}', '10.5', 'k', '1', '${state}', ${attempts}, '1', ${claimed_at})`,
			);
		}
		const id = await imported({ __rl: true, mode: 'list', value: '' });
		const execution = await ran(id, 'Every hour, the register');
		expect(execution.data.resultData.error).toBeUndefined();
		expect(service.came.map((line) => line.split(' ')[1]).sort()).toStrictEqual([...'abcdefgh']);
		const rows = sql('SELECT row_to_json(r) FROM payout_register r ORDER BY external_id').map(
			(text) => JSON.parse(text) as Record<string, unknown>,
		);
		expect(rows).toMatchObject(
			[...cases, ...untouched].map(([external_id, , , , end]) => ({ external_id, ...end })),
		);
		const doubtful = sql('SELECT external_id FROM payout_sentence ORDER BY 1');
		expect(doubtful).toStrictEqual(['d', 'e']);
		const unknown = "SELECT external_id, word FROM payout_heard WHERE meaning = ''";
		expect(sql(unknown)).toStrictEqual(['f|waits']);
		const settled = (of: typeof execution) =>
			itemsOf(of, 'Settled').map(({ external_id, ending }) => [external_id, ending]);
		expect(settled(execution).sort()).toStrictEqual([
			['a', 'paid'],
			['b', 'paid'],
			['c', 'failed'],
		]);
		// By number: of two rows with one number neither is asked, and one without a number neither.
		service.came.length = 0;
		for (const [id_, number] of [
			['e', 'x1'],
			['f', 'x1'],
			['g', 'x2'],
		])
			sql(`UPDATE payout_register SET number = '${number}' WHERE external_id = '${id_}'`);
		service.says.set('x1', one('f', 'done', 10.5, { number: 'x1' }));
		service.says.set('x2', one('h', 'done', 10.5, { number: 'x2' }));
		const numbered = await ran(
			await imported({ __rl: true, mode: 'list', value: '' }, byNumber()),
			'Every hour, the register',
		);
		expect(service.came.map((line) => line.split(' ')[1])).toStrictEqual(['x2']);
		expect(numbered.data.resultData.runData).not.toHaveProperty('Settled');
		service.says.set('x2', one('g', 'done', 10.5, { number: 'x2' }));
		const settledByNumber = await ran(
			await imported({ __rl: true, mode: 'list', value: '' }, byNumber()),
			'Every hour, the register',
		);
		expect(settled(settledByNumber)).toStrictEqual([['g', 'paid']]);

		// What is settled is not asked again, and nothing follows twice.
		const again = await ran(id, 'Every hour, the register');
		expect(again.data.resultData.runData).not.toHaveProperty('Settled');
	});

	reachesLastNodes('ask-the-service', () => n8n);
});
