import { MATRIX, numberOf } from '../../dev/versions';

/** The versions of this run, one of them alone when the environment says so. */
export const tried = MATRIX.map((row) => ({ ...row, number: numberOf(row.version) })).filter(
	({ version, number }) =>
		[undefined, version, number].includes(process.env.N8N_TRY_VERSION as string | undefined),
);
