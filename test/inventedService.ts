import { PayApi } from '../credentials/PayApi.credentials';
import { read } from './markdown';

/** An invented service of docs/example-services.md: what its table says, as a credential, and the bodies that it sends. */
interface InventedService {
	credential: Record<string, unknown>;
	bodies: unknown[];
}

/** The values of a cell: code type, or the name of a choice; a field takes several one a line. */
function valueIn(cell: string): string {
	const typed = [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text);
	return typed.join('\n');
}

/** The name of the credential's field that a page calls by its label. */
export function enteredAs(label: string): string {
	const field = new PayApi().properties.find(({ displayName }) => displayName === label);
	if (field === undefined) throw new Error(`The credential has no field ${label}.`);
	return field.name;
}

/** Reads a service from the page, as a person does who enters what its table says. */
export function inventedService(name: string): InventedService {
	const sections = read('docs/example-services.md').split(/^## /m);
	const section = sections.find((each) => each.startsWith(`${name}:`)) ?? '';
	const credential: Record<string, unknown> = { accessToken: 'token', describeService: true };
	for (const [, label, cell] of section.matchAll(/^\| _([^|]+)_ +\| (.+?) +\|$/gm)) {
		const field = new PayApi().properties.find(({ displayName }) => displayName === label);
		if (field === undefined) throw new Error(`The credential has no field ${label}.`);
		const choice = field.options?.find((each) => cell === `_${each.name}_`);
		if (choice && 'value' in choice) credential[field.name] = choice.value;
		else if (valueIn(cell!) !== '') credential[field.name] = valueIn(cell!);
	}
	const bodies = [...section.matchAll(/```json\n(.*?)```/gs)].map(([, text]): unknown =>
		JSON.parse(text!),
	);
	return { credential, bodies };
}
