import type { INodeProperties } from 'n8n-workflow';
import {
	type Condition,
	conditionFields,
	readCondition,
	refuseMisplacedCondition,
	resumeCondition,
} from '../fields/condition';
import type { ReadParameter } from '../fields/expressions';
import { readWaitLimit, waitLimitFields } from '../fields/options';
import { AWAITED_ID, readExternalId } from '../fields/text';
import { refuseWrongResponseOfWait, responseOfWaitField } from './respond';

export const waitFields: INodeProperties[] = [
	{
		displayName:
			'In the Pay node that makes the charge or payment, set Postback to "Resume This Execution". Run both nodes with "Execute workflow", because a single step is an execution of its own. A wait takes one item at a time: for several, put both nodes into a Loop Over Items.',
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
		description: 'External ID of the item whose postback is awaited',
	},
	...conditionFields(resumeCondition),
	...waitLimitFields,
	responseOfWaitField,
];

/**
 * Reads the form of a wait, when it begins and also before the charge or payment that it waits for is sent.
 * @param typed the wait's parameters as they were typed
 * @returns the limit in milliseconds
 */
export function readWait(
	typed: Readonly<Record<string, unknown>>,
	read: ReadParameter,
): { external_id: string; limit: number; condition: Condition } {
	refuseMisplacedCondition(typed, resumeCondition.name);
	refuseWrongResponseOfWait(typed);
	return {
		external_id: readExternalId(read('external_id'), AWAITED_ID),
		limit: readWaitLimit(read),
		condition: readCondition(read, resumeCondition),
	};
}
