import fc from 'fast-check';
import { outcomeOfFailure, outcomeOfStatus, sentOfFailure } from '../../nodes/Pay/service/outcome';

const OUTCOMES = ['accepted', 'rejected', 'notSent', 'unknown'];

/** The design's table, status by status; what is not named is unknown. */
function asDesigned(status: number): string {
	if (status >= 200 && status <= 299) return 'accepted';
	if (status === 407) return 'notSent';
	const refused = [307, 308].includes(status) || (status >= 400 && status <= 499);
	return refused && ![408, 499].includes(status) ? 'rejected' : 'unknown';
}

test('every status has the outcome of the design, and only 2xx is accepted', () => {
	fc.assert(
		fc.property(fc.integer({ min: -1000, max: 2000 }), (status) => {
			const outcome = outcomeOfStatus(status);
			expect(outcome).toBe(asDesigned(status));
		}),
		{ numRuns: 1000 },
	);
});

test('every failure has one outcome, and "not sent" needs proof', () => {
	const failure = fc.record(
		{
			code: fc.string(),
			syscall: fc.string(),
			name: fc.string(),
			sent: fc.constantFrom('nothing' as const, 'partly' as const, 'whole' as const),
		},
		{ requiredKeys: [] },
	);
	fc.assert(
		fc.property(failure, (known) => {
			const outcome = outcomeOfFailure(known);
			expect(OUTCOMES).toContain(outcome);
			expect(outcome).not.toBe('accepted');
			expect(outcome).toBe(sentOfFailure(known) === 'whole' ? 'unknown' : 'notSent');
			if (known.sent === 'nothing' || known.sent === 'partly') expect(outcome).toBe('notSent');
		}),
		{ numRuns: 1000 },
	);
});

test.each(['ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EPIPE', 'ERR_CANCELED', 'EPROTO', ''])(
	'%p after the request began is unknown',
	(code) => {
		expect(outcomeOfFailure({ code, syscall: 'read' })).toBe('unknown');
	},
);

test("a host that n8n's own guard forbids was not reached", () => {
	expect(outcomeOfFailure({ name: 'SsrfBlockedIpError' })).toBe('notSent');
});
