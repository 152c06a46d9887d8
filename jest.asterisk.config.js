const sip = require('./jest.sip.config');

/** `npm run test:asterisk`: calls by Asterisk with the files of examples/asterisk/ and SIPp. */
/** @type {import('jest').Config} */
module.exports = { ...sip, testMatch: ['<rootDir>/tests/asterisk/**/*.test.ts'] };
