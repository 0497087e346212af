import { createHash } from 'crypto';
import type {
	IBinaryData,
	IBinaryKeyData,
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import type { PostedFile } from './body/form';
import type { JudgedPostback } from './match';
import { aboutInJson, toJson } from './postback';

/** A file of a postback that n8n has stored. */
interface StoredFile {
	name: string;
	bytes: Buffer;
	data: IBinaryData;
}

/** Stores a file. Rejects where n8n cannot give or store it. */
async function store(
	{ helpers, nodeHelpers }: IWebhookFunctions,
	{ name, filename, type, content }: PostedFile,
): Promise<StoredFile> {
	if (Buffer.isBuffer(content)) {
		const data = await helpers.prepareBinaryData(content, filename, type);
		return { name, bytes: content, data };
	}
	const data = await nodeHelpers.copyBinaryFile(content.path, filename, type);
	const bytes =
		data.id === undefined
			? Buffer.from(data.data, 'base64')
			: await helpers.binaryToBuffer(await helpers.getBinaryStream(data.id));
	return { name, bytes, data };
}

/** The files of a postback beside those of an item, each under a name that is still free. */
function besideThoseOf(filesOfItem: IBinaryKeyData, files: StoredFile[]): IBinaryKeyData {
	// A map: a field may be called like a member of every object.
	const binary = new Map(Object.entries(filesOfItem));
	for (const { name, data } of files) {
		const base = Object.hasOwn(filesOfItem, name) ? `postback_${name}` : name;
		let freeName = base;
		for (let count = 2; binary.has(freeName); count++) freeName = `${base}_${count}`;
		binary.set(freeName, data);
	}
	return Object.fromEntries(binary);
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
	const files: StoredFile[] = [];
	for (const file of postback.files) files.push(await store(context, file));
	const json = toJson(postback, { reference, verdict, claimed }, files);
	const binary = besideThoseOf(input?.binary ?? {}, files);
	const item: INodeExecutionData = { json: input ? { ...input.json, postback: json } : json };
	if (Object.keys(binary).length > 0) item.binary = binary;
	if (input) item.pairedItem = { item: 0 };
	return item;
}

/**
 * Makes an item of one postback, or one for each of its claims. Those share its files and its body; what is
 * about an entry is its own, its event too. Rejects as {@link toPostbackItem}.
 */
export async function toPostbackItems(
	context: IWebhookFunctions,
	claims: JudgedPostback[],
): Promise<INodeExecutionData[]> {
	const [first] = claims;
	if (first === undefined) return [];
	const item = await toPostbackItem(context, first);
	if (claims.length === 1) return [item];
	const { json, binary } = item;
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
