import { InputError } from '../../nodes/Pay/base/inputError';
import type { Attempt, Summary } from '../../nodes/Pay/run/item';
import * as refusals from '../../nodes/Pay/run/refusals';
import * as words from '../../nodes/Pay/run/words';
import { unitsOf } from '../../nodes/Pay/service/amounts';
import type { RequestResult } from '../../nodes/Pay/service/client';
import type { Outcome } from '../../nodes/Pay/service/outcome';
import { type Reason, reasonInWords, UNPUBLISHED } from '../../nodes/Pay/service/reasons';
import { type Kind, KINDS, OPERATIONS } from '../serviceOperations';

/*
 * All that people read of a run, with its variables filled in, one after another; a refusal begins with the
 * field that it names. Here alone stands how it is worded. `npm run derive` writes it to sentences.txt.
 */

/** What an example gives; a title has no full stop, so it stands on a line of its own. */
type Example = string | undefined | InputError | words.ResultWords;

/** What other sentences are made of. */
type PartOfSentence =
	| 'OUTCOME_WORDS'
	| 'adviceOnPace'
	| 'attemptInWords'
	| 'joinSentences'
	| 'lineInWords'
	| 'linesInWords'
	| 'quotedIds';

/** An example or several of each export, so that none is missing. */
type Examples<Module> = Record<keyof Module, (kind: Kind) => Example[]>;

function attempt(kind: Kind, outcome: Attempt['outcome'], run = '0'): Attempt {
	return {
		kind,
		external_id: 'order-7',
		place: { isTool: false, node: 'Pay', run, item: 2 },
		amount: 12.5,
		fingerprint: '',
		executionId: '42',
		outcome,
	};
}

const orders = (count: number) => Array.from({ length: count }, (_, index) => `order-${index + 1}`);

const toolAttempt = (kind: Kind): Attempt => ({
	...attempt(kind, 'accepted'),
	place: { isTool: true, node: 'Pay' },
});

const wordsOf = (kind: Kind) => OPERATIONS[kind].words;

/** Examples of what people read of payments alone: money that goes out. */
function onlyPayments(examplesOf: (kind: Kind) => Example[]) {
	return (kind: Kind) => (OPERATIONS[kind].isMoneyOut ? examplesOf(kind) : []);
}
const CONNECTION_LOST = Object.assign(new Error('connection lost'), { code: 'ECONNRESET' });
const OTHER_KIND_OF_ROW = new Error(
	'Deduplication data was originally saved with an incompatible setting of the ‘Keep Items Where’ parameter.',
);
const NO_WORKFLOW = Object.assign(new Error(), { code: 'ERR_ASSERTION' });

const REFUSALS: Examples<typeof refusals> = {
	ranWithPreviousNodes: () => [refusals.ranWithPreviousNodes('Pay')],
	ranInEvaluation: onlyPayments((kind) => [refusals.ranInEvaluation(wordsOf(kind))]),
	ranInAgentTest: onlyPayments((kind) => [refusals.ranInAgentTest(wordsOf(kind))]),
	nothingIsKept: onlyPayments((kind) => [refusals.nothingIsKept(wordsOf(kind))]),
	notPermittedToAgents: (kind) => {
		const { agentPermission } = OPERATIONS[kind];
		if (agentPermission === 'not needed') return [];
		return [refusals.notPermittedToAgents(wordsOf(kind), agentPermission)];
	},
	noDuplicateStore: onlyPayments((kind) => [refusals.noDuplicateStore(wordsOf(kind))]),
	recordIsShared: onlyPayments((kind) => [refusals.recordIsShared(wordsOf(kind), 'New rows only')]),
	abovePayment: onlyPayments(() => [refusals.abovePayment(unitsOf(1050), 500)]),
	otherRecipient: onlyPayments(() => [
		refusals.otherRecipient({ key: 'eve@example.com', keyType: 'email' }),
		refusals.otherRecipient({ key: 'eve@example.com' }),
		refusals.otherRecipient({}),
	]),
	alsoOtherRecipient: onlyPayments(() => [
		refusals.alsoOtherRecipient('creditParty.account', '12345-6'),
	]),
	membersMayChange: onlyPayments(() => [
		refusals.membersMayChange(),
		refusals.membersMayChange('destination'),
	]),
	moreInRecipient: onlyPayments(() => [refusals.moreInRecipient('creditParty.account')]),
	aboveSum: onlyPayments((kind) => [refusals.aboveSum(wordsOf(kind), unitsOf(1500), 1000)]),
	runFromEarlierState: (kind) => [refusals.runFromEarlierState(wordsOf(kind))],
	tokenRejected: () => [refusals.tokenRejected()],
	tooManyRequests: () => [
		refusals.tooManyRequests(30, { batchSize: 10, items: 20 }),
		refusals.tooManyRequests(undefined, { batchSize: 1, items: 20 }),
		refusals.tooManyRequests(undefined, { batchSize: 10, items: 1 }),
	],
	noWaitBehind: (kind) => [refusals.noWaitBehind(wordsOf(kind))],
	pausesBeforeWait: () => [refusals.pausesBeforeWait(['Form', 'Wait for Ana'], 'Wait')],
	pausedBeforeThisWait: () => [refusals.pausedBeforeThisWait(['Form'], 'Charge')],
	severalForOneWait: (kind) => [refusals.severalForOneWait('Wait', 3, wordsOf(kind))],
	otherHeardFirst: (kind) => [refusals.otherHeardFirst('order-6', wordsOf(kind))],
	cannotBegin: () => [refusals.cannotBegin('Wait', refusals.otherIdAwaited('order-8', 'order-7'))],
	otherIdAwaited: () => [],
	sameIdAsItem: onlyPayments((kind) => [refusals.sameIdAsItem(wordsOf(kind), 0, 3, 'order-7')]),
	sentInThisExecution: onlyPayments((kind) => [
		refusals.sentInThisExecution(wordsOf(kind), attempt(kind, 'accepted')),
		refusals.sentInThisExecution(wordsOf(kind), attempt(kind, 'unknown', '1')),
		refusals.sentInThisExecution(wordsOf(kind), {
			...attempt(kind, 'rejected'),
			statusCode: 401,
		}),
		refusals.sentInThisExecution(wordsOf(kind), toolAttempt(kind)),
	]),
	acceptedWithOtherDetails: onlyPayments((kind) => [
		refusals.acceptedWithOtherDetails(wordsOf(kind), attempt(kind, 'accepted')),
	]),
	sentUnderAnotherId: onlyPayments((kind) => [
		refusals.sentUnderAnotherId(wordsOf(kind), attempt(kind, 'accepted')),
		refusals.sentUnderAnotherId(wordsOf(kind), attempt(kind, 'unknown')),
	]),
	recordedBefore: onlyPayments((kind) => [refusals.recordedBefore(wordsOf(kind), 'order-7')]),
	acceptedBefore: onlyPayments((kind) => [refusals.acceptedBefore(wordsOf(kind), 'order-7')]),
	stillRecorded: () => [
		refusals.stillRecorded(['order-7']),
		refusals.stillRecorded(['order-7', 'order-8']),
		refusals.stillRecorded(orders(10)),
		refusals.stillRecorded(orders(12)),
	],
	checkFailed: onlyPayments((kind) => [
		refusals.checkFailed(wordsOf(kind), new Error('database is locked')),
		refusals.checkFailed(wordsOf(kind), CONNECTION_LOST),
		refusals.checkFailed(wordsOf(kind), NO_WORKFLOW),
		refusals.checkFailed(wordsOf(kind), OTHER_KIND_OF_ROW),
	]),
	listWasFull: onlyPayments((kind) => [refusals.listWasFull(wordsOf(kind), 10_000)]),
	mayBeForgotten: () => [
		refusals.mayBeForgotten(['order-7'], new Error('database is locked')),
		refusals.mayBeForgotten(['order-7', 'order-8'], new Error('database is locked')),
	],
	cancelled: () => [refusals.cancelled(), refusals.cancelled(['order-7'])],
};

/** One of each, so that none is missing. */
const REASONS: Record<Reason['is'], Reason[]> = {
	timedOut: [{ is: 'timedOut' }],
	hostBlocked: [{ is: 'hostBlocked' }],
	connectionFailed: [
		{ is: 'connectionFailed', code: 'ECONNREFUSED' },
		{ is: 'connectionFailed', code: 'EWHATEVER' },
		{ is: 'connectionFailed' },
	],
	stoppedByProxy: [
		{ is: 'stoppedByProxy', statusCode: 407 },
		{ is: 'stoppedByProxy', statusCode: 502 },
	],
	tooLong: [{ is: 'tooLong', statusCode: 200 }],
	notEndedInTime: [{ is: 'notEndedInTime', statusCode: 200 }],
	brokeOff: [{ is: 'brokeOff', statusCode: 200 }],
	notReadable: [{ is: 'notReadable' }],
	notWritable: [{ is: 'notWritable' }],
	notConfirmed: [
		{ is: 'notConfirmed', field: ['data.status'] },
		{ is: 'notConfirmed', field: ['data.status', 'statusCode'] },
	],
	saidNo: [{ is: 'saidNo', path: 'statusCode' }],
	saidYes: [{ is: 'saidYes', path: 'status' }],
	webPage: [
		{ is: 'webPage', title: 'Log in' },
		{ is: 'webPage', title: '' },
	],
	notJson: [{ is: 'notJson' }],
};

const ID = 'order-7';
const EARLIER = 'line 3 of the list in "Pay", amount 12.5';
const PAGE = '<html><body><hr><center>nginx</center></body></html>';
const OVER_HTTP =
	'<html><hr><center>nginx</center>plain HTTP request was sent to HTTPS port</html>';

/** Responses of which so much is quoted. */
const RESPONSES: unknown[] = [
	'',
	'no',
	'x'.repeat(500),
	'long '.repeat(200),
	PAGE,
	OVER_HTTP,
	UNPUBLISHED,
	{ message: 'no funds' },
	{ message: 'no funds', code: 7 },
	{ message: { code: 7 } },
];

/** Rejections with a postback's address, of which the first two may be for it. */
const ADDRESS_REJECTIONS: Array<Omit<RequestResult, 'outcome'>> = [
	{ statusCode: 422, response: { callback_url: 'too long' } },
	{ statusCode: 200, response: 'webhook?', reason: { is: 'saidNo', path: 'status' } },
	{ statusCode: 422, response: { code: 'no' } },
	{ statusCode: 422 },
	{ statusCode: 404, response: { callback_url: 'too long' } },
	{ statusCode: 422, response: `${'long '.repeat(200)}callback` },
];

/** The statuses with words of their own by which a request is rejected. */
const REJECTIONS: Record<Kind, number[]> = {
	payment: [307, 399, 400, 401, 403, 404, 405, 429],
	qrCode: [307, 399, 400, 401, 403, 404, 405, 409, 429],
};
/** Those after which nobody knows. */
const UNKNOWN: Record<Kind, number[]> = { payment: [409, 503], qrCode: [503] };

const SENTENCES: Examples<Omit<typeof words, PartOfSentence>> = {
	rejectedInWords: (kind) => [
		...REJECTIONS[kind].map((statusCode) =>
			words.rejectedInWords(wordsOf(kind), ID, {
				outcome: 'rejected',
				statusCode,
				response: { code: 'no' },
			}),
		),
		words.rejectedInWords(
			wordsOf(kind),
			ID,
			{ outcome: 'rejected', statusCode: 429, retryAfter: 30 },
			{ pace: { batchSize: 1, items: 20 } },
		),
		...ADDRESS_REJECTIONS.map((result) =>
			words.rejectedInWords(
				wordsOf(kind),
				ID,
				{ outcome: 'rejected', ...result },
				{ postbackUrl: 'https://n8n.example.com/webhook-waiting/42/pay-postback' },
			),
		),
		words.rejectedInWords(wordsOf(kind), ID, {
			outcome: 'rejected',
			statusCode: 200,
			response: { statusCode: 402 },
			reason: { is: 'saidNo', path: 'statusCode' },
		}),
		...RESPONSES.map((response) =>
			words.rejectedInWords(wordsOf(kind), ID, { outcome: 'rejected', statusCode: 400, response }),
		),
	],
	notSentInWords: (kind) => [
		words.notSentInWords(wordsOf(kind), ID, { outcome: 'notSent' }),
		words.notSentInWords(wordsOf(kind), ID, {
			outcome: 'notSent',
			reason: { is: 'connectionFailed', code: 'ECONNREFUSED' },
		}),
	],
	SENT_NOTHING: () => Object.values(words.SENT_NOTHING),
	CHECK_ITEM: () => [words.CHECK_ITEM],
	CORRECT_ITEM: () => [words.CORRECT_ITEM],
	AFTER_DUPLICATE: () => [words.AFTER_DUPLICATE],
	notFinished: () => [words.notFinished(ID, new Error('no room on the disk'))],
	otherAmountInCode: () => [words.otherAmountInCode(ID, 0.41, 41)],
	unreadableAmountInCode: () => [words.unreadableAmountInCode(ID, '0,01', 10.5)],
	otherAmountInResponse: () => [words.otherAmountInResponse(ID, '1050', 10.5)],
	otherAddressInResponse: () => [
		words.otherAddressInResponse(ID, 'https://a.example.com/old', 'https://a.example.com/new'),
	],
	otherIdInResponse: () => [words.otherIdInResponse(ID, 'another')],
	unknownInWords: (kind) => [
		words.unknownInWords(wordsOf(kind), ID, { outcome: 'unknown', reason: { is: 'timedOut' } }),
		...(OPERATIONS[kind].isMoneyOut
			? [
					words.unknownInWords(wordsOf(kind), ID, { outcome: 'unknown' }, EARLIER),
					words.unknownInWords(
						wordsOf(kind),
						ID,
						{ outcome: 'unknown', statusCode: 504, response: 'late' },
						EARLIER,
					),
				]
			: []),
		words.unknownInWords(wordsOf(kind), ID, {
			outcome: 'unknown',
			statusCode: 200,
			response: 'ok',
			reason: { is: 'notConfirmed', field: ['data.status'] },
		}),
		...UNKNOWN[kind].map((statusCode) =>
			words.unknownInWords(wordsOf(kind), ID, { outcome: 'unknown', statusCode, response: 'busy' }),
		),
	],
	failuresInWords: (kind) => [
		words.failuresInWords(summary(kind, 3, ['unknown', 'accepted', 'rejected'])),
		words.failuresInWords(summary(kind, 3, ['unknown', 'unknown', undefined])),
		words.failuresInWords(summary(kind, 1, ['unknown'])),
		words.failuresInWords(summary(kind, 4, ['accepted', 'rejected', 'duplicate', 'notSent'])),
		words.failuresInWords(summary(kind, 2, ['rejected'])),
		words.failuresInWords(summary(kind, 1, ['rejected'])),
		words.failuresInWords(summary(kind, 1, [undefined])),
		words.failuresInWords(summary(kind, 12, Array<Outcome>(12).fill('unknown'))),
		words.failuresInWords(summary(kind, 2, ['accepted', 'accepted'])),
		words.failuresInWords(summaryWithoutIds(kind, 1)),
	],
	stoppedInWords: (kind) => [
		words.stoppedInWords(summary(kind, 3, ['accepted']), true),
		words.stoppedInWords(summary(kind, 3, ['accepted']), false),
	],
	doubtsInWords: () => [
		words.doubtsInWords({ doubts: new Set() }),
		words.doubtsInWords({ doubts: new Set(['A first doubt.', 'A second one.']) }),
		...[10, 11, 12].map((count) =>
			words.doubtsInWords({ doubts: new Set(orders(count).map((id) => `Doubt of ${id}.`)) }),
		),
	],
	othersInWords: (kind) => [
		words.othersInWords(summary(kind, 3, ['rejected']), 0),
		words.othersInWords(summary(kind, 4, ['accepted', 'unknown', 'rejected', 'notSent']), 1),
		words.othersInWords(summary(kind, 21, Array<Outcome>(21).fill('rejected')), 0),
		words.othersInWords(summary(kind, 23, Array<Outcome>(23).fill('rejected')), 0),
		words.othersInWords(summary(kind, 2, ['unknown', 'accepted']), 0),
		words.othersInWords(summary(kind, 1, ['unknown']), 0),
		words.othersInWords(summaryWithoutIds(kind, 2), 0),
	],
};

/** A run of so many items, the first of which came to these ends. */
function summary(kind: Kind, items: number, ends: Array<Outcome | undefined>): Summary {
	const done = ends.map((outcome, index) => ({
		index,
		result: { outcome, external_id: `order-${index + 1}` },
	}));
	return { items, operation: OPERATIONS[kind], done, doubts: new Set(), remaining: new Map() };
}

/** A run whose items have no External ID that could be read. */
function summaryWithoutIds(kind: Kind, items: number): Summary {
	const result = { outcome: 'notSent' as const };
	const done = Array.from({ length: items }, (_, index) => ({ index, result }));
	return { items, operation: OPERATIONS[kind], done, doubts: new Set(), remaining: new Map() };
}

function textOf(example: Example): string {
	if (example === undefined) return '(nothing)';
	if (typeof example === 'string') return example;
	if (example instanceof InputError) {
		const field = example.field === '' ? 'no field' : example.field;
		return `${field}: ${example.message}\n\t${example.advice}`;
	}
	return `${example.message}\n\t${example.description}`;
}

function sectionOf(title: string, examples: Example[]): string {
	return [`== ${title}`, ...examples.map(textOf)].join('\n\n');
}

/** Those of one kind; what is the same for both stands once. */
function sectionsOf<Module>(examples: Examples<Module>): string[] {
	return Object.entries<(kind: Kind) => Example[]>(examples).map(([name, examplesOf]) => {
		const all = KINDS.flatMap(examplesOf).map(textOf);
		return sectionOf(name, [...new Set(all)]);
	});
}

/** All sentences. */
export function sentences(): string {
	const sections = [
		sectionOf('the words of the outcomes', Object.values(words.OUTCOME_WORDS)),
		sectionOf('reasons', Object.values(REASONS).flat().map(reasonInWords)),
		...sectionsOf(REFUSALS),
		...sectionsOf(SENTENCES),
	];
	return `${sections.join('\n\n\n')}\n`;
}
