/** Body of "Generate QR code" (the service's document, section 2.1). */
export interface QrCodeRequest {
	amount: number;
	external_id: string;
	payerQuestion?: string;
	postbackUrl?: string;
	payer?: Payer;
	split?: SplitRecipient[];
}

/** Payer data of a QR code request (section 2.1). */
export interface Payer {
	name?: string;
	document?: string;
	email?: string;
}

/** One split recipient of a QR code request (section 2.1). */
export interface SplitRecipient {
	username?: string;
	percentageSplit?: number;
}

/** Body of "Make payment" (section 2.2). */
export interface PaymentRequest {
	amount: number;
	external_id: string;
	payerQuestion?: string;
	postbackUrl?: string;
	creditParty?: CreditParty;
}

/** Recipient of a payment (section 2.2). */
export interface CreditParty {
	key?: string;
	keyType?: string;
	document?: string;
	name?: string;
}

/** The two operations of the service, and the words our items and errors call them by. */
export type Kind = 'qrCode' | 'payment';

/** The request body of each operation. */
export interface RequestOf {
	qrCode: QrCodeRequest;
	payment: PaymentRequest;
}

/** Path below the base address of each operation (section 4). */
export const PATHS: Readonly<Record<Kind, string>> = {
	qrCode: '/v2/pay/qrcode',
	payment: '/v2/pay/payment',
};
