import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import pino from 'pino';
import { sqlOn } from '../../../src/data/sql';
import { withClient } from '../../../src/data/postgres/with-client';
import { deleteOrphanedUploads } from '../../../src/main/background/delete-expired';
import { loadConfig } from '../../../src/main/config';
import { runWorker } from '../../../src/main/worker';
import {
  claimSettings,
  openInstallation,
  type Installation,
} from '../../../src/operate/installation/open';
import { sharedSettings } from '../../../src/operate/installation/shared-settings';
import { runCommand, runRefused } from '../../support/cli';
import { freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// Settings that must be equal in all processes of a database are, or a process does not start. With
// a real server: tests/system/operations/hosts.test.ts.

type Environment = Record<string, string>;

const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'shared-'));
const environment: Environment = {
  KEY_PEPPER: PEPPER_OF_TESTS,
  STORAGE_DIR: newFolder(),
  DATA_DIR: newFolder(),
  DEMO: 'false',
  RUN_JOBS: 'false',
  CARRIER: 'twilio',
  TWILIO_ACCOUNT_SID: 'AC1',
  TWILIO_AUTH_TOKEN: 'one token',
  TWILIO_BASE_URL: 'https://one.example.com',
  PUBLIC_URL: 'https://api.example.com',
  SMTP_URL: 'smtp://one.example.com',
  OIDC_ISSUER: 'https://one.example.com',
  OIDC_CLIENT_ID: 'one',
  OIDC_CLIENT_SECRET: 'one token',
  WEBHOOK_ALLOW_NETWORKS: '10.0.0.0/8,10.1.0.0/16',
};
/** Another value of each variable that must be equal. */
const OTHERS: Environment = {
  CARRIER: 'sandbox',
  TWILIO_ACCOUNT_SID: 'AC2',
  TWILIO_DIALECT: 'somleng',
  TWILIO_AUTH_TOKEN: 'another token',
  TWILIO_SIGNING_KEY: 'another token',
  TELNYX_APPLICATION_ID: '1',
  TWILIO_BASE_URL: 'https://twilio.example.com',
  TWILIO_CAN_WHISPER: 'false',
  JAMBONZ_BASE_URL: 'https://jambonz.example.com/api/v1',
  JAMBONZ_ACCOUNT_SID: 'one',
  JAMBONZ_API_KEY: 'another token',
  JAMBONZ_APPLICATION_SID: 'two',
  JAMBONZ_WEBHOOK_SECRET: 'another token',
  PUBLIC_URL: 'https://other.example.com',
  SMTP_URL: '',
  MAIL_FROM: 'other@example.com',
  MAILS_PER_DAY: '1',
  MAILS_PER_ADDRESS_PER_DAY: '1',
  RATE_LIMIT_PER_MINUTE: '1',
  LEAD_RATE_LIMIT_PER_MINUTE: '1',
  SELLER_RATE_LIMIT_PER_MINUTE: '1',
  OIDC_ISSUER: 'https://id.example.com',
  OIDC_CLIENT_ID: 'trunkline',
  OIDC_CLIENT_SECRET: 'another token',
  OIDC_NAME: 'Example',
  SESSION_IDLE_HOURS: '1',
  SESSION_DAYS: '3',
  WEBHOOK_ALLOW_NETWORKS: '10.0.0.0/8',
  WEBHOOK_LOG_DAYS: '1',
  CALL_DAYS: '1',
  LEAD_DAYS: '1',
  MESSAGE_DAYS: '1',
  CHANGE_LOG_DAYS: '1',
};
const MAY_DIFFER: Environment = {
  PORT: '12345',
  HOST: '0.0.0.0',
  WEB_CONCURRENCY: '2',
  DATABASE_POOL_SIZE: '3',
  DATABASE_TIMEOUT_SECONDS: '5',
  DATA_DIR: newFolder(),
  LOG_LEVEL: 'silent',
  METRICS_TOKEN: 'another-token-of-metrics',
  WORKER_METRICS_PORT: '12346',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
  OTEL_TRACES_SAMPLER_ARG: '0.5',
  CORS_ORIGINS: 'https://app.example.com',
  TRUST_PROXY: '1',
  MAX_CONNECTIONS: '100',
  MAX_BODY_BYTES: '2000',
  MAX_UPLOAD_BYTES: '2000',
  STORAGE_RESERVE_BYTES: '5',
  DEMO: 'false',
  RUN_JOBS: 'true',
  SMTP_URL: 'smtp://another.example.com',
  WEBHOOK_ALLOW_NETWORKS: '10.1.0.0/16,10.0.0.0/8',
};

let DATABASE_URL: string;
const opened: Installation[] = [];

/** Opens the installation as a worker does. */
const open = async (more: Environment = {}): Promise<Installation> => {
  const config = loadConfig({ ...environment, DATABASE_URL, ...more });
  const log = pino({ level: 'silent' });
  const installation = await openInstallation(config, { kind: 'worker', log });
  opened.push(installation);
  return installation;
};
const closeAll = async () => {
  await Promise.all(opened.splice(0).map((installation) => installation.close()));
};
afterEach(closeAll);

const query = (text: string, values: unknown[] = []): Promise<unknown[]> =>
  withClient(
    new Client({ connectionString: DATABASE_URL }),
    async (client) => (await client.query(text, values)).rows,
  );

/** Registers a server of another host, which counts as running for an hour. */
const registerServer = () =>
  query(`INSERT INTO processes (id, kind, host, pid, seen_at)
    VALUES (gen_random_uuid(), 'server', 'db2.internal', 4711, now() + interval '1 hour')`);

/** Claims settings, as each start does under the lock of migrations. */
const claim = (more: Environment): Promise<void> => {
  const settings = sharedSettings(loadConfig({ ...environment, ...more }), PEPPER_OF_TESTS);
  return withClient(new Client({ connectionString: DATABASE_URL }), (client) =>
    claimSettings(sqlOn(client), settings),
  );
};

describe('beside a server that runs', () => {
  beforeAll(async () => {
    DATABASE_URL = await freshDatabase();
    await open();
    await closeAll();
    await registerServer();
  });

  test.each(Object.entries(OTHERS))('another %s is refused by name', async (name, value) => {
    const { message } = await claim({ [name]: value }).then(
      () => new Error('it was accepted'),
      (error: Error) => error,
    );
    expect(message).toMatch(
      new RegExp(`running: server \\d+ on [^)]+\\):\\n(  - .*\\n)*  - ${name} is `),
    );
    expect(message).toMatch(/npx trunkline settings accept/);
    expect(message).not.toMatch(/one token|another token/);
  });

  test('every wrong one is named at once, as what it is here and there', async () => {
    await expect(open({ WEBHOOK_LOG_DAYS: '7', SMTP_URL: '' })).rejects.toThrow(
      '  - SMTP_URL is not set here, and set there\n' +
        '  - WEBHOOK_LOG_DAYS is 7 here, and 30 there\n',
    );
  });

  test.each(Object.entries(MAY_DIFFER))('another %s is allowed', (name, value) =>
    claim({ [name]: value }),
  );

  test('a process starts with all that may differ', async () => {
    await open(MAY_DIFFER);
  });

  test('a worker says so without a stack, and the doctor before', async () => {
    const wrong = { ...environment, DATABASE_URL, WEBHOOK_LOG_DAYS: '7', PORT: '14813' };
    const { code, output, errors } = await runRefused(runWorker, wrong);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/^What must be equal in all processes of this database is not/);
    expect(errors).not.toMatch(/^ +at /m);
    const doctor = await runCommand(['doctor', '--json'], wrong);
    expect(JSON.parse(doctor.output)).toContainEqual(
      expect.objectContaining({
        check: 'settings',
        ok: false,
        finding: 'WEBHOOK_LOG_DAYS is 7 here, and 30 there',
      }),
    );
  });
});

test('each variable is known to be one of both kinds, and configure.md says which', () => {
  const shared = Object.keys(sharedSettings(loadConfig(environment), PEPPER_OF_TESTS));
  expect(shared.toSorted()).toEqual(Object.keys(OTHERS).toSorted());
  const document = readFileSync(join(__dirname, '../../../docs/configure.md'), 'utf8');
  const [, section] = /### Equal on all hosts\n([^]*?)\n##/.exec(document)!;
  const row = (name: string) =>
    [
      ...section!
        .split('\n')
        .find((line) => line.startsWith(`| ${name}`))!
        .matchAll(/`([A-Z_0-9]+)`/g),
    ]
      .map(([, variable]) => variable!)
      .toSorted();
  const checkedByThemselves = ['KEY_PEPPER', 'DATABASE_URL', 'STORAGE_DIR'];
  const ofBucket = ['S3_BUCKET', 'S3_PREFIX', 'S3_ENDPOINT'];
  expect(row('equal')).toEqual([...shared, ...checkedByThemselves, ...ofBucket].toSorted());
  const example = readFileSync(join(__dirname, '../../../.env.example'), 'utf8');
  const declared = [...example.matchAll(/^([A-Z_0-9]+)=/gm)].map(([, name]) => name!);
  expect([...row('equal'), ...row('may differ')].toSorted()).toEqual(declared.toSorted());
});

describe('a setting is changed on purpose', () => {
  const change = { WEBHOOK_LOG_DAYS: '7' };
  beforeEach(async () => {
    DATABASE_URL = await freshDatabase();
    environment.STORAGE_DIR = newFolder();
    await open();
  });

  test('when no process runs: the next start has it, and it is that of the others then', async () => {
    await closeAll();
    expect(await query('SELECT * FROM processes')).toEqual([]);
    await open(change);
    const { pid } = spawnSync('true');
    await query('UPDATE processes SET pid = $1', [process.ppid]);
    await expect(open()).rejects.toThrow('WEBHOOK_LOG_DAYS is 30 here, and 7 there');
    // One that was killed on this machine is known to be gone at once.
    await query('UPDATE processes SET pid = $1', [pid]);
    await open();
  });

  test('while processes run: by a command, one process after the other', async () => {
    await registerServer();
    const accepted = await runCommand(['settings', 'accept', '--json'], {
      ...environment,
      DATABASE_URL,
      ...change,
    });
    expect(JSON.parse(accepted.output)).toEqual({
      changed: ['WEBHOOK_LOG_DAYS is 7 here, and 30 there'],
    });
    await open(change);
    await expect(open()).rejects.toThrow('WEBHOOK_LOG_DAYS is 30 here, and 7 there');
  });
});

describe('the storage of files', () => {
  beforeEach(async () => void (DATABASE_URL = await freshDatabase()));

  test('is that of the first start; another one is refused until it is accepted', async () => {
    const ownFolder = newFolder();
    await open({ STORAGE_DIR: ownFolder });
    const otherFolder = newFolder();
    const refused = `STORAGE_DIR: the folder ${otherFolder} is not the storage of this installation: `;
    await expect(open({ STORAGE_DIR: otherFolder })).rejects.toThrow(
      `${refused}it has no mark of one`,
    );
    expect(existsSync(join(otherFolder, 'files/installation'))).toBe(false);
    const accepted = await runCommand(['settings', 'accept', '--json'], {
      ...environment,
      DATABASE_URL,
      STORAGE_DIR: otherFolder,
    });
    expect(JSON.parse(accepted.output)).toEqual({
      changed: [`STORAGE_DIR: the folder ${otherFolder}`],
    });
    await open({ STORAGE_DIR: otherFolder });
  });

  test('of another installation is refused, even to a new database', async () => {
    const ownFolder = newFolder();
    await open({ STORAGE_DIR: ownFolder });
    DATABASE_URL = await freshDatabase();
    const refusal = `folder ${ownFolder} is not the storage of this installation: it is that of another`;
    await expect(open({ STORAGE_DIR: ownFolder })).rejects.toThrow(refusal);
    await open({ STORAGE_DIR: newFolder() });
    await expect(open({ STORAGE_DIR: ownFolder })).rejects.toThrow(refusal);
    const doctor = await runCommand(['doctor', '--json'], {
      ...environment,
      DATABASE_URL,
      STORAGE_DIR: ownFolder,
    });
    expect(JSON.parse(doctor.output)).toContainEqual(
      expect.objectContaining({
        check: 'shared storage',
        ok: false,
        finding: expect.stringContaining(refusal),
      }),
    );
  });

  test('keeps its mark when orphaned files are deleted', async () => {
    const ownFolder = newFolder();
    const { deps } = await open({ STORAGE_DIR: ownFolder });
    await deleteOrphanedUploads(deps, -1_000);
    const keptKeys: string[] = [];
    for await (const keys of deps.storage.keysOlderThan(-1_000)) keptKeys.push(...keys);
    expect(keptKeys).toEqual(['installation']);
    await open({ STORAGE_DIR: ownFolder });
  });
});
