import type { Config } from 'jest';
import { join } from 'node:path';
import base from '../../jest.config';

/** The tests of pure code, but for those that play thousands of cases again for each mutant. */
const config: Config = {
	rootDir: join(__dirname, '..', '..'),
	testMatch: [
		'<rootDir>/test/{credential,execution,parameters,postback,qr,service}/**/*.test.ts',
		'<rootDir>/test/operations/{contract,requestBodies}.test.ts',
	],
	testPathIgnorePatterns: ['/growth\\.test\\.ts$', '/differential\\.test\\.ts$'],
	dependencyExtractor: '<rootDir>/test/mutation/importsOfTests.js',
	testTimeout: 10_000,
	transform: base.transform,
	transformIgnorePatterns: base.transformIgnorePatterns,
	modulePathIgnorePatterns: base.modulePathIgnorePatterns,
};

export default config;
