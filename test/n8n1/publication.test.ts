import type { IHookFunctions, INode } from 'n8n-workflow';
import { beginPublication, endPublication } from '../../nodes/Pay/n8n1/publication';
import { refusalOf } from '../refusal';
import { hookContext } from '../contexts';

// The library of n8n 1 lacks this constant.
jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	WAIT_FOR_SUB_EXECUTION: undefined,
}));

let workflows = 0;

/** A trigger of a workflow of its own, as its hooks see it each time with other settings. */
function trigger() {
	const workflow = { id: `publication-${(workflows += 1)}` };
	const node = { id: 'node', name: 'Paid', parameters: {}, position: [0, 0] };
	return (settings: Partial<INode> = {}) =>
		hookContext({ getWorkflow: () => workflow, getNode: () => ({ ...node, ...settings }) });
}

const NEW = { parameters: { startWhen: 'paidOrFailed' } };
const MOVED: Partial<INode> = { position: [40, 40] };

function publish(context: IHookFunctions): void {
	beginPublication(context);
	endPublication(context);
}

const refusal = (context: IHookFunctions) => refusalOf(() => beginPublication(context));

test('after new settings were refused, those of before are refused', () => {
	const shown = trigger();
	publish(shown());
	beginPublication(shown(NEW));
	expect(refusal(shown())).toMatchObject({
		message: 'n8n 1 would publish this trigger with its earlier settings, whatever the form shows',
		advice:
			'Move the node "Paid" a little, then save. If the workflow is not active, switch it to Active.',
	});
	// A second time, too.
	expect(refusal(shown())).toBeDefined();
});

test('after a refusal for its credential alone, a trigger is refused until it is moved', () => {
	const shown = trigger();
	publish(shown());
	beginPublication(shown());
	expect(refusal(shown())).toBeDefined();
	expect(refusal(shown(MOVED))).toBeUndefined();
});

describe('after other settings were published, and another node may have been refused', () => {
	test('those of before are refused until the node is moved', () => {
		const shown = trigger();
		publish(shown());
		publish(shown(NEW));
		expect(refusal(shown())).toBeDefined();
		expect(refusal(shown(MOVED))).toBeUndefined();
	});

	test('the others may be published once more, after those of before were refused', () => {
		const shown = trigger();
		publish(shown());
		publish(shown(NEW));
		expect(refusal(shown())).toBeDefined();
		expect(refusal(shown(NEW))).toBeUndefined();
	});
});

test.each<{ what: string; settings: Partial<INode> }>([
	{ what: 'the new settings', settings: NEW },
	{ what: 'the settings of before, and the node was moved', settings: MOVED },
	{
		what: 'another credential',
		settings: { credentials: { payApi: { id: '2', name: 'Real money' } } },
	},
])('after a refused publication $what may be published', ({ settings }) => {
	const shown = trigger();
	publish(shown());
	beginPublication(shown(NEW));
	expect(refusal(shown(settings))).toBeUndefined();
});

test('a trigger that was never published may be published as it was refused', () => {
	const shown = trigger();
	beginPublication(shown());
	expect(refusal(shown())).toBeUndefined();
});

test('a trigger that was not refused may be published again as it is', () => {
	const shown = trigger();
	publish(shown());
	expect(refusal(shown())).toBeUndefined();
	const other = trigger();
	expect(refusal(other())).toBeUndefined();
});

test('new settings that were refused and then published may be published again', () => {
	const shown = trigger();
	publish(shown());
	beginPublication(shown(NEW));
	publish(shown(NEW));
	expect(refusal(shown(NEW))).toBeUndefined();
});
