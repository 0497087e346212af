import { randomUUID } from 'node:crypto';
import { expectedArrivals, MAX_TRIES, SETTINGS, startFaults, type Faults } from '../faults';
import { errorOf, outputOf, recorded, runWorkflow } from './engine';

let faults: Faults;
const rows: string[] = [];
beforeAll(async () => {
	faults = await startFaults();
});
afterAll(async () => {
	await faults.close();
	console.log(['fault | outcome | arrivals without / with Retry On Fail', ...rows].join('\n'));
});

test('every fault ends in its outcome, and no payment with a lost answer is sent twice', async () => {
	const { cases, sandbox, elsewhere } = faults;
	expect(cases.length).toBeGreaterThanOrEqual(20);
	for (const each of cases) {
		const arrived: Record<string, Set<number>> = { false: new Set(), true: new Set() };
		for (const { retryOnFail, onError } of SETTINGS) {
			const external_id = `${each.name}|${randomUUID()}`;
			sandbox.received.length = 0;
			const run = await runWorkflow({
				credential: { baseUrl: each.baseUrl ?? sandbox.url, allowHttp: true },
				parameters: { amount: 1, external_id, options: { timeout: each.timeout ?? 10_000 } },
				settings: { retryOnFail, onError, maxTries: MAX_TRIES },
			});
			const where = `${each.name}, ${onError}, retry ${retryOnFail}`;
			const count = faults.arrivals(external_id);
			arrived[String(retryOnFail)]?.add(count);
			expect([where, count]).toEqual([where, expectedArrivals(each, retryOnFail)]);

			const stays = each.outcome === 'accepted' || each.outcome === 'unknown';
			expect([where, recorded.has(`n8n-nodes-pay:payment:${external_id}`)]).toEqual([where, stays]);

			const facts = { external_id, kind: 'payment', outcome: each.outcome };
			const [success] = outputOf(run, 'Success');
			if (each.outcome === 'accepted') {
				expect(success?.json).toMatchObject({ ...facts, amount: 1, statusCode: each.statusCode });
				continue;
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
		const counts = (retry: boolean) => [...(arrived[String(retry)] ?? [])].join();
		rows.push(`${each.name} | ${each.outcome} | ${counts(false)} / ${counts(true)}`);
	}
	expect(elsewhere.received).toEqual([]);
}, 120_000);
