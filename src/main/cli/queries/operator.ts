import { sql, statement } from '../../../data/sql';

/** The server's version, and how many of the required extensions it has. */
export const SERVER_VERSION = statement(
  'cli.server_version',
  sql`
    SELECT
      current_setting('server_version_num')::int AS version,
      current_setting('server_version') AS name,
      (
        SELECT count(*)::int FROM pg_available_extensions WHERE name IN ('pg_trgm', 'btree_gin')
      ) AS extensions
  `,
  { prepared: false },
);

export const UNFINISHED_PURCHASES = statement(
  'cli.unfinished_purchases',
  sql`
    SELECT '+' || phone_number || ' (company ' || company_id || ')' AS number
    FROM number_lookups
    WHERE number_id IS NULL AND purchase_tried_at < now() - interval '1 minute'
    ORDER BY purchase_tried_at
    LIMIT 20
  `,
  { prepared: false },
);

/** Jobs by kind. */
export const LIST_JOBS = statement(
  'cli.list_jobs',
  sql`
    SELECT
      concat(host(inet_server_addr()), ':', current_setting('port')) AS node,
      j.name AS kind,
      count(*) FILTER (WHERE j.runs = 0)::int AS waiting,
      count(*) FILTER (WHERE j.expires_at >= now())::int AS running,
      count(*) FILTER (WHERE j.runs > 0 AND (j.expires_at IS NULL OR j.expires_at < now()))::int
        AS to_retry,
      max(j.runs) AS most_tries,
      extract(epoch FROM now() - min(j.created_at))::int AS oldest_seconds
    FROM jobs.job j
    WHERE {company_id}::text IS NULL OR j.company_id = {company_id}::text
    GROUP BY j.name
    ORDER BY j.name
  `,
  { prepared: false },
);

/** A switch is live that was heard of lately. An owner may do everything. */
export const GOING_LIVE = statement(
  'cli.going_live',
  sql`
    SELECT
      count(*) FILTER (WHERE NOT c.demo)::int AS companies,
      count(*) FILTER (WHERE c.demo)::int AS demos,
      (
        SELECT count(*)::int
        FROM switches s
        WHERE s.deleted_at IS NULL
          AND greatest(s.synced_at, s.asked_at) > now() - interval '3 minutes'
      ) AS live_switches,
      coalesce(
        (array_agg(c.name ORDER BY c.id) FILTER (WHERE NOT c.demo AND NOT EXISTS (
          SELECT
          FROM access_control_lists t
          JOIN access_control_list_users m
            ON m.company_id = t.company_id AND m.access_control_list_id = t.id
          JOIN users u ON u.company_id = m.company_id AND u.id = m.user_id
          WHERE t.company_id = c.id AND t.superuser
            AND t.deleted_at IS NULL AND u.deleted_at IS NULL
        )))[1:20],
        '{}'
      ) AS without_owner
    FROM companies c
    WHERE c.removed_at IS NULL
  `,
  { prepared: false },
);
