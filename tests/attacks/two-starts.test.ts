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
import { startEmbedded, type EmbeddedDatabase } from '../../src/db/embedded-postgres';
import { pgCtl } from '../support/process';

// The data folder of the embedded PostgreSQL as a power loss, another process with the pid of one
// that has ended, or several starts at once leave it.

const SETTINGS = { fsync: 'off', shared_buffers: '16MB' };
const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'two-starts-'));
const start = (dataDir: string) => startEmbedded({ dataDir, settings: SETTINGS });

async function answer({ url }: EmbeddedDatabase): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT 1 AS one');
  await client.end();
  return rows[0];
}

const one = newFolder();

test('three that start on an empty folder at once make one database, and all reach it', async () => {
  // Files of others stay; those of a start that was killed are removed.
  writeFileSync(join(one, 'key_pepper'), 'x');
  const { pid } = spawnSync('true');
  mkdirSync(join(one, `postgres.new.${pid}.draft`));
  const opened = await Promise.all([start(one), start(one), start(one)]);
  expect(await Promise.all(opened.map(answer))).toEqual(Array(3).fill({ one: 1 }));
  expect(new Set(opened.map(({ url }) => url)).size).toBe(1);
  expect(readdirSync(one).sort()).toEqual([
    'key_pepper',
    'postgres',
    'postgres.owner',
    'postgres.password',
    'postgres.setup.log',
  ]);
  for (const database of opened) await database.stop();
  expect(existsSync(join(one, 'postgres/postmaster.pid'))).toBe(false);
});

test('a process that has the pid of a PostgreSQL that ended is left alone', async () => {
  const file = join(one, 'postgres/postmaster.pid');
  const database = await start(one);
  const text = readFileSync(file, 'utf8');
  pgCtl(one, 'stop', '-m', 'immediate');
  const other = spawn('sleep', ['600'], { stdio: 'ignore' });
  try {
    writeFileSync(file, text.replace(/^\d+/, String(other.pid)));
    // Neither stops the other process, nor takes it for the database.
    await database.stop();
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    const again = await start(one);
    expect(await answer(again)).toEqual({ one: 1 });
    await again.stop();
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
  } finally {
    other.kill();
  }
});

test('a password that is gone is said in one sentence', async () => {
  writeFileSync(join(one, 'postgres.password'), '');
  await expect(start(one)).rejects.toThrow(/postgres\.password is missing or empty: put it back/);
});
