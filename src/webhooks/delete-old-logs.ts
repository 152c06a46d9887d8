import type { PoolClient } from 'pg';
import { inTransaction } from '../db/transaction';
import type { Deps } from '../deps';
import { SLOT } from '../db/counters';

type Context = Pick<Deps, 'database' | 'clock'>;

const DAY_MS = 24 * 3_600_000;
const AT_ONCE = 1_000;

const companiesOf = (
  table: string,
) => `WITH RECURSIVE x AS ((SELECT company_id FROM ${table} ORDER BY company_id LIMIT 1)
    UNION ALL SELECT (SELECT t.company_id FROM ${table} t WHERE t.company_id > x.company_id ORDER BY t.company_id LIMIT 1) FROM x WHERE x.company_id IS NOT NULL)
  SELECT company_id::text FROM x WHERE company_id IS NOT NULL`;

/** Rows are written about in the order of their time: they are looked at from the oldest on, until one is young. */
const oldest = (table: string, columns: string) =>
  `SELECT t.id::text, t.created_at < $3::timestamptz AS old, ${columns} AS ended FROM ${table} t WHERE t.company_id = $1 AND t.id > $2::bigint ORDER BY t.id LIMIT ${AT_ONCE}`;

/** Whoever has one delivered once more holds its log first, and so does this. */
const HOLD_LOGS =
  'SELECT 1 FROM webhook_logs WHERE company_id = $1 AND webhook_delivery_id = ANY($2::bigint[]) ORDER BY id FOR UPDATE';
const COUNTED = `counted AS (INSERT INTO record_counts (company_id, resource, slot, n) SELECT $1, 'webhook_logs', ${SLOT}, -count(*) FROM unlogged HAVING count(*) > 0
    ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n)`;
const FORGET_DELIVERIES = `WITH gone AS (DELETE FROM webhook_deliveries d WHERE d.company_id = $1 AND d.id = ANY($2::bigint[]) AND d.status <> 'waiting'
      AND NOT EXISTS (SELECT FROM webhook_logs l WHERE l.company_id = d.company_id AND l.webhook_delivery_id = d.id AND l.created_at >= $3::timestamptz) RETURNING d.id),
    unlogged AS (DELETE FROM webhook_logs l USING gone WHERE l.company_id = $1 AND l.webhook_delivery_id = gone.id RETURNING 1),
    ${COUNTED}
  SELECT count(*) FROM gone`;
const FORGET_QUESTIONS = `WITH unlogged AS (DELETE FROM webhook_logs l WHERE l.company_id = $1 AND l.id = ANY($2::bigint[]) RETURNING 1), ${COUNTED} SELECT count(*) FROM unlogged`;

type Forget = (client: PoolClient, company_id: string, ids: readonly string[]) => Promise<unknown>;

/**
 * Deletes what was delivered or is dead with its logs, and the questions before buyers were dialed, once they are `days` old: a delivery when the last
 * attempt is. What waits is kept.
 */
export async function deleteOldWebhookLogs(
  { database, clock }: Context,
  days: number,
): Promise<void> {
  const before = new Date(clock().getTime() - days * DAY_MS).toISOString();
  const sweep = async (table: string, ended: string, forget: Forget) => {
    const { rows } = await database.pool.query<{ company_id: string }>(companiesOf(table));
    for (const { company_id } of rows)
      await sweepCompany({ company_id, look: oldest(table, ended), before }, database, forget);
  };
  await sweep('webhook_deliveries', `t.status <> 'waiting'`, async (client, company_id, ids) => {
    await client.query(HOLD_LOGS, [company_id, ids]);
    await client.query(FORGET_DELIVERIES, [company_id, ids, before]);
  });
  await sweep('webhook_logs', 't.webhook_delivery_id IS NULL', (client, company_id, ids) =>
    client.query(FORGET_QUESTIONS, [company_id, ids]),
  );
}

interface Sweeping {
  company_id: string;
  look: string;
  before: string;
}

async function sweepCompany(
  { company_id, look, before }: Sweeping,
  database: Deps['database'],
  forget: Forget,
): Promise<void> {
  for (let after = '0', more = true; more;) {
    const { rows } = await database.pool.query<{ id: string; old: boolean; ended: boolean }>(look, [
      company_id,
      after,
      before,
    ]);
    const ids = rows.filter(({ old, ended }) => old && ended).map(({ id }) => id);
    if (ids.length > 0)
      await inTransaction(database.pool, (client) => forget(client, company_id, ids));
    const last = rows.at(-1);
    more = rows.length === AT_ONCE && last!.old;
    after = last?.id ?? after;
  }
}
