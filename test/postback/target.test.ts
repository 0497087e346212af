import { InputError } from '../../nodes/Pay/inputError';
import { readPostbackTarget } from '../../nodes/Pay/postback/target';

const target = (postback: unknown, ofCredential?: string) =>
	readPostbackTarget(
		(name) => ({ postback, postbackUrl: 'https://field.example/' })[name],
		ofCredential,
		() => 'https://resume.example/',
	);

test.each<[unknown, string | undefined, unknown]>([
	['none', 'https://credential.example/', {}],
	['credential', 'https://credential.example/', { url: 'https://credential.example/' }],
	[
		'credential',
		undefined,
		{
			hint: expect.stringMatching(
				/^You will not be told when this is paid: the credential has no Postback URL\./,
			),
		},
	],
	['url', 'https://credential.example/', { url: 'https://field.example/' }],
	['resume', 'https://credential.example/', { url: 'https://resume.example/' }],
])('%j, with %j in the credential', (choice, ofCredential, expected) => {
	expect(target(choice, ofCredential)).toStrictEqual(expected);
});

test.each(['somewhere', '', null, undefined])('%j is none of the choices', (choice) => {
	expect(() => target(choice)).toThrow(InputError);
	expect(() => target(choice)).toThrow(expect.objectContaining({ field: 'postback' }));
});

test('an address that is none is refused, wherever it comes from', () => {
	expect(() => target('credential', 'here')).toThrow(InputError);
});
