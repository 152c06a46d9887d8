const sip = require('./jest.sip.config');

/** `npm run test:freeswitch`: calls by FreeSWITCH with the files of examples/freeswitch/ and SIPp. */
/** @type {import('jest').Config} */
module.exports = { ...sip, testMatch: ['<rootDir>/tests/freeswitch/**/*.test.ts'] };
