import { sql, statement } from '../../../data/sql';

// The queue of a node; `jobs.job` belongs to pg-boss.

export const HAS_JOBS = statement(
  'cells.has_jobs',
  sql`SELECT to_regclass('jobs.job') IS NOT NULL AS has_jobs`,
  { prepared: false },
);

/** Unfinished jobs of companies. */
export const LIST_JOBS = statement(
  'cells.list_jobs',
  sql`
    SELECT j.id, to_jsonb(j) AS job
    FROM jobs.job j
    WHERE j.state <= 'active' AND j.data ->> 'company_id' = ANY ({companies}::text[])
  `,
  { prepared: false },
);

/**
 * Adds jobs that are not there. Running ones start again after the time by which their run has
 * noticed the move.
 */
export const ADD_JOBS = statement(
  'cells.add_jobs',
  sql`
    INSERT INTO jobs.job (
      id, name, priority, data, state, retry_limit, retry_count, retry_delay, retry_backoff,
      start_after, singleton_key, singleton_on, expire_in, created_on, keep_until, policy
    )
    SELECT
      j.id, j.name, j.priority, j.data,
      CASE j.state WHEN 'active' THEN 'retry' ELSE j.state END,
      j.retry_limit, j.retry_count + 1, j.retry_delay, j.retry_backoff,
      CASE j.state
        WHEN 'active' THEN now() + {seconds}::int * interval '1 second'
        ELSE j.start_after
      END,
      j.singleton_key, j.singleton_on, j.expire_in, j.created_on, j.keep_until, j.policy
    FROM jsonb_populate_recordset(NULL::jobs.job, {jobs}::jsonb) j
    ON CONFLICT DO NOTHING
  `,
  { prepared: false },
);

export const DELETE_JOBS = statement(
  'cells.delete_jobs',
  sql`DELETE FROM jobs.job WHERE id = ANY ({ids}::uuid[])`,
  { prepared: false },
);

/** Ends the runs of a company's jobs. They start again later. */
export const RESTART_JOBS = statement(
  'cells.restart_jobs',
  sql`
    UPDATE jobs.job
    SET state = 'retry', retry_count = retry_count + 1,
      start_after = now() + {seconds}::int * interval '1 second'
    WHERE state = 'active' AND data ->> 'company_id' = {company_id}::text
  `,
  { prepared: false },
);

/** Deletes unfinished jobs of companies. */
export const DELETE_JOBS_OF = statement(
  'cells.delete_jobs_of',
  sql`
    DELETE FROM jobs.job
    WHERE state <= 'active' AND data ->> 'company_id' = ANY ({companies}::text[])
  `,
  { prepared: false },
);
