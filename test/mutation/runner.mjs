import { createRequire } from 'node:module';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';

/*
 * Stryker's test runner for this suite: jest's own test functions, expectations and fake timers, in
 * one process in which n8n-core stays loaded. For each mutant the code under test, the sandbox and
 * the tests are loaded anew, so no state of one mutant meets the next; what is in node_modules is
 * not. (With Stryker's jest runner each mutant that an engine test covers would load n8n-core, for
 * seconds.) That a survivor survives is to be believed only of what real jest runs too.
 */

/** The rooms of the suite that say something about nodes/; the others are about other things. */
const ROOMS = [
	...['parameters', 'service', 'postback', 'credential', 'operations', 'qr'],
	...['execution', 'engine', 'wire'],
];
/** What takes longest goes last: most mutants have died by then. */
const SLOW = [
	'operations/parity',
	'execution/memory/RunRecords',
	'qr/image',
	'postback/requests',
	'engine/',
	'wire/',
];
/** As `testTimeout` in jest.config.ts, but a mutant that hangs should not hang for long. */
const TEST_TIMEOUT = 10_000;

/** A name of Stryker's own in the code it mutates; dev/install.ts pins the version that has it. */
const COUNTER = /stryCov_9fa48\(([^)]*)\)/g;

class Runner {
	/** Stryker's copy of the project, in which the mutants wait to be switched on. */
	#root = process.cwd();
	#require = createRequire(join(this.#root, 'package.json'));
	/** JavaScript by the file it comes from; the files do not change. */
	#compiled = new Map();
	/** Where the snapshots of the running test file are. */
	#snapshots = '';
	/** Where the mutated code reads which mutant is on, and counts what it runs. */
	#ns = (globalThis.__stryker__ ??= {});

	capabilities() {
		return { reloadEnvironment: true };
	}

	async init() {
		process.env.PAY_SHARE ??= '0.05';
		this.#require('reflect-metadata');
		// That a mutant dies is all there is to know, and each run draws the same.
		this.#require('fast-check').configureGlobal({ endOnFailure: true, seed: 1 });
		this.#compileTypeScript();
		// As test/engine/throwAwayHome.ts.
		const home = mkdtempSync(join(tmpdir(), 'pay-mutation-'));
		process.env.N8N_USER_FOLDER = home;
		process.on('exit', () => rmSync(home, { recursive: true, force: true }));
		process.env.N8N_LOG_LEVEL = 'silent';
		this.#provideGlobals();
		// What a mutant left running may fail later, and is nobody's failure then.
		process.on('uncaughtException', () => undefined);
		process.on('unhandledRejection', () => undefined);
	}

	/** @returns Stryker's DryRunResult */
	async dryRun() {
		this.#ns.activeMutant = undefined;
		const tests = [];
		/** Which files a test file has loaded. */
		const loads = new Map();
		for (const file of this.#testFiles()) {
			this.#forget();
			const before = new Set(this.#loaded());
			const results = await this.#runFile(file, {});
			const loaded = this.#loaded().filter((each) => !before.has(each));
			loads.set(file, loaded);
			tests.push(...results);
			const failed = results.find(({ status }) => status === 'failed');
			if (failed !== undefined) {
				const errorMessage = `${failed.id}: ${failed.failureMessage}`;
				return { status: 'error', errorMessage };
			}
		}
		return { status: 'complete', tests, mutantCoverage: this.#coverage(tests, loads) };
	}

	/** @returns Stryker's MutantRunResult */
	async mutantRun({ activeMutant, testFilter, hitLimit, sandboxFileName }) {
		const wanted = testFilter && new Set(testFilter);
		const fileOf = (id) => id.slice(0, id.indexOf(' > '));
		const only = wanted && new Set([...wanted].map(fileOf));
		Object.assign(this.#ns, { activeMutant: activeMutant.id, hitCount: 0, hitLimit });
		this.#ns.mutantCoverage = undefined;
		this.#ns.currentTestId = undefined;
		let nrOfTests = 0;
		try {
			const files = this.#testFiles(sandboxFileName).filter((file) => !only || only.has(file));
			for (const file of files) {
				this.#forget();
				const results = await this.#runFile(file, { wanted, bail: true });
				if (hitLimit !== undefined && this.#ns.hitCount > hitLimit) {
					return { status: 'timeout', reason: `Hit limit reached (${hitLimit})` };
				}
				nrOfTests += results.filter(({ status }) => status !== 'skipped').length;
				const failed = results.find(({ status }) => status === 'failed');
				if (failed === undefined) continue;
				const { id, failureMessage } = failed;
				return { status: 'killed', killedBy: [id], failureMessage, nrOfTests };
			}
			return { status: 'survived', nrOfTests };
		} catch (error) {
			return { status: 'error', errorMessage: String(error?.stack ?? error) };
		} finally {
			this.#ns.activeMutant = undefined;
		}
	}

	/**
	 * Test files, that of the mutated file first, the slow ones last; those alone whose path matches
	 * PAY_MUTATE_TESTS, where that is set.
	 */
	#testFiles(mutated = '') {
		const only = process.env.PAY_MUTATE_TESTS;
		const files = ROOMS.flatMap((room) =>
			readdirSync(join(this.#root, 'test', room))
				.filter((name) => name.endsWith('.test.ts'))
				.map((name) => join('test', room, name)),
		).filter((file) => only === undefined || new RegExp(only).test(file));
		const slowness = (file) => SLOW.findIndex((part) => file.includes(`test/${part}`));
		const own = relative(join(this.#root, 'nodes', 'Pay'), mutated).replace(/\.ts$/, '.test.ts');
		const rank = (file) => (file === join('test', own) ? -2 : slowness(file));
		return files.sort((a, b) => rank(a) - rank(b));
	}

	#isOurs = (file) =>
		file.startsWith(this.#root + sep) && !file.slice(this.#root.length).includes('/node_modules/');

	#loaded() {
		return Object.keys(this.#require.cache).filter(this.#isOurs);
	}

	#forget() {
		for (const file of this.#loaded()) delete this.#require.cache[file];
		// n8n-core, which stays, lets itself be told of a duplicate store once.
		const core = this.#require.resolve('n8n-core');
		const { DataDeduplicationService } = this.#require.cache[core]?.exports ?? {};
		if (DataDeduplicationService) DataDeduplicationService.instance = undefined;
	}

	/** Loads and runs one test file; with `wanted` only those tests of it. */
	async #runFile(file, { wanted, bail = false }) {
		const { resetState, run, getState, addEventHandler, removeEventHandler } =
			this.#require('jest-circus');
		resetState();
		getState().testTimeout = TEST_TIMEOUT;
		const fileName = join(this.#root, file);
		this.#snapshots = join(dirname(fileName), '__snapshots__', `${basename(file)}.snap`);
		try {
			this.#require(fileName);
		} catch (error) {
			const id = `${file} > (loading)`;
			const failureMessage = String(error?.stack ?? error);
			return [{ id, name: id, status: 'failed', timeSpentMs: 0, fileName, failureMessage }];
		}
		const tests = [];
		const walk = (block, path) => {
			for (const child of block.children) {
				const name = `${path} > ${child.name}`;
				if (child.type === 'describeBlock') walk(child, name);
				else tests.push({ test: child, name });
			}
		};
		walk(getState().rootDescribeBlock, file);
		const ids = new Map();
		for (const [index, { test, name }] of tests.entries()) {
			// Rows of a table may have one name.
			const same = tests.slice(0, index).filter((other) => other.name === name).length;
			ids.set(test, same === 0 ? name : `${name} (${same + 1})`);
			if (wanted && !wanted.has(ids.get(test))) test.mode = 'skip';
		}
		const watch = (event) => {
			if (event.name === 'test_start') this.#ns.currentTestId = ids.get(event.test);
			if (event.name !== 'test_done') return;
			this.#ns.currentTestId = undefined;
			if (bail && event.test.errors.length > 0) {
				for (const { test } of tests) if (test !== event.test) test.mode = 'skip';
			}
		};
		addEventHandler(watch);
		let unhandled;
		try {
			const { unhandledErrors } = await run();
			[unhandled] = unhandledErrors;
		} finally {
			removeEventHandler(watch);
			globalThis.jest.restoreAllMocks();
			globalThis.jest.useRealTimers();
		}
		const results = tests.map(({ test }) => {
			const result = { id: ids.get(test), name: ids.get(test), fileName };
			result.timeSpentMs = test.duration ?? 0;
			const [error] = test.errors.flat().filter(Boolean);
			if (error !== undefined) {
				return { ...result, status: 'failed', failureMessage: String(error?.message ?? error) };
			}
			return {
				...result,
				status: test.status === 'done' && test.mode !== 'skip' ? 'success' : 'skipped',
			};
		});
		if (unhandled === undefined) return results;
		const id = results.find(({ status }) => status !== 'skipped')?.id ?? `${file} > (end)`;
		const failed = { id, name: id, fileName, timeSpentMs: 0 };
		return [...results, { ...failed, status: 'failed', failureMessage: String(unhandled) }];
	}

	/**
	 * Coverage by test. What runs while a file is loaded (its constants) is covered by the tests that
	 * run something of that file, and by all of quick files that load it; else each constant would be
	 * covered by every test.
	 */
	#coverage(tests, loads) {
		const { static: atLoad = {}, perTest = {} } = this.#ns.mutantCoverage ?? {};
		const covered = { static: {}, perTest: {} };
		const add = (test, ids) => {
			const of = (covered.perTest[test] ??= {});
			for (const id of ids) of[id] ??= 1;
		};
		const loadedBy = Object.entries(perTest).filter(([key]) => key.startsWith('load:'));
		for (const [key, ids] of Object.entries(perTest)) {
			if (!key.startsWith('load:')) covered.perTest[key] = { ...ids };
		}
		for (const id of Object.keys(atLoad)) covered.static[id] = atLoad[id];
		for (const [key, ids] of loadedBy) {
			const source = key.slice('load:'.length);
			const code = readFileSync(source, 'utf8');
			const own = new Set(
				[...code.matchAll(COUNTER)].flatMap(([, list]) =>
					[...list.matchAll(/"(\d+)"/g)].map(([, id]) => id),
				),
			);
			// Of a file that is not mutated what runs is in another: its table calls that one.
			if (own.size === 0 && code.includes('__stryker__'))
				throw new Error(`${source}: Stryker counts by another name than ${COUNTER}`);
			for (const { id: test, fileName } of tests) {
				const file = relative(this.#root, fileName);
				const isQuick = own.size === 0 || !SLOW.some((part) => file.includes(`test/${part}`));
				const runs = Object.keys(perTest[test] ?? {}).some((id) => own.has(id));
				if (runs || (isQuick && loads.get(file)?.includes(source))) add(test, Object.keys(ids));
			}
		}
		return covered;
	}

	#compileTypeScript() {
		const { transformSync } = this.#require('@swc/core');
		const { _extensions: extensions } = this.#require('node:module');
		// Jest asks for TypeScript before JSON: Pay.node is Pay.node.ts, not Pay.node.json.
		const others = ['.json', '.node'].map((name) => [name, extensions[name]]);
		for (const [name] of others) delete extensions[name];
		extensions['.ts'] = (module, filename) => {
			let code = this.#compiled.get(filename);
			if (code === undefined) {
				({ code } = transformSync(readFileSync(filename, 'utf8'), {
					filename,
					configFile: false,
					swcrc: false,
					sourceMaps: false,
					jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
					module: { type: 'commonjs' },
				}));
				this.#compiled.set(filename, code);
			}
			const outer = this.#ns.currentTestId;
			this.#ns.currentTestId = `load:${filename}`;
			try {
				module._compile(code, filename);
			} finally {
				this.#ns.currentTestId = outer;
			}
		};
		Object.assign(extensions, Object.fromEntries(others));
	}

	#provideGlobals() {
		const circus = this.#require('jest-circus');
		const { jestExpect } = this.#require('@jest/expect');
		const { ModuleMocker } = this.#require('jest-mock');
		const { ModernFakeTimers } = this.#require('@jest/fake-timers');
		const mocker = new ModuleMocker(globalThis);
		const config = { rootDir: this.#root, fakeTimers: {} };
		const timers = new ModernFakeTimers({ config, global: globalThis });
		// getTimerCount, advanceTimersByTime and so on.
		const names = Object.getOwnPropertyNames(ModernFakeTimers.prototype).slice(1);
		const faking = Object.fromEntries(names.map((name) => [name, timers[name].bind(timers)]));
		const jest = {
			fn: mocker.fn.bind(mocker),
			spyOn: mocker.spyOn.bind(mocker),
			restoreAllMocks: () => mocker.restoreAllMocks(),
			setTimeout: (ms) => (circus.getState().testTimeout = ms),
			...faking,
		};
		// Nothing sets up jest's snapshots here; a text is the whole of each of ours.
		const toMatchSnapshot = (text) => {
			const snapshots = this.#require(this.#snapshots);
			const pass = Object.values(snapshots).includes(`\n"${text}"\n`);
			return { pass, message: () => 'Not as its snapshot' };
		};
		jestExpect.extend({ toMatchSnapshot });
		const { describe, test, it, beforeAll, beforeEach, afterAll, afterEach } = circus;
		const hooks = { beforeAll, beforeEach, afterAll, afterEach };
		Object.assign(globalThis, { describe, test, it, ...hooks, expect: jestExpect, jest });
	}
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'loaded', injectableClass: Runner }];
