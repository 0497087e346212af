import { randomUUID } from 'node:crypto';
import express from 'express';
import { listen } from '../listen';

/**
 * Stands in for a chat model: calls the tool whose name matches, with the given arguments (of a list,
 * each call takes the next), as often as told, and then says what the tool answered.
 * @param inOneMessage all tools whose names match, twice over if it is one, in a single message
 */
export async function startModel(tool: RegExp, args: object, times = 1, inOneMessage = false) {
	const given = [args].flat();
	let asked = 0;
	const heard: string[] = [];
	const offered: Array<{ name: string; parameters: string[] }> = [];
	const app = express();
	app.post('/chat/completions', express.json({ limit: '5mb' }), (request, response) => {
		const { messages, tools, stream } = request.body as {
			stream?: boolean;
			messages: Array<{ role: string; content: string }>;
			tools: Array<{ function: { name: string; parameters: { properties: object } } }>;
		};
		const last = messages.at(-1);
		const answers = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
		heard.push(...answers.slice(heard.length));
		if (offered.length === 0) {
			for (const { function: each } of tools) {
				const parameters = Object.keys(each.parameters.properties);
				offered.push({ name: each.name, parameters });
			}
		}
		const names = tools.map((each) => each.function.name).filter((each) => tool.test(each));
		const called = inOneMessage ? [names[0], names[1] ?? names[0]] : [names[0]];
		const calls = called.map((name) => ({
			id: randomUUID(),
			type: 'function',
			function: { name, arguments: JSON.stringify(given[asked++ % given.length]) },
		}));
		const message =
			last?.role === 'tool' && heard.length >= times
				? { role: 'assistant', content: last.content }
				: { role: 'assistant', content: null, tool_calls: calls };
		const about = { id: randomUUID(), created: 0, model: 'stand-in' };
		if (stream) {
			// Some versions of n8n's agent ask for it in pieces.
			const made = message.tool_calls ?? [];
			const tool_calls = made.map((each, index) => ({ ...each, index }));
			const delta = { ...message, content: message.content ?? '', tool_calls };
			const choices = [{ index: 0, delta, finish_reason: made.length > 0 ? 'tool_calls' : 'stop' }];
			const piece = { ...about, object: 'chat.completion.chunk', choices };
			response.type('text/event-stream').send(`data: ${JSON.stringify(piece)}\n\ndata: [DONE]\n\n`);
			return;
		}
		response.json({
			...about,
			object: 'chat.completion',
			choices: [{ index: 0, finish_reason: 'stop', message }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
	});
	const { url, close } = await listen(app);
	return { url, heard, offered, close };
}
