// What the service says of each payment. It counts only where the response names that payment, is
// about money out and has a word that Settings name. Anything else is left to a person.
const settings = $('Settings').first().json;
const asked = $('To be asked')
	.all()
	.map(({ json }) => json);
const responses = $('Ask the service').isExecuted ? $input.all().map(({ json }) => json) : [];

const [first] = asked;
if (first?.problem) return [{ json: { problem: first.problem, isAnythingClear: false } }];
const heard = asked
	.filter(({ identifier }) => identifier !== undefined)
	.map((payment, index) => whatItSays(payment, responses[index] ?? {}));
const notAsked = (first?.notAsked ?? []).map(({ external_id, outcome, why }) => ({
	external_id,
	isHeard: false,
	decision: '',
	says: `Nobody asked the service: ${why}.`,
	line: `${external_id} (${outcome}): ${why}. A person decides.`,
}));
const isAnythingClear = heard.some(({ decision }) => decision !== '');
return [...heard, ...notAsked].map((each) => ({ json: { ...each, isAnythingClear } }));

function whatItSays(payment, response) {
	const { external_id, outcome, register } = payment;
	const body = parsed(response.data);
	const word = textAt(body, settings.statusField);
	const amount = isBlank(settings.amountField)
		? payment.amount
		: textAt(body, settings.amountField);
	const isSameAmount = isBlank(settings.amountField) || isEqual(amount, payment.amount);
	let why = whyItDoesNotCount(payment, response, body, word);
	if (why === '' && (register || !isBlank(settings.amountField)) && plain(amount) === '')
		why = 'the amount cannot be compared';
	// The register is told of another amount, and reports it.
	const isHeard = why === '' && (isSameAmount || register);
	if (why === '' && !isSameAmount) why = `it says "${word}" about ${amount}, not ${payment.amount}`;
	if (why === '' && endingOf(word) === 'failed' && payment.isTryUnclear)
		why = `it says "${word}", which may be about the try that was rejected`;

	const ending = isHeard ? endingOf(word) : '';
	const decision = why ? '' : ({ paid: 'It was paid', failed: 'It was not paid' }[ending] ?? '');
	const said = why || `the service says "${word}"`;
	const begin = isAsked(response) ? 'The service was asked' : 'Nobody asked the service';
	return {
		external_id,
		register,
		amount,
		word,
		ending,
		decision,
		isHeard,
		source: `The service said "${word}", execution ${$execution.id}, ${$now.toFormat('d LLL yyyy')}`,
		says: `${begin}: ${said}.`,
		line: `${external_id} (${outcome}): ${said}. ${decision || 'A person decides'}.`,
	};
}

function whyItDoesNotCount(payment, response, body, word) {
	if (response.error) return `it could not be asked: ${response.error.message ?? response.error}`;
	// A node that is not active passes on the question itself.
	if (!isAsked(response)) return 'the node Ask the service is not active';
	const isNamed =
		names(body, settings.idField, payment.external_id) &&
		names(body, settings.numberField, payment.number);
	if (!isNamed) return 'its response does not name this payment';
	// A charge may have the same identifier.
	if (settings.directionField !== 'none') {
		const direction = textAt(body, settings.directionField);
		if (!isNamedIn(settings.outWords, direction))
			return `its response has the direction "${direction}", which is none of outWords`;
	}
	return word === '' ? 'its response has no state' : '';
}

function isAsked({ statusCode, error }) {
	return statusCode !== undefined || error !== undefined;
}

/** Whether a field repeats what we know; one that Settings leave empty, or we do not know, is not asked for. */
function names(body, field, known) {
	if (isBlank(field) || known === '') return true;
	return textAt(body, field) === known;
}

function endingOf(word) {
	if (isNamedIn(settings.paidWords, word)) return 'paid';
	return isNamedIn(settings.failedWords, word) ? 'failed' : '';
}

function parsed(text) {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/**
 * The text or number at a path such as "data.0.status"; empty for anything else. n8n has rounded a
 * whole number of 17 digits before it comes here, so two of them can look like one: it is empty too.
 */
function textAt(body, path) {
	let value = body;
	for (const key of path.trim().split('.')) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return '';
		value = value[key];
	}
	if (Number.isInteger(value) && !Number.isSafeInteger(value)) return '';
	return ['string', 'number'].includes(typeof value) ? String(value).trim().normalize('NFC') : '';
}

function isNamedIn(list, word) {
	const words = list
		.toLowerCase()
		.normalize('NFC')
		.split(',')
		.map((each) => each.trim());
	return word !== '' && words.includes(word.toLowerCase());
}

function isEqual(one, other) {
	return plain(one) !== '' && plain(one) === plain(other);
}

/** 10.50 and 10.5 are one amount. Text that is not plainly one is empty. */
function plain(amount) {
	const [, whole, fraction = ''] = /^0*(\d{1,20})(?:\.(\d{1,20}))?$/.exec(amount) ?? [];
	if (whole === undefined) return '';
	const decimals = fraction.replace(/0+$/, '');
	return decimals === '' ? whole : `${whole}.${decimals}`;
}

function isBlank(value) {
	return String(value ?? '').trim() === '';
}
