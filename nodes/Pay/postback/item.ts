import type { IBinaryData, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import type { StatusWords } from '../parameters/description';
import type { PostedFile } from './body/multipart';
import { stateIn } from './match';
import { toJson, type Postback } from './postback';
import type { Reference } from './proof';
import { loadFiles } from './request';

/**
 * The item for a postback, or that which waited for it and the postback, its files beside its own. Rejects
 * where n8n cannot give or store a file.
 * @param statusWords the words of the account, which give the postback's `state`
 */
export async function toPostbackItem(
	context: IWebhookFunctions,
	postback: Postback,
	reference: Reference | null,
	statusWords?: StatusWords,
	input?: INodeExecutionData,
): Promise<INodeExecutionData> {
	const loaded = await loadFiles(context, postback.filesOnDisk);
	const files: Array<PostedFile & { data?: IBinaryData }> = [...postback.files, ...loaded];
	const state = statusWords && stateIn(postback, reference, statusWords);
	const about = state === undefined ? { reference } : { reference, state };
	const json = toJson({ ...postback, files }, about);
	// A map: a field may be called like a member of every object.
	const binary = new Map(Object.entries(input?.binary ?? {}));
	const inputNames = new Set(binary.keys());
	for (const file of files) {
		const base = inputNames.has(file.name) ? `postback_${file.name}` : file.name;
		let name = base;
		for (let count = 2; binary.has(name); count++) name = `${base}_${count}`;
		const { bytes, filename, type, data } = file;
		binary.set(name, data ?? (await context.helpers.prepareBinaryData(bytes, filename, type)));
	}
	const item: INodeExecutionData = { json: input ? { ...input.json, postback: json } : json };
	if (binary.size > 0) item.binary = Object.fromEntries(binary);
	if (input) item.pairedItem = { item: 0 };
	return item;
}
