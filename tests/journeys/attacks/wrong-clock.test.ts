import { pino } from 'pino';
import {
  findClockFault,
  createClockGuard,
  measureClockSkew,
} from '../../../src/data/postgres/clock-skew';
import type { Sql } from '../../../src/data/sql';
import { deleteExpired } from '../../../src/main/background/delete-expired';
import { startHousekeeping } from '../../../src/main/background/start';
import { eventually } from '../../support/engine-process';
import { useWorld } from '../../support/use-world';

// The attack: a host whose clock is 15 minutes or three years ahead. It ended calls under way, gave
// their caps back, and deleted all that its clock made old, while the database's clock was right.

const world = useWorld({ environment: { CALL_DAYS: '365', WEBHOOK_LOG_DAYS: '30' } });

/** The database as a host sees it whose own clock is that many seconds ahead. */
const buildSkewedSql = (ahead: number): Sql =>
  (async (statement: { name: string }, params: never) => {
    const rows = (await world.deps.database.sql(statement as never, params)) as { at: Date }[];
    return statement.name === 'db.database_time'
      ? rows.map(({ at }) => ({ at: new Date(at.getTime() - ahead * 1000) }))
      : rows;
  }) as never;
const buildDeps = (ahead: number) => {
  const deps = { ...world.deps, log: pino({ level: 'silent' }) };
  const database = { ...deps.database, sql: buildSkewedSql(ahead) };
  return { ...deps, database, parts: () => [{ ...deps, database } as never] };
};

test('the clock of a host is compared with that of the database', async () => {
  expect(await measureClockSkew(world.deps.database.sql)).toBe(0);
  expect(await findClockFault(world.deps.database.sql)).toBeUndefined();
  expect(await findClockFault(buildSkewedSql(25))).toBeUndefined();
  expect(await findClockFault(buildSkewedSql(900))).toMatch(
    /^The clock .* is 900 seconds ahead of the data/,
  );
  expect(await findClockFault(buildSkewedSql(-900))).toMatch(
    /is 900 seconds behind the database's: sync/,
  );
  await expect(createClockGuard(buildSkewedSql(900))()).rejects.toThrow('ahead of');
});

test('background work waits while the clock is wrong, and says why', async () => {
  const { api } = world.company;
  const { offer } = (await api('post', 'offers', { body: { name: 'Auto' } })).body;
  const body = { offer_id: offer.id, caller_number: '+13105550188' };
  const { call_session } = (await api('post', 'call_sessions', { body })).body;
  await world.sql(
    `UPDATE calls SET created_at = created_at - interval '3 years',
      ended_at = coalesce(ended_at, created_at) - interval '3 years' WHERE id = $1`,
    [call_session.id],
  );
  const readStatus = async () => (await api('get', `calls/${call_session.id}`)).status;
  await deleteExpired(buildDeps(900));
  expect(await readStatus()).toBe(200);
  const loop = startHousekeeping(buildDeps(900));
  const faults = async () =>
    (await world.sql<{ name: string }>('SELECT name FROM loop_faults')).map(({ name }) => name);
  await eventually(async () => (await faults()).some((name) => name.startsWith('housekeeping')));
  await loop.stop();
  await deleteExpired(buildDeps(0));
  expect(await readStatus()).toBe(404);
});
