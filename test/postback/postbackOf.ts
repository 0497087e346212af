import { judgePostback, takenPostback } from '../../nodes/Pay/postback/match';
import type { Postback } from '../../nodes/Pay/postback/postback';
import type { Reference } from '../../nodes/Pay/postback/proof';
import type { StatusWords } from '../../nodes/Pay/service/state';

/** A postback as it is once it was read, of a POST that nobody signed. */
export const postbackOf = (body: unknown, about: Partial<Postback> = {}): Postback => ({
	method: 'POST',
	query: {},
	headers: {},
	body,
	rawBody: '',
	eventContent: '',
	hasFiles: false,
	isSignedByService: false,
	signedHeaders: [],
	...about,
});

/** A postback as it is judged: by what its URL proves, and in the words of the account. */
export const judgedPostback = (
	postback: Postback,
	reference: Reference | null,
	words: StatusWords | undefined,
) => judgePostback(takenPostback(postback, reference), words);
