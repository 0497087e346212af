import { randomUUID } from 'node:crypto';
import type { IConnections, ICredentialsHelper, IDataObject, INode } from 'n8n-workflow';
import { Sandbox, type SandboxOptions } from '../../sandbox/service';
import { listen } from '../listen';
import {
	batches,
	CHARGE,
	CONTINUE,
	errorOf,
	ids,
	isRecorded,
	itemsFor,
	outcomes,
	outputOf,
	pay,
	payNode,
	resultsOf,
	RETRY,
	runWorkflow,
	sandbox,
	sourceNode,
	to,
	withSandbox,
	type RunOptions,
} from './engine';

const started: Sandbox[] = [];
/** Another service, for one test. */
async function startSandbox(options: SandboxOptions = {}) {
	const service = await Sandbox.start(options);
	started.push(service);
	return service;
}
withSandbox();
afterEach(async () => {
	await Promise.all(started.splice(0).map(async (each) => await each.close()));
});

/** The ids of all that a service made. */
const madeBy = ({ transactions }: Sandbox) =>
	transactions.map(({ external_id }) => external_id).sort();
/** Id and token of each payment that arrived, in order of the ids. */
const arrivals = ({ received }: Sandbox) =>
	received
		.map(({ body, headers }) => {
			const { external_id } = JSON.parse(body) as { external_id: string };
			return `${external_id} ${headers.authorization}`;
		})
		.sort();

describe('the account that an item is sent with', () => {
	test('is its own where token and address depend on the item', async () => {
		const others = [sandbox, await startSandbox(), await startSandbox()];
		const items = itemsFor(...ids(9)).map((item, index) => ({
			...item,
			token: `token-${index}`,
			url: others[index % 3]!.url,
		}));
		const credential = { baseUrl: '={{ $json.url }}', accessToken: '={{ $json.token }}' };
		const run = await pay(items, { credential });
		expect(outcomes(run)).toStrictEqual(Array(9).fill('accepted'));
		for (const each of others) {
			const itemsOfService = items.filter(({ url }) => url === each.url);
			expect(arrivals(each)).toStrictEqual(
				itemsOfService.map(({ id, token }) => `${id} Bearer ${token}`),
			);
		}
	});

	test.each([
		'={{ $input.all()[$itemIndex]?.json.token ?? "token-A" }}',
		'={{ $itemIndex === 1 ? "token-B" : "token-A" }}',
		'={{ $json.token ?? "token-A" }}',
	])('is the one by default unless the item names another: %s', async (accessToken) => {
		const items = itemsFor(...ids(3)).map((item, index) => ({
			...item,
			...(index === 1 && { token: 'token-B' }),
		}));
		await pay(items, { credential: { accessToken }, settings: CONTINUE });
		expect(arrivals(sandbox)).toStrictEqual(
			items.map(({ id }, index) => `${id} Bearer token-${index === 1 ? 'B' : 'A'}`),
		);
	});

	test.each<{ what: string; stored: IDataObject; overwrite: IDataObject }>([
		{
			what: 'whose field was not stored',
			stored: { accessToken: undefined },
			overwrite: { accessToken: '={{ $json.token }}' },
		},
		{
			what: 'whose field was stored empty',
			stored: { accessToken: '' },
			overwrite: { accessToken: '={{ $json.token }}' },
		},
		// The first item's is what the field has by itself.
		{
			what: 'that gives the first item a default',
			stored: { describeService: true, schemeName: undefined },
			overwrite: { schemeName: '={{ $json.scheme ?? "pay" }}' },
		},
		{
			what: 'that gives the first item nothing',
			stored: { describeService: true, externalIdHeader: '' },
			overwrite: { externalIdHeader: '={{ $json.header ?? "" }}' },
		},
	])(
		'follows an expression that n8n adds (CREDENTIALS_OVERWRITE_DATA), one $what',
		async ({ stored, overwrite }) => {
			const items = itemsFor(...ids(3)).map((item, index) => ({
				...item,
				token: `token-${index}`,
				scheme: index === 0 ? undefined : `scheme-${index}`,
				header: index === 0 ? undefined : `X-Header-${index}`,
			}));
			await pay(items, { credential: stored, overwrite, settings: CONTINUE });
			const sent = sandbox.received.map(({ path, headers }) => ({
				token: headers.authorization,
				scheme: path.split('/')[2],
				header: Object.keys(headers).find((name) => name.startsWith('x-header')),
			}));
			const adds = (name: string) => Object.hasOwn(overwrite, name);
			expect(sent).toStrictEqual(
				items.map(({ token, scheme, header }) => ({
					token: adds('accessToken') ? `Bearer ${token}` : 'Bearer token-of-the-test',
					scheme: adds('schemeName') ? (scheme ?? 'pay') : 'pay',
					header: adds('externalIdHeader') ? header?.toLowerCase() : undefined,
				})),
			);
		},
	);

	test('a limit that n8n adds and that an expression leaves empty lets nothing out', async () => {
		const run = await pay(itemsFor('a', 'b'), {
			credential: { limitPayments: true, highestSum: '100' },
			overwrite: { highestPayment: '={{ $json.most ?? "" }}' },
			settings: CONTINUE,
		});
		expect(outcomes(run)).toStrictEqual(['notSent', 'notSent']);
		expect(sandbox.received).toStrictEqual([]);
	});

	test("a tool's credential may not read the item either where n8n adds what reads it", async () => {
		const run = await pay([{ id: 'a', token: 'token-of-the-item' }], {
			credential: { accessToken: undefined },
			overwrite: { accessToken: '={{ $json.token }}' },
			parameters: { amount: 1, external_id: 'a', options: { allowAiPayments: true } },
			settings: { type: 'n8n-nodes-pay.payTool' },
		});
		expect(resultsOf(run)).toStrictEqual([
			expect.objectContaining({ outcome: 'notSent', field: 'accessToken' }),
		]);
		expect(sandbox.received).toStrictEqual([]);
	});

	/** How n8n answers where it is asked for a credential with its expressions as text. */
	type GetDecrypted = ICredentialsHelper['getDecrypted'];
	const helper = (getDecrypted?: GetDecrypted) => () =>
		({ additionalData: { credentialsHelper: { getDecrypted } } }) as object;
	/** Hands other fields to what resolves them. */
	const handsOver = (fields: IDataObject): GetDecrypted =>
		(async (...[, , , , , , values]) => {
			const { getParameterValue } = values!.workflow.expression as unknown as {
				getParameterValue(given: IDataObject): IDataObject;
			};
			return getParameterValue(fields);
		}) as GetDecrypted;
	test.each<{ n8n: string; context: RunOptions['context'] }>([
		{ n8n: 'gives it', context: undefined },
		{ n8n: 'has no way to it', context: () => ({ additionalData: undefined }) as object },
		{ n8n: 'has no function for it', context: helper(undefined) },
		{ n8n: 'throws', context: helper(async () => await Promise.reject(new Error('not here'))) },
		{
			n8n: 'resolves it in another way',
			context: helper(async () => ({ accessToken: 'token-0' })),
		},
		{
			n8n: 'gives another one',
			context: helper(handsOver({ accessToken: 'token-0', baseUrl: 'https://b.c' })),
		},
		{ n8n: 'gives a part of it', context: helper(handsOver({})) },
	])('each item has its own account where n8n, asked for its text, $n8n', async ({ context }) => {
		const items = itemsFor(...ids(3));
		const accessToken = '={{ "token-" + ($itemIndex === 1 ? 1 : 0) }}';
		await pay(items, { credential: { accessToken }, context });
		expect(arrivals(sandbox)).toStrictEqual(
			items.map(({ id }, index) => `${id} Bearer token-${index === 1 ? 1 : 0}`),
		);
	});

	test.each<[string, RunOptions['context']]>([
		['has no way to it', () => ({ additionalData: undefined }) as object],
		['throws', helper(async () => await Promise.reject(new Error('not here')))],
		['gives a part of it', helper(handsOver({}))],
	])(
		'no payment goes out on an empty limit where n8n, asked for its text, %s',
		async (_n8n, context) => {
			const limits = { limitPayments: true, highestPayment: '100', highestSum: '' };
			const credential = { ...limits, onlyRecipients: 'ana@example.com' };
			const run = await pay(itemsFor('a'), { credential, context, settings: CONTINUE });
			expect(resultsOf(run)).toStrictEqual([
				expect.objectContaining({ outcome: 'notSent', field: 'highestSum' }),
			]);
			expect(sandbox.received).toStrictEqual([]);
		},
	);

	test('each item has its own account where the first one holds the text of the expression', async () => {
		const clientId = '={{$json.client}}';
		const service = await startSandbox({ clientCredentials: { clientId: 'b', clientSecret: 's' } });
		const items = itemsFor(...ids(2)).map((item, index) => ({
			...item,
			client: index === 0 ? clientId : 'b',
		}));
		const credential = {
			baseUrl: service.url,
			tokenUrl: service.tokenUrl,
			authentication: 'clientCredentials',
			clientId,
			clientSecret: 's',
		};
		const run = await pay(items, { credential, settings: CONTINUE });
		expect(outcomes(run)).toStrictEqual(['notSent', 'accepted']);
	});

	test.each<{ when: string; credential: IDataObject; expected: number }>([
		{ when: 'once without an expression', credential: { accessToken: 'token' }, expected: 1 },
		{
			when: 'for each item with one in any field',
			credential: { postbackUrl: '={{ "" }}' },
			expected: 4,
		},
	])('the account is read $when', async ({ credential, expected }) => {
		const read = jest.fn();
		const context: RunOptions['context'] = (real) => ({
			getCredentials: async (...asked) => {
				read();
				return await real.getCredentials(...asked);
			},
		});
		const run = await pay(itemsFor('a', 'b', 'c'), { credential, context });
		expect(outcomes(run)).toStrictEqual(Array(3).fill('accepted'));
		expect(read).toHaveBeenCalledTimes(expected);
	});

	test('has a token of its own where client credentials depend on the item', async () => {
		const clientCredentials = { clientId: 'a', clientSecret: 'secret of a' };
		const service = await startSandbox({ clientCredentials });
		const items = itemsFor(...'1234').map((item, index) => ({ ...item, client: 'ab'[index % 2] }));
		const credential = {
			baseUrl: service.url,
			tokenUrl: service.tokenUrl,
			authentication: 'clientCredentials',
			clientId: '={{ $json.client }}',
			clientSecret: '={{ "secret of " + $json.client }}',
		};
		const run = await pay(items, { credential, settings: CONTINUE }, batches(4));
		expect(outcomes(run)).toStrictEqual(['accepted', 'notSent', 'accepted', 'notSent']);
		expect(madeBy(service)).toStrictEqual(['1', '3']);
		expect(service.tokenRequests).toHaveLength(2);
	});
});

describe('wrong configurations end before a payment is sent, and name the field', () => {
	const CLIENT = { clientId: 'shop', clientSecret: 'the secret of the shop' };
	let service: Sandbox;
	beforeAll(async () => {
		const clientCredentials = { ...CLIENT, scope: 'pay', clientAuthentication: 'header' } as const;
		service = await Sandbox.start({ clientCredentials });
	});
	afterAll(async () => await service.close());
	beforeEach(() => {
		service.received.length = 0;
	});
	const account = (credential: IDataObject) => () => ({ credential });
	const tokens = (more: IDataObject) => () => ({
		credential: {
			authentication: 'clientCredentials',
			tokenUrl: service.tokenUrl,
			...CLIENT,
			...more,
		},
	});
	const parameter = (parameters: IDataObject) => () => ({ parameters });

	// What else each field refuses: test/account, test/fields and values.test.ts.
	test.each<{
		what: string;
		wrong: () => Pick<Partial<RunOptions>, 'credential' | 'parameters'>;
		field: string;
	}>([
		{ what: 'no base URL', wrong: account({ baseUrl: '' }), field: 'baseUrl' },
		{
			what: 'a token URL where nobody is',
			wrong: tokens({ tokenUrl: 'http://127.0.0.1:1/' }),
			field: 'tokenUrl',
		},
		{
			what: 'a wrong client secret',
			wrong: tokens({ clientSecret: 'wrong' }),
			field: 'clientSecret',
		},
		{ what: 'a batch of none', wrong: parameter({ options: batches(0) }), field: 'batchSize' },
		{ what: 'a decimal comma', wrong: parameter({ amount: '10,50' }), field: 'amount' },
	])('$what ends the run before a payment is sent', async ({ wrong, field }) => {
		const items = itemsFor(...ids(3));
		const { credential, parameters } = wrong();
		const more = { credential: { baseUrl: service.url, ...credential }, parameters };
		const stopped = await pay(items, more);
		const error = errorOf(stopped);
		expect(error?.context?.data).toMatchObject({ field });
		expect(error?.context?.externalIds).toMatchObject({ accepted: [], unknown: [], rejected: [] });

		const continued = await pay(items, { ...more, settings: { onError: 'continueErrorOutput' } });
		expect(outputOf(continued, 'Pay')).toStrictEqual([]);
		expect(outputOf(continued, 'Pay', 0, 1).map(({ json }) => json.error)).toStrictEqual(
			items.map(() => expect.objectContaining({ outcome: 'notSent', field })),
		);
		expect(service.received.filter(({ path }) => path.startsWith('/v2/'))).toStrictEqual([]);
		// Nothing of it is remembered, so that it can be corrected.
		expect(items.filter(({ id }) => isRecorded(id))).toStrictEqual([]);
		expect(JSON.stringify([error, stopped, continued])).not.toMatch(
			/the secret of the shop|dGhlK3Nl/,
		);
	});

	test('the control: the right configuration pays', async () => {
		const { credential } = tokens({ scope: 'pay' })();
		const more = { credential: { baseUrl: service.url, ...credential } };
		const run = await pay(itemsFor(...ids(3)), more);
		expect(outcomes(run)).toStrictEqual(Array(3).fill('accepted'));
	});
});

// Which answers do: test/service/judgement.test.ts.
describe('a response that does not confirm (Result Field)', () => {
	const field = (resultField: string, acceptedValues = 'true\r\nok') => ({
		describeService: true,
		resultField,
		acceptedValues,
	});
	const credential = field('success');
	const respondsWith = (body: string) => () => ({ kind: 'status' as const, status: 200, body });

	test('says no in words of its own: the payment is unknown, and never sent again', async () => {
		sandbox.faultFor = respondsWith('{"success":false}');
		const [items, more] = [itemsFor('a'), { credential, settings: RETRY }];
		const run = await pay(items, more);
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'unknown', external_id: 'a' });
		await pay(items, { ...more, previous: run });
		sandbox.faultFor = respondsWith('{"success":true}');
		const next = await pay(items, more);
		expect(errorOf(next)?.context?.data).toMatchObject({ outcome: 'duplicate' });
		expect(sandbox.received).toHaveLength(1);
	});

	const words = { ...field('code', '200'), rejectedValues: '402\nlimit_exceeded' };

	test.each([
		{ what: 'a 200 that says "no funds"', status: 200, body: '{"code":402,"message":"no funds"}' },
		{ what: 'a 409 that says "above your limit"', status: 409, body: '{"code":"LIMIT_EXCEEDED"}' },
	])('$what is a rejection, so it may be sent again', async ({ status, body }) => {
		sandbox.faultFor = () => ({ kind: 'status', status, body });
		const [items, more] = [itemsFor('a'), { credential: words }];
		const run = await pay(items, more);
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'rejected', statusCode: status });
		expect(isRecorded('a')).toBe(false);
		sandbox.faultFor = respondsWith('{"code":200}');
		expect(outcomes(await pay(items, more))).toStrictEqual(['accepted']);
	});

	test('a 422 with a word for yes leaves the payment unknown, so it is not sent again', async () => {
		const credential = { ...field('status', 'done\nprocessing'), rejectedValues: 'refused' };
		sandbox.faultFor = () => ({ kind: 'status', status: 422, body: '{"status":"processing"}' });
		const run = await pay(itemsFor('a'), { credential });
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'unknown', statusCode: 422 });
		expect(isRecorded('a')).toBe(true);
	});

	test('a QR code is unknown too, and may be created again', async () => {
		sandbox.faultFor = respondsWith('{"success":false}');
		const run = await pay(itemsFor('a'), { credential, parameters: CHARGE, settings: RETRY });
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'unknown' });
		expect(sandbox.received).toHaveLength(3);
	});
});

describe('an account that is refused', () => {
	const TEN = itemsFor(...ids(10));
	const refuse = () => ({ kind: 'status', status: 401 }) as const;
	const fresh = () => ({ accessToken: randomUUID() });

	test.each([
		{ what: 'payments', parameters: {} },
		{ what: 'QR codes', parameters: CHARGE },
	])(
		'is not asked for the rest of ten $what, once its token has expired',
		async ({ parameters }) => {
			sandbox.faultFor = refuse;
			const run = await pay(TEN, { credential: fresh(), parameters, settings: CONTINUE });
			expect(sandbox.received).toHaveLength(1);
			const [first, ...others] = resultsOf(run);
			expect(first).toMatchObject({ outcome: 'rejected', statusCode: 401 });
			expect(new Set(others.map(({ outcome }) => outcome))).toStrictEqual(new Set(['notSent']));
			expect(TEN.filter(({ id }) => isRecorded(id))).toStrictEqual([]);
		},
	);

	/** Source -> First -> Second: two Pay nodes of one execution, and of one account. */
	async function payTwice(credential: IDataObject, more: Partial<RunOptions> = {}) {
		const nodes = [
			sourceNode('Source', itemsFor(...ids(1))),
			payNode('First', { amount: 1, external_id: randomUUID() }, CONTINUE),
			payNode('Second', { amount: 1, external_id: randomUUID() }, CONTINUE),
		];
		const connections = { Source: to(['First']), First: to(['Second']) };
		return await runWorkflow({
			parameters: {},
			credential: { baseUrl: sandbox.url, ...credential },
			workflow: { nodes, connections },
			...more,
		});
	}

	test('is not asked again by a second node of the execution, but by another execution', async () => {
		const credential = fresh();
		sandbox.faultFor = refuse;
		const run = await payTwice(credential);
		expect(sandbox.received).toHaveLength(1);
		expect(resultsOf(run, 'Second')).toMatchObject([{ outcome: 'notSent' }]);
		await payTwice(credential);
		expect(sandbox.received).toHaveLength(2);
	});

	// Until when: test/service/retryAfter.test.ts and test/account/standing.test.ts.
	test('is not asked for the rest of ten payments of which the third gets 429', async () => {
		let asked = 0;
		sandbox.faultFor = () =>
			++asked === 3 ? { kind: 'status', status: 429, retryAfter: '30' } : undefined;
		const run = await pay(TEN, { credential: fresh(), settings: CONTINUE }, batches(1));
		expect(sandbox.received).toHaveLength(3);
		expect(outcomes(run).slice(0, 4)).toStrictEqual([
			'accepted',
			'accepted',
			'rejected',
			'notSent',
		]);
		expect(TEN.filter(({ id }) => isRecorded(id))).toHaveLength(2);
	});

	test('is not one whose 401 has one of the Rejected Values, which is about its item alone', async () => {
		sandbox.faultFor = () => ({ kind: 'status', status: 401, body: '{"code":"no funds"}' });
		const words = { describeService: true, resultField: 'code', rejectedValues: 'no funds' };
		const run = await pay(itemsFor(...ids(3)), {
			credential: { ...fresh(), ...words },
			settings: CONTINUE,
		});
		expect(outcomes(run)).toStrictEqual(['rejected', 'rejected', 'rejected']);
		expect(sandbox.received).toHaveLength(3);
	});

	test('stops no item of another account', async () => {
		const [refused, taken] = [randomUUID(), randomUUID()];
		sandbox.faultFor = ({ headers }) =>
			headers.authorization === `Bearer ${refused}` ? refuse() : undefined;
		const tokens = TEN.map((item, index) => ({
			...item,
			token: index % 2 === 0 ? refused : taken,
		}));
		const credential = { accessToken: '={{ $json.token }}' };
		const run = await pay(tokens, { credential, settings: CONTINUE });
		expect(outcomes(run).filter((outcome) => outcome === 'accepted')).toHaveLength(5);
		expect(sandbox.received).toHaveLength(6);
	});

	test.each([
		['200 that says invalid_client', 200, '{"error":"invalid_client"}'],
		['429', 429, '{}'],
		['404', 404, '{}'],
	])(
		'has its token endpoint asked once for ten payments, where that says no with %s',
		async (_, status, body) => {
			let asked = 0;
			const endpoint = await listen((_request, response) => {
				asked++;
				response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
			});
			const credential = {
				baseUrl: (await startSandbox()).url,
				authentication: 'clientCredentials',
				tokenUrl: `${endpoint.url}/`,
				clientId: 'a',
				clientSecret: randomUUID(),
			};
			const run = await pay(TEN, { credential, settings: CONTINUE }, batches(1));
			endpoint.close();
			expect(asked).toBe(1);
			expect(new Set(outcomes(run))).toStrictEqual(new Set(['notSent']));
		},
	);

	test('has its token endpoint asked once for ten payments, where that refuses the client', async () => {
		const service = await startSandbox({
			clientCredentials: { clientId: 'a', clientSecret: 'right' },
		});
		const credential = {
			baseUrl: service.url,
			authentication: 'clientCredentials',
			tokenUrl: service.tokenUrl,
			clientId: 'a',
			clientSecret: randomUUID(),
		};
		const run = await pay(TEN, { credential, settings: CONTINUE }, batches(1));
		expect(service.tokenRequests).toHaveLength(1);
		expect(service.received).toHaveLength(0);
		expect(new Set(outcomes(run))).toStrictEqual(new Set(['notSent']));
	});

	test('with a 403 has a token thrown away that may have expired, and nothing is sent again for it', async () => {
		const service = await startSandbox({
			clientCredentials: { clientId: 'a', clientSecret: 'right' },
		});
		const credential = {
			baseUrl: service.url,
			authentication: 'clientCredentials',
			tokenUrl: service.tokenUrl,
			clientId: 'a',
			clientSecret: 'right',
		};
		service.faultFor = () => ({ kind: 'status', status: 403 });
		const settings = CONTINUE;
		const charge = async (...ids: string[]) =>
			await pay(itemsFor(...ids), { credential, parameters: CHARGE, settings }, batches(1));
		await charge('a', 'b');
		expect(service.received).toHaveLength(2);
		// A new one would get the same.
		expect(service.tokenRequests).toHaveLength(1);
		const now = performance.now.bind(performance);
		const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + 61_000);
		await charge('c', 'd', 'e');
		later.mockRestore();
		expect(service.received).toHaveLength(5);
		expect(service.tokenRequests).toHaveLength(2);
	});
});

describe('tokens by client credentials', () => {
	const SECRET = 'the secret: of+the/shop=';
	async function shop(more: Partial<NonNullable<SandboxOptions['clientCredentials']>> = {}) {
		const clientId = randomUUID();
		const service = await startSandbox({
			schemeName: 'fast',
			clientCredentials: { clientId, clientSecret: SECRET, ...more },
		});
		const credential = {
			describeService: true,
			schemeName: 'fast',
			baseUrl: service.url,
			authentication: 'clientCredentials',
			tokenUrl: service.tokenUrl,
			clientId,
			clientSecret: SECRET,
		};
		return { service, credential };
	}
	/** A shop that has a token already. */
	async function openShop() {
		const opened = await shop();
		await pay(itemsFor(...ids(1)), { credential: opened.credential });
		opened.service.received.length = 0;
		return opened;
	}
	const refuse = () => ({ kind: 'status', status: 401 }) as const;

	test('a token that is revoked in mid-run: those in flight are rejected, later ones have a new token', async () => {
		const { service, credential } = await shop();
		const list = ids(60);
		let requests = 0;
		service.faultFor = () => {
			if (++requests === 25) service.revokeTokens();
			return undefined;
		};
		const items = itemsFor(...list);
		const run = await pay(items, { credential, settings: CONTINUE }, batches(10));
		// None is repeated by itself: a gateway may answer a 401 to what was carried out.
		expect(service.received).toHaveLength(60);
		const rejected = outcomes(run).filter((outcome) => outcome === 'rejected').length;
		expect(rejected).toBeGreaterThan(0);
		expect(rejected).toBeLessThanOrEqual(10);
		expect(madeBy(service)).toHaveLength(60 - rejected);
		expect(service.tokenRequests).toHaveLength(2);
		await pay(items, { credential, settings: CONTINUE }, batches(10));
		expect(madeBy(service)).toStrictEqual([...list].sort());
	});

	test.each([401, 403])(
		'Retry On Fail sends a payment with a %d no second time; the editor and a new run do',
		async (status) => {
			const { service, credential } = await shop();
			// A gateway that says no to what the service behind it has carried out.
			let isFirst = true;
			service.faultFor = () => {
				if (!isFirst) return undefined;
				isFirst = false;
				return { kind: 'status', status } as const;
			};
			const run = await pay(itemsFor('a'), { credential, settings: RETRY });
			expect(errorOf(run)?.context?.data).toMatchObject({
				outcome: 'rejected',
				statusCode: status,
			});
			expect(service.received).toHaveLength(1);
			expect(isRecorded('a')).toBe(false);
			const retried = await pay(itemsFor('a'), { credential, settings: RETRY, previous: run });
			expect(outcomes(retried)).toStrictEqual(['accepted']);
			expect(service.received).toHaveLength(2);
		},
	);

	const again = { amount: 1, external_id: '={{ $json.id ?? $json.error.external_id }}' };
	const toErrors = { onError: 'continueErrorOutput' } as const;
	const first = payNode('Pay', again, toErrors);
	// Each with each of these tokens, and after a 401 as after a 403: test/run/ledger.test.ts.
	const WAYS: Array<{
		way: string;
		token: string;
		open: () => Promise<{ service: Sandbox; credential: IDataObject }>;
		status: 401 | 403;
		nodes: INode[];
		connections: IConnections;
		last: { node: string; run: number };
	}> = [
		{
			way: 'A loop back to its node',
			token: 'was pasted',
			open: async () => ({ service: sandbox, credential: { accessToken: randomUUID() } }),
			status: 401,
			nodes: [first, sourceNode('Once', '={{ $runIndex === 0 ? [{ id: "a" }] : [] }}')],
			connections: { Pay: to([], ['Once']), Once: to(['Pay']) },
			last: { node: 'Pay', run: 1 },
		},
		{
			way: 'A second node behind it',
			token: 'was fetched for it',
			open: shop,
			status: 403,
			nodes: [first, payNode('Second', again, toErrors)],
			connections: { Pay: to([], ['Second']) },
			last: { node: 'Second', run: 0 },
		},
		{
			way: 'A second node that pays another amount',
			token: 'an earlier payment fetched',
			open: openShop,
			status: 401,
			nodes: [first, payNode('Second', { ...again, amount: 2 }, toErrors)],
			connections: { Pay: to([], ['Second']) },
			last: { node: 'Second', run: 0 },
		},
	];
	test.each(WAYS)(
		'$way sends a payment that got $status no second time, with a token that $token; a new run does',
		async ({ open, status, nodes, connections, last }) => {
			const { service, credential } = await open();
			let requests = 0;
			service.faultFor = () => (++requests === 1 ? { kind: 'status', status } : undefined);
			const workflow = {
				nodes: [sourceNode('Source', [{ id: 'a' }]), ...nodes],
				connections: { Source: to(['Pay']), ...connections },
			};
			const run = await pay([], { credential, workflow });
			expect(service.received).toHaveLength(1);
			const [refused] = outputOf(run, last.node, last.run, 1);
			expect(refused?.json.error).toMatchObject({ external_id: 'a', outcome: 'duplicate' });
			expect(isRecorded('a')).toBe(false);
			await pay(itemsFor('a'), { credential: { ...credential, accessToken: randomUUID() } });
			expect(service.received).toHaveLength(2);
		},
	);

	test('a QR code after whose 401 there is no other token is rejected with the words of the 401', async () => {
		const { service, credential } = await openShop();
		service.faultFor = refuse;
		service.tokenFaultFor = () => ({ kind: 'status', status: 503 });
		const run = await pay(itemsFor('a'), { credential, parameters: CHARGE });
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'rejected', statusCode: 401 });
		expect(service.tokenRequests).toHaveLength(2);
	});

	test('neither secrets nor tokens are in what a run leaves behind, echoed or not', async () => {
		const { service, credential } = await shop();
		const seen = new Set<string>();
		let requests = 0;
		service.faultFor = ({ headers }) => {
			seen.add(String(headers.authorization));
			requests++;
			if (requests === 4) service.revokeTokens();
			const echo = JSON.stringify({ headers, said: `${headers.authorization}` });
			if (requests % 3 === 0) return { kind: 'status', status: 422, body: echo };
			return requests % 3 === 1 ? { kind: 'status', status: 200, body: echo } : undefined;
		};
		const printed: string[] = [];
		const spies = (['log', 'warn', 'error', 'info', 'debug'] as const).map((method) =>
			jest.spyOn(console, method).mockImplementation((...all) => void printed.push(all.join(' '))),
		);
		const leftInRuns: string[] = [];
		for (const settings of [CONTINUE, {}]) {
			const run = await pay(itemsFor(...ids(12)), { credential, settings }, batches(4));
			// The credential is the test's own input, not what the run leaves behind.
			const error = errorOf(run);
			leftInRuns.push(JSON.stringify(run), String(error?.stack), JSON.stringify(error ?? {}));
		}
		spies.forEach((spy) => spy.mockRestore());
		const left = [...leftInRuns, ...printed].join('\n');
		const tokens = service.tokens!.given;
		expect(tokens.length).toBeGreaterThan(0);
		const sent = [...seen].map((header) => header.replace('Bearer ', ''));
		// The control: the echo is there, with the token taken out.
		expect(left).toContain('Bearer ***');
		for (const secret of [...sent, ...tokens, SECRET]) {
			expect(secret.length).toBeGreaterThan(8);
			expect(left).not.toContain(secret);
			expect(left).not.toContain(Buffer.from(secret).toString('base64'));
		}
	});
});

describe('the header for the External ID', () => {
	const credential = { describeService: true, externalIdHeader: 'Idempotency-Key' };
	const keys = () => sandbox.received.map(({ headers }) => headers['idempotency-key']);

	test('carries the id of each request, and is absent where the credential names none', async () => {
		const run = await pay(itemsFor('a', 'b', 'c'), { credential });
		expect(outcomes(run)).toStrictEqual(['accepted', 'accepted', 'accepted']);
		expect(keys().sort()).toStrictEqual(['a', 'b', 'c']);
		sandbox.received.length = 0;
		await pay(itemsFor('d'), { parameters: CHARGE, credential });
		await pay(itemsFor('d'), { parameters: CHARGE });
		expect(keys()).toStrictEqual(['d', undefined]);
	});

	test('an id that no header can carry is refused before anything of it is sent', async () => {
		const more = { credential, settings: CONTINUE };
		const run = await pay(itemsFor('payout-1', 'größe-1'), more);
		expect(outcomes(run)).toStrictEqual(['accepted', 'notSent']);
		expect(resultsOf(run)[1]).toMatchObject({ field: 'external_id' });
		expect(keys()).toStrictEqual(['payout-1']);
		expect(isRecorded('größe-1')).toBe(false);
	});
});
