// The items of Pay, not those of PostgreSQL. Says where the table lacks an outcome, which is true nevertheless.
const written = $input.all().map(({ json }) => json);
const claimed = $('Claimed?').all();
return $('Pay')
	.all()
	.map(({ json }, index) => {
		const { position } = claimed[index].json.line;
		const { error, done } = written[index];
		if (error === undefined && done === true) return { json: { position, item: json } };
		const why =
			error === undefined
				? 'another execution has claimed the row, or a person has decided'
				: 'the outcome could not be written';
		return { json: { position, item: { ...json, notWritten: `Table pay_once: ${why}` } } };
	});
