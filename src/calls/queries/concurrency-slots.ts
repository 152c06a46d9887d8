import type { Pool } from 'pg';
import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';

// What a call holds of the caps of those it is dialed to: a row for each. Who deletes the row, or changes it, moves the caps with it.

const FREE = template(
  `WITH gone AS (DELETE FROM call_slots s USING call_limits l WHERE s.company_id = {company_id} AND s.call_id = {call_id}::bigint AND l.company_id = s.company_id AND l.id = s.call_limit_id
      AND NOT EXISTS (SELECT FROM call_attempts a WHERE a.company_id = s.company_id AND a.call_id = s.call_id AND a.ended_at IS NULL AND (a.buyer_id = l.buyer_id OR a.buyer_group_id = l.buyer_group_id))
      RETURNING s.*),
    locked AS (SELECT l.id FROM call_limits l WHERE l.company_id = {company_id} AND l.id IN (SELECT call_limit_id FROM gone) ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id FOR NO KEY UPDATE)
  UPDATE call_limits l SET concurrency_cap_used = greatest(0, l.concurrency_cap_used - 1), pending_connections = l.pending_connections - gone.connections,
    pending_conversions = l.pending_conversions - gone.conversions, pending_revenue = l.pending_revenue - gone.revenue
    FROM locked JOIN gone ON gone.call_limit_id = locked.id WHERE l.company_id = {company_id} AND l.id = locked.id`,
  { prepared: true },
);

/** Gives back the slots of a call that none of its open attempts needs any more: each once, since who deletes the row gives the slot back. */
export async function freeSlots(db: Statements, call_id: number): Promise<void> {
  await db.query(FREE({ company_id: db.company_id, call_id }));
}

const settled = (columns: string, pending: string) =>
  template(
    `WITH old AS (SELECT s.* FROM call_slots s JOIN call_limits l ON l.company_id = s.company_id AND l.id = s.call_limit_id
        WHERE s.company_id = {company_id} AND s.call_id = {call_id}::bigint AND (l.buyer_id = {buyer_id}::bigint OR l.buyer_group_id = {buyer_group_id}::bigint)),
      locked AS (SELECT l.id FROM call_limits l WHERE l.company_id = {company_id} AND l.id IN (SELECT call_limit_id FROM old) ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id FOR NO KEY UPDATE),
      s AS (UPDATE call_slots s SET ${columns} FROM old WHERE s.company_id = {company_id} AND s.call_id = {call_id}::bigint AND s.call_limit_id = old.call_limit_id)
    UPDATE call_limits l SET ${pending} FROM locked JOIN old ON old.call_limit_id = locked.id WHERE l.company_id = {company_id} AND l.id = locked.id`,
    { prepared: true },
  );

const SETTLED = {
  connection: settled(
    'connections = 0',
    'pending_connections = l.pending_connections - old.connections',
  ),
  conversion: settled(
    'conversions = 0, revenue = 0',
    'pending_conversions = l.pending_conversions - old.conversions, pending_revenue = l.pending_revenue - old.revenue',
  ),
};

/** What a call might come to has come: it is pending no more, and is counted as used in the same transaction. The call is locked. */
export async function settlePending(
  db: Statements,
  what: keyof typeof SETTLED,
  {
    call_id,
    buyer_id,
    buyer_group_id,
  }: { call_id: number; buyer_id: number; buyer_group_id: number | null },
): Promise<void> {
  await db.query(SETTLED[what]({ company_id: db.company_id, call_id, buyer_id, buyer_group_id }));
}

const DEAD = template(
  'SELECT DISTINCT s.company_id::text, s.call_id::text FROM (SELECT company_id, call_id FROM call_slots WHERE lease_until < {now}::timestamptz ORDER BY lease_until LIMIT {most}::int) s',
  { prepared: true },
);

/** Calls of all companies of which nothing was heard until their lease was over. */
export async function deadCalls(
  pool: Pool,
  now: Date,
  most: number,
): Promise<{ company_id: string; call_id: string }[]> {
  return (
    await pool.query<{ company_id: string; call_id: string }>(
      DEAD({ now: now.toISOString(), most }),
    )
  ).rows;
}

const IS_DEAD = template(
  'SELECT coalesce(max(lease_until) < {now}::timestamptz, false) AS dead FROM call_slots WHERE company_id = {company_id} AND call_id = {call_id}::bigint',
  { prepared: true },
);

/** Whether the lease of a call is over. */
export const isDead = async (db: Statements, call_id: string, now: Date): Promise<boolean> =>
  (
    await db.query<{ dead: boolean }>(
      IS_DEAD({ company_id: db.company_id, call_id, now: now.toISOString() }),
    )
  )[0]!.dead;
