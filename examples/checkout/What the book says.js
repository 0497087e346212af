// Decides what happens with one order. "next" is "answer" (the page asks), "claim" (nobody makes a
// code yet), "create" (this run makes it) or "show" (what there is). One order has one charge.
const MINUTE = 60_000;
/** As long as the page shows a code. Wait for the postback waits five minutes longer. */
const CODE_LASTS = 60 * MINUTE;
/** Then the wait has ended, or its execution is lost. */
const WAIT_LASTS = 75 * MINUTE;
/** Whoever claimed an order and has no code after this time has failed. */
const CLAIM_LASTS = 3 * MINUTE;

const found = $input.all().map(({ json }) => json);
const isQuestion = $('Page asks').isExecuted;
const isOpened = $('Customer opens the page').isExecuted;
const order = isQuestion ? questionedOrder() : orderOfShop();
// In the order in which they were written. A database may find 1042A where 1042a is asked for.
const rows = found
	.filter(({ external_id }) => external_id === order.external_id)
	.sort((one, other) => one.id - other.id);

return [{ json: { ...order, ...decision() } }];

function questionedOrder() {
	return { external_id: String($('Page asks').first().json.query.id) };
}

/** What the node Order gives, if that is one order. */
function orderOfShop() {
	const orders = $('Order').all();
	const { orderId, total } = orders[0].json;
	const isOne = orders.length === 1 && !isBlank(orderId) && !isBlank(total);
	return isOne ? { external_id: String(orderId), amount: total } : { external_id: '' };
}

function decision() {
	const charge = chargeOfOrder();
	if (isQuestion) return { next: 'answer', state: charge?.state ?? 'moment' };
	if (order.external_id === '' || !isAskedForOne()) return { next: 'show', state: 'unknown' };
	// Without a book a reload would be a second charge. What is run by hand is not reloaded.
	if (found.some(({ error }) => error !== undefined))
		return isOpened ? { next: 'show', state: 'problem' } : { next: 'create' };
	if (charge) return { next: 'show', ...whatIsShown(charge) };

	const claim = rows.find(({ state, at }) => !state && ageOf(at) < CLAIM_LASTS);
	if (claim?.execution === String($execution.id)) return { next: 'create' };
	if (claim) return { next: 'show', state: 'moment' };
	// What was claimed and is not in the book is not claimed again and again.
	return $('Claim it').isExecuted ? { next: 'show', state: 'problem' } : { next: 'claim' };
}

/** A page without "?order=", or with two of them, is no order. */
function isAskedForOne() {
	if (!isOpened) return true;
	const { order: asked } = $('Customer opens the page').first().json.query;
	return typeof asked === 'string' && !isBlank(asked);
}

/** "Paid" counts whichever row says so, and nobody is asked to pay while a person has to look. */
function chargeOfOrder() {
	const charges = rows.filter(({ code }) => code).map((row) => ({ ...row, state: stateOf(row) }));
	for (const state of ['paid', 'other', 'open', 'late', 'failed', 'time is up']) {
		const charge = charges.find((each) => each.state === state);
		if (charge) return charge;
	}
	return undefined;
}

function stateOf({ state, at }) {
	if (['paid', 'failed', 'time is up'].includes(state)) return state;
	if (state) return 'other';
	if (ageOf(at) < CODE_LASTS) return 'open';
	return ageOf(at) < WAIT_LASTS ? 'late' : 'time is up';
}

/** The amount is that of the code. A code for another amount than the order's is not shown. */
function whatIsShown({ state, amount, code, image }) {
	if (state !== 'open') return { state, amount };
	const isSame = amount === String(order.amount) || Number(amount) === Number(order.amount);
	return isSame ? { state, amount, code, image } : { state: 'changed' };
}

function ageOf(at) {
	return Date.now() - Date.parse(at);
}

function isBlank(value) {
	return String(value ?? '').trim() === '';
}
