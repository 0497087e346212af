import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';

/**
 * What `options` must hold for n8n to leave a request's body to the node. Else n8n reads it before any
 * proof, and refuses charsets such as ISO-8859-1 (measured on 2.41 and 1.123). Nothing else asks for it,
 * and only for nodes of version 1.
 */
export const LEAVE_BODY = { binaryData: true };

/** As a member of `options`; nobody sees it, and the default of `options` holds it. */
export const leaveBodyOption: INodeProperties = {
	displayName: 'Leave the Body to This Node',
	name: 'binaryData',
	type: 'hidden',
	default: true,
};

/** Refuses `options` without it, as those typed as JSON or as one expression may be: InputError. */
export function refuseBodyNotLeft(options: unknown): void {
	if ((options as typeof LEAVE_BODY | undefined)?.binaryData === true) return;
	throw new InputError(
		'options',
		'The JSON of this node has "options" without "binaryData": true, so n8n would refuse postbacks in charsets such as ISO-8859-1',
		'In the JSON of the workflow, add it or remove "options"; or delete this node and add it again.',
	);
}
