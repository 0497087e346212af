// One row for each line of the list, in its order. Nothing here is "paid": only your service knows that.
const WORDS = {
	accepted: 'sent',
	rejected: 'rejected',
	notSent: 'not sent',
	duplicate: 'perhaps sent before: ask your service',
};
const lines = $('One item each').all();
return $input.all().map(({ json: { outcome, error } }, index) => ({
	json: {
		...lines[index].json,
		// Whatever else it is, it may have been paid.
		became: WORDS[outcome] ?? 'perhaps sent: ask your service',
		why: error ? `${error.message}. ${error.description}` : '',
	},
}));
