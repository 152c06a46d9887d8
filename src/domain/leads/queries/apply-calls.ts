import { sql, statement } from '../../../data/sql';
import { NOT_LOGGED, storeLeads } from './record-leads';

/** An outbound call with a fixed destination was answered by a person. */
const IS_PERSON = sql`(c.direction = 'outbound' AND c.answered_by IN ('human', 'unknown'))`;

/**
 * Locks at most 500 calls that are not applied to their leads yet, and those leads. Calls of a lead
 * that is locked, for example while it is being texted, are left for the next run.
 */
export const LOCK_NEW_CALLS = statement(
  'leads.lock_new_calls',
  sql`
    WITH waiting AS (
      SELECT w.company_id, w.call_id
      FROM lead_calls w
      ORDER BY w.company_id, w.call_id
      LIMIT 500
      FOR UPDATE SKIP LOCKED
    ),
    new_calls AS MATERIALIZED (
      SELECT
        w.company_id, w.call_id, c.lead_id, c.buyer_id, c.created_at,
        c.connected_at IS NOT NULL
          OR (c.connect_to IS NOT NULL AND NOT c.routed AND ${IS_PERSON}) AS connected,
        c.direction, c.status AS call_status, c.answered_by, c.abandoned, c.schedule_action_id,
        c.ended_at IS NOT NULL AS over
      FROM waiting w
      JOIN calls c ON c.company_id = w.company_id AND c.id = w.call_id
    ),
    locked AS (
      SELECT l.company_id, l.id, l.status, l.due_at, l.schedule_id
      FROM leads l
      WHERE (l.company_id, l.id) IN (SELECT company_id, lead_id FROM new_calls)
      ORDER BY l.company_id, l.id
      FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT n.company_id, n.call_id, n.lead_id, n.buyer_id, n.created_at, n.connected, n.direction,
      n.call_status, n.answered_by, n.abandoned, n.schedule_action_id, n.over,
      l.status, l.due_at, l.schedule_id
    FROM new_calls n
    LEFT JOIN locked l ON l.company_id = n.company_id AND l.id = n.lead_id
    WHERE n.lead_id IS NULL OR l.id IS NOT NULL
    ORDER BY n.call_id
  `,
  { prepared: true },
).returning<{
  company_id: string;
  call_id: string;
  created_at: Date;
  connected: boolean;
  direction: 'inbound' | 'outbound';
  call_status: string;
  abandoned: boolean;
  over: boolean;
}>();

/** Calls never move a lead back: the greatest ids and the latest time stay. */
export const APPLY_CALLS = statement(
  'leads.apply_calls',
  storeLeads(
    sql`
      SELECT
        l AS was,
        jsonb_populate_record(l, jsonb_build_object(
          'attempted_call_id', greatest(l.attempted_call_id, a.attempted_call_id),
          'connected_call_id', greatest(l.connected_call_id, a.connected_call_id),
          'last_call_at', greatest(l.last_call_at, a.last_call_at),
          'buyer_id', coalesce(a.buyer_id, l.buyer_id),
          'status', a.status,
          'updated_at', {now}::timestamptz
        )) AS is_now
      FROM jsonb_to_recordset({leads}::jsonb) AS a(
        company_id bigint, id bigint, attempted_call_id bigint, connected_call_id bigint,
        last_call_at timestamptz, buyer_id bigint, status text
      )
      JOIN leads l ON l.company_id = a.company_id AND l.id = a.id`,
    NOT_LOGGED,
  ),
  { prepared: true },
);

export const DELETE_NEW_CALLS = statement(
  'leads.delete_new_calls',
  sql`
    DELETE FROM lead_calls w
    USING unnest({company_ids}::bigint[], {call_ids}::bigint[]) AS x(company_id, call_id)
    WHERE w.company_id = x.company_id AND w.call_id = x.call_id
  `,
  { prepared: true },
);
