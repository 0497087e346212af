// What n8n's own command line lints a community package with, without that command line (700 MB, which
// `npx ts-node dev/strict.ts` installs). Its own two lines are in eslint.config.mjs; .vscode leads an editor here.
import { fileURLToPath } from 'node:url';
import js from '@eslint/js';
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { defineConfig } from 'eslint/config';
import nodesBase from 'eslint-plugin-n8n-nodes-base';
import ts from 'typescript-eslint';

const community = n8nCommunityNodesPlugin.configs.recommended;

export default defineConfig(
	{ ignores: ['dist', 'dev/n8n1', 'dev/n8n2', '**/*.js', '**/*.mjs'] },
	{
		// A promise that nobody waits for lets a test pass before it has failed.
		files: ['{test,sandbox,examples,lab,dev}/**/*.ts'],
		plugins: { '@typescript-eslint': ts.plugin },
		languageOptions: {
			parser: ts.parser,
			parserOptions: {
				projectService: true,
				tsconfigRootDir: fileURLToPath(new URL('..', import.meta.url)),
			},
		},
		rules: {
			'@typescript-eslint/no-floating-promises': 'error',
			'@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
			'no-restricted-syntax': [
				'error',
				{
					selector:
						':matches(MemberExpression[property.name="only"], CallExpression[callee.name=/^[fx](it|test|describe)$/])',
					message: 'A test that stands alone, or is left out, goes in by mistake.',
				},
			],
		},
		linterOptions: { reportUnusedDisableDirectives: 'off' },
	},
	{ plugins: { 'n8n-nodes-base': nodesBase } },
	{
		files: ['nodes/**/*.ts', 'credentials/**/*.ts'],
		extends: [js.configs.recommended, ts.configs.recommended, community],
		rules: {
			'prefer-spread': 'off',
			'no-console': 'error',
			'no-restricted-syntax': [
				'error',
				{
					selector: 'SpreadElement > :matches(ObjectExpression, ArrayExpression)',
					message: 'Write the literal out, a property a line.',
				},
				{
					selector:
						':matches(Program, ExportNamedDeclaration) > VariableDeclaration > VariableDeclarator > NewExpression[callee.name=/^(Map|Set)$/][arguments.length=0]',
					message: 'It grows as long as the process lives: use a BoundedMap.',
				},
			],
		},
	},
	{
		files: ['package.json'],
		extends: [community],
		rules: nodesBase.configs.community.rules,
		languageOptions: {
			parser: ts.parser,
			parserOptions: { extraFileExtensions: ['.json'] },
		},
	},
	{
		files: ['credentials/**/*.ts'],
		rules: {
			...nodesBase.configs.credentials.rules,
			// The community's rules speak of these.
			'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
			'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off',
		},
	},
	{
		files: ['nodes/**/*.ts'],
		rules: {
			...nodesBase.configs.nodes.rules,
			// They do not know NodeConnectionTypes, and ask of every list for a largest number.
			'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
			'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
			'n8n-nodes-base/node-param-type-options-max-value-present': 'off',
		},
	},
);
