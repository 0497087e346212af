import { NodeOperationError, UserError, type IHookFunctions } from 'n8n-workflow';
import { inWords } from '../../inputError';
import { logWarning } from '../../log';
import { isBodyLeft } from '../../parameters/leaveBody';
import { refuseExpressions, requireFieldByField } from '../../parameters/parameter';
import { readChallengeField } from '../../postback/challenge';
import { beginPublication, endPublication } from '../../n8n1/publication';
import { refuseExpression, refuseWrongResponse, responseBodyField } from '../../postback/response';
import { chosenOptions, readSkipRepeats, refuseWrongTime, triggerProperties } from './form';
import { NO_SECRET, readSettings } from './settings';

const BODY_IS_READ =
	'Pay Trigger: the JSON of this node has "options" without "binaryData": true, so n8n reads postbacks before the node, and responds with 422 to charsets such as ISO-8859-1. To take those too, add it there, or delete the node and add it again';

/** Checks all that would make every postback fail, before n8n listens. Rejects with an error in words. */
async function checkTrigger(context: IHookFunctions): Promise<void> {
	requireFieldByField(triggerProperties, context.getNode().parameters);
	const { options: typedOptions } = context.getNode().parameters;
	// Before n8n resolves them: what it says of an expression here names neither field nor remedy.
	refuseExpression(typedOptions, responseBodyField);
	readChallengeField(typedOptions);
	// Where n8n responds it takes an expression inside of Options for a text: each postback would get 500.
	refuseExpressions(chosenOptions, typedOptions);
	const options = context.getNodeParameter('options', {});
	if (!isBodyLeft(options)) logWarning(context, BODY_IS_READ);
	refuseWrongTime(options);
	refuseWrongResponse(typedOptions, options);
	readSkipRepeats(options);
	const { authentication, secret } = await readSettings(context);
	if (authentication === 'signedUrl' && secret === '') throw new UserError(NO_SECRET);
}

/**
 * Why a publication is refused, as n8n shows it. It names the credential: people have several, and n8n fills
 * in one of them. n8n stops a trigger that listens when its next publication is refused, so it says that too.
 */
function publicationError(context: IHookFunctions, error: unknown): NodeOperationError {
	const node = context.getNode();
	const why = inWords(error);
	const sentences = [why.endsWith('.') ? why : `${why}.`];
	const credential = node.credentials?.payApi;
	if (credential !== undefined && node.parameters.authentication !== 'none') {
		sentences.push(`This trigger has the credential "${credential.name}".`);
	}
	if (context.getActivationMode() !== 'manual') {
		const url = context.getNodeWebhookUrl('default');
		sentences.push(`Until this workflow is published, no postback to ${url} is taken.`);
	}
	return new NodeOperationError(node, sentences.join(' '));
}

/** Checks a trigger before n8n listens. Rejects with n8n's error where a postback could not be taken. */
export async function publish(context: IHookFunctions): Promise<void> {
	try {
		beginPublication(context);
		await checkTrigger(context);
		endPublication(context);
	} catch (error) {
		throw publicationError(context, error);
	}
}
