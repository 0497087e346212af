// What the book keeps of each payment that was sent or refused now: one row for each.
const lines = $('To be paid')
	.all()
	.map(({ json }) => json);
return $input.all().map(({ json }, index) => {
	const line = lines[index];
	const { error } = json;
	return {
		json: {
			external_id: line.external_id,
			// What was sent, where the service accepted it; else what the list says, plain if it can be.
			amount: String(json.amount ?? (line.plain || line.amount)),
			recipient: line.recipient,
			outcome: json.outcome ?? error?.outcome ?? 'unknown',
			at: $now.toISO(),
			execution: String($execution.id),
			message: error?.message ?? '',
			advice: error?.description ?? '',
		},
	};
});
