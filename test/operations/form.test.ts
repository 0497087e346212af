import type { INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import { PayApi } from '../../credentials/PayApi.credentials';
import { Pay } from '../../nodes/Pay/Pay.node';
import type { RequestOperation } from '../../nodes/Pay/run/read';
import { PayTrigger } from '../../nodes/Pay/PayTrigger.node';
import { valuesAt } from '../../nodes/Pay/service/contract';
import { fieldsIn } from '../fields';
import { REGISTERED } from '../serviceOperations';

/** A field and all below it, one a line: its path, type, default, choices and settings. */
function linesOf(properties: INodeProperties[], path: string): string[] {
	return properties.flatMap((field) => {
		const { name, type, options = [], default: value, ...more } = field;
		const at = `${path}.${name}`;
		const choices = options.flatMap((option) =>
			'value' in option && !('type' in option) ? [option.value] : [],
		);
		const { required, noDataExpression, typeOptions, displayOptions } = more;
		const { multipleValueButtonText: _words, ...set } = typeOptions ?? {};
		const facts = { value, choices, required, noDataExpression, set, displayOptions };
		const below = options.flatMap((option) => {
			if ('values' in option) return linesOf(option.values, `${at}.${option.name}`);
			return 'type' in option ? linesOf([option], at) : [];
		});
		return [`${at} ${type} ${JSON.stringify(facts)}`, ...below];
	});
}

/** What may be done with an operation of the service. */
function policyOf({ kind, isMoneyOut, agentPermission }: RequestOperation): string {
	const permission = agentPermission === 'not needed' ? agentPermission : agentPermission.name;
	return `${kind} ${JSON.stringify({ isMoneyOut, permission })}`;
}

/** What only people read. */
const WORDS = [
	'displayName',
	'description',
	'subtitle',
	'defaults',
	'triggerPanel',
	'eventTriggerDescription',
	'documentationUrl',
	'waitingNodeTooltip',
];

/** What n8n is told of a node or credential besides its fields, words excepted. */
function factsOf({ properties: _fields, ...rest }: INodeTypeDescription | PayApi): string {
	const facts = Object.entries(rest).filter(([name]) => !WORDS.includes(name));
	return JSON.stringify(Object.fromEntries(facts));
}

/** What the values of its body mean, one a line: limits, duplicates and advice follow from it. */
function meaningsOf({ operation, fullForms }: (typeof REGISTERED)[number]): string[] {
	return Object.entries(operation.meanings).map(([path, means]) => {
		const type = typeof valuesAt(fullForms[0].sent, path)[0];
		return `${operation.kind}.${path} ${type} means ${means}`;
	});
}

test('what saved workflows and credentials rest on has not changed: policies, names, types, defaults, choices', () => {
	const [pay, trigger, credential] = [
		new Pay().description,
		new PayTrigger().description,
		new PayApi(),
	];
	const lines = [
		...REGISTERED.map(({ operation }) => policyOf(operation)),
		...REGISTERED.flatMap(meaningsOf),
		`pay ${factsOf(pay)}`,
		...linesOf(pay.properties, 'pay'),
		`payTrigger ${factsOf(trigger)}`,
		...linesOf(trigger.properties, 'payTrigger'),
		`${credential.name} ${factsOf(credential)}`,
		...linesOf(credential.properties, credential.name),
	];
	// n8n stores what differs from the default only, so a changed default changes what is saved. What
	// is meant to change: npx jest test/operations/form -u
	expect(`\n${lines.join('\n')}\n`).toMatchSnapshot();
});

test('what allows an agent to pay takes no expression: an item, or the model, would decide', () => {
	const permissions = fieldsIn(new Pay().description.properties).filter(
		({ name }) => name === 'allowAiPayments',
	);
	expect(permissions.map(({ noDataExpression }) => noDataExpression)).toStrictEqual([true]);
});

test('the collections of Pay list their fields by name, as n8n does', () => {
	const collections = fieldsIn(new Pay().description.properties).filter(
		({ type }) => type === 'collection',
	);
	expect(collections.map(({ name }) => name)).toContain('payer');
	for (const { name, options = [] } of collections) {
		const labels = options.map((option) => ('displayName' in option ? option.displayName : ''));
		expect([name, ...labels]).toStrictEqual([name, ...labels.toSorted()]);
	}
});

test('no display condition is a regular expression: n8n tests one under a clock, and fails the reading', () => {
	const conditions = JSON.stringify([
		new Pay().description,
		new PayTrigger().description,
		new PayApi(),
	]);
	// The same search finds a condition that is there.
	expect(conditions).toMatch(/"_cnd":\{"startsWith":/);
	expect(conditions).not.toMatch(/"_cnd":\{"regex":/);
});

test.each([
	{ name: 'Pay', node: new Pay() },
	{ name: 'Pay Trigger', node: new PayTrigger() },
])('the node $name names the test of its credential', ({ node }) => {
	const [credential] = node.description.credentials!;
	const { credentialTest } = node.methods as { credentialTest: Record<string, unknown> };
	expect(Object.keys(credentialTest)).toStrictEqual([credential!.testedBy]);
});

test('n8n’s editor takes no field for the choice of an authentication', () => {
	const { credentials, properties } = new Pay().description;
	for (const { name, options } of properties) {
		const shown = credentials!.flatMap(({ displayOptions }) => displayOptions?.show?.[name] ?? []);
		const values = (options ?? []).flatMap((option) => ('value' in option ? [option.value] : []));
		if (shown.length > 0) expect(values.every((value) => shown.includes(value))).toBe(false);
	}
});
