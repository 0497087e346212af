import type { Config } from 'jest';
import { join } from 'node:path';
import base from '../../jest.config';

/** Test files that call whole nodes, where mutate.ts names them: they alone run. */
const named = process.env.PAY_MUTATION_TESTS?.split(',').filter((path) => path !== '');
const wholeNodes: Config | undefined = named && {
	testMatch: named.map((path) => `<rootDir>/${path}`),
	globalSetup: base.globalSetup,
	globalTeardown: base.globalTeardown,
};

/**
 * The tests of pure code, but for those that play thousands of cases again for each mutant, and those that
 * call whole nodes.
 */
const pureCode: Config = {
	testMatch: [
		'<rootDir>/test/{boundedMap,inputError,json,loopback,pause,within}.test.ts',
		'<rootDir>/test/{account,fields,postback,qr,run,service}/**/*.test.ts',
	],
	testPathIgnorePatterns: [
		'/(growth|differential)\\.test\\.ts$',
		'/account/test\\.test\\.ts$',
		'/run/(records|acceptedMarks)\\.test\\.ts$',
		'/postback/(requests|resumeOnce|trigger)\\.test\\.ts$',
	],
	dependencyExtractor: '<rootDir>/lab/mutation/importsOfTests.js',
};

const config: Config = {
	...(wholeNodes ?? pureCode),
	rootDir: join(__dirname, '..', '..'),
	testEnvironment: join(__dirname, 'untilOneFails.js'),
	moduleNameMapper: {
		...base.moduleNameMapper,
		...(wholeNodes === undefined && {
			'^n8n-workflow$': '<rootDir>/lab/mutation/n8nWorkflow.js',
			'^n8n-workflow, loaded$': require.resolve('n8n-workflow'),
		}),
	},
	testTimeout: 10_000,
	transform: base.transform,
	transformIgnorePatterns: base.transformIgnorePatterns,
	modulePathIgnorePatterns: base.modulePathIgnorePatterns,
};

export default config;
