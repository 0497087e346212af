import {
	WAIT_INDEFINITELY,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type IWebhookDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { readSecrets, readSecretsOfWait } from '../../credential/secret';
import { failAll } from '../../execution/report';
import { InputError } from '../../inputError';
import { isMatch, readFieldMatch, type FieldMatch } from '../../parameters/fieldMatch';
import { showFor, type ReadParameter } from '../../parameters/parameter';
import { parseExternalId } from '../../parameters/text';
import { expectationOf, isExpected } from '../../postback/expectation';
import { verify } from '../../postback/proof';
import { POSTBACK_METHODS, readPostback, refuse, toItem } from '../../postback/receive';

const MINUTE = 60_000;
const UNITS: Record<string, number> = {
	seconds: 1000,
	minutes: MINUTE,
	hours: 60 * MINUTE,
	days: 24 * 60 * MINUTE,
};

export const option = {
	name: 'Wait',
	value: 'wait',
	action: 'Wait for a postback',
	description: 'Wait until the service reports the status of one charge or payment',
};

export const description: INodeProperties[] = showFor(
	[
		{
			displayName:
				'The Pay node before this one must have Postback set to "Resume This Execution". Run both with "Execute workflow": each step alone is another execution. One item at a time: for several, put both nodes into a Loop Over Items.',
			name: 'waitNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'External ID',
			name: 'external_id',
			type: 'string',
			default: '={{ $json.external_id }}',
			required: true,
			description: 'Identifier of the charge or payment to wait for',
		},
		{
			displayName: 'Resume',
			name: 'resumeWhen',
			type: 'options',
			options: [
				{
					name: 'On Any Postback',
					value: 'any',
					description: 'Go on with the first one, also when it says "pending" or "failed"',
				},
				{
					name: 'When a Field Has a Value',
					value: 'match',
					description: 'Answer other postbacks too, but keep waiting. Those are not stored.',
				},
			],
			default: 'any',
			description: 'Which postback lets the workflow go on',
		},
		{
			displayName: 'Field',
			name: 'matchField',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. data.status',
			displayOptions: { show: { resumeWhen: ['match'] } },
			description:
				"Field of the postback's body, or of its query, with dots between the levels. The form of the body is not documented: look at one postback in a Pay Trigger first.",
		},
		{
			displayName: 'Values',
			name: 'matchValues',
			type: 'string',
			typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Value' },
			default: [],
			required: true,
			displayOptions: { show: { resumeWhen: ['match'] } },
			description: 'Values of that field that let the workflow go on, upper and lower case as sent',
		},
		{
			displayName: 'Limit Wait Time',
			name: 'limitWaitTime',
			type: 'boolean',
			default: false,
			description:
				'Whether to go on without a postback after a while. The item then has no "postback" field.',
		},
		{
			displayName: 'Wait at Most',
			name: 'resumeAmount',
			type: 'number',
			typeOptions: { minValue: 0, numberPrecision: 2 },
			default: 1,
			displayOptions: { show: { limitWaitTime: [true] } },
			description:
				'How many of the units below to wait. N8n looks for ended waits about once a minute.',
		},
		{
			displayName: 'Wait at Most (Unit)',
			name: 'resumeUnit',
			type: 'options',
			options: [
				{ name: 'Days', value: 'days' },
				{ name: 'Hours', value: 'hours' },
				{ name: 'Minutes', value: 'minutes' },
				{ name: 'Seconds', value: 'seconds' },
			],
			default: 'hours',
			displayOptions: { show: { limitWaitTime: [true] } },
			description: 'Unit of the time to wait',
		},
	],
	'postback',
	'wait',
);

/** The node answers on the resume URL of an execution that waits here, and nowhere else. */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: POSTBACK_METHODS,
		responseMode: 'onReceived',
		responseData: 'noData',
		path: '',
		restartWebhook: true,
	},
];

/** Which of its own postbacks end the wait; undefined where any does. */
function readMatch(read: ReadParameter): FieldMatch | undefined {
	if (read('resumeWhen') !== 'match') return undefined;
	return readFieldMatch(read('matchField'), read('matchValues'), 'matchField');
}

/**
 * The token that newer n8n puts into resume URLs, without which it answers 401 itself. n8n 1 and 2.0
 * have none (measured), and there anyone can guess the address.
 */
function resumeTokenOf(context: Pick<IExecuteFunctions, 'evaluateExpression'>): string {
	const url = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0)));
	return url.searchParams.get('signature') ?? '';
}

function readLimit(read: ReadParameter): Date {
	if (read('limitWaitTime') !== true) return WAIT_INDEFINITELY;
	const amount = read('resumeAmount');
	const unit: unknown = UNITS[String(read('resumeUnit'))];
	// An expression may give the name of what every object has.
	if (typeof amount !== 'number' || !(amount >= 0) || typeof unit !== 'number') {
		throw new InputError('resumeAmount', 'The wait time is no number', 'Enter how long to wait.');
	}
	return new Date(Math.min(Date.now() + amount * unit, WAIT_INDEFINITELY.getTime()));
}

/** Checks the parameters and puts the execution to sleep until {@link receive} wakes it. */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	try {
		if (items.length > 1) {
			throw new InputError(
				'external_id',
				`An execution can wait for one postback at a time, but ${items.length} items came in`,
				'Put the Pay node and this one into a Loop Over Items with batch size 1, or use a Pay Trigger in a workflow of its own.',
			);
		}
		const read: ReadParameter = (name) => context.getNodeParameter(name, 0, undefined);
		parseExternalId(read('external_id'));
		readMatch(read);
		const { taken } = await readSecretsOfWait(context);
		if (taken.length === 0 && resumeTokenOf(context) === '') {
			throw new InputError(
				'postbackSecret',
				'This version of n8n does not protect resume URLs, and the Pay API credential has no Postback Secret',
				'Anyone could resume this execution by guessing its number. Enter a long random text as Postback Secret in the credential.',
			);
		}
		await context.putExecutionToWait(readLimit(read));
		// Copies: under "Continue (using error output)" n8n empties the list that it is given, and the
		// input would be gone when the postback comes.
		return [items.map((item) => ({ ...item }))];
	} catch (error) {
		return failAll(context, error);
	}
}

/**
 * The item that waits. As text through n8n's expression engine: a key like "toString" in it would
 * break the engine's own copy.
 */
function waitingItem(context: IWebhookFunctions): INodeExecutionData {
	const text = context.evaluateExpression('{{ JSON.stringify($input.all()[0]) }}', 0);
	return JSON.parse(String(text)) as INodeExecutionData;
}

/**
 * Takes a call to the resume URL of a waiting execution. Proof first, body after: nothing of an
 * unproven request is read.
 * @returns the input item with the postback to go on with; else an answer, and the wait goes on
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { taken } = await readSecrets(context);
	const query = context.getQueryData() as Record<string, unknown>;
	const reference = verify(query, taken);
	const resumeToken = resumeTokenOf(context);
	// Asked at each call: the secret may have been removed since the wait began.
	const isProtected = resumeToken !== '' && query.signature === resumeToken;
	if (reference === null && (taken.length > 0 || !isProtected)) {
		return refuse(context, 401, 'This address takes only postbacks with a valid signature');
	}
	const read: ReadParameter = (name) => context.getNodeParameter(name);
	const item = waitingItem(context);
	const expectation = expectationOf(parseExternalId(read('external_id')), item.json);
	if (reference !== null && !isExpected(expectation, reference)) {
		return refuse(context, 409, 'The execution is waiting for another charge or payment');
	}
	const match = readMatch(read);
	const postback = await readPostback(context, resumeToken);
	if (match && !isMatch(match, postback.body, postback.query)) return { webhookResponse: '' };
	return { workflowData: [[await toItem(context, postback, reference, item)]] };
}
