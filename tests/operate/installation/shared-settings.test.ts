import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deleteOrphanedUploads } from '../../../src/main/background/delete-orphaned-uploads';
import { loadConfig } from '../../../src/main/config';
import { openInstallation, type Installation } from '../../../src/operate/installation/open';
import { sharedSettings } from '../../../src/operate/installation/shared-settings';
import { eventually } from '../../support/engine-process';
import { runScript, startServer, type Running } from '../../support/process';
import { freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// Settings that must be equal in all processes of a database are, or a process does not start.

type Environment = Record<string, string>;

const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'shared-'));
const environment: Environment = {
  KEY_PEPPER: PEPPER_OF_TESTS,
  LOG_LEVEL: 'warn',
  STORAGE_DIR: newFolder(),
  DATA_DIR: newFolder(),
  DEMO: 'false',
  RUN_JOBS: 'false',
  CARRIER: 'twilio',
  TWILIO_ACCOUNT_SID: 'AC1',
  TWILIO_AUTH_TOKEN: 'one token',
  PUBLIC_URL: 'https://api.example.com',
  SMTP_URL: 'smtp://one.example.com',
  WEBHOOK_ALLOW_NETWORKS: '10.0.0.0/8,10.1.0.0/16',
};
/** Another value of each variable that must be equal. */
const OTHERS: Environment = {
  CARRIER: 'sandbox',
  TWILIO_ACCOUNT_SID: 'AC2',
  TWILIO_AUTH_TOKEN: 'another token',
  TWILIO_BASE_URL: 'https://twilio.example.com',
  TWILIO_CAN_WHISPER: 'false',
  PUBLIC_URL: 'https://other.example.com',
  SMTP_URL: '',
  MAIL_FROM: 'other@example.com',
  MAILS_PER_DAY: '1',
  MAILS_PER_ADDRESS_PER_DAY: '1',
  RATE_LIMIT_PER_MINUTE: '1',
  LEAD_RATE_LIMIT_PER_MINUTE: '1',
  SELLER_RATE_LIMIT_PER_MINUTE: '1',
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
const servers: Running[] = [];
const opened: Installation[] = [];

const start = async (more: Environment = {}) => {
  const server = await startServer({ ...environment, DATABASE_URL, ...more });
  servers.push(server);
  return server;
};
/** Opens the installation as a worker does. */
const open = async (more: Environment = {}): Promise<Installation> => {
  const config = loadConfig({ ...environment, DATABASE_URL, ...more });
  const installation = await openInstallation(config, { kind: 'worker' });
  opened.push(installation);
  return installation;
};
const cli = (args: string[], more: Environment) =>
  runScript('src/main/cli/index.ts', args, { ...environment, DATABASE_URL, ...more });

afterAll(() => Promise.all(servers.map((server) => server.end('SIGTERM'))));
afterEach(async () => {
  await Promise.all(opened.splice(0).map((installation) => installation.close()));
});

describe('beside a server that runs', () => {
  beforeAll(async () => {
    DATABASE_URL = await freshDatabase();
    await start();
  });

  test.each(Object.entries(OTHERS))('another %s is refused by name', async (name, value) => {
    const secret = name === 'TWILIO_AUTH_TOKEN';
    await expect(open({ [name]: value })).rejects.toThrow(
      new RegExp(`running: server \\d+ on [^)]+\\):\\n(  - .*\\n)*  - ${name} is `),
    );
    await expect(open({ [name]: value })).rejects.toThrow(/npx trunkline settings accept/);
    if (secret)
      await expect(open({ [name]: value })).rejects.not.toThrow(/one token|another token/);
  });

  test('every wrong one is named at once, as what it is here and there', async () => {
    await expect(open({ WEBHOOK_LOG_DAYS: '7', SMTP_URL: '' })).rejects.toThrow(
      '  - SMTP_URL is not set here, and set there\n' +
        '  - WEBHOOK_LOG_DAYS is 7 here, and 30 there\n',
    );
  });

  test.each(Object.entries(MAY_DIFFER))('another %s is allowed', async (name, value) => {
    await open({ [name]: value });
  });

  test('a program says so without a stack, and the doctor before', () => {
    const wrong = { WEBHOOK_LOG_DAYS: '7', PORT: '14813' };
    const wrongEnvironment = { ...environment, DATABASE_URL, ...wrong };
    const { code, output, errors } = runScript('src/main/worker.ts', [], wrongEnvironment);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/^What must be equal in all processes of this database is not/);
    expect(errors).not.toMatch(/^ +at /m);
    const findings = JSON.parse(cli(['doctor', '--json'], wrong).output);
    expect(findings).toContainEqual(
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
  beforeEach(async () => {
    DATABASE_URL = await freshDatabase();
    environment.STORAGE_DIR = newFolder();
  });

  test('when no process runs: the next start has it, and it is that of the others then', async () => {
    const first = await start();
    expect(await first.end('SIGTERM')).toBe(0);
    const second = await start({ WEBHOOK_LOG_DAYS: '7' });
    await expect(open()).rejects.toThrow('WEBHOOK_LOG_DAYS is 30 here, and 7 there');
    // One that was killed on this machine is known to be gone at once.
    await second.end('SIGKILL');
    await open();
  });

  test('while processes run: by a command, one process after the other', async () => {
    const old = await start();
    const change = { WEBHOOK_LOG_DAYS: '7' };
    const accepted = cli(['settings', 'accept', '--json'], change);
    expect(JSON.parse(accepted.output)).toEqual({
      changed: ['WEBHOOK_LOG_DAYS is 7 here, and 30 there'],
    });
    await open(change);
    await expect(open()).rejects.toThrow('WEBHOOK_LOG_DAYS is 30 here, and 7 there');
    // The one that still has the old ones says that it must be started again.
    await eventually(() => old.output().includes('start this process again'), 100);
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
    expect(
      JSON.parse(cli(['settings', 'accept', '--json'], { STORAGE_DIR: otherFolder }).output),
    ).toEqual({ changed: [`STORAGE_DIR: the folder ${otherFolder}`] });
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
    const doctor = JSON.parse(cli(['doctor', '--json'], { STORAGE_DIR: ownFolder }).output);
    expect(doctor).toContainEqual(
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
