import { brCode } from './brCode';
import type { Fault } from './faults';

/** What a person can order for the next request, or for any request by its amount. */
export interface Rehearsal {
	name: string;
	label: string;
	/** What happens, in words for the page. */
	says: string;
	/** The amount that orders it, where amounts act. */
	amount: number;
	/** Absent where the request is answered. */
	fault?: Fault;
	/** What the answer says in place of what was asked for. */
	instead?: (made: { id: string; amount: number }) => object;
	/** Whether the charge or payment is made all the same: the case in which guessing costs money. */
	carriedOut?: true;
}

const status = (code: number, message: string, more: Partial<Fault> = {}): Fault =>
	({ kind: 'status', status: code, body: JSON.stringify({ message }), ...more }) as Fault;

/** How long the slow answer takes, in milliseconds. */
const SLOW = 3000;

/** Ways to answer badly. Which of them the real service has is not documented. */
export const REHEARSALS: readonly Rehearsal[] = [
	{
		name: 'refuse-422',
		label: 'Refuse (422)',
		says: 'Answers 422. Nothing is made.',
		amount: 4.22,
		fault: status(422, 'Refused, as ordered'),
	},
	{
		name: 'token-401',
		label: 'Token refused (401)',
		says: 'Answers 401, as for a wrong access token. Nothing is made.',
		amount: 4.01,
		fault: status(401, 'The access token was refused, as ordered'),
	},
	{
		name: 'address-403',
		label: 'Address refused (403)',
		says: 'Answers 403, as a service with a list of allowed addresses does. Nothing is made.',
		amount: 4.03,
		fault: status(403, 'This address is not on the list, as ordered'),
	},
	{
		name: 'says-no',
		label: '200 that says no',
		says: 'Answers 200 with { "success": false }. Nothing is made.',
		amount: 2.99,
		fault: {
			kind: 'status',
			status: 200,
			body: '{"success":false,"message":"Refused, as ordered"}',
		},
	},
	{
		name: 'unavailable-503',
		label: 'Unavailable (503)',
		says: 'Answers 503. Nothing is made, but the caller cannot know that.',
		amount: 5.03,
		fault: status(503, 'Unavailable, as ordered'),
	},
	{
		name: 'no-answer',
		label: 'No answer',
		says: 'Takes the request, carries it out, and never answers.',
		amount: 9.01,
		fault: { kind: 'no-answer' },
		carriedOut: true,
	},
	{
		name: 'cut-off',
		label: 'Cut off',
		says: 'Takes the request, carries it out, and hangs up in the middle of the answer.',
		amount: 9.02,
		fault: { kind: 'hang-up' },
		carriedOut: true,
	},
	{
		name: 'redirect',
		label: 'Redirect (307)',
		says: 'Answers 307 to another path. Nothing is made; whoever follows shows up below.',
		amount: 3.07,
		fault: status(307, 'Moved, as ordered', { location: '/redirected' }),
	},
	{
		name: 'slow',
		label: `Slow (${SLOW / 1000} s)`,
		says: `Carries the request out and answers after ${SLOW / 1000} seconds.`,
		amount: 9.05,
		fault: { kind: 'delay', ms: SLOW },
		carriedOut: true,
	},
	{
		name: 'other-code',
		label: 'Code of another amount',
		says: 'Makes the charge; its QR code asks for a hundredth of the amount.',
		amount: 9.06,
		instead: ({ id, amount }) => ({ qrCode: brCode(id, amount / 100) }),
		carriedOut: true,
	},
	{
		name: 'other-echo',
		label: 'Another amount and ID',
		says: 'Carries the request out; the answer says a hundred times the amount and another ID.',
		amount: 9.07,
		instead: ({ amount }) => ({ amount: amount * 100, external_id: 'another' }),
		carriedOut: true,
	},
];

/** What becomes of a charge or payment by itself, ordered by its amount. */
export interface Sequel {
	amount: number;
	says: string;
	/** The status that is reported; nothing ever is, when undefined. */
	status?: 'paid' | 'failed';
	/** Milliseconds after the answer; 0 is before it. */
	after: number;
	/** How many times the same notification is sent. */
	times: number;
	/** What was paid, where it is another amount. */
	paid?: number;
}

export const SEQUELS: readonly Sequel[] = [
	{ amount: 1.01, status: 'paid', after: 1000, times: 1, says: 'Is paid after 1 second.' },
	{ amount: 1.02, status: 'failed', after: 1000, times: 1, says: 'Fails after 1 second.' },
	{ amount: 1.03, status: 'paid', after: 1000, times: 2, says: 'Is paid; reported twice at once.' },
	{
		amount: 1.04,
		status: 'paid',
		after: 15_000,
		times: 1,
		says: 'Is paid; reported after 15 seconds.',
	},
	{
		amount: 1.05,
		status: 'paid',
		after: 0,
		times: 1,
		says: 'Is paid; reported before the answer to the request.',
	},
	{ amount: 1.06, after: 0, times: 0, says: 'Nothing more is ever heard of it.' },
	{
		amount: 1.07,
		status: 'paid',
		after: 1000,
		times: 1,
		paid: 0.01,
		says: 'Is paid with another amount: 0.01.',
	},
];
