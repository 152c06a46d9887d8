const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const lines = (name) => {
  const file = join(process.env.TRUNKLINE_TEST_FOLDER ?? '', name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
};

/** Fails a whole run in which some answer that the contract promises was produced by no test. */
module.exports = class ContractCoverage {
  constructor(config) {
    this.config = config;
    this.missing = [];
  }

  onRunComplete(_, results) {
    const { testPathPatterns, testNamePattern, onlyChanged } = this.config;
    const whole = !testPathPatterns?.patterns.length && !testNamePattern && !onlyChanged;
    if (!whole || results.numFailedTests + results.numFailedTestSuites > 0) return;
    const promised = lines('promised.txt');
    const produced = new Set(lines('produced.txt'));
    this.missing = promised.filter((answer) => !produced.has(answer));
    process.stdout.write(
      `\nContract: ${promised.length - this.missing.length} of ${promised.length} promised answers were produced.\n${this.missing.map((answer) => `  not produced: ${answer}\n`).join('')}`,
    );
  }

  getLastError() {
    return this.missing.length > 0
      ? new Error(
          `answers that the contract promises and no test produced:\n  ${this.missing.join('\n  ')}`,
        )
      : undefined;
  }
};
