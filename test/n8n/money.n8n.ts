import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { itemsOf, until, type Execution, type N8n } from '../../dev/n8n';
import { CASES, MAX_TRIES, SETTINGS, startFaults, type Faults } from '../faultCases';
import { majorOf } from '../../dev/versions';
import { call, chain, noOp, pay, splitItems, start } from '../../dev/workflow';
import type { Sandbox } from '../../sandbox/service';
import { isGate } from './nightly';
import {
	allFinished,
	errorFactsOf,
	n8nOf,
	newIds,
	outcomesOf,
	payEach,
	publish,
	VERSIONS,
	type Credential,
} from './nodes';
import { callOf, link, loopOverItems, whenCalled } from './otherNodes';

/** A token that is nowhere else, so that finding it means it leaked. */
const TOKEN = `token-${randomUUID()}`;

/** In the gate, both that are asked to try again and stop or go on. */
const SETTINGS_HERE = isGate
	? SETTINGS.filter(
			({ retryOnFail, onError }) => retryOnFail && onError !== 'continueRegularOutput',
		)
	: SETTINGS;
/** A file's bytes; none if it is gone: SQLite takes its journal away while n8n runs. */
function contentOf(file: string): Buffer {
	try {
		return readFileSync(file);
	} catch (error) {
		if ((error as { code?: string }).code !== 'ENOENT') throw error;
		return Buffer.alloc(0);
	}
}

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let faults: Faults;
	let payApi: Credential;
	/** What the sandbox does with the cases of the matrix. */
	let ordered: Sandbox['faultFor'];
	beforeAll(async () => {
		faults = await startFaults();
		ordered = faults.sandbox.faultFor;
		n8n = await n8nOf(version);
		payApi = await n8n.createCredential({ baseUrl: faults.sandbox.url, accessToken: TOKEN });
	});
	afterAll(async () => {
		await n8n?.stop();
		await faults?.close();
	});
	beforeEach(() => {
		faults.sandbox.received.length = 0;
		faults.sandbox.faultFor = ordered;
	});

	const itemsFor = (list: string[]) => list.map((id) => ({ id, amount: 1 }));
	const FROM_ITEM = { amount: '={{ $json.amount }}', external_id: '={{ $json.id }}' };

	const arrived = () => faults.sandbox.bodies('payment').map(({ external_id }) => external_id);

	/** The files of n8n's that hold a text. */
	const filesWith = (text: string) =>
		readdirSync(n8n.userFolder, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
			.map(({ parentPath, name }) => join(parentPath, name))
			.filter((file) => contentOf(file).includes(text));
	const isStored = (text: string) =>
		filesWith(text).some((file) => file.includes('database.sqlite'));

	/** Publishes Start -> Items -> Pay. */
	const payList = async (parameters: object = {}, settings: object = {}) =>
		await publish(n8n, payEach({ ...FROM_ITEM, ...parameters }, settings), payApi);

	test('a token that is refused in a loop over 20 items goes out once, and again in another execution', async () => {
		faults.sandbox.faultFor = () => ({ kind: 'status', status: 401 });
		const loop = loopOverItems('Loop');
		const paying = pay('Pay', FROM_ITEM, { onError: 'continueRegularOutput' });
		const workflow = chain('A loop', [start(), splitItems(), loop, noOp('Done')]);
		workflow.nodes.push(paying);
		workflow.connections.Loop = { main: [[link('Done')], [link('Pay')]] };
		workflow.connections.Pay = { main: [[link('Loop')]] };
		const { run } = await publish(n8n, workflow, payApi);
		const execution = await run(...itemsFor(newIds(20)));
		expect(faults.sandbox.received).toHaveLength(1);
		const results = execution.data.resultData.runData.Pay!;
		expect(results).toHaveLength(20);
		await run(...itemsFor(newIds(2)));
		expect(faults.sandbox.received).toHaveLength(2);
	});

	type Setting = (typeof SETTINGS)[number];

	/** Publishes Start -> Pay -> Success or Error, with an account from each call. */
	async function publishMatrix({ onError, retryOnFail }: Setting) {
		const parameters = { amount: 1, external_id: '={{ $json.body.id }}' };
		const paying = pay('Pay', parameters, { onError, retryOnFail, maxTries: MAX_TRIES });
		const workflow = chain('Matrix', [start(), paying, noOp('Success'), noOp('Error')]);
		workflow.connections.Pay = { main: [[link('Success')], [link('Error')]] };
		delete workflow.connections.Success;
		const account = await n8n.createCredential({
			baseUrl: '={{ $json.body.baseUrl }}',
			accessToken: TOKEN,
		});
		return await publish(n8n, workflow, account);
	}

	/** What an execution says of its payment. */
	function factsOf(execution: Execution, { onError }: Setting): Record<string, unknown> {
		const facts = errorFactsOf(execution);
		if (facts !== undefined) return facts;
		const [success] = itemsOf(execution, 'Success');
		if (success !== undefined && success.error === undefined) return success;
		const [failed] = itemsOf(execution, onError === 'continueErrorOutput' ? 'Error' : 'Success');
		return (onError === 'continueErrorOutput' ? failed?.error : failed) as Record<string, unknown>;
	}

	test.each(SETTINGS_HERE)(
		'On Error $onError, Retry On Fail $retryOnFail: every outcome as designed, nothing in doubt sent twice',
		async (setting) => {
			const { id, path } = await publishMatrix(setting);
			const requests = CASES.map((fault) => ({ fault, id: `${fault.name}|${randomUUID()}` }));
			for (const each of requests) {
				await call(n8n, path, { id: each.id, baseUrl: faults.baseUrl(each.fault) });
			}
			const executions = await allFinished(n8n, id, requests.length);
			// Which may pay twice.
			const retryAdvice = /try again later|retry the request|retry on fail/i;
			expect('Retry the request.').toMatch(retryAdvice);
			const ends: object[] = [];
			for (const each of requests) {
				const execution = executions.find(
					(one) => (itemsOf(one, 'Start')[0]?.body as { id: string }).id === each.id,
				)!;
				const facts = factsOf(execution, setting);
				const texts = JSON.stringify([execution.data.resultData.error ?? null, facts]);
				ends.push({
					name: each.fault.name,
					external_id: facts.external_id,
					outcome: facts.outcome,
					arrivals: faults.arrivals(each.id),
					advisesRetry: retryAdvice.test(texts),
				});
			}
			expect(ends).toStrictEqual(
				requests.map(({ fault, id: external_id }) => ({
					name: fault.name,
					external_id,
					outcome: fault.outcome,
					arrivals: setting.retryOnFail ? fault.withRetry : fault.arrivals,
					advisesRetry: false,
				})),
			);
			expect(faults.elsewhere.received).toStrictEqual([]);
		},
	);

	test("the editor's Retry of a failed execution pays only what was not paid", async () => {
		const list = newIds(3);
		let refusals = 1;
		faults.sandbox.faultFor = ({ body }) =>
			body.includes(list[1]!) && refusals-- > 0 ? { kind: 'status', status: 422 } : undefined;
		const { id, run } = await payList();
		const failed = await run(...itemsFor(list));
		expect(failed.status).toBe('error');
		await n8n.rest('POST', `/executions/${failed.id}/retry`, { loadWorkflow: true });
		const [retried] = await allFinished(n8n, id, 2);
		expect(retried?.status).toBe('success');
		expect(itemsOf(retried!, 'Pay').map(({ external_id }) => external_id)).toStrictEqual(list);
		expect(list.map((external_id) => faults.arrivals(external_id))).toStrictEqual([1, 2, 1]);
	});

	test("an External ID that holds $execution.id: the editor's Retry does not pay again", async () => {
		const list = newIds(2);
		faults.sandbox.faultFor = ({ body }) =>
			body.includes(list[1]!) ? { kind: 'reset-after-body' } : undefined;
		const external_id = "={{ $json.id + '-' + $execution.id }}";
		const { id, run } = await payList({ external_id });
		const failed = await run(...itemsFor(list));
		await n8n.rest('POST', `/executions/${failed.id}/retry`, { loadWorkflow: true });
		const [retried] = await allFinished(n8n, id, 2);
		expect(arrived()).toStrictEqual(list.map((each) => `${each}-${failed.id}`));
		expect(retried?.status).toBe('error');
	});

	test('of 20 executions with one id at the same time, one pays', async () => {
		const [same] = newIds(1) as [string];
		const { id, path } = await payList();
		await Promise.all(
			Array.from({ length: 20 }, async () => await call(n8n, path, { items: itemsFor([same]) })),
		);
		const executions = await allFinished(n8n, id, 20);
		const outcomes = executions.map((execution) =>
			execution.status === 'success' ? 'accepted' : errorFactsOf(execution)?.outcome,
		);
		expect(faults.arrivals(same)).toBe(1);
		expect(outcomes.sort()).toStrictEqual(['accepted', ...Array(19).fill('duplicate')]);
	});

	const CONTINUES = { onError: 'continueRegularOutput' };
	test('a loop whose error branch comes back to it: each payment is sent once', async () => {
		const workflow = payEach(FROM_ITEM, { onError: 'continueErrorOutput' });
		workflow.nodes.push(loopOverItems('Loop'));
		Object.assign(workflow.connections, {
			Items: { main: [[link('Loop')]] },
			Loop: { main: [[], [link('Pay')]] },
			Pay: { main: [[link('Loop')], [link('Loop')]] },
		});
		const { run } = await publish(n8n, workflow, payApi);
		const list = newIds(4);
		const refusals: Record<string, number> = { [list[1]!]: 422, [list[2]!]: 500 };
		faults.sandbox.faultFor = ({ body }) => {
			const status = refusals[(JSON.parse(body) as { external_id: string }).external_id];
			return status === undefined ? undefined : { kind: 'status', status };
		};
		expect((await run(...itemsFor(list))).status).toBe('success');
		expect(arrived()).toStrictEqual(list);
	});

	test('a sub-workflow, once for each item or for all: called again, it pays nothing again', async () => {
		const paying = pay('Pay', FROM_ITEM, CONTINUES);
		const sub = chain('Sub', [whenCalled(), paying]);
		const subId = await n8n.importWorkflow(sub, { payApi });
		// n8n 2 calls published workflows alone; n8n 1 publishes none that only another one calls.
		if (version === 'n8n2') await n8n.activate(subId);
		const list = newIds(3);
		for (const [turn, mode] of ['each', 'once', 'each'].entries()) {
			const caller = callOf('Call', subId, { mode });
			const parent = chain(`Parent ${turn}`, [start(), splitItems(), caller]);
			const { run } = await publish(n8n, parent);
			const execution = await run(...itemsFor(list));
			expect(execution.data.resultData.error?.message).toBeUndefined();
			const told = outcomesOf(execution, 'Call');
			const expected = turn === 0 ? 'accepted' : 'duplicate';
			expect([turn, told]).toStrictEqual([turn, list.map(() => expected)]);
		}
		expect(arrived()).toStrictEqual(list);
	});

	test('each item is sent with its own account, and one whose account is empty is not sent', async () => {
		const credential = await n8n.createCredential({
			baseUrl: faults.sandbox.url,
			accessToken: '={{ $json.token }}',
		});
		const { run } = await publish(n8n, payEach(FROM_ITEM, CONTINUES), credential);
		const [one, other, none] = newIds(3) as [string, string, string];
		const execution = await run(
			{ id: one, amount: 1, token: 'token-of-one' },
			{ id: none, amount: 2, token: '' },
			{ id: other, amount: 3, token: 'token-of-another' },
		);
		expect(outcomesOf(execution)).toStrictEqual(['accepted', 'notSent', 'accepted']);
		const sent = faults.sandbox.received.map(({ headers, body }) => [
			(JSON.parse(body) as { external_id: string }).external_id,
			headers.authorization,
		]);
		expect(sent).toStrictEqual([
			[one, 'Bearer token-of-one'],
			[other, 'Bearer token-of-another'],
		]);
	});

	// test/account has every field of an account.
	test('no payment goes out where an expression of its account gives nothing', async () => {
		const credential = await n8n.createCredential({
			baseUrl: faults.sandbox.url,
			accessToken: 'token',
			describeService: true,
			externalIdHeader: '={{ $vars.thatNobodyHasSet }}',
		});
		const { run } = await publish(n8n, payEach(FROM_ITEM, CONTINUES), credential);
		expect(outcomesOf(await run(...itemsFor(newIds(1))))).toStrictEqual(['notSent']);
		expect(arrived()).toStrictEqual([]);
	});

	test('a service that echoes the headers brings no token into what n8n keeps', async () => {
		const [id] = newIds(1) as [string];
		faults.sandbox.faultFor = ({ headers }) => {
			return { kind: 'status', status: 400, body: JSON.stringify({ headers }) };
		};
		const { run } = await payList();
		const failed = await run(...itemsFor([id]));
		expect(failed.data.resultData.error?.description).toContain('Bearer ***');
		await until('the execution to be found', async () => isStored(id));
		expect(filesWith(TOKEN)).toStrictEqual([]);
	});

	test("n8n's own lines: n8n 2 logs an error's first line, and only at debug level comes what the service said", async () => {
		const name = `Ana ${randomUUID()}`;
		const [rejected, key, goesOn] = newIds(3) as [string, string, string];
		const body = JSON.stringify({ message: `No account of ${name}` });
		faults.sandbox.faultFor = () => ({ kind: 'status', status: 422, body });
		const limits = { limitPayments: true, onlyRecipients: 'somebody' };
		const account = { baseUrl: faults.sandbox.url, accessToken: TOKEN, ...limits };
		const limited = await n8n.createCredential({ ...account, highestPayment: 9, highestSum: 9 });
		const toAnother = payEach({ ...FROM_ITEM, creditParty: { key } });
		const before = n8n.log.length;
		const linesWith = (text: string, level = '') =>
			stripVTControlCharacters(n8n.log.slice(before))
				.split('\n')
				.filter((line) => line.includes(text) && line.replace(/^\S+ +/, '').startsWith(level));
		await (await payList({}, { onError: 'continueRegularOutput' })).run(...itemsFor([goesOn]));
		await (await payList()).run(...itemsFor([rejected]));
		await (await publish(n8n, toAnother, limited)).run(...itemsFor(newIds(1)));
		await until('the errors in the log', async () => {
			return linesWith(name, 'debug').length > 0 && linesWith(key, 'debug').length > 0;
		});
		expect(linesWith(name)).toStrictEqual(linesWith(name, 'debug'));
		const isN8n2 = majorOf(version) === 2;
		const hasErrorLine = [rejected, key, goesOn].map((id) => linesWith(id, 'error').length > 0);
		// n8n 1 writes none of any payment.
		expect(hasErrorLine).toStrictEqual(isN8n2 ? [true, true, false] : [false, false, false]);
	});

	test('what a spreadsheet leaves is neither sent nor recorded, and the rows beside it are paid', async () => {
		const cells = [
			{ key: '#REF!' },
			{ key: '=B2' },
			{ key: "'5511999999999" },
			{ key: '5,51199E+12' },
			{ key: 'ana@example.com', amount: 33.333333333333 },
			{ key: '5511999999999' },
			{ key: '#A7', amount: '12.500000' },
		];
		const ids = newIds(cells.length);
		const parameters = { creditParty: { key: '={{ $json.key }}' } };
		const { run } = await payList(parameters, { onError: 'continueRegularOutput' });
		const rows = cells.map((cell, row) => ({ amount: 1, ...cell, id: ids[row] }));
		const outcomes = outcomesOf(await run(...rows));
		expect(outcomes).toStrictEqual([...Array(5).fill('notSent'), 'accepted', 'accepted']);
		expect(arrived()).toStrictEqual(ids.slice(5));
		// Mended in the sheet, the same rows are paid.
		const mended = ids.slice(0, 5).map((id) => ({ id, key: 'ana@example.com', amount: 1 }));
		expect(outcomesOf(await run(...mended))).toStrictEqual(Array(5).fill('accepted'));
	});

	test('the access token is in no execution, no log line at debug level, no error', async () => {
		const [paid] = newIds(1);
		const { run } = await payList();
		const before = n8n.log.length;
		await run(...itemsFor([paid!]));
		// The same search finds what was paid, and the log has the run's last line, of debug level.
		await until('what was paid to be found', async () => isStored(paid!));
		await until('the end of the run in the log', async () =>
			n8n.log.slice(before).includes('Workflow execution finished successfully'),
		);
		expect(filesWith(TOKEN)).toStrictEqual([]);
	});
});
