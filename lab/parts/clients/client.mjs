const { URL: url, KIND, NAME: name, XML } = process.env;
const fields = { status: 'PAID', name };
const form = new FormData();
for (const [key, value] of Object.entries(fields)) form.set(key, value);
const nested = new URLSearchParams({ status: 'PAID', 'payer[name]': name });
for (const tag of ['a', 'b']) nested.append('payer[tags][]', tag);
const files = new FormData();
files.set('note "a"\nof two lines', 'x');
files.set('slip', new Blob(['hello'], { type: 'text/plain' }), 'João "1".txt');
const kinds = {
	nested: { body: nested },
	files: { body: files },
	json: { body: JSON.stringify(fields), headers: { 'Content-Type': 'application/json' } },
	latin1: {
		body: Buffer.from(JSON.stringify(fields), 'latin1'),
		headers: { 'Content-Type': 'application/json; charset=ISO-8859-1' },
	},
	form: { body: new URLSearchParams(fields) },
	multipart: { body: form },
	xml: { body: XML, headers: { 'Content-Type': 'application/xml' } },
};
const { status } = await fetch(url, { method: 'POST', ...kinds[KIND] });
console.log(status);
