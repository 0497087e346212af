import { accountReader } from '../credential/accounts';
import { keptProof } from '../postback/keptProof';
import { testPathOf } from '../postback/postbackUrl';
import { randomProof } from '../postback/proof';
import type { AskingExecution } from '../postback/target';
import type { Done, Ready, Step } from './item';
import { readItem, type ReadingContext } from './read';
import { refuseForWaits, refuseItem, triedBefore, withinLimits } from './refuse';
import type { Run } from './runState';
import { sessionOf } from './session';
import { runFromEarlierState, sameIdAsItem } from './words/refusal';

/**
 * Claims the items for this run, and says whose they are. They are another run's where n8n runs the
 * execution once more from a state that it has left, or where another process goes on from the same wait.
 * That run may have sent them, so this one sends nothing. Throws an InputError where nobody can tell.
 */
async function claimItems(run: Run): Promise<'ours' | 'elsewhere'> {
	const { records, isSuperseded } = run;
	if (isSuperseded) return 'elsewhere';
	return (await records?.claimPassage()) ?? 'ours';
}

/** The execution as a postback target asks for it. */
function askingExecution({ context, ledger }: Run): AskingExecution {
	let url: unknown;
	const { node, run, isTool } = ledger;
	const { identity } = sessionOf(context);
	return {
		id: context.getExecutionId(),
		resumeUrl() {
			// Once for all items: n8n makes an isolate for an expression.
			url ??= context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
			return url;
		},
		proofFor(item, { kind, amount, external_id }) {
			// A tool has no items: a second call may be a second charge, whatever it asks for.
			if (isTool) return randomProof();
			const what = [node, run, item, kind, amount, external_id];
			return keptProof(identity, JSON.stringify(what));
		},
		testPath: testPathOf(context),
	};
}

/** An item whose external_id an item before it has, where that may go out only once. */
function refuseSecondUse(
	run: Run,
	item: Ready,
	firstUses: ReadonlyMap<string, number>,
): Done | undefined {
	const { isMoneyOut, words } = run.operation;
	if (!isMoneyOut) return undefined;
	const { external_id } = item.request;
	const first = firstUses.get(external_id);
	if (first === undefined) return undefined;
	const refusal = sameIdAsItem(words, first, item.index, external_id);
	return refuseItem(run, item, refusal, 'duplicate');
}

/** Reads all items before any is sent: those that may be, and what became of the others. */
export async function readAll(run: Run): Promise<Step> {
	const { context, operation, settings, tally } = run;
	const reading: ReadingContext = {
		context,
		typed: context.getNode().parameters,
		shared: new Map(),
		operation,
		settings,
		execution: askingExecution(run),
		accountOf: await accountReader(context, run.ledger.isTool),
	};
	const readable: Ready[] = [];
	const done: Done[] = [];
	/** The first item of each external_id. */
	const firstUses = new Map<string, number>();
	const isElsewhere = (await claimItems(run)) === 'elsewhere';
	for (let index = 0; index < tally.items; index++) {
		const item = await readItem(reading, index);
		if ('result' in item) {
			done.push(item);
			continue;
		}
		if (isElsewhere) {
			done.push(refuseItem(run, item, runFromEarlierState(operation.words), 'duplicate'));
			continue;
		}
		run.ledger.tokenIds.add(item.tokenId);
		const { external_id } = item.request;
		const refused = refuseSecondUse(run, item, firstUses);
		if (!firstUses.has(external_id)) firstUses.set(external_id, index);
		const doneBefore = refused ?? triedBefore(run, item);
		if (doneBefore === undefined) readable.push(item);
		else done.push(doneBefore);
	}
	const afterLimits = withinLimits(run, readable);
	const afterWaits = refuseForWaits(run, afterLimits.ready);
	return {
		ready: afterWaits.ready,
		done: [...done, ...afterLimits.done, ...afterWaits.done],
	};
}
