import type { Config } from 'jest';
import base from '../../test/n8n/jest.config';

/** Every n8n of the matrix; its result is the table in docs/versions.md. */
const config: Config = {
	...base,
	testMatch: ['<rootDir>/lab/versions/**/*.n8n.ts'],
	// One n8n after another: each installs and starts several processes.
	maxWorkers: 1,
	testTimeout: 300_000,
	reporters: [...(base.reporters ?? []), '<rootDir>/lab/versions/table.js'],
};

export default config;
