import type { IHookFunctions, INode } from 'n8n-workflow';
import {
	recordPublication,
	recordRefusal,
	refuseSettingsOfBefore,
} from '../../nodes/Pay/postback/publication';
import { refusalOf } from '../refusal';

let workflows = 0;

/** A trigger of a workflow of its own, as its hooks see it each time with other settings. */
function trigger() {
	const workflow = { id: `publication-${(workflows += 1)}` };
	const node = { id: 'node', parameters: {}, position: [0, 0] };
	return (settings: Partial<INode> = {}) =>
		({
			getWorkflow: () => workflow,
			getNode: () => ({ ...node, ...settings }),
		}) as unknown as IHookFunctions;
}

const NEW = { parameters: { startWhen: 'paidOrFailed' } };

test('after a refused publication the settings of before are refused', () => {
	const shown = trigger();
	recordPublication(shown());
	recordRefusal(shown(NEW));
	expect(refusalOf(() => refuseSettingsOfBefore(shown()))).toMatchObject({
		message:
			'After a publication that was refused, n8n 1 goes on with the settings of before, whatever the form shows',
		advice: 'Move this node a little, then save.',
	});
	// A second time, too.
	recordRefusal(shown());
	expect(refusalOf(() => refuseSettingsOfBefore(shown()))).toBeDefined();
});

test.each<{ what: string; settings: Partial<INode> }>([
	{ what: 'the new settings', settings: NEW },
	{ what: 'the settings of before, and the node was moved', settings: { position: [40, 40] } },
	{
		what: 'another credential',
		settings: { credentials: { payApi: { id: '2', name: 'Real money' } } },
	},
])('after a refused publication $what may be published', ({ settings }) => {
	const shown = trigger();
	recordPublication(shown());
	recordRefusal(shown(NEW));
	expect(refusalOf(() => refuseSettingsOfBefore(shown(settings)))).toBeUndefined();
});

test('a trigger that was never published, or not refused since, may be published as it was', () => {
	const never = trigger();
	recordRefusal(never(NEW));
	expect(refusalOf(() => refuseSettingsOfBefore(never()))).toBeUndefined();

	const mended = trigger();
	recordPublication(mended());
	recordRefusal(mended(NEW));
	recordPublication(mended(NEW));
	expect(refusalOf(() => refuseSettingsOfBefore(mended(NEW)))).toBeUndefined();

	const other = trigger();
	recordPublication(other());
	expect(refusalOf(() => refuseSettingsOfBefore(other()))).toBeUndefined();
});

test('a trigger that was refused for its credential alone may be published as it was', () => {
	const shown = trigger();
	recordPublication(shown());
	recordRefusal(shown());
	expect(refusalOf(() => refuseSettingsOfBefore(shown()))).toBeUndefined();
});
