const usual = require('./jest.config');

/** `npm run test:sip`: calls over SIP, by Kamailio with the file of examples/kamailio/ and SIPp. */
/** @type {import('jest').Config} */
module.exports = {
  ...usual,
  testMatch: ['<rootDir>/tests/sip/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/tests/support/system-setup.ts',
  // Each file has a service, a database and a Kamailio of its own.
  maxWorkers: 2,
  reporters: ['default'],
};
