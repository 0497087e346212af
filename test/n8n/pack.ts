import { packPackage } from '../../dev/install';

/** Builds and packs once for all files; they install the tarball as a user does. */
export default async function pack() {
	process.env.PAY_TARBALL = await packPackage();
}
