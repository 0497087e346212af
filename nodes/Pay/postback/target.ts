import type { INodeProperties } from 'n8n-workflow';
import { InputError } from '../inputError';
import { parsePostbackUrl } from './postbackUrl';
import { labelOf } from '../parameters/label';
import type { ReadParameter } from '../parameters/parameter';

/** Where the service sends its status notifications, and `postbackUrl` (sections 2.1, 2.2, 6). */
export const postbackFields: INodeProperties[] = [
	{
		displayName: 'Postback',
		name: 'postback',
		type: 'options',
		options: [
			{
				name: 'As Set in the Credential',
				value: 'credential',
				description:
					'Send postbacks to the Postback URL of the credential. Without one there, none are requested.',
			},
			{
				name: 'No Postback',
				value: 'none',
				description: 'Request no postback',
			},
			{
				name: 'Resume This Execution',
				value: 'resume',
				description: 'Send postbacks to a Wait for Postback operation further down this workflow',
			},
			{
				name: 'To a URL',
				value: 'url',
				description: 'Send postbacks to the URL entered below',
			},
		],
		default: 'credential',
		description: 'Where the service sends its status notifications about this item',
	},
	{
		displayName: 'Postback URL',
		name: 'postbackUrl',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://n8n.example.com/webhook/…/postback',
		displayOptions: { show: { postback: ['url'] } },
		description:
			'URL that receives the notifications, for example the Production URL of a Pay Trigger',
	},
];

/** What an item's choice comes to: a URL that is not yet signed, or none, and why. */
type PostbackTarget = { url: string } | { url?: undefined; hint?: string };

/**
 * Reads where an item's postback goes.
 * @param ofCredential the credential's Postback URL
 * @param resumeUrl gives this execution's resume URL
 * @throws InputError
 */
export function readPostbackTarget(
	read: ReadParameter,
	ofCredential: string | undefined,
	resumeUrl: () => unknown,
): PostbackTarget {
	const choice = read('postback');
	switch (choice) {
		case 'none':
			return {};
		case 'credential':
			return ofCredential === undefined
				? {
						hint: 'You will not be told when this is paid: the credential has no Postback URL. Add a Pay Trigger and paste its Production URL there.',
					}
				: { url: parsePostbackUrl(ofCredential) };
		case 'url':
			return { url: parsePostbackUrl(read('postbackUrl')) };
		case 'resume':
			return { url: parsePostbackUrl(resumeUrl()) };
		default:
			throw new InputError(
				'postback',
				`${labelOf('postback')} must be one of credential, none, resume and url, but is ${JSON.stringify(choice) ?? 'undefined'}`,
				'Choose one from the list.',
			);
	}
}
