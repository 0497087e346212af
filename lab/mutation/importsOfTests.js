/*
 * For Jest's question which tests have to do with a file: those of its room (`test/qr` for `nodes/Pay/qr`)
 * that import it themselves, or import another file of the room that needs it; for a file outside of rooms,
 * those that import it themselves. By way of other rooms nearly all tests import a file at the bottom,
 * which would take a mutant 7 s in place of 1.
 */
module.exports = {
	extract: (code, path, extractAll) => {
		// The tests of base/ stand at the top.
		const [, room = 'base'] = /[\\/]test[\\/](\w+)[\\/]/.exec(path) ?? [];
		const isTest = /[\\/]test[\\/]/.test(path);
		const counts = (name) => {
			if (!isTest) return name.startsWith('./');
			const [, importedRoom] = /nodes\/Pay\/(\w+)\//.exec(name) ?? [];
			return importedRoom === undefined || importedRoom === room;
		};
		return new Set([...extractAll(code)].filter(counts));
	},
	getCacheKey: () => 'imports within rooms',
};
