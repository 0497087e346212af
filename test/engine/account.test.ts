import { randomUUID } from 'node:crypto';
import type { IDataObject, IRun } from 'n8n-workflow';
import { Sandbox, type SandboxOptions } from '../../sandbox/service';
import { errorOf, forget, isRecorded, outputOf, runWorkflow, type RunOptions } from './engine';

const open: Sandbox[] = [];
async function startSandbox(options: SandboxOptions = {}) {
	const sandbox = await Sandbox.start(options);
	open.push(sandbox);
	return sandbox;
}
let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await startSandbox();
});
afterEach(async () => {
	await Promise.all(open.splice(1).map(async (each) => await each.close()));
	sandbox.faultFor = undefined;
	forget();
});
afterAll(async () => await sandbox.close());
beforeEach(() => {
	sandbox.received.length = 0;
});

const FIELDS = { amount: 1, external_id: '={{ $json.id }}' };
const ids = (count: number) =>
	Array.from({ length: count }, (_, index) => `${index}-${randomUUID()}`);
const continuing = { onError: 'continueRegularOutput' } as const;
const batches = (batchSize: number) => ({ batching: { batch: { batchSize } } });

async function pay(items: IDataObject[], more: Partial<RunOptions>, options: IDataObject = {}) {
	return await runWorkflow({ items, parameters: { ...FIELDS, options }, ...more });
}
const outcomes = (run: IRun) =>
	outputOf(run, 'Pay').map(
		({ json }) => (json.error as IDataObject | undefined)?.outcome ?? json.outcome,
	);
/** Id and token of each payment that arrived, in order of the ids. */
const arrivals = ({ received }: Sandbox) =>
	received
		.map(({ body, headers }) => {
			const { external_id } = JSON.parse(body) as { external_id: string };
			return `${external_id} ${headers.authorization}`;
		})
		.sort();

describe('whose account an item is sent with', () => {
	test.each([1, 10])(
		'tokens and addresses that depend on the item: each goes to its own, %d at a time',
		async (batchSize) => {
			const others = [sandbox, await startSandbox(), await startSandbox()];
			const items = ids(9).map((id, index) => ({
				id,
				token: `token-${index}`,
				url: others[index % 3]!.url,
			}));
			const run = await pay(
				items,
				{ credential: { baseUrl: '={{ $json.url }}', accessToken: '={{ $json.token }}' } },
				batches(batchSize),
			);
			expect(outcomes(run)).toStrictEqual(Array(9).fill('accepted'));
			for (const each of others) {
				const own = items.filter(({ url }) => url === each.url);
				expect(arrivals(each)).toStrictEqual(own.map(({ id, token }) => `${id} Bearer ${token}`));
			}
		},
	);

	test.each([2, 3, 4, 5])(
		'of %d items, tokens by turns: none goes with the token of another',
		async (count) => {
			const items = ids(count).map((id) => ({ id }));
			const accessToken = '={{ "token-" + $itemIndex % 2 }}';
			await pay(items, { credential: { baseUrl: sandbox.url, accessToken } });
			expect(arrivals(sandbox)).toStrictEqual(
				items.map(({ id }, index) => `${id} Bearer token-${index % 2}`),
			);
		},
	);

	test.each([
		'={{ $input.all()[$itemIndex]?.json.token ?? "token-A" }}',
		'={{ $("Source").all()[$itemIndex]?.json.token ?? "token-A" }}',
		'={{ $itemIndex === 1 ? "token-B" : "token-A" }}',
		'={{ ["token-A", "token-B"][$itemIndex] ?? "token-A" }}',
		'={{ $json.token ?? "token-A" }}',
	])('an account by default, unless the item names one: %s', async (accessToken) => {
		const items = ids(3).map((id, index) => ({ id, ...(index === 1 ? { token: 'token-B' } : {}) }));
		await pay(items, { credential: { baseUrl: sandbox.url, accessToken }, settings: continuing });
		for (const arrival of arrivals(sandbox)) {
			const index = items.findIndex(({ id }) => arrival.startsWith(id));
			expect(arrival).toBe(`${items[index]!.id} Bearer token-${index === 1 ? 'B' : 'A'}`);
		}
		expect(arrivals(sandbox)).toHaveLength(3);
	});

	/** What n8n gives in place of the credential as it was typed. */
	const helper = (getDecrypted: unknown) => () =>
		({ additionalData: { credentialsHelper: { getDecrypted } } }) as object;
	const resolved = { baseUrl: '', accessToken: 'token-0', isResolved: true };
	test.each<[string, RunOptions['context']]>([
		['gives it', undefined],
		['has no way to it', () => ({ additionalData: undefined }) as object],
		['has no function for it', helper(undefined)],
		['throws', helper(async () => await Promise.reject(new Error('not here')))],
		['resolves it all the same', helper(async () => ({ ...resolved, baseUrl: sandbox.url }))],
		['gives another one', helper(async () => ({ accessToken: 'token-0', baseUrl: 'https://b.c' }))],
	])(
		'each item has its own account where n8n, asked for what was typed, %s',
		async (_n8n, context) => {
			const items = ids(3).map((id) => ({ id }));
			const accessToken = '={{ "token-" + ($itemIndex === 1 ? 1 : 0) }}';
			// As n8n fills it in.
			const filledIn = context === undefined ? {} : { isResolved: true };
			const credential = { baseUrl: sandbox.url, accessToken, ...filledIn };
			await pay(items, { credential, context });
			expect(arrivals(sandbox)).toStrictEqual(
				items.map(({ id }, index) => `${id} Bearer token-${index === 1 ? 1 : 0}`),
			);
		},
	);

	test.each<[string, IDataObject, number]>([
		['once without an expression', { accessToken: 'token' }, 1],
		['for each item with one in any field', { accessToken: 'token', scope: '={{ "" }}' }, 4],
	])('the account is read %s', async (_when, credential, expected) => {
		const read = jest.fn();
		const context: RunOptions['context'] = (real) => ({
			getCredentials: async (...asked) => {
				read();
				return await real.getCredentials(...asked);
			},
		});
		const run = await pay(
			ids(3).map((id) => ({ id })),
			{ credential: { baseUrl: sandbox.url, ...credential }, context },
		);
		expect(outcomes(run)).toStrictEqual(Array(3).fill('accepted'));
		expect(read).toHaveBeenCalledTimes(expected);
	});

	test('client credentials that depend on the item: one token each, none for another', async () => {
		const service = await startSandbox({
			clientCredentials: { clientId: 'a', clientSecret: 'secret of a' },
		});
		const items = ids(4).map((id, index) => ({ id, client: index % 2 === 0 ? 'a' : 'b' }));
		const run = await pay(
			items,
			{
				credential: {
					baseUrl: service.url,
					authentication: 'clientCredentials',
					tokenUrl: service.tokenUrl,
					clientId: '={{ $json.client }}',
					clientSecret: '={{ "secret of " + $json.client }}',
				},
				settings: continuing,
			},
			batches(4),
		);
		expect(outcomes(run)).toStrictEqual(['accepted', 'notSent', 'accepted', 'notSent']);
		expect(service.transactions.map(({ external_id }) => external_id).sort()).toStrictEqual([
			items[0]!.id,
			items[2]!.id,
		]);
		expect(service.tokenRequests).toHaveLength(2);
	});

	test('an item without an account fails alone, before it is sent', async () => {
		const items = ids(3).map((id, index) => ({ id, ...(index !== 1 && { token: `t${index}` }) }));
		const run = await pay(items, {
			credential: { baseUrl: sandbox.url, accessToken: '={{ $json.token }}' },
			settings: continuing,
		});
		expect(outcomes(run)).toStrictEqual(['accepted', 'notSent', 'accepted']);
		expect(arrivals(sandbox)).toStrictEqual([
			`${items[0]!.id} Bearer t0`,
			`${items[2]!.id} Bearer t2`,
		]);
	});

	test.each([
		['static', 'a-token', 'a-token'],
		['$now', '={{ "token-" + $now.year }}', `token-${new Date().getFullYear()}`],
		['$vars', '={{ $vars.token }}', 'token-of-a-variable'],
	])('all items go with a %s credential', async (_what, accessToken, token) => {
		const credential = { baseUrl: sandbox.url, accessToken };
		const items = ids(5).map((id) => ({ id }));
		expect(outcomes(await pay(items, { credential }))).toStrictEqual(Array(5).fill('accepted'));
		expect(arrivals(sandbox)).toStrictEqual(items.map(({ id }) => `${id} Bearer ${token}`));
	});
});

describe('wrong configurations end before a payment is sent, and name the field', () => {
	const CLIENT = {
		authentication: 'clientCredentials',
		clientId: 'shop',
		clientSecret: 'the secret of the shop',
	};
	let service: Sandbox;
	beforeAll(async () => {
		service = await Sandbox.start({
			clientCredentials: { ...CLIENT, scope: 'pay', clientAuthentication: 'header' },
		});
	});
	afterAll(async () => await service.close());
	beforeEach(() => {
		service.received.length = 0;
	});

	type Row = [
		string,
		(service: Sandbox) => { credential?: IDataObject; options?: IDataObject },
		string,
		RegExp,
	];
	const withToken = (more: IDataObject) => (service: Sandbox) => ({
		credential: { ...CLIENT, tokenUrl: service.tokenUrl, ...more },
	});
	const rows: Row[] = [
		['no base URL', () => ({ credential: { baseUrl: '' } }), 'baseUrl', /Base URL/],
		[
			'a base URL without https',
			() => ({ credential: { baseUrl: 'http://pay.example.com' } }),
			'baseUrl',
			/Base URL/,
		],
		[
			'a base URL with a query',
			({ url }) => ({ credential: { baseUrl: `${url}/?a=1` } }),
			'baseUrl',
			/Base URL/,
		],
		[
			'the path of another scheme in the base URL',
			({ url }) => ({ credential: { baseUrl: `${url}/v2/fast/payment` } }),
			'schemeName',
			/Scheme Name in Paths is "pay"/,
		],
		[
			'an empty scheme name',
			() => ({ credential: { schemeName: '' } }),
			'schemeName',
			/Scheme Name/,
		],
		[
			'a scheme name of two segments',
			() => ({ credential: { schemeName: 'pay/other' } }),
			'schemeName',
			/Scheme Name/,
		],
		[
			'a scheme name that climbs',
			() => ({ credential: { schemeName: '..' } }),
			'schemeName',
			/Scheme Name/,
		],
		[
			'an unknown authentication',
			() => ({ credential: { authentication: 'basic' } }),
			'authentication',
			/Authentication/,
		],
		['no access token', () => ({ credential: { accessToken: '' } }), 'accessToken', /Access Token/],
		[
			'"Bearer" alone as the token',
			() => ({ credential: { accessToken: 'Bearer ' } }),
			'accessToken',
			/Access Token/,
		],
		[
			'a token of two lines',
			() => ({ credential: { accessToken: 'a\nb' } }),
			'accessToken',
			/Access Token/,
		],
		['no token URL', withToken({ tokenUrl: '' }), 'tokenUrl', /Token URL/],
		[
			'a token URL without https',
			withToken({ tokenUrl: 'http://id.example.com' }),
			'tokenUrl',
			/Token URL/,
		],
		[
			'a token URL with a password',
			withToken({ tokenUrl: 'https://a:b@id.example.com' }),
			'tokenUrl',
			/Token URL/,
		],
		[
			'a token URL where nobody is',
			withToken({ tokenUrl: 'http://127.0.0.1:1/token' }),
			'tokenUrl',
			/token endpoint cannot be reached/,
		],
		[
			'a token URL that is none',
			(service) => withToken({ tokenUrl: `${service.url}/nothing` })(service),
			'tokenUrl',
			/no token endpoint at this address/,
		],
		['no client ID', withToken({ clientId: '' }), 'clientId', /Client ID/],
		['no client secret', withToken({ clientSecret: ' ' }), 'clientSecret', /Client Secret/],
		[
			'a wrong client secret',
			withToken({ clientSecret: 'wrong' }),
			'clientSecret',
			/refused the client/,
		],
		['a wrong scope', withToken({ scope: 'everything' }), 'scope', /refused the scope/],
		[
			'secrets sent in the wrong way',
			withToken({ clientAuthentication: 'body' }),
			'clientSecret',
			/refused the client/,
		],
		[
			'an unknown way to send secrets',
			withToken({ clientAuthentication: 'query' }),
			'clientAuthentication',
			/Client Authentication/,
		],
		[
			'an acceptance without values',
			() => ({ credential: { describeService: true, acceptedField: 'success' } }),
			'acceptedField',
			/Accepted When Field .* must both be there/,
		],
		[
			'an acceptance without a field',
			() => ({ credential: { describeService: true, acceptedValues: 'true' } }),
			'acceptedField',
			/Accepted When Field/,
		],
		[
			'words for paid without a field',
			() => ({ credential: { describeService: true, paidValues: 'paid' } }),
			'statusField',
			/Status Field/,
		],
		[
			'additional members that are no JSON',
			() => ({ options: { additionalMembers: '{' } }),
			'additionalMembers',
			/Additional Members/,
		],
		[
			'an additional amount',
			() => ({ options: { additionalMembers: '{"amount":2}' } }),
			'additionalMembers',
			/Additional Members .*"amount"/,
		],
		[
			'a postback URL that is none',
			() => ({ credential: { postbackUrl: 'here' } }),
			'postbackUrl',
			/[Pp]ostback URL/i,
		],
	];

	test.each(rows)('%s', async (_what, configure, field, message) => {
		const { credential, options } = configure(service);
		const list = ids(3);
		const run = await pay(
			list.map((id) => ({ id })),
			{ credential: { baseUrl: service.url, ...credential } },
			options,
		);
		const error = errorOf(run);
		expect(error?.message).toMatch(message);
		expect(error?.context?.data).toMatchObject({ field });
		expect(error?.context?.externalIds).toMatchObject({ accepted: [], unknown: [], rejected: [] });
		expect(service.received.filter(({ path }) => path.startsWith('/v2/'))).toStrictEqual([]);
		// Nothing of it is remembered, so that it can be corrected.
		expect(list.filter(isRecorded)).toStrictEqual([]);
		expect(JSON.stringify([error, run])).not.toMatch(/the secret of the shop|dGhlK3Nl/);
	});

	test('the control: the right configuration pays', async () => {
		const { credential } = withToken({ scope: 'pay' })(service);
		const run = await pay(
			ids(3).map((id) => ({ id })),
			{ credential: { baseUrl: service.url, ...credential } },
		);
		expect(outcomes(run)).toStrictEqual(Array(3).fill('accepted'));
	});
});

describe('an answer that does not confirm (Accepted When Field)', () => {
	const CONFIRMED = {
		describeService: true,
		acceptedField: 'success',
		acceptedValues: 'true\r\nok',
	};
	const account = (fields: IDataObject = CONFIRMED) => ({ baseUrl: sandbox.url, ...fields });
	const answer = (body: string) => () => ({ kind: 'status' as const, status: 200, body });

	test.each([
		['false', '{"success":false}'],
		['no such field', '{"ok":true}'],
		['null', '{"success":null}'],
		['an object', '{"success":{"true":true}}'],
		['a list', '{"success":["true"]}'],
		['no JSON', 'success: true'],
		['a page', '<html>success true</html>'],
		['nothing', ''],
	])('%s: the payment is unknown, and never sent again', async (_what, body) => {
		sandbox.faultFor = answer(body);
		const [id] = ids(1) as [string];
		const more: Partial<RunOptions> = {
			credential: account(),
			settings: { retryOnFail: true, maxTries: 4 },
		};
		const run = await pay([{ id }], more);
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'unknown', external_id: id });
		expect(errorOf(run)?.description).toMatch(/"success" does not confirm/);
		await pay([{ id }], { ...more, previous: run });
		sandbox.faultFor = answer('{"success":true}');
		const next = await pay([{ id }], more);
		expect(errorOf(next)?.context?.data).toMatchObject({ outcome: 'duplicate' });
		expect(sandbox.received).toHaveLength(1);
	});

	test.each([
		['true', '{"success":true}', CONFIRMED],
		['"true"', '{"success":"true"}', CONFIRMED],
		['another case, of name and value', '{"Success":"TRUE"}', CONFIRMED],
		[
			'its field as the output shows it',
			'{"success":true}',
			{ ...CONFIRMED, acceptedField: 'response.success' },
		],
		[
			'a number, one level down',
			'{"data":{"code":0}}',
			{ ...CONFIRMED, acceptedField: 'data.code', acceptedValues: '0\n1' },
		],
	])('%s: it is accepted', async (_what, body, some) => {
		sandbox.faultFor = answer(body);
		const run = await pay([{ id: ids(1)[0]! }], { credential: account(some) });
		expect(outcomes(run)).toStrictEqual(['accepted']);
	});

	test('a refusal stays one, whatever its body says', async () => {
		sandbox.faultFor = () => ({ kind: 'status', status: 422, body: '{"success":true}' });
		const more = { credential: account(), settings: continuing };
		expect(outcomes(await pay([{ id: ids(1)[0]! }], more))).toStrictEqual(['rejected']);
	});

	test('a QR code is unknown too, and may be created again', async () => {
		sandbox.faultFor = answer('{"success":false}');
		const run = await runWorkflow({
			credential: account(),
			items: [{ id: 'a' }],
			parameters: { ...FIELDS, resource: 'qrCode' },
			settings: { retryOnFail: true, maxTries: 3 },
		});
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'unknown' });
		expect(errorOf(run)?.description).toMatch(/A second QR code does no harm: it is safe/);
		expect(sandbox.received).toHaveLength(3);
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
			baseUrl: service.url,
			schemeName: 'fast',
			authentication: 'clientCredentials',
			tokenUrl: service.tokenUrl,
			clientId,
			clientSecret: SECRET,
		};
		return { service, credential };
	}
	const madeBy = ({ transactions }: Sandbox) =>
		transactions.map(({ external_id }) => external_id).sort();

	test('60 payments, 10 at a time, are made with one token', async () => {
		const { service, credential } = await shop();
		const list = ids(60);
		const run = await pay(
			list.map((id) => ({ id })),
			{ credential },
			batches(10),
		);
		expect(outcomes(run)).toStrictEqual(Array(60).fill('accepted'));
		expect(madeBy(service)).toStrictEqual([...list].sort());
		expect(service.tokenRequests).toHaveLength(1);
	});

	test('a token that is revoked in mid-run: those in flight are rejected, later ones have a new token', async () => {
		const { service, credential } = await shop();
		const list = ids(60);
		let requests = 0;
		service.faultFor = () => {
			if (++requests === 25) service.revokeTokens();
			return undefined;
		};
		const items = list.map((id) => ({ id }));
		const run = await pay(items, { credential, settings: continuing }, batches(10));
		// None is repeated by itself: a gateway may answer a 401 to what was carried out.
		expect(service.received).toHaveLength(60);
		const rejected = outcomes(run).filter((outcome) => outcome === 'rejected').length;
		expect(rejected).toBeGreaterThan(0);
		expect(rejected).toBeLessThanOrEqual(10);
		expect(madeBy(service)).toHaveLength(60 - rejected);
		expect(service.tokenRequests).toHaveLength(2);
		await pay(items, { credential, settings: continuing }, batches(10));
		expect(madeBy(service)).toStrictEqual([...list].sort());
	});

	test('a gateway that answers 401 to what was carried out: it is paid once, and told rejected', async () => {
		const { service, credential } = await shop();
		await pay([{ id: ids(1)[0]! }], { credential });
		service.received.length = 0;
		service.faultFor = () => ({ kind: 'status', status: 401 });
		const run = await pay([{ id: ids(1)[0]! }], { credential, settings: continuing });
		expect(outcomes(run)).toStrictEqual(['rejected']);
		expect(service.received).toHaveLength(1);
	});

	test('a pasted token that is refused: rejected, and sent once', async () => {
		sandbox.faultFor = () => ({ kind: 'status', status: 401 });
		const list = ids(3);
		const run = await pay(
			list.map((id) => ({ id })),
			{ credential: { baseUrl: sandbox.url }, settings: continuing },
		);
		expect(outcomes(run)).toStrictEqual(Array(3).fill('rejected'));
		expect(sandbox.received).toHaveLength(3);
	});

	test('a 401 with a token that was just got: rejected, and not sent again', async () => {
		const { service, credential } = await shop();
		service.faultFor = () => ({ kind: 'status', status: 401 });
		const run = await pay([{ id: ids(1)[0]! }], { credential, settings: continuing });
		expect(outcomes(run)).toStrictEqual(['rejected']);
		expect(service.received).toHaveLength(1);
		expect(service.tokenRequests).toHaveLength(1);
	});

	test('a service that refuses every token: each QR code goes out twice at most', async () => {
		const { service, credential } = await shop();
		await pay([{ id: ids(1)[0]! }], { credential });
		service.received.length = 0;
		service.faultFor = () => ({ kind: 'status', status: 401 });
		const run = await pay(
			ids(10).map((id) => ({ id })),
			{ credential, settings: continuing, parameters: { ...FIELDS, resource: 'qrCode' } },
		);
		expect(outcomes(run)).toStrictEqual(Array(10).fill('rejected'));
		expect(service.received).toHaveLength(20);
		expect(service.tokenRequests).toHaveLength(2);
	});

	test('an endpoint that gives the refused token once more: the request is not repeated', async () => {
		const { service, credential } = await shop();
		service.tokenFaultFor = () => ({
			kind: 'status',
			status: 200,
			body: '{"access_token":"always-the-same","expires_in":3600}',
		});
		const run = await pay(
			ids(3).map((id) => ({ id })),
			{ credential, settings: continuing },
			batches(1),
		);
		expect(outcomes(run)).toStrictEqual(Array(3).fill('rejected'));
		expect(service.received).toHaveLength(3);
	});

	test('a QR code: the answer to the second request is what counts, lost means unknown', async () => {
		const { service, credential } = await shop();
		await pay([{ id: ids(1)[0]! }], { credential });
		let requests = 0;
		service.faultFor = () =>
			++requests === 1 ? { kind: 'status', status: 401 } : { kind: 'reset-after-body' };
		const [id] = ids(1) as [string];
		const parameters = { ...FIELDS, resource: 'qrCode' };
		const run = await pay([{ id }], { credential, parameters });
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'unknown' });
		expect(requests).toBe(2);
	});

	test('no other token after a 401 to a QR code: rejected with the words of the 401', async () => {
		const { service, credential } = await shop();
		await pay([{ id: ids(1)[0]! }], { credential });
		service.faultFor = () => ({ kind: 'status', status: 401 });
		service.tokenFaultFor = () => ({ kind: 'status', status: 503 });
		const parameters = { ...FIELDS, resource: 'qrCode' };
		const run = await pay([{ id: ids(1)[0]! }], { credential, parameters });
		expect(errorOf(run)?.context?.data).toMatchObject({ outcome: 'rejected', statusCode: 401 });
		expect(service.tokenRequests).toHaveLength(2);
	});

	test('cancelled while a token is awaited: nothing is sent any more', async () => {
		const { service, credential } = await shop();
		let cancel = () => {};
		service.tokenFaultFor = () => {
			cancel();
			return { kind: 'delay', ms: 50 };
		};
		const [id] = ids(1) as [string];
		const onStart = (how: () => void) => (cancel = how);
		const run = await pay([{ id }], { credential, onStart, settings: continuing });
		expect(run.status).toBe('canceled');
		// The node goes on in the background: it is done once the record of its payment is gone.
		for (let turn = 0; turn < 200 && (turn === 0 || isRecorded(id)); turn++) {
			await new Promise((resolve) => setTimeout(resolve, 10));
		}
		expect(isRecorded(id)).toBe(false);
		expect(service.tokenRequests).toHaveLength(1);
		expect(service.received).toHaveLength(0);
	});

	test('neither secrets nor tokens are in what a run leaves behind, echoed or not', async () => {
		const { service, credential } = await shop();
		const list = ids(12);
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
		const kept: string[] = [];
		for (const settings of [continuing, {}]) {
			const run = await pay(
				list.map((id) => ({ id: id + kept.length })),
				{ credential, settings },
				batches(4),
			);
			// The credential is the test's own input, not what the run leaves behind.
			kept.push(
				JSON.stringify(run),
				String(errorOf(run)?.stack),
				JSON.stringify(errorOf(run) ?? {}),
			);
		}
		spies.forEach((spy) => spy.mockRestore());
		const left = [...kept, ...printed].join('\n');
		const tokens = service.tokens!.given;
		expect(tokens.length).toBeGreaterThan(0);
		const secrets = [
			...[...seen].map((header) => header.replace('Bearer ', '')),
			...tokens,
			SECRET,
		];
		// The control: the echo is there, with the token taken out.
		expect(left).toContain('Bearer ***');
		for (const secret of secrets) {
			expect(secret.length).toBeGreaterThan(8);
			expect(left).not.toContain(secret);
			expect(left).not.toContain(Buffer.from(secret).toString('base64'));
		}
	});

	test('a service that counts one token as active: two clients in one process share it', async () => {
		const { service, credential } = await shop({ oneActiveToken: true });
		const lists = [ids(20), ids(20)];
		const runs = await Promise.all(
			lists.map(
				async (list) =>
					await pay(
						list.map((id) => ({ id })),
						{ credential },
						batches(5),
					),
			),
		);
		for (const run of runs) expect(outcomes(run)).toStrictEqual(Array(20).fill('accepted'));
		expect(madeBy(service)).toStrictEqual(lists.flat().sort());
		expect(service.tokenRequests).toHaveLength(1);
	});
});

describe('the header for the External ID', () => {
	const credential = () => ({ baseUrl: sandbox.url, accessToken: 'token' });

	test('carries the id of each request, and is absent where the credential names none', async () => {
		const items = ids(3).map((id) => ({ id }));
		const externalIdHeader = 'Idempotency-Key';
		const run = await pay(items, { credential: { ...credential(), externalIdHeader } });
		expect(outcomes(run)).toStrictEqual(['accepted', 'accepted', 'accepted']);
		const keys = sandbox.received.map(({ headers }) => headers['idempotency-key']);
		expect(keys.sort()).toStrictEqual(items.map(({ id }) => id));
		sandbox.received.length = 0;
		const parameters = { ...FIELDS, resource: 'qrCode', options: {} };
		const more = { items: items.slice(0, 1), parameters };
		await runWorkflow({ ...more, credential: { ...credential(), externalIdHeader } });
		await runWorkflow({ ...more, credential: credential() });
		expect(sandbox.received.map(({ headers }) => headers['idempotency-key'])).toStrictEqual([
			items[0]!.id,
			undefined,
		]);
	});

	test('an id that no header can carry is refused before anything of it is sent', async () => {
		const items = [{ id: 'payout-1' }, { id: 'größe-1' }];
		const run = await pay(items, {
			credential: { ...credential(), externalIdHeader: 'Idempotency-Key' },
			settings: continuing,
		});
		expect(outcomes(run)).toStrictEqual(['accepted', 'notSent']);
		const [, refused] = outputOf(run, 'Pay');
		expect(refused!.json.error).toMatchObject({
			message:
				'"größe-1" cannot be sent in the header Idempotency-Key, which takes only plain letters, digits and signs (ASCII)',
			field: 'external_id',
		});
		expect(sandbox.received).toHaveLength(1);
		expect(isRecorded('größe-1')).toBe(false);
	});
});
