import { sql, statement } from '../../../data/sql';

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
