import { availableParallelism } from 'node:os';
import type { Config } from 'jest';

const config: Config = {
	testMatch: ['<rootDir>/{test,sandbox,examples}/**/*.test.ts'],
	// They compare times, which whatever runs beside them disturbs: at night, alone.
	testPathIgnorePatterns: process.env.PAY_TIER === 'nightly' ? [] : ['/growth\\.test\\.ts$'],
	moduleNameMapper: { '^fast-check$': '<rootDir>/test/fastCheck.js' },
	// Many tests wait for an answer or a pause, and leave their core to another.
	maxWorkers: 2 * availableParallelism(),
	// Of a file, too, where its tests say so.
	maxConcurrency: 20,
	// A busy machine is no failure: ten times what the slowest takes. What hangs still ends.
	testTimeout: 600_000,
	// On a slow machine a worker takes half a second to free its memory, which is no leak.
	workerGracefulExitTimeout: 10_000,
	transform: {
		'\\.[jt]s$': [
			'@swc/jest',
			{ jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
		],
	},
	globalSetup: '<rootDir>/test/engine/throwAwayHome.ts',
	globalTeardown: '<rootDir>/test/engine/throwAwayHome.end.ts',
	// fast-png and what it needs come as ES modules.
	transformIgnorePatterns: ['node_modules/(?!(fast-png|iobuffer|fflate|uqr)/)'],
	modulePathIgnorePatterns: ['<rootDir>/dev/n8n[12]/', '<rootDir>/dist', '<rootDir>/.cache'],
	testSequencer: '<rootDir>/test/longestFirst.js',
	reporters: ['default', ['<rootDir>/test/countReporter.js', { mayNotSkip: true }]],
};

export default config;
