import type { Postback } from '../../nodes/Pay/postback/postback';

/** A postback as it is once it was read, of a POST that nobody signed. */
export const postbackOf = (body: unknown, about: Partial<Postback> = {}): Postback => ({
	method: 'POST',
	query: {},
	headers: {},
	body,
	rawBody: '',
	eventContent: '',
	files: [],
	isSignedByService: false,
	signedHeaders: [],
	...about,
});
