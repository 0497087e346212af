import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as workflow from 'n8n-workflow';
import { parse } from 'yaml';
import { newestOf, newMajors, whyNot } from '../dev/bump';
import { temporaryFolder } from '../dev/children';
import { ADDRESSES, obstacles } from '../dev/release';
import { MATRIX, numberOf } from '../dev/versions';
import manifest from '../package.json';
import { allIn, read, rowsIn, sectionOf } from './markdown';

const ROOT = join(__dirname, '..');

function run(command: string, args: string[]): string {
	return execFileSync(command, args, {
		cwd: ROOT,
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'ignore'],
	});
}

describe('the package, as it was built,', () => {
	const packed = run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']);
	const [{ size, files }] = JSON.parse(packed) as [
		{ size: number; files: Array<{ path: string }> },
	];
	const paths = files.map(({ path }) => path);

	// 115.6 kB when it was measured.
	test('is small', () => expect(size).toBeLessThan(120_000));

	test.each([...manifest.n8n.nodes, ...manifest.n8n.credentials])('has %s', (path) => {
		expect(paths).toContain(path);
	});

	test('holds nothing else beside dist/', () => {
		expect(paths.filter((path) => !path.startsWith('dist/')).sort()).toStrictEqual([
			'LICENSE',
			'README.md',
			'index.js',
			'package.json',
		]);
	});

	test('loads one file for both nodes: what draws images waits for its first use', () => {
		const script = `
			for (const node of ['Pay', 'PayTrigger']) new (require('./dist/nodes/Pay/' + node + '.node.js')[node])();
			console.log(Object.keys(require.cache).filter((file) => file.startsWith(process.cwd() + '/dist/')).join());`;
		const loaded = run('node', ['-e', script]).trim().split(',');
		expect(loaded.map((file) => basename(file)).sort()).toStrictEqual([
			'Pay.node.js',
			'PayTrigger.node.js',
			'nodes.js',
		]);
	});
});

describe('the built programs', () => {
	const lines: string[] = [];
	for (const file of readdirSync(join(ROOT, 'dist'), { recursive: true, encoding: 'utf8' })) {
		if (file.endsWith('.js')) lines.push(...read(`dist/${file}`).split('\n'));
	}
	/** The sources that their comments name. */
	const sources = allIn(lines.join('\n'), /^\/\/ (\S+\.[jt]s)$/gm);

	test('have short lines, so that they can be read', () => {
		expect(lines.filter((line) => line.length > 2_000)).toStrictEqual([]);
	});

	test('name no source outside of the project', () => {
		expect(sources.filter((source) => source.startsWith('..'))).toStrictEqual([]);
	});

	test('name their sources, but for those of which only the types are used', () => {
		expect(sources).toEqual(
			expect.arrayContaining(['nodes/Pay/Pay.node.ts', 'nodes/Pay/PayTrigger.node.ts']),
		);
	});
});

describe('the bill of materials', () => {
	const { components } = JSON.parse(read('dist/bom.cdx.json')) as {
		components: Array<{ name: string; version: string; purl: string; licenses: unknown }>;
	};
	const lock = JSON.parse(read('package-lock.json')) as {
		packages: Record<string, { version: string }>;
	};

	test('holds every bundled library, and no other', () => {
		const bundled = new Set<string>();
		for (const file of ['nodes.js', 'qr/image.js']) {
			const program = read(`dist/nodes/Pay/${file}`);
			for (const name of allIn(program, /^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)) {
				bundled.add(name);
			}
		}
		expect(components.map(({ name }) => name).sort()).toStrictEqual([...bundled].sort());
	});

	test.each(components)('has $name under its version', ({ name, version, purl }) => {
		expect(version).toBe(lock.packages[`node_modules/${name}`]!.version);
		expect(decodeURIComponent(purl)).toBe(`pkg:npm/${name}@${version}`);
	});

	test.each(components)('has $name under its license, whose text is there', (component) => {
		const { name, version, licenses } = component;
		expect(licenses).toStrictEqual([{ license: { id: expect.any(String) } }]);
		expect(read('dist/THIRD-PARTY-LICENSES.txt')).toContain(`${name} ${version}\n`);
	});
});

test("the project's address is the same wherever it stands", () => {
	const plain = Object.values(ADDRESSES).map((address) =>
		address.replace(/^git\+/, '').replace(/(\.git|#[a-z]+)$/, ''),
	);
	expect(new Set(plain)).toStrictEqual(new Set([manifest.homepage]));
});

test("a release is held up by a wrong tag and by addresses that are nobody's", () => {
	const right = obstacles(`v${manifest.version}`);
	expect(obstacles('v0.0.9')).toStrictEqual([
		`The tag is v0.0.9, package.json says ${manifest.version}.`,
		...right,
	]);
	const open = Object.values({ ...ADDRESSES, author: manifest.author.email }).filter((address) =>
		address.includes('example.com'),
	);
	const security = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
	const isOfFile = (words: string) => /^(SECURITY\.md|CHANGELOG\.md|\.github\/)/.test(words);
	expect(right.filter((words) => !isOfFile(words))).toHaveLength(open.length);
	// Only the section counts: the version of a package looks like an address too.
	expect(right.some((words) => words.startsWith('SECURITY.md, Report a weakness is'))).toBe(
		security.includes("there's no address for reports yet"),
	);
	const owners = readFileSync(join(ROOT, '.github', 'CODEOWNERS'), 'utf8');
	expect(right.some((words) => words.startsWith('.github/CODEOWNERS'))).toBe(
		owners.includes('@example'),
	);
});

describe('the workflows of GitHub', () => {
	interface Job {
		'timeout-minutes': number;
		environment?: string;
		permissions?: Record<string, string>;
		steps?: Array<{ name?: string; run?: string; uses?: string; with?: object }>;
	}
	const jobsOf = (file: string) => {
		const text = readFileSync(join(ROOT, '.github', 'workflows', file), 'utf8');
		return Object.values((parse(text) as { jobs: Record<string, Job> }).jobs);
	};

	test.each(['checks.yml', 'publish.yml', 'weekly.yml'])(
		'%s gives .ci/run longer than its own limits are together',
		(file) => {
			let seconds = 0;
			for (const limit of allIn(read('.ci/run'), /^(?:within|timeout --kill-after=\d+) (\d+)/gm)) {
				seconds += Number(limit);
			}
			const [job] = jobsOf(file).filter(({ steps = [] }) =>
				steps.some((step) => step.run === '.ci/run'),
			);
			// The rest is for what has no limit: Debian's packages, npm ci, and the installed n8ns.
			expect(60 * job!['timeout-minutes']).toBeGreaterThan(seconds + 15 * 60);
		},
	);

	test.each(readdirSync(join(ROOT, '.github', 'workflows')))(
		'%s takes actions by their commit, leaves no token behind, and may write nothing by default',
		(file) => {
			const { permissions } = parse(
				readFileSync(join(ROOT, '.github', 'workflows', file), 'utf8'),
			) as { permissions: object };
			expect(permissions).toStrictEqual({ contents: 'read' });
			const used = jobsOf(file).flatMap(({ steps = [] }) => steps.filter(({ uses }) => uses));
			for (const { uses, with: inputs } of used) {
				expect(uses).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/);
				if (uses!.startsWith('actions/checkout@')) {
					expect(inputs).toMatchObject({ 'persist-credentials': false });
				}
			}
		},
	);

	test('publish only after a person has approved it', () => {
		const publishing = jobsOf('publish.yml').filter(({ permissions }) => permissions?.['id-token']);
		expect(publishing.map(({ environment }) => environment)).toStrictEqual(['npm']);
	});

	test.each([
		{ says: 'has passed all security checks', code: 0 },
		{ says: 'has failed security checks', code: 1 },
	])(
		'a published package of which the scan says "$says": the step ends with $code',
		({ says, code }) => {
			const { run } = jobsOf('publish.yml')
				.flatMap(({ steps = [] }) => steps)
				.find(({ name }) => name === 'It was published with its provenance')!;
			// n8n's command exits with 0 in either case.
			const stubs = `npx() { echo "Package ${says}"; }; sleep() { :; }; tee() { cat >scan.txt; };`;
			const cwd = temporaryFolder('publish');
			writeFileSync(join(cwd, 'package.json'), '{}');
			const { status } = spawnSync('bash', ['-eo', 'pipefail', '-c', stubs + run], { cwd });
			rmSync(cwd, { recursive: true });
			expect(status).toBe(code);
		},
	);
});

test('the newest release is found by its number, and is no pre-release', () => {
	const versions = ['2.9.10', '2.41.1', '2.9.9', '2.42.0-rc.1', '1.123.81', '20.50.0', '1.99.0'];
	expect([1, 2].map((major) => newestOf(major, versions))).toStrictEqual(['1.123.81', '2.41.1']);
});

test('a new major is named, be it a pre-release', () => {
	expect(newMajors(['1.123.81', '2.41.1', '0.236.3'])).toStrictEqual([]);
	expect(newMajors(['4.0.0', '2.41.1', '3.0.0-beta.1', '3.0.0'])).toStrictEqual([3, 4]);
});

describe('dev/compose.yaml', () => {
	interface Service {
		image: string;
		stop_grace_period?: string;
		profiles?: string[];
		environment?: Record<string, string>;
		volumes?: string[];
		depends_on?: Record<string, { condition: string }>;
	}
	const text = readFileSync(join(ROOT, 'dev', 'compose.yaml'), 'utf8');
	const file = parse(text, { merge: true }) as {
		services: Record<string, Service>;
		volumes: Record<string, unknown>;
	};
	const services = Object.entries(file.services);
	const n8ns = ['one', 'main', 'webhook', 'worker'];

	test('has every process of n8n load the package, on n8n 3 too', () => {
		for (const name of n8ns) {
			const { environment, volumes, depends_on } = file.services[name]!;
			expect(environment).toMatchObject({
				N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
				N8N_ENCRYPTION_KEY: expect.stringContaining(':?'),
			});
			expect(volumes).toContain('nodes:/home/node/.n8n/nodes');
			expect(depends_on!.package!.condition).toBe('service_completed_successfully');
		}
		expect(file.services.package!.volumes).toContain('nodes:/nodes');
	});

	test('gives every process of n8n longer to stop than the 30 s that n8n takes', () => {
		for (const name of n8ns) expect(file.services[name]!.stop_grace_period).toBe('60s');
	});

	test('takes the n8n that the tests run on, and everything by a tag', () => {
		for (const name of [...n8ns, 'package']) {
			expect(file.services[name]!.image).toBe(`n8nio/n8n:${numberOf('n8n2')}`);
		}
		for (const [, { image }] of services) expect(image).toMatch(/:\d/);
	});

	test('starts queue mode by itself, and one process where that is named', () => {
		const unnamed = services.filter(([, { profiles }]) => profiles === undefined);
		expect(unnamed.map(([name]) => name).sort()).toStrictEqual([
			'main',
			'package',
			'postgres',
			'redis',
			'webhook',
			'worker',
		]);
		const needs = services.flatMap(([, { depends_on = {} }]) => Object.keys(depends_on));
		expect(unnamed.map(([name]) => name)).toStrictEqual(expect.arrayContaining(needs));
		expect(file.services.one!.environment).not.toHaveProperty('EXECUTIONS_MODE');
		for (const name of ['main', 'webhook', 'worker']) {
			expect(file.services[name]!.environment).toMatchObject({
				EXECUTIONS_MODE: 'queue',
				OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
			});
		}
	});

	test('declares every volume', () => {
		const used = services.flatMap(([, { volumes = [] }]) =>
			volumes.filter((one) => /^\w/.test(one)).map((one) => one.split(':')[0]!),
		);
		expect(Object.keys(file.volumes).sort()).toStrictEqual([...new Set(used)].sort());
	});
});

test('a release of which npm lacks a part is not called a failure of its own', () => {
	// What pnpm printed on 2026-11-23.
	const said =
		'ERR_PNPM_NO_MATCHING_VERSION  No matching version found for @n8n/agents@0.26.2 while fetching it';
	expect(whyNot('2.41.3', new Error(said))).toBe(
		'2.41.3 cannot be installed as it was published: it needs @n8n/agents@0.26.2, which npm does not have. n8n may not be done with publishing it: try again in a day.',
	);
	expect(whyNot('2.41.3', new Error('no space left'))).toBe('2.41.3 does not do:\nno space left');
});

describe("n8n's insides that the README of run/ lists", () => {
	const section = sectionOf('nodes/Pay/run/README.md', "## What is used of n8n's insides");
	const [, ...insides] = rowsIn(section);

	test.each(insides)('%s: its test names it', (inside, _use, _otherwise, cell) => {
		const [name = 'timer'] = allIn(inside!, /`([^`]+)`/g);
		const [file] = allIn(cell!, /`([^`]+)`/g);
		expect(read(`test/${file}`)).toContain(name);
	});
});

describe('the lowest n8n is the same', () => {
	const [lowest = ''] = /^\d+\.\d+/.exec(MATRIX[0]!.version) ?? [];

	test.each(['README.md', 'CHANGELOG.md', 'docs/install.md', 'nodes/Pay/n8n1/version.ts'])(
		'in %s',
		(file) => expect(read(file)).toContain(`n8n ${lowest}`),
	);

	test('in the table of what was tried', () => {
		const [, table = ''] = read('docs/versions.md').split('<!-- versions -->');
		expect(allIn(table, /\| n8n +\| (\d+\.\d+)/g)[0]).toBe(lowest);
	});
});

describe('an n8n before 1.99', () => {
	/** Loads a file anew beside this n8n-workflow. */
	const load = (file: string, beside: object) =>
		jest.isolateModules(() => {
			jest.doMock('n8n-workflow', () => beside);
			try {
				require(file);
			} finally {
				jest.dontMock('n8n-workflow');
			}
		});

	test.each(['Pay', 'PayTrigger'])('has %s tell its log which n8n it needs', (name) => {
		const file = join(ROOT, 'nodes', 'Pay', `${name}.node.ts`);
		const older = { ...workflow, isTool: undefined, makeNodeName: undefined };
		expect(() => load(file, older)).toThrow('n8n-nodes-pay needs n8n 1.99 or later');
		expect(() => load(file, { ...workflow, makeNodeName: undefined })).not.toThrow();
		expect(() => load(file, workflow)).not.toThrow();
	});
});
