import { parseXml, XmlElement, XmlText } from '@rgrove/parse-xml';

function valueOf(element: XmlElement): unknown {
	const members = new Map<string, unknown[]>();
	const texts: string[] = [];
	for (const child of element.children) {
		if (child instanceof XmlText) texts.push(child.text);
		if (!(child instanceof XmlElement)) continue;
		const name = child.name.toLowerCase();
		const same = members.get(name);
		if (same) same.push(valueOf(child));
		else members.set(name, [valueOf(child)]);
	}
	const text = texts.join('').replace(/\s+/g, ' ').trim();
	const attributes = Object.entries(element.attributes);
	if (members.size === 0 && attributes.length === 0) return text;
	const entries: Array<[string, unknown]> = [];
	if (attributes.length > 0) entries.push(['$', Object.fromEntries(attributes)]);
	if (text !== '') entries.push(['_', text]);
	for (const [name, values] of members) {
		entries.push([name, values.length === 1 ? values[0] : values]);
	}
	return Object.fromEntries(entries);
}

/**
 * Parses XML into the form that n8n's Webhook node gives it: names in lower case, repeated elements as lists,
 * attributes under `$`, text beside other things under `_`.
 * @returns undefined for text that is not XML, or is nested too deep to be parsed
 */
export function parseXmlBody(text: string): unknown {
	try {
		const { root } = parseXml(text.trimStart());
		return root === null
			? undefined
			: Object.fromEntries([[root.name.toLowerCase(), valueOf(root)]]);
	} catch {
		return undefined;
	}
}
