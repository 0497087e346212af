import { getEventListeners } from 'node:events';
import { exchange, type HttpRequest } from '../../nodes/Pay/service/exchange';

const OPTIONS = { url: 'https://a.test/', body: '{}' };

test.each(['https:', 'http:'])(
	'to an %s address any status but 200 is handed over as an error',
	async (protocol) => {
		let except: number[] = [];
		const httpRequest: HttpRequest = async ({ ignoreHttpStatusErrors }) => {
			({ except } = ignoreHttpStatusErrors as unknown as { except: number[] });
			return { statusCode: 200, body: '{}' };
		};
		const options = { ...OPTIONS, url: `${protocol}//a.test/` };
		await exchange(httpRequest, options, new AbortController().signal);
		const statuses = [100, 199, 200, 201, 299, 300, 407, 999];
		expect(statuses.filter((status) => !except.includes(status))).toStrictEqual([200]);
	},
);

test('an answer that came whole is one, although the clock had run out meanwhile', async () => {
	const clock = new AbortController();
	const httpRequest: HttpRequest = async () => {
		clock.abort();
		return { statusCode: 200, body: '{}', headers: { 'content-type': 'a/b' } };
	};
	expect(await exchange(httpRequest, OPTIONS, clock.signal)).toStrictEqual({
		end: 'responded',
		statusCode: 200,
		body: '{}',
		contentType: 'a/b',
		retryAfter: undefined,
		byProxy: false,
	});
});

test('a failure says whether the time had run out', async () => {
	const clock = new AbortController();
	const failing =
		(stop?: AbortController): HttpRequest =>
		async () => {
			stop?.abort();
			throw Object.assign(new Error('x'), { code: 'EX' });
		};
	const failure = { code: 'EX', syscall: undefined, name: 'Error', isIncomplete: false };
	const { signal } = new AbortController();
	expect(await exchange(failing(), OPTIONS, signal)).toStrictEqual({ end: 'failed', failure });
	expect(await exchange(failing(clock), OPTIONS, clock.signal)).toStrictEqual({
		end: 'failed',
		failure,
		timedOut: true,
	});
});

test('a body that comes after the clock ran out is cut, and the exchange ends at once', async () => {
	const clock = new AbortController();
	let cut = () => {};
	let isCut = false;
	const body = {
		destroy: () => {
			isCut = true;
			cut();
		},
		async *[Symbol.asyncIterator]() {
			if (!isCut) await new Promise<void>((resolve) => (cut = resolve));
			yield Buffer.from('');
			throw new Error('destroyed');
		},
	};
	const httpRequest: HttpRequest = async () => {
		clock.abort();
		return { statusCode: 201, body };
	};
	const response = await exchange(httpRequest, OPTIONS, clock.signal);
	expect(response).toStrictEqual({
		end: 'brokeOff',
		statusCode: 201,
		tooLong: false,
		timedOut: true,
	});
});

test('nothing listens to the clock any more when it has ended', async () => {
	const { signal } = new AbortController();
	const count = () => getEventListeners(signal, 'abort').length;
	let during = 0;
	const httpRequest: HttpRequest = async () => {
		during = count();
		return { statusCode: 200, body: '{}' };
	};
	await exchange(httpRequest, OPTIONS, signal);
	expect([during, count()]).toStrictEqual([1, 0]);
});
