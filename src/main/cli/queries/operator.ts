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
