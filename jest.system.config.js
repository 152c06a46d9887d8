const usual = require('./jest.config');

/** `npm run test:system`: what starts processes, and may kill them. They run the built program. */
/** @type {import('jest').Config} */
module.exports = {
  ...usual,
  testMatch: ['<rootDir>/tests/system/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/tests/system/smoke'],
  globalSetup: '<rootDir>/tests/support/system-setup.ts',
  reporters: ['default'],
};
