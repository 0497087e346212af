import {
	NodeOperationError,
	WAIT_INDEFINITELY,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type IWebhookDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import type { PayCredential } from '../../credential/connection';

import { showFor, type ReadParameter } from '../../parameters/parameter';
import { InputError } from '../../inputError';
import { parseExternalId } from '../../parameters/text';
import { asJson, readNotification, refuse } from '../../postback/receive';
import { verifyQuery } from '../../postback/proof';
import { decide, type Expectation } from '../../postback/expectation';

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
				'The Pay node before this one must have Postback set to "Resume This Execution". One item at a time: for several, put both nodes into a Loop Over Items.',
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
				{ name: 'On Any Postback', value: 'any' },
				{
					name: 'When a Field Has a Value',
					value: 'match',
					description: 'Take other postbacks too, but keep waiting',
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
				"Field of the postback's body, with dots between the levels. The form of the body is not documented: look at one postback in a Pay Trigger first.",
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
			displayName: 'Amount',
			name: 'resumeAmount',
			type: 'number',
			typeOptions: { minValue: 0, numberPrecision: 2 },
			default: 1,
			displayOptions: { show: { limitWaitTime: [true] } },
			description: 'How long to wait. N8n looks for ended waits about once a minute.',
		},
		{
			displayName: 'Unit',
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
			description: 'Unit of the amount',
		},
	],
	'postback',
	'wait',
);

/** The node answers on the resume URL of an execution that waits here, and nowhere else. */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		// The method of a postback is not documented (section 6), so all that carry one are taken.
		httpMethod: '={{"GET,POST,PUT,PATCH,DELETE"}}' as 'POST',
		responseMode: 'onReceived',
		responseData: 'noData',
		path: '',
		restartWebhook: true,
	},
];

function readExpectation(read: ReadParameter, secret: string | undefined): Expectation {
	const expectation = { external_id: parseExternalId(read('external_id')), signed: !!secret };
	if (read('resumeWhen') !== 'match') return expectation;
	const field = String(read('matchField') ?? '').trim();
	const values = [read('matchValues') ?? []].flat().map(String);
	if (field === '' || values.length === 0) {
		throw new InputError(
			'matchField',
			'The field or its values are missing',
			'Enter the field of the body to look at and at least one value.',
		);
	}
	return { ...expectation, match: { field, values } };
}

function readLimit(read: ReadParameter): Date {
	if (read('limitWaitTime') !== true) return WAIT_INDEFINITELY;
	const amount = read('resumeAmount');
	const unit = UNITS[String(read('resumeUnit'))];
	if (typeof amount !== 'number' || !(amount >= 0) || unit === undefined) {
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
		const { postbackSecret } = await context.getCredentials<PayCredential>('payApi');
		readExpectation(read, postbackSecret);
		const resumeUrl = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0)));
		if (!postbackSecret && !resumeUrl.searchParams.has('signature')) {
			throw new InputError(
				'postbackSecret',
				'This version of n8n does not protect resume URLs, and the Pay API credential has no Postback Secret',
				'Anyone could resume this execution by guessing its number. Enter a long random text as Postback Secret in the credential.',
			);
		}
		await context.putExecutionToWait(readLimit(read));
		return [items];
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		const advice = error instanceof InputError ? error.advice : undefined;
		const failure = { message, description: advice };
		if (context.continueOnFail()) {
			return [items.map((_, item) => ({ json: { error: failure }, pairedItem: { item } }))];
		}
		throw new NodeOperationError(context.getNode(), message, { description: advice, itemIndex: 0 });
	}
}

/**
 * Takes a call to the resume URL of a waiting execution.
 * @returns the input item with the postback to go on with; else an answer, and the wait goes on
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { postbackSecret } = await context.getCredentials<PayCredential>('payApi');
	const query = context.getQueryData() as Record<string, unknown>;
	const reference = verifyQuery(query, postbackSecret ?? '');
	const expectation = readExpectation((name) => context.getNodeParameter(name), postbackSecret);
	const notification = await readNotification(context, reference);
	switch (decide(expectation, reference, notification.body)) {
		case 'unsigned':
			return refuse(context, 401, 'This address takes only postbacks with a valid signature');
		case 'foreign':
			return refuse(context, 409, 'The execution is waiting for another charge or payment');
		case 'keepWaiting':
			return { webhookResponse: '' };
		case 'resume': {
			const input = context.evaluateExpression('{{ $json }}') as unknown as IDataObject;
			const json = { ...input, postback: asJson(notification) };
			return { workflowData: [[{ json, pairedItem: { item: 0 } }]] };
		}
	}
}
