import { itemsOf, type Execution, type N8n } from '../../dev/n8n';
import { Sandbox } from '../../sandbox/service';
import { enterSettings, makeBook } from './book';
import { reachesLastNodes } from './lastNodes';
import { nodeOf, startN8n, VERSIONS, type Credential } from './nodes';
import { ready, registerCredentials, type RegisterCredentials } from './payoutRegister';
import { startPostgres, type Server } from './queue';
import { RegisterDatabase } from './registerDatabase';
import { StatusService, type StatusResponse } from './statusService';

const TOKEN = 'the-token-of-the-account';

/** What the service says of a payment out of 10.50 that was made; a row says what is different. */
function paymentOf(reference: string, different: object = {}) {
	return { data: [{ reference, state: 'done', value: 10.5, way: 'OUT', ...different }] };
}

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let service: StatusService;
	let postgres: Server;
	let credentials: RegisterCredentials;
	let payApi: Credential;
	beforeAll(async () => {
		sandbox = await Sandbox.start();
		service = await StatusService.start();
		[postgres, n8n] = await Promise.all([startPostgres(), startN8n(version)]);
		credentials = await registerCredentials(
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
	afterEach(() => expect(sandbox.received).toStrictEqual([]));

	/** Settings as a person fills them in for this service. */
	const byIdentifier = () => ({
		askBy: 'external_id',
		address: service.address,
		method: 'get',
		idField: 'data.0.reference',
		statusField: 'data.0.state',
		paidWords: 'done, Concluída',
		failedWords: 'gone',
		amountField: 'data.0.value',
		directionField: 'data.0.way',
		outWords: 'out, Saída',
	});
	const byNumber = () => ({
		...byIdentifier(),
		askBy: 'number',
		numberField: 'data.0.number',
	});

	/** Imports the example with what a person does after it, as its note says. */
	async function importExample(dataTableId: object, settings: Record<string, unknown>) {
		const workflow = ready('ask-the-service', credentials);
		Object.assign(nodeOf(workflow, 'Open the book').parameters as object, { dataTableId });
		nodeOf(workflow, 'Ask the service').credentials = { payApi };
		enterSettings(workflow, settings);
		return await n8n.importWorkflow(workflow);
	}

	async function run(workflowId: string, trigger: string): Promise<Execution> {
		return await n8n.finished(await n8n.run(workflowId, trigger));
	}

	/** The lines of the report. */
	function linesOf(execution: Execution): string[] {
		return (itemsOf(execution, 'Report')[0]?.line ?? []) as string[];
	}

	describe('the book', () => {
		type Book = Awaited<ReturnType<typeof makeBook>>;

		/** Imports the example for a book. */
		async function importFor(book: Book, settings: Record<string, unknown> = byIdentifier()) {
			const { parameters } = nodeOf(book.in('payouts'), 'Open the book');
			const { dataTableId } = parameters as { dataTableId: object };
			return await importExample(dataTableId, settings);
		}

		/** A row as the example "payouts" writes it, thirty hours ago where nothing else is said. */
		function bookRow(external_id: string, outcome: string, columns: object = {}) {
			return {
				external_id,
				outcome,
				amount: '10.5',
				execution: '1',
				at: hoursAgo(30),
				...columns,
			};
		}
		const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

		/** The rows with what was decided about them. */
		async function decisionsIn(book: Book) {
			const rows = await book.rows();
			return rows.map(({ external_id, decision }) => ({ external_id, decision }));
		}

		interface Asked {
			id: string;
			outcome: string;
			response?: StatusResponse;
			/** What the report says of it. */
			says: string;
			decision: string | null;
		}

		describe('with payments in doubt', () => {
			const ASKED: Asked[] = [
				{
					id: 'a paid',
					outcome: 'unknown',
					response: paymentOf('a paid', { state: ' DONE ' }),
					says: 'the service says "DONE". It was paid.',
					decision: 'It was paid',
				},
				{
					id: 'b/failed',
					outcome: 'unknown',
					response: paymentOf('b/failed', { state: 'gone' }),
					says: 'the service says "gone". It was not paid.',
					decision: 'It was not paid',
				},
				{
					id: 'c',
					outcome: 'duplicate',
					response: paymentOf('c', { state: 'concluída' }),
					says: 'It was paid.',
					decision: 'It was paid',
				},
				{
					id: 'd',
					outcome: 'accepted',
					response: paymentOf('d'),
					says: 'It was paid.',
					decision: 'It was paid',
				},
				{
					id: 'e',
					outcome: 'unknown',
					response: paymentOf('e', { state: 'on its way' }),
					says: 'the service says "on its way". A person decides.',
					decision: null,
				},
				{
					id: 'f',
					outcome: 'unknown',
					response: paymentOf('a paid'),
					says: 'its response does not name this payment. A person decides.',
					decision: null,
				},
				{
					id: 'g',
					outcome: 'unknown',
					says: 'not be found. A person decides.',
					decision: null,
				},
				{
					id: 'h',
					outcome: 'unknown',
					response: 'hangs up',
					says: 'could not be asked: ',
					decision: null,
				},
				{
					id: 'i',
					outcome: 'unknown',
					response: 302,
					says: 'could not be asked: ',
					decision: null,
				},
				{
					id: 'j',
					outcome: 'unknown',
					response: 'done',
					says: 'its response does not name this payment. A person decides.',
					decision: null,
				},
				{
					id: 'k',
					outcome: 'unknown',
					response: paymentOf('k', { state: { paid: true } }),
					says: 'has no state. A person decides.',
					decision: null,
				},
				{
					id: 'l',
					outcome: 'accepted',
					response: paymentOf('l', { state: 'gone' }),
					says: 'It was not paid.',
					decision: 'It was not paid',
				},
				{
					id: 'm',
					outcome: 'unknown',
					response: paymentOf('m', { value: 1050 }),
					says: 'it says "done" about 1050, not 10.5. A person decides.',
					decision: null,
				},
				{
					id: 'n',
					outcome: 'unknown',
					response: paymentOf('n', { way: 'in' }),
					says: 'has the direction "in", ',
					decision: null,
				},
				{
					id: 'o',
					outcome: 'unknown',
					response: paymentOf('o', { value: null }),
					says: 'A person decides.',
					decision: null,
				},
			];
			let book: Book;
			let workflowId: string;
			let execution: Execution;
			let requests: StatusService['requests'];
			beforeAll(async () => {
				service.reset();
				for (const { id, response } of ASKED) {
					if (response !== undefined) service.respond(id, response);
				}
				book = await makeBook(n8n);
				await book.add([
					...ASKED.map(({ id, outcome }) => bookRow(id, outcome)),
					bookRow('young', 'accepted', { at: hoursAgo(1) }),
					bookRow('sure', 'rejected'),
					bookRow('never', 'notSent'),
					bookRow('decided', 'unknown', { decision: 'It was not paid', source: 'Ana' }),
				]);
				workflowId = await importFor(book);
				execution = await run(workflowId, 'Start');
				requests = [...service.requests];
			});

			test('it asks about these alone, with the token of the account', () => {
				expect(execution.data.resultData.error).toBeUndefined();
				expect(requests).toStrictEqual(
					ASKED.map(({ id }) => ({
						method: 'GET',
						identifier: id,
						authorization: `Bearer ${TOKEN}`,
					})),
				);
			});

			test.each(ASKED)('of "$id" the report says: $says', ({ id, says }) => {
				const lines = linesOf(execution);
				expect(lines).toHaveLength(ASKED.length);
				expect(lines.find((line) => line.startsWith(`${id} (`))).toContain(says);
			});

			test('what is clear is written down; the rest is left to a person', async () => {
				expect(await decisionsIn(book)).toStrictEqual([
					...ASKED.map(({ id, decision }) => ({ external_id: id, decision })),
					{ external_id: 'young', decision: null },
					{ external_id: 'sure', decision: null },
					{ external_id: 'never', decision: null },
					{ external_id: 'decided', decision: 'It was not paid' },
				]);
			});

			test('beside a decision stands who said so', async () => {
				const rows = await book.rows();
				const sourceOf = (id: string) => rows.find((row) => row.external_id === id)!.source;
				expect(sourceOf('a paid')).toContain(
					`The service said "DONE", execution ${execution.id}, `,
				);
				expect(sourceOf('decided')).toBe('Ana');
				expect(sourceOf('e')).toBeNull();
			});

			// n8n keeps the request of a response that it cannot read as JSON.
			test('the token is neither stored nor logged', () => {
				const stored = n8n.storedExecutions(workflowId).join('');
				// The control: the same search finds what was said.
				expect(stored).toContain('The service said \\"DONE\\"');
				expect(stored).not.toContain(TOKEN);
				expect(n8n.log).not.toContain(TOKEN);
			});

			test('a second run asks about what is still open, and writes down what is clear now', async () => {
				service.requests.length = 0;
				service.respond('e', paymentOf('e', { state: 'gone' }));
				await run(workflowId, 'Start');
				expect(service.identifiersAsked()).toStrictEqual([...'efghijkmno']);
				const decided = (await decisionsIn(book)).filter(({ decision }) => decision !== null);
				expect(decided).toHaveLength(7);
				expect(decided).toContainEqual({ external_id: 'e', decision: 'It was not paid' });
			});
		});

		describe('by the service’s own number', () => {
			const LONG = '12345678901234567';
			interface AskedByNumber extends Asked {
				number: string;
			}
			const NOT_NAMED = 'does not name this payment';
			const ASKED: AskedByNumber[] = [
				{
					id: 'long',
					number: LONG,
					outcome: 'unknown',
					response: paymentOf('long', { number: LONG }),
					says: 'It was paid.',
					decision: 'It was paid',
				},
				{
					id: 'a',
					number: 'n1',
					outcome: 'unknown',
					response: paymentOf('a', { value: '10.50', number: 'n1' }),
					says: 'It was paid.',
					decision: 'It was paid',
				},
				{
					id: 'b',
					number: 'n2',
					outcome: 'unknown',
					response: paymentOf('b', { state: 'gone', number: 'n2' }),
					says: 'It was not paid.',
					decision: 'It was not paid',
				},
				{
					id: 'rounded',
					number: '12345678901234568',
					outcome: 'unknown',
					// n8n rounds seventeen digits without quotes: this one and the next are then one number.
					response: `{"data":[{"number":${LONG},"reference":"rounded","state":"done","value":10.50,"way":"out"}]}`,
					says: NOT_NAMED,
					decision: null,
				},
				{
					id: 'c',
					number: 'n3',
					outcome: 'unknown',
					response: paymentOf('another', { number: 'n3' }),
					says: NOT_NAMED,
					decision: null,
				},
				{
					id: 'd',
					number: 'n4',
					outcome: 'unknown',
					response: paymentOf('d', { value: 11, number: 'n4' }),
					says: 'it says "done" about 11, not 10.5. A person decides.',
					decision: null,
				},
				{
					id: 'e',
					number: 'n5',
					outcome: 'unknown',
					response: paymentOf('e', { number: 'n5', way: 'in' }),
					says: 'has the direction "in", ',
					decision: null,
				},
				{
					id: 'f',
					number: 'n6',
					outcome: 'unknown',
					response: paymentOf('f', { number: 'other' }),
					says: NOT_NAMED,
					decision: null,
				},
				{
					id: 'g',
					number: 'n7',
					outcome: 'unknown',
					response: paymentOf('g'),
					says: NOT_NAMED,
					decision: null,
				},
				{
					id: 'h',
					number: 'n8',
					outcome: 'unknown',
					response: paymentOf('h', { number: { id: 'n8' } }),
					says: NOT_NAMED,
					decision: null,
				},
			];
			let book: Book;
			let execution: Execution;
			beforeAll(async () => {
				service.reset();
				for (const { number, response } of ASKED) service.respond(number, response!);
				service.respond('twice', paymentOf('i', { number: 'twice' }));
				book = await makeBook(n8n);
				await book.add([
					...ASKED.map(({ id, number }) => bookRow(id, 'unknown', { number })),
					bookRow('i', 'unknown', { number: 'twice' }),
					bookRow('j', 'rejected', { number: 'twice' }),
					bookRow('k', 'unknown', { number: '' }),
				]);
				execution = await run(await importFor(book, byNumber()), 'Start');
			});

			test('it asks for each number, but not for one that two payments have', () => {
				expect(execution.data.resultData.error).toBeUndefined();
				expect(service.identifiersAsked()).toStrictEqual(ASKED.map(({ number }) => number));
			});

			test.each(ASKED)('of "$id" the report says: $says', ({ id, says }) => {
				expect(linesOf(execution).find((line) => line.startsWith(`${id} (`))).toContain(says);
			});

			test('the report tells of what it cannot ask about', () => {
				expect(linesOf(execution).slice(ASKED.length)).toStrictEqual([
					'i (unknown): another payment has its number twice too. A person decides.',
					'k (unknown): no number of the service is kept. A person decides.',
				]);
			});

			test('only a response with number, identifier, direction and amount counts', async () => {
				const decisions = await decisionsIn(book);
				expect(decisions.slice(0, ASKED.length)).toStrictEqual(
					ASKED.map(({ id, decision }) => ({ external_id: id, decision })),
				);
			});
		});

		describe('with several rows of one identifier', () => {
			let book: Book;
			beforeAll(async () => {
				service.reset();
				service.respond('a', paymentOf('a'));
				book = await makeBook(n8n);
				await book.add([
					bookRow('a', 'notSent', { amount: '1' }),
					bookRow('a', 'duplicate', { amount: '105' }),
					bookRow('a', 'unknown'),
					bookRow('b', 'unknown'),
					bookRow('b', 'duplicate', { decision: 'It was paid', source: 'Ana' }),
					bookRow('c', 'unknown', { decision: 'it was NOT paid', source: 'Ana' }),
					bookRow('d', 'unknown', { decision: 'perhaps', source: 'Ana' }),
				]);
				await run(await importFor(book), 'Start');
			});

			test('one question is asked about it, and none about what was decided', () => {
				expect(service.identifiersAsked()).toStrictEqual(['a', 'd']);
			});

			test('the answer is about the rows that were sent', async () => {
				expect(await decisionsIn(book)).toStrictEqual([
					{ external_id: 'a', decision: null },
					{ external_id: 'a', decision: 'It was paid' },
					{ external_id: 'a', decision: 'It was paid' },
					{ external_id: 'b', decision: null },
					{ external_id: 'b', decision: 'It was paid' },
					{ external_id: 'c', decision: 'it was NOT paid' },
					{ external_id: 'd', decision: 'perhaps' },
				]);
			});
		});

		describe('with Settings that lack something', () => {
			let book: Book;
			beforeAll(async () => {
				service.reset();
				service.respond('a', paymentOf('a'));
				book = await makeBook(n8n);
				await book.add([bookRow('a', 'unknown')]);
			});

			async function expectNothingAsked(settings: Record<string, unknown>, names: string) {
				const execution = await run(await importFor(book, settings), 'Start');
				const message = execution.data.resultData.error!.message;
				expect(message).toContain('Nothing was asked. ');
				expect(message).toContain(names);
				expect(service.requests).toStrictEqual([]);
				expect(await decisionsIn(book)).toStrictEqual([{ external_id: 'a', decision: null }]);
			}

			test('as it is imported it asks nothing, and says what to enter', async () => {
				await expectNothingAsked(
					{},
					'address, statusField, paidWords, directionField, idField, outWords',
				);
			});

			// The code of the example, which no version of n8n changes.
			if (version !== VERSIONS[0]) return;
			test.each([
				{ lacks: 'an address', wrong: { address: '' }, names: 'address' },
				{ lacks: 'a field that names the payment', wrong: { idField: ' ' }, names: 'idField' },
				{ lacks: 'words', wrong: { paidWords: ' , ' }, names: 'paidWords' },
				{ lacks: 'the direction', wrong: { directionField: '' }, names: 'directionField' },
				{ lacks: 'words for out', wrong: { outWords: '' }, names: 'outWords' },
				{ lacks: 'a known way to ask', wrong: { askBy: 'amount' }, names: 'askBy' },
				{
					lacks: 'words that mean one thing',
					wrong: { failedWords: 'gone, CONCLUÍDA' },
					names: 'no word may mean both',
				},
			])('without $lacks it asks nothing, and names it', async ({ wrong, names }) => {
				await expectNothingAsked({ ...byIdentifier(), ...wrong }, names);
			});

			test.each([
				{ lacks: 'an amount', wrong: { amountField: '' }, names: 'amountField' },
				{ lacks: 'the field of it', wrong: { numberField: '' }, names: 'numberField' },
			])('by number, without $lacks it asks nothing, and names it', async ({ wrong, names }) => {
				await expectNothingAsked({ ...byNumber(), ...wrong }, names);
			});
		});
	});

	describe('the register', () => {
		let register: RegisterDatabase;
		let workflowId: string;
		let execution: Execution;
		const NO_TABLE = { __rl: true, mode: 'list', value: '' };
		const SCHEDULE = 'Every hour, the register';

		/** Puts a payout of 10.50 into the register, as a run leaves it; the service responds so about it. */
		function add(
			external_id: string,
			state: string,
			response: StatusResponse,
			{ minutesAgo, attempts = 1 }: { minutesAgo: number; attempts?: number },
		): void {
			service.respond(external_id, response);
			register.insert({
				external_id,
				amount: '10.5',
				recipient: 'k',
				workflow_id: '1',
				state,
				attempts,
				execution_id: '1',
				claimed_at: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
			});
		}
		const LONG_AGO = { minutesAgo: 1800 };
		const JUST_NOW = { minutesAgo: 1 };

		/** What became settled in an execution. */
		function settledIn(of: Execution): string[] {
			const items = itemsOf(of, 'Settled');
			return items.map(({ external_id, ending }) => `${external_id} ${ending}`).sort();
		}

		beforeAll(async () => {
			register = new RegisterDatabase(postgres.port, 'postgres');
			register.setUp();
			service.reset();
			add('a', 'unknown', paymentOf('a', { value: '10.50' }), JUST_NOW);
			add('b', 'claimed', paymentOf('b'), LONG_AGO);
			add('c', 'accepted', paymentOf('c', { state: 'gone' }), LONG_AGO);
			add('d', 'unknown', paymentOf('d', { value: 1050 }), LONG_AGO);
			add('e', 'unknown', paymentOf('e', { state: 'gone' }), { minutesAgo: 1800, attempts: 2 });
			add('f', 'unknown', paymentOf('f', { state: 'waits' }), LONG_AGO);
			add('g', 'unknown', paymentOf('a'), LONG_AGO);
			add('h', 'unknown', { data: [{ reference: 'h', state: 'done' }] }, LONG_AGO);
			// About these nobody is asked.
			add('i', 'claimed', paymentOf('i'), JUST_NOW);
			add('j', 'accepted', paymentOf('j'), JUST_NOW);
			add('k', 'rejected', paymentOf('k'), LONG_AGO);
			add('l', 'due', paymentOf('l'), LONG_AGO);
			workflowId = await importExample(NO_TABLE, byIdentifier());
			execution = await run(workflowId, SCHEDULE);
		});

		test('it asks about what is in doubt, and about what was claimed or accepted long ago', () => {
			expect(execution.data.resultData.error).toBeUndefined();
			expect(service.identifiersAsked().sort()).toStrictEqual([...'abcdefgh']);
		});

		test('a clear answer settles a payout, as a postback does; nothing else changes', () => {
			expect(register.states()).toStrictEqual({
				a: 'settled',
				b: 'settled',
				c: 'settled',
				d: 'unknown',
				e: 'unknown',
				f: 'unknown',
				g: 'unknown',
				h: 'unknown',
				i: 'claimed',
				j: 'accepted',
				k: 'rejected',
				l: 'due',
			});
		});

		test('what is settled is followed', () => {
			expect(settledIn(execution)).toStrictEqual(['a paid', 'b paid', 'c failed']);
		});

		test('what does not fit a row goes to a person, and a word that nobody knows is kept', () => {
			expect(register.sentences('d')).toHaveLength(1);
			expect(register.sentences('e')).toHaveLength(1);
			expect(register.sentences('f')).toStrictEqual([]);
			const unknownWords = register.sql(
				"SELECT external_id, word FROM payout_heard WHERE meaning = ''",
			);
			expect(unknownWords).toStrictEqual(['f|waits']);
		});

		test('what is settled is not asked about again, and nothing follows twice', async () => {
			service.requests.length = 0;
			const again = await run(workflowId, SCHEDULE);
			expect(service.identifiersAsked().sort()).toStrictEqual([...'defgh']);
			expect(settledIn(again)).toStrictEqual([]);
		});

		describe('by the service’s own number', () => {
			let numberedId: string;
			beforeAll(async () => {
				register.sql("UPDATE payout_register SET number = 'x1' WHERE external_id IN ('e', 'f')");
				register.sql("UPDATE payout_register SET number = 'x2' WHERE external_id = 'g'");
				service.respond('x1', paymentOf('f', { number: 'x1' }));
				numberedId = await importExample(NO_TABLE, byNumber());
			});

			test('it asks neither for a number that two rows have, nor about a row without one', async () => {
				service.requests.length = 0;
				service.respond('x2', paymentOf('h', { number: 'x2' }));
				const numbered = await run(numberedId, SCHEDULE);
				expect(service.identifiersAsked()).toStrictEqual(['x2']);
				expect(settledIn(numbered)).toStrictEqual([]);
			});

			test('a response that names the number and the payout settles it', async () => {
				service.respond('x2', paymentOf('g', { number: 'x2' }));
				const numbered = await run(numberedId, SCHEDULE);
				expect(settledIn(numbered)).toStrictEqual(['g paid']);
			});
		});
	});

	reachesLastNodes('ask-the-service', () => n8n);
});
