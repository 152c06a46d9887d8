import { setTimeout as pause } from 'node:timers/promises';
import { startPair } from '../../support/failover-pair';
import { killServer, promote, type Server } from '../../support/standby';

// Without synchronous replication, a failover loses what the standby did not have yet. What a
// process remembers of it must not outlive it: the ids of the lost transactions are given again.

type Session = { call_session?: { instruction: { action: string } } };

test('after a promotion that lost transactions, caps and set-up are those of the new server', async () => {
  const pair = await startPair({ is_synchronous: false, environment: { LOG_LEVEL: 'silent' } });
  const { primary, standby, create, send } = pair;
  const capped = { number: '+12125550101', attempt_total_limit: 2 };
  const buyer = await create('buyers', { name: 'Capped', ...capped });
  const offerId = await create('offers', { name: 'Auto', buyer_ids: [buyer] });
  const call = async () => {
    const { status, body } = await send('POST', 'call_sessions', { offer_id: offerId });
    return [status, (body as Session).call_session?.instruction.action];
  };
  const DIALED = [201, 'dial'];
  expect(await call()).toEqual(DIALED);
  await stopReplication(primary, standby);
  // The process knows that the cap is used up, and of one change of the set-up: both are lost.
  expect(await call()).toEqual(DIALED);
  expect((await send('PUT', `buyers/${buyer}`, { name: 'Lost' })).status).toBe(200);
  expect(await call()).not.toEqual(DIALED);
  killServer(primary);
  await promote(standby);
  const until = async (work: () => Promise<unknown[]>): Promise<unknown[]> => {
    for (;;) {
      const result = await work();
      if (result[0] !== 503) return result;
      await pause(50);
    }
  };
  // On the new server there was one call, and the cap is two.
  expect(await until(call)).toEqual(DIALED);
  expect(await call()).not.toEqual(DIALED);
  const [used] = await standby.sql<{ n: number }>('SELECT count(*)::int AS n FROM call_attempts');
  expect(used!.n).toBe(2);
  // The set-up is changed again: the process must not take it for the one that it remembers.
  const changes = { attempt_total_limit: 9, paused: true };
  expect((await send('PUT', `buyers/${buyer}`, changes)).status).toBe(200);
  expect(await call()).not.toEqual(DIALED);
  await pair.close();
});

/** Has the standby lose what comes from now on. */
async function stopReplication(primary: Server, standby: Server): Promise<void> {
  const [position] = await primary.sql<{ at: string }>('SELECT pg_current_wal_lsn()::text AS at');
  const has = async () => {
    const [row] = await standby.sql<{ all: boolean }>(
      `SELECT pg_last_wal_replay_lsn() >= '${position!.at}' AS all`,
    );
    return row!.all;
  };
  while (!(await has())) await pause(20);
  await standby.sql(`ALTER SYSTEM SET primary_conninfo = ''`);
  await standby.sql('SELECT pg_reload_conf()');
  const senders = () => primary.sql('SELECT FROM pg_stat_replication');
  while ((await senders()).length > 0) await pause(20);
}
