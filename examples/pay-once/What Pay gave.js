// The items of Pay, not those of PostgreSQL. What the table does not have is told: it was paid all the same.
const written = $input.all();
const claimed = $('Claimed?').all();
return $('Pay')
	.all()
	.map(({ json }, index) => {
		const { position } = claimed[index].json.line;
		const { error, done } = written[index].json;
		if (error === undefined && done === true) return { json: { position, item: json } };
		const why = error === undefined ? 'another execution has the row' : written[index].json.message;
		return { json: { position, item: { ...json, notWritten: `The table pay_once: ${why}` } } };
	});
