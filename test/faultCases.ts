import type { Outcome } from '../nodes/Pay/service/outcome';
import type { Fault } from '../sandbox/faults';
import { Sandbox } from '../sandbox/service';

/**
 * One fault for each way in which n8n's engine may deal with an outcome. test/wire has every other way for
 * a request to go wrong.
 */
export interface FaultCase {
	name: string;
	outcome: Outcome;
	/** What the service does with the request; absent where the request does not get there. */
	fault?: Fault;
	statusCode?: number;
	/** How often it arrives. */
	arrivals: number;
	/** The same with {@link MAX_TRIES} tries: only what was certainly not carried out is sent again. */
	withRetry: number;
}

/** Where redirects lead is known only once that server runs. */
const ELSEWHERE = 'elsewhere';
const NOWHERE = 'https://nowhere.invalid';

export const CASES: FaultCase[] = [
	{ name: 'a host that nobody knows', arrivals: 0, withRetry: 0, outcome: 'notSent' },
	{
		name: 'a reset after the request',
		arrivals: 1,
		withRetry: 1,
		outcome: 'unknown',
		fault: { kind: 'reset-after-body' },
	},
	// As the only key of an item's json, "error" would have n8n run the node again.
	{
		name: '200 with a member "error"',
		arrivals: 1,
		withRetry: 1,
		outcome: 'accepted',
		statusCode: 200,
		fault: { kind: 'status', status: 200, body: '{"error":{"message":"x"}}' },
	},
	{
		name: '201',
		arrivals: 1,
		withRetry: 1,
		outcome: 'accepted',
		statusCode: 201,
		fault: { kind: 'status', status: 201 },
	},
	{
		name: '302 to another host',
		arrivals: 1,
		withRetry: 1,
		outcome: 'unknown',
		statusCode: 302,
		fault: { kind: 'status', status: 302, location: ELSEWHERE },
	},
	{
		name: '307 to another host',
		arrivals: 1,
		withRetry: 3,
		outcome: 'rejected',
		statusCode: 307,
		fault: { kind: 'status', status: 307, location: ELSEWHERE },
	},
	// A gateway says it also of what was carried out.
	{
		name: '401',
		arrivals: 1,
		withRetry: 1,
		outcome: 'rejected',
		statusCode: 401,
		fault: { kind: 'status', status: 401 },
	},
	{
		name: '407 of a proxy',
		arrivals: 1,
		withRetry: 3,
		outcome: 'notSent',
		statusCode: 407,
		fault: { kind: 'status', status: 407 },
	},
	{
		name: '422',
		arrivals: 1,
		withRetry: 3,
		outcome: 'rejected',
		statusCode: 422,
		fault: { kind: 'status', status: 422 },
	},
	{
		name: '500',
		arrivals: 1,
		withRetry: 1,
		outcome: 'unknown',
		statusCode: 500,
		fault: { kind: 'status', status: 500 },
	},
];

export interface Faults {
	sandbox: Sandbox;
	/** Where a redirect leads; nothing may ever arrive there. */
	elsewhere: Sandbox;
	/** The base URL for a payment of a case, whose External ID begins with its name. */
	baseUrl(fault: FaultCase): string;
	/** How often requests with this External ID arrived. */
	arrivals(external_id: string): number;
	/** What these had as Authorization. */
	tokensOf(external_id: string): Array<string | undefined>;
	close(): Promise<void>;
}

/** Starts the service that plays the cases, and where it redirects to. */
export async function startFaults(): Promise<Faults> {
	const [sandbox, elsewhere] = await Promise.all([Sandbox.start(), Sandbox.start()]);
	sandbox.faultFor = ({ body }) => {
		const { external_id } = JSON.parse(body) as { external_id: string };
		const fault = CASES.find(({ name }) => external_id.startsWith(`${name}|`))?.fault;
		return fault?.kind === 'status' && fault.location === ELSEWHERE
			? { ...fault, location: `${elsewhere.url}/v2/pay/payment` }
			: fault;
	};
	return {
		sandbox,
		elsewhere,
		baseUrl: ({ fault }) => (fault === undefined ? NOWHERE : sandbox.url),
		arrivals: (external_id) =>
			sandbox.bodies('payment').filter((body) => body.external_id === external_id).length,
		tokensOf: (external_id) =>
			sandbox.received
				.filter(({ body }) => body.includes(JSON.stringify(external_id)))
				.map(({ headers }) => headers.authorization),
		close: async () => {
			await Promise.all([sandbox.close(), elsewhere.close()]);
		},
	};
}

/** The settings of a node that decide what n8n does after a failure. */
export const SETTINGS = [
	{ retryOnFail: false, onError: 'stopWorkflow' },
	{ retryOnFail: false, onError: 'continueRegularOutput' },
	{ retryOnFail: false, onError: 'continueErrorOutput' },
	{ retryOnFail: true, onError: 'stopWorkflow' },
	{ retryOnFail: true, onError: 'continueRegularOutput' },
	{ retryOnFail: true, onError: 'continueErrorOutput' },
] as const;
export const MAX_TRIES = 3;
