import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig, type ConfigError } from '../../src/main/config';

// The environment of a process: its defaults, and the settings of a carrier and a bucket.

const ROOT = join(__dirname, '../..');

test('.env.example can be sourced by a shell, and its values are the defaults', () => {
  const declared = [
    ...readFileSync(join(ROOT, '.env.example'), 'utf8').matchAll(/^([A-Z\d_]+)=/gm),
  ];
  const names = declared.map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(20);
  const script = 'set -eu; set -a; . ./.env.example; set +a; env -0';
  const text = execFileSync('sh', ['-c', script], { cwd: ROOT, encoding: 'utf8', env: {} });
  const values = Object.fromEntries(
    text.split('\0').flatMap((line) => {
      const [name = '', ...rest] = line.split('=');
      return names.includes(name) ? [[name, rest.join('=')]] : [];
    }),
  );
  expect(Object.keys(values).toSorted()).toEqual(names.toSorted());
  expect(loadConfig(values)).toEqual(loadConfig({}));
});

describe('settings of a carrier', () => {
  const TWILIO = {
    CARRIER: 'twilio',
    TWILIO_ACCOUNT_SID: 'AC1',
    TWILIO_AUTH_TOKEN: 'token',
    PUBLIC_URL: 'https://calls.example.com',
  };
  const KEY = Buffer.alloc(32, 7).toString('base64');
  const listFaults = (settings: Record<string, string>): string[] => {
    try {
      loadConfig({ ...TWILIO, ...settings });
      return [];
    } catch (error) {
      return (error as ConfigError).faults;
    }
  };

  test('Twilio needs no more than account, token and address, and signs with the token', () => {
    expect(loadConfig(TWILIO).twilio).toEqual({
      dialect: 'twilio',
      account_sid: 'AC1',
      auth_token: 'token',
      signing_key: 'token',
      base_url: 'https://api.twilio.com',
      application_id: undefined,
      can_whisper: undefined,
    });
  });

  test.each([
    [
      'signalwire',
      { TWILIO_BASE_URL: 'https://a.signalwire.com/api/laml', TWILIO_SIGNING_KEY: 'k' },
    ],
    ['somleng', { TWILIO_BASE_URL: 'https://somleng.example.com' }],
    ['telnyx', { TWILIO_SIGNING_KEY: KEY, TELNYX_APPLICATION_ID: '1' }],
  ])('what %s needs is named, each on its own', (dialect, needed) => {
    const settings = { TWILIO_DIALECT: dialect, ...needed };
    expect(listFaults(settings)).toEqual([]);
    for (const name of Object.keys(needed))
      expect(listFaults({ ...settings, [name]: '' })).toEqual([
        `${name} must be given with TWILIO_DIALECT=${dialect}`,
      ]);
  });

  test('a key that is none, and an address of another carrier, are refused', () => {
    const telnyx = { TWILIO_DIALECT: 'telnyx', TELNYX_APPLICATION_ID: '1' };
    expect(loadConfig({ ...TWILIO, ...telnyx, TWILIO_SIGNING_KEY: KEY }).twilio).toMatchObject({
      base_url: 'https://api.telnyx.com/v2/texml',
      application_id: '1',
    });
    expect(listFaults({ ...telnyx, TWILIO_SIGNING_KEY: 'token' })).toEqual([
      'TWILIO_SIGNING_KEY must be the public key of the account: 32 bytes, base64',
    ]);
    const somleng = { TWILIO_DIALECT: 'somleng', TWILIO_BASE_URL: 'https://api.twilio.com' };
    expect(listFaults(somleng)).toEqual([
      "TWILIO_BASE_URL must be an address of Somleng, not Twilio's",
    ]);
    expect(listFaults({ TWILIO_DIALECT: 'plivo' })).toEqual([
      expect.stringMatching(/^TWILIO_DIALECT .*twilio.*signalwire/),
    ]);
  });
});

test('what jambonz needs is named, each on its own', () => {
  const settings: Record<string, string> = {
    JAMBONZ_BASE_URL: 'https://jambonz.example.com/api/v1/',
    JAMBONZ_ACCOUNT_SID: 'one',
    JAMBONZ_API_KEY: 'key',
    JAMBONZ_APPLICATION_SID: 'two',
    JAMBONZ_WEBHOOK_SECRET: 'secret',
    PUBLIC_URL: 'https://calls.example.com',
  };
  expect(loadConfig({ CARRIER: 'jambonz', ...settings }).jambonz).toEqual({
    ...{ base_url: 'https://jambonz.example.com/api/v1', account_sid: 'one', api_key: 'key' },
    ...{ application_sid: 'two', webhook_secret: 'secret' },
  });
  for (const name of Object.keys(settings))
    expect(() => loadConfig({ CARRIER: 'jambonz', ...settings, [name]: '' })).toThrow(
      `${name} must be given with CARRIER=jambonz`,
    );
});

describe('settings of a bucket', () => {
  const BUCKET = { S3_BUCKET: 'bucket', AWS_REGION: 'eu-west-1' };
  const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };

  test('none of them: files are in the folder', () => {
    expect(loadConfig({ ...KEYS, AWS_REGION: 'eu-west-1' }).s3).toBeUndefined();
  });

  test('a bucket of Amazon S3, with the credentials that AWS gives the machine', () => {
    expect(loadConfig(BUCKET).s3).toEqual({
      bucket: 'bucket',
      prefix: '',
      region: 'eu-west-1',
      endpoint: undefined,
      path_style: false,
      credentials: undefined,
    });
  });

  test('a bucket of another service', () => {
    const S3_ENDPOINT = 'https://s3.example.com/';
    const settings = { S3_BUCKET: 'bucket', S3_ENDPOINT, S3_PREFIX: 'apps/trunkline', ...KEYS };
    expect(loadConfig(settings).s3).toEqual({
      bucket: 'bucket',
      prefix: 'apps/trunkline/',
      region: 'us-east-1',
      endpoint: 'https://s3.example.com',
      path_style: true,
      credentials: { id: 'id', secret: 'secret', session: undefined },
    });
    expect(loadConfig({ ...settings, S3_FORCE_PATH_STYLE: 'false' }).s3!.path_style).toBe(false);
  });

  const faults: [Record<string, string>, string][] = [
    [{ S3_ENDPOINT: 'https://s3.example.com' }, 'S3_BUCKET must be given with S3_ENDPOINT'],
    [{ S3_PREFIX: 'x' }, 'S3_BUCKET must be given with S3_PREFIX'],
    [{ S3_FORCE_PATH_STYLE: 'true' }, 'S3_BUCKET must be given with S3_FORCE_PATH_STYLE'],
    [{ S3_BUCKET: 'bucket' }, 'AWS_REGION must be given with S3_BUCKET, or S3_ENDPOINT'],
    [
      { ...BUCKET, AWS_ACCESS_KEY_ID: 'id' },
      'AWS_SECRET_ACCESS_KEY must be given with AWS_ACCESS_KEY_ID',
    ],
    [
      { ...BUCKET, AWS_SECRET_ACCESS_KEY: 'secret' },
      'AWS_ACCESS_KEY_ID must be given with AWS_SECRET_ACCESS_KEY',
    ],
    [
      { ...BUCKET, AWS_SESSION_TOKEN: 'token' },
      'AWS_ACCESS_KEY_ID must be given with AWS_SESSION_TOKEN',
    ],
    [
      { ...BUCKET, S3_BUCKET: 'My_Bucket' },
      'S3_BUCKET must be the name of a bucket: 3 to 63 of a-z, 0-9, hyphen and dot',
    ],
    [
      { ...BUCKET, S3_PREFIX: '/x' },
      'S3_PREFIX must be a prefix such as trunkline or apps/trunkline',
    ],
    [
      { ...BUCKET, S3_ENDPOINT: 's3.example.com' },
      'S3_ENDPOINT must be a URL such as https://s3.example.com',
    ],
  ];
  test.each(faults)('%j are refused by name', (environment, fault) => {
    expect(() => loadConfig(environment)).toThrow(
      `The configuration cannot be used:\n  - ${fault}`,
    );
  });
});
