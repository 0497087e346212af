import { sleep, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { InputError } from '../inputError';
import { BaseUrlError } from '../credential/baseUrl';
import { postRequest, type Answer, type Connection } from '../service/client';
import type { RequestOf, Kind } from '../service/contract';
import { readConnection, type PayCredential } from '../credential/connection';
import { forgetPayments, recordPayments, REMEMBERED_PAYMENTS } from './duplicateCheck';
import {
	readItem,
	readSettings,
	type ItemFacts,
	type Options,
	type RequestOperation,
	type Settings,
} from './read';
import { Ledger, type LedgerStore } from './ledger';
import {
	acceptedItem,
	answeredResult,
	failedItem,
	refusedResult,
	stillUnknownResult,
	stoppingError,
	type Result,
} from './report';

/** n8n runs a node as an AI agent's tool under a node type of its own, whose name ends in Tool. */
function isRunByAiAgent(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool') || context.isToolExecution?.() === true;
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** One run of the node: all items of one execution of it. */
class Run<O extends Kind> {
	private readonly items: INodeExecutionData[];
	private readonly results: Array<Result | undefined>;
	private readonly requests: Array<RequestOf[O] | undefined>;
	private readonly ledger: Ledger;
	private settings!: Settings;
	private connection!: Connection;
	private credential!: PayCredential;
	private readonly hints = new Set<string>();
	private anyFailed = false;
	private readonly forAgent: boolean;
	/**
	 * Whether failures become items. For an agent they always do: of an error that is thrown n8n tells
	 * older agents nothing, and a model that hears nothing may believe that it has paid.
	 */
	private readonly goesOn: boolean;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly plan: RequestOperation<O>,
	) {
		this.items = context.getInputData();
		this.forAgent = isRunByAiAgent(context);
		this.goesOn = this.forAgent || context.continueOnFail();
		this.results = new Array<Result | undefined>(this.items.length);
		this.requests = new Array<RequestOf[O] | undefined>(this.items.length);
		const runIndex = String(context.evaluateExpression('{{ $runIndex }}', 0));
		this.ledger = new Ledger(
			// Shared by all Pay nodes of the execution: a second node must not pay an id again either.
			context.getContext('flow') as LedgerStore,
			plan.kind,
			`${context.getNode().name}, run ${runIndex}`,
		);
	}

	async toOutput(): Promise<INodeExecutionData[]> {
		if (await this.prepare()) {
			this.readAll();
			this.consultLedger();
			this.stopAtFailure();
			await this.sendAll();
		}
		this.stopAtFailure();
		const output = await this.output();
		if (this.hints.size > 0) {
			this.context.addExecutionHints(
				...[...this.hints].map((message) => ({ message, location: 'outputPane' as const })),
			);
		}
		if (!this.anyFailed) this.ledger.settle();
		return output;
	}

	/** Settings and credential concern all items; when they are wrong, every item fails alike. */
	private async prepare(): Promise<boolean> {
		const { context, plan } = this;
		try {
			const options = context.getNodeParameter('options', 0, {}) as Options;
			this.settings = readSettings(options, plan);
			if (plan.kind === 'payment' && !this.settings.allowAiPayments && this.forAgent) {
				throw new InputError(
					'allowAiPayments',
					'An AI agent asked for a payment, which this node does not allow',
					'If an agent shall be able to pay, turn on "Allow Payments by AI Agents" under Options.',
				);
			}
			this.credential = await context.getCredentials<PayCredential>('payApi');
			this.connection = readConnection(this.credential, this.settings.timeout);
			return true;
		} catch (error) {
			this.items.forEach((_, index) => this.refuse(index, error));
			this.stopAtFailure();
			return false;
		}
	}

	private conclude(index: number, result: Result) {
		this.results[index] = result;
		this.anyFailed ||= result.outcome !== 'accepted';
	}

	/** Writes down why an item is not sent. */
	private refuse(index: number, error: unknown, facts: ItemFacts = {}) {
		const message = error instanceof Error ? error.message : String(error);
		const advice =
			error instanceof InputError
				? error.advice
				: error instanceof BaseUrlError
					? 'Correct it, then run again.'
					: 'Check the parameters of this item and the credential, then run again.';
		this.conclude(index, refusedResult(this.plan.kind, facts, message, advice));
	}

	private readAll() {
		const firstUse = new Map<string, number>();
		const { context, plan, credential } = this;
		this.items.forEach((_, index) => {
			const { request, facts, error, hint } = readItem(context, plan, credential, index);
			if (hint !== undefined) this.hints.add(hint);
			if (request === undefined) return this.refuse(index, error, facts);
			const { external_id } = request;
			const first = firstUse.get(external_id);
			if (plan.kind === 'payment' && first !== undefined) {
				const refusal = new InputError(
					'external_id',
					`Items ${first} and ${index} have the same external_id "${external_id}"`,
					'Two payments need two identifiers; otherwise nobody can tell a second payment from a mistake.',
				);
				return this.refuse(index, refusal, facts);
			}
			firstUse.set(external_id, index);
			this.requests[index] = request;
		});
	}

	/** Settles the items that were tried before in this execution. */
	private consultLedger() {
		this.requests.forEach((request, index) => {
			if (request === undefined) return;
			const { external_id, amount } = request;
			const verdict = this.ledger.verdict(index, external_id, amount);
			switch (verdict.do) {
				case 'send':
					return;
				case 'replay': {
					const { statusCode, response } = verdict.attempt;
					const answer: Answer = { outcome: 'accepted', statusCode, response };
					this.conclude(index, answeredResult(this.plan.kind, request, answer));
					return;
				}
				case 'stayUnknown':
					this.conclude(index, stillUnknownResult(external_id, amount, verdict.attempt));
					return;
				case 'refuse': {
					const { by, amount: paid } = verdict.attempt;
					const error = new InputError(
						'external_id',
						`Payment "${external_id}" was already accepted in this execution (${by}, amount ${paid})`,
						'It is not paid a second time. A different payment needs a different external_id.',
					);
					this.refuse(index, error, { external_id, amount });
				}
			}
		});
	}

	private async sendAll() {
		const waiting = this.items
			.map((_, index) => index)
			.filter((index) => this.results[index] === undefined);
		const { batchSize, batchInterval } = this.settings;
		for (let start = 0; start < waiting.length; start += batchSize) {
			if (start > 0 && batchInterval > 0) await sleep(batchInterval);
			if (this.context.getExecutionCancelSignal()?.aborted) return;
			await this.sendBatch(waiting.slice(start, start + batchSize));
			this.stopAtFailure();
		}
	}

	private async sendBatch(batch: number[]) {
		const checked = await this.withoutDuplicates(batch);
		await Promise.all(checked.map(async (index) => await this.send(index)));
		if (!this.settings.checkDuplicates) return;
		const free = checked.filter((index) => {
			const outcome = this.results[index]?.outcome;
			return outcome === 'rejected' || outcome === 'notSent';
		});
		await this.forget(free);
	}

	/** Takes items back from the duplicate check; when that fails, they stay refused, and that is told. */
	private async forget(indexes: number[]) {
		if (indexes.length === 0) return;
		const ids = this.idsOf(indexes);
		try {
			await forgetPayments(this.context.helpers, ids);
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			const note = `The duplicate check still remembers ${ids.map((id) => `"${id}"`).join(', ')}, because n8n's database failed (${reason}): to pay it, use a new external_id.`;
			for (const result of this.results) {
				if (result?.message !== undefined) result.description = `${result.description} ${note}`;
			}
		}
	}

	private idsOf(indexes: number[]): string[] {
		return indexes.map((index) => this.requests[index]?.external_id ?? '');
	}

	/** Records a batch of payments as about to be made; gives those that may be. */
	private async withoutDuplicates(batch: number[]): Promise<number[]> {
		if (!this.settings.checkDuplicates) return batch;
		let known: Set<string>;
		try {
			known = await recordPayments(this.context.helpers, this.idsOf(batch));
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			const refusal = new InputError(
				'duplicateCheck',
				`The duplicate check could not be made: ${reason}`,
				'Save the workflow if it is new, then run again. Without the check: set Duplicate Check to "Within This Execution" under Options.',
			);
			for (const index of batch) this.refuse(index, refusal, this.requests[index]);
			return [];
		}
		const [fresh, refused]: [number[], number[]] = [[], []];
		for (const index of batch) {
			(known.has(this.requests[index]?.external_id ?? '') ? refused : fresh).push(index);
		}
		for (const index of refused) {
			const { external_id, amount } = this.requests[index] as RequestOf[O];
			const refusal = new InputError(
				'external_id',
				`Payment "${external_id}" was sent by an earlier execution of this workflow`,
				`That execution's payment was accepted, or what became of it is not known. Ask the service whether "${external_id}" was paid. If it was not, pay it with a new external_id, or set Duplicate Check to "Within This Execution" under Options for one run. The last ${REMEMBERED_PAYMENTS} payments of the workflow are remembered.`,
			);
			this.refuse(index, refusal, { external_id, amount });
		}
		if (refused.length > 0 && !this.goesOn && fresh.length > 0) {
			// The node stops at the refused one, so the others of the batch do not start.
			await this.forget(fresh);
			return [];
		}
		return fresh;
	}

	private async send(index: number) {
		const request = this.requests[index] as RequestOf[O];
		const { external_id, amount } = request;
		const { kind } = this.plan;
		const { httpRequest } = this.context.helpers;
		this.ledger.begin(index, external_id, amount);
		const answer = await postRequest(httpRequest, this.connection, kind, request);
		this.ledger.complete(index, external_id, answer);
		this.conclude(index, answeredResult(kind, request, answer));
	}

	private failures(): Array<{ index: number; result: Result }> {
		return this.results.flatMap((result, index) =>
			result !== undefined && result.outcome !== 'accepted' ? [{ index, result }] : [],
		);
	}

	/** Without "continue", a failure ends the run; an unknown payment is told before any other. */
	private stopAtFailure() {
		if (!this.anyFailed) return;
		const cancelled = this.context.getExecutionCancelSignal()?.aborted === true;
		if (this.goesOn && !cancelled) return;
		const failures = this.failures();
		const { index, result } = failures.find((f) => f.result.outcome === 'unknown') ?? failures[0]!;
		throw stoppingError(this.context.getNode(), result, index, this.summary(failures, index));
	}

	private summary(failures: Array<{ index: number; result: Result }>, told: number): string {
		if (this.items.length === 1) return '';
		const count = (outcome: string) =>
			this.results.filter((result) => result?.outcome === outcome).length;
		const started = this.results.filter((result) => result !== undefined).length;
		const parts = [
			`${count('accepted')} accepted`,
			`${count('rejected')} rejected`,
			`${count('unknown')} unknown`,
			`${count('notSent') + this.items.length - started} not sent`,
		];
		const others = failures
			.filter(({ index }) => index !== told)
			.slice(0, 20)
			.map(({ index, result }) => `item ${index} "${result.external_id ?? ''}" ${result.outcome}`);
		return [
			`Of ${plural(this.items.length, 'item')}: ${parts.join(', ')}.`,
			...(others.length > 0 ? [`Also failed: ${others.join('; ')}.`] : []),
		].join(' ');
	}

	private async output(): Promise<INodeExecutionData[]> {
		const output: INodeExecutionData[] = [];
		for (const [index, result] of this.results.entries()) {
			// Only a cancelled execution leaves items untried, and its output goes nowhere.
			if (result === undefined) continue;
			if (result.outcome !== 'accepted') {
				output.push(failedItem(result, index));
				continue;
			}
			const item = acceptedItem(result, index);
			const hint = await this.plan.finish?.(this.context, item, index);
			if (hint !== undefined) this.hints.add(hint);
			output.push(item);
		}
		return output;
	}
}

/**
 * Runs an kind of the service for all input items: validates all, sends in batches, and turns
 * every outcome into an item or an error.
 * @returns one output item per input item, in their order
 * @throws NodeApiError or NodeOperationError at the first failure, unless the node continues
 */
export async function runRequests<O extends Kind>(
	context: IExecuteFunctions,
	plan: RequestOperation<O>,
): Promise<INodeExecutionData[][]> {
	if (context.getInputData().length === 0) return [[]];
	return [await new Run(context, plan).toOutput()];
}
