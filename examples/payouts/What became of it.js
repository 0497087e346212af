// What the book keeps of each payment that was sent or refused now: one row for each.
const field = $('Settings').first().json.paymentNumberField.trim();
const lines = $('To be paid')
	.all()
	.map(({ json }) => json);
return $input.all().map(({ json }, index) => {
	const line = lines[index];
	const { error } = json;
	const outcome = json.outcome ?? error?.outcome ?? 'unknown';
	const number = numberIn(json.response ?? error?.response);
	return {
		json: {
			external_id: line.external_id,
			// What was sent, where the service accepted it; else what the list says, plain if it can be.
			amount: String(json.amount ?? (line.plain || line.amount)),
			recipient: line.recipient,
			number,
			outcome,
			at: $now.toISO(),
			execution: String($execution.id),
			message: error?.message ?? '',
			advice: adviceOf(error),
			// A gateway may say 401 or 403 of a payment that was made. The book has no column for it.
			tokenRejected: error?.tokenRejected === true,
			lacksNumber: outcome === 'accepted' && field !== '' && number === '',
		},
	};
});

/** What stands behind the message. The report says itself what to do about most rejected lines. */
function adviceOf(error) {
	if (error?.tokenRejected === true) return responseOf(error.response);
	return (error?.description ?? '').replace(/ ?Correct the item, then run again\.$/, '');
}

/** What a response said, as far as a person reads it; many say it all in one member. */
function responseOf(response) {
	if (response === undefined || response === '') return '';
	const isMessage = Object.keys(response).join() === 'message';
	const said = isMessage ? response.message : response;
	const text = typeof said === 'string' ? withoutTags(said) : JSON.stringify(said);
	if (text === '') return '';
	return `The response said: "${text.length > 200 ? `${text.slice(0, 200)}…` : text}".`;
}

/** The words of a web page, such as that of a proxy. */
function withoutTags(text) {
	if (!text.trimStart().startsWith('<')) return text;
	const start = text.slice(0, 2000).replace(/<[^<>]*>/g, ' ');
	return start.replace(/\s+/g, ' ').trim();
}

/** The service's own number, where Settings name its field. Pay gives one of 17 digits as text. */
function numberIn(response) {
	const value = field.split('.').reduce((found, key) => found?.[key], response);
	const isText = typeof value === 'string' && /^[^\p{C}]{1,200}$/u.test(value.trim());
	return isText || Number.isSafeInteger(value) ? String(value).trim() : '';
}
