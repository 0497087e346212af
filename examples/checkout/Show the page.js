((row) => {
	const safe = (value) =>
		String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
	const image = row.image ? `<img alt="QR code" src="${safe(row.image)}">` : '';
	const code = `${image}
		<p>Scan it, or copy it into your bank’s app:</p>
		<textarea readonly rows="5" aria-label="The code">${safe(row.code)}</textarea>
		<p role="status">Not paid yet. This page will show when it is.</p>`;
	const open = row.code ? code : '<p>One moment …</p>';
	const closed = '<p>This code can no longer be paid. Please contact us.</p>';
	const states = {
		'': '<p>No code could be made. Please try again in a minute.</p>',
		open,
		paid: '<p><strong>Paid. Thank you.</strong></p>',
	};
	const order = `<p>Order ${safe(row.number)}</p>
		<h1>${Number(row.total).toFixed(2)}</h1>
		${states[row.state ?? ''] ?? closed}`;
	const isOpen = row.state === 'open';
	return `<!doctype html>
<html lang="en">
	<meta charset="utf-8">
	<meta name="viewport" content="width=device-width, initial-scale=1">
	${isOpen ? '<meta http-equiv="refresh" content="5">' : ''}
	<title>Your order</title>
	<style>
		body { margin: 1.5rem auto; max-width: 22rem; padding: 0 1rem; text-align: center; font: 17px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; color-scheme: light dark }
		img { width: 15rem; padding: 0.5rem; background: #fff }
		textarea { box-sizing: border-box; width: 100%; font: 14px/1.4 monospace }
	</style>
	<main>${row.id ? order : '<h1>There is no such order</h1>'}</main>
</html>`;
	// Not claimed now, so it was claimed before, perhaps a moment ago.
})(
	$json.id
		? $json
		: { ...$('The order').first().json, state: $('The order').first().json.state || 'open' },
);
