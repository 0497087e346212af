/*
 * n8n-workflow, loaded where it is used: loading takes a second, which most tests of pure code would spend
 * for each mutant on nothing.
 */
module.exports = new Proxy({}, { get: (_none, name) => require('n8n-workflow, loaded')[name] });
