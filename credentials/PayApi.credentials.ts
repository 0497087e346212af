import type { IAuthenticateGeneric, Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

export class PayApi implements ICredentialType {
	name = 'payApi';

	displayName = 'Pay API';

	icon: Icon = {
		light: 'file:../nodes/Pay/pay.svg',
		dark: 'file:../nodes/Pay/pay.dark.svg',
	};

	documentationUrl = 'https://example.com/n8n-nodes-pay#credential';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://api.example.com',
			description: 'Address of the service, without /v2/…',
		},
		{
			displayName: 'Access Token',
			name: 'accessToken',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'Token that the service gave you, without "Bearer" before it',
		},
		{
			displayName: 'Postback URL',
			name: 'postbackUrl',
			type: 'string',
			default: '',
			placeholder: 'e.g. https://n8n.example.com/webhook/…/postback',
			description:
				'Where the service sends status notifications unless a Pay node says otherwise: the Production URL of a Pay Trigger',
		},
		{
			displayName: 'Postback Secret',
			name: 'postbackSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description:
				'A long random text of your own. Pay nodes sign postback URLs with it, and the Pay Trigger takes only what it signed.',
		},
		{
			displayName: 'Previous Postback Secret',
			name: 'previousPostbackSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description:
				'While you replace the Postback Secret: the one before it. Postbacks signed with it are still taken; nothing is signed with it. Empty it when those have arrived.',
		},
		{
			displayName: 'Allow HTTP',
			name: 'allowHttp',
			type: 'boolean',
			default: false,
			description:
				'Whether the Base URL may use http: with other hosts than this machine. The token then travels unencrypted: only for a sandbox on a private network.',
		},
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.accessToken}}' } },
	};
}
