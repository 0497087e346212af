import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../dev/children';
import { itemsOf, N8n, until } from '../../dev/n8n';
import { Registry } from './registry';
import { Sandbox } from '../../sandbox/service';
import { deliver } from '../../test/n8n/deliveries';
import { startN8n, WITH_PAGES } from '../../test/n8n/nodes';
import { ended, startWaiting } from '../../test/n8n/chargeAndWait';
import { tell } from './facts';
import { tried } from './tried';
import { unpack } from './unpack';

/* The titles are lines of the table in docs/versions.md, as those of versions.n8n.ts. */

const NAME = 'n8n-nodes-pay';
const TARBALL = process.env.PAY_TARBALL!;

describe.each(tried)('$number', ({ version }) => {
	jest.setTimeout(900_000);
	let registry: Registry;
	let sandbox: Sandbox;
	let n8n: N8n;
	const folders: string[] = [];

	const newFolder = () => {
		const folder = temporaryFolder('installing');
		mkdirSync(join(folder, '.n8n', 'nodes'), { recursive: true });
		for (const place of [folder, join(folder, '.n8n', 'nodes')]) {
			writeFileSync(join(place, '.npmrc'), registry.npmrc);
		}
		folders.push(folder);
		return folder;
	};
	const startIn = async (userFolder: string, env: Record<string, string> = {}, tarball?: string) =>
		await startN8n(version, {
			userFolder,
			tarball,
			env: { ...WITH_PAGES, ...registry.env, ...env },
		});
	const lose = (userFolder: string) =>
		rmSync(join(userFolder, '.n8n', 'nodes', 'node_modules'), { recursive: true });

	beforeAll(async () => {
		registry = await Registry.start();
		sandbox = await Sandbox.start();
	});
	afterEach(async () => await n8n?.stop());
	afterAll(async () => {
		await registry?.close();
		await sandbox?.close();
		for (const folder of folders) rmSync(folder, { recursive: true, force: true });
	});

	/** The package's nodes that this n8n offers, but for the tools made of them. */
	const offered = async () => {
		const headers = { Cookie: n8n.session };
		// n8n may be writing that file at this moment.
		const types = await until('the types', async () => {
			const answer = await fetch(`${n8n.url}/types/nodes.json`, { headers });
			return (await answer.json()) as Array<{ name: string }>;
		});
		const names = types.map(({ name }) => name);
		return names.filter((name) => /\.pay(Trigger)?$/.test(name)).sort();
	};
	const OURS = [`${NAME}.pay`, `${NAME}.payTrigger`];
	const listed = async () => {
		const { data } = await n8n.rest<{
			data: Array<{ packageName: string; installedVersion: string }>;
		}>('GET', '/community-packages');
		return data.map(({ packageName, installedVersion }) => `${packageName}@${installedVersion}`);
	};
	let lived: string;

	test('Installed, updated and removed on the page Community nodes; a wait outlasts its removal', async () => {
		lived = newFolder();
		n8n = await startIn(lived);
		expect(await offered()).toStrictEqual([]);
		const [first, second] = [unpack(TARBALL, '0.1.0'), unpack(TARBALL, '0.1.1')];
		folders.push(first, second);
		await registry.publish(first);
		await n8n.rest('POST', '/community-packages', { name: NAME });
		expect(await listed()).toStrictEqual([`${NAME}@0.1.0`]);
		expect(await offered()).toStrictEqual(OURS);
		const credential = {
			baseUrl: sandbox.url,
			accessToken: 'token',
			postbackSecret: 'a secret of the test',
		};
		const payApi = await n8n.createCredential(credential);
		const waiting = await startWaiting(n8n, sandbox, payApi);

		await registry.publish(second);
		await n8n.rest('PATCH', '/community-packages', { name: NAME });
		expect(await listed()).toStrictEqual([`${NAME}@0.1.1`]);

		await n8n.rest('DELETE', `/community-packages?name=${NAME}`);
		expect(await listed()).toStrictEqual([]);
		expect(await offered()).toStrictEqual([]);
		expect(await deliver(waiting.url)).toBeGreaterThanOrEqual(400);
		expect((await n8n.execution(waiting.executionId)).status).toBe('waiting');
		await n8n.rest('POST', '/community-packages', { name: NAME });
		expect(await offered()).toStrictEqual(OURS);
		expect(await deliver(waiting.url)).toBe(200);
		expect(itemsOf(await ended(n8n, waiting.executionId), 'After')).toHaveLength(1);
	});

	test('Lost, and brought back by N8N_REINSTALL_MISSING_PACKAGES', async () => {
		lose(lived);
		n8n = await startIn(lived, { N8N_REINSTALL_MISSING_PACKAGES: 'true' });
		await until('the nodes', async () => (await offered()).length === OURS.length);
		expect(await listed()).toStrictEqual([`${NAME}@0.1.1`]);
	});

	test('Installed by hand: loads though N8N_UNVERIFIED_PACKAGES_ENABLED is off, is not on the page', async () => {
		lived = newFolder();
		const off = { N8N_UNVERIFIED_PACKAGES_ENABLED: 'false' };
		n8n = await startIn(lived, off, process.env.PAY_TARBALL);
		expect(await offered()).toStrictEqual(OURS);
		expect(await listed()).toStrictEqual([]);
		const installed = readdirSync(join(lived, '.n8n', 'nodes', 'node_modules'));
		expect(installed.filter((name) => !name.startsWith('.'))).toStrictEqual([NAME]);
		const page = '/community-packages';
		await expect(n8n.rest('PATCH', page, { name: NAME })).rejects.toThrow();
		await expect(n8n.rest('DELETE', `${page}?name=${NAME}`)).rejects.toThrow();
		expect(await offered()).toStrictEqual(OURS);
	});

	test('Installed by hand and lost: not brought back; from ~/.n8n/custom under other names', async () => {
		lose(lived);
		unpack(TARBALL, '0.1.0', join(lived, '.n8n', 'custom', NAME));
		n8n = await startIn(lived, {
			N8N_REINSTALL_MISSING_PACKAGES: 'true',
			N8N_UNVERIFIED_PACKAGES_ENABLED: 'false',
		});
		expect(await offered()).toStrictEqual(['CUSTOM.pay', 'CUSTOM.payTrigger']);
		const installing = n8n.rest('POST', '/community-packages', { name: NAME });
		const said = await installing.then(() => 'possible', String);
		if (said !== 'possible') expect(said).toMatch(/forbidden/);
		const what = 'Installing where N8N_UNVERIFIED_PACKAGES_ENABLED is off';
		tell(version, what, said === 'possible' ? said : 'refused');
	});
});
