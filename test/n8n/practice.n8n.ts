import { randomUUID } from 'node:crypto';
import { example } from '../../dev/demo';
import { itemsOf, pause, until, webhookPath, type N8n, type Workflow } from '../../dev/n8n';
import { nodeOf } from '../../dev/payoutRegister';
import { majorOf } from '../../dev/versions';
import { call, chain, node, pay, start } from '../../dev/workflow';
import { crc16 } from '../../nodes/Pay/qr/emv';
import { startReceiver } from '../sandbox/service';
import { enterSettings, makeBook } from './book';
import { ended, waits } from './chargeAndWait';
import { allFinished, startN8n, VERSIONS } from './nodes';

/** What the practice service lets pass before it reports, and room for n8n to take it. */
const REPORTED = 6_000;

// A workflow of the n8n itself takes the service's place, as it does for whoever has no account.
describe.each(VERSIONS)('n8n %s, its own practice service', (version) => {
	let n8n: N8n;
	let service: string;
	let credentials: { payApi: { id: string; name: string } };
	let triggered: string;
	const field = { accessToken: 'practice', postbackSecret: '30 random characters of mine 1' };
	const manual = () => node('Start', 'n8n-nodes-base.manualTrigger');

	beforeAll(async () => {
		// As docs/examples.md says: else runs at once break n8n's database layer.
		const env = majorOf(version) === 1 ? { DB_SQLITE_POOL_SIZE: '2' } : undefined;
		n8n = await startN8n(version, { env });
		service = await n8n.importWorkflow(example('practice-service'));
		await n8n.activate(service);
		const data = { ...field, baseUrl: `${n8n.url}/webhook` };
		const payApi = await n8n.createCredential(data);
		credentials = { payApi };
		triggered = await n8n.importWorkflow(example('postbacks'), credentials);
		const path = (await n8n.workflow(triggered)).nodes.map(webhookPath).find(Boolean);
		await n8n.changeCredential(payApi, { ...data, postbackUrl: n8n.url + path });
		await n8n.activate(triggered);
	});
	afterAll(async () => await n8n?.stop());

	/** Runs one Pay node; gives its only item, or the error in its place. */
	async function run(parameters: object): Promise<Record<string, unknown>> {
		const one = pay('Pay', parameters, { onError: 'continueRegularOutput' });
		const id = await n8n.importWorkflow(chain('One', [manual(), one]), credentials);
		const [item] = itemsOf(await n8n.finished(await n8n.run(id, 'Start')), 'Pay');
		return (item?.error ?? item) as Record<string, unknown>;
	}
	/** What the trigger took about an identifier. */
	async function reportedOf(external_id: string) {
		const executions = await allFinished(n8n, triggered, 0);
		return executions
			.flatMap((execution) => itemsOf(execution, 'Pay Trigger'))
			.filter(({ reference }) => (reference as { external_id: string }).external_id === external_id)
			.map(({ reference, body, eventId }) => ({ reference, body, eventId }));
	}

	test('the credential’s test passes with any token, and makes nothing', async () => {
		const { data } = await n8n.rest<{ data: { status: string; message: string } }>(
			'POST',
			'/credentials/test',
			{
				credentials: {
					...{ id: credentials.payApi.id, name: 'Pay API', type: 'payApi' },
					data: { ...field, baseUrl: `${n8n.url}/webhook`, schemeName: 'pay' },
				},
			},
		);
		expect(data).toMatchObject({ status: 'OK', message: 'The service accepts the access token' });
	});

	test('a QR code has a text whose checksum is right, and an image; it is paid, and reported', async () => {
		const external_id = `order-${randomUUID()}`;
		const item = await run({ resource: 'qrCode', amount: '49.90', external_id, qrCodeImage: true });
		expect(item).toMatchObject({ outcome: 'accepted', amount: 49.9, statusCode: 201 });
		const text = String(item.qrCode);
		expect(text).toMatch(/^000201.*540449\.9.*6304[0-9A-F]{4}$/);
		expect(text.slice(-4)).toBe(crc16(text.slice(0, -4)));
		const [report] = await until('the postback', async () => {
			const all = await reportedOf(external_id);
			return all.length > 0 && all;
		});
		expect(report).toMatchObject({
			reference: { external_id, kind: 'qrCode', amount: 49.9 },
			body: { event: 'qrCode.paid', status: 'paid', external_id, amount: 49.9 },
		});
	});

	test('its postbacks are signed: who checks that takes them, and not with another secret', async () => {
		const signed = { ...field, verifySignature: true, signatureHeader: 'X-Practice-Signature' };
		const taken: Record<string, string[]> = {};
		for (const signatureSecret of ['practice-signature-secret', 'another secret of a service']) {
			const payApi = await n8n.createCredential({
				...signed,
				baseUrl: `${n8n.url}/webhook`,
				signatureSecret,
			});
			const trigger = await n8n.importWorkflow(example('postbacks'), { payApi });
			await n8n.activate(trigger);
			const path = (await n8n.workflow(trigger)).nodes.map(webhookPath).find(Boolean);
			const external_id = `order-${randomUUID()}`;
			const charge = { resource: 'qrCode', amount: '12.50', external_id };
			const one = pay('Pay', { ...charge, postback: 'url', postbackUrl: n8n.url + path });
			const id = await n8n.importWorkflow(chain('Signed', [manual(), one]), { payApi });
			await n8n.finished(await n8n.run(id, 'Start'));
			await pause(REPORTED);
			const executions = await allFinished(n8n, trigger, 0);
			const items = executions.flatMap((execution) => itemsOf(execution, 'Pay Trigger'));
			taken[signatureSecret] = items.map(({ body }) => (body as { status: string }).status);
		}
		expect(taken).toStrictEqual({
			'practice-signature-secret': ['paid'],
			'another secret of a service': [],
		});
	});

	describe('what an amount comes to', () => {
		const creditParty = { key: 'ana@example.com', keyType: 'email' };
		/** All are paid first, so that one pause is enough for what each is reported as. */
		const paid = new Map<string, { external_id: string; item: Record<string, unknown> }>();
		let receiver: Awaited<ReturnType<typeof startReceiver>>;
		let charge: Record<string, unknown>;
		const AMOUNTS: Array<[string, object, string[]]> = [
			['12.50', { outcome: 'accepted' }, ['paid']],
			['1.02', { outcome: 'accepted' }, ['failed']],
			['1.03', { outcome: 'accepted' }, ['paid', 'paid']],
			['1.06', { outcome: 'accepted' }, []],
			['4.22', { outcome: 'rejected', statusCode: 422 }, []],
			['5.03', { outcome: 'unknown', statusCode: 503 }, []],
		];

		beforeAll(async () => {
			receiver = await startReceiver();
			const to = { postback: 'url', resource: 'qrCode', amount: '5' };
			charge = await run({ ...to, external_id: randomUUID(), postbackUrl: receiver.url });
			for (const [amount] of AMOUNTS) {
				const external_id = `payout-${randomUUID()}`;
				paid.set(amount, { external_id, item: await run({ amount, external_id, creditParty }) });
			}
			// That the trigger hears of others meanwhile is shown by the rows that are reported.
			await pause(REPORTED);
		});
		afterAll(() => receiver?.close());

		test.each(AMOUNTS)(
			'%s comes to %j, and is reported as %j',
			async (amount, expected, statuses) => {
				const { external_id, item } = paid.get(amount)!;
				expect(item).toMatchObject(expected);
				const reports = await reportedOf(external_id);
				expect(reports.map(({ body }) => (body as { status: string }).status)).toStrictEqual(
					statuses,
				);
				expect(new Set(reports.map(({ eventId }) => eventId)).size).toBe(
					Math.min(reports.length, 1),
				);
			},
		);

		test('it calls back no address but those of this n8n, and says so', () => {
			expect(charge).toMatchObject({
				outcome: 'accepted',
				response: { postback: 'None: there is no postback URL of this n8n' },
			});
			expect(receiver.came).toStrictEqual([]);
		});
	});

	test('an External ID that was taken is not taken again; one that was refused may be corrected', async () => {
		const external_id = `payout-${randomUUID()}`;
		expect(await run({ amount: '4.22', external_id })).toMatchObject({ outcome: 'rejected' });
		expect(await run({ amount: '4.23', external_id })).toMatchObject({ outcome: 'accepted' });
		// At once, from another node of another workflow, which has no memory of the first.
		const again = await run({ amount: '4.23', external_id });
		expect(again).toMatchObject({
			statusCode: 409,
			response: { message: 'This external_id has come before' },
		});
		expect(again.outcome).not.toBe('accepted');
		// A charge and a payment are two things, as their two paths are.
		const charge = await run({ resource: 'qrCode', amount: '4.23', external_id });
		expect(charge).toMatchObject({ outcome: 'accepted' });
	});

	describe('in-doubt', () => {
		const PERSON = { user: 'person', password: 'a password' };
		const Authorization = `Basic ${Buffer.from(Object.values(PERSON).join(':')).toString('base64')}`;
		let book: Awaited<ReturnType<typeof makeBook>>;
		let workflowId: string;
		/** The example with what a person does after the import, as its note says. */
		async function imported(change: (workflow: Workflow) => void = () => {}) {
			const workflow = book.in('in-doubt');
			nodeOf(workflow, 'Was it paid?').credentials = {
				httpBasicAuth: await n8n.createCredential(PERSON, 'httpBasicAuth', 'Person'),
			};
			change(workflow);
			return await n8n.importWorkflow(workflow, credentials);
		}
		const bill = (id: string, amount: number) => ({ id, amount, key: 'a@example.com' });
		/** The change of the example that gives it another list. */
		const pays =
			(...payments: object[]) =>
			(workflow: Workflow) => {
				const list = nodeOf(workflow, 'Payments').parameters as object;
				Object.assign(list, { jsonOutput: JSON.stringify({ payments }) });
			};
		const pageOf = async (executionId: string, turn: number) =>
			await until(`question ${turn}`, async () => {
				const execution = await n8n.execution(executionId);
				const asked = execution.data.resultData.runData['What happened']?.length ?? 0;
				return (
					execution.status === 'waiting' &&
					asked === turn &&
					itemsOf(execution, 'What happened', turn - 1)[0]
				);
			});
		/** Submits the page's form as a browser does, with the fields that it hides. */
		async function answer(
			page: string,
			text: string,
			source: string,
			headers: Record<string, string>,
			form?: FormData,
		) {
			const body = form ?? (await formOf(page));
			body.set('field-0', text);
			body.set('field-1', source);
			return (await fetch(page, { method: 'POST', headers, body })).status;
		}
		/** The form that the page shows. */
		async function formOf(page: string) {
			const shown = await (await fetch(page, { headers: { Authorization } })).text();
			const body = new FormData();
			for (const [tag] of shown.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
				const said = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
				body.set(said('name'), said('value'));
			}
			return body;
		}

		beforeAll(async () => {
			book = await makeBook(n8n);
			workflowId = await imported();
		});

		test('what is in doubt is asked one by one, behind a password, and each answer is written down', async () => {
			const executionId = await n8n.run(workflowId, 'Start');
			await waits(n8n, executionId);
			const first = await n8n.execution(executionId);
			expect(JSON.stringify(first.data.resultData.runData.Pay?.[0] ?? {})).toMatch(
				/1 of 3 payments is unknown.*invoice-3002/,
			);
			expect(itemsOf(first, 'Report')[0]?.line).toStrictEqual([
				'invoice-3001: accepted',
				expect.stringMatching(/^invoice-3002: unknown\. /),
				expect.stringMatching(/^invoice-3003: rejected\. /),
			]);
			const told = await pageOf(executionId, 1);
			expect(told).toMatchObject({ external_id: 'invoice-3002', outcome: 'unknown' });
			const page = String(told.page);
			expect(told.text).toContain(`then answer here: ${page}`);

			expect((await fetch(page)).status).toBe(401);
			expect(await answer(page, 'It was paid', 'a guess', {})).toBe(401);
			const shown = await (await fetch(page, { headers: { Authorization } })).text();
			expect(shown).toContain('Was payment invoice-3002 of 5.03 made?');
			const offered = [...shown.matchAll(/<option value='([^']+)'/g)].map(([, value]) => value);
			expect(offered).toStrictEqual(['It was paid', 'It was not paid']);
			const written = (decision: string | null, source: string | null) => [
				{ external_id: 'invoice-3001', outcome: 'accepted', decision: null, source: null },
				{ external_id: 'invoice-3002', outcome: 'unknown', decision, source },
				{ external_id: 'invoice-3003', outcome: 'rejected', decision: null, source: null },
			];
			expect(await book.rows()).toStrictEqual(written(null, null));

			// A second run before anybody has decided asks about this one alone, with its date.
			const second = await n8n.run(workflowId, 'Start');
			const again = await pageOf(second, 1);
			expect(again).toMatchObject({ external_id: 'invoice-3002', outcome: 'duplicate' });
			expect(again.text).toMatch(/: in doubt: unknown on \d+ \w+ \d{4} \(execution \d+\)/);

			expect(
				await answer(page, 'It was not paid', 'Ana at the service, Monday', { Authorization }),
			).toBe(200);
			await ended(n8n, executionId, 'Write the answer down');
			const decided = written('It was not paid', 'Ana at the service, Monday');
			expect(await book.rows()).toStrictEqual(decided);
			// Its answer comes second, and replaces nothing; that money was sent is heard.
			expect(
				await answer(String(again.page), 'It was paid', 'Bo, the statement', { Authorization }),
			).toBe(200);
			await ended(n8n, second, 'Write the answer down');
			expect(await book.rows()).toStrictEqual([
				...decided,
				{
					...{ external_id: 'invoice-3002', outcome: null },
					...{ decision: 'It was paid', source: 'Bo, the statement' },
				},
			]);

			// Now it is decided, the next run asks nothing.
			const third = await n8n.finished(await n8n.run(workflowId, 'Start'));
			expect([third.status, itemsOf(third, 'Report')[0]?.line]).toStrictEqual([
				'success',
				[
					expect.stringMatching(/^invoice-3001: accepted on \d+ \w+ \d{4} \(execution \d+\)$/),
					'invoice-3002: It was paid (Bo, the statement)',
					expect.stringMatching(/^invoice-3003: rejected\. /),
				],
			]);
		});

		test('of thirty payments, a second run asks about the one in doubt, and about none whose row is there', async () => {
			const ids = Array.from({ length: 30 }, (_none, n) => `supplier-${n}`);
			const amountOf = (n: number) => (n === 7 ? 5.03 : n === 8 ? 4.22 : 10 + n);
			// Two of them stand on the list twice.
			const list = [...ids, ids[0]!, ids[7]!].map((each) =>
				bill(each, amountOf(ids.indexOf(each))),
			);
			const id = await imported(pays(...list));
			for (const status of ['unknown', 'duplicate']) {
				const executionId = await n8n.run(id, 'Start');
				await waits(n8n, executionId);
				const execution = await n8n.execution(executionId);
				expect(itemsOf(execution, 'To be asked?')).toMatchObject([
					{ external_id: 'supplier-7', outcome: status },
				]);
			}
			const rows = (await book.rows()).filter(({ external_id }) =>
				ids.includes(String(external_id)),
			);
			expect(rows).toHaveLength(30);
			expect(rows.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(28);
		});

		test('ten runs at once lose no row', async () => {
			book = await makeBook(n8n);
			const lists = Array.from({ length: 10 }, (_none, n) => [`ten-${n}-a`, `ten-${n}-b`]);
			const ids: string[] = [];
			for (const list of lists) ids.push(await imported(pays(...list.map((id) => bill(id, 7)))));
			const runs = await Promise.all(ids.map(async (id) => await n8n.run(id, 'Start')));
			const all = await Promise.all(runs.map(async (id) => await n8n.finished(id)));
			expect(all.map(({ data }) => data.resultData.error?.message)).toStrictEqual(
				all.map(() => undefined),
			);
			expect((await book.rows()).map(({ external_id }) => external_id).sort()).toStrictEqual(
				lists.flat(),
			);
		});

		test('ask-the-service, set as its note says, decides what is clear; the next run tells it, and asks nobody', async () => {
			book = await makeBook(n8n);
			// The practice service knows the identifiers that the example's own list pays.
			const id = await imported(pays(bill('bill-3001', 12.5), bill('bill-3002', 5.03)));
			await waits(n8n, await n8n.run(id, 'Start'));
			const ask = book.in('ask-the-service');
			const { content } = nodeOf(ask, 'Note').parameters as { content: string };
			const last = content.split('\n').at(-1)!;
			const said = [...last.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
			const [address = '', method, idField, statusField, paidWords, failedWords] = said;
			const url = address.replace('http://127.0.0.1:5678', n8n.url).replace('…', '');
			enterSettings(ask, {
				address: `=${url}{{ encodeURIComponent($json.external_id) }}`,
				...{ method, idField, statusField, paidWords, failedWords, acceptedHours: 0 },
			});
			nodeOf(ask, 'Ask the service').credentials = credentials;
			const asking = await n8n.importWorkflow(ask);
			const execution = await n8n.finished(await n8n.run(asking, 'Start'));
			expect(itemsOf(execution, 'Report')[0]?.line).toStrictEqual([
				'bill-3001 (accepted): the service says "paid". It was paid.',
				'bill-3002 (unknown): the service says "failed". It was not paid.',
			]);
			const again = await n8n.finished(await n8n.run(id, 'Start'));
			expect([again.status, itemsOf(again, 'Report')[0]?.line]).toStrictEqual([
				'success',
				[
					expect.stringMatching(/^bill-3001: It was paid \(The service said "paid", .*, acc/),
					expect.stringMatching(/^bill-3002: It was not paid \(The service said "failed", /),
				],
			]);
		});

		test('a page that is sent twice answers no other question, and the rest is asked', async () => {
			book = await makeBook(n8n);
			const id = await imported((workflow) => {
				pays(bill('q-1', 5.03), bill('q-2', 5.03), bill('q-3', 5.03))(workflow);
				// A list of one's own has a node of another name there.
				const renamed = JSON.stringify(workflow).replaceAll('"One item each"', '"Rows"');
				Object.assign(workflow, JSON.parse(renamed));
			});
			const executionId = await n8n.run(id, 'Start');
			const told = await pageOf(executionId, 1);
			expect(told.text).toMatch(/^Payment q-1: unknown\. /);
			const page = String(told.page);
			const form = await formOf(page);
			expect(await answer(page, 'It was paid', 'Ana', { Authorization }, form)).toBe(200);
			expect(await pageOf(executionId, 2)).toMatchObject({ external_id: 'q-2' });
			expect(await answer(page, 'It was not paid', 'a click', { Authorization }, form)).toBe(200);
			expect(await pageOf(executionId, 3)).toMatchObject({ external_id: 'q-3' });
			// A run that this one overtook has written meanwhile.
			await book.add([{ external_id: 'q-3', outcome: 'accepted' }]);
			expect(await answer(page, 'It was not paid', 'Bo', { Authorization })).toBe(200);
			await ended(n8n, executionId, 'Report');
			expect(await book.rows()).toStrictEqual([
				{ external_id: 'q-1', outcome: 'unknown', decision: 'It was paid', source: 'Ana' },
				{ external_id: 'q-2', outcome: 'unknown', decision: null, source: null },
				{ external_id: 'q-3', outcome: 'unknown', decision: 'It was not paid', source: 'Bo' },
				{ external_id: 'q-1', outcome: null, decision: 'It was not paid', source: 'a click' },
				{ external_id: 'q-3', outcome: 'accepted', decision: null, source: null },
			]);
			const next = await n8n.run(id, 'Start');
			await waits(n8n, next);
			expect(itemsOf(await n8n.execution(next), 'Report')[0]?.line).toStrictEqual([
				expect.stringMatching(/^q-1: It was paid \(Ana\), unknown on /),
				expect.stringMatching(/^q-2: in doubt: unknown on /),
				'q-3: accepted',
			]);
		});

		test('what another book, or a person’s hand, says is told as it is, and asked where it is no answer', async () => {
			book = await makeBook(n8n);
			const list = ['space', 'yes', 'refused', 'both', 'two', 'twin'].map((each) =>
				bill(`book-${each}`, 7),
			);
			const id = await imported(pays(...list));
			await n8n.finished(await n8n.run(id, 'Start'));
			const other = await makeBook(n8n);
			const row = (which: string, outcome: string, decision?: string) => ({
				...{ external_id: `book-${which}`, outcome, at: '2026-11-20T12:00:00Z', execution: '7' },
				...(decision === undefined ? {} : { decision, source: 'Ana' }),
			});
			await other.add([row('space', 'unknown', 'It was paid '), row('yes', 'unknown', 'yes')]);
			await other.add([
				row('refused', 'rejected'),
				row('both', 'unknown'),
				row('both', 'accepted'),
			]);
			await other.add([row('elsewhere', 'accepted'), row('open', 'unknown')]);
			// Of two runs at once, one was asked too early.
			await other.add([row('two', 'duplicate', 'It was not paid')]);
			await other.add([row('two', 'unknown', 'It was paid')]);
			const workflow = other.in('in-doubt', (await n8n.workflow(id)) as Workflow);
			const more = [bill('book-elsewhere', 7), bill('book-open', 4.22)];
			const comma = (which: string) => ({ ...bill(`book-${which}`, 7), amount: '12,00' });
			pays(...list, ...more, comma('twin'), comma('yes'))(workflow);
			const { nodes, versionId } = workflow as Workflow & { versionId: string };
			await n8n.rest('PATCH', `/workflows/${id}`, { nodes, versionId });
			const executionId = await n8n.run(id, 'Start');
			await waits(n8n, executionId);
			const execution = await n8n.execution(executionId);
			const on = 'on 20 Nov 2026 (execution 7)';
			const lines = itemsOf(execution, 'Report')[0]?.line as string[];
			expect(
				lines.map((line) =>
					line.replace(/(\. The payment| \(HTTP|\. The service).*?(?=$|\. Before)/, ''),
				),
			).toStrictEqual([
				`book-space: It was paid (Ana), unknown ${on}`,
				`book-yes: in doubt: unknown ${on}, and "yes" is no decision`,
				'book-refused: in doubt: not in the book',
				`book-both: accepted ${on}`,
				`book-two: It was paid (Ana), unknown ${on}`,
				'book-twin: in doubt: not in the book',
				`book-elsewhere: accepted. Before that: accepted ${on}`,
				`book-open: rejected. Before that: unknown ${on}`,
				expect.stringMatching(/^book-twin: notSent\. Amount/),
				expect.stringMatching(/^book-yes: notSent\. Amount.*Before that: unknown on /),
			]);
			expect(
				itemsOf(execution, 'To be asked?').map(({ external_id }) => external_id),
				// Each payment once, however many lines there are.
			).toStrictEqual([...['book-yes', 'book-refused', 'book-twin', 'book-open']]);
			// What was no decision takes one.
			const { page } = await pageOf(executionId, 1);
			expect(await answer(String(page), 'It was paid', 'Bo', { Authorization })).toBe(200);
			await pageOf(executionId, 2);
			const rows = (await other.rows()).map(({ external_id, outcome, source }) =>
				[String(external_id).replace('book-', ''), outcome, source].filter(Boolean).join(' '),
			);
			expect(rows).toStrictEqual([
				...['space unknown Ana', 'yes unknown Bo', 'refused duplicate', 'both unknown'],
				...['both accepted', 'elsewhere accepted', 'open unknown', 'two duplicate Ana'],
				...[
					'two unknown Ana',
					'twin duplicate',
					'elsewhere accepted',
					'open rejected',
					'twin notSent',
					'yes notSent Bo',
				],
			]);
		});

		test('a run that stops sounds the alarm, with where and why', async () => {
			const first = start();
			const id = await imported((workflow) => {
				Object.assign(nodeOf(workflow, 'Start'), first);
				Object.assign(nodeOf(workflow, 'Pay'), { onError: 'stopWorkflow' });
			});
			await n8n.activate(id);
			await call(n8n, first.webhookId, {});
			const alarm = await until('the alarm', async () => {
				const executions = await allFinished(n8n, id, 2);
				const [item] = executions.flatMap((each) => itemsOf(each, 'Sound the alarm'));
				return item;
			});
			expect(alarm.text).toMatch(
				/^When money is in doubt stopped at Pay: .*\. http:\/\/.*\/executions\/\d+$/,
			);
		});
	});
});
