import { sql, statement, TIMESTAMP_FORMAT } from '../../../data/sql';

/** Companies with events, stepping from one to the next by the index. */
export const LIST_COMPANIES_WITH_EVENTS = statement(
  'webhooks.list_companies_with_events',
  sql`
    WITH RECURSIVE company AS (
      (SELECT company_id FROM webhook_events ORDER BY company_id LIMIT 1)
      UNION ALL
      SELECT (
        SELECT e.company_id
        FROM webhook_events e
        WHERE e.company_id > company.company_id
        ORDER BY e.company_id
        LIMIT 1
      )
      FROM company
      WHERE company.company_id IS NOT NULL
    )
    SELECT company_id::text
    FROM company
    WHERE company_id IS NOT NULL
  `,
  { prepared: false },
);

/** True for the one process that may fan out the events of a company, until its commit. */
export const LOCK_EVENTS_OF_COMPANY = statement(
  'webhooks.lock_events_of_company',
  sql`SELECT pg_try_advisory_xact_lock(hashtextextended({name}, 4111)) AS is_locked`,
  { prepared: false },
);

export const LIST_OLDEST_EVENTS = statement(
  'webhooks.list_oldest_events',
  sql`
    SELECT e.id::text
    FROM webhook_events e
    WHERE e.company_id = {company_id}
    ORDER BY e.id
    LIMIT {max}::int
  `,
  { prepared: true },
);

/**
 * Events with the records that decide about the webhooks that receive them. The lead, call and
 * attempt are read by other statements, with projections.
 */
export const READ_EVENTS = statement(
  'webhooks.read_events',
  sql`
    SELECT e.id::text, e.kind,
      to_char(e.occurred_at, ${TIMESTAMP_FORMAT}) AS occurred_at,
      ids.lead_id::text, ids.call_id::text, ids.buyer_id::text, ids.offer_id::text,
      ids.traffic_source_id::text, o.name AS offer_name,
      coalesce(
        c.schedule_action_id,
        (
          SELECT a.id
          FROM schedule_actions a
          WHERE c.id IS NULL AND a.company_id = e.company_id AND a.schedule_id = l.schedule_id
            AND a.end_of_schedule = (l.phase = 'end') AND a.position = l.position
            AND a.deleted_at IS NULL
        )
      )::text AS schedule_action_id,
      ARRAY(
        SELECT m.buyer_group_id::text
        FROM buyer_group_members m
        WHERE m.company_id = e.company_id AND m.buyer_id = ids.buyer_id
        UNION
        SELECT t.buyer_group_id::text
        WHERE t.buyer_group_id IS NOT NULL
      ) AS buyer_group_ids,
      (
        SELECT json_build_object(
          'id', b.id, 'uuid', b.uuid, 'name', b.name, 'user_buyer_id', b.user_buyer_id,
          'number', b.number, 'routes_show_path', '/api/v1/buyers/' || b.id
        )::text
        FROM buyers b
        WHERE b.company_id = e.company_id AND b.id = ids.buyer_id
          AND (c.id IS NOT NULL OR v.id IS NOT NULL OR account.buyer_id IS NOT NULL)
      ) AS buyer,
      CASE
        WHEN v.id IS NOT NULL THEN json_build_object(
          'id', v.id, 'uuid', v.uuid,
          'created_at', to_char(v.created_at, ${TIMESTAMP_FORMAT}),
          'call_id', v.call_id, 'buyer_id', v.buyer_id, 'name', v.name,
          'revenue', v.revenue, 'payout', v.payout,
          'returned_at', to_char(v.returned_at, ${TIMESTAMP_FORMAT}),
          'return_reason', v.return_reason
        )::text
      END AS conversion,
      CASE
        WHEN e.snapshot ? 'agent' THEN json_build_object(
          'id', (e.snapshot->'agent'->>'id')::bigint,
          'user_id', (e.snapshot->'agent'->>'user_id')::bigint,
          'status', e.snapshot->'agent'->>'status'
        )::text
      END AS agent,
      (e.snapshot->'account')::text AS account,
      (e.snapshot->'statement')::text AS statement,
      (e.snapshot->'alert')::text AS alert
    FROM unnest({ids}::bigint[]) AS wanted(id)
    JOIN webhook_events e ON e.company_id = {company_id} AND e.id = wanted.id
    CROSS JOIN LATERAL jsonb_populate_record(NULL::leads, coalesce(e.snapshot->'lead', '{}')) l
    CROSS JOIN LATERAL jsonb_populate_record(NULL::calls, coalesce(e.snapshot->'call', '{}')) c
    CROSS JOIN LATERAL jsonb_populate_record(
      NULL::call_attempts, coalesce(e.snapshot->'attempt', '{}')
    ) t
    CROSS JOIN LATERAL jsonb_populate_record(
      NULL::conversions, coalesce(e.snapshot->'conversion', '{}')
    ) v
    CROSS JOIN LATERAL jsonb_to_record(
      coalesce(e.snapshot->'account', e.snapshot->'statement', '{}')
    ) AS account(buyer_id bigint, traffic_source_id bigint)
    CROSS JOIN LATERAL (
      SELECT l.id AS lead_id, c.id AS call_id,
        coalesce(t.buyer_id, v.buyer_id, c.buyer_id, l.buyer_id, account.buyer_id) AS buyer_id,
        coalesce(c.offer_id, l.offer_id) AS offer_id,
        coalesce(c.traffic_source_id, l.traffic_source_id, account.traffic_source_id)
          AS traffic_source_id
    ) ids
    LEFT JOIN offers o ON o.company_id = e.company_id AND o.id = ids.offer_id
    ORDER BY e.id
  `,
  {
    prepared: true,
    nullable: [
      'lead_id',
      'call_id',
      'buyer_id',
      'offer_id',
      'traffic_source_id',
      'schedule_action_id',
      'buyer',
      'conversion',
      'agent',
      'account',
      'statement',
      'alert',
    ],
  },
).returning<{ kind: string }>();

// Rows for `selectRecords`: the records of events at the time of the event.

export const LEAD_ROWS = sql`
  (
    SELECT record.*, e.id AS event_id, e.occurred_at
    FROM unnest({ids}::bigint[]) AS wanted(id)
    JOIN webhook_events e ON e.company_id = {company_id} AND e.id = wanted.id
      AND e.snapshot ? 'lead'
    CROSS JOIN LATERAL jsonb_populate_record(NULL::leads, e.snapshot->'lead') record
    WHERE record.company_id = {company_id}
  )
`;

export const CALL_ROWS = sql`
  (
    SELECT record.*, e.id AS event_id, e.kind AS event_kind, e.occurred_at
    FROM unnest({ids}::bigint[]) AS wanted(id)
    JOIN webhook_events e ON e.company_id = {company_id} AND e.id = wanted.id
      AND e.snapshot ? 'call'
    CROSS JOIN LATERAL jsonb_populate_record(NULL::calls, e.snapshot->'call') record
    WHERE record.company_id = {company_id}
  )
`;

export const ATTEMPT_ROWS = sql`
  (
    SELECT record.*, e.id AS event_id, e.occurred_at
    FROM unnest({ids}::bigint[]) AS wanted(id)
    JOIN webhook_events e ON e.company_id = {company_id} AND e.id = wanted.id
      AND e.snapshot ? 'attempt'
    CROSS JOIN LATERAL jsonb_populate_record(NULL::call_attempts, e.snapshot->'attempt') record
    WHERE record.company_id = {company_id}
  )
`;

export const DELETE_EVENTS = statement(
  'webhooks.delete_events',
  sql`
    DELETE FROM webhook_events
    WHERE company_id = {company_id} AND id = ANY({ids}::bigint[])
  `,
  { prepared: true },
);

/** The negative transaction id cannot equal that of an event of a transaction. */
export const INSERT_MANUAL_EVENT = statement(
  'webhooks.insert_manual_event',
  sql`
    INSERT INTO webhook_events
      (company_id, kind, occurred_at, record_id, transaction_id, snapshot)
    SELECT {company_id}, 'manual', {now}::timestamptz, 0, -nextval('webhook_events_id_seq'),
      webhook_rows(
        {company_id}, {lead_id}::bigint, coalesce({call_id}::bigint, v.call_id), NULL,
        {conversion_id}::bigint
      )
    FROM (SELECT 1) AS one
    LEFT JOIN conversions v ON v.company_id = {company_id} AND v.id = {conversion_id}::bigint
    RETURNING id::text
  `,
  { prepared: false },
);
