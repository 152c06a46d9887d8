import { sql, statement } from '../../../data/sql';
import type { Candidate, CandidateGroup } from '../engine/candidate';
import { BUYER_FACTS, GROUP_FACTS } from './candidate-facts';

// The settings of the buyers of an offer, and their version. Each part of a version is a count of
// rows and the sum of their xmin, so that any changed, new or deleted row gives another version.

export interface GroupRow {
  limit_id: number;
  facts: Omit<CandidateGroup, 'used_up'>;
  buyer_ids: number[];
}

/** Facts that depend on the time of the week. */
type TimeDependent = 'current_conversion_revenue' | 'most_revenue' | 'pays_at_dial';
/** Facts that depend on calls and callers. */
type CallDependent = 'used_up' | 'bid' | 'epc' | 'last_call_at' | 'suppressed_by';

export interface BuyerRow {
  limit_id: number;
  facts: Omit<Candidate, 'groups' | 'business_hours' | TimeDependent | CallDependent>;
  hours: number[][];
  conversions: {
    frame: number;
    open: number[];
    revenue: number;
    type: 'duration' | 'postback';
    duration: number;
  }[];
}

const BUYERS_OF_OFFER = sql`
  SELECT o.buyer_id
  FROM offer_buyers o
  WHERE o.company_id = {company_id} AND o.offer_id = {id}::bigint
  UNION
  SELECT m.buyer_id
  FROM buyer_group_members m
  JOIN offer_buyer_groups o
    ON o.company_id = m.company_id AND o.buyer_group_id = m.buyer_group_id
  WHERE o.company_id = {company_id} AND o.offer_id = {id}::bigint
`;

const VERSION_OF_WEBHOOKS = sql`
  SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0)
  FROM outgoing_webhooks x
  WHERE x.company_id = {company_id} AND x.trigger_type = 'before_buyer_dialled'
    AND x.deleted_at IS NULL AND NOT x.paused
`;

/** The version of an offer's buyers, with their groups, displayed numbers and webhooks. */
export const VERSION_OF_OFFER = statement(
  'routing.version_of_offer',
  sql`
    SELECT concat_ws(
      '/',
      (
        SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0)
        FROM offer_buyers x
        WHERE x.company_id = {company_id} AND x.offer_id = {id}::bigint
      ),
      (
        SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0)
        FROM offer_buyer_groups x
        WHERE x.company_id = {company_id} AND x.offer_id = {id}::bigint
      ),
      (
        SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0)
        FROM (
          SELECT o.*
          FROM offer_buyer_groups o
          WHERE o.company_id = {company_id} AND o.offer_id = {id}::bigint
        ) o
        JOIN buyer_groups x ON x.company_id = o.company_id AND x.id = o.buyer_group_id
      ),
      (
        SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0)
        FROM (
          SELECT m.xmin
          FROM buyer_group_members m
          JOIN offer_buyer_groups o
            ON o.company_id = m.company_id AND o.buyer_group_id = m.buyer_group_id
          WHERE o.company_id = {company_id} AND o.offer_id = {id}::bigint
        ) x
      ),
      (
        SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0)
        FROM (${BUYERS_OF_OFFER}) o
        JOIN buyers x ON x.company_id = {company_id} AND x.id = o.buyer_id
      ),
      (
        SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0)
        FROM (${BUYERS_OF_OFFER}) o
        JOIN buyers b ON b.company_id = {company_id} AND b.id = o.buyer_id
        JOIN numbers x ON x.company_id = b.company_id AND x.id = b.display_service_number_id
      ),
      (${VERSION_OF_WEBHOOKS})
    ) AS version
  `,
  { prepared: true },
);

/** The version of the one buyer that a number forwards to. */
export const VERSION_OF_BUYER = statement(
  'routing.version_of_buyer',
  sql`
    SELECT concat_ws(
      '/',
      (
        SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0)
        FROM (SELECT {id}::bigint AS buyer_id) o
        JOIN buyers x ON x.company_id = {company_id} AND x.id = o.buyer_id
      ),
      (
        SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0)
        FROM (SELECT {id}::bigint AS buyer_id) o
        JOIN buyers b ON b.company_id = {company_id} AND b.id = o.buyer_id
        JOIN numbers x ON x.company_id = b.company_id AND x.id = b.display_service_number_id
      ),
      (${VERSION_OF_WEBHOOKS})
    ) AS version
  `,
  { prepared: true },
);

/** Hours and conversions of buyer `b`, as keys and values of json_build_object. */
const HOURS_AND_CONVERSIONS = sql`
  'hours', coalesce((
    SELECT json_agg(x.open_minutes ORDER BY x.position)
    FROM buyer_business_hours x
    WHERE x.company_id = b.company_id AND x.buyer_id = b.id
  ), '[]'),
  'conversions', coalesce((
    SELECT json_agg(
      json_build_object(
        'frame', x.time_frame,
        'open', x.open_minutes,
        'revenue', x.revenue,
        'type', x.conversion_type,
        'duration', x.duration
      )
      ORDER BY x.time_frame, x.position
    )
    FROM buyer_conversions x
    WHERE x.company_id = b.company_id AND x.buyer_id = b.id
  ), '[]')
`;

export const OFFER_SNAPSHOT = statement(
  'routing.offer_snapshot',
  sql`
    SELECT
      coalesce((
        SELECT json_agg(
          json_build_object(
            'limit_id', l.id,
            'facts', json_build_object(${GROUP_FACTS}),
            'buyer_ids', ARRAY(
              SELECT m.buyer_id
              FROM buyer_group_members m
              WHERE m.company_id = g.company_id AND m.buyer_group_id = g.id
            )
          )
          ORDER BY g.id
        )
        FROM (
          SELECT o.*
          FROM offer_buyer_groups o
          WHERE o.company_id = {company_id} AND o.offer_id = {id}::bigint
        ) o
        JOIN buyer_groups g
          ON g.company_id = o.company_id AND g.id = o.buyer_group_id AND g.deleted_at IS NULL
        JOIN call_limits l ON l.company_id = g.company_id AND l.buyer_group_id = g.id
      ), '[]') AS groups,
      coalesce((
        SELECT json_agg(
          json_build_object(
            'limit_id', l.id,
            'facts', json_build_object(
              ${BUYER_FACTS},
              'direct', EXISTS (
                SELECT FROM offer_buyers d
                WHERE d.company_id = b.company_id AND d.offer_id = {id}::bigint
                  AND d.buyer_id = b.id
              )
            ),
            ${HOURS_AND_CONVERSIONS}
          )
          ORDER BY b.id
        )
        FROM (${BUYERS_OF_OFFER}) o
        JOIN buyers b
          ON b.company_id = {company_id} AND b.id = o.buyer_id AND b.deleted_at IS NULL
        JOIN call_limits l ON l.company_id = b.company_id AND l.buyer_id = b.id
      ), '[]') AS buyers
  `,
  { prepared: true },
).returning<{ groups: GroupRow[]; buyers: BuyerRow[] }>();

/** The one buyer that a number forwards to, as JSON. */
export const BUYER_SNAPSHOT = statement(
  'routing.buyer_snapshot',
  sql`
    SELECT
      '[]'::json AS groups,
      coalesce((
        SELECT json_agg(
          json_build_object(
            'limit_id', l.id,
            'facts', json_build_object(${BUYER_FACTS}, 'direct', true),
            ${HOURS_AND_CONVERSIONS}
          )
          ORDER BY b.id
        )
        FROM (SELECT {id}::bigint AS buyer_id) o
        JOIN buyers b
          ON b.company_id = {company_id} AND b.id = o.buyer_id AND b.deleted_at IS NULL
        JOIN call_limits l ON l.company_id = b.company_id AND l.buyer_id = b.id
      ), '[]') AS buyers
  `,
  { prepared: true },
).returning<{ groups: GroupRow[]; buyers: BuyerRow[] }>();
