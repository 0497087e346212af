/** Whatever was thrown, as an error. */
export const asError = (error: unknown) =>
	error instanceof Error ? error : new Error(String(error));

/** A parameter that cannot be sent as it is: found before any request, so nothing was sent. */
export class InputError extends Error {
	override readonly name = 'InputError';

	/**
	 * @param field the parameter's name, as the editor and the request body call it
	 * @param message what is wrong, in a sentence without a full stop
	 * @param advice what to do about it
	 */
	constructor(
		readonly field: string,
		message: string,
		readonly advice: string,
	) {
		super(message);
	}
}

/** An error in one text, for where n8n shows nothing but a message. */
export const inWords = (error: unknown) =>
	error instanceof InputError ? `${error.message}. ${error.advice}` : asError(error).message;
