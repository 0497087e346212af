import { createPayment } from '../nodes/Pay/operations/payment/create.operation';
import { createQrCode } from '../nodes/Pay/operations/qrCode/create.operation';

/** The operations of the service by their kind. */
export const OPERATIONS = { payment: createPayment.operation, qrCode: createQrCode.operation };

export type Kind = keyof typeof OPERATIONS;
