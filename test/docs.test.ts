import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PayApi } from '../credentials/PayApi.credentials';
import { example } from '../dev/demo';
import { exampleNames, withSources } from '../dev/examples';
import { obstacles } from '../dev/release';
import { Pay } from '../nodes/Pay/Pay.node';
import { PayTrigger } from '../nodes/Pay/PayTrigger.node';
import { fieldsIn } from './fields';
import { jsonBlocksOf } from './jsonBlocks';

const ROOT = join(__dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const listed = (folder: string) => readdirSync(join(ROOT, folder));

const DOCUMENTS = [
	...listed('.').filter((file) => file.endsWith('.md')),
	...listed('docs').flatMap((file) => (file.endsWith('.md') ? [`docs/${file}`] : [])),
];

const FENCE = /^```[^\n]*\n.*?^```$/gms;
const CODE = /`([^`\n]+)`/g;
const withoutFences = (text: string) => text.replace(FENCE, '');
const prose = (path: string) => withoutFences(read(path));
const all = (text: string, pattern: RegExp) =>
	[...text.matchAll(pattern)].map(([, found]) => found!);

/** What a code span holds, and a fence, since commands stand in both. */
const codeOf = (path: string) => [
	...all(prose(path), CODE),
	...(read(path).match(FENCE) ?? []).flatMap((fence) => fence.split('\n').slice(1, -1)),
];

interface Link {
	picture: boolean;
	text: string;
	target: string;
}
const linksOf = (path: string): Link[] =>
	[...prose(path).matchAll(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g)].map(([, mark, text, target]) => ({
		picture: mark === '!',
		text: text!,
		target: target!,
	}));

const headingsOf = (path: string) =>
	[...prose(path).matchAll(/^(#+) (.+)$/gm)].map(([, marks, title]) => ({
		level: marks!.length,
		title: title!.trim(),
	}));

/** The anchor that GitHub gives a heading. */
const anchorOf = (title: string) =>
	title
		.toLowerCase()
		.replace(/[^\p{L}\p{N}\s_-]/gu, '')
		.replace(/\s/g, '-');

const cellsOf = (path: string) =>
	prose(path)
		.split('\n')
		.filter((line) => /^\|(?!\s*[-:])/.test(line))
		.map((line) => line.split('|').slice(1, -1))
		.map((cells) => cells.map((cell) => cell.trim()));

const NODES = [new Pay().description, new PayTrigger().description];
const FIELDS = [...NODES, new PayApi()].flatMap(({ properties }) => fieldsIn(properties));
const OPTIONS = FIELDS.flatMap(({ options = [] }) => options);
const CHOICES = OPTIONS.flatMap((option) => ('value' in option ? [option] : []));
const GROUPS = OPTIONS.flatMap((option) => ('values' in option ? [option] : []));

/** What the form says, in the words that documents set in italics. */
const LABELS = new Set(
	[
		...[...FIELDS, ...GROUPS].map(({ displayName }) => displayName),
		...CHOICES.flatMap(({ name, ...more }) => [name, String('action' in more ? more.action : '')]),
	].filter(Boolean),
);
/** Words of n8n's own interface. */
const OF_N8N = new Set([
	'Settings',
	'Community nodes',
	'Install',
	'Execute step',
	'Test URL',
	'Production URL',
	'On Error',
	'Continue',
	'Continue (using error output)',
	'Retry On Fail',
	'Execute workflow',
	'Webhook URLs',
	'On new Pay event',
	'Unrecognized node type',
	'Conflicting Trigger Path',
	'Save execution progress',
	'Connect to Pay',
	'Select Credential',
	'Create new credential',
	'Actions',
	'Migration report',
	'Error Workflow',
	'Save successful production executions',
	'Active',
	'Data tables',
	'Create data table',
	'Import CSV',
	'Data table',
	'Fixed',
]);

/** Names that items, answers, requests and log lines have, those of the examples with a register, of
 * proxies, and of the tools around. */
const OTHER_NAMES = `
	accepted rejected duplicate notSent unknown outcome kind response qrCode error externalIds
	notReached inFlight reference body eventId error.outcome state failed other otherAmount qrCodeAmount access_token data status field statusCode
	message signature query null undefined true success data.status expires_in webhook() test.each
	multipart pay text dist docs v payout_register payout_heard due claimed settled closed refused
	synchronous_commit non_idempotent proxy_next_upstream h2c addExecutionHints customData
	isToolExecution getExecutionCancelSignal checkProcessedAndRecord removeProcessed
	getProcessedDataCount receivedAt fingerprint method headers rawBody conclude execution n8n1
	n8n2 ajv jest external_id br postgresql host.docker.internal credentials payApi id typeVersion
	webhookId identifier webhook-waiting resumeUrl readRawBody contextData waitTill
	getDecrypted package policy words data.qrCode postback.state postback.reference
	reference.external_id pay_proof mine differs
`
	.trim()
	.split(/\s+/);
/** What the practice service is given, and what the invented services of docs/connect.md say. */
const INVENTED_NAMES = `
	anything fast completed expired instant data.chargeStatus data.transferStatus returned cancelled
	data.value.paid data.ref false
`
	.trim()
	.split(/\s+/);
const NAMES = new Set([
	...FIELDS.map(({ name }) => name),
	...CHOICES.map(({ value }) => String(value)),
	...OTHER_NAMES,
	...INVENTED_NAMES,
]);

/** The text of all sources below some folders; not of an n8n that was installed there. */
const textBelow = (...folders: string[]): string =>
	folders
		.flatMap((folder) =>
			readdirSync(join(ROOT, folder), { withFileTypes: true }).map((entry) => {
				const path = join(folder, entry.name);
				if (entry.isDirectory()) return entry.name === 'node_modules' ? '' : textBelow(path);
				const isSource = /\.(ts|js|json|ya?ml)$/.test(path) && entry.name !== 'pnpm-lock.yaml';
				return isSource && path !== 'test/docs.test.ts' ? read(path) : '';
			}),
		)
		.join('\n');
const SOURCES = textBelow('nodes', 'credentials');
const AROUND = textBelow('dev', 'sandbox', 'test');
const { scripts, version } = JSON.parse(read('package.json')) as {
	scripts: Record<string, string>;
	version: string;
};

const scriptsIn = (path: string) =>
	codeOf(path)
		.flatMap((code) => all(code, /\bnpm (?:run )?([a-z][\w:]*)/g))
		.filter((name) => !['ci', 'install', 'pack', 'publish'].includes(name));

/** Where a file that a document names in code type may stand. */
const PLACES = ['.', 'docs', 'test', 'examples', 'nodes/Pay'];
const isFileName = (code: string) =>
	/^[\w.][\w./-]*(\.(ts|json|ya?ml|md)|\/)$/.test(code) && !code.startsWith('.node.');
const isThere = (path: string) => PLACES.some((place) => existsSync(join(ROOT, place, path)));

/** n8n's own settings that documents name; ours stand in our code. */
const SETTINGS_OF_N8N = [
	'N8N_USER_FOLDER',
	'N8N_REINSTALL_MISSING_PACKAGES',
	'N8N_UNVERIFIED_PACKAGES_ENABLED',
	'N8N_PAYLOAD_SIZE_MAX',
	'QUEUE_WORKER_MAX_STALLED_COUNT',
	'WEBHOOK_URL',
	'HTTPS_PROXY',
	'NO_PROXY',
	'HEAD',
	'NaN',
	'DB_POSTGRESDB_POOL_SIZE',
	'DB_SQLITE_POOL_SIZE',
];

describe.each(DOCUMENTS)('%s', (path) => {
	test('every link leads to a file that is there, and to a heading in it', () => {
		for (const { target } of linksOf(path)) {
			if (/^https?:/.test(target)) continue;
			const [file = '', anchor] = target.split('#');
			const found = file === '' ? path : join(dirname(path), file);
			expect([target, existsSync(join(ROOT, found))]).toStrictEqual([target, true]);
			if (anchor !== undefined) {
				expect(headingsOf(found).map(({ title }) => anchorOf(title))).toContain(anchor);
			}
		}
	});

	test('every picture is one, and has words for those who do not see it', () => {
		for (const { picture, text, target } of linksOf(path)) {
			if (!picture) continue;
			const bytes = readFileSync(join(ROOT, dirname(path), target));
			expect(bytes.toString('latin1', 0, 300)).toMatch(/^\x89PNG\r\n|<svg/);
			expect(text.split(' ').length).toBeGreaterThan(2);
		}
	});

	test('every npm script is there', () => {
		for (const name of scriptsIn(path)) expect(Object.keys(scripts)).toContain(name);
	});

	test('every file is there', () => {
		const missing = codeOf(path).filter((code) => isFileName(code) && !isThere(code));
		expect(missing).toStrictEqual([]);
	});

	test('every name is that of a field, an option, an outcome or a setting', () => {
		const names = all(prose(path), CODE).filter((code) => /^[a-z][\w.]*(\(\))?$/i.test(code));
		const settings = names.filter((name) => /^[A-Z][A-Z\d_]+$/.test(name));
		const ours = names.filter((name) => /^[a-z]/.test(name) && !isFileName(name));
		expect(ours.filter((name) => !NAMES.has(name) && !isExample(name))).toStrictEqual([]);
		const unknown = settings.filter(
			(name) => !SETTINGS_OF_N8N.includes(name) && !AROUND.includes(name),
		);
		expect(unknown).toStrictEqual([]);
	});

	test('every label is that of the form, or of n8n', () => {
		const text = prose(path)
			.replace(CODE, '`')
			.replace(/\]\([^)]*\)/g, ']');
		const italic = all(text, /(?<![\w`])_([^_`]+)_(?!\w)/g)
			.flatMap((found) => found.replace(/\s+/g, ' ').split(/ → |: /))
			.filter((found) => !LABELS.has(found) && !OF_N8N.has(found));
		expect(italic).toStrictEqual([]);
	});

	test('every error is told in the words of the code', () => {
		const told = cellsOf(path)
			.flatMap(([first = '']) => all(first, /^`((?!np[mx] )[^`]+ [^`]+)`$/g))
			.flatMap((error) => error.split('…').map((part) => part.trim()));
		expect(told.filter((part) => !SOURCES.includes(part))).toStrictEqual([]);
	});

	test('every cell of a table has at most 120 characters', () => {
		expect(
			cellsOf(path).flatMap((cells) => cells.filter(({ length }) => length > 120)),
		).toStrictEqual([]);
	});
});

const isExample = (name: string) => existsSync(join(ROOT, 'examples', `${name}.json`));

test('the checks above find something to check', () => {
	const found = {
		links: DOCUMENTS.flatMap(linksOf).length,
		scripts: new Set(DOCUMENTS.flatMap(scriptsIn)).size,
		files: DOCUMENTS.flatMap(codeOf).filter(isFileName).length,
		names: DOCUMENTS.flatMap(codeOf).filter((code) => NAMES.has(code)).length,
		errors: cellsOf('docs/troubleshooting.md').filter(([first = '']) => /^`.* .*`$/.test(first))
			.length,
		cells: DOCUMENTS.flatMap(cellsOf).length,
	};
	for (const [what, count] of Object.entries(found))
		expect([what, count >= 5]).toStrictEqual([what, true]);
});

test.each(exampleNames())('examples/%s.json has the sources of its folder', (name) => {
	expect(withSources(name)).toStrictEqual(example(name));
});

test('the examples with a register run its one file in "Set up", and call its functions in one line each', () => {
	const register = read('examples/payout-register/register.sql').trimEnd();
	const withRegister = exampleNames().filter((name) =>
		example(name).nodes.some(({ type }) => type === 'n8n-nodes-base.postgres'),
	);
	expect(withRegister).toHaveLength(4);
	for (const name of withRegister) {
		for (const node of example(name).nodes) {
			const { query } = node.parameters as { query?: string };
			if (query === undefined) continue;
			if (node.name === 'Set up') expect([name, query]).toStrictEqual([name, register]);
			else expect([name, query]).toStrictEqual([name, expect.stringMatching(/^SELECT .+$/)]);
		}
	}
});

describe('README', () => {
	test('has the two commands as they are known, and CI or a test runs each script it names', () => {
		expect(read('README.md')).toContain('\nnpm ci && npm run demo\nnpm ci && npm test\n');
		const runs = read('.ci/run') + read('test/n8n/commands.n8n.ts');
		const unrun = scriptsIn('README.md').filter(
			(name) => !new RegExp(`npm (run )?${name}\\b|'${name}'`).test(runs),
		);
		expect(unrun).toStrictEqual([]);
	});

	/** How many sentences each paragraph, step and cell has, in the order of the page. */
	function sentencesOf(path: string): number[] {
		const blocks = prose(path).split(/\n\n+|\n(?=\s*(?:- |\d\. |\|))/);
		const cells = blocks.flatMap((block) => block.split(/\s\|\s/));
		return cells.map((cell) => all(cell, /([.?!:])(?=[\s*)\]]|$)/g).length);
	}

	test('is the same in Portuguese: sentence by sentence, headings, commands, pictures, links, labels and names', () => {
		const shape = (path: string) => ({
			headings: headingsOf(path).map(({ level }) => level),
			commands: read(path).match(FENCE),
			links: linksOf(path)
				.map(({ target }) =>
					/^#|README/.test(target) || /^https?:/.test(target)
						? target.replace(/^#.*|.*README.*/, 'here')
						: join(dirname(path), target),
				)
				.sort(),
			rows: cellsOf(path).length,
			sentences: sentencesOf(path),
			labels: all(prose(path), /(?<![\w`])_([^_`]+)_(?!\w)/g)
				.map((label) => label.replace(/\s+/g, ' '))
				.sort(),
			names: all(prose(path), CODE).sort(),
		});
		expect(shape('docs/README.pt-BR.md')).toStrictEqual(shape('README.md'));
	});

	test('has the headings that n8n links to', () => {
		const addresses = [
			...all(SOURCES, /https:\/\/[^'"]+#([\w-]+)/g),
			...all(SOURCES, /"url": "[^"]+#([\w-]+)"/g),
		];
		const anchors = new Set(addresses.filter((anchor) => anchor !== 'readme'));
		expect(anchors.size).toBeGreaterThan(0);
		const headings = headingsOf('README.md').map(({ title }) => anchorOf(title));
		for (const anchor of anchors) expect(headings).toContain(anchor);
	});
});

test.each(DOCUMENTS.filter((path) => !/README|CHANGELOG/.test(path)))(
	'%s says first whom it is for',
	(path) => {
		const [, first] = prose(path).split(/\n\n+/);
		expect(first).toMatch(/^For /);
	},
);

test('docs/workflow-json.md has every field and every value of the nodes, and no other', () => {
	const path = 'docs/workflow-json.md';
	const nodes = jsonBlocksOf(read(path)).flatMap((block) => block.nodes ?? [block]);
	const ours = nodes.filter(({ type }) => type.startsWith('n8n-nodes-pay.'));
	/** The names of all members, at any depth. */
	const namesOf = (value: unknown): string[] =>
		typeof value !== 'object' || value === null
			? []
			: Object.entries(value).flatMap(([name, below]) =>
					Array.isArray(value) ? namesOf(below) : [name, ...namesOf(below)],
				);
	const named = new Set(ours.flatMap(({ parameters }) => namesOf(parameters)));
	const fields = NODES.flatMap(({ properties }) => fieldsIn(properties)).filter(
		({ type }) => type !== 'notice',
	);
	const known = new Set([...fields, ...GROUPS].map(({ name }) => name));
	expect([...named].filter((name) => !known.has(name))).toStrictEqual([]);
	const words = new Set([...named, ...all(read(path), CODE).flatMap((code) => code.split('.'))]);
	expect([...known].filter((name) => !words.has(name))).toStrictEqual([]);
	const values = fields.flatMap(({ options = [] }) =>
		options.flatMap((option) => ('value' in option ? [String(option.value)] : [])),
	);
	const written = ours.flatMap(({ parameters }) => Object.values(parameters)).map(String);
	const missing = values.filter((value) => !words.has(value) && !written.includes(value));
	expect(missing).toStrictEqual([]);
	expect(ours.length).toBeGreaterThan(8);
});

test('every picture is in a document', () => {
	const linked = new Set(DOCUMENTS.flatMap((path) => linksOf(path).map(({ target }) => target)));
	const pictures = listed('docs/screenshots').map((file) => `screenshots/${file}`);
	expect(pictures.length).toBeGreaterThan(10);
	const unused = pictures.filter((each) => !linked.has(each) && !linked.has(`docs/${each}`));
	expect(unused).toStrictEqual([]);
});

test('every npm script is in a document', () => {
	const named = new Set(DOCUMENTS.flatMap(scriptsIn));
	expect(Object.keys(scripts).filter((name) => !named.has(name))).toStrictEqual([]);
});

test('every example is described, and no other', () => {
	const described = cellsOf('docs/examples.md').flatMap(([first = '']) => all(first, CODE));
	expect(described.sort()).toStrictEqual(exampleNames().map((name) => `${name}.json`));
});

test('the words of the forms are as n8n wants them, and schemes can be searched for', () => {
	const placeholders = FIELDS.flatMap(({ placeholder }) => placeholder ?? []);
	expect(placeholders.length).toBeGreaterThan(5);
	// Those of a list's button are commands.
	expect(placeholders.filter((each) => !/^(e\.g\. |Add )/.test(each))).toStrictEqual([]);
	const actions = CHOICES.flatMap((choice) => ('action' in choice ? String(choice.action) : []));
	expect(actions.sort()).toStrictEqual(['Create QR code', 'Make payment', 'Wait for postback']);
	for (const file of ['package.json', 'nodes/Pay/Pay.node.json']) {
		expect([file, read(file)]).toStrictEqual([
			file,
			expect.stringMatching(/"pix",\s+"copia e cola"/i),
		]);
	}
});

test('every section of the document that the code cites is a heading of docs/service.md', () => {
	const sections = headingsOf('docs/service.md').flatMap(({ title }) =>
		all(title, /^(\d(?:\.\d)?)/g),
	);
	expect(sections).toStrictEqual([
		'1',
		'2',
		'2.1',
		'2.2',
		'2.3',
		'3',
		'4',
		'4.1',
		'4.2',
		'5',
		'6',
		'7',
		'8',
		'9',
	]);
	const cited = all(SOURCES, /(?<!RFC \d+, )sections? (\d(?:\.\d)?)(?![\d.]*\d)/g);
	expect(cited.length).toBeGreaterThan(10);
	expect(cited.filter((section) => !sections.includes(section))).toStrictEqual([]);
});

test('the changelog has the version of the package under a date, as the release asks for it', () => {
	expect(read('CHANGELOG.md')).toMatch(/^## \[Unreleased\]$/m);
	expect(read('CHANGELOG.md')).toMatch(
		new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm'),
	);
	expect(obstacles(`v${version}`).filter((one) => one.includes('CHANGELOG'))).toStrictEqual([]);
	expect(read('.github/workflows/publish.yml')).toContain('dev/release.ts "$GITHUB_REF_NAME"');
});
