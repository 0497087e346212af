return $('Check each line')
	.first()
	.json.lines.map((line) => ({ json: line }));
