import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../support/cli';
import { PEPPER_OF_TESTS } from '../../support/world';

// The carrier as the doctor describes it, which needs no database.

async function describeCarrier(environment: Record<string, string>): Promise<unknown> {
  const DATA_DIR = join(mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'doctor-')), 'data');
  const settings = { KEY_PEPPER: PEPPER_OF_TESTS, DATA_DIR, ...environment };
  const { output } = await runCommand(['doctor', '--json'], settings);
  return (JSON.parse(output) as { check: string }[]).find(({ check }) => check === 'carrier');
}

const TWILIO = {
  CARRIER: 'twilio',
  TWILIO_ACCOUNT_SID: 'AC1',
  TWILIO_AUTH_TOKEN: 'token',
  PUBLIC_URL: 'https://calls.example.com',
};
const SOMLENG = { TWILIO_DIALECT: 'somleng', TWILIO_BASE_URL: 'https://somleng.example.com' };

const JAMBONZ = {
  CARRIER: 'jambonz',
  JAMBONZ_BASE_URL: 'https://jambonz.example.com/api/v1',
  JAMBONZ_ACCOUNT_SID: 'one',
  JAMBONZ_API_KEY: 'key',
  JAMBONZ_APPLICATION_SID: 'two',
  JAMBONZ_WEBHOOK_SECRET: 'secret',
  PUBLIC_URL: 'https://calls.example.com',
};

test.each([
  [JAMBONZ, /^jambonz at https:\/\/jambonz.*: stops no single leg.*takes no voicemail.*no texts?/],
  [{}, /^the sandbox, which sends nothing$/],
  [{ CARRIER: 'switch' }, /^switches of the companies place calls; no texts go out$/],
  [{ CARRIER: 'none' }, /^none: no calls or texts go out from here$/],
  [TWILIO, /^Twilio at https:\/\/api\.twilio\.com: can do everything$/],
  [{ ...TWILIO, TWILIO_CAN_WHISPER: 'false' }, /: asks no buyer to press 1 \(`key_press_unav/],
  [{ ...TWILIO, ...SOMLENG }, /^Somleng at https:\/\/somleng.*: asks no buyer .*reports no legs/],
])('of %j the carrier is %p', async (environment: Record<string, string>, finding) => {
  expect(await describeCarrier(environment)).toEqual({
    check: 'carrier',
    ok: true,
    finding: expect.stringMatching(finding),
  });
});
