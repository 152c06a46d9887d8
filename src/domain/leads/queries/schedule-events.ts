import { sql, statement } from '../../../data/sql';

/** The oldest events of each company, by turns, so that no company waits until another is done. */
export const FIND_SCHEDULE_EVENTS = statement(
  'leads.find_schedule_events',
  sql`
    WITH RECURSIVE concerned AS (
      SELECT min(company_id) AS company_id FROM schedule_events
      UNION ALL
      SELECT (SELECT min(e.company_id) FROM schedule_events e WHERE e.company_id > c.company_id)
      FROM concerned c
      WHERE c.company_id IS NOT NULL
    )
    SELECT e.company_id, e.id
    FROM concerned c
    CROSS JOIN LATERAL (
      SELECT x.company_id, x.id, row_number() OVER (ORDER BY x.id) AS turn
      FROM schedule_events x
      WHERE x.company_id = c.company_id
      ORDER BY x.id
      LIMIT {limit}
    ) e
    ORDER BY e.turn, e.id
    LIMIT {limit}
  `,
  { prepared: true },
);

/** Takes an event, unless another process does. Returns the person of the event and its data. */
export const TAKE_SCHEDULE_EVENT = statement(
  'leads.take_schedule_event',
  sql`
    WITH taken AS (
      DELETE FROM schedule_events
      WHERE company_id = {company_id}
        AND id = (
          SELECT e.id
          FROM schedule_events e
          WHERE e.company_id = {company_id} AND e.id = {id}::bigint
          FOR UPDATE SKIP LOCKED
        )
      RETURNING company_id, kind, lead_id, call_id, text_message_id
    )
    SELECT
      e.kind,
      e.lead_id,
      coalesce(l.caller_number, c.caller_number, m.from_number) AS caller_number,
      coalesce(c.offer_id, l.offer_id, m.offer_id, n.offer_id) AS offer_id,
      coalesce(l.data, c.token_values, '{}') AS data,
      l.email,
      coalesce(c.sub_id, l.sub_id) AS sub_id,
      CASE c.direction WHEN 'inbound' THEN c.to_number ELSE c.from_number END AS number_called,
      c.caller_city,
      c.caller_state,
      c.caller_zip,
      c.caller_country,
      coalesce(c.traffic_source_id, l.traffic_source_id) AS traffic_source_id,
      l.schedule_id AS lead_schedule_id,
      coalesce(l.triggered_by, '{}') AS triggered_by,
      coalesce(c.direction = 'outbound', false) AS is_outbound
    FROM taken e
    LEFT JOIN leads l ON l.company_id = e.company_id AND l.id = e.lead_id
    LEFT JOIN calls c ON c.company_id = e.company_id AND c.id = e.call_id
    LEFT JOIN text_messages m ON m.company_id = e.company_id AND m.id = e.text_message_id
    LEFT JOIN numbers n
      ON n.company_id = e.company_id AND n.phone_number = m.to_number AND n.deleted_at IS NULL
  `,
  { prepared: true },
).returning<{ data: Record<string, unknown>; triggered_by: string[] }>();

export const POSTPONE_SCHEDULE_EVENT = statement(
  'leads.postpone_schedule_event',
  sql`
    UPDATE schedule_events
    SET id = nextval('schedule_events_id_seq')
    WHERE company_id = {company_id} AND id = {id}::bigint
  `,
  { prepared: true },
);

/**
 * Schedules that an event at an offer may start, with the number of starts in the last 24 hours.
 */
export const FIND_TRIGGERED_SCHEDULES = statement(
  'leads.find_triggered_schedules',
  sql`
    SELECT
      s.id,
      s.offer_id,
      s.time_zone,
      s.triggers,
      (
        SELECT count(*)::int
        FROM leads l
        WHERE l.company_id = s.company_id AND l.caller_number = {caller_number}::bigint
          AND l.schedule_id = s.id AND l.triggered_by <> '{}'
          AND l.created_at > {now}::timestamptz - interval '24 hours'
      ) AS starts
    FROM schedules s
    WHERE s.company_id = {company_id}
      AND s.deleted_at IS NULL
      AND s.triggers <> '[]'
      AND s.triggers @> jsonb_build_array(jsonb_build_object('on', {kind}::text))
      AND (s.offer_id IS NULL OR s.offer_id = {offer_id}::bigint)
    ORDER BY s.id
  `,
  { prepared: true },
).returning<{ triggers: { on: string; token_filter_list: string[] }[] }>();
