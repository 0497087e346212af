import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PayApi } from '../credentials/PayApi.credentials';
import { example } from '../dev/demo';
import { exampleNames, withSources } from '../dev/examples';
import { obstacles } from '../dev/release';
import { Pay } from '../nodes/Pay/Pay.node';
import { PayTrigger } from '../nodes/Pay/PayTrigger.node';
import { fieldsIn } from './fields';
import { jsonBlocksOf } from './jsonBlocks';
import { GATE } from './n8n/tiers';
import {
	allIn,
	codeOf,
	codeSpansOf,
	headingsOf,
	isFile,
	labelsOf,
	linksOf,
	proseOf,
	read,
	rowsIn,
	sectionOf,
	sectionsCitedIn,
} from './markdown';

const ROOT = join(__dirname, '..');
const filesIn = (folder: string) => readdirSync(join(ROOT, folder));

const DOCUMENTS = filesIn('.').filter((file) => file.endsWith('.md'));
DOCUMENTS.push('sandbox/contract.md', 'lab/README.md');
/** Each tells of one folder, for those who change it. */
const ROOMS = [
	'nodes/Pay/README.md',
	'nodes/Pay/operations/README.md',
	'nodes/Pay/run/README.md',
	'nodes/Pay/n8n1/README.md',
	'test/README.md',
	'test/simulation/README.md',
	'dev/README.md',
];
for (const file of filesIn('docs')) {
	if (file.endsWith('.md')) DOCUMENTS.push(`docs/${file}`);
}

/** The text of all sources below a folder; not of an n8n that was installed there. */
function sourcesBelow(folder: string): string {
	let text = '';
	for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
		const path = join(folder, entry.name);
		if (entry.name === 'node_modules' || entry.name === 'pnpm-lock.yaml') continue;
		if (entry.isDirectory()) text += sourcesBelow(path);
		else if (/\.(ts|js|json|ya?ml)$/.test(path) && path !== 'test/docs.test.ts') text += read(path);
	}
	return text;
}
const SOURCES = sourcesBelow('nodes') + sourcesBelow('credentials');

const NODES = [new Pay().description, new PayTrigger().description];
const FIELDS = [
	...fieldsIn(new Pay().description.properties),
	...fieldsIn(new PayTrigger().description.properties),
	...fieldsIn(new PayApi().properties),
];

/** The form's own words: labels, as documents set them in italics. */
const LABELS = new Set<string>();
const GROUP_NAMES = new Set<string>();
const ACTIONS: string[] = [];
for (const { displayName, options = [] } of FIELDS) {
	LABELS.add(displayName);
	for (const option of options) {
		if ('values' in option) {
			LABELS.add(option.displayName);
			GROUP_NAMES.add(option.name);
		}
		if (!('value' in option)) continue;
		LABELS.add(option.name);
		if (option.action === undefined) continue;
		LABELS.add(option.action);
		ACTIONS.push(option.action);
	}
}

/** Words of n8n's own interface. */
const OF_N8N = new Set([
	'Database',
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
	'Property Name',
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
	'Publish',
	'Add Option',
	'Published',
	'Publishing…',
	'Saved',
	'Unpublish',
	'Schema',
	'Allowed HTTP Request Domains',
	'None',
	'Data tables',
	'Create data table',
	'Import CSV',
	'Data table',
	'Fixed',
	'Expression',
	'Timezone',
	'Credentials',
	'Create credential',
	'Workflow',
	'Source',
]);

const { scripts, version } = JSON.parse(read('package.json')) as {
	scripts: Record<string, string>;
	version: string;
};

/** The scripts of package.json that a document names; npm's own commands are none. */
function scriptsOf(path: string): string[] {
	const names: string[] = [];
	for (const code of codeOf(path)) {
		for (const name of allIn(code, /\bnpm (?:run )?([a-z][\w:]*)/g)) {
			if (!['ci', 'install', 'ls', 'uninstall', 'pack', 'publish'].includes(name)) names.push(name);
		}
	}
	return names;
}

/** Whether code type names a file or a folder, and not the rest of a host's name. */
function isFileName(code: string): boolean {
	if (code.startsWith('.node.')) return false;
	return /^[\w.][\w./-]*(\.(ts|json|ya?ml|md)|\/)$/.test(code);
}

/** Where a file that a document names in code type may stand. */
const PLACES = ['.', 'docs', 'test', 'examples', 'nodes/Pay'];

/** The files that a document names. */
function filesOf(path: string): string[] {
	return codeOf(path).filter(isFileName);
}

function isThere(file: string): boolean {
	return PLACES.some((place) => isFile(join(place, file)));
}

/** The errors that a table of a document explains: its first cells, the gaps of an error left out. */
function errorsOf(path: string): string[] {
	const parts: string[] = [];
	for (const [first = ''] of rowsIn(proseOf(path))) {
		const [, error] = /^`((?!np[mx] )[^`]+ [^`]+)`$/.exec(first) ?? [];
		if (error !== undefined) parts.push(...error.split('…').map((part) => part.trim()));
	}
	return parts;
}

test('links, scripts, files, labels and errors are found: the checks below see them', () => {
	expect(linksOf('README.md').map(({ target }) => target)).toContain('docs/install.md');
	expect(scriptsOf('README.md')).toContain('demo');
	expect(filesOf('docs/safety.md')).toContain('engine/money.test.ts');
	expect(labelsOf('docs/install.md')).toContain('Install');
	expect(errorsOf('docs/sending-problems.md')).toContain('must be a number, but is');
});

describe.each([...DOCUMENTS, ...ROOMS])('%s', (path) => {
	// Prettier took such marks for quotes and a heading, and formatted them, so nothing else was red.
	test('no merge has left its marks', () => {
		expect(read(path)).not.toMatch(/<{7}|>{7}|(> ){6}>/);
	});

	test('every link leads to a file that is there', () => {
		for (const { target } of linksOf(path)) {
			if (/^https?:/.test(target) || target.startsWith('#')) continue;
			const file = join(dirname(path), target.split('#')[0]!);
			expect({ target, isThere: isFile(file) }).toStrictEqual({ target, isThere: true });
		}
	});

	test('every link to a heading leads to one that is there', () => {
		for (const { target } of linksOf(path)) {
			if (/^https?:/.test(target)) continue;
			const [file, anchor] = target.split('#');
			if (anchor === undefined) continue;
			const headings = headingsOf(file === '' ? path : join(dirname(path), file!));
			expect(headings.map((heading) => heading.anchor)).toContain(anchor);
		}
	});

	test('every picture is a PNG or an SVG', () => {
		for (const { isPicture, target } of linksOf(path)) {
			if (!isPicture) continue;
			const bytes = readFileSync(join(ROOT, dirname(path), target));
			const start = bytes.toString('latin1', 0, 300);
			const isDrawn = start.startsWith('\x89PNG\r\n') || start.includes('<svg');
			expect({ target, isDrawn }).toStrictEqual({ target, isDrawn: true });
		}
	});

	test('every picture has at least three words for those who do not see it', () => {
		for (const { isPicture, text } of linksOf(path)) {
			if (isPicture) expect(text.split(' ').length).toBeGreaterThan(2);
		}
	});

	test('every npm script is one of package.json', () => {
		for (const name of scriptsOf(path)) expect(Object.keys(scripts)).toContain(name);
	});

	test('every file is there', () => {
		expect(filesOf(path).filter((file) => !isThere(file))).toStrictEqual([]);
	});

	test('every label is that of the form, or of n8n', () => {
		const unknown = labelsOf(path).filter((label) => !LABELS.has(label) && !OF_N8N.has(label));
		expect(unknown).toStrictEqual([]);
	});

	test('every error is told in the words of the code', () => {
		expect(errorsOf(path).filter((part) => !SOURCES.includes(part))).toStrictEqual([]);
	});
});

describe('docs/safety.md', () => {
	const promises: Array<{ promise: string; tests: string }> = [];
	// One table for each thing that must not happen, with its own line of headings.
	for (const [promise, , tests] of rowsIn(sectionOf('docs/safety.md', '## The promises'))) {
		if (promise !== 'Promise') promises.push({ promise: promise!, tests: tests! });
	}

	test.each(promises)('"$promise" is held by tests that are there: $tests', ({ tests }) => {
		const files = allIn(tests, /`([^`]+)`/g);
		expect(files.length).toBeGreaterThan(0);
		for (const file of files) {
			expect(file).toMatch(/\.(test|n8n)\.ts$/);
			const path = file.startsWith('lab/') ? file : `test/${file}`;
			expect(read(path)).toMatch(/\btest(\.each)?\(/);
		}
	});

	const inGate = [...GATE.shared, ...GATE.alone].map((name) => `n8n/${name}.n8n.ts`);

	test.each(promises)(
		'"$promise" is tried on a running n8n before a change goes in: $tests',
		({ tests }) => {
			const files = allIn(tests, /`([^`]+)`/g);
			expect(files.filter((file) => inGate.includes(file))).not.toStrictEqual([]);
		},
	);
});

test.each([
	['docs/outcomes.md', '## The outcomes, exactly'],
	['docs/sent-once.md', '## Retries: the ledger'],
	['docs/proxy.md', '## A proxy that repeats'],
])('%s, "%s" names the test that holds it', (path, heading) => {
	const files = allIn(sectionOf(path, heading), /`((?:test|lab)\/[^`]+\.ts)`/g);
	expect(files.length).toBeGreaterThan(0);
	for (const file of files) expect(read(file)).toMatch(/\btest(\.each)?\(/);
});

test.each(exampleNames())('examples/%s.json has the sources of its folder', (name) => {
	expect(withSources(name)).toStrictEqual(example(name));
});

describe('README', () => {
	test('has the two commands as they are known', () => {
		expect(read('README.md')).toContain('\nnpm ci && npm run demo\nnpm ci && npm test\n');
	});

	test('names no script that neither CI nor a test runs', () => {
		const runs = read('.ci/run') + read('test/n8n/commands.n8n.ts');
		for (const name of scriptsOf('README.md')) {
			const isRun =
				runs.includes(`npm ${name}`) ||
				runs.includes(`npm run ${name}`) ||
				runs.includes(`'${name}'`);
			expect({ name, isRun }).toStrictEqual({ name, isRun: true });
		}
	});

	test('leads to every page, by itself, by its index docs/README.md or by CONTRIBUTING', () => {
		const targets: string[] = [];
		for (const path of ['README.md', 'docs/README.md', 'CONTRIBUTING.md']) {
			for (const { target } of linksOf(path))
				targets.push(join(dirname(path), target.split('#')[0]!));
		}
		for (const path of DOCUMENTS) expect(targets).toContain(path);
	});

	test('has the headings that n8n links to', () => {
		const anchors = new Set([
			...allIn(SOURCES, /https:\/\/[^'"]+#([\w-]+)/g),
			...allIn(SOURCES, /"url": "[^"]+#([\w-]+)"/g),
		]);
		// The top of a page on npm.
		anchors.delete('readme');
		const headings = headingsOf('README.md').map(({ anchor }) => anchor);
		for (const anchor of anchors) expect(headings).toContain(anchor);
	});
});

test.each([
	['test/fields/amount.test.ts', "{ value: ' 10.50 ', amount: 10.5 },"],
	['nodes/Pay/fields/amount.ts', "placeholder: 'e.g. 49.90',"],
])('the first change of CONTRIBUTING begins at a line of %s that is there once', (file, line) => {
	expect(read('CONTRIBUTING.md')).toContain(line);
	expect(read(file).split(line)).toHaveLength(2);
});

describe('docs/workflow-json.md', () => {
	const PATH = 'docs/workflow-json.md';
	const shownNodes = [];
	for (const block of jsonBlocksOf(read(PATH))) {
		for (const node of block.nodes ?? [block]) {
			if (node.type.startsWith('n8n-nodes-pay.')) shownNodes.push(node);
		}
	}

	/** The names of all members of a value, at any depth. */
	function memberNames(value: unknown): string[] {
		const names: string[] = [];
		if (typeof value !== 'object' || value === null) return names;
		for (const [name, below] of Object.entries(value)) {
			if (!Array.isArray(value)) names.push(name);
			names.push(...memberNames(below));
		}
		return names;
	}

	const shownNames = new Set<string>();
	const shownValues = new Set<string>();
	for (const { parameters } of shownNodes) {
		for (const name of memberNames(parameters)) shownNames.add(name);
		for (const value of Object.values(parameters)) shownValues.add(String(value));
	}
	const words = new Set(shownNames);
	for (const code of codeSpansOf(PATH)) {
		for (const word of code.split('.')) words.add(word);
	}
	const fieldNames = new Set<string>();
	const fieldValues = new Set<string>();
	for (const { properties } of NODES) {
		for (const { type, name, options = [] } of fieldsIn(properties)) {
			if (type === 'notice') continue;
			fieldNames.add(name);
			for (const option of options) {
				if ('value' in option) fieldValues.add(String(option.value));
			}
		}
	}

	test('shows no field that the nodes do not have', () => {
		const unknown = [...shownNames].filter(
			(name) => !fieldNames.has(name) && !GROUP_NAMES.has(name),
		);
		expect(unknown).toStrictEqual([]);
	});

	test('names every field of the nodes', () => {
		expect([...fieldNames].filter((name) => !words.has(name))).toStrictEqual([]);
	});

	test('names or shows every value of the nodes', () => {
		const missing = [...fieldValues].filter(
			(value) => !words.has(value) && !shownValues.has(value),
		);
		expect(missing).toStrictEqual([]);
	});
});

test('every picture is in a document', () => {
	const linked = new Set<string>();
	for (const path of DOCUMENTS) {
		for (const { target } of linksOf(path)) linked.add(join(dirname(path), target));
	}
	const pictures = filesIn('docs/screenshots').map((file) => `docs/screenshots/${file}`);
	expect(pictures.filter((picture) => !linked.has(picture))).toStrictEqual([]);
});

test('every npm script is in a document', () => {
	const named = [...DOCUMENTS, ...ROOMS].flatMap(scriptsOf);
	expect(Object.keys(scripts).filter((name) => !named.includes(name))).toStrictEqual([]);
});

test('every example is described, and no other', () => {
	const described: string[] = [];
	for (const [first = ''] of rowsIn(proseOf('docs/examples.md'))) {
		described.push(...allIn(first, /`([^`]+)`/g));
	}
	expect(described.sort()).toStrictEqual(exampleNames().map((name) => `${name}.json`));
});

test('every placeholder begins with "e.g.", as n8n asks for, but for the commands of buttons', () => {
	const placeholders = FIELDS.flatMap(({ placeholder }) => placeholder ?? []);
	for (const placeholder of placeholders) {
		expect(placeholder.startsWith('e.g. ') || placeholder.startsWith('Add ')).toBe(true);
	}
});

test('the actions are named without articles, as n8n asks for', () => {
	expect(ACTIONS.filter((action) => /\b(?:an?|the)\b/i.test(action))).toStrictEqual([]);
});

test.each(['package.json', 'nodes/Pay/Pay.node.json'])(
	'schemes can be searched for in %s',
	(file) => {
		expect(read(file)).toMatch(/"pix",\s+"copia e cola"/i);
	},
);

/** The headings of the service's own document. Code cites their numbers, so they stay as they are. */
const SECTIONS_OF_SERVICE = [
	'1. What the service does',
	'2. Resources and their fields',
	'2.1 QR code request',
	'2.2 Payment request',
	'2.3 Not shown',
	'3. States and transitions',
	'4. Endpoints',
	'4.1 Generate QR code',
	'4.2 Make payment',
	'5. Authentication',
	'6. Events',
	'7. Errors',
	'8. Limits',
	'9. Versioning',
];

test('sandbox/contract.md has the sections of the document under their numbers', () => {
	const numbered = headingsOf('sandbox/contract.md').filter(({ title }) => /^\d/.test(title));
	const titles = numbered.map(({ title }) => title);
	expect(titles).toStrictEqual(expect.arrayContaining(SECTIONS_OF_SERVICE));
	const numbers = titles.map((title) => title.split(/\.? /)[0]);
	expect(new Set(numbers).size).toBe(numbers.length);
});

test('every section of the document that the code cites is a heading of sandbox/contract.md', () => {
	const sections: string[] = [];
	for (const { title } of headingsOf('sandbox/contract.md')) {
		sections.push(...allIn(title, /^(\d(?:\.\d)?)/g));
	}
	const cited = sectionsCitedIn(SOURCES);
	expect(cited.filter((section) => !sections.includes(section))).toStrictEqual([]);
});

test('every document that an example names is there', () => {
	const named = exampleNames().flatMap((name) =>
		allIn(read(`examples/${name}.json`), /(docs\/[\w-]+\.md)/g),
	);
	expect(named.filter((file) => !isFile(file))).toStrictEqual([]);
});

describe('the changelog', () => {
	const headings = headingsOf('CHANGELOG.md').map(({ title }) => title);

	test('has a place for what is not released', () => expect(headings).toContain('[Unreleased]'));

	const heading = headings.find((title) => title.startsWith(`[${version}] - `));
	const day = heading?.slice(`[${version}] - `.length);

	test('has the version of the package, and its day once it is released', () => {
		expect(day).toMatch(/^(\d{4}-\d\d-\d\d|not released yet)$/);
	});

	test('keeps a release back until it has a day', () => {
		const open = obstacles(`v${version}`).filter((obstacle) => obstacle.includes('CHANGELOG'));
		expect(open).toHaveLength(day === 'not released yet' ? 1 : 0);
		expect(read('.github/workflows/publish.yml')).toContain('dev/release.ts "$GITHUB_REF_NAME"');
	});
});
