import type { INode } from 'n8n-workflow';
import { fingerprintOf } from '../../nodes/Pay/execution/ledger/fingerprint';
import { externalId } from '../../nodes/Pay/parameters/member';
import { refusalOf } from '../refusal';
import { resultOfRefusal } from '../../nodes/Pay/execution/report/itemResult';
import { compareResponse } from '../../nodes/Pay/execution/report/notes';
import { openTally } from '../../nodes/Pay/execution/report/tally';
import {
	notSentInWords,
	otherIdInResponse,
	rejectedInWords,
} from '../../nodes/Pay/execution/words/result';
import { UNPUBLISHED } from '../../nodes/Pay/service/page';
import { postRequest, type RequestResult } from '../../nodes/Pay/service/client';
import type { Identifier, MemberTree, Words } from '../../nodes/Pay/service/contract';
import type { Account } from '../../nodes/Pay/credential/connection';
import { OPERATIONS } from '../serviceOperations';

// What an operation about something that another one made would say, as a cancellation's would be.

const OF_A_PAYMENT: Identifier = { of: 'payment' };
const CANCELLATION_WORDS: Words = {
	...OPERATIONS.payment.words,
	whenNotCarriedOut: (id) => `Payment "${id}" may still go out.`,
	whenRejected: { 409: (id) => `It is too late: payment "${id}" was carried out.` },
};
const CASES: Identifier[] = ['its own', OF_A_PAYMENT];

test.each<{ identifier: Identifier; expected: string | undefined }>([
	{
		identifier: 'its own',
		expected: 'payout-7',
	},
	{
		identifier: OF_A_PAYMENT,
		expected: undefined,
	},
])(
	'with an identifier that is $identifier, the header for the External ID is $expected',
	async ({ identifier, expected }) => {
		let sent: Record<string, string> = {};
		const connection = {
			baseUrl: 'https://a.test',
			schemeName: 'pay',
			accessToken: 'token-of-the-test',
			timeout: 1000,
			externalIdHeader: 'Idempotency-Key',
			hide: (response: unknown) => response,
		};
		const httpRequest = async ({ headers }: { headers?: object }) => {
			sent = { ...headers } as Record<string, string>;
			return { statusCode: 201, body: '{}', headers: {} };
		};
		const operation = { ...OPERATIONS.payment, identifier };
		await postRequest(httpRequest as never, connection, operation, {
			external_id: 'payout-7',
			amount: 1,
		});
		expect(sent).toHaveProperty('Authorization');
		expect(sent['Idempotency-Key']).toBe(expected);
	},
);

test.each<{ isJudgedByWords: boolean; outcome: string }>([
	{
		isJudgedByWords: true,
		outcome: 'unknown',
	},
	{
		isJudgedByWords: false,
		outcome: 'accepted',
	},
])(
	'where isJudgedByWords is $isJudgedByWords, a 200 that lacks the Accepted Values is $outcome',
	async ({ isJudgedByWords, outcome }) => {
		const connection = {
			baseUrl: 'https://a.test',
			schemeName: 'pay',
			accessToken: 'token-of-the-test',
			timeout: 1000,
			responseWords: { field: 'status', accepted: ['created'], rejected: ['failed'] },
			hide: (response: unknown) => response,
		};
		const httpRequest = async () => ({
			statusCode: 200,
			body: '{"status":"cancelled"}',
			headers: {},
		});
		const { payment } = OPERATIONS;
		const operation = { ...payment, policy: { ...payment.policy, isJudgedByWords } };
		const result = await postRequest(httpRequest as never, connection, operation, {
			external_id: 'payout-7',
		});
		expect(result.outcome).toBe(outcome);
	},
);

test('another identifier is another try of the same, unless it is that of something else', () => {
	const account = { baseUrl: 'https://a.test', schemeName: 'pay', token: { pasted: 'x' } };
	const isSame = (identifier: Identifier) => {
		const [one, other] = ['a', 'b'].map((external_id) =>
			fingerprintOf(account as unknown as Account, { external_id }, externalId(identifier).leaves),
		);
		return one === other;
	};
	expect(CASES.map(isSame)).toStrictEqual([true, false]);
});

test('its field says what the External ID is of, and its refusals too', () => {
	const { fields, read } = externalId(OF_A_PAYMENT);
	expect(fields[0]).toMatchObject({
		displayName: 'External ID',
		description: 'The External ID of the payment that this is about',
	});
	expect(refusalOf(() => read(() => ''))?.advice).toContain(
		'Enter the External ID of the payment, for example {{ $json.external_id }}.',
	);
	expect(refusalOf(() => read(() => 1.5))?.advice).toBe(
		'Pass the External ID of the payment as text, so that no digit is lost, for example {{ $json.external_id }}.',
	);
});

test.each<{ members: MemberTree; hasPostback: boolean }>([
	{ members: OPERATIONS.payment.members, hasPostback: true },
	{ members: { external_id: 'string' }, hasPostback: false },
])(
	'an operation of which a response names another id hears of postbacks: $hasPostback',
	({ members, hasPostback }) => {
		const node = { name: 'Pay' } as INode;
		const { words } = OPERATIONS.payment;
		const tally = openTally(node, { words, members }, 1, false);
		compareResponse(tally, { external_id: 'a' }, { external_id: 'b' });
		expect([...tally.doubts]).toStrictEqual([otherIdInResponse('a', 'b', hasPostback)]);
	},
);

test('an operation says what to do after a status that means something else for it', () => {
	const words = {
		...OPERATIONS.payment.words,
		whenRejected: { 404: (id: string) => `The service does not know "${id}".` },
	};
	const resultWith = (statusCode: number) =>
		rejectedInWords(words, 'payout-7', { outcome: 'rejected', statusCode }).description;
	expect(resultWith(404)).toContain('The service does not know "payout-7".');
	expect(resultWith(429)).not.toContain('The service does not know');
});

const STAYS = 'Payment "payout-7" may still go out.';
test.each<{ what: string; result: RequestResult; isSaid: boolean }>([
	{
		what: 'rejected by a status',
		result: { outcome: 'rejected', statusCode: 422 },
		isSaid: true,
	},
	{
		what: 'rejected by the words of its response',
		result: { outcome: 'rejected', statusCode: 200, reason: { is: 'saidNo', path: 'status' } },
		isSaid: true,
	},
	{
		what: 'rejected by an n8n without such a workflow',
		result: { outcome: 'rejected', statusCode: 404, response: UNPUBLISHED },
		isSaid: true,
	},
	{
		what: 'rejected by a status that it has advice of its own for',
		result: { outcome: 'rejected', statusCode: 409 },
		isSaid: false,
	},
])('a cancellation that is $what says that the payment may still go out: $isSaid', (row) => {
	const { description } = rejectedInWords(CANCELLATION_WORDS, 'payout-7', row.result);
	expect(description.includes(STAYS)).toBe(row.isSaid);
	expect(description.includes('It is too late')).toBe(!row.isSaid);
});

test('a cancellation that was not sent says that the payment may still go out', () => {
	const { description } = notSentInWords(CANCELLATION_WORDS, 'payout-7', { outcome: 'notSent' });
	expect(description).toContain(STAYS);
});

test.each<{ end: 'notSent' | 'notReached' | 'duplicate'; isSaid: boolean }>([
	{ end: 'notSent', isSaid: true },
	{ end: 'notReached', isSaid: true },
	{ end: 'duplicate', isSaid: false },
])(
	'a cancellation that this package refuses, as $end, says that the payment may still go out: $isSaid',
	({ end, isSaid }) => {
		const operation = { kind: 'cancellation', words: CANCELLATION_WORDS };
		const error = new Error('the token could not be fetched');
		const { description } = resultOfRefusal(operation, 'payout-7', error, end);
		expect(description.includes(STAYS)).toBe(isSaid);
	},
);
