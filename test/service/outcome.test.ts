import fc from 'fast-check';
import { outcomeOfFailure, outcomeOfStatus } from '../../nodes/Pay/service/outcome';

const OUTCOMES = ['accepted', 'rejected', 'notSent', 'unknown'];

test('every status has one outcome, and only 2xx is accepted', () => {
	fc.assert(
		fc.property(fc.integer({ min: -1000, max: 2000 }), (status) => {
			const outcome = outcomeOfStatus(status);
			expect(OUTCOMES).toContain(outcome);
			expect(outcome === 'accepted').toBe(status >= 200 && status <= 299);
			expect(outcome).not.toBe('notSent');
		}),
		{ numRuns: 1000 },
	);
});

test('every failure has one outcome, and "not sent" needs proof', () => {
	const failure = fc.record(
		{ code: fc.string(), syscall: fc.string(), name: fc.string(), unsent: fc.boolean() },
		{ requiredKeys: [] },
	);
	fc.assert(
		fc.property(failure, (known) => {
			const outcome = outcomeOfFailure(known);
			expect(OUTCOMES).toContain(outcome);
			expect(outcome).not.toBe('accepted');
			if (known.unsent) expect(outcome).toBe('notSent');
		}),
		{ numRuns: 1000 },
	);
});

test.each(['ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EPIPE', 'ERR_CANCELED', 'EPROTO', ''])(
	'%p after the request began is unknown',
	(code) => {
		expect(outcomeOfFailure({ code, syscall: 'read', unsent: false })).toBe('unknown');
	},
);

test("a host that n8n's own guard forbids was not reached", () => {
	expect(outcomeOfFailure({ name: 'SsrfBlockedIpError' })).toBe('notSent');
});
