import type { IWebhookFunctions } from 'n8n-workflow';
import { headerFault, knownOfSender, type SenderRule, signatureFault } from '../account/sender';
import type { PostbackMatch } from '../fields/condition';
import type { StatusWords } from '../service/state';
import type { FormOfN8n } from './body';
import { type ChallengeRule, respondIfChallenge, respondIfIn } from './challenge';
import { hasTooManyEntries, type TakenPostback, takenPostback } from './match';
import { headersOf, readContent, readPostback } from './postback';
import type { Reference } from './proof';
import { refusePostback } from './respond';

/** What is asked of a postback. */
interface PostbackTerms {
	/** True where its URL must prove which charge or payment it is about. */
	needsProof: boolean;
	/** How long its body may take, in milliseconds. */
	bodyTime: number;
	/** How the service shows that it sent it; undefined where that is not checked. */
	sender: SenderRule | undefined;
	/** The path of the URL as the service has it: a proxy on the way may cut what n8n gets of it. */
	path: string;
	/** The words of the account, if it has any. */
	statusWords: StatusWords | undefined;
	/** What it must hold for the workflow to go on; undefined where any will do. */
	match: PostbackMatch | undefined;
	/** How to recognize a challenge, which a request without a proof may be; undefined where none is answered. */
	challenge?: ChallengeRule;
	/** n8n's own token, which the query of a resume URL holds. */
	resumeToken?: string;
}

/**
 * Takes a postback: checks its proof, then its sender, and only then reads its body. Of a request without a proof
 * nothing is read but what makes it a challenge. Rejects where the body cannot be read.
 * @param reference what its URL proves
 * @returns the genuine postback, or n8n's value for a request that has its response
 */
export async function take(
	context: IWebhookFunctions,
	reference: Reference | null,
	terms: PostbackTerms,
): Promise<TakenPostback | { noWebhookResponse: true }> {
	const { sender, statusWords, match, resumeToken } = terms;
	// A proven URL says which charge the request is about, so it is no challenge.
	const challenge = reference === null ? terms.challenge : undefined;
	const genuine = await readGenuine(context, reference, terms);
	if ('fault' in genuine) {
		const responded = challenge && (await respondIfChallenge(context, challenge));
		return responded ?? refusePostback(context, 401, genuine.fault);
	}
	const known = { ...knownOfSender(sender, headersOf(context)), resumeToken };
	const postback = await readPostback(context, genuine.content, known);
	const taken = takenPostback(postback, reference);
	if (hasTooManyEntries(taken, statusWords, match)) {
		return refusePostback(context, 413, 'The list has too many entries');
	}
	// By now the sender is verified, or nobody asked for that.
	return (challenge && respondIfIn(context, challenge, taken)) ?? taken;
}

/** Reads the body of a genuine request; of any other one it gives, in words, why it is not genuine. */
async function readGenuine(
	context: IWebhookFunctions,
	reference: Reference | null,
	{ needsProof, sender, path, bodyTime }: PostbackTerms,
): Promise<{ content: Buffer | FormOfN8n } | { fault: string }> {
	if (needsProof && reference === null) {
		return { fault: 'This address accepts only postbacks with a valid proof' };
	}
	const headers = headersOf(context);
	const wrongHeader = sender && headerFault(sender, headers);
	if (wrongHeader !== undefined) return { fault: `${UNKNOWN_SENDER}: ${wrongHeader}` };
	const content = await readContent(context, bodyTime);
	const { method } = context.getRequestObject();
	const wrongBody = sender && signatureFault(sender, { headers, method, path }, content);
	if (wrongBody !== undefined) return { fault: `${UNKNOWN_SENDER}: ${wrongBody}` };
	return { content };
}

const UNKNOWN_SENDER = 'The sender cannot be verified';
