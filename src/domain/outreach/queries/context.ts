import { sql, statement } from '../../../data/sql';
import type { ScheduleRow } from '../../schedules/engine/plan';

/**
 * Schedules with the ids of their suppression lists and their actions in order, without the actions
 * of limited users who may no longer create actions of the offer.
 */
export const LOAD_SCHEDULES = statement(
  'outreach.load_schedules',
  sql`
    SELECT s.company_id, s.id, s.name, s.paused, s.offer_id, s.time_zone, s.daylight_hours,
      s.business_hours, s.hours_to_expire, s.max_contact_attempts, s.from_email,
      ARRAY(
        SELECT a.buyer_suppression_id::text
        FROM buyer_suppression_schedules a
        WHERE a.company_id = s.company_id AND a.schedule_id = s.id
        ORDER BY 1
      ) AS lists,
      coalesce(
        (
          SELECT json_agg(
            json_build_object(
              'id', a.id::text,
              'action_type', a.action_type,
              'end_of_schedule', a.end_of_schedule,
              'position', a.position,
              'name', a.name,
              'token_filters', a.token_filters,
              'wait_amount', a.wait_amount,
              'wait_unit', a.wait_unit,
              'wait_until', a.wait_until,
              'connect_to', a.connect_to,
              'timeout_seconds', a.timeout_seconds,
              'body', a.body,
              'subject', a.subject,
              'html', a.html,
              'from_email', a.from_email,
              'url', a.url,
              'method', a.method,
              'headers', a.headers,
              'to_schedule_id', a.to_schedule_id::text,
              'only_when_buyer_available', a.only_when_buyer_available,
              'machine_action', a.machine_action,
              'machine_message', a.machine_message
            )
            ORDER BY a.position
          )
          FROM schedule_actions a
          WHERE a.company_id = s.company_id AND a.schedule_id = s.id AND a.deleted_at IS NULL
            AND (
              a.maker_user_id IS NULL
              OR maker_has_offer(
                a.company_id, a.maker_user_id, a.maker_team_ids,
                '{schedule_actions:create,schedule_actions:update}', s.offer_id
              )
            )
        ),
        '[]'
      ) AS actions
    FROM unnest({company_ids}::bigint[], {ids}::bigint[]) AS x(company_id, id)
    JOIN schedules s ON s.company_id = x.company_id AND s.id = x.id AND s.deleted_at IS NULL
  `,
  { prepared: true },
).returning<ScheduleRow>();

export const LOAD_OFFERS = statement(
  'outreach.load_offers',
  sql`
    SELECT o.company_id, o.id, o.name, o.paused,
      ARRAY(
        SELECT a.buyer_suppression_id::text
        FROM buyer_suppression_offers a
        WHERE a.company_id = o.company_id AND a.offer_id = o.id
        ORDER BY 1
      ) AS lists
    FROM unnest({company_ids}::bigint[], {ids}::bigint[]) AS x(company_id, id)
    JOIN offers o ON o.company_id = x.company_id AND o.id = x.id AND o.deleted_at IS NULL
  `,
  { prepared: true },
).returning<{ lists: string[] }>();

/** The first list that contains the number, by index of the check. */
export const FIND_SUPPRESSIONS = statement(
  'outreach.find_suppressions',
  sql`
    SELECT x.index, min(x.list_id)::text AS list_id
    FROM unnest(
      {indexes}::int[], {company_ids}::bigint[], {caller_numbers}::bigint[], {list_ids}::bigint[]
    ) AS x(index, company_id, caller_number, list_id)
    JOIN buyer_suppressions s
      ON s.company_id = x.company_id AND s.id = x.list_id AND s.deleted_at IS NULL
    WHERE EXISTS (
      SELECT
      FROM buyer_suppression_numbers b
      WHERE b.company_id = x.company_id AND b.buyer_suppression_id = x.list_id
        AND b.number = x.caller_number
    )
    GROUP BY x.index
  `,
  { prepared: false },
);

/**
 * Restrictions by offers and schedules, and the countries that companies contact, by position from
 * 1. Read after the contacts are locked: a transaction that restricts a number locks its contact
 * first.
 */
export const LOAD_CONTACTABILITY = statement(
  'outreach.load_contactability',
  sql`
    SELECT
      x.index::int AS index,
      coalesce(r.blocked, false) AS blocked,
      coalesce(r.opt_out, false) AS opt_out,
      c.country,
      c.contact_countries,
      coalesce(c.contact_prefixes, '{}') AS contact_prefixes
    FROM unnest(
      {company_ids}::bigint[], {caller_numbers}::bigint[], {offer_ids}::bigint[],
      {schedule_ids}::bigint[]
    ) WITH ORDINALITY AS x(company_id, caller_number, offer_id, schedule_id, index)
    JOIN companies c ON c.id = x.company_id
    LEFT JOIN LATERAL (
      SELECT bool_or(k.blocked) AS blocked, bool_or(k.opt_out) AS opt_out
      FROM contact_restrictions k
      WHERE k.company_id = x.company_id AND k.caller_number = x.caller_number
        AND (k.offer_id = x.offer_id OR k.schedule_id = x.schedule_id)
    ) r ON true
  `,
  { prepared: true },
).returning<{ index: number; country: string; contact_prefixes: string[] }>();

export const LOAD_CALL_FACTS = statement(
  'outreach.load_call_facts',
  sql`
    SELECT l.id, f.*
    FROM unnest({company_ids}::bigint[], {ids}::bigint[]) AS x(company_id, id)
    JOIN leads l ON l.company_id = x.company_id AND l.id = x.id,
    LATERAL (
      SELECT
        (count(*) FILTER (WHERE c.created_at > {now}::timestamptz - interval '1 days'))::int
          AS calls_1_day,
        (count(*) FILTER (WHERE c.created_at > {now}::timestamptz - interval '7 days'))::int
          AS calls_7_days,
        (count(*) FILTER (WHERE c.created_at > {now}::timestamptz - interval '30 days'))::int
          AS calls_30_days,
        (count(*) FILTER (WHERE c.created_at > {now}::timestamptz - interval '90 days'))::int
          AS calls_90_days,
        (array_agg(c.uuid::text ORDER BY c.id DESC) FILTER (WHERE c.lead_id = l.id))[1]
          AS call_uuid,
        (array_agg(c.total_duration ORDER BY c.id DESC) FILTER (WHERE c.lead_id = l.id))[1]
          AS total_duration
      FROM leads s
      JOIN calls c ON c.company_id = s.company_id AND c.lead_id = s.id
      WHERE s.company_id = l.company_id AND s.caller_number = l.caller_number
    ) f
  `,
  { prepared: false, nullable: ['call_uuid', 'total_duration'] },
);
