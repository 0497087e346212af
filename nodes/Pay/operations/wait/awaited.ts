import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { credentialOfWait } from '../../credential/accounts';
import { readSenderRuleOfWait, type SenderRule } from '../../credential/sender';
import type { PostbackMatch } from '../../parameters/condition';
import type { Reference } from '../../postback/proof';
import type { StatusWords } from '../../service/postbackState';

/** A proof that may end a wait, and what its postback must hold. */
export interface AwaitedProof {
	/** The hash of the proof, see `withRandomProof`. */
	hash: string;
	/** What the proof is about. */
	reference: Reference;
	/** Absent where any postback will do. */
	match?: PostbackMatch;
	/** The words of the account, if it has any. */
	status?: StatusWords;
}

/** What a wait waits for, fixed when it begins: n8n resolves expressions differently when it resumes. */
export interface Awaited {
	proofs: AwaitedProof[];
	/** The hashes of all proofs that this execution gave: the others may end a later wait. */
	given: string[];
	/** Names this wait and no other one, see `OpenWait`. */
	id: string;
	/** When its time limit passes, in milliseconds since 1970; absent without one. */
	until?: number;
	/** Whether the sender is checked: the wait's credential said so when it began. */
	isSigned?: true;
}

/** How the sender is checked, where the wait has a credential of its own that says so. Throws an InputError. */
export async function readSender(
	context: IExecuteFunctions | IWebhookFunctions,
): Promise<SenderRule | undefined> {
	const credential = await credentialOfWait(context);
	return credential && readSenderRuleOfWait(credential);
}
