// The service, played. What is asked must be as its document says; what is answered is made up.
const { headers, body, webhookUrl } = $json;
const { amount, external_id, postbackUrl = '' } = body ?? {};
const isQrCode = webhookUrl.endsWith('/qrcode');
// Refused requests are not remembered: corrected, they may come again under the same id.
const refuse = (status, message) => ({
	status,
	answer: { message },
	postbacks: [],
	id: $execution.id,
});

// The words are those of the sandbox that stands in the package's source.
if (!headers.authorization) return refuse(401, 'Authorization header required');
if (!/^Bearer\b/i.test(headers.authorization))
	return refuse(401, "Authorization header with scheme 'Bearer' required");
if (!/^Bearer \S+$/.test(headers.authorization)) return refuse(401, 'unauthorized');
for (const [name, type, value] of [
	['amount', 'number', amount],
	['external_id', 'string', external_id],
]) {
	if (value === undefined) return refuse(422, `request/body must have required property '${name}'`);
	if (typeof value !== type) return refuse(422, `request/body/${name} must be ${type}`);
}
if (amount === 4.22) return refuse(422, 'Rejected, as ordered');
if (amount === 5.03) return refuse(503, 'Unavailable, as ordered');

// The text of a QR code as shops show it (EMV), which ends in a checksum. Its words are short: a
// longer one could be the access token that somebody chose, and that Pay hides in every answer.
function qrText() {
	const field = (id, text) => id + String(text.length).padStart(2, '0') + text;
	const shop = field('00', 'com.example.qr') + field('01', $execution.id);
	const price = String(amount).slice(0, 13);
	const text =
		field('00', '01') +
		field('26', shop) +
		field('52', '0000') +
		field('53', '999') +
		field('54', price) +
		field('58', 'XX') +
		field('59', 'Sample') +
		field('60', 'Nowhere') +
		'6304';
	let crc = 0xffff;
	for (const letter of text) {
		crc ^= letter.charCodeAt(0) << 8;
		for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
	}
	return text + crc.toString(16).toUpperCase().padStart(4, '0');
}

const answer = { id: 'test-' + $execution.id, external_id, amount, status: 'waiting' };
if (isQrCode) answer.qrCode = qrText();
const status = amount === 1.02 ? 'failed' : 'paid';
const event = (isQrCode ? 'qrCode.' : 'payment.') + status;
const postback = { url: postbackUrl, body: { event, id: answer.id, external_id, amount, status } };
// It calls this n8n alone: whoever finds this address must not reach others through it.
const plain = (url) => String(url).replace('//127.0.0.1:', '//localhost:');
const here = plain(webhookUrl).split('/v2/')[0];
const told = [here + '/', here + '-waiting/'].some((each) => plain(postbackUrl).startsWith(each));
const times = { 1.03: 2, 1.06: 0 }[amount] ?? 1;
answer.postback = !told
	? 'None: there is no postback URL of this n8n'
	: times
		? 'In 3 seconds'
		: 'Never';
return {
	status: 201,
	answer,
	postbacks: told ? Array(times).fill(postback) : [],
	id: event.split('.')[0] + external_id,
};
