import { rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** Throws the tarball of this run away. */
export default function end() {
	if (process.env.PAY_TARBALL) rmSync(dirname(process.env.PAY_TARBALL), { recursive: true });
}
