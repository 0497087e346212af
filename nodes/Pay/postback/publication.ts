import type { IHookFunctions } from 'n8n-workflow';
import { InputError } from '../inputError';

/*
 * Where n8n 1 has refused a publication, it shows the new settings, and publishes the ones of before next
 * time, unless the workflow is changed once more (measured on 1.123). "Pending" would start what is to
 * start on "paid". This process remembers what it published, so that it notices.
 */

/** A trigger as it was published last, and whether other settings of it were refused after that. */
interface Publication {
	accepted: string;
	wereOthersRefused: boolean;
}

const publications = new Map<string, Publication>();

const keyOf = (context: IHookFunctions) => `${context.getWorkflow().id} ${context.getNode().id}`;

/** What a person can change in the editor. */
function settingsOf(context: IHookFunctions): string {
	const { parameters, position, credentials } = context.getNode();
	return JSON.stringify([parameters, position, credentials]);
}

/** Throws an InputError where n8n 1 publishes the trigger as it was before a refused publication. */
export function refuseSettingsOfBefore(context: IHookFunctions): void {
	const last = publications.get(keyOf(context));
	if (last?.wereOthersRefused !== true || last.accepted !== settingsOf(context)) return;
	throw new InputError(
		'',
		'After a publication that was refused, n8n 1 goes on with the settings of before, whatever the form shows',
		'Move this node a little, then save.',
	);
}

/** Remembers how the trigger is published. */
export function recordPublication(context: IHookFunctions): void {
	publications.set(keyOf(context), { accepted: settingsOf(context), wereOthersRefused: false });
}

/** Remembers that a publication of the trigger was refused. */
export function recordRefusal(context: IHookFunctions): void {
	const last = publications.get(keyOf(context));
	if (last !== undefined && last.accepted !== settingsOf(context)) last.wereOthersRefused = true;
}
