import { Pool } from 'pg';
import { median, percentile, round } from './tools';
import type { BenchWorld } from './world';

export interface FloorFigures {
  req_s: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
}

interface Run {
  offer_id: string;
  connections: number;
  seconds: number;
}

/**
 * The floor of decisions: transactions that only write one row of caps, the call and its attempt,
 * for a buyer that is chosen beforehand.
 */
export async function measureDecisionFloor(
  world: BenchWorld,
  { offer_id, connections, seconds }: Run,
): Promise<FloorFigures> {
  const pool = new Pool({
    connectionString: world.url,
    max: connections,
    options: '-c timezone=UTC',
  });
  const times: number[] = [];
  const started = performance.now();
  const lane = async () => {
    while (performance.now() - started < seconds * 1000) {
      const startedAt = performance.now();
      await decide(pool, world, offer_id);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  const elapsed = (performance.now() - started) / 1000;
  await pool.end();
  return {
    req_s: Math.round(times.length / elapsed),
    p50_ms: round(median(times)),
    p99_ms: round(percentile(times, 0.99)),
    errors: 0,
  };
}

async function decide(
  pool: Pool,
  { company_id, first_id }: BenchWorld,
  offerId: string,
): Promise<void> {
  const buyerId = first_id + Math.floor(Math.random() * 1_000);
  const client = await pool.connect();
  await client.query('BEGIN');
  await client.query({
    name: 'cap',
    text: `UPDATE call_limits SET attempt_daily_used = attempt_daily_used + 1
      WHERE company_id = $1 AND buyer_id = $2`,
    values: [company_id, buyerId],
  });
  const { rows } = await client.query({
    name: 'call',
    text: `INSERT INTO calls (company_id, uuid, direction, status, carrier, from_number,
      caller_number, offer_id, buyer_id)
      VALUES ($1, uuidv7(), 'inbound', 'ringing', 'softswitch', $2, $2, $3, $4)
      RETURNING id`,
    values: [company_id, 13105550188, offerId, buyerId],
  });
  await client.query({
    name: 'attempt',
    text: `INSERT INTO call_attempts (company_id, uuid, call_id, round, buyer_id, connect_to,
      status, timeout_seconds, press_one_to_accept, dial)
      VALUES ($1, uuidv7(), $2, 1, $3, '+13105550111', 'ringing', 30, false, '{}')`,
    values: [company_id, rows[0].id, buyerId],
  });
  await client.query('COMMIT');
  client.release();
}
