import { createHmac } from 'crypto';

/** n8n's context object of the execution, saved with it. */
export interface ExpectationStore {
	/** What postbacks were asked for; each name is of an external_id, an execution and a secret. */
	postbacks?: Record<string, true>;
}

/** The mark is too short to try out secrets with, and no proof: those are made of other texts. */
function nameOf(external_id: string, executionId: string, secret: string): string {
	const text = JSON.stringify([executionId, external_id]);
	const mark = createHmac('sha256', secret).update(text).digest('base64url').slice(0, 6);
	return `${mark} ${external_id}`;
}

/** Writes down that an execution asks for a postback to itself; called before the request is sent. */
export function expectPostback(
	store: ExpectationStore,
	external_id: string,
	executionId: string,
	secret: string,
): void {
	(store.postbacks ??= {})[nameOf(external_id, executionId, secret)] = true;
}

/**
 * Whether a postback can end a wait: this very execution asked for it (the editor's Retry is another
 * one, with the same store), with a secret that the wait takes.
 */
export function isExpected(
	{ postbacks = {} }: ExpectationStore,
	external_id: string,
	executionId: string,
	secrets: readonly string[],
): boolean {
	return secrets.some((secret) => postbacks[nameOf(external_id, executionId, secret)] === true);
}
