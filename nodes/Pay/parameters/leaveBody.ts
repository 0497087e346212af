import type { INodeProperties } from 'n8n-workflow';

/**
 * What `options` hold for n8n to leave a request's body to the node. Else n8n reads it before any proof,
 * and refuses charsets such as ISO-8859-1 (measured on 2.41 and 1.123); the node takes the rest. n8n asks
 * for it in nodes of version 1 alone.
 */
export const LEAVE_BODY = { binaryData: true };

/** As a member of `options`; nobody sees it, and the default of `options` holds it. */
export const leaveBodyOption: INodeProperties = {
	displayName: 'Leave the Body to This Node',
	name: 'binaryData',
	type: 'hidden',
	default: true,
};

/** Whether n8n leaves the body to a node with these options: workflows that others wrote lack it. */
export const isBodyLeft = (options: unknown) =>
	(options as typeof LEAVE_BODY | undefined)?.binaryData === true;
