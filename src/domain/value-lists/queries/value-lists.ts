import { sql, statement } from '../../../data/sql';

/**
 * The requested values that are in the requested lists, for any companies: an index look-up for
 * each value.
 */
export const FIND_MEMBERS = statement(
  'value_lists.find_members',
  sql`
    SELECT asked.index
    FROM unnest({company_ids}::bigint[], {keys}::text[], {values}::text[])
      WITH ORDINALITY AS asked(company_id, key, value, index)
    JOIN value_lists l
      ON l.company_id = asked.company_id AND l.key = asked.key AND l.deleted_at IS NULL
    WHERE EXISTS (
      SELECT FROM list_values v
      WHERE v.company_id = asked.company_id AND v.value_list_id = l.id AND v.value = asked.value
      OFFSET 0
    )
  `,
  { prepared: true },
);

/** The users' own ids of the traffic sources of calls, for any companies. */
export const FIND_USER_IDS = statement(
  'value_lists.find_user_ids',
  sql`
    SELECT asked.index, s.user_traffic_source_id
    FROM unnest({company_ids}::bigint[], {ids}::bigint[])
      WITH ORDINALITY AS asked(company_id, id, index)
    JOIN traffic_sources s ON s.company_id = asked.company_id AND s.id = asked.id
  `,
  { prepared: true },
);

export const SHARE_LISTS = statement(
  'value_lists.share_lists',
  sql`
    SELECT l.key
    FROM value_lists l
    WHERE l.company_id = {company_id} AND l.key = ANY({keys}::text[]) AND l.deleted_at IS NULL
    ORDER BY l.id
    FOR SHARE
  `,
  { prepared: false },
);

/** The records that refer to a list: by its id, or by its name in a filter. */
export const USERS_OF_LIST = statement(
  'value_lists.users_of_list',
  sql`
    WITH list AS (
      SELECT l.key
      FROM value_lists l
      WHERE l.company_id = {company_id} AND l.id = {list}
    )
    SELECT 'Buyer' AS type, b.id::float8 AS id, b.name
    FROM buyers b
    WHERE b.company_id = {company_id} AND b.zip_list_id = {list} AND b.deleted_at IS NULL
    UNION
    SELECT 'Buyer', b.id::float8, b.name
    FROM buyers b
    WHERE b.company_id = {company_id} AND b.deleted_at IS NULL
      AND (SELECT key FROM list) = ANY(
        SELECT value_list_of(f) FROM unnest(b.record_token_filter_data) f
      )
    UNION
    SELECT 'Buyer', b.id::float8, b.name
    FROM buyer_conversions c
    JOIN buyers b
      ON b.company_id = c.company_id AND b.id = c.buyer_id AND b.deleted_at IS NULL
    WHERE c.company_id = {company_id}
      AND (SELECT key FROM list) = ANY(SELECT value_list_of(f) FROM unnest(c.token_values) f)
    UNION
    SELECT 'ScheduleAction', a.id::float8, a.name
    FROM schedule_actions a
    JOIN schedules s
      ON s.company_id = a.company_id AND s.id = a.schedule_id AND s.deleted_at IS NULL
    WHERE a.company_id = {company_id} AND a.deleted_at IS NULL
      AND (SELECT key FROM list) = ANY(SELECT value_list_of(f) FROM unnest(a.token_filters) f)
    UNION
    SELECT 'Schedule', s.id::float8, s.name
    FROM schedules s
    WHERE s.company_id = {company_id} AND s.deleted_at IS NULL
      AND (SELECT key FROM list) = ANY(SELECT value_list_of(f #>> '{}')
        FROM jsonb_path_query(s.triggers, '$[*].token_filter_list[*]') f)
    UNION
    SELECT 'OutgoingWebhook', w.id::float8, w.name
    FROM outgoing_webhooks w
    WHERE w.company_id = {company_id} AND w.deleted_at IS NULL
      AND (SELECT key FROM list) = ANY(SELECT value_list_of(f) FROM unnest(w.token_filters) f)
    ORDER BY 1, 2
    LIMIT 100
  `,
  { prepared: false, nullable: ['name'] },
);

/** Ascending, so that two such statements do not wait for each other. */
export const ADD_VALUES = statement(
  'value_lists.add_values',
  sql`
    WITH added AS (
      INSERT INTO list_values (company_id, value_list_id, value)
      SELECT {company_id}, {list}, given.value
      FROM unnest({values}::text[]) AS given (value)
      ORDER BY given.value
      ON CONFLICT DO NOTHING
      RETURNING 1
    )
    SELECT count(*)::int AS changed FROM added
  `,
  { prepared: false },
);

export const REMOVE_VALUES = statement(
  'value_lists.remove_values',
  sql`
    WITH removed AS (
      DELETE FROM list_values
      WHERE company_id = {company_id} AND value_list_id = {list}
        AND value = ANY({values}::text[])
      RETURNING 1
    )
    SELECT count(*)::int AS changed FROM removed
  `,
  { prepared: false },
);
