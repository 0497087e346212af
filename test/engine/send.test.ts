import type { IDataObject } from 'n8n-workflow';
import {
	batches,
	errorOf,
	forget,
	isRecorded,
	outcomes,
	payNode,
	resultsOf,
	sourceNode,
	storeHooks,
	to,
	type RunOptions,
} from './engine';
import {
	lost,
	newClient,
	noConnection,
	ok,
	send,
	Service,
	status,
	until,
	type Answer,
} from './service';

/* What goes out, with which token, and what stays recorded. */

/** Lets everything else go on that needs no clock; so a busy machine changes nothing. */
async function turns(count = 100) {
	let left = count;
	await until(() => left-- === 0);
}

const QR_CODE = { resource: 'qrCode' };

beforeEach(forget);

test('of a batch exactly what was rejected or not sent is free again', async () => {
	const service = new Service();
	await send(service, ['known']);
	const answers: Record<string, Answer> = {
		a: ok,
		b: status(422),
		c: lost,
		d: status(502, 'proxy'),
	};
	service.answer = async (external_id) => await answers[external_id]!();
	const run = await send(service, ['a', 'b', 'c', 'd', 'known'], { options: batches(10) });
	expect(outcomes(run)).toStrictEqual(['accepted', 'rejected', 'unknown', 'notSent', 'duplicate']);
	const recorded = ['a', 'b', 'c', 'd', 'known'].filter(isRecorded);
	expect(recorded).toStrictEqual(['a', 'c', 'known']);
});

test('under "stop" an item whose token comes after another one failed does not start', async () => {
	const service = new Service();
	let hasFailed = false;
	service.answer = async () => {
		hasFailed = true;
		return await status(422)();
	};
	service.beforeToken = async () => {
		await until(() => hasFailed);
		await turns();
	};
	const run = await send(service, ['late', 'failing'], {
		credential: {
			...newClient(),
			authentication: '={{ $json.id === "late" ? "clientCredentials" : "accessToken" }}',
		},
		settings: {},
		options: batches(2),
	});
	expect(errorOf(run)?.context?.externalIds).toMatchObject({
		rejected: ['failing'],
		notReached: ['late'],
	});
	expect(service.requests).toStrictEqual(['failing pasted']);
	expect(['late', 'failing'].map(isRecorded)).toStrictEqual([false, false]);
});

test('what was accepted is marked while the next payment is out, and the last one when the run ends', async () => {
	const service = new Service();
	const events: string[] = [];
	// A mark goes into a row of the node's own.
	storeHooks.written = ({ context }) => {
		events.push(context.includes(' n:') ? 'marked' : 'recorded');
	};
	service.answer = async (external_id) => {
		events.push(`${external_id} came`);
		// A mark that waited for the answer would never come.
		if (external_id === 'b') await until(() => events.includes('marked'));
		events.push(`${external_id} answered`);
		return await ok();
	};
	await send(service, ['a', 'b']);
	expect(events.slice(0, 7)).toStrictEqual([
		'recorded',
		...['a came', 'a answered'],
		'recorded',
		...['b came', 'marked', 'b answered'],
	]);
	expect(events.slice(7)).toContain('marked');
});

describe('a cancelled execution', () => {
	const withSignal = (service: Service, { signal }: AbortController) =>
		service.context(() => ({ getExecutionCancelSignal: () => signal }));

	test('that was cancelled before its batch records nothing', async () => {
		const service = new Service();
		const cancel = new AbortController();
		cancel.abort();
		let changes = 0;
		storeHooks.before = async () => void changes++;
		const run = await send(service, ['a'], { context: withSignal(service, cancel) });
		expect(outcomes(run)).toStrictEqual([undefined]);
		expect([service.requests, changes]).toStrictEqual([[], 0]);
		// The control: one that goes on changes the store.
		await send(service, ['a']);
		expect(changes).toBeGreaterThan(0);
	});

	test('sends nothing after the duplicate check, and frees what it had recorded', async () => {
		const service = new Service();
		const cancel = new AbortController();
		let wasRecorded = false;
		storeHooks.written = async () => {
			wasRecorded ||= isRecorded('a');
			cancel.abort();
		};
		const run = await send(service, ['a'], { context: withSignal(service, cancel) });
		expect(outcomes(run)).toStrictEqual([undefined]);
		expect([service.requests, wasRecorded, isRecorded('a')]).toStrictEqual([[], true, false]);
	});

	test('sends nothing that waited for the first answer of its account', async () => {
		const service = new Service();
		const cancel = new AbortController();
		service.answer = async () => {
			cancel.abort();
			return await ok();
		};
		const context = withSignal(service, cancel);
		const run = await send(service, ['a', 'b'], { context, options: batches(2) });
		expect(outcomes(run)).toStrictEqual(['accepted', undefined]);
		expect(service.requests).toStrictEqual(['a pasted']);
		expect(['a', 'b'].map(isRecorded)).toStrictEqual([true, false]);
	});

	test('sends nothing with another token after a 401', async () => {
		const service = new Service();
		const cancel = new AbortController();
		const options = { parameters: QR_CODE, credential: newClient() };
		await send(service, ['a'], options);
		service.answer = async () => {
			cancel.abort();
			return await status(401)();
		};
		const context = withSignal(service, cancel);
		const run = await send(service, ['b'], { ...options, context });
		expect(outcomes(run)).toStrictEqual(['rejected']);
		expect(service.requests).toStrictEqual(['a token-1', 'b token-1']);
	});
});

describe('with a token that was kept', () => {
	/** An account that was sent with, and then meets other answers: each request the next one, the last for good. */
	async function second(parameters: IDataObject, ...answers: Answer[]) {
		const service = new Service();
		const options = { parameters, credential: newClient() };
		await send(service, ['a'], options);
		service.answer = async () => await (answers.length > 1 ? answers.shift()! : answers[0]!)();
		const [result] = resultsOf(await send(service, ['b'], options));
		return { service, options, result, requests: service.requests.slice(1) };
	}

	test.each<{ what: string; requests: string[]; answer: Answer }>([
		{ what: 'a 401', requests: ['b token-1', 'b token-2'], answer: status(401) },
		{ what: 'a 400', requests: ['b token-1'], answer: status(400) },
		{ what: 'a 403', requests: ['b token-1'], answer: status(403) },
		{ what: 'a 422', requests: ['b token-1'], answer: status(422) },
		{ what: 'a 500', requests: ['b token-1'], answer: status(500) },
		{ what: "a proxy's 401", requests: ['b token-1'], answer: status(401, 'proxy') },
		{ what: 'a lost answer', requests: ['b token-1'], answer: lost },
	])('$what to a QR code leads to the requests $requests', async ({ requests, answer }) => {
		expect((await second(QR_CODE, answer)).requests).toStrictEqual(requests);
	});

	test('a payment that gets a 401 is sent once and rejected, and the next run has a new token', async () => {
		const { service, options, result, requests } = await second({}, status(401));
		expect(requests).toStrictEqual(['b token-1']);
		expect(result).toMatchObject({ outcome: 'rejected', statusCode: 401 });
		service.answer = ok;
		expect(outcomes(await send(service, ['c'], options))).toStrictEqual(['accepted']);
		expect(service.requests.at(-1)).toBe('c token-2');
	});

	test('a 401 to a QR code, then no connection: what is told is the request that arrived', async () => {
		const { result, requests } = await second(QR_CODE, status(401), noConnection);
		expect(requests).toHaveLength(2);
		expect(result).toMatchObject({ outcome: 'rejected', statusCode: 401 });
	});

	test('after a 401 to a QR code and a lost answer nobody knows what became of it', async () => {
		const { result, requests } = await second(QR_CODE, status(401), lost);
		expect(requests).toStrictEqual(['b token-1', 'b token-2']);
		expect(result).toMatchObject({ outcome: 'unknown' });
	});
});

test('after a token was rejected, one item asks first with the next one, and then all', async () => {
	const service = new Service();
	const options = { credential: newClient(), options: batches(2) };
	await send(service, ['first'], options);
	let inFlight = 0;
	/** How many requests were in flight as each one began, itself counted. */
	const together: Record<string, number> = {};
	service.answer = async (external_id) => {
		together[external_id] = ++inFlight;
		await turns();
		inFlight--;
		return await ('cd'.includes(external_id) ? status(401) : ok)();
	};
	await send(service, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], options);
	expect(together).toStrictEqual({ a: 1, b: 1, c: 1, d: 2, e: 1, f: 1, g: 1, h: 2 });
	expect(service.requests.slice(-4)).toStrictEqual([
		'e token-2',
		'f token-2',
		'g token-2',
		'h token-2',
	]);
});

test('a batch that gets no token asks the token endpoint once, and the next batch once more', async () => {
	const service = new Service();
	let asked = 0;
	service.beforeToken = async () => {
		asked++;
		await noConnection();
	};
	const run = await send(service, ['a', 'b', 'c', 'd', 'e', 'f'], {
		credential: newClient(),
		options: batches(3),
	});
	expect(new Set(outcomes(run))).toStrictEqual(new Set(['notSent']));
	expect([service.requests, asked]).toStrictEqual([[], 2]);
});

test('a token that was just fetched and is refused is discarded, and no other item of the run goes out', async () => {
	const service = new Service();
	service.answer = status(401);
	const options = { parameters: QR_CODE, credential: newClient() };
	const run = await send(service, ['a', 'b'], options);
	expect(outcomes(run)).toStrictEqual(['rejected', 'notSent']);
	expect(service.requests).toStrictEqual(['a token-1']);
	await send(service, ['c'], options);
	expect(service.requests).toStrictEqual(['a token-1', 'c token-2']);
});

describe('two tools of one execution at once, as an agent runs them', () => {
	let agents = 0;

	/**
	 * Two calls that have both read and recorded their payment before either has its token. The first has no
	 * response before the second was sent or refused.
	 */
	async function both(second: { node: string; key: string }, credential: IDataObject = {}) {
		const service = new Service();
		service.beforeToken = async () => await until(() => isRecorded('a') && isRecorded('b'));
		let isSecondDone = false;
		service.answer = async () => {
			if (service.requests.length === 1) await until(() => isSecondDone);
			return await ok();
		};
		const flow: IDataObject = {};
		const execution: Partial<RunOptions> = {
			credential: { ...newClient(), ...credential },
			context: service.context(() => ({ getContext: () => flow })),
			executionId: `agent ${++agents}`,
		};
		const call = async (name: string, external_id: string, key: string) => {
			const options = { allowAiPayments: true };
			const parameters = { external_id, amount: 1, creditParty: { key }, options };
			const tool = payNode(name, parameters, { type: 'n8n-nodes-pay.payTool' });
			const nodes = [sourceNode('Source', [{}]), tool];
			const workflow = { nodes, connections: { Source: to([name]) } };
			return await send(service, [], { ...execution, workflow });
		};
		const first = call('Pay', 'a', 'ana');
		await until(() => isRecorded('a'));
		const ofSecond = await call(second.node, 'b', second.key);
		isSecondDone = true;
		const [one] = resultsOf(await first, 'Pay');
		const [two] = resultsOf(ofSecond, second.node);
		const told = [one, two].map(
			(result) => `${String(result?.external_id)} ${String(result?.outcome)}`,
		);
		return { told, sent: service.requests.length };
	}

	test.each<{
		what: string;
		node: string;
		key: string;
		credential?: IDataObject;
		told: string;
		sent: number;
		recorded: string[];
	}>([
		{
			what: 'one request under two ids is paid once, and its second id can be used later',
			node: 'Pay',
			key: 'ana',
			told: 'a unknown',
			sent: 1,
			recorded: ['a'],
		},
		{
			what: 'two above the sum: the second is free',
			node: 'Refund',
			key: 'bob',
			credential: { limitPayments: true, highestSum: 1.5 },
			told: 'b notSent',
			sent: 1,
			recorded: ['a'],
		},
		{
			what: 'the control: two payments are two',
			node: 'Refund',
			key: 'bob',
			told: 'b accepted',
			sent: 2,
			recorded: ['a', 'b'],
		},
	])('$what', async ({ node, key, credential, told, sent, recorded }) => {
		expect(await both({ node, key }, credential)).toStrictEqual({
			told: ['a accepted', told],
			sent,
		});
		expect(['a', 'b'].filter(isRecorded)).toStrictEqual(recorded);
	});
});

test('a run that waits for the token of another run keeps its own time-out and cancel signal', async () => {
	const service = new Service();
	let hang = () => {};
	service.beforeToken = async () => await new Promise<void>((resolve) => (hang = resolve));
	const credential = newClient();
	const long = send(service, ['a'], { credential });
	await until(() => isRecorded('a'));
	const short = await send(service, ['b'], { credential, options: { timeout: 30 } });
	expect(resultsOf(short)).toMatchObject([{ outcome: 'notSent', field: 'tokenUrl' }]);
	const cancel = new AbortController();
	const { signal } = cancel;
	const context = service.context(() => ({ getExecutionCancelSignal: () => signal }));
	const stopped = send(service, ['c'], { credential, context });
	await until(() => isRecorded('c'));
	cancel.abort();
	expect(outcomes(await stopped)).toStrictEqual([undefined]);
	expect(['b', 'c'].filter(isRecorded)).toStrictEqual([]);
	expect(service.requests).toStrictEqual([]);
	hang();
	expect(outcomes(await long)).toStrictEqual(['accepted']);
});
