import { toNotification, type Delivery } from '../../nodes/Pay/postback/notification';

function delivery(
	body: string | Buffer,
	contentType?: string,
	more: Partial<Delivery> = {},
): Delivery {
	return {
		method: 'POST',
		query: {},
		headers: contentType ? { 'content-type': contentType } : {},
		rawBody: Buffer.from(body as string),
		parsedBody: undefined,
		receivedAt: new Date(0),
		...more,
	};
}

const bodyOf = (...args: Parameters<typeof delivery>) =>
	toNotification(delivery(...args), null).body;

test.each([
	['application/json', '{"a":1}', { a: 1 }],
	['application/json; charset=utf-8', '{"a":1}', { a: 1 }],
	['application/vnd.pay+json', '{"a":1}', { a: 1 }],
	[undefined, '{"a":1}', { a: 1 }],
	[undefined, 'plain', 'plain'],
	['text/plain', '{"a":1}', '{"a":1}'],
	['application/octet-stream', 'x', 'x'],
	['application/json', '{"id":12345678901234567890}', { id: '12345678901234567890' }],
	['application/json', '{"id":9007199254740991,"x":1.5}', { id: 9007199254740991, x: 1.5 }],
	[undefined, '', ''],
])('a body of type %p: %p', (type, text, body) => {
	expect(bodyOf(text, type)).toEqual(body);
});

test('forms and XML are taken as n8n parses them', () => {
	expect(bodyOf('a=1', 'application/x-www-form-urlencoded', { parsedBody: { a: '1' } })).toEqual({
		a: '1',
	});
	expect(bodyOf('<a>1</a>', 'text/xml', { parsedBody: { a: '1' } })).toEqual({ a: '1' });
});

test('a __proto__ key pollutes nothing, and deep or binary bodies do no harm', () => {
	const long = '{"n":12345678901234567890,"__proto__":{"polluted":true}}';
	for (const text of ['{"__proto__":{"polluted":true}}', long]) {
		bodyOf(text, 'application/json');
		expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
	}
	for (const levels of [101, 20_000, 200_000]) {
		const deep = '['.repeat(levels) + ']'.repeat(levels);
		expect(bodyOf(deep, 'application/json')).toBe(deep);
	}
	expect(bodyOf('['.repeat(100) + ']'.repeat(100), 'application/json')).toBeInstanceOf(Array);
	expect(bodyOf(Buffer.from([0xff, 0xfe, 0x00]), undefined)).toBe('\uFFFD\uFFFD\0');
});

test('the same notification has the same eventId; any difference that matters gives another', () => {
	const base = delivery('{"a":1}', 'application/json', {
		query: { pay_reference: 'r', pay_signature: 's', x: '1' },
	});
	const reference = { external_id: 'a', kind: 'payment', amount: 1 } as const;
	const id = (more: Partial<Delivery>, about: Parameters<typeof toNotification>[1] = reference) =>
		toNotification({ ...base, ...more }, about).eventId;
	const same = id({});
	expect(same).toMatch(/^[0-9a-f]{64}$/);
	expect(id({ receivedAt: new Date(5), headers: { 'x-try': '2' } })).toBe(same);
	expect(id({ query: { ...base.query, pay_signature: 'other' } })).toBe(same);
	const others = [
		id({ method: 'PUT' }),
		id({ rawBody: Buffer.from('{"a":2}') }),
		id({ query: { ...base.query, x: '2' } }),
		id({}, null),
		id({}, { ...reference, external_id: 'b' }),
	];
	expect(new Set([same, ...others]).size).toBe(others.length + 1);
});

test('credentials of the sender and the signature are left out', () => {
	const { headers, query } = toNotification(
		delivery('', undefined, {
			headers: { authorization: 'x', cookie: 'y', 'proxy-authorization': 'z', host: 'h' },
			query: { pay_signature: 's', pay_reference: 'r' },
		}),
		null,
	);
	expect(headers).toEqual({ host: 'h' });
	expect(query).toEqual({ pay_reference: 'r' });
});
