import { InputError } from '../nodes/Pay/base/inputError';

/** What is said of an input that is refused; undefined where it is taken. */
export function refusalOf(read: () => unknown): InputError | undefined {
	try {
		read();
	} catch (error) {
		expect(error).toBeInstanceOf(InputError);
		return error as InputError;
	}
	return undefined;
}
