import { sql, statement } from '../../../data/sql';

/** Unfinished jobs by kind; `jobs.job` belongs to pg-boss. */
export const LIST_JOBS = statement(
  'cli.list_jobs',
  sql`
    SELECT
      concat(host(inet_server_addr()), ':', current_setting('port')) AS node,
      j.name AS kind,
      count(*) FILTER (WHERE j.state = 'created')::int AS waiting,
      count(*) FILTER (WHERE j.state = 'active')::int AS running,
      count(*) FILTER (WHERE j.state = 'retry')::int AS to_retry,
      max(j.retry_count) AS most_tries,
      extract(epoch FROM now() - min(j.created_on))::int AS oldest_seconds
    FROM jobs.job j
    WHERE j.state <= 'active'
      AND ({company_id}::text IS NULL OR j.data ->> 'company_id' = {company_id}::text)
    GROUP BY j.name
    ORDER BY j.name
  `,
  { prepared: false },
);
