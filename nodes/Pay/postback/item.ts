import type {
	IBinaryData,
	IBinaryKeyData,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import type { StatusWords } from '../service/postbackState';
import type { PostedFile } from './body/multipart';
import { stateIn } from './match';
import { toJson, type Postback } from './postback';
import type { Reference } from './proof';
import { loadFiles } from './request';

/** A file of a postback; with data where n8n has stored it already. */
type FileOfPostback = PostedFile & { data?: IBinaryData };

/** Stores the files of a postback beside those of an item, each under a name that is still free. */
async function addFiles(
	{ helpers }: IWebhookFunctions,
	files: FileOfPostback[],
	filesOfItem: IBinaryKeyData,
): Promise<Map<string, IBinaryData>> {
	// A map: a field may be called like a member of every object.
	const binary = new Map(Object.entries(filesOfItem));
	for (const { name, filename, type, bytes, data } of files) {
		const base = Object.hasOwn(filesOfItem, name) ? `postback_${name}` : name;
		let freeName = base;
		for (let count = 2; binary.has(freeName); count++) freeName = `${base}_${count}`;
		binary.set(freeName, data ?? (await helpers.prepareBinaryData(bytes, filename, type)));
	}
	return binary;
}

/**
 * Makes the item of a postback. Where an item waited for it, that one goes on: it has the postback as a
 * field, and the postback's files beside its own. Rejects where n8n cannot give or store a file.
 * @param statusWords the words of the account, which give the postback's `state`
 * @param input the item that waited, if one did
 */
export async function toPostbackItem(
	context: IWebhookFunctions,
	postback: Postback,
	reference: Reference | null,
	statusWords?: StatusWords,
	input?: INodeExecutionData,
): Promise<INodeExecutionData> {
	const loaded = await loadFiles(context, postback.filesOnDisk);
	const files: FileOfPostback[] = [...postback.files, ...loaded];
	const state = statusWords && stateIn(postback, reference, statusWords);
	const about = state === undefined ? { reference } : { reference, state };
	const json = toJson({ ...postback, files }, about);
	const binary = await addFiles(context, files, input?.binary ?? {});
	const item: INodeExecutionData = { json: input ? { ...input.json, postback: json } : json };
	if (binary.size > 0) item.binary = Object.fromEntries(binary);
	if (input) item.pairedItem = { item: 0 };
	return item;
}
