/** Why a body is not taken, with the status that its sender gets. */
export class BodyError extends Error {
	override readonly name = 'BodyError';
	constructor(
		readonly statusCode: number,
		message: string,
	) {
		super(message);
	}
}
