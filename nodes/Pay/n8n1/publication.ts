import type { IHookFunctions } from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import { InputError } from '../base/inputError';
import { isN8n1 } from './version';

/*
 * Where a publication was refused, n8n 1 shows the triggers as they were changed, and publishes them as they
 * were before next time, unless the workflow is changed once more (measured on 1.123). "Pending" would start
 * what is to start on "paid". A trigger cannot see whether another node was refused, or changed. So what was
 * published once is published again only where it was published last, and nothing was refused since. This
 * process remembers it.
 */

/** How a trigger was published. */
interface Publications {
	/** The settings it was published with. */
	settings: BoundedMap<string, true>;
	/** The last ones; undefined after a refusal. */
	last?: string;
}

/** Of one trigger. Older settings may be published again without a warning, as after a restart. */
const MOST_SETTINGS = 100;
/** The same goes for a trigger that is dropped. */
const MOST_TRIGGERS = 1_000;
const publications = new BoundedMap<string, Publications>(MOST_TRIGGERS);

function publicationsOf(context: IHookFunctions): Publications {
	const key = `${context.getWorkflow().id} ${context.getNode().id}`;
	const known = publications.get(key) ?? { settings: new BoundedMap(MOST_SETTINGS) };
	publications.set(key, known);
	return known;
}

/** A person who only listens for a test postback publishes nothing. */
const isRemembered = (context: IHookFunctions) =>
	isN8n1 && context.getActivationMode() !== 'manual';

/** What a person can change in the editor. */
function settingsOf(context: IHookFunctions): string {
	const { parameters, position, credentials } = context.getNode();
	return JSON.stringify([parameters, position, credentials]);
}

/**
 * Begins a publication, which counts as refused unless {@link endPublication} is called. Throws an InputError
 * where n8n 1 may publish other settings than it shows: those of before.
 */
export function beginPublication(context: IHookFunctions): void {
	if (!isRemembered(context)) return;
	const known = publicationsOf(context);
	const settings = settingsOf(context);
	if (settings !== known.last && known.settings.has(settings)) {
		throw new InputError(
			'',
			'n8n 1 would publish this trigger with its earlier settings, whatever the form shows',
			`Move the node "${context.getNode().name}" a little, then save. If the workflow is not active, switch it to Active.`,
		);
	}
	known.last = undefined;
}

/** The trigger is published as it is. */
export function endPublication(context: IHookFunctions): void {
	if (!isRemembered(context)) return;
	const known = publicationsOf(context);
	known.last = settingsOf(context);
	known.settings.set(known.last, true);
}
