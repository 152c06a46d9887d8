import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import type { Pool } from 'pg';
import { openDatabase } from '../../src/data/client';
import { isSession } from '../../src/data/postgres/lower-priority';
import { freshDatabase } from '../support/world';

const options = { pool_size: 4, timeout_seconds: 10 };

async function readPriority(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const { pid } = rows[0]!;
  const group = `/proc/${pid}/autogroup`;
  // Where Linux makes a group of each session, only the group's value counts among sessions. It
  // changes one group at a time.
  if (existsSync(group))
    while (niceOfGroup(group) !== getPriority(pid))
      await new Promise((done) => setTimeout(done, 50));
  return getPriority(pid);
}

const niceOfGroup = (group: string) =>
  Number(/nice (-?\d+)/.exec(readFileSync(group, 'latin1'))![1]);

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('imports give way to requests, and so does all of a process without requests', async () => {
  const url = await freshDatabase();
  const usual = getPriority();
  const server = openDatabase(url, options);
  expect([await readPriority(server.prepared), await readPriority(server.bulk)]).toEqual([
    usual,
    Math.max(usual, 10),
  ]);
  await server.close();
  const worker = openDatabase(url, { ...options, in_background: true });
  expect([
    await readPriority(worker.pool),
    await readPriority(worker.prepared),
    await readPriority(worker.bulk),
  ]).toEqual([Math.max(usual, 10), Math.max(usual, 10), Math.max(usual, 10)]);
  await worker.close();
});

test.each([
  ['the session of the connection', 'postgres: trunkline trunkline 127.0.0.1(48748) idle', true],
  ['one whose port begins the same', 'postgres: trunkline trunkline 127.0.0.1(487481) idle', false],
  ['a session by socket', 'postgres: trunkline trunkline [local] idle', false],
  ['another process of the database', 'postgres: checkpointer ', false],
  ['another program', 'node dist/server.js (48748) ', false],
])('%s is told from its title', (_, title, expected) => {
  expect(isSession(title, 48748)).toBe(expected);
});
