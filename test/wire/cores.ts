import { join } from 'node:path';
import { installN8n, installTools } from '../../dev/install';

/** n8n's cores that the wire is tried on: that of n8n 1.99, the lowest, and those of both pinned n8ns. */
export const CORES = ['n8n-core 1.98.0', 'n8n1', 'n8n2'];

/** The `node_modules` of a pinned n8n, or of a core by itself. */
export const modulesOf = async (name: string) =>
	name === 'n8n1' || name === 'n8n2'
		? join((await installN8n(name)).folder, 'node_modules')
		: await installTools(name, [name.replace(' ', '@')], { scripts: false });
