const usual = require('./jest.config');

/** `npm run test:clients`, before its matrix: a generated client is driven against a server. */
/** @type {import('jest').Config} */
module.exports = {
  ...usual,
  testMatch: ['<rootDir>/tests/clients/sdk.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  reporters: ['default'],
};
