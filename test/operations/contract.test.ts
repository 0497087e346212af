import type { ReadParameter } from '../../nodes/Pay/parameters/parameter';
import {
	amount,
	bodyOf,
	externalId,
	groupText,
	payerQuestion,
	textMember,
	type FormOf,
} from '../../nodes/Pay/parameters/member';
import type { ContractOf } from '../../nodes/Pay/operations/serviceOperation';
import type { Policy } from '../../nodes/Pay/service/contract';
import { OPERATIONS } from '../serviceOperations';

/*
 * What the compiler refuses. Each line that must not compile is marked so, and `npm run typecheck` fails
 * where it compiles.
 */

const repeatable = {
	isRepeatable: true,
	isRecorded: false,
	agentPermission: 'not needed',
	countsAgainstLimits: false,
	conflict: 'rejected',
	isSentAgainAfter401: true,
	isJudgedByWords: true,
} satisfies Policy;
const once = {
	isRepeatable: false,
	isRecorded: true,
	agentPermission: 'not needed',
	countsAgainstLimits: true,
	conflict: 'unknown',
	isSentAgainAfter401: false,
	isJudgedByWords: true,
} satisfies Policy;

interface Body {
	amount: number;
	external_id: string;
}

test('a policy that makes no sense is a type error', () => {
	const senseless: Policy[] = [
		// @ts-expect-error what may be repeated is not kept from it by a record
		{ ...repeatable, isRecorded: true },
		// @ts-expect-error money that goes out is not repeatable
		{ ...repeatable, countsAgainstLimits: true },
		// @ts-expect-error what a 409 calls rejected would be sent again
		{ ...once, conflict: 'rejected' },
		// @ts-expect-error a gateway may respond 401 after it was carried out
		{ ...once, isSentAgainAfter401: true },
	];
	expect(senseless).toHaveLength(4);
	expect(OPERATIONS.payment.policy).toMatchObject({ ...once, agentPermission: expect.anything() });
	expect(OPERATIONS.qrCode.policy).toStrictEqual(repeatable);
});

test('an operation about something else has words for a service that does not know it', () => {
	const words = OPERATIONS.qrCode.words;
	const cancellation = {
		kind: 'cancellation',
		path: 'payment',
		identifier: { of: 'payment' },
		policy: repeatable,
	} as const;
	const advice = (external_id: string) => `Ask the service about "${external_id}".`;
	const WITHOUT_409 = { 400: advice, 404: advice, 405: advice, 410: advice, 422: advice };
	const ALL_ADVICE = { ...WITHOUT_409, 409: advice };
	const contracts: Array<ContractOf<{ external_id: string }>> = [
		{
			...cancellation,
			words: {
				...words,
				whenRejected: ALL_ADVICE,
				whenNotCarriedOut: advice,
			},
		},
		// @ts-expect-error nothing is said of the payment, which may still go out
		{
			...cancellation,
			words: {
				...words,
				whenRejected: ALL_ADVICE,
			},
		},
		// @ts-expect-error a 404 would be told as a wrong Base URL
		{ ...cancellation, words },
		// @ts-expect-error nothing is said of a 409
		{
			...cancellation,
			words: {
				...words,
				whenRejected: WITHOUT_409,
				whenNotCarriedOut: advice,
			},
		},
		{ ...cancellation, identifier: 'its own', words },
	];
	expect(contracts).toHaveLength(5);
});

test('a form that gives another body than the written one is a type error', () => {
	const id = externalId('its own');
	const description = payerQuestion('e.g. Order 1042');
	const whole = [amount, id] as const satisfies FormOf<Body>;
	const short = [id] as const satisfies FormOf<Body>;
	// @ts-expect-error the written body has no payerQuestion
	const long = [amount, id, description] as const satisfies FormOf<Body>;
	const values: Record<string, unknown> = { amount: '1.50', external_id: 'a' };
	const read: ReadParameter = (name) => values[name];
	const body: Body = bodyOf(whole, read);
	// @ts-expect-error a body without an amount
	const amountless: Body = bodyOf(short, read);
	expect([body, amountless]).toStrictEqual([
		{ amount: 1.5, external_id: 'a' },
		{ external_id: 'a' },
	]);
	expect(long).toHaveLength(3);
});

test('a member that does not say what it means, or gives no example, is a type error', () => {
	const note = { displayName: 'Note', name: 'note' };
	const examples = [{ typed: 'x', sent: 'x' }] as const;
	const members = [
		// @ts-expect-error nobody decided what it means
		() => textMember(note, { examples }),
		// @ts-expect-error no example
		() => groupText(note, { means: 'text' }),
		// @ts-expect-error an empty list has no example either
		() => textMember(note, { means: 'text', examples: [] }),
	];
	expect(members).toHaveLength(3);
});
