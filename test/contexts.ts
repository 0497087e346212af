import type { IExecuteFunctions, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

/*
 * What n8n hands to a node, for a unit that asks little of it. Whole nodes are called in n8n's own contexts
 * (engine/engine.ts, engine/webhook.ts).
 */
type Members = Record<string, unknown>;

const base = (): Members => ({
	getNode: () => ({ id: 'node-1', name: 'Pay Trigger', parameters: {} }),
	getWorkflow: () => ({ id: 'w', name: 'Orders' }),
	logger: { warn: () => undefined },
});

/** A trigger that is published, unless a member says otherwise. */
export function hookContext(members: Members): IHookFunctions {
	const context = { ...base(), getActivationMode: () => 'activate', ...members };
	return context as unknown as IHookFunctions;
}

/** A postback that came without a query, to a response that can be finished and asked for nothing. */
export function webhookContext(members: Members = {}): IWebhookFunctions {
	const context = {
		...base(),
		getQueryData: () => ({}),
		getHeaderData: () => ({}),
		getResponseObject: () => ({ once: () => undefined }),
		...members,
	};
	return context as unknown as IWebhookFunctions;
}

/** A node that runs. */
export function executeContext(members: Members): IExecuteFunctions {
	return { ...base(), ...members } as unknown as IExecuteFunctions;
}
