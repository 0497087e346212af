// One item for each line, in the order of the call, as a Pay node gives it.
const items = $input.all().map(({ json }) => json);
const inOrder = items.map(inPlace).sort((one, other) => one.position - other.position);
return inOrder.map(({ item }) => ({ json: item }));

function inPlace(json) {
	// Pay had it.
	if (json.item !== undefined && json.error === undefined) return json;
	// Claim could not ask the table, or not about this line.
	if (json.error !== undefined)
		return refused(json.item, 'notSent', `it could not be claimed. ${json.message}`);
	return refused(json.line, 'duplicate', json.refusal);
}

function refused({ position, external_id }, outcome, why) {
	const description =
		outcome === 'duplicate'
			? 'Its fate is that of the first one: look it up in the table pay_once before you pay again.'
			: 'It can be called again.';
	const message = `Nothing was sent now for payment "${external_id}": ${why}`;
	return {
		position,
		item: { error: { message, description, external_id, kind: 'payment', outcome } },
	};
}
