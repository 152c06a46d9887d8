import { mkdtempSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import pino from 'pino';
import { withClient } from '../../../src/data/postgres/with-client';
import { loadConfig } from '../../../src/main/config';
import { openInstallation } from '../../../src/operate/installation/open';
import { runCommand } from '../../support/cli';
import { eventually } from '../../support/engine-process';
import { startServer, type Running } from '../../support/process';
import { startS3, type S3Server } from '../../support/s3-server';
import { freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// A server as the other hosts of its installation meet it. In one process:
// tests/operate/installation/shared-settings.test.ts.

type Environment = Record<string, string>;

let s3: S3Server;
let environment: Environment;
let server: Running;
beforeAll(async () => {
  s3 = await startS3({ prefix: 'live' });
  environment = {
    ...s3.environment,
    DATABASE_URL: await freshDatabase(),
    DATA_DIR: mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'hosts-')),
    KEY_PEPPER: PEPPER_OF_TESTS,
    LOG_LEVEL: 'warn',
  };
  server = await startServer(environment);
});
afterAll(async () => {
  await server.end('SIGKILL');
  await s3.close();
});

/** Opens the installation as a worker does, and closes it. */
async function open(more: Environment = {}): Promise<void> {
  const config = loadConfig({ ...environment, ...more });
  const log = pino({ level: 'silent' });
  await (await openInstallation(config, { kind: 'worker', log })).close();
}

const change = { WEBHOOK_LOG_DAYS: '7' };

test('with a bucket that can be used it serves, and leaves its mark in it', async () => {
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect(await s3.objects()).toEqual(['live/files/installation']);
  expect(server.output()).not.toContain('Warning');
});

test('a process with its settings starts; one with others is refused, and names it', async () => {
  await open();
  await expect(open(change)).rejects.toThrow(
    `(running: server ${server.child.pid} on ${hostname()}):\n` +
      '  - WEBHOOK_LOG_DAYS is 7 here, and 30 there\n',
  );
});

test('a setting is changed by a command, and the server says that it has the old one', async () => {
  const accepted = await runCommand(['settings', 'accept', '--json'], {
    ...environment,
    ...change,
  });
  expect(JSON.parse(accepted.output)).toEqual({
    changed: ['WEBHOOK_LOG_DAYS is 7 here, and 30 there'],
  });
  await open(change);
  await expect(open()).rejects.toThrow('WEBHOOK_LOG_DAYS is 30 here, and 7 there');
  await eventually(() => server.output().includes('start this process again'), 100);
});

test('once it has stopped, the next start may have other settings', async () => {
  expect(await server.end('SIGTERM')).toBe(0);
  const processes = await withClient(
    new Client({ connectionString: environment.DATABASE_URL }),
    async (client) => (await client.query('SELECT * FROM processes')).rows,
  );
  expect(processes).toEqual([]);
  await open({ WEBHOOK_LOG_DAYS: '9' });
});
