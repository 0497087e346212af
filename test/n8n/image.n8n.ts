import { demo } from '../../dev/demo';
import { containerEngine, WITHOUT_ENGINE } from '../../dev/image';
import { numberOf, type ImageVersion } from '../../dev/versions';

/*
 * n8n in its official image, the only form of n8n 3. N8N_TRY_IMAGE names another tag, such as `next`.
 */
const VERSION: ImageVersion = `image:${process.env.N8N_TRY_IMAGE ?? numberOf('n8n2')}`;

const isThere = containerEngine() !== undefined;
if (!isThere) process.stderr.write(`\nSKIPPED: ${WITHOUT_ENGINE}\n\n`);

(isThere ? test : test.skip)('the demo runs in the image', async () => {
	const report = await demo(VERSION);
	expect(report.filter((line) => / .*: accepted/.test(line))).toHaveLength(2);
	expect(report.filter((line) => line.startsWith('postback: '))).toHaveLength(2);
});
