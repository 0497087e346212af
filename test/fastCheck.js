const fastCheck = require('../node_modules/fast-check/lib/cjs/fast-check');

/*
 * What a test gets as fast-check (jest.config.ts). Chance blocks no change: by day every property test draws
 * the same cases, at night others, whose seed a failure prints. What the night finds becomes a case with a
 * name.
 */
const isNight = process.env.PAY_TIER === 'nightly';
fastCheck.configureGlobal(isNight ? {} : { seed: 1 });

module.exports = fastCheck;
