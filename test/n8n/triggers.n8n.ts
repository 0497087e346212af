import { deflateRawSync, gzipSync } from 'node:zlib';
import { until, webhookPath, type N8n, type Workflow } from '../../dev/n8n';
import { chain, payTrigger, type Node } from '../../dev/workflow';
import { type Reference, signUrl } from '../../nodes/Pay/postback/proof';
import type { Sandbox } from '../../sandbox/service';
import {
	deliver,
	deliverHead,
	multipart,
	SPELLING_NAMES,
	SPELLINGS,
	type Delivery,
	type SpellingName,
} from './deliveries';
import { sendRaw } from './hostileRequests';
import { nightly } from './nightly';
import {
	allFinished,
	nodeOf,
	publishTrigger,
	SECRET,
	VERSIONS,
	withN8n,
	type Credential,
} from './nodes';

const ABOUT: Reference = { external_id: 'order-1042', kind: 'qrCode', amount: 49.9 };

/** An expression in a credential that gives nothing. */
const NOTHING = '={{ $vars.thatNobodyHasSet }}';

/** What n8n refuses where it reads the body before the node; docs/workflow-json.md says so. */
const READ_BY_NO_N8N: SpellingName[] = [
	'JSON in ISO-8859-1',
	'a form in windows-1252',
	'text in us-ascii',
	'JSON in the content coding GZIP',
];

/** The item of a postback. */
interface Taken {
	json: Record<string, unknown> & { reference: Reference | null };
	binary?: Record<string, object>;
}

/** A published trigger, with "After" behind it. */
interface Trigger {
	workflowId: string;
	/** Its address without a proof. */
	bare: string;
	/** The same, signed for {@link ABOUT}. */
	url: string;
}

describe.each(VERSIONS)('n8n %s', (version) => {
	let n8n: N8n;
	let sandbox: Sandbox;
	let payApi: Credential;
	withN8n(version, (running) => ({ n8n, sandbox, payApi } = running));

	const unreadable: SpellingName[] = [...READ_BY_NO_N8N];
	if (version === 'n8n1') unreadable.push('JSON with a byte order mark');

	async function createCredential(more: object = {}): Promise<Credential> {
		const account = { baseUrl: sandbox.url, accessToken: 'token', postbackSecret: SECRET };
		return await n8n.createCredential({ ...account, ...more });
	}

	async function publishNode(entry: Node, credential = payApi): Promise<Trigger> {
		const { id, url } = await publishTrigger(n8n, credential, entry);
		return { workflowId: id, bare: url, url: signUrl(url, ABOUT, SECRET) };
	}

	async function publish(parameters: object = {}, credential = payApi): Promise<Trigger> {
		return await publishNode(payTrigger(parameters), credential);
	}

	/** With these options and no more, as other tools write them; the editor would add its own. */
	async function publishTyped(options: object): Promise<Trigger> {
		return await publishNode({ ...payTrigger(), parameters: { options } });
	}

	/** The address of a trigger, signed for a QR code of this External ID. */
	function signedFor(external_id: string, { bare }: Trigger): string {
		return signUrl(bare, { ...ABOUT, external_id }, SECRET);
	}

	/** The items that so many postbacks gave, the newest first. */
	async function itemsTaken(trigger: Trigger, count: number): Promise<Taken[]> {
		const items: Taken[] = [];
		for (const { data } of await allFinished(n8n, trigger.workflowId, count)) {
			items.push(data.resultData.runData.After![0]!.data!.main![0]![0] as Taken);
		}
		return items;
	}

	async function itemTaken(trigger: Trigger): Promise<Taken> {
		const items = await itemsTaken(trigger, 1);
		expect(items).toHaveLength(1);
		return items[0]!;
	}

	/** Delivers each spelling about an External ID of its own; gives how it was answered, and its item. */
	async function deliverSpellings(trigger: Trigger) {
		const statuses = {} as Record<SpellingName, number>;
		for (const name of SPELLING_NAMES) {
			statuses[name] = await deliver(signedFor(name, trigger), SPELLINGS[name]);
		}
		const accepted = SPELLING_NAMES.filter((name) => statuses[name] === 200);
		const items: Record<string, Taken> = {};
		for (const item of await itemsTaken(trigger, accepted.length)) {
			items[item.json.reference!.external_id] = item;
		}
		return { statuses, items };
	}
	type Delivered = Awaited<ReturnType<typeof deliverSpellings>>;

	describe('a trigger as the editor makes it gives what a postback says, spelled as', () => {
		let delivered: Delivered;
		beforeAll(async () => {
			delivered = await deliverSpellings(await publish());
		});

		test.each(SPELLING_NAMES)('%s', (name) => {
			expect(delivered.statuses[name]).toBe(200);
			expect(delivered.items[name]!.json).toMatchObject(SPELLINGS[name].expected);
		});
	});

	nightly.describe('a trigger whose JSON has empty options, so that n8n reads bodies', () => {
		let trigger: Trigger;
		let logged: string;
		let delivered: Delivered;
		beforeAll(async () => {
			const before = n8n.log.length;
			trigger = await publishTyped({});
			logged = n8n.log.slice(before);
			delivered = await deliverSpellings(trigger);
		});

		test('says in the log what is missing', () => {
			expect(logged).toContain('the JSON of this node has "options" without "binaryData": true');
		});

		test('refuses a postback without a proof', async () => {
			expect(await deliver(trigger.bare)).toBe(401);
		});

		const readable = SPELLING_NAMES.filter((name) => !unreadable.includes(name));
		test.each(readable)('gives what a postback says, spelled as %s', (name) => {
			expect(delivered.statuses[name]).toBe(200);
			expect(delivered.items[name]!.json).toMatchObject(SPELLINGS[name].expected);
		});

		test.each(unreadable)('starts nothing at what n8n refuses: %s', (name) => {
			expect(delivered.statuses[name]).not.toBe(200);
			expect(delivered.items[name]).toBeUndefined();
		});
	});

	test('XML bodies that come at one moment stay with their own proofs', async () => {
		const trigger = await publish();
		const statuses = await Promise.all(
			Array.from({ length: 12 }, async (_none, index) => {
				return await deliver(signedFor(`xml-${index}`, trigger), {
					headers: { 'Content-Type': 'application/xml' },
					body: `<pay><id>xml-${index}</id></pay>`,
				});
			}),
		);
		const accepted = statuses.filter((status) => status === 200).length;
		expect(accepted).toBeGreaterThan(1);
		for (const { json } of await itemsTaken(trigger, accepted)) {
			expect(json.body).toBe(`<pay><id>${json.reference!.external_id}</id></pay>`);
		}
	});

	describe('a trigger with a condition', () => {
		let trigger: Trigger;
		beforeAll(async () => {
			trigger = await publish({
				startWhen: 'match',
				matchField: 'data.status',
				matchValues: ['paid'],
				options: { responseCode: 202, responseBody: 'thanks' },
			});
		});

		/** Of no other test, and no word of n8n's own log. */
		const OTHER_STATUS = 'waiting-for-the-bank';

		async function post(status: string) {
			const answer = await fetch(trigger.url, {
				method: 'POST',
				headers: { 'Content-Type': 'application/json', Connection: 'close' },
				body: JSON.stringify({ data: { status } }),
			});
			return { status: answer.status, text: await answer.text() };
		}

		test('answers what it does not start at like the rest', async () => {
			expect(await post(OTHER_STATUS)).toStrictEqual({ status: 202, text: 'thanks' });
			expect(await post('PAID')).toStrictEqual({ status: 202, text: 'thanks' });
		});

		test('starts at the word alone, in capitals too', async () => {
			const { json } = await itemTaken(trigger);
			expect(json.body).toStrictEqual({ data: { status: 'PAID' } });
		});

		test('keeps nothing of what it does not start at, in the database or the log', async () => {
			await until('the log', async () => n8n.log.includes('has another value'));
			expect(n8n.log).not.toContain(OTHER_STATUS);
			const stored = n8n.storedExecutions(trigger.workflowId).join('');
			// The control: the same search finds what it started at.
			expect(stored).toContain('PAID');
			expect(stored).not.toContain(OTHER_STATUS);
		});
	});

	test('a postback signed before the secret was replaced is taken while the previous one is entered', async () => {
		const credential = await createCredential();
		const trigger = await publish({}, credential);
		const account = { baseUrl: sandbox.url, accessToken: 'token' };
		const postbackSecret = 'the new secret of the test';
		await n8n.changeCredential(credential, { ...account, postbackSecret });
		expect(await deliver(trigger.url)).toBe(401);
		await n8n.changeCredential(credential, {
			...account,
			postbackSecret,
			previousPostbackSecret: SECRET,
		});
		expect(await deliver(trigger.url)).toBe(200);
		expect((await itemTaken(trigger)).json.reference).toStrictEqual(ABOUT);
	});

	test('where the credential is deleted, every call is answered, and none starts an execution', async () => {
		const credential = await createCredential();
		const trigger = await publish({}, credential);
		await n8n.rest('DELETE', `/credentials/${credential.id}`);
		expect(await deliver(trigger.bare)).toBe(500);
		expect(await deliver(trigger.url)).toBe(500);
		// What a later call to another trigger starts is there by then; so would be what these started.
		const other = await publish();
		expect(await deliver(other.url)).toBe(200);
		await itemTaken(other);
		expect(await n8n.executionIds(trigger.workflowId)).toStrictEqual([]);
	});

	test.each([
		{ what: '"noData" like any other text', options: { responseBody: 'noData' }, text: 'noData' },
		{
			what: 'nothing when the last node has finished',
			options: { respond: 'lastNode', responseBody: 'x' },
			text: '',
		},
	])('answers $what', async ({ options, text }) => {
		const trigger = await publish({ options });
		const answer = await fetch(trigger.url, { method: 'POST', body: '{}' });
		expect({ status: answer.status, text: await answer.text() }).toStrictEqual({
			status: 200,
			text,
		});
		await itemTaken(trigger);
	});

	/** Publishes a trigger that is refused, and waits until n8n has said so. */
	async function publishRefused(workflowId: string) {
		if (version === 'n8n1') return await expect(n8n.publish(workflowId)).rejects.toThrow();
		// It answers first, tries five times in 15 s, and then says so.
		await n8n.publish(workflowId);
		const failed = `"workflowId": "${workflowId}", "result": "failed"`;
		await until('the refusal', async () => n8n.log.includes(failed));
	}

	// postback/trigger.test.ts has all that publishing is refused for.
	nightly.test.each([
		{ what: 'without a secret', account: { postbackSecret: '' } },
		{
			what: 'whose check of the sender is an expression that returns nothing',
			account: { senderCheck: NOTHING, signatureHeader: 'X-S', signatureSecret: 'abc' },
		},
	])('a trigger $what is not published, and takes nothing', async ({ account }) => {
		const entry = payTrigger();
		const payApi = await createCredential(account);
		await publishRefused(await n8n.importWorkflow(chain('Refused', [entry]), { payApi }));
		const url = signUrl(n8n.url + webhookPath(entry), ABOUT, SECRET);
		expect(await deliver(url)).toBe(404);
		// The control: with a sound account the same postback is taken.
		expect(await deliver((await publish()).url)).toBe(200);
	});

	test.each([
		{ what: 'no secret', postbackSecret: '', why: 'Postback Secret' },
		{
			what: 'a secret that depends on the item',
			postbackSecret: '={{ $json.secret }}',
			why: 'cannot be read',
		},
	])("with $what, the editor's listening is refused, and says why", async (row) => {
		const payApi = await createCredential({ postbackSecret: row.postbackSecret });
		const id = await n8n.importWorkflow(chain('Listening', [payTrigger()]), { payApi });
		const listening = {
			workflowData: await n8n.workflow(id),
			triggerToStartFrom: { name: 'Pay Trigger' },
			startNodes: [],
		};
		const refusal = n8n.rest('POST', `/workflows/${id}/run`, listening);
		await expect(refusal).rejects.toThrow(row.why);
	});

	// n8n 1 itself would publish the triggers of before the refusal, while the editor shows the new ones.
	(version === 'n8n1' ? describe : describe.skip)('after a publication that was refused', () => {
		const account = () => ({
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: SECRET,
			describeService: true,
			statusField: 'status',
			paidValues: 'paid',
		});

		/** As the editor's button does. */
		async function save(workflowId: string, { nodes, connections, settings }: Workflow) {
			const { versionId } = await n8n.workflow(workflowId);
			const saved = { nodes, connections, settings, versionId, active: true };
			await n8n.rest('PATCH', `/workflows/${workflowId}`, saved);
		}

		/** Moves each node that saving names, one after another, until it is taken. */
		async function saveMoved(workflowId: string, workflow: Workflow, moved: Node[]) {
			for (const node of moved) {
				const advice = `Move the node \\"${node.name}\\" a little, then save.`;
				await expect(save(workflowId, workflow)).rejects.toThrow(advice);
				node.position = [40, 40];
			}
			await save(workflowId, workflow);
			await n8n.answering(workflowId);
		}

		/** Delivers a postback of each status; gives the one that starts the workflow. */
		async function startedBy(trigger: Trigger, statuses: string[]): Promise<string> {
			for (const status of statuses) {
				const body = JSON.stringify({ status });
				await deliver(signedFor(status, trigger), { ...SPELLINGS.JSON, body });
			}
			return (await itemTaken(trigger)).json.reference!.external_id;
		}

		test('of its new condition, a trigger does not go on with the old one', async () => {
			const credential = await n8n.createCredential(account());
			const trigger = await publish({}, credential);
			const workflow = await n8n.workflow(trigger.workflowId);
			const entry = nodeOf(workflow, 'Pay Trigger');
			Object.assign(entry.parameters!, { startWhen: 'paidOrFailed' });
			await expect(save(trigger.workflowId, workflow)).rejects.toThrow('Failed Values');

			await n8n.changeCredential(credential, { ...account(), failedValues: 'failed' });
			await saveMoved(trigger.workflowId, workflow, [entry]);
			expect(await startedBy(trigger, ['pending', 'failed'])).toBe('failed');
		});

		test('of another trigger, for its credential alone, neither does one beside it', async () => {
			const sound = await n8n.createCredential(account());
			const emptied = await n8n.createCredential(account());
			const trigger = await publish({}, sound);
			const workflow = await n8n.workflow(trigger.workflowId);
			const entry = nodeOf(workflow, 'Pay Trigger');
			const other = { ...payTrigger(), name: 'Other', credentials: { payApi: emptied } };
			workflow.nodes.push(other);
			await save(trigger.workflowId, workflow);

			await n8n.changeCredential(emptied, { ...account(), postbackSecret: '' });
			Object.assign(entry.parameters!, { startWhen: 'paid' });
			await expect(save(trigger.workflowId, workflow)).rejects.toThrow('Postback Secret');

			await n8n.changeCredential(emptied, account());
			await saveMoved(trigger.workflowId, workflow, [entry, other]);
			expect(await startedBy(trigger, ['pending', 'paid'])).toBe('paid');
		});
	});

	// What is too long: test/postback/proof.test.ts.
	test('an address with an External ID as long as one may be is taken', async () => {
		const trigger = await publish();
		let fits = 1;
		let tooMany = 8_000;
		while (tooMany - fits > 1) {
			const middle = Math.floor((fits + tooMany) / 2);
			try {
				signedFor('e'.repeat(middle), trigger);
				fits = middle;
			} catch {
				tooMany = middle;
			}
		}
		expect(await deliver(signedFor('e'.repeat(fits), trigger))).toBe(200);
		expect((await itemTaken(trigger)).json.reference!.external_id).toHaveLength(fits);
	});

	test('the proof is in no execution and no log, whatever repeats it; nor is that of another charge', async () => {
		const trigger = await publish();
		const { url, workflowId } = trigger;
		const other = signedFor('another', trigger);
		const [, mac] = url.split('pay_proof=')[1]!.split('.');
		const otherProof = other.split('pay_proof=')[1]!;
		const [otherReference, otherMac] = otherProof.split('.');
		const path = url.slice(n8n.url.length);
		const status = await deliver(url, {
			headers: {
				'Content-Type': 'application/json',
				'X-Original-URL': path,
				'X-Forwarded-Uri': path,
				'X-Envoy-Original-Path': path,
				Referer: url,
			},
			body: JSON.stringify({ postbackUrl: url, list: [other], pay_proof: otherProof }),
		});
		expect(status).toBe(200);
		const { json } = await itemTaken(trigger);
		expect(json.headers).toMatchObject({ referer: `${trigger.bare}?pay_proof=***` });
		expect(json.body).toStrictEqual({
			postbackUrl: `${trigger.bare}?pay_proof=***`,
			list: [`${trigger.bare}?pay_proof=***`],
			pay_proof: `${otherReference}.***`,
		});
		const stored = n8n.storedExecutions(workflowId).join('');
		// The control: the same search finds what came with it.
		expect(stored).toContain(ABOUT.external_id);
		expect(stored).not.toContain(mac);
		expect(stored).not.toContain(otherMac);
		expect(n8n.log).not.toContain(mac);
	});

	describe('what cannot be read', () => {
		const JSON_TYPE = 'application/json';
		const form = multipart([{ name: 'status', value: 'paid' }]);
		let trigger: Trigger;
		beforeAll(async () => {
			trigger = await publish();
		});

		test.each<{ what: string; delivery: Delivery; status: number }>([
			{
				what: 'raw deflate',
				delivery: {
					headers: { 'Content-Type': JSON_TYPE, 'Content-Encoding': 'deflate' },
					body: deflateRawSync('{}'),
				},
				status: 500,
			},
			{
				what: '16 MB, zipped',
				delivery: {
					headers: { 'Content-Type': JSON_TYPE, 'Content-Encoding': 'gzip' },
					body: gzipSync(Buffer.alloc(17_000_000, 'x')),
				},
				status: 413,
			},
			{ what: 'HEAD', delivery: { method: 'HEAD' }, status: 404 },
		])('is not acknowledged, so its sender may come again: $what', async (row) => {
			expect(await deliver(trigger.url, row.delivery)).toBe(row.status);
		});

		test('is not acknowledged, so its sender may come again: what announces 17 MB', async () => {
			expect(await deliverHead(trigger.url, 17_000_000)).toBe(413);
		});

		test('starts nothing; the same form, gzipped and whole, does', async () => {
			const headers = { ...form.headers, 'Content-Encoding': 'gzip' };
			expect(await deliver(trigger.url, { headers, body: gzipSync(form.body) })).toBe(200);
			expect((await itemTaken(trigger)).json.body).toStrictEqual({ status: 'paid' });
		});
	});

	describe('a genuine one that is cut off', () => {
		const form = multipart([
			{ name: 'status', value: 'paid' },
			{ name: 'amount', value: '1' },
		]);
		let trigger: Trigger;
		beforeAll(async () => {
			trigger = await publish();
		});

		test.each([
			{ type: form.headers['Content-Type'], body: form.body },
			{ type: 'application/json', body: '{"status":"paid","amount":1}' },
			{ type: 'multipart/mixed; boundary=B', body: '--B\r\n\r\npaid\r\n--B--\r\n' },
		])('is not answered: $type', async ({ type, body }) => {
			const head = headOf(trigger.url, type, `Content-Length: ${body.length}`);
			const bytes = Buffer.from(head + body.slice(0, -8));
			expect(await sendRaw(trigger.url, { bytes, cut: true })).toBe(0);
		});

		test('starts nothing, and is taken when it comes again', async () => {
			expect(await deliver(trigger.url, form)).toBe(200);
			expect((await itemTaken(trigger)).json.body).toStrictEqual({ status: 'paid', amount: '1' });
		});
	});

	/** The head of a request as it goes over the wire. */
	function headOf(url: string, type: string, length: string): string {
		const { pathname, search, host } = new URL(url);
		return `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`;
	}

	test('a postback by any method is taken', async () => {
		const trigger = await publish();
		const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
		for (const method of methods) expect(await deliver(trigger.url, { method })).toBe(200);
		const taken = (await itemsTaken(trigger, methods.length)).map(({ json }) => json.method);
		expect(taken.sort()).toStrictEqual(methods.sort());
	});
});
