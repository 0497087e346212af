import { randomProof } from './proof';

/*
 * A request that is tried again under an idempotency key has to be the same to the byte, or the service
 * rejects it for good (422). Its postback URL is a part of it, so a second try has the proof of the first.
 */

/** The proofs of each session, by what they are for. n8n drops a session's object, and they go with it. */
const proofs = new WeakMap<object, Map<string, string>>();

/**
 * The random proof for a postback URL: the same one for each try within a session. After a crash, or in
 * another process, it is another one.
 * @param session n8n's object for an execution from one wait to the next
 * @param what the item that is tried, and what it asks for
 */
export function keptProof(session: object, what: string): string {
	const ofSession = proofs.get(session) ?? new Map<string, string>();
	proofs.set(session, ofSession);
	const proof = ofSession.get(what) ?? randomProof();
	ofSession.set(what, proof);
	return proof;
}
