/** What somebody would write by hand: n8n's request helper in a loop, ten at once, and no checks. */
class Bare {
	description = {
		displayName: 'Bare',
		name: 'bare',
		group: ['output'],
		version: 1,
		description: 'A bare loop of the request helper, for comparison',
		defaults: { name: 'Bare' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [{ displayName: 'Base URL', name: 'baseUrl', type: 'string', default: '' }],
	};

	async execute() {
		const items = this.getInputData();
		const url = `${this.getNodeParameter('baseUrl', 0)}/v2/pay/qrcode`;
		const send = async ({ json }, item) => ({
			json: await this.helpers.httpRequest({
				method: 'POST',
				url,
				headers: { Authorization: 'Bearer token' },
				body: { amount: json.amount, external_id: json.id },
				json: true,
			}),
			pairedItem: { item },
		});
		const output = [];
		for (let start = 0; start < items.length; start += 10) {
			const batch = items.slice(start, start + 10);
			output.push(...(await Promise.all(batch.map((each, at) => send(each, start + at)))));
		}
		return [output];
	}
}

module.exports = { Bare };
