import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbedded, type EmbeddedDatabase } from '../../../src/data/postgres/embedded-postgres';
import { pgCtl } from '../../support/process';

// The data folder of the embedded PostgreSQL as a power loss, another process with the pid of one
// that has ended, or several starts at once leave it.

const SETTINGS = { fsync: 'off', shared_buffers: '16MB' };
const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'two-starts-'));
const start = (dataDir: string) => startEmbedded({ dataDir, settings: SETTINGS });

async function answer({ url }: EmbeddedDatabase): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT 1 AS answer');
  await client.end();
  return rows[0];
}

const folder = newFolder();

test('three that start on an empty folder at once make one database, and all reach it', async () => {
  // Files of others stay; those of a start that was killed are removed.
  writeFileSync(join(folder, 'key_pepper'), 'x');
  const { pid } = spawnSync('true');
  mkdirSync(join(folder, `postgres.new.${pid}.draft`));
  const opened = await Promise.all([start(folder), start(folder), start(folder)]);
  expect(await Promise.all(opened.map(answer))).toEqual(Array(3).fill({ answer: 1 }));
  expect(new Set(opened.map(({ url }) => url)).size).toBe(1);
  expect(readdirSync(folder).sort()).toEqual([
    'key_pepper',
    'postgres',
    'postgres.owner',
    'postgres.password',
    'postgres.setup.log',
  ]);
  for (const database of opened) await database.stop();
  expect(existsSync(join(folder, 'postgres/postmaster.pid'))).toBe(false);
});

test('a process that has the pid of a PostgreSQL that ended is left alone', async () => {
  const file = join(folder, 'postgres/postmaster.pid');
  const database = await start(folder);
  const text = readFileSync(file, 'utf8');
  pgCtl(folder, 'stop', '-m', 'immediate');
  const otherProcess = spawn('sleep', ['600'], { stdio: 'ignore' });
  try {
    writeFileSync(file, text.replace(/^\d+/, String(otherProcess.pid)));
    // Neither stops the other process, nor takes it for the database.
    await database.stop();
    expect([otherProcess.exitCode, otherProcess.signalCode]).toEqual([null, null]);
    const restarted = await start(folder);
    expect(await answer(restarted)).toEqual({ answer: 1 });
    await restarted.stop();
    expect([otherProcess.exitCode, otherProcess.signalCode]).toEqual([null, null]);
  } finally {
    otherProcess.kill();
  }
});

test('a password that is gone is said in one sentence', async () => {
  writeFileSync(join(folder, 'postgres.password'), '');
  await expect(start(folder)).rejects.toThrow(
    /postgres\.password is missing or empty: put it back/,
  );
});
