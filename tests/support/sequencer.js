const { existsSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');
const Sequencer = require('@jest/test-sequencer').default;

const TESTS = join(__dirname, '..');
const FILE = join(__dirname, 'seconds.json');
const seconds = require(FILE);

/** Files that take shorter are not worth a line. */
const SHORTEST = 3;

/**
 * Starts the files that take longest first, so that no worker is left alone with one at the end.
 * The times were recorded by `RECORD_TIMES=yes npm test`, and so for `npm run test:system`; a file
 * without one takes little.
 */
module.exports = class extends Sequencer {
  sort(tests) {
    const weight = ({ path }) => seconds[relative(TESTS, path)] ?? 0;
    return [...tests].sort((a, b) => weight(b) - weight(a) || (a.path < b.path ? -1 : 1));
  }

  cacheResults(tests, results) {
    super.cacheResults(tests, results);
    if (process.env.RECORD_TIMES !== 'yes') return;
    const measured = Object.fromEntries(
      results.testResults.map(({ testFilePath, perfStats }) => [
        relative(TESTS, testFilePath),
        Math.round(perfStats.runtime / 1000),
      ]),
    );
    // The other command has other files.
    const times = Object.entries({ ...seconds, ...measured })
      .filter(([file, time]) => time >= SHORTEST && existsSync(join(TESTS, file)))
      .sort((a, b) => b[1] - a[1]);
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(times), null, 2)}\n`);
  }
};
