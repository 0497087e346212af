((line, error, refusal) => ({
	position: line.position,
	// As a Pay node gives it.
	item: {
		external_id: line.external_id,
		amount: Number(line.amount) || undefined,
		kind: 'payment',
		outcome: error ? 'notSent' : 'duplicate',
		error: {
			message: error
				? `Nothing was sent for payment "${line.external_id}": it could not be claimed`
				: `Nothing was sent now for payment "${line.external_id}": ${refusal}`,
			description: error
				? 'Is the External ID there, and the amount a number with a point, such as 10.50? Otherwise ' +
					`PostgreSQL could not be reached: look at the node Claim in execution ${$execution.id}.`
				: 'Only the first one counts: look up its outcome in the table pay_once before you pay again.',
		},
	},
}))($('Twenty at a time').item.json, $json.error, $json.refusal);
