/** Members whose text only people read, whatever it is. */
const FOR_PEOPLE = new Set([
	...['displayName', 'description', 'placeholder', 'action', 'subtitle', 'hint'],
	...['message', 'advice', 'multipleValueButtonText', 'eventTriggerDescription'],
	...['header', 'active', 'inactive', 'activationHint', 'documentationUrl'],
]);

/** Two words with a space between them; names, codes and expressions have none. */
const PROSE = /[A-Za-z0-9*]\S*\s+["'“(]?[A-Za-z]/;

/** A text for people: mutated it says something else, and nothing is done otherwise. */
function isWording(path) {
	const { node, parent } = path;
	if (node.type === 'TemplateLiteral') {
		return node.quasis.some(({ value }) => PROSE.test(value.cooked ?? ''));
	}
	if (node.type !== 'StringLiteral') return false;
	if (PROSE.test(node.value)) return true;
	const isMember = parent.type === 'ObjectProperty' || parent.type === 'ClassProperty';
	if (!isMember || parent.value !== node) return false;
	const name = parent.key.name ?? parent.key.value;
	if (FOR_PEOPLE.has(name)) return true;
	if (parent.type === 'ClassProperty') return false;
	// The name of a choice is what the editor shows for its value.
	const { parent: object } = path.parentPath;
	const siblings = object.properties.map(({ key }) => key?.name ?? key?.value);
	return name === 'name' && siblings.includes('value');
}

export const strykerPlugins = [
	{
		kind: 'Ignore',
		name: 'wording',
		value: { shouldIgnore: (path) => (isWording(path) ? 'wording' : undefined) },
	},
];
