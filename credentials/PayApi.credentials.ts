import type { Icon, ICredentialType } from 'n8n-workflow';
import { credentialFields } from '../nodes/Pay/account/fields';
import { authenticate, preAuthentication } from '../nodes/Pay/account/httpRequest';

export class PayApi implements ICredentialType {
	name = 'payApi';

	displayName = 'Pay API';

	icon: Icon = {
		light: 'file:../nodes/Pay/pay.svg',
		dark: 'file:../nodes/Pay/pay.dark.svg',
	};

	documentationUrl = 'https://example.com/n8n-nodes-pay#credentials';

	properties = credentialFields;

	authenticate = authenticate;

	preAuthentication = preAuthentication;
}
