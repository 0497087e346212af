import { once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';
import type { Sandbox } from './service';
import { listen } from '../test/listen';

export interface ServiceResponse {
	status: number;
	headers: Headers;
	body: Record<string, unknown>;
}

/** Sends a request to the sandbox as a caller of the service does. */
export async function send(
	sandbox: Sandbox,
	path: string,
	body: unknown,
	headers: Record<string, string> = {},
): Promise<ServiceResponse> {
	const response = await fetch(sandbox.url + path, {
		method: 'POST',
		redirect: 'manual',
		headers: {
			'Content-Type': 'application/json',
			Authorization: 'Bearer token-of-the-test',
			...headers,
		},
		body: typeof body === 'string' ? body : JSON.stringify(body),
	});
	const text = await response.text();
	return {
		status: response.status,
		headers: response.headers,
		body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
	};
}

/** Clicks, so to speak: what a button of the page calls. */
export async function click(sandbox: Sandbox, path: string): Promise<number> {
	return (await fetch(sandbox.url + path, { method: 'POST' })).status;
}

export interface Receiver {
	url: string;
	/** The bodies that came, oldest first, as text. */
	came: string[];
	/** Their headers. */
	headers: IncomingHttpHeaders[];
	/** Resolves when so many have come. */
	count(number: number): Promise<void>;
	close(): void;
}

/** Starts what takes postbacks. */
export async function startReceiver(responseBody = '{"message":"Workflow was started"}') {
	const came: string[] = [];
	const headers: IncomingHttpHeaders[] = [];
	const { server, url, close } = await listen((incoming, response) => {
		let text = '';
		incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
		incoming.on('end', () => {
			came.push(text);
			headers.push(incoming.headers);
			response.end(responseBody);
			server.emit('came');
		});
	});
	const receiver: Receiver = {
		url: `${url}/postback`,
		came,
		headers,
		count: async (number) => {
			while (came.length < number) await once(server, 'came');
		},
		close,
	};
	return receiver;
}

/** Sends a request with headers that `fetch` does not let a caller set. */
export async function raw(
	url: string,
	method: string,
	headers: Record<string, string>,
): Promise<number> {
	const asked = request(url, { method, headers });
	asked.end();
	const [response] = (await once(asked, 'response')) as [{ statusCode: number; resume(): void }];
	response.resume();
	return response.statusCode;
}

/** What the page is told, as the tests read it. */
interface State {
	orderedRehearsal: string;
	transactions: Array<{
		external_id: string;
		status: string;
		postbackUrl?: string;
		occurrence: number;
		postbacks: Array<{
			body: string;
			note?: string;
			tries: Array<{ response: number | string; text?: string }>;
		}>;
		exchange: { fields: Array<[string, string]> };
	}>;
	exchanges: Array<{
		method: string;
		path: string;
		body: string;
		headers: Record<string, string>;
		response?: { status?: number; body: string };
	}>;
}

export async function stateOf(sandbox: Sandbox): Promise<State> {
	return (await (await fetch(`${sandbox.url}/state`)).json()) as State;
}

/** Waits for the page's own events until the state is as asked. */
export async function stateWhen(
	sandbox: Sandbox,
	asked: (state: State) => boolean,
): Promise<State> {
	const ended = new AbortController();
	const { body } = await fetch(`${sandbox.url}/events`, { signal: ended.signal });
	let text = '';
	try {
		for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
			const events = (text += chunk).split('\n\n');
			text = events.pop() ?? '';
			for (const event of events) {
				const state = JSON.parse(event.replace(/^data: /, '')) as State;
				if (asked(state)) return state;
			}
		}
	} finally {
		ended.abort();
	}
	throw new Error('The events ended');
}
