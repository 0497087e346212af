const field = (name) => ({ displayName: name, name, type: 'string', default: '' });

/** What somebody would write by hand: n8n's request helper in a loop, 25 at once, and no checks. */
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
		properties: ['baseUrl', 'amount', 'external_id'].map(field),
	};

	async execute() {
		const items = this.getInputData();
		const url = `${this.getNodeParameter('baseUrl', 0)}/v2/pay/qrcode`;
		const bodies = items.map((_, index) => ({
			amount: this.getNodeParameter('amount', index),
			external_id: this.getNodeParameter('external_id', index),
		}));
		const send = async (body, item) => ({
			json: await this.helpers.httpRequest({
				method: 'POST',
				url,
				headers: { Authorization: 'Bearer token' },
				body,
				json: true,
			}),
			pairedItem: { item },
		});
		const output = [];
		for (let start = 0; start < bodies.length; start += 25) {
			const batch = bodies.slice(start, start + 25);
			output.push(...(await Promise.all(batch.map((body, at) => send(body, start + at)))));
		}
		return [output];
	}
}

module.exports = { Bare };
