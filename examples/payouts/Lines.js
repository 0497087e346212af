// Each line of the file, with its number as a person finds it there, and its three columns by the
// names that Columns has for them. What cannot be read so is one problem, and then nothing is paid.
const columns = $('Columns').first().json;
const items = $input.all().map(({ json }) => json);

const failed = items.find((item) => item.error !== undefined);
if (failed) return problem(`The file could not be read: ${failed.error}`);

// A sheet comes as rows, a CSV as one text. n8n's own reading of a CSV differs from one n8n to the
// other: an empty line ends it on n8n 1.
const text = items[0].text;
const lines = text === undefined ? rowsOfSheet() : rowsOfCsv();
if (lines.openQuote) return problem(`The quote that begins in line ${lines.openQuote} has no end.`);
const head = lines.find(({ cells }) => !isEmpty(cells));
if (!head) return problem('The file is empty.');

const names = head.cells.map((cell) => String(cell).trim());
const places = {};
for (const wanted of ['identifier', 'amount', 'recipient']) {
	const name = String(columns[wanted]).trim();
	const found = names.filter((each) => each.toLowerCase() === name.toLowerCase());
	if (found.length !== 1)
		return problem(
			`The file has ${found.length === 0 ? 'no' : 'more than one'} column "${name}". ` +
				`Its line ${head.line} has: ${names.map((each) => `"${each}"`).join(', ')}. ` +
				'Enter the names of your columns in the node Columns, then publish the workflow again (n8n 1: save it).',
		);
	places[wanted] = names.indexOf(found[0]);
}

const below = lines.slice(lines.indexOf(head) + 1);
while (below.length > 0 && isEmpty(below.at(-1).cells)) below.pop();
if (below.length === 0) return problem('The file has no line below the names of its columns.');
return below.map(({ line, cells }) => ({
	json: {
		line,
		external_id: textOf(cells[places.identifier]),
		// A number of a sheet stays a number, and a text stays as it was typed: Pay reads it.
		amount: cells[places.amount] ?? '',
		recipient: textOf(cells[places.recipient]),
		isEmpty: isEmpty(cells),
		// A sheet drops the zeros at the start of a number: another recipient.
		recipientIsNumber: typeof cells[places.recipient] === 'number',
		// A comma in an amount makes two cells where commas divide: 10 to a recipient "50".
		cells: cells.length,
		isShifted:
			cells.length < names.length ||
			!isEmpty(cells.slice(names.length)) ||
			isSplitAmount(cells[places.amount], cells[places.amount + 1]),
		// The other columns, for more fields of Pay: {{ $json.file.Name }}
		file: Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ''])),
	},
}));

/** "10,50" where commas divide cells: digits, and one or two of them in the next cell. */
function isSplitAmount(amount, next) {
	if (text === undefined || dividerOf(text) !== ',') return false;
	return /^\d+$/.test(String(amount).trim()) && /^\d{1,2}$/.test(String(next ?? '').trim());
}

function rowsOfSheet() {
	const rows = items.filter(({ row }) => row).map(({ row }) => row);
	return rows.map((cells, index) => ({ line: index + 1, cells }));
}

/** What divides the cells of a CSV: what its first line has. */
function dividerOf(csv) {
	const firstLine = csv.trimStart().split(/[\r\n]/, 1)[0];
	return [';', '\t', ','].find((each) => firstLine.includes(each));
}

/** Text in quotes may hold what divides cells, line breaks, and a quote as two. */
function rowsOfCsv() {
	const letters = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
	const divider = dividerOf(letters);
	const rows = [];
	let line = 1;
	let begun = { line, cells: [] };
	let cell = '';
	let openQuote = 0;
	for (let at = 0; at < letters.length; at++) {
		const letter = letters[at];
		if (openQuote) {
			if (letter === '"' && letters[at + 1] === '"') cell += letters[at++];
			else if (letter === '"') openQuote = 0;
			else cell += letter;
			if (letter === '\n') line++;
		} else if (letter === '"' && cell.trim() === '') {
			openQuote = line;
			cell = '';
		} else if (letter === divider) {
			begun.cells.push(cell);
			cell = '';
		} else if (letter === '\n') {
			rows.push({ line: begun.line, cells: [...begun.cells, cell] });
			begun = { line: ++line, cells: [] };
			cell = '';
		} else cell += letter;
	}
	rows.push({ line: begun.line, cells: [...begun.cells, cell] });
	return Object.assign(rows, { openQuote });
}

function isEmpty(cells) {
	return cells.every((cell) => String(cell ?? '').trim() === '');
}

/** One identifier has one spelling, however its letters are stored. */
function textOf(cell) {
	return String(cell ?? '')
		.trim()
		.normalize('NFC');
}

function problem(words) {
	return [{ json: { problem: words } }];
}
