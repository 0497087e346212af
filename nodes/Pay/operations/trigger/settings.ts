import { UserError, type IHookFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { credentialOfTrigger } from '../../credential/accounts';
import { parseSecrets } from '../../credential/connection';
import { readDescription } from '../../credential/description';
import type { PayCredential } from '../../credential/fields';
import {
	readSenderRule,
	refuseUnsignedFields,
	refuseUnsignedMatch,
	type SenderRule,
} from '../../credential/sender';
import { InputError, inWords } from '../../inputError';
import {
	matchOf,
	readCondition,
	refuseMisplacedCondition,
	startCondition,
	type PostbackMatch,
} from '../../parameters/condition';
import { wrongField } from '../../parameters/label';
import { challengeField, readChallengeField, type ChallengeRule } from '../../postback/challenge';
import type { StatusWords } from '../../service/postbackState';
import { readAuthentication, type Authentication } from './form';

/** Why a trigger without a Postback Secret takes nothing. */
export const NO_SECRET =
	'Postbacks could not be verified: enter 30 random characters as Postback Secret in the Pay API credential of this trigger, the same as in that of the Pay nodes';

const NO_SENDER =
	'Check the Sender is None in the Pay API credential of this trigger: choose there how the service shows that a postback is its own';

/** What a trigger checks postbacks with. */
interface TriggerSettings {
	authentication: Authentication;
	/** What makes proofs in URLs; "" where the credential has none, or the trigger has no credential. */
	secret: string;
	/** All whose proofs are taken: the previous one too, while it is being replaced. */
	acceptedSecrets: string[];
	sender: SenderRule | undefined;
	/** The words of the account, if it has any. */
	statusWords: StatusWords | undefined;
	/** What a postback must hold to start the workflow; undefined where any will do. */
	match: PostbackMatch | undefined;
	challenge: ChallengeRule | undefined;
}

const WHERE_WORDS_BELONG: Record<Authentication, string> = {
	signedUrl: 'Open the credential of this trigger.',
	sender: 'Open the credential of this trigger.',
	none: 'Set Authentication to Signed URL or Sender: without it this trigger has no credential.',
};

/** Why n8n does not give a trigger's credential: it is gone, or an expression in it needs an item. */
function unreadableCredential(error: unknown): Error {
	if (error instanceof InputError) return error;
	return new UserError(
		`The Pay API credential of this trigger cannot be read (${inWords(error)}). Select another one, or enter as text what is an expression in it: a trigger has no item yet`,
	);
}

/** Reads how a challenge is told from a postback; undefined where none is answered. Throws an InputError. */
function readChallenge(
	typedOptions: unknown,
	authentication: Authentication,
	words: StatusWords | undefined,
): ChallengeRule | undefined {
	const field = readChallengeField(typedOptions);
	if (field === undefined) return undefined;
	// Without authentication nothing says which postbacks are about money: a person has chosen the field.
	if (authentication === 'none' || words !== undefined) return { field, words };
	throw wrongField(
		challengeField,
		'needs the Status Field of the Pay API credential: without it a postback could be taken for a challenge',
		'In the credential of this trigger, under Describe the Service, enter the Status Field and the Paid Values.',
	);
}

/**
 * Reads what a trigger checks postbacks with, at its publication and at each call: somebody may have taken
 * it out since. Rejects with an error in words where the form or the credential cannot be read, or lacks it.
 */
export async function readSettings(
	context: IHookFunctions | IWebhookFunctions,
): Promise<TriggerSettings> {
	const { parameters } = context.getNode();
	const authentication = readAuthentication(
		parameters.authentication,
		context.getNodeParameter('authentication'),
	);
	const credential: PayCredential =
		authentication === 'none'
			? {}
			: await credentialOfTrigger(context).catch((error: unknown) => {
					throw unreadableCredential(error);
				});
	const { current, accepted } = parseSecrets(credential);
	if (authentication === 'signedUrl' && accepted.length === 0) throw new UserError(NO_SECRET);
	const sender = readSenderRule(credential);
	if (authentication === 'sender' && sender === undefined) {
		throw new UserError(NO_SENDER);
	}
	const { statusWords } = readDescription(credential);
	refuseUnsignedFields(credential, statusWords);
	refuseMisplacedCondition(parameters, 'startWhen');
	const condition = readCondition((name) => context.getNodeParameter(name, ''), startCondition);
	const match = matchOf(condition, statusWords, 'startWhen', WHERE_WORDS_BELONG[authentication]);
	refuseUnsignedMatch(match, sender);
	return {
		authentication,
		secret: current,
		acceptedSecrets: accepted,
		sender,
		statusWords,
		match,
		challenge: readChallenge(parameters.options, authentication, statusWords),
	};
}
