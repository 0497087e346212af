/** The least that a trigger node can do: it takes every call. */
class BareTrigger {
	description = {
		displayName: 'Bare Trigger',
		name: 'bareTrigger',
		group: ['trigger'],
		version: 1,
		description: 'A trigger that checks nothing, for comparison',
		defaults: { name: 'Bare Trigger' },
		inputs: [],
		outputs: ['main'],
		webhooks: [
			{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'postback' },
		],
		properties: [],
	};

	async webhook() {
		return { workflowData: [[{ json: { body: this.getBodyData() } }]] };
	}
}

module.exports = { BareTrigger };
