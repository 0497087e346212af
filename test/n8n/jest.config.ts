import type { Config } from 'jest';
import { join } from 'node:path';
import base from '../../jest.config';

/** Tests on a running n8n, minutes instead of seconds: `npm run test:n8n` (run.ts) says which. */
const config: Config = {
	...base,
	rootDir: join(__dirname, '..', '..'),
	testMatch: ['<rootDir>/test/n8n/**/*.n8n.ts', '<rootDir>/lab/{*,parts/*}.n8n.ts'],
	globalSetup: '<rootDir>/test/n8n/pack.ts',
	globalTeardown: undefined,
	testTimeout: 1_200_000,
	reporters: ['default', ['<rootDir>/test/countReporter.js', { progress: true }]],
};

export default config;
