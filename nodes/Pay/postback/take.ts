import type { IWebhookFunctions } from 'n8n-workflow';
import { signatureFault, type SignatureRule } from '../credential/signature';
import type { PostbackMatch } from '../parameters/condition';
import type { State, StatusWords } from '../parameters/postbackState';
import { stateIn, whyNotAwaited } from './match';
import type { Postback } from './postback';
import type { Reference } from './proof';
import { refuseUnproven, refuseWrongSignature } from './refuse';
import { headersOf, readContent, readPostback } from './request';

/** What is asked of a postback. */
export interface PostbackTerms {
	/** Whether its URL must prove what it is about. */
	needsProof: boolean;
	/** How long its body may take, in milliseconds. */
	bodyTime: number;
	/** How the service signs; undefined where that is not checked. */
	signatureRule: SignatureRule | undefined;
	/** What it must hold for the workflow to go on; undefined where any will do. */
	match: PostbackMatch | undefined;
	/** The words of the account, if it has any. */
	statusWords: StatusWords | undefined;
	/** n8n's own token, which the query of a resume URL holds. */
	resumeToken?: string;
}

/** A genuine postback, judged. */
export interface TakenPostback {
	postback: Postback;
	/** What its URL proves; null where it proves nothing. */
	reference: Reference | null;
	/** What it says became of its charge or payment; undefined where the account has no words for it. */
	state: State | undefined;
	/** Why the workflow does not go on with it, in words for a log; undefined where it does. */
	mismatch: string | undefined;
}

/**
 * The one way in for a postback: proof, body, sender, match. Nothing of an unproven request is read, and
 * nothing is read as a postback before its sender is known. Rejects where the body cannot be read.
 * @param reference what its URL proves
 * @returns n8n's value for a request that was refused and has its response
 */
export async function take(
	context: IWebhookFunctions,
	reference: Reference | null,
	terms: PostbackTerms,
): Promise<TakenPostback | { noWebhookResponse: true }> {
	if (terms.needsProof && reference === null) return refuseUnproven(context);
	const content = await readContent(context, terms.bodyTime);
	const { signatureRule, match, statusWords } = terms;
	if (signatureRule !== undefined) {
		const fault = signatureFault(signatureRule, headersOf(context), content);
		if (fault !== undefined) return refuseWrongSignature(context, fault);
	}
	const postback = await readPostback(context, content, {
		resumeToken: terms.resumeToken,
		isSignedByService: signatureRule !== undefined,
	});
	const state = statusWords && stateIn(postback, reference, statusWords);
	const mismatch = match && whyNotAwaited(match, postback, reference, state);
	return { postback, reference, state, mismatch };
}
