import type { Pool, PoolClient } from 'pg';
import { template, type BoundStatement } from '../../db/statement';
import { inTransaction } from '../../db/transaction';
import { SLOT } from '../../db/counters';

// Which process sends what a webhook has to send, and what came of it. A process that has lost its lease writes nothing.

/** A webhook whose deliveries this process sends until the lease is over. */
export interface Lease {
  company_id: string;
  outgoing_webhook_id: string;
  uuid: string;
  origin: string;
  secret_version: number;
  secret_rotated_at: Date | null;
  timeout_seconds: number;
  success_codes: number[];
  retries: number;
  alert_email: string | null;
}

const SETTINGS =
  'w.uuid::text, w.origin, w.secret_version, w.secret_rotated_at, w.timeout_seconds, w.success_codes, w.retries, w.alert_email';
const LIVING =
  'w.company_id = q.company_id AND w.id = q.outgoing_webhook_id AND w.deleted_at IS NULL AND NOT w.paused';

const CLAIM = template(
  `WITH due AS (SELECT q.company_id, q.outgoing_webhook_id FROM webhook_queues q JOIN outgoing_webhooks w ON ${LIVING}
      WHERE q.next_due_at <= {now}::timestamptz AND (q.leased_until IS NULL OR q.leased_until <= {now}::timestamptz OR q.leased_by = {worker}::uuid) AND w.origin <> ALL({full}::text[])
        AND NOT EXISTS (SELECT FROM unnest({served}::text[]) s WHERE s = q.company_id || '/' || q.outgoing_webhook_id)
      ORDER BY q.next_due_at LIMIT {most}::int FOR NO KEY UPDATE OF q SKIP LOCKED)
    UPDATE webhook_queues q SET leased_by = {worker}::uuid, leased_until = {until}::timestamptz FROM due, outgoing_webhooks w
      WHERE q.company_id = due.company_id AND q.outgoing_webhook_id = due.outgoing_webhook_id AND ${LIVING} RETURNING q.company_id::text, q.outgoing_webhook_id::text, ${SETTINGS}`,
  { prepared: true },
);

export interface Claiming {
  worker: string;
  now: Date;
  until: Date;
  /** Origins that get no more for now. */
  full: readonly string[];
  /** Queues that the process serves already, as company/webhook. */
  served: readonly string[];
  most: number;
}

export const queueKey = ({
  company_id,
  outgoing_webhook_id,
}: Pick<Lease, 'company_id' | 'outgoing_webhook_id'>): string =>
  `${company_id}/${outgoing_webhook_id}`;

/** Takes queues in which something may be due, those first that wait longest. */
export async function claimQueues(pool: Pool, { now, until, ...rest }: Claiming): Promise<Lease[]> {
  return (
    await pool.query<Lease>(CLAIM({ ...rest, now: now.toISOString(), until: until.toISOString() }))
  ).rows;
}

const RENEW = template(
  `UPDATE webhook_queues q SET leased_until = {until}::timestamptz FROM outgoing_webhooks w, unnest({companies}::bigint[], {webhooks}::bigint[]) AS x(c, i)
    WHERE q.company_id = x.c AND q.outgoing_webhook_id = x.i AND q.leased_by = {worker}::uuid AND ${LIVING} RETURNING q.company_id::text, q.outgoing_webhook_id::text`,
  { prepared: true },
);

/** Puts off the end of leases; answers the queues that may still be served, as company/webhook: not those that were taken over, paused or deleted. */
export async function renewLeases(
  pool: Pool,
  leases: readonly Lease[],
  { worker, until }: Pick<Claiming, 'worker' | 'until'>,
): Promise<Set<string>> {
  const companies = leases.map(({ company_id }) => company_id);
  const webhooks = leases.map(({ outgoing_webhook_id }) => outgoing_webhook_id);
  const { rows } = await pool.query<Lease>(
    RENEW({ worker, until: until.toISOString(), companies, webhooks }),
  );
  return new Set(rows.map(queueKey));
}

/** What is to be sent, as it is kept. */
export interface DueDelivery {
  id: string;
  uuid: string;
  request_method: string;
  request_url: string;
  request_headers: Record<string, string>;
  request_body: string | null;
  attempts: number;
}

const COLUMNS =
  'd.id::text, d.uuid::text, d.request_method, d.request_url, d.request_headers, d.request_body, d.attempts';
const ITS =
  'd.company_id = {company_id}::bigint AND d.outgoing_webhook_id = {outgoing_webhook_id}::bigint AND d.due_at IS NOT NULL';
const NOT_SENT = 'd.id <> ALL({sent}::bigint[])';
/** Each by an index of its own: those that were never tried in the order of their events, the others as they become due. */
const DUE = template(
  `SELECT ${COLUMNS} FROM (
      (SELECT * FROM webhook_deliveries d WHERE ${ITS} AND d.attempts = 0 AND d.id > {after}::bigint AND ${NOT_SENT} ORDER BY d.id LIMIT {most}::int)
      UNION ALL (SELECT * FROM webhook_deliveries d WHERE ${ITS} AND d.attempts > 0 AND d.due_at <= {now}::timestamptz AND ${NOT_SENT} ORDER BY d.due_at LIMIT {most}::int)) d
    ORDER BY d.id LIMIT {most}::int`,
  { prepared: true },
);

/**
 * What a webhook has to send now, in the order of its events; `sent` are those whose results are not written yet, and of those that were never tried only
 * what comes `after` an id is looked for: what is behind it would be passed by each time until the table is vacuumed.
 */
export async function dueDeliveries(
  pool: Pool,
  { company_id, outgoing_webhook_id }: Lease,
  { now, sent, after, most }: { now: Date; sent: readonly string[]; after: string; most: number },
): Promise<DueDelivery[]> {
  return (
    await pool.query<DueDelivery>(
      DUE({ company_id, outgoing_webhook_id, now: now.toISOString(), sent, after, most }),
    )
  ).rows;
}

const HOLD = template(
  'SELECT 1 FROM webhook_queues WHERE company_id = {company_id}::bigint AND outgoing_webhook_id = {outgoing_webhook_id}::bigint AND leased_by = {worker}::uuid FOR NO KEY UPDATE',
  { prepared: true },
);
const LET_GO = template(
  `UPDATE webhook_queues q SET leased_by = NULL, leased_until = NULL, next_due_at = CASE
      WHEN NOT EXISTS (SELECT FROM outgoing_webhooks w WHERE ${LIVING}) THEN NULL
      WHEN EXISTS (SELECT FROM webhook_deliveries d WHERE ${ITS} AND d.attempts = 0) THEN {now}::timestamptz
      ELSE (SELECT min(d.due_at) FROM webhook_deliveries d WHERE ${ITS} AND d.attempts > 0) END
    WHERE q.company_id = {company_id}::bigint AND q.outgoing_webhook_id = {outgoing_webhook_id}::bigint`,
  { prepared: true },
);

/** Gives a queue back, with the time at which it is to be looked at next. In two statements: the second sees what those have written who held the row before. */
export async function letGoOfQueue(
  pool: Pool,
  { company_id, outgoing_webhook_id }: Lease,
  { worker, now }: { worker: string; now: Date },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rows } = await client.query(HOLD({ company_id, outgoing_webhook_id, worker }));
    if (rows.length > 0)
      await client.query(LET_GO({ company_id, outgoing_webhook_id, now: now.toISOString() }));
  });
}

/** What came of an attempt. */
export interface Result {
  company_id: string;
  outgoing_webhook_id: string;
  delivery_id: string;
  /** Of the log. */
  uuid: string;
  attempt: number;
  started_at: string;
  /** Milliseconds. */
  duration: number;
  code: number | null;
  success: boolean;
  notes: string | null;
  request_headers: Record<string, string>;
  response_headers: Record<string, string> | null;
  response_body: string | null;
  status: 'waiting' | 'delivered' | 'dead';
  due_at: string | null;
}

const RESULTS = `json_to_recordset({rows}::json) AS x(n int, company_id bigint, outgoing_webhook_id bigint, delivery_id bigint, uuid uuid, attempt int, started_at timestamptz, duration int, code int, success boolean,
  notes text, request_headers jsonb, response_headers jsonb, response_body text, status text, due_at timestamptz)`;

const WRITE = template(
  `WITH x AS MATERIALIZED (SELECT * FROM ${RESULTS}),
    mine AS MATERIALIZED (SELECT q.company_id, q.outgoing_webhook_id FROM webhook_queues q WHERE (q.company_id, q.outgoing_webhook_id) IN (SELECT x.company_id, x.outgoing_webhook_id FROM x)
      AND q.leased_by = {worker}::uuid ORDER BY q.company_id, q.outgoing_webhook_id FOR NO KEY UPDATE),
    held AS MATERIALIZED (SELECT x.*, d.webhook_manual_fire_id, d.trigger_type, d.uuid AS event_id, d.lead_id, d.call_id, d.buyer_id, d.offer_id,
        CASE WHEN d.webhook_manual_fire_id IS NOT NULL AND d.lead_id IS NOT NULL THEN nextval('lead_logs_id_seq') END AS lead_log_id
      FROM x JOIN mine USING (company_id, outgoing_webhook_id) JOIN webhook_deliveries d ON d.company_id = x.company_id AND d.id = x.delivery_id),
    kept AS (UPDATE webhook_deliveries d SET status = h.status, attempts = h.attempt, due_at = h.due_at FROM held h WHERE d.company_id = h.company_id AND d.id = h.delivery_id),
    logged AS (INSERT INTO webhook_logs (company_id, uuid, created_at, outgoing_webhook_id, webhook_delivery_id, webhook_manual_fire_id, lead_log_id, trigger_type, event_id, attempt, lead_id, call_id, buyer_id, offer_id,
        request_headers, code, response_headers, response_body, started_at, duration, success, notes)
      SELECT h.company_id, h.uuid, h.started_at, h.outgoing_webhook_id, h.delivery_id, h.webhook_manual_fire_id, h.lead_log_id, h.trigger_type, h.event_id, h.attempt, h.lead_id, h.call_id, h.buyer_id, h.offer_id,
        h.request_headers, h.code, h.response_headers, h.response_body, h.started_at, h.duration, h.success, h.notes FROM held h ORDER BY h.n),
    told AS (INSERT INTO lead_logs (company_id, id, created_at, lead_id, event, message, call_id, details)
      SELECT h.company_id, h.lead_log_id, h.started_at, h.lead_id, CASE WHEN h.success THEN 'webhook_delivered' ELSE 'webhook_failed' END, coalesce(h.notes, 'answered ' || h.code), h.call_id,
        jsonb_build_object('outgoing_webhook_id', h.outgoing_webhook_id, 'webhook_manual_fire_id', h.webhook_manual_fire_id, 'attempt', h.attempt, 'code', h.code)
      FROM held h WHERE h.lead_log_id IS NOT NULL ORDER BY h.n),
    counted AS (INSERT INTO record_counts (company_id, resource, slot, n) SELECT company_id, 'webhook_logs', ${SLOT}, count(*) FROM held GROUP BY company_id ORDER BY company_id
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n)
  SELECT h.company_id::text, h.outgoing_webhook_id::text, h.delivery_id::text, h.status FROM held h`,
  { prepared: true },
);

export type Written = Pick<Result, 'company_id' | 'outgoing_webhook_id' | 'delivery_id' | 'status'>;

/** Writes what came of attempts, of webhooks that are still this process's; answers those. */
export async function writeResults(
  client: PoolClient,
  worker: string,
  results: readonly Result[],
): Promise<Written[]> {
  const rows = JSON.stringify(results.map((result, n) => ({ ...result, n })));
  return (await client.query<Written>(WRITE({ worker, rows }))).rows;
}

const ALERT = template(
  `UPDATE webhook_queues q SET alerted_at = {now}::timestamptz FROM outgoing_webhooks w WHERE q.company_id = {company_id}::bigint AND q.outgoing_webhook_id = {outgoing_webhook_id}::bigint
    AND w.company_id = q.company_id AND w.id = q.outgoing_webhook_id AND w.alert_email IS NOT NULL AND (q.alerted_at IS NULL OR q.alerted_at < {now}::timestamptz - interval '1 hour') RETURNING 1`,
  { prepared: true },
);

/** Whether somebody is to be told that a delivery of a webhook is dead: once an hour. */
export const isToBeAlerted = async (
  query: (statement: BoundStatement) => Promise<{ rows: unknown[] }>,
  of: Pick<Written, 'company_id' | 'outgoing_webhook_id'>,
  now: Date,
): Promise<boolean> => (await query(ALERT({ ...of, now: now.toISOString() }))).rows.length > 0;
