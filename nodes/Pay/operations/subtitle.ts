import { resources } from './index';

/** What the canvas says of an operation. */
interface Caption {
	name: string;
	/** Whether it has such a field: n8n keeps what was typed for another operation. */
	hasAmount: boolean;
	hasRecipient: boolean;
}

/** The captions of all operations, by the resource and the operation with a space between them. */
function captions(): Record<string, Caption> {
	const all: Record<string, Caption> = {};
	for (const { value, operation } of resources) {
		const { option, requestOperation } = operation;
		const name = requestOperation?.words.noun ?? option.action ?? option.name;
		const meanings = requestOperation?.meanings ?? {};
		all[`${value} ${option.value}`] = {
			name: name.charAt(0).toUpperCase() + name.slice(1),
			hasAmount: Object.hasOwn(meanings, 'amount'),
			hasRecipient: Object.hasOwn(meanings, 'creditParty.key'),
		};
	}
	return all;
}

/** Two closing braces in a row would end n8n's expression. */
const CAPTIONS = JSON.stringify(captions()).replaceAll('}}', '} }');

/**
 * What the canvas shows below the node's name, as n8n takes it: JavaScript in double braces. It shows
 * what was typed: on the canvas most expressions have no value, and asking for one throws.
 */
export const subtitle = `={{ (() => {
	const captions = ${CAPTIONS};
	const typed = (word, read) => {
		try {
			const value = read();
			return /^[^={]+$/.test(value ?? "") ? word + value : "";
		} catch {
			return "";
		}
	};
	const caption = captions[$parameter["resource"] + " " + $parameter["operation"]];
	if (!caption) return "";
	const amount = caption.hasAmount ? typed(" of ", () => $parameter["amount"]) : "";
	const recipient = caption.hasRecipient ? typed(" to ", () => $parameter["creditParty"]["key"]) : "";
	return caption.name + amount + recipient;
})() }}`;
