import { forget } from '../engine';
import { play, readWorkflows } from './play';

// Each folder has a workflow as the editor exports it. What a node gives is pinned to it; service.json lists the
// requests that the workflow sends, each with the response of the service.
test.each(readWorkflows())('$name', async (folder) => {
	forget();
	const { outputs, requests } = await play(folder);
	expect(outputs).toMatchObject(folder.expected);
	expect(requests).toMatchObject(folder.service.map(({ request }) => request));
});
