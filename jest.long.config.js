const { execFileSync } = require('node:child_process');
const usual = require('./jest.config');

process.env.TEST_LONG = 'yes';
const long = execFileSync(
  'grep',
  ['-rlE', 'support/(repetitions|event-loop)', 'tests', '--include=*.test.ts'],
  { cwd: __dirname, encoding: 'utf8' },
);

/** The tests that repeat something, with all of their repetitions, and those with strict limits. */
/** @type {import('jest').Config} */
module.exports = {
  ...usual,
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/tests/support/system-setup.ts',
  testMatch: long
    .trim()
    .split('\n')
    .map((file) => `<rootDir>/${file}`),
  reporters: ['default'],
};
