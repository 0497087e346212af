import { within } from '../nodes/Pay/base/time';

const late = () => new Error('late');
const never = new Promise<never>(() => {});
const HOUR = 3_600_000;

test('work that ends in time gives what it came to, a failure too', async () => {
	await expect(within(Promise.resolve(7), HOUR, late)).resolves.toBe(7);
	const later = new Promise((resolve) => setImmediate(() => resolve(8)));
	await expect(within(later, HOUR, late)).resolves.toBe(8);
	await expect(within(Promise.reject(new Error('failed')), HOUR, late)).rejects.toThrow('failed');
});

test('work that does not end is given up at its limit', async () => {
	await expect(within(never, 1, late)).rejects.toThrow('late');
});

test('work is given up at a signal, and where the signal came before', async () => {
	const cancel = new AbortController();
	const work = within(never, HOUR, late, cancel.signal);
	cancel.abort();
	await expect(work).rejects.toThrow('late');
	await expect(within(never, HOUR, late, cancel.signal)).rejects.toThrow('late');
});

test('nothing listens to the signal once the work has ended or was given up', async () => {
	const { signal } = new AbortController();
	const add = jest.spyOn(signal, 'addEventListener');
	const remove = jest.spyOn(signal, 'removeEventListener');
	await within(Promise.resolve(7), HOUR, late, signal);
	await expect(within(never, 1, late, signal)).rejects.toThrow('late');
	expect(add).toHaveBeenCalledTimes(2);
	expect(remove.mock.calls.map(([event, listener]) => [event, listener])).toStrictEqual(
		add.mock.calls.map(([event, listener]) => [event, listener]),
	);
});
