import type { Pool } from 'pg';
import { template } from '../../db/statement';

/** Calls that one statement tells of. */
const BATCH = 500;

/**
 * Leads that are locked, as while a carrier is asked to text them, are left for the next time. A row stays until its lead has been told, and a change that
 * comes meanwhile waits for this and makes it anew.
 */
const TELL = template(
  `WITH due AS (SELECT w.company_id, w.call_id FROM lead_calls w ORDER BY w.company_id, w.call_id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED),
  news AS MATERIALIZED (SELECT d.company_id, d.call_id, c.lead_id, c.buyer_id, c.created_at, c.connected_at FROM due d JOIN calls c ON c.company_id = d.company_id AND c.id = d.call_id),
  own AS (SELECT l.company_id, l.id FROM leads l WHERE (l.company_id, l.id) IN (SELECT company_id, lead_id FROM news) ORDER BY l.company_id, l.id FOR NO KEY UPDATE SKIP LOCKED),
  sums AS (SELECT n.company_id, n.lead_id, max(n.call_id) AS attempted, max(n.call_id) FILTER (WHERE n.connected_at IS NOT NULL) AS connected, max(n.created_at) AS called_at,
      (array_agg(n.buyer_id ORDER BY n.connected_at IS NULL, n.call_id DESC))[1] AS buyer_id
    FROM news n JOIN own o ON o.company_id = n.company_id AND o.id = n.lead_id GROUP BY 1, 2),
  told AS (UPDATE leads l SET attempted_call_id = greatest(l.attempted_call_id, s.attempted), connected_call_id = greatest(l.connected_call_id, s.connected), last_call_at = greatest(l.last_call_at, s.called_at),
      buyer_id = coalesce(s.buyer_id, l.buyer_id), updated_at = {now}::timestamptz,
      status = CASE WHEN l.status IN ('completed', 'completed_attempted') AND s.connected IS NOT NULL THEN 'completed_connected' WHEN l.status = 'completed' THEN 'completed_attempted' ELSE l.status END
    FROM sums s WHERE l.company_id = s.company_id AND l.id = s.lead_id),
  logs AS (INSERT INTO lead_logs (company_id, created_at, lead_id, event, message, call_id)
    SELECT n.company_id, {now}::timestamptz, n.lead_id, 'call_changed', CASE WHEN n.connected_at IS NULL THEN 'came in: a buyer is called' ELSE 'came in: connected to a buyer' END, n.call_id
    FROM news n JOIN own o ON o.company_id = n.company_id AND o.id = n.lead_id ORDER BY n.call_id),
  gone AS (DELETE FROM lead_calls w USING news n WHERE w.company_id = n.company_id AND w.call_id = n.call_id AND (n.lead_id IS NULL OR EXISTS (SELECT FROM own o WHERE o.company_id = n.company_id AND o.id = n.lead_id)) RETURNING 1)
  SELECT count(*)::int AS n FROM gone`,
  { prepared: true },
);

/** Tells leads of all companies of the calls that have come from them: which was tried with a buyer last, which was connected, and to whom. Answers of how many calls. */
export async function applyCallsToLeads(pool: Pool, now: Date): Promise<number> {
  return (await pool.query<{ n: number }>(TELL({ now: now.toISOString() }))).rows[0]!.n;
}
