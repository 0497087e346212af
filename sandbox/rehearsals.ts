import { brCode } from './brCode';
import type { Fault } from './faults';

/** The body of a response to a request that was carried out. */
export interface ResponseBody {
	/** Only where the sandbox was started so. */
	success?: true;
	id: string;
	external_id: string;
	amount?: number;
	status: string;
	qrCode?: string;
}

/** What becomes of a request. */
type Effect =
	/** Nothing is made, and the fault is all that the caller gets. */
	| { kind: 'notCarriedOut'; fault: Fault }
	/** The charge or payment is made all the same: the case in which guessing costs money. */
	| { kind: 'carriedOut'; fault: Fault }
	/** It is made, but the response does not say what was asked for. */
	| { kind: 'misreported'; falsify: (body: ResponseBody) => void };

/** What a person can order for the next request, or for any request by its amount. */
export interface Rehearsal {
	name: string;
	label: string;
	/** What happens, in words for the page. */
	description: string;
	/** The amount that orders it, where amounts act. */
	amount: number;
	effect: Effect;
}

function notCarriedOut(status: number, message: string): Effect {
	return {
		kind: 'notCarriedOut',
		fault: { kind: 'status', status, body: JSON.stringify({ message }) },
	};
}

/** Ways to respond badly. Which of them the real service has is not documented. */
export const REHEARSALS: readonly Rehearsal[] = [
	{
		name: 'reject-422',
		label: 'Reject (422)',
		description: 'Responds with 422. Nothing is made.',
		amount: 4.22,
		effect: notCarriedOut(422, 'Rejected, as ordered'),
	},
	{
		name: 'token-401',
		label: 'Token rejected (401)',
		description: 'Responds with 401, as to a wrong access token. Nothing is made.',
		amount: 4.01,
		effect: notCarriedOut(401, 'The access token was rejected, as ordered'),
	},
	{
		name: 'says-no',
		label: '200 that says no',
		description: 'Responds with 200 and { "success": false }. Nothing is made.',
		amount: 2.99,
		effect: {
			kind: 'notCarriedOut',
			fault: {
				kind: 'status',
				status: 200,
				body: '{"success":false,"message":"Rejected, as ordered"}',
			},
		},
	},
	{
		name: 'unavailable-503',
		label: 'Unavailable (503)',
		description: 'Responds with 503. Nothing is made, but the caller cannot know that.',
		amount: 5.03,
		effect: notCarriedOut(503, 'Unavailable, as ordered'),
	},
	{
		name: 'no-response',
		label: 'No response',
		description: 'Takes the request, carries it out, and never responds.',
		amount: 9.01,
		effect: { kind: 'carriedOut', fault: { kind: 'no-response' } },
	},
	{
		name: 'cut-off',
		label: 'Cut off',
		description: 'Takes the request, carries it out, and hangs up in the middle of the response.',
		amount: 9.02,
		effect: { kind: 'carriedOut', fault: { kind: 'hang-up' } },
	},
	{
		name: 'other-code',
		label: 'Code of another amount',
		description:
			'Makes the charge; its QR code asks for a hundredth of the amount. A payment has no code.',
		amount: 9.06,
		effect: {
			kind: 'misreported',
			falsify: (body) => {
				const { id, amount, qrCode } = body;
				if (qrCode === undefined || amount === undefined) return;
				body.qrCode = brCode(id, amount / 100);
			},
		},
	},
];

/** How a charge or payment ends by itself, and when that is reported. */
export type Ending =
	| { reported: 'never' }
	| {
			/** Before the response to the request, or so long after it. */
			reported: 'beforeResponse' | { afterMs: number };
			status: 'paid' | 'failed';
			/** How many times the same postback is sent. */
			times: number;
			/** What was paid, where it is another amount. */
			paid?: number;
	  };

/** What becomes of a charge or payment by itself, ordered by its amount. */
export interface Sequel {
	amount: number;
	/** What happens, in words for the page. */
	description: string;
	ending: Ending;
}

export const SEQUELS: readonly Sequel[] = [
	{
		amount: 1.01,
		description: 'Is paid after 1 second.',
		ending: { reported: { afterMs: 1000 }, status: 'paid', times: 1 },
	},
	{
		amount: 1.02,
		description: 'Fails after 1 second.',
		ending: { reported: { afterMs: 1000 }, status: 'failed', times: 1 },
	},
	{
		amount: 1.03,
		description: 'Is paid; reported twice at once.',
		ending: { reported: { afterMs: 1000 }, status: 'paid', times: 2 },
	},
	{
		amount: 1.05,
		description: 'Is paid; reported before the response to the request.',
		ending: { reported: 'beforeResponse', status: 'paid', times: 1 },
	},
	{
		amount: 1.06,
		description: 'Nothing more is ever heard of it.',
		ending: { reported: 'never' },
	},
	{
		amount: 1.07,
		description: 'Is paid with another amount: 0.01.',
		ending: { reported: { afterMs: 1000 }, status: 'paid', times: 1, paid: 0.01 },
	},
];
