import { createHmac, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';

/** How postbacks show who sent them. Each is an illustration: the service documents none. */
export interface SenderOptions {
	/** A header that each postback has. */
	secretHeader?: { name: string; value: string };
	/** `X-Signature: sha256=` and the HMAC-SHA256 of what is signed. */
	signatureSecret?: string;
	/** `X-Signature` is RSA-SHA256, with a key that the sandbox makes. */
	signsWithRsa?: boolean;
	/** Signed are {@link SIGNED_TEMPLATE}, and not the body alone. */
	signsTemplate?: boolean;
}

/** As it is entered in the credential. */
export const SIGNED_TEMPLATE = '{timestamp}.{header:X-Nonce}.{body}';

/** The sender of a sandbox's postbacks. */
export class Sender {
	private readonly keys;
	/** What verifies its RSA signatures. */
	readonly publicKey?: string;

	constructor(private readonly options: SenderOptions) {
		if (!options.signsWithRsa) return;
		this.keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
		this.publicKey = String(this.keys.publicKey.export({ type: 'spki', format: 'pem' }));
	}

	/** The headers of one postback. */
	headersFor(body: string): Record<string, string> {
		const headers: Record<string, string> = {};
		const { secretHeader, signsTemplate } = this.options;
		if (secretHeader !== undefined) headers[secretHeader.name] = secretHeader.value;
		let content = body;
		if (signsTemplate) {
			const timestamp = String(Math.floor(Date.now() / 1000));
			const nonce = randomUUID();
			headers['X-Timestamp'] = timestamp;
			headers['X-Nonce'] = nonce;
			content = `${timestamp}.${nonce}.${body}`;
		}
		const signature = this.signatureOf(content);
		if (signature !== undefined) headers['X-Signature'] = signature;
		return headers;
	}

	private signatureOf(content: string): string | undefined {
		const { signatureSecret } = this.options;
		if (this.keys !== undefined) {
			return createSign('RSA-SHA256').update(content).sign(this.keys.privateKey, 'base64');
		}
		if (signatureSecret === undefined) return undefined;
		return `sha256=${createHmac('sha256', signatureSecret).update(content).digest('hex')}`;
	}
}
