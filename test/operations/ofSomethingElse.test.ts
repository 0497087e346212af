import type { INode } from 'n8n-workflow';
import { fingerprintOf } from '../../nodes/Pay/execution/ledger/fingerprint';
import { externalId } from '../../nodes/Pay/parameters/member';
import { refusalOf } from '../refusal';
import { resultOfRefusal } from '../../nodes/Pay/execution/report/itemResult';
import { compareResponse } from '../../nodes/Pay/execution/report/notes';
import { openTally } from '../../nodes/Pay/execution/report/tally';
import { notSentInWords, rejectedInWords } from '../../nodes/Pay/execution/words/result';
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
	expect(refusalOf(() => read(() => ''))).toMatchObject({
		message: 'External ID (external_id) is missing',
		advice:
			'Enter the External ID of the payment, for example {{ $json.external_id }}. If it comes from an expression, check that the input item has that field.',
	});
	expect(refusalOf(() => read(() => 1.5))?.advice).toBe(
		'Pass the External ID of the payment as text, so that no digit is lost, for example {{ $json.external_id }}.',
	);
});

test.each<{ members: MemberTree; advice: string }>([
	{
		members: OPERATIONS.payment.members,
		advice: 'Ask the service what it accepted: postbacks may name the other one.',
	},
	{
		members: { external_id: 'string' },
		advice: 'Ask the service what it accepted.',
	},
])(
	'only an operation with a postback is told that one may name another: $advice',
	({ members, advice }) => {
		const { payment } = OPERATIONS;
		const node = { name: 'Pay' } as INode;
		const tally = openTally(node, { words: payment.words, members }, 1, false);
		compareResponse(tally, { external_id: 'a' }, { external_id: 'b' });
		expect([...tally.doubts]).toStrictEqual([
			`The service accepted "a" and calls it "b". ${advice}`,
		]);
	},
);

test('an operation says what to do after a status that means something else for it', () => {
	const words = {
		...OPERATIONS.payment.words,
		whenRejected: { 404: (id: string) => `The service does not know "${id}".` },
	};
	const resultWith = (statusCode: number) =>
		rejectedInWords(words, 'payout-7', { outcome: 'rejected', statusCode }).description;
	expect(resultWith(404)).toBe(
		'The request was sent, and the service or a proxy on the way rejected it. The service does not know "payout-7".',
	);
	expect(resultWith(429)).toBe(
		'The request was sent, and the service or a proxy on the way rejected it. Wait a while, then run again.',
	);
});

test.each<{ what: string; result: RequestResult; expected: string }>([
	{
		what: 'rejected by a status',
		result: { outcome: 'rejected', statusCode: 422 },
		expected:
			'The request was sent, and the service or a proxy on the way rejected it. Payment "payout-7" may still go out. Correct the item, then run again.',
	},
	{
		what: 'rejected by the words of its response',
		result: { outcome: 'rejected', statusCode: 200, reason: { is: 'saidNo', path: 'status' } },
		expected:
			'The request was sent, and the service rejected it: "status" has one of the Rejected Values of the Pay API credential. Payment "payout-7" may still go out. Correct the item, then run again.',
	},
	{
		what: 'rejected by a status that it has advice for',
		result: { outcome: 'rejected', statusCode: 409 },
		expected:
			'The request was sent, and the service or a proxy on the way rejected it. It is too late: payment "payout-7" was carried out.',
	},
])('a cancellation that is $what says what stays as it was', ({ result, expected }) => {
	expect(rejectedInWords(CANCELLATION_WORDS, 'payout-7', result).description).toBe(expected);
});

test('a cancellation that was not sent says what stays as it was', () => {
	const result: RequestResult = { outcome: 'notSent' };
	expect(notSentInWords(CANCELLATION_WORDS, 'payout-7', result).description).toBe(
		'The service did not get the whole request, so it cannot have carried it out. Payment "payout-7" may still go out. Check the Base URL of the Pay API credential and the network, then run again.',
	);
});

test.each<{ end: 'notSent' | 'notReached' | 'duplicate'; expected: string }>([
	{
		end: 'notSent',
		expected:
			'Nothing was sent for this item. Payment "payout-7" may still go out. Check the parameters of this item and the credential, then run again.',
	},
	{
		end: 'notReached',
		expected:
			'It was not sent in this run: an earlier run may have sent it. Payment "payout-7" may still go out. Check the parameters of this item and the credential, then run again.',
	},
	{
		end: 'duplicate',
		expected:
			'This item was not sent now. Check the parameters of this item and the credential, then run again.',
	},
])(
	'a cancellation that this package refuses, as $end, says what stays as it was',
	({ end, expected }) => {
		const operation = { kind: 'cancellation', words: CANCELLATION_WORDS };
		const error = new Error('the token could not be fetched');
		expect(resultOfRefusal(operation, 'payout-7', error, end).description).toBe(expected);
	},
);
