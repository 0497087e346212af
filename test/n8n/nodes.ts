import type { N8nVersion } from '../../dev/install';
import { N8n, until, type Execution, type N8nOptions } from '../../dev/n8n';
import { QueueMode } from '../../dev/queue';

/** The pinned versions; one of them alone when the environment says so. */
export const VERSIONS: N8nVersion[] = process.env.N8N_TRY_VERSION
	? [process.env.N8N_TRY_VERSION as N8nVersion]
	: ['n8n2', 'n8n1'];

/** Starts an n8n with the package of this run. */
export async function startN8n(version: N8nVersion, more: Partial<N8nOptions> = {}): Promise<N8n> {
	return await N8n.start({ version, tarball: process.env.PAY_TARBALL, ...more });
}

/** Within seconds instead of a minute; a worker that is only busy must not be taken for gone. */
const SOON = {
	QUEUE_WORKER_LOCK_DURATION: '6000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
	QUEUE_WORKER_STALLED_INTERVAL: '3000',
};

/**
 * Starts a queue mode with the package of this run.
 * @param missed when n8n misses a worker that is gone: soon, or after its own time
 */
export async function startQueueMode(
	version: N8nVersion,
	missed: 'soon' | 'as usual' = 'soon',
): Promise<QueueMode> {
	return await QueueMode.start({
		version,
		tarball: process.env.PAY_TARBALL,
		env: { ...(missed === 'soon' && SOON), N8N_LOG_LEVEL: 'debug' },
	});
}

/** Waits until a workflow has this many executions and all have ended (or wait), newest first. */
export async function allFinished(
	n8n: N8n,
	workflowId: string,
	count: number,
): Promise<Execution[]> {
	const found = await until(
		`${count} executions`,
		async () => {
			const some = await n8n.executionIds(workflowId);
			return some.length >= count && some;
		},
		120,
	);
	return await Promise.all(found.map(async (id) => await n8n.finished(id)));
}
