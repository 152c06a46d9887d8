import { SERVER_RUN } from '../../../data/postgres/server-run';
import { sql, statement } from '../../../data/sql';
import type { Suppression } from '../engine/candidate';
import type { ReservedChoice } from '../engine/reserved-choice';
import type { Trunk } from '../engine/line';
import type { CallSource } from '../engine/source';
import { CALLER_COLUMNS, OFFER_COLUMNS, type Caller, type FactsOfOffer } from './caller-facts';
import { EARNINGS_PER_CALL, PAYS } from './candidate-facts';
import { OPEN_HOURS } from '../../caps/queries/open-hours';
import { AWAITED_RESERVATION } from './reservations';
import { COUNTERS, MAY_LACK_ROOM } from '../../caps/queries/cap-counters';
import type { OwnerState } from '../../caps/cap-cache';

/** The lists of a buyer that hold the number at a position, from 1. */
export interface BuyerLists {
  index: number;
  buyer_id: number;
  lists: Suppression[];
}

/** The state of the caller at a position. */
export interface CallerState extends Caller {
  index: number;
  /** Null when the offer does not exist, or the call has none. */
  of_offer: FactsOfOffer | null;
  reservation:
    | (Pick<ReservedChoice, 'buyer_group_id' | 'slots' | 'caps'> & {
        id: number;
        buyer_ids: number[];
        traffic_source_id: number | null;
        sub_id: string | null;
        token_values: Record<string, unknown>;
        expires_at: string;
      })
    | null;
  /** The requested source, that of the caller's lead, and that of the reservation. */
  sources: CallSource[];
  /** True for a call that was reported before. */
  is_known: boolean;
}

/**
 * The number of transactions that changed routing settings of the company, and the run of the
 * database server: another run may reach the same number.
 */
export const CHANGES = statement(
  'routing.changes',
  sql`
    SELECT concat(coalesce(sum(n), 0), ' of ', ${SERVER_RUN}) AS changes
    FROM routing_changes
    WHERE company_id = {company_id}
  `,
  { prepared: true },
);

/**
 * Everything that decides about some calls, except settings: the state that calls have changed, and
 * the data of the callers.
 *
 * `caps` are rows of caps written since another read, whose snapshot had `xmax` and the
 * transactions `running`; in addition, rows of `limit_ids` that may lack room, or with a last call
 * within the longest spacing, one day. Positions in the arrays count from 1.
 */
export const CALL_STATE = statement(
  'routing.call_state',
  sql`
    WITH asked AS MATERIALIZED (
      SELECT *
      FROM unnest(
        {numbers}::bigint[], {offer_ids}::bigint[], {source_ids}::bigint[], {carriers}::text[],
        {call_sids}::text[]
      ) WITH ORDINALITY AS x(number, offer_id, source_id, carrier, call_sid, index)
    ),
    written AS (
      SELECT l.*, l AS own, true AS is_new
      FROM call_limits l
      WHERE l.company_id = {company_id} AND l.changed_by >= {xmax}::xid8
        -- Transactions to come are those of another cluster, from which a dump was restored.
        AND l.changed_by <= greatest(
          pg_snapshot_xmax(pg_current_snapshot()), pg_current_xact_id_if_assigned()
        )
      UNION ALL
      SELECT l.*, l, true
      FROM call_limits l
      WHERE l.company_id = {company_id} AND l.changed_by = ANY({running}::xid8[])
      UNION ALL
      SELECT l.*, l, false
      FROM call_limits l
      WHERE l.company_id = {company_id} AND l.id = ANY({limit_ids}::bigint[])
    ),
    holding AS MATERIALIZED (
      SELECT asked.index, s.id, s.name
      FROM asked
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
        SELECT concat(coalesce(sum(n), 0), ' of ', ${SERVER_RUN})
        FROM routing_changes
        WHERE company_id = {company_id}
      ) AS changes,
      ${SERVER_RUN} AS run,
      pg_current_snapshot()::text AS snapshot,
      pg_current_xact_id_if_assigned()::text AS own_xid,
      list_trunks({company_id}::bigint, {now}::timestamptz) AS trunks,
      coalesce((
        SELECT json_agg(json_build_object(
          'limit_id', l.id,
          'counters', CASE WHEN room.may_lack_room THEN (${COUNTERS}) END,
          'revenue', pays.revenue,
          'last_call_at', l.last_call_at
        ))
        FROM written l
        CROSS JOIN LATERAL (SELECT l.company_id, l.buyer_id AS id) b
        LEFT JOIN LATERAL (${OPEN_HOURS}) o ON true
        CROSS JOIN LATERAL (
          SELECT
            CASE
              WHEN l.buyer_id IS NULL THEN own_hourly_limits(l.own)
              ELSE o.limits
            END AS limits
          OFFSET 0
        ) hourly
        CROSS JOIN LATERAL (${PAYS}) pays
        CROSS JOIN LATERAL (
          SELECT (
            ${MAY_LACK_ROOM}
          ) AS may_lack_room
        ) room
        WHERE l.is_new
          OR room.may_lack_room
          OR l.last_call_at > {now}::timestamptz - interval '1 day'
      ), '[]') AS caps,
      coalesce((
        SELECT json_agg(x)
        FROM (
          SELECT
            h.index,
            attached.buyer_id,
            json_agg(json_build_object('id', h.id, 'name', h.name) ORDER BY h.id) AS lists
          FROM holding h
          CROSS JOIN LATERAL (
            SELECT a.buyer_id
            FROM buyer_suppression_buyers a
            WHERE a.company_id = {company_id} AND a.buyer_suppression_id = h.id
            OFFSET 0
          ) attached
          GROUP BY h.index, attached.buyer_id
        ) x
      ), '[]') AS suppressed,
      coalesce((
        SELECT json_agg(json_build_object('id', b.id, 'epc', (${EARNINGS_PER_CALL})::float8))
        FROM buyers b
        WHERE b.company_id = {company_id} AND b.id = ANY({by_epc}::bigint[])
      ), '[]') AS earnings,
      (
        SELECT json_agg(x ORDER BY x.index)
        FROM (
          SELECT
            asked.index,
            ${CALLER_COLUMNS},
            found.of_offer,
            row_to_json(held) AS reservation,
            coalesce((
              SELECT json_agg(json_build_object(
                'id', s.id,
                'paused', s.paused,
                'blocked_buyer_ids', s.blocked_buyer_ids,
                'allowed_buyer_ids', s.allowed_buyer_ids,
                'payouts', s.payouts,
                'limits', (
                  SELECT row_to_json(l)
                  FROM call_limits l
                  WHERE l.company_id = {company_id} AND l.traffic_source_id = s.id
                    AND has_limit(l)
                )
              ))
              FROM traffic_sources s
              WHERE s.company_id = {company_id}
                AND s.id IN (
                  asked.source_id,
                  (found.of_offer->'lead'->>'traffic_source_id')::bigint,
                  held.traffic_source_id::bigint
                )
            ), '[]') AS sources,
            EXISTS (
              SELECT FROM calls c
              WHERE c.company_id = {company_id} AND c.carrier = asked.carrier
                AND c.carrier_call_id = asked.call_sid
            ) AS is_known
          FROM asked
          LEFT JOIN LATERAL (
            SELECT row_to_json(x) AS of_offer
            FROM (
              SELECT
                ${OFFER_COLUMNS}
              FROM offers o
              WHERE o.company_id = {company_id} AND o.id = asked.offer_id
                AND o.deleted_at IS NULL
            ) x
          ) found ON true
          LEFT JOIN LATERAL (${AWAITED_RESERVATION}) held ON true
        ) x
      ) AS callers
  `,
  { prepared: true, nullable: ['own_xid'] },
).returning<{
  caps: OwnerState[];
  suppressed: BuyerLists[];
  earnings: { id: number; epc: number | null }[];
  callers: CallerState[];
  trunks: Trunk[];
}>();
