// Jest itself reads the TypeScript of its setup with this.
require('./tests/support/typescript');

/** `npm test`: what runs in one process, and one test for each kind of process. */
/** @type {import('jest').Config} */
module.exports = {
  testMatch: ['<rootDir>/tests/**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    // npm run test:system
    '/tests/system/(?!smoke)',
    // npm run test:sip
    '/tests/sip/',
    // npm run test:asterisk
    '/tests/asterisk/',
    // npm run test:freeswitch
    '/tests/freeswitch/',
    // npm run test:clients installs what it needs.
    '/tests/clients/sdk.test.ts',
  ],
  transform: {},
  runtime: '<rootDir>/tests/support/runtime.js',
  testEnvironment: '<rootDir>/tests/support/environment.js',
  setupFiles: ['<rootDir>/tests/support/setup.ts'],
  globalSetup: '<rootDir>/tests/support/global-setup.ts',
  globalTeardown: '<rootDir>/tests/support/global-teardown.ts',
  testSequencer: '<rootDir>/tests/support/sequencer.js',
  reporters: ['default', '<rootDir>/tests/support/coverage-reporter.js'],
  maxWorkers: 3,
  // A machine that does other things as well takes ten times as long.
  testTimeout: 300_000,
  watchman: false,
};
