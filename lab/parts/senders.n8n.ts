import { createServer } from 'node:https';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listen } from '../../test/listen';
import { certificates } from '../../test/wire/servers';
import { NAME, prepareSenders, removeSenders, send } from './senders';

const FILE = join(__dirname, '..', '..', 'test', 'postback', 'body', 'senders.json');

/** What is recorded of each program: the kind of body, and what a payer is called in it. */
const RECORDED: Array<[client: string, kind: string, name?: string]> = [
	['curl, HTTP/1.0', 'nested'],
	['curl, HTTP/1.0', 'files'],
	['Python requests', 'nested'],
	['Python requests', 'files'],
	['Python requests', 'untyped'],
	['Python requests', 'mail'],
	['PHP', 'nested'],
	['PHP', 'files'],
	['PHP', 'shift_jis'],
	['Ruby', 'nested'],
	['Ruby', 'files'],
	['Go', 'nested'],
	['Go', 'files'],
	['Java', 'nested'],
	['Java', 'gbk', '李明 & 公司'],
	['Java', 'korean', '홍길동'],
	['Node', 'nested'],
	['Node', 'files'],
];

interface Recording {
	sender: string;
	type: string;
	base64: string;
}

/** A boundary is another one each time. */
function withoutBoundary({ sender, type, base64 }: Recording): Recording {
	const boundary = /boundary="?([^";]+)/.exec(type)?.[1] ?? '\n';
	const body = Buffer.from(base64, 'base64').toString('latin1').replaceAll(boundary, 'BOUNDARY');
	return {
		sender,
		type: type.replace(boundary, 'BOUNDARY'),
		base64: Buffer.from(body, 'latin1').toString('base64'),
	};
}

test('the recorded bodies are what these programs send', async () => {
	const { trusted, forget } = await certificates();
	prepareSenders(trusted.cert);
	const recordings: Recording[] = [];
	let sender = '';
	const server = createServer(
		{ ...trusted, ALPNProtocols: ['http/1.1', 'http/1.0'] },
		async (request, response) => {
			const chunks: Buffer[] = [];
			for await (const chunk of request) chunks.push(chunk as Buffer);
			const type = request.headers['content-type'] ?? '';
			recordings.push({ sender, type, base64: Buffer.concat(chunks).toString('base64') });
			response.end('OK');
		},
	);
	const { port, close } = await listen(server);
	const url = `https://localhost:${port}/`;
	try {
		for (const [client, kind, name = NAME] of RECORDED) {
			sender = `${client.split(',')[0]}: ${kind}`;
			expect([sender, await send(client, kind, url, name)]).toStrictEqual([sender, 200]);
		}
	} finally {
		close();
		removeSenders();
		forget();
	}
	const found = recordings.map(withoutBoundary);
	if (process.env.PAY_RECORD) writeFileSync(FILE, `${JSON.stringify(found, null, '\t')}\n`);
	expect(found).toStrictEqual(JSON.parse(readFileSync(FILE, 'utf8')));
});
