import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PayApi } from '../credentials/PayApi.credentials';
import pay from '../nodes/Pay/Pay.node.json';
import trigger from '../nodes/Pay/PayTrigger.node.json';
import manifest from '../package.json';

/** Every address of the project that its users are shown, by where it stands. */
export const ADDRESSES: Readonly<Record<string, string>> = {
	'package.json, homepage': manifest.homepage,
	'package.json, repository': manifest.repository.url,
	'PayApi.credentials.ts, documentationUrl': new PayApi().documentationUrl,
	...Object.fromEntries(
		[pay, trigger].flatMap(({ node, resources }) => [
			[`${node}, credentialDocumentation`, resources.credentialDocumentation[0]!.url],
			[`${node}, primaryDocumentation`, resources.primaryDocumentation[0]!.url],
		]),
	),
};

/** The mail and web addresses of a text. */
function addressesIn(text: string): string {
	return text.match(/\S+@[\w.-]+\w|https?:\S+/g)?.join(', ') ?? 'no address';
}

/**
 * What keeps a tag from being published.
 * @param tag `v` and the version
 * @returns one sentence for each obstacle, none when it may go out
 */
export function obstacles(tag: string): string[] {
	const { version, author } = manifest;
	const read = (file: string) => readFileSync(join(__dirname, '..', file), 'utf8');
	const security = read('SECURITY.md');
	const found: string[] = [];
	if (tag !== `v${version}`) found.push(`The tag is ${tag}, package.json says ${version}.`);
	if (!read('CHANGELOG.md').includes(`## [${version}] - 20`)) {
		found.push(`CHANGELOG.md has no dated section for ${version}.`);
	}
	if (/@example\b/.test(read('.github/CODEOWNERS'))) {
		found.push('.github/CODEOWNERS still names @example: enter who reviews.');
	}
	for (const [place, address] of Object.entries({
		...ADDRESSES,
		'package.json, author': author.email,
		'.github/ISSUE_TEMPLATE/config.yml':
			/https:\S+SECURITY\.md/.exec(read('.github/ISSUE_TEMPLATE/config.yml'))?.[0] ?? 'no address',
		'SECURITY.md, Report a weakness': addressesIn(
			security.split(/^## /m).find((section) => section.startsWith('Report a weakness')) ?? '',
		),
	})) {
		if (/\bexample\.com\b|^no address$/.test(address)) {
			found.push(`${place} is still ${address}: set the project's own.`);
		}
	}
	return found;
}

if (require.main === module) {
	const found = obstacles(process.argv[2] ?? '');
	for (const obstacle of found) console.error(obstacle);
	process.exitCode = found.length > 0 ? 1 : 0;
}
