import { createHash } from 'crypto';
import type {
	IBinaryData,
	IBinaryKeyData,
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import type { PostedFile } from './body/multipart';
import type { JudgedPostback } from './match';
import { aboutInJson, toJson } from './postback';
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
 * @param input the item that waited, if one did
 */
export async function toPostbackItem(
	context: IWebhookFunctions,
	{ postback, reference, verdict, claimed }: JudgedPostback,
	input?: INodeExecutionData,
): Promise<INodeExecutionData> {
	const loaded = await loadFiles(context, postback.filesOnDisk);
	const files: FileOfPostback[] = [...postback.files, ...loaded];
	const json = toJson({ ...postback, files }, { reference, verdict, claimed });
	const binary = await addFiles(context, files, input?.binary ?? {});
	const item: INodeExecutionData = { json: input ? { ...input.json, postback: json } : json };
	if (binary.size > 0) item.binary = Object.fromEntries(binary);
	if (input) item.pairedItem = { item: 0 };
	return item;
}

/**
 * Makes an item for each claim of one postback. They share its files and its body; what is about an entry is
 * its own, its event too. Rejects as {@link toPostbackItem}.
 */
export async function toClaimedItems(
	context: IWebhookFunctions,
	claims: JudgedPostback[],
): Promise<INodeExecutionData[]> {
	const [first] = claims;
	if (first === undefined) return [];
	const { json, binary } = await toPostbackItem(context, first);
	if (claims.length === 1) return [{ json, binary }];
	return claims.map(({ reference, claimed, verdict }, index) => {
		const { body, receivedAt, method, query, headers, rawBody } = json;
		const eventId = createHash('sha256')
			.update(`${String(json.eventId)} ${index}`)
			.digest('hex');
		const about = aboutInJson({ reference, claimed, verdict });
		return {
			json: { ...about, body, eventId, receivedAt, method, query, headers, rawBody } as IDataObject,
			binary,
		};
	});
}
