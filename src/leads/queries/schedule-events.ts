import { sql, statement } from '../../db/sql';

export const FIND_SCHEDULE_EVENTS = statement(
  'leads.find_schedule_events',
  sql`
    SELECT company_id, id
    FROM schedule_events
    ORDER BY id
    LIMIT {limit}
  `,
  { prepared: true },
);

/** Takes an event, unless another process does; with it goes the person and what is known of it. */
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
      l.sub_id,
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

/** Schedules that an event at an offer may start, with what has been started for the number. */
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

/** Its schedule may end by that (exit_schedule() of the database). */
export const RECORD_CALL_OF_LEAD = statement(
  'leads.record_call_of_lead',
  sql`
    UPDATE leads
    SET called_at = {now}::timestamptz, updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND id = {lead_id}::bigint AND is_live
  `,
  { prepared: true },
);

export const SET_TRIGGERED_BY = statement(
  'leads.set_triggered_by',
  sql`
    UPDATE leads
    SET triggered_by = {triggered_by}::bigint[]
    WHERE company_id = {company_id} AND id = {id}::bigint
  `,
  { prepared: true },
);
