import { availableParallelism } from 'node:os';
import type { Config } from 'jest';
import { join } from 'node:path';
import base from '../../jest.config';

/** Tests on a running n8n: minutes instead of seconds. */
const config: Config = {
	...base,
	rootDir: join(__dirname, '..', '..'),
	testMatch: ['<rootDir>/test/{n8n,parts}/**/*.n8n.ts'],
	globalSetup: '<rootDir>/test/n8n/pack.ts',
	globalTeardown: '<rootDir>/test/n8n/pack.end.ts',
	// Two thirds of the time of a file it waits for what n8n does.
	maxWorkers: availableParallelism() + 2,
	testTimeout: 1_200_000,
	reporters: ['default', ['<rootDir>/test/countReporter.js', { progress: true }]],
};

export default config;
