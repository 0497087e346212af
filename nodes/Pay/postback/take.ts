import type { IWebhookFunctions } from 'n8n-workflow';
import { headerFault, knownOfSender, signatureFault, type SenderRule } from '../credential/sender';
import type { StatusWords } from '../service/postbackState';
import { judgePostback, type JudgedPostback } from './match';
import { respondIfIn, respondToChallenge, type ChallengeRule } from './challenge';
import type { Reference } from './proof';
import { refuseUnproven, refuseWrongSender } from './refuse';
import { headersOf, readContent, readPostback } from './request';

/** What is asked of a postback. */
interface PostbackTerms {
	/** Whether its URL must prove what it is about. */
	needsProof: boolean;
	/** How long its body may take, in milliseconds. */
	bodyTime: number;
	/** How the service shows that it sent it; undefined where that is not checked. */
	sender: SenderRule | undefined;
	/** The URL as the service has it: a proxy on the way may cut what n8n gets of it. */
	urlGivenOut: string;
	/** The words of the account, if it has any. */
	statusWords: StatusWords | undefined;
	/** What a request whose URL proves nothing may be instead; undefined where that is nothing. */
	challenge?: ChallengeRule;
	/** n8n's own token, which the query of a resume URL holds. */
	resumeToken?: string;
}

/** Why a body is not what its service signed, in words for a log; undefined where it is, or is not signed. */
function faultOfBody(
	context: IWebhookFunctions,
	{ sender, urlGivenOut }: PostbackTerms,
	content: object,
): string | undefined {
	if (sender === undefined) return undefined;
	const request = {
		headers: headersOf(context),
		method: context.getRequestObject().method,
		path: URL.canParse(urlGivenOut) ? new URL(urlGivenOut).pathname : '',
	};
	return signatureFault(sender, request, content);
}

/** Responds to a request that shows no sign of the service where it is a challenge; undefined where it is none. */
async function respondIfChallenge(
	context: IWebhookFunctions,
	reference: Reference | null,
	{ challenge }: PostbackTerms,
): Promise<{ noWebhookResponse: true } | undefined> {
	// Whose URL is proven says which charge it is about, so it is no challenge.
	if (challenge === undefined || reference !== null) return undefined;
	return await respondToChallenge(context, challenge);
}

/**
 * The one way in for a postback: proof, sender, body. Nothing of an unproven request is read but what makes it a
 * challenge, and nothing is read as a postback before its sender is known. Rejects where the body cannot be read.
 * @param reference what its URL proves
 * @returns the postback, genuine and judged, or n8n's value for a request that was refused and has its response
 */
export async function take(
	context: IWebhookFunctions,
	reference: Reference | null,
	terms: PostbackTerms,
): Promise<JudgedPostback | { noWebhookResponse: true }> {
	const { sender, statusWords, challenge, resumeToken } = terms;
	if (terms.needsProof && reference === null) {
		const responded = await respondIfChallenge(context, reference, terms);
		return responded ?? refuseUnproven(context);
	}
	const wrongHeader = sender && headerFault(sender, headersOf(context));
	if (wrongHeader !== undefined) {
		const responded = await respondIfChallenge(context, reference, terms);
		return responded ?? refuseWrongSender(context, wrongHeader);
	}
	const content = await readContent(context, terms.bodyTime);
	const wrongBody = faultOfBody(context, terms, content);
	if (wrongBody !== undefined) {
		const responded = await respondIfChallenge(context, reference, terms);
		return responded ?? refuseWrongSender(context, wrongBody);
	}
	const known = { ...knownOfSender(sender, headersOf(context)), resumeToken };
	const postback = await readPostback(context, content, known);
	const judged = judgePostback(postback, reference, statusWords);
	if (challenge === undefined || reference !== null) return judged;
	// Its sender is known, or nobody asks for one.
	return respondIfIn(context, challenge, judged) ?? judged;
}
