import { sql, statement } from '../../../data/sql';
import type { Candidate, CandidateGroup } from '../engine/candidate';
import type { UsedUpCap } from '../../caps/caps';
import { BUYER_FACTS, EARNINGS_PER_CALL, GROUP_FACTS, PAYS } from './candidate-facts';
import { GROUP_HOURS, OPEN_HOURS } from '../../caps/queries/open-hours';
import type { CapJson } from '../../caps/engine/used-up-cap';
import { USED_UP_CAP } from '../../caps/queries/used-up-cap';

/** A candidate or a group as JSON, with dates as text. */
export type OwnerJson<Owner extends { used_up: UsedUpCap | null }> = Omit<Owner, 'used_up'> & {
  used_up: CapJson | null;
};

export interface BuyerOfOffer {
  company_id: string;
  offer_id: string;
  lists: { id: number; name: string; indexes: number[] }[];
  facts: OwnerJson<Omit<Candidate, 'bid' | 'groups' | 'suppressed_by' | 'last_call_at'>> & {
    groups: OwnerJson<CandidateGroup>[];
    last_call_at: string | null;
  };
}

/**
 * The buyers of offers, of any companies, for some callers: a row for each buyer of each offer,
 * with the suppression lists that hold a caller's number and the positions of these callers. An
 * offer requested by many callers is read once.
 *
 * Rows are looked up one by one (LATERAL with OFFSET 0): companies differ so much in size that one
 * plan for all of them might read the whole table of a large one. `deleted_at` is compared outside
 * of the look-up: inside it, the planner might prefer an index of living records to the key. The
 * lists that hold a number are found first, by a probe for each list of the company.
 */
export const BUYERS_OF_OFFERS = statement(
  'routing.buyers_of_offers',
  sql`
    WITH asked AS (
      SELECT *
      FROM unnest({indexes}::int[], {company_ids}::bigint[], {offer_ids}::bigint[],
        {numbers}::bigint[]) AS x(index, company_id, offer_id, number)
    ),
    offered AS (
      SELECT DISTINCT company_id, offer_id
      FROM asked
    ),
    offered_groups AS (
      SELECT offered.company_id, offered.offer_id, x.buyer_group_id
      FROM offered
      CROSS JOIN LATERAL (
        SELECT a.buyer_group_id
        FROM offer_buyer_groups a
        WHERE a.company_id = offered.company_id AND a.offer_id = offered.offer_id
        OFFSET 0
      ) x
    ),
    living_groups AS (
      SELECT named.company_id, named.buyer_group_id, x.facts
      FROM (SELECT DISTINCT company_id, buyer_group_id FROM offered_groups) named
      CROSS JOIN LATERAL (
        SELECT
          json_build_object(${GROUP_FACTS}, 'used_up', used_up.cap) AS facts,
          g.deleted_at
        FROM buyer_groups g
        LEFT JOIN call_limits l ON l.company_id = g.company_id AND l.buyer_group_id = g.id
        CROSS JOIN LATERAL (${GROUP_HOURS}) hourly
        CROSS JOIN LATERAL (SELECT 0 AS revenue) pays
        ${USED_UP_CAP}
        WHERE g.company_id = named.company_id AND g.id = named.buyer_group_id
        OFFSET 0
      ) x
      WHERE x.deleted_at IS NULL
    ),
    ways AS (
      SELECT
        offered.company_id,
        offered.offer_id,
        x.buyer_id,
        NULL::bigint AS buyer_group_id,
        NULL::json AS facts
      FROM offered
      CROSS JOIN LATERAL (
        SELECT a.buyer_id
        FROM offer_buyers a
        WHERE a.company_id = offered.company_id AND a.offer_id = offered.offer_id
        OFFSET 0
      ) x
      UNION ALL
      SELECT
        offered_groups.company_id,
        offered_groups.offer_id,
        x.buyer_id,
        offered_groups.buyer_group_id,
        living_groups.facts
      FROM offered_groups
      JOIN living_groups USING (company_id, buyer_group_id)
      CROSS JOIN LATERAL (
        SELECT m.buyer_id
        FROM buyer_group_members m
        WHERE m.company_id = offered_groups.company_id
          AND m.buyer_group_id = offered_groups.buyer_group_id
        OFFSET 0
      ) x
    ),
    buyers_of AS (
      SELECT
        company_id,
        offer_id,
        buyer_id,
        bool_or(buyer_group_id IS NULL) AS direct,
        coalesce(
          json_agg(facts ORDER BY buyer_group_id) FILTER (WHERE buyer_group_id IS NOT NULL),
          '[]'
        ) AS groups
      FROM ways
      GROUP BY company_id, offer_id, buyer_id
    ),
    holding AS MATERIALIZED (
      SELECT asked.company_id, asked.offer_id, x.id, x.name, array_agg(asked.index) AS indexes
      FROM asked
      CROSS JOIN LATERAL (
        SELECT s.id, s.name
        FROM buyer_suppressions s
        WHERE s.company_id = asked.company_id AND s.deleted_at IS NULL AND s.blocked > 0
          AND EXISTS (
            SELECT FROM buyer_suppression_numbers n
            WHERE n.company_id = asked.company_id AND n.buyer_suppression_id = s.id
              AND n.number = asked.number
            OFFSET 0
          )
        OFFSET 0
      ) x
      GROUP BY asked.company_id, asked.offer_id, x.id, x.name
    ),
    attached AS MATERIALIZED (
      SELECT buyers_of.company_id, buyers_of.offer_id, buyers_of.buyer_id, x.buyer_suppression_id
      FROM buyers_of
      CROSS JOIN LATERAL (
        SELECT a.buyer_suppression_id
        FROM buyer_suppression_buyers a
        WHERE a.company_id = buyers_of.company_id AND a.buyer_id = buyers_of.buyer_id
          AND a.buyer_suppression_id = ANY(ARRAY(SELECT DISTINCT id FROM holding))
        OFFSET 0
      ) x
    ),
    suppressed AS (
      SELECT
        attached.company_id,
        attached.offer_id,
        attached.buyer_id,
        json_agg(
          json_build_object('id', holding.id, 'name', holding.name, 'indexes', holding.indexes)
          ORDER BY holding.id
        ) AS lists
      FROM attached
      JOIN holding
        ON holding.company_id = attached.company_id AND holding.offer_id = attached.offer_id
        AND holding.id = attached.buyer_suppression_id
      GROUP BY attached.company_id, attached.offer_id, attached.buyer_id
    )
    SELECT
      buyers_of.company_id::text,
      buyers_of.offer_id::text,
      coalesce(suppressed.lists, '[]') AS lists,
      x.facts
    FROM buyers_of
    LEFT JOIN suppressed
      ON suppressed.company_id = buyers_of.company_id AND suppressed.offer_id = buyers_of.offer_id
      AND suppressed.buyer_id = buyers_of.buyer_id
    CROSS JOIN LATERAL (
      SELECT
        json_build_object(
          ${BUYER_FACTS},
          'used_up', used_up.cap,
          'current_conversion_revenue', (
            SELECT c.revenue
            FROM buyer_conversions c
            WHERE c.company_id = b.company_id AND c.buyer_id = b.id
              AND is_open(c.open_minutes, local_minute_of_week({now}::timestamptz, l.zone))
            ORDER BY c.time_frame, c.position
            LIMIT 1
          ),
          'most_revenue', pays.revenue,
          'pays_at_dial', pays.at_dial,
          'epc', CASE WHEN b.route_by_type = 'epc' THEN (${EARNINGS_PER_CALL}) END,
          'last_call_at', l.last_call_at,
          'business_hours', coalesce((
            SELECT json_agg(h.open_minutes ORDER BY h.position)
            FROM buyer_business_hours h
            WHERE h.company_id = b.company_id AND h.buyer_id = b.id
          ), '[]'),
          'direct', buyers_of.direct,
          'groups', buyers_of.groups
        ) AS facts,
        b.deleted_at
      FROM buyers b
      LEFT JOIN call_limits l ON l.company_id = b.company_id AND l.buyer_id = b.id
      LEFT JOIN LATERAL (${OPEN_HOURS}) hourly ON true
      CROSS JOIN LATERAL (${PAYS}) pays
      ${USED_UP_CAP}
      WHERE b.company_id = buyers_of.company_id AND b.id = buyers_of.buyer_id
      OFFSET 0
    ) x
    WHERE x.deleted_at IS NULL
    ORDER BY buyers_of.buyer_id
  `,
  { prepared: true },
).returning<BuyerOfOffer>();
