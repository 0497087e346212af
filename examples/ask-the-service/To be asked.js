// What the service is asked, one item for each payment. The rows are those of the register or of the
// book of payouts; the examples ask-the-service and payouts share this.
const settings = $('Settings').first().json;
const rows = $input
	.all()
	.map(({ json }) => json)
	.filter((row) => row.external_id && row.error === undefined);

const problem = whatIsMissing();
if (problem) return [{ json: { problem: `Nothing was asked. ${problem}` } }];

const asksByNumber = settings.askBy === 'number';
const byIdentifier = new Map();
const byNumber = new Map();
for (const row of rows) {
	addTo(byIdentifier, row.external_id, row);
	if (!isBlank(row.number)) addTo(byNumber, String(row.number), row.external_id);
}

const toAsk = [];
const notAsked = [];
for (const [external_id, found] of byIdentifier) {
	const row = whatIsOpen(found);
	if (row === undefined) continue;
	const number = String(row.number ?? '').trim();
	const why = asksByNumber ? whyNotByNumber(row, number) : '';
	if (why) {
		notAsked.push({ external_id, outcome: row.outcome, why });
		continue;
	}
	const identifier = asksByNumber ? number : external_id;
	toAsk.push({
		external_id,
		number,
		outcome: row.outcome,
		amount: String(row.amount ?? ''),
		register: row.register === true,
		isTryUnclear: isTryUnclear(found, number),
		identifier,
		url: settings.address.trim().replaceAll('{identifier}', () => encodeURIComponent(identifier)),
		method: settings.method.trim().toUpperCase(),
	});
}
// What is not asked goes along with the first item, or alone.
if (toAsk.length === 0) return notAsked.length === 0 ? [] : [{ json: { notAsked } }];
toAsk[0].notAsked = notAsked;
return toAsk.map((json) => ({ json }));

/** Nothing is asked while it is unsaid what counts. */
function whatIsMissing() {
	const { askBy, directionField, paidWords, failedWords } = settings;
	if (!['external_id', 'number'].includes(askBy))
		return 'In Settings, askBy is external_id or number.';
	const needed = ['address', 'method', 'statusField', 'paidWords', 'directionField'];
	if (askBy === 'external_id') needed.push('idField');
	// A number is the service's own: what it is about is compared by the amount too.
	if (askBy === 'number') needed.push('numberField', 'amountField');
	if (directionField !== 'none') needed.push('outWords');
	const missing = needed.filter((name) => wordsOf(settings[name]).length === 0);
	if (missing.length > 0)
		return `Enter ${missing.join(', ')} in Settings, as the service describes them.`;
	if (wordsOf(paidWords).some((word) => wordsOf(failedWords).includes(word)))
		return 'In Settings, no word may mean both paid and failed.';
	return '';
}

/** The row that says what was sent, where nobody has decided; an accepted one only after its time. */
function whatIsOpen(found) {
	if (found.some((row) => decisionOf(row) === 'it was paid')) return undefined;
	const open = found.filter((row) => decisionOf(row) === undefined);
	const accepted = open.find(({ outcome }) => outcome === 'accepted');
	if (accepted) return isLate(accepted) ? accepted : undefined;
	// A row of "unknown" has what was sent. One of "duplicate" has what a list said later.
	return ['unknown', 'claimed', 'duplicate']
		.map((outcome) => open.find((row) => row.outcome === outcome))
		.find((row) => row !== undefined);
}

function isLate({ at }) {
	if (isBlank(settings.acceptedHours)) return false;
	return Date.now() - new Date(at).getTime() >= Number(settings.acceptedHours) * 3_600_000;
}

function whyNotByNumber(row, number) {
	if (number === '') return 'no number of the service is kept';
	const isShared = row.shares_number === true || new Set(byNumber.get(number)).size > 1;
	return isShared ? `another payment has its number ${number} too` : '';
}

/** An identifier may come again after it was rejected. Only a number of its own tells the tries apart. */
function isTryUnclear(found, number) {
	const rejected = found.filter(({ outcome }) => outcome === 'rejected');
	if (rejected.length === 0) return false;
	if (isBlank(settings.numberField) || number === '') return true;
	return rejected.some((row) => String(row.number ?? '').trim() === number);
}

/** Other words, typed by hand into the table, are no decision. */
function decisionOf({ decision }) {
	const words = String(decision ?? '')
		.trim()
		.toLowerCase();
	return ['it was paid', 'it was not paid'].find((each) => each === words);
}

function addTo(map, key, value) {
	map.set(key, [...(map.get(key) ?? []), value]);
}

function wordsOf(list) {
	return String(list ?? '')
		.toLowerCase()
		.normalize('NFC')
		.split(',')
		.map((each) => each.trim())
		.filter(Boolean);
}

function isBlank(value) {
	return String(value ?? '').trim() === '';
}
