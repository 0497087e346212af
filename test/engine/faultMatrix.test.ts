import { randomUUID } from 'node:crypto';
import {
	CASES,
	expectedArrivals,
	MAX_TRIES,
	SETTINGS,
	startFaults,
	type FaultCase,
	type Faults,
} from '../faultCases';
import { slowness } from '../busy';
import { errorOf, isRecorded, outputOf, runWorkflow } from './engine';

let faults: Faults;
beforeAll(async () => {
	faults = await startFaults();
});
afterAll(async () => {
	await faults.close();
});

/** Runs one payment of a case with one of the settings, and asserts all that must be said of it. */
async function runCase(each: FaultCase, { retryOnFail, onError }: (typeof SETTINGS)[number]) {
	const external_id = `${each.name}|${randomUUID()}`;
	const timeout = (each.timeout ?? 60_000) * slowness();
	const run = await runWorkflow({
		credential: { baseUrl: faults.baseUrl(each, external_id), allowHttp: true },
		parameters: { amount: 1, external_id, options: { timeout } },
		settings: { retryOnFail, onError, maxTries: MAX_TRIES },
	});
	const where = `${onError}, retry ${retryOnFail}`;
	const count = faults.arrivals(external_id);
	expect([where, count]).toStrictEqual([where, expectedArrivals(each, retryOnFail)]);

	const stays = each.outcome === 'accepted' || each.outcome === 'unknown';
	expect([where, isRecorded(external_id)]).toStrictEqual([where, stays]);

	const facts = { external_id, kind: 'payment', outcome: each.outcome };
	const [success] = outputOf(run, 'Success');
	if (each.outcome === 'accepted') {
		expect(success?.json).toMatchObject({ ...facts, amount: 1, statusCode: each.statusCode });
		return;
	}
	if (onError === 'stopWorkflow') {
		expect(errorOf(run)?.context).toMatchObject({ itemIndex: 0, data: facts });
		expect(errorOf(run)?.message).toContain(external_id);
		expect(errorOf(run)?.name).toBe('NodeApiError');
	} else {
		const failed = onError === 'continueErrorOutput' ? outputOf(run, 'Error')[0] : success;
		expect(failed?.json.error).toMatchObject(facts);
		expect((failed?.json.error as { message: string }).message).toContain(external_id);
	}
	const told = JSON.stringify([errorOf(run) ?? null, run.data.resultData.runData.Pay]);
	expect(told).not.toContain('token-of-the-test');
	expect(told).not.toMatch(/retry on fail|try again later|retry the request/i);
}

test.each(CASES)(
	'$name is $outcome, and sent again only where nothing was carried out',
	async (each) => {
		await Promise.all(SETTINGS.map(async (settings) => await runCase(each, settings)));
	},
);

test('the token that was looked for is the one that was sent', () => {
	const sent = faults.sandbox.received.map(({ headers }) => headers.authorization);
	expect(sent.length).toBeGreaterThan(100);
	expect([...new Set(sent)]).toStrictEqual(['Bearer token-of-the-test']);
});

test('no redirect was followed', () => {
	expect(CASES.filter(({ name }) => name.endsWith('to another host'))).toHaveLength(6);
	expect(faults.elsewhere.received).toStrictEqual([]);
});
