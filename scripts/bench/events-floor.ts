import type { Pool, PoolClient } from 'pg';
import { CONVERSION } from './events-world';
import type { BenchWorld } from './world';

// The floor of call events: the fewest statements that write the same rows, in one transaction per
// event, for a call whose rows are known beforehand.

export interface PreparedCall {
  call_id: string;
  attempt_id: string;
  buyer_id: string;
  buyer_conversion_id: string;
  /** Ids of the caps of the buyer and of its group. */
  limits: string[];
}

export const FIND_PREPARED_CALLS = `
  SELECT a.call_id, a.id AS attempt_id, a.buyer_id, x.id AS buyer_conversion_id,
    array(SELECT s.call_limit_id FROM call_slots s
      WHERE s.company_id = a.company_id AND s.call_id = a.call_id) AS limits
  FROM call_attempts a
  JOIN buyer_conversions x ON x.company_id = a.company_id AND x.buyer_id = a.buyer_id
  WHERE a.company_id = $1 AND a.call_id = ANY($2::bigint[])`;

type Run = (name: string, text: string, values: unknown[]) => Promise<unknown>;

const insertEvents = (run: Run, { company_id }: BenchWorld, call: PreparedCall, names: string[]) =>
  run(
    'event',
    `INSERT INTO call_events (company_id, call_id, event, buyer_id, details)
      SELECT $1, $2, event, $3, '{}' FROM unnest($4::text[]) event`,
    [company_id, call.call_id, call.buyer_id, names],
  );

const writeAnswered = async (run: Run, world: BenchWorld, call: PreparedCall) => {
  const { company_id } = world;
  await run('ring', 'UPDATE calls SET updated_at = now() WHERE company_id = $1 AND id = $2', [
    company_id,
    call.call_id,
  ]);
  await run(
    'answer',
    `UPDATE call_attempts SET status = 'answered', answered_at = now()
      WHERE company_id = $1 AND id = $2`,
    [company_id, call.attempt_id],
  );
  await renewLease(run, world, call);
  await insertEvents(run, world, call, ['answered']);
};

const renewLease = (run: Run, { company_id }: BenchWorld, { call_id }: PreparedCall) =>
  run(
    'lease',
    `UPDATE call_slots SET connections = 0, lease_until = now() + interval '4 hours'
      WHERE company_id = $1 AND call_id = $2`,
    [company_id, call_id],
  );

const writeAccepted = async (run: Run, world: BenchWorld, call: PreparedCall) => {
  const { company_id } = world;
  await run(
    'talk',
    `UPDATE calls SET status = 'in_progress', buyer_id = $3, answered_at = now(),
      connected_at = now(), updated_at = now() WHERE company_id = $1 AND id = $2`,
    [company_id, call.call_id, call.buyer_id],
  );
  await run(
    'connect',
    `UPDATE call_attempts SET status = 'connected', connected_at = now()
      WHERE company_id = $1 AND id = $2`,
    [company_id, call.attempt_id],
  );
  await renewLease(run, world, call);
  await run(
    'connection',
    `UPDATE call_limits SET connection_total_used = connection_total_used + 1,
      connection_monthly_used = connection_monthly_used + 1,
      connection_daily_used = connection_daily_used + 1,
      pending_connections = greatest(0, pending_connections - 1)
      WHERE company_id = $1 AND id = ANY($2::bigint[])`,
    [company_id, call.limits],
  );
  await insertEvents(run, world, call, ['key_press']);
};

const writeCompleted = async (run: Run, world: BenchWorld, call: PreparedCall) => {
  const { company_id } = world;
  const { revenue, payout } = CONVERSION;
  await run(
    'end',
    `UPDATE calls SET status = 'completed', ended_at = now(), updated_at = now(),
      answered_duration = 120, total_duration = 120, hangup_cause = 'completed',
      buyer_converted = true, traffic_source_converted = true, revenue = $3, buyer_revenue = $3,
      payout = $4 WHERE company_id = $1 AND id = $2`,
    [company_id, call.call_id, revenue, payout],
  );
  await run(
    'end_attempt',
    `UPDATE call_attempts SET status = 'completed', ended_at = now()
      WHERE company_id = $1 AND id = $2`,
    [company_id, call.attempt_id],
  );
  await run(
    'conversion',
    `INSERT INTO conversions (company_id, uuid, call_id, buyer_id, buyer_conversion_id, revenue,
      payout)
      VALUES ($1, uuidv7(), $2, $3, $4, $5, $6)`,
    [company_id, call.call_id, call.buyer_id, call.buyer_conversion_id, revenue, payout],
  );
  await run('release', 'DELETE FROM call_slots WHERE company_id = $1 AND call_id = $2', [
    company_id,
    call.call_id,
  ]);
  await run(
    'caps',
    `UPDATE call_limits SET concurrency_cap_used = greatest(0, concurrency_cap_used - 1),
      buyer_conversion_total_used = buyer_conversion_total_used + 1,
      buyer_conversion_monthly_used = buyer_conversion_monthly_used + 1,
      buyer_conversion_daily_used = buyer_conversion_daily_used + 1,
      revenue_total_used = revenue_total_used + $3::numeric,
      earned_revenue_total_used = earned_revenue_total_used + $3::numeric - $4::numeric
      WHERE company_id = $1 AND id = ANY($2::bigint[])`,
    [company_id, call.limits, revenue, payout],
  );
  await insertEvents(run, world, call, ['completed', 'converted', 'payout']);
};

const EVENTS = { answered: writeAnswered, key_press: writeAccepted, completed: writeCompleted };

export async function writeEvent(
  pool: Pool,
  world: BenchWorld,
  { call, name }: { call: PreparedCall; name: keyof typeof EVENTS },
): Promise<void> {
  const client: PoolClient = await pool.connect();
  const run: Run = (statement, text, values) => client.query({ name: statement, text, values });
  try {
    await client.query('BEGIN');
    await EVENTS[name](run, world, call);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}
