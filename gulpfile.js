const { mkdir, readFile, readdir, rm, writeFile } = require('node:fs/promises');
const { basename, dirname, relative, resolve } = require('node:path');
const esbuild = require('esbuild');
const { src, dest, series, parallel } = require('gulp');
const { transpileModule } = require('typescript');
const { name: packageName, version: packageVersion, n8n } = require('./package.json');

/** The source of a file that package.json tells n8n to load. */
const sourceOf = (file) => file.replace(/^dist\//, '').replace(/\.js$/, '.ts');

/** They hold a library, which is most of their code; loaded when one of their functions is called. */
const AT_FIRST_USE = ['nodes/Pay/qr/image.ts'];

async function clean() {
	await rm('dist', { recursive: true, force: true });
}

const OPTIONS = {
	bundle: true,
	// Libraries' plain builds: those for Node load modules that n8n's scan forbids.
	platform: 'neutral',
	mainFields: ['module', 'main'],
	target: 'node20',
	format: 'cjs',
	external: ['n8n-workflow', 'crypto'],
	// Whoever reviews the package reads what it runs: the code keeps its names and its order, and each part is
	// headed by the name of its file, the same wherever the build's folder is.
	minify: false,
	preserveSymlinks: true,
	legalComments: 'none',
	metafile: true,
	logLevel: 'warning',
};

/** Leaves out all comments: esbuild drops most, but keeps those in classes and literals. */
const withoutComments = {
	name: 'without comments',
	setup({ onLoad }) {
		onLoad({ filter: /\.(ts|m?js)$/ }, async ({ path }) => {
			const { outputText, diagnostics } = transpileModule(await readFile(path, 'utf8'), {
				fileName: path,
				reportDiagnostics: true,
				compilerOptions: {
					target: 'es2022',
					module: 'esnext',
					allowJs: true,
					removeComments: true,
				},
			});
			// TypeScript repairs what it cannot read; a guess is not what is published.
			const errors = diagnostics.map(({ messageText }) => ({ text: `${path}: ${messageText}` }));
			return { contents: outputText, errors };
		});
	},
};

/** In place of the files of {@link AT_FIRST_USE}: the same functions, each of which loads its file. */
const atFirstUse = {
	name: 'at first use',
	setup({ onLoad, onResolve }) {
		const sources = new Map(AT_FIRST_USE.map((source) => [resolve(source), source]));
		onResolve({ filter: /./, namespace: 'apart' }, ({ path }) => ({ path, external: true }));
		onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
			const source = sources.get(`${resolve(resolveDir, path)}.ts`);
			return source && { path: source, namespace: 'apart' };
		});
		onLoad({ filter: /./, namespace: 'apart' }, async ({ path: source }) => {
			const file = `./${relative('nodes/Pay', source).replace(/\.ts$/, '.js')}`;
			const names = [
				...(await readFile(source, 'utf8')).matchAll(/^export (?:async )?function (\w+)/gm),
			];
			const lines = names.map(
				([, name]) =>
					`export const ${name} = (...values) => require('${file}').${name}(...values);`,
			);
			return { contents: lines.join('\n') };
		});
	},
};

/**
 * The published package may have no dependencies, so what it needs is bundled: nodes and credential into
 * one file, which each of the files that n8n loads takes its class from.
 */
async function bundle() {
	const outbase = '.';
	const entryPoints = AT_FIRST_USE;
	const apart = await esbuild.build({
		...OPTIONS,
		entryPoints,
		outdir: 'dist',
		outbase,
		plugins: [withoutComments],
	});
	const files = [...n8n.nodes, ...n8n.credentials];
	const outfile = 'dist/nodes/Pay/nodes.js';
	const both = await esbuild.build({
		...OPTIONS,
		stdin: {
			contents: files.map((file) => `export * from './${sourceOf(file)}';`).join('\n'),
			resolveDir: '.',
			sourcefile: 'gulpfile.js',
		},
		outfile,
		plugins: [atFirstUse, withoutComments],
	});
	for (const file of files) {
		const [name] = basename(file).split('.');
		const from = file.includes('/credentials/') ? '../nodes/Pay' : '.';
		await mkdir(dirname(file), { recursive: true });
		await writeFile(
			file,
			`exports.${name} = require('${from}/nodes.js').${name};
`,
		);
	}
	const inputs = [apart, both].flatMap(({ metafile }) => Object.keys(metafile.inputs));
	const libraries = await librariesOf(inputs);
	await writeFile('dist/THIRD-PARTY-LICENSES.txt', licensesOf(libraries));
	await writeFile('dist/bom.cdx.json', billOfMaterials(libraries));
}

/** The libraries whose code is in the bundles, in the order of their folders. */
async function librariesOf(inputs) {
	const folders = new Set();
	for (const file of inputs) {
		const [folder] = file.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/) ?? [];
		if (folder !== undefined) folders.add(folder);
	}
	const libraries = [];
	for (const folder of [...folders].sort()) {
		const { name, version, license } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'));
		const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
		if (file === undefined) throw new Error(`${name} is bundled but has no license file`);
		const text = await readFile(`${folder}/${file}`, 'utf8');
		libraries.push({ name, version, license, text });
	}
	return libraries;
}

/** The license texts of the libraries, as their licenses demand. */
function licensesOf(libraries) {
	const texts = libraries.map(({ name, version, text }) => `${name} ${version}\n\n${text}`);
	return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** The libraries as a bill of materials (CycloneDX), for programs that look for known weaknesses. */
function billOfMaterials(libraries) {
	const components = libraries.map(({ name, version, license }) => ({
		type: 'library',
		name,
		version,
		licenses: [{ license: { id: license } }],
		purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
	}));
	// Without a time or a number of its own: two builds give the same file.
	const bill = {
		bomFormat: 'CycloneDX',
		specVersion: '1.6',
		version: 1,
		metadata: { component: { type: 'library', name: packageName, version: packageVersion } },
		components,
	};
	return `${JSON.stringify(bill, null, '\t')}\n`;
}

function assets() {
	// Without encoding: false gulp 5 would read images as text and break them.
	return src(['nodes/**/*.{svg,png,node.json}', 'nodes/**/__schema__/**/*.json'], {
		base: '.',
		encoding: false,
	}).pipe(dest('dist'));
}

exports.build = series(clean, parallel(bundle, assets));
