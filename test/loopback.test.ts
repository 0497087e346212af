import { isLoopback } from '../nodes/Pay/base/loopback';

test.each(['localhost', 'sandbox.localhost', '127.0.0.1', '127.255.10.1', '[::1]'])(
	'%s never leaves this machine',
	(hostname) => {
		expect(isLoopback(hostname)).toBe(true);
	},
);

test.each([
	'example.com',
	'localhost.example.com',
	'mylocalhost',
	'127.0.0.1.example.com',
	'a127.0.0.1',
	'127.0.0',
	'127.0.0.x',
	'128.0.0.1',
	'[::2]',
	'',
])('%j may be another machine', (hostname) => {
	expect(isLoopback(hostname)).toBe(false);
});
