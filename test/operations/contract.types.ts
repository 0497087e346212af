import { amount, externalId, groupText, textMember } from '../../nodes/Pay/parameters/member';
import { defineOperation, type ContractOf } from '../../nodes/Pay/operations/defineOperation';
import type { Policy } from '../../nodes/Pay/service/contract';
import { OPERATIONS } from '../serviceOperations';

/*
 * What the compiler refuses. Each line that must not compile is marked so, and `npm run typecheck` fails
 * where it compiles. Nothing of this is run.
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

/** A policy that makes no sense is a type error. */
export function senselessPolicies() {
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
	return senseless;
}

/** An operation about something else has words for a service that does not know it. */
export function operationsAboutSomethingElse() {
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
	return contracts;
}

/** An operation without an External ID, or with limits and no amount, is a type error. */
export function operationsThatLackAMember() {
	const { words } = OPERATIONS.payment;
	const common = {
		kind: 'transfer',
		sections: { members: '2.2', path: '4.2' },
		path: 'payment',
		identifier: 'its own',
		words,
		resource: 'payment',
		option: { name: 'Transfer', value: 'transfer' },
		batchSize: 1,
	} as const;
	const id = externalId('its own');
	const definitions = [
		defineOperation({ ...common, policy: once, form: [id, amount] }),
		defineOperation({ ...common, policy: repeatable, form: [id] }),
		// @ts-expect-error nothing says which item it is
		defineOperation({ ...common, policy: repeatable, form: [amount] }),
		// @ts-expect-error there is no amount that could count
		defineOperation({ ...common, policy: once, form: [id] }),
	];
	return definitions;
}

/** A member that does not say what it means, or gives no example, is a type error. */
export function membersThatLackSomething() {
	const note = { displayName: 'Note', name: 'note' };
	const examples = [{ typed: 'x', sent: 'x' }] as const;
	const members = [
		// @ts-expect-error nobody decided what it means
		() => textMember(note, { examples }),
		// @ts-expect-error no example
		() => groupText(note, { means: 'text' }),
		// @ts-expect-error an empty list has no example either
		() => textMember(note, { means: 'text', examples: [] }),
		// @ts-expect-error nothing would notice that its rule is gone
		() => textMember(note, { means: 'text', examples, parse: () => 'x' }),
	];
	return members;
}
