import { sql, statement } from '../../../data/sql';

/** At most two companies: enough to see whether there is exactly one. */
export const FIND_COMPANIES = statement(
  'cli.find_companies',
  sql`
    SELECT id FROM companies
    WHERE {id}::bigint IS NULL OR id = {id}
    ORDER BY id
    LIMIT 2
  `,
  { prepared: false },
);

export const LIST_CREDENTIALS = statement(
  'cli.list_credentials',
  sql`
    SELECT
      a.company_id::int, a.id::int, a.kind, a.name, a.public_key, a.superuser, a.permissions,
      a.expires_at, u.email AS user_email
    FROM access_tokens a
    LEFT JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
    WHERE a.deleted_at IS NULL AND ({company_id}::bigint IS NULL OR a.company_id = {company_id})
    ORDER BY a.company_id, a.id
  `,
  { prepared: false },
);

export const FIND_CREDENTIALS = statement(
  'cli.find_credentials',
  sql`
    SELECT company_id, access_token_id FROM credential_lookups WHERE public_key = {public_key}
  `,
  { prepared: false },
);

/** The company of a suppression list, by the list's id or uuid. */
export const COMPANY_OF_LIST = statement(
  'cli.company_of_list',
  sql`
    SELECT company_id FROM buyer_suppressions
    WHERE {list} IN (id::text, uuid::text) AND deleted_at IS NULL
  `,
  { prepared: false },
);

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
