import { sql, statement } from '../../db/sql';
import type { Suppression } from '../engine/candidate';
import { EARNINGS_PER_CALL, OPEN_HOURS, PAYS } from './candidate-facts';
import { USED_UP_CAP, type CapJson } from './used-up-cap';

/** What calls changed of a buyer or a group; `limit_id` is its row of call_limits. */
export interface OwnerState {
  limit_id: number;
  cap: CapJson | null;
  last_call_at: string | null;
}

/** The lists of a buyer that hold the number at a place, from 1. */
export interface BuyerLists {
  place: number;
  buyer_id: number;
  lists: Suppression[];
}

/** Earnings per call of buyers that are ranked by it, in dollars. */
export const EARNINGS = statement(
  'routing.earnings_per_call',
  sql`
    SELECT b.id::float8 AS id, (${EARNINGS_PER_CALL})::float8 AS epc
    FROM buyers b
    WHERE b.company_id = {company_id} AND b.id = ANY({ids}::bigint[])
  `,
  { prepared: true, nullable: ['epc'] },
).returning<{ id: number; epc: number | null }>();

/** How many transactions have changed the set-up of routing in the company; triggers count them. */
export const CHANGES = statement(
  'routing.changes',
  sql`
    SELECT coalesce(sum(n), 0)::text AS changes
    FROM routing_changes
    WHERE company_id = {company_id}
  `,
  { prepared: true },
);

/**
 * What calls changed of some buyers and groups, and which suppression lists hold some numbers.
 *
 * `since` is the oldest transaction that is still running: given to the next read, that returns
 * only rows of caps that were written later. A first read (`since` null) returns rows that have
 * something to say: a cap that is used up, or a last call within the longest spacing, one day.
 * `suppressed` has places in `numbers`, from 1.
 */
export const CALL_STATE = statement(
  'routing.call_state',
  sql`
    WITH holding AS MATERIALIZED (
      SELECT asked.place, s.id, s.name
      FROM unnest({numbers}::bigint[]) WITH ORDINALITY AS asked(number, place)
      JOIN buyer_suppressions s
        ON s.company_id = {company_id} AND s.deleted_at IS NULL AND s.blocked > 0
        AND EXISTS (
          SELECT FROM buyer_suppression_numbers n
          WHERE n.company_id = {company_id} AND n.buyer_suppression_id = s.id
            AND n.number = asked.number
          OFFSET 0
        )
    )
    SELECT
      (
        SELECT coalesce(sum(n), 0)::text
        FROM routing_changes
        WHERE company_id = {company_id}
      ) AS changes,
      pg_snapshot_xmin(pg_current_snapshot())::text AS since,
      coalesce((
        SELECT json_agg(json_build_object(
          'limit_id', l.id,
          'cap', used_up.cap,
          'last_call_at', l.last_call_at
        ))
        FROM call_limits l
        CROSS JOIN LATERAL (SELECT l.company_id, l.buyer_id AS id) b
        LEFT JOIN LATERAL (${OPEN_HOURS}) o ON true
        CROSS JOIN LATERAL (
          SELECT
            CASE WHEN l.buyer_id IS NULL THEN l.attempt_hourly_limit
              ELSE o.attempt_hourly_limit END AS attempt_hourly_limit,
            CASE WHEN l.buyer_id IS NULL THEN l.buyer_conversion_hourly_limit
              ELSE o.buyer_conversion_hourly_limit END AS buyer_conversion_hourly_limit,
            CASE WHEN l.buyer_id IS NULL THEN l.connection_hourly_limit
              ELSE o.connection_hourly_limit END AS connection_hourly_limit,
            CASE WHEN l.buyer_id IS NULL THEN l.earned_revenue_hourly_limit
              ELSE o.earned_revenue_hourly_limit END AS earned_revenue_hourly_limit,
            CASE WHEN l.buyer_id IS NULL THEN l.revenue_hourly_limit
              ELSE o.revenue_hourly_limit END AS revenue_hourly_limit
        ) hourly
        CROSS JOIN LATERAL (${PAYS}) pays
        ${USED_UP_CAP}
        WHERE l.company_id = {company_id} AND l.id = ANY({limit_ids}::bigint[])
          AND ({since}::xid8 IS NULL OR age(l.xmin) <= age({since}::xid8::xid))
          AND (
            {since}::xid8 IS NOT NULL
            OR used_up.cap IS NOT NULL
            OR l.last_call_at > {now}::timestamptz - interval '1 day'
          )
      ), '[]') AS caps,
      coalesce((
        SELECT json_agg(x)
        FROM (
          SELECT
            h.place,
            attached.buyer_id,
            json_agg(json_build_object('id', h.id, 'name', h.name) ORDER BY h.id) AS lists
          FROM holding h
          CROSS JOIN LATERAL (
            SELECT a.buyer_id
            FROM buyer_suppression_buyers a
            WHERE a.company_id = {company_id} AND a.buyer_suppression_id = h.id
            OFFSET 0
          ) attached
          GROUP BY h.place, attached.buyer_id
        ) x
      ), '[]') AS suppressed
  `,
  { prepared: true },
).returning<{ caps: OwnerState[]; suppressed: BuyerLists[] }>();
