// Derived from sandbox/play.ts: npm run derive
// What is asked must be as the service's document says; what is answered is made up.
// nodes/Pay/qr/emv.ts
function crc16(text) {
	let crc = 65535;
	for (const byte of Buffer.from(text)) {
		crc ^= byte << 8;
		for (let bit = 0; bit < 8; bit++) crc = crc & 32768 ? (crc << 1) ^ 4129 : crc << 1;
	}
	return (crc & 65535).toString(16).toUpperCase().padStart(4, '0');
}

// sandbox/brCode.ts
var field = (id, value) => id + String(value.length).padStart(2, '0') + value;
function brCode(id, amount) {
	const account = field('00', 'com.example.qr') + field('01', id);
	const payload = [
		field('00', '01'),
		field('26', account),
		field('52', '0000'),
		field('53', '999'),
		// EMV has room for 13 characters: a longer amount is cut off.
		field('54', String(amount).slice(0, 13)),
		field('58', 'XX'),
		field('59', 'Sample'),
		field('60', 'Nowhere'),
	].join('');
	return `${payload}6304${crc16(`${payload}6304`)}`;
}

// sandbox/rehearsals.ts
function notCarriedOut(status, message) {
	return {
		kind: 'notCarriedOut',
		fault: { kind: 'status', status, body: JSON.stringify({ message }) },
	};
}
var REHEARSALS = [
	{
		name: 'reject-422',
		label: 'Reject (422)',
		description: 'Responds with 422. Nothing is made.',
		amount: 4.22,
		effect: notCarriedOut(422, 'Rejected, as ordered'),
	},
	{
		name: 'token-401',
		label: 'Token rejected (401)',
		description: 'Responds with 401, as to a wrong access token. Nothing is made.',
		amount: 4.01,
		effect: notCarriedOut(401, 'The access token was rejected, as ordered'),
	},
	{
		name: 'says-no',
		label: '200 that says no',
		description: 'Responds with 200 and { "success": false }. Nothing is made.',
		amount: 2.99,
		effect: {
			kind: 'notCarriedOut',
			fault: {
				kind: 'status',
				status: 200,
				body: '{"success":false,"message":"Rejected, as ordered"}',
			},
		},
	},
	{
		name: 'unavailable-503',
		label: 'Unavailable (503)',
		description: 'Responds with 503. Nothing is made, but the caller cannot know that.',
		amount: 5.03,
		effect: notCarriedOut(503, 'Unavailable, as ordered'),
	},
	{
		name: 'no-response',
		label: 'No response',
		description: 'Takes the request, carries it out, and never responds.',
		amount: 9.01,
		effect: { kind: 'carriedOut', fault: { kind: 'no-response' } },
	},
	{
		name: 'cut-off',
		label: 'Cut off',
		description: 'Takes the request, carries it out, and hangs up in the middle of the response.',
		amount: 9.02,
		effect: { kind: 'carriedOut', fault: { kind: 'hang-up' } },
	},
	{
		name: 'other-code',
		label: 'Code of another amount',
		description:
			'Makes the charge; its QR code asks for a hundredth of the amount. A payment has no code.',
		amount: 9.06,
		effect: {
			kind: 'misreported',
			falsify: (body) => {
				const { id, amount, qrCode } = body;
				if (qrCode === void 0 || amount === void 0) return;
				body.qrCode = brCode(id, amount / 100);
			},
		},
	},
];
var SEQUELS = [
	{
		amount: 1.01,
		description: 'Is paid after 1 second.',
		ending: { reported: { afterMs: 1e3 }, status: 'paid', times: 1 },
	},
	{
		amount: 1.02,
		description: 'Fails after 1 second.',
		ending: { reported: { afterMs: 1e3 }, status: 'failed', times: 1 },
	},
	{
		amount: 1.03,
		description: 'Is paid; reported twice at once.',
		ending: { reported: { afterMs: 1e3 }, status: 'paid', times: 2 },
	},
	{
		amount: 1.05,
		description: 'Is paid; reported before the response to the request.',
		ending: { reported: 'beforeResponse', status: 'paid', times: 1 },
	},
	{
		amount: 1.06,
		description: 'Nothing more is ever heard of it.',
		ending: { reported: 'never' },
	},
	{
		amount: 1.07,
		description: 'Is paid with another amount: 0.01.',
		ending: { reported: { afterMs: 1e3 }, status: 'paid', times: 1, paid: 0.01 },
	},
];

// sandbox/play.ts
function rehearsalOf(amount) {
	return REHEARSALS.find((rehearsal) => rehearsal.amount === amount);
}
function sequelOf(amount) {
	return SEQUELS.find((sequel) => sequel.amount === amount);
}
function qrCodeOf({ kind, id, amount }) {
	return kind === 'qrCode' && amount !== void 0 ? brCode(id, amount) : void 0;
}
function responseBodyOf({ id, external_id, amount }, status, qrCode, rehearsal) {
	const body = {
		id,
		external_id,
		amount,
		status,
		qrCode,
	};
	if (rehearsal?.effect.kind === 'misreported') rehearsal.effect.falsify(body);
	return body;
}
function postbackBodyOf({ kind, id, external_id }, status, paid) {
	return {
		event: `${kind}.${status}`,
		id,
		external_id,
		amount: paid,
		status,
	};
}
function refusalOf({ headers: { authorization }, body = {} }, { required }) {
	if (authorization === void 0 || authorization === '') {
		return [401, 'Authorization header required'];
	}
	if (!/^Bearer\b/i.test(authorization)) {
		return [401, "Authorization header with scheme 'Bearer' required"];
	}
	if (!/^Bearer \S+$/.test(authorization)) return [401, 'unauthorized'];
	for (const [name, type] of required) {
		const value = body[name];
		if (value === void 0) return [422, `request/body must have required property '${name}'`];
		if (typeof value !== type) return [422, `request/body/${name} must be ${type}`];
	}
	return void 0;
}
function postbackInWords(isHere, times) {
	if (!isHere) return 'None: no postback URL of this n8n was given';
	return times > 0 ? 'In 3 seconds' : 'Never';
}
function play(item, executionId, operations) {
	const { body = {}, webhookUrl } = item;
	const refuse = (status2, answer) => ({
		status: status2,
		answer,
		postbacks: [],
		id: executionId,
	});
	const operation = operations.find(({ path }) => webhookUrl.endsWith(`/${path}`));
	if (operation === void 0) return refuse(404, { message: 'not found' });
	const refusal = refusalOf(item, operation);
	if (refusal !== void 0) return refuse(refusal[0], { message: refusal[1] });
	const made = {
		kind: operation.kind,
		id: `test-${executionId}`,
		external_id: String(body.external_id),
		amount: body.amount,
	};
	const rehearsal = rehearsalOf(made.amount);
	if (rehearsal?.effect.kind === 'notCarriedOut' && rehearsal.effect.fault.kind === 'status') {
		const { status: status2, body: text = '{}' } = rehearsal.effect.fault;
		return refuse(status2, JSON.parse(text));
	}
	const qrCode = qrCodeOf({ ...made, id: executionId });
	const ending = sequelOf(made.amount)?.ending;
	const isReported = ending !== void 0 && ending.reported !== 'never';
	const { status, times, paid } = isReported
		? ending
		: { status: 'paid', times: ending === void 0 ? 1 : 0, paid: void 0 };
	const plain = (url2) => url2.replace('//127.0.0.1:', '//localhost:');
	const url = String(body.postbackUrl ?? '');
	const [here = ''] = plain(webhookUrl).split('/v2/');
	const isHere = [`${here}/`, `${here}-waiting/`].some((each) => plain(url).startsWith(each));
	const postback = { url, body: postbackBodyOf(made, status, paid ?? made.amount) };
	const response = responseBodyOf(made, 'waiting', qrCode, rehearsal);
	return {
		status: 201,
		answer: { ...response, postback: postbackInWords(isHere, times) },
		postbacks: isHere ? Array.from({ length: times }, () => postback) : [],
		id: made.kind + made.external_id,
	};
}

return play($json, $execution.id, [
	{
		kind: 'payment',
		path: 'payment',
		required: [
			['amount', 'number'],
			['external_id', 'string'],
		],
	},
	{
		kind: 'qrCode',
		path: 'qrcode',
		required: [
			['amount', 'number'],
			['external_id', 'string'],
		],
	},
]);
